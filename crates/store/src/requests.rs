//! Requests of other processes. They stand in a table of their own, which whoever carries the stream looks at, so
//! that they are neither lost when nobody listens nor written into a journal that has one writer.

use crate::{Durability, Store, StoreError};
use ralph_core::request::Request;
use ralph_core::stream::StreamId;
use ralph_core::time::WallTime;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub no: i64,
    pub request: Request,
    /// When it was asked first.
    pub at: WallTime,
}

impl Store {
    /// Asks whoever carries a stream for something. A request survives a power cut; asking twice changes nothing.
    pub fn ask(&mut self, stream: impl Into<StreamId>, request: Request, at: WallTime) -> Result<(), StoreError> {
        let stream = stream.into();
        let sql = "INSERT INTO requests (kind, id, request, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
        let values = (stream.kind().as_str(), stream.id(), request.as_str(), at.0);
        self.writing(Durability::Synced, |conn| conn.prepare_cached(sql)?.execute(values)).map(drop)
    }

    /// What is asked of whoever carries a stream, oldest first. Cheap enough to be called several times a second: as
    /// long as nobody wrote, no file is read. A request that nobody understands asks for nothing.
    pub fn asked(&self, stream: impl Into<StreamId>) -> Result<Vec<Asked>, StoreError> {
        let stream = stream.into();
        self.reading(|conn| {
            let sql = "SELECT no, request, at FROM requests WHERE kind = ?1 AND id = ?2 ORDER BY no";
            let mut select = conn.prepare_cached(sql)?;
            let asked = select.query_map((stream.kind().as_str(), stream.id()), |row| {
                let request = Request::parse(row.get_ref("request")?.as_str()?);
                let (no, at) = (row.get("no")?, WallTime(row.get("at")?));
                Ok(request.map(|request| Asked { no, request, at }))
            })?;
            asked.filter_map(Result::transpose).collect()
        })
    }

    /// Forgets a request, once it was followed or is out of date.
    pub fn clear(&mut self, asked: Asked) -> Result<(), StoreError> {
        let sql = "DELETE FROM requests WHERE no = ?1";
        self.writing(Durability::Written, |conn| conn.prepare_cached(sql)?.execute([asked.no])).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{id, noted, row};

    #[test]
    fn a_request_reaches_the_carrier_and_stays_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let run = id("r1");
        let mut carrier = Store::open(dir.path()).unwrap();
        carrier.append(&[noted(1, "x")], &row(&run, 1), &[], Durability::Synced).unwrap();
        assert_eq!(carrier.asked(&run).unwrap(), []);

        let mut other = Store::open(dir.path()).unwrap();
        for (request, at) in [(Request::Cancel, 5), (Request::Cancel, 6), (Request::Retry, 7)] {
            other.ask(&run, request, WallTime(at)).unwrap();
        }
        drop(other);
        let told = |store: &Store| store.asked(&run).unwrap().iter().map(|a| (a.request, a.at.0)).collect::<Vec<_>>();
        assert_eq!(told(&carrier), [(Request::Cancel, 5), (Request::Retry, 7)]);
        assert_eq!(carrier.asked(&id("r2")).unwrap(), []);
        let task = ralph_core::id::TaskName::from_text("r1");
        assert_eq!(carrier.asked(&task).unwrap(), [], "a task of the same name is another stream");
        carrier.append(&[noted(2, "x")], &row(&run, 1), &[], Durability::Written).unwrap();
        drop(carrier);

        let mut carrier = Store::open(dir.path()).unwrap();
        let cancel = carrier.asked(&run).unwrap()[0];
        carrier.clear(cancel).unwrap();
        carrier.clear(cancel).unwrap();
        assert_eq!(told(&carrier), [(Request::Retry, 7)]);
    }

    #[test]
    fn a_lock_that_another_process_keeps_is_told_as_such_and_does_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(dir.path()).unwrap();
        let other = Store::open(dir.path()).unwrap();
        other.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        store.conn.busy_timeout(std::time::Duration::ZERO).unwrap();
        let error = store.ask(&id("r1"), Request::Cancel, WallTime(5)).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }) && error.class() == crate::Class::Machine, "{error:?}");
        other.conn.execute_batch("COMMIT").unwrap();
        store.append(&[noted(1, "x")], &row(&id("r1"), 1), &[], Durability::Written).unwrap();
    }
}
