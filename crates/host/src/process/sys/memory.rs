//! Reading the memory of a process that waits for us.

use std::io;

/// No string is read across the border of a page in one go: what lies behind it may not be there. Every machine's pages
/// are a multiple of this.
const PAGE: u64 = 4096;

/// The bytes before the zero at an address; `None` if there is none within `longest` bytes.
pub(crate) fn string(pid: i32, address: u64, longest: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let mut page = [0_u8; PAGE as usize];
    while bytes.len() < longest {
        let address = address.wrapping_add(bytes.len() as u64);
        let here = page.len() - (address % PAGE) as usize;
        let read = read(pid, address, page.get_mut(..here.min(longest - bytes.len())).unwrap_or_default())?;
        let read = page.get(..read).unwrap_or_default();
        if let Some(end) = memchr::memchr(0, read) {
            bytes.extend_from_slice(read.get(..end).unwrap_or_default());
            return Ok(Some(bytes));
        }
        if read.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(read);
    }
    Ok(None)
}

/// The words at an address.
pub(crate) fn words<const N: usize>(pid: i32, address: u64) -> io::Result<[u64; N]> {
    let mut words = [0_u64; N];
    for (word, place) in words.iter_mut().zip(0..) {
        let mut bytes = [0_u8; 8];
        if read(pid, address.wrapping_add(place * 8), &mut bytes)? < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *word = u64::from_ne_bytes(bytes);
    }
    Ok(words)
}

fn read(pid: i32, address: u64, to: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: to.len() };
    // SAFETY: the kernel writes at most `iov_len` bytes to `to`, which is ours alone; the other address is of another
    // process, and the kernel checks it.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_read_to_its_end_across_pages_and_not_beyond_its_bound() {
        let own = std::process::id().cast_signed();
        let long = [vec![b'x'; 3 * PAGE as usize], vec![0]].concat();
        let address = long.as_ptr() as u64;
        assert_eq!(string(own, address, 1 << 20).unwrap().map(|bytes| bytes.len()), Some(3 * PAGE as usize));
        assert_eq!(string(own, address, 5000).unwrap(), None);
        assert!(string(own, 1, 100).is_err());
        let numbers = [7_u64, 9];
        assert_eq!(words::<2>(own, numbers.as_ptr() as u64).unwrap(), numbers);
    }
}
