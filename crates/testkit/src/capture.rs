//! Collecting the output of a running process while tests wait for parts of it.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

/// The bytes of one stream so far. Copies share them.
#[derive(Clone, Default)]
pub struct Capture {
    shared: Arc<(Mutex<Bytes>, Condvar)>,
}

#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    ended: bool,
}

impl Capture {
    /// Reads the stream to its end in a thread of its own; nothing waits for that thread.
    pub fn of(mut stream: impl Read + Send + 'static) -> Capture {
        let capture = Capture::default();
        let shared = capture.clone();
        std::thread::spawn(move || {
            let mut block = vec![0; 64 * 1024];
            // An error is an end as well: a terminal whose programs are gone answers EIO.
            while let Ok(read @ 1..) = stream.read(&mut block) {
                shared.add(block.get(..read).unwrap_or_default());
            }
            shared.end();
        });
        capture
    }

    fn add(&self, bytes: &[u8]) {
        self.shared.0.lock().unwrap().bytes.extend_from_slice(bytes);
        self.shared.1.notify_all();
    }

    fn end(&self) {
        self.shared.0.lock().unwrap().ended = true;
        self.shared.1.notify_all();
    }

    /// Everything so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.shared.0.lock().unwrap().bytes.clone()
    }

    /// Everything so far, wrong UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Waits until the stream holds the text; false if it ended or time ran out without it.
    pub fn wait_for(&self, text: &str, deadline: Instant) -> bool {
        let needle = text.as_bytes();
        let found = |bytes: &[u8]| needle.is_empty() || bytes.windows(needle.len()).any(|window| window == needle);
        self.wait(deadline, |state| found(&state.bytes) || state.ended);
        found(&self.shared.0.lock().unwrap().bytes)
    }

    /// Waits for the end of the stream; false if time ran out.
    pub fn wait_for_end(&self, deadline: Instant) -> bool {
        self.wait(deadline, |state| state.ended)
    }

    fn wait(&self, deadline: Instant, enough: impl Fn(&Bytes) -> bool) -> bool {
        let (bytes, changed) = &*self.shared;
        let left = deadline.saturating_duration_since(Instant::now());
        let (state, _) = changed.wait_timeout_while(bytes.lock().unwrap(), left, |state| !enough(state)).unwrap();
        enough(&state)
    }
}
