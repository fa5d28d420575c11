//! What another process asks of the one that carries a stream.

/// A request to the carrier of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// End at once, and for good.
    Cancel,
    /// Finish what is being done, and begin nothing new.
    Pause,
    /// Try again what was given up.
    Retry,
}

impl Request {
    /// Its name where it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Request::Cancel => "cancel",
            Request::Pause => "pause",
            Request::Retry => "retry",
        }
    }

    /// The request of this name.
    pub fn parse(name: &str) -> Option<Request> {
        [Request::Cancel, Request::Pause, Request::Retry].into_iter().find(|request| request.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_read_back_by_its_name() {
        for request in [Request::Cancel, Request::Pause, Request::Retry] {
            assert_eq!(Request::parse(request.as_str()), Some(request));
        }
        assert_eq!(Request::parse("Cancel"), None);
    }
}
