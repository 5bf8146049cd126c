//! Changing what is stored, behind a journal's back.

use std::path::Path;

use rusqlite::Connection;

use crate::RunId;
use crate::Seq;
use crate::chain::{Found, Link, Sealed};
use crate::payload::Encoded;

/// A record as it is stored.
#[derive(Clone, Debug)]
pub struct RawRecord {
    /// Its number.
    pub seq: u64,
    /// Its kind.
    pub kind: i64,
    /// Its payload.
    pub payload: Vec<u8>,
    /// Its checksum.
    pub link: Vec<u8>,
}

/// What becomes of the checksums when records are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// They stay as they are: the change is damage.
    Kept,
    /// Numbers, checksums and the run's head are made anew, as another version of ours would have written them.
    Made,
}

impl From<Found> for RawRecord {
    fn from(Found { seq, kind, payload, link }: Found) -> Self {
        Self { seq, kind, payload, link }
    }
}

impl From<RawRecord> for Found {
    fn from(RawRecord { seq, kind, payload, link }: RawRecord) -> Self {
        Self { seq, kind, payload, link }
    }
}

/// Makes numbers and checksums anew and returns the last checksum.
pub(crate) fn make_chain(run: RunId, records: &mut [RawRecord]) -> Link {
    let mut previous = Link::default();
    for (seq, record) in (0..).zip(records) {
        let payload = String::from_utf8(record.payload.clone()).unwrap();
        let sealed = Sealed::new(Encoded { kind: record.kind.try_into().unwrap(), payload });
        previous = sealed.link(&previous, run, Seq(seq));
        record.seq = seq;
        record.link = previous.to_vec();
    }
    previous
}

/// Changes the records of `run` in the SQLite file at `path`.
pub fn edit_sqlite(path: &Path, run: RunId, chain: Chain, change: impl FnOnce(&mut Vec<RawRecord>)) {
    let mut connection = Connection::open(path).unwrap();
    let open = connection.transaction().unwrap();
    let mut records: Vec<RawRecord> = open
        .prepare("SELECT seq, kind, CAST(payload AS BLOB), link FROM records WHERE run = ?1 ORDER BY seq")
        .unwrap()
        .query_map([run.as_bytes()], |row| {
            let seq = row.get::<_, i64>(0)?.try_into().unwrap();
            Ok(RawRecord { seq, kind: row.get(1)?, payload: row.get(2)?, link: row.get(3)? })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    change(&mut records);
    if chain == Chain::Made {
        let link = make_chain(run, &mut records);
        let head = "UPDATE runs SET records = ?2, link = ?3 WHERE run = ?1";
        open.execute(head, (run.as_bytes(), i64::try_from(records.len()).unwrap(), link)).unwrap();
    }
    open.execute("DELETE FROM records WHERE run = ?1", [run.as_bytes()]).unwrap();
    for RawRecord { seq, kind, payload, link } in records {
        let sql = "INSERT INTO records (run, seq, kind, payload, link) VALUES (?1, ?2, ?3, CAST(?4 AS TEXT), ?5)";
        open.execute(sql, (run.as_bytes(), i64::try_from(seq).unwrap(), kind, payload, link)).unwrap();
    }
    open.commit().unwrap();
}
