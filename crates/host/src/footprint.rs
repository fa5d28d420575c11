//! Memory that a process which waits for hours need not hold: the parts of its own program that nothing
//! needs meanwhile. Two hundred loops on one machine are the case for it.

/// Lets the system take back the pages of programs and libraries that are mapped now. Those that are
/// needed again come back from its cache at the first touch; nothing that was written is among them.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the system is told about pages by their address")]
pub fn shrink() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for (start, length) in maps.lines().filter_map(program_pages) {
        // SAFETY: these pages hold a file's content and were never writable, so what is read again is what
        // was there. Advice about a mapping that is gone by now is refused.
        unsafe { libc::madvise(std::ptr::without_provenance_mut(start), length, libc::MADV_DONTNEED) };
    }
}

/// Elsewhere the system is left alone.
#[cfg(not(target_os = "linux"))]
pub fn shrink() {}

/// The place of a mapping that holds machine code of a file and can only be read and executed.
#[cfg(any(target_os = "linux", test))]
fn program_pages(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let code = fields.next()? == "r-xp" && fields.nth(3)?.starts_with('/');
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    code.then_some((start, end.checked_sub(start)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_given_back() {
        for (line, place) in [
            ("00400000-00500000 r-xp 00001000 fe:00 42   /usr/bin/ralph", Some((0x40_0000, 0x10_0000))),
            ("00400000-00500000 r--p 00001000 fe:00 42   /usr/bin/ralph", None),
            ("00400000-00500000 rw-p 00001000 fe:00 42   /usr/bin/ralph", None),
            ("00400000-00500000 rwxp 00001000 fe:00 42   /usr/bin/ralph", None),
            ("7ffd1000-7ffd2000 r-xp 00000000 00:00 0    [vdso]", None),
            ("7ffd1000-7ffd2000 r-xp 00000000 00:00 0", None),
            ("nonsense", None),
        ] {
            assert_eq!(program_pages(line), place, "{line}");
        }
    }

    #[test]
    fn the_process_goes_on() {
        shrink();
        assert_eq!("42".parse::<u8>().unwrap(), 42);
    }
}
