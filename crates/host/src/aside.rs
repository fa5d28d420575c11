//! Work that blocks, aside from the event loop. Whoever no longer waits for it has it stopped; a thread that hangs in
//! the kernel, as on a network disk, is left to itself and ends with the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;

/// Tells work that nobody waits for it any more.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Work in a thread of its own; stopped when this is dropped.
#[derive(Debug)]
pub struct Aside<T> {
    stop: Stop,
    answer: oneshot::Receiver<T>,
}

impl<T: Send + 'static> Aside<T> {
    /// Starts the work, which asks its [`Stop`] now and then.
    pub fn start(work: impl FnOnce(&Stop) -> T + Send + 'static) -> io::Result<Aside<T>> {
        let stop = Stop::default();
        let (tell, answer) = oneshot::channel();
        let theirs = stop.clone();
        // Nobody listens to the answer of work that was stopped.
        std::thread::Builder::new().spawn(move || drop(tell.send(work(&theirs))))?;
        Ok(Aside { stop, answer })
    }

    pub fn done(work: impl FnOnce(&Stop) -> T) -> Aside<T> {
        let stop = Stop::default();
        let (tell, answer) = oneshot::channel();
        // The receiver is right here.
        let _ = tell.send(work(&stop));
        Aside { stop, answer }
    }

    /// Waits for the answer; may be dropped and called again. `None` if the thread ended without one.
    pub async fn answer(&mut self) -> Option<T> {
        (&mut self.answer).await.ok()
    }
}

impl<T> Aside<T> {
    pub fn stop(&self) {
        self.stop.set();
    }
}

impl<T> Drop for Aside<T> {
    fn drop(&mut self) {
        self.stop.set();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_stopped() {
        let (tell, mut ended) = oneshot::channel();
        let work = Aside::start(move |stop| {
            while !stop.is_set() {
                std::thread::sleep(Duration::from_millis(1));
            }
            tell.send(()).unwrap();
        });
        let mut work = work.unwrap();
        // The loop is not blocked by it.
        assert!(tokio::time::timeout(Duration::from_millis(20), work.answer()).await.is_err());
        assert!(ended.try_recv().is_err());
        drop(work);
        ended.await.unwrap();
    }
}
