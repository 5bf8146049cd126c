//! Runs as one file, to be carried to another journal.
//!
//! The file is a row of JSON values: what it is, then for each run its number of records and the records as they are stored, with
//! their checksums, then the blobs that they name. Whitespace between the values does not matter.
//!
//! Values of a session's store are no part of a run and are not carried along.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::chain::{Found, Link, verify};
use crate::head::{Facts, Head};
use crate::list::{RunState, title};
use crate::{BlobHash, JournalError, Outcome, Record, RunId, Seq};

/// Raised when what follows changes. A reader knows only its own.
const FORMAT: u64 = 1;

/// A run as it is stored, with the blobs that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The run.
    pub run: RunId,
    pub(crate) records: Vec<Row>,
    pub(crate) blobs: Vec<(BlobHash, Vec<u8>)>,
}

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) kind: u16,
    pub(crate) payload: String,
    pub(crate) link: Link,
}

/// What a run that was carried here begins with.
pub(crate) struct Arrived {
    pub(crate) head: Head,
    pub(crate) facts: Facts,
    pub(crate) ended_ms: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Part<'a> {
    Refrain {
        format: u64,
    },
    Run {
        id: RunId,
        records: u64,
    },
    #[serde(borrow)]
    Record(RecordPart<'a>),
    Blob {
        hash: BlobHash,
        text: String,
    },
}

#[derive(Serialize, Deserialize)]
struct RecordPart<'a> {
    kind: u16,
    link: BlobHash,
    #[serde(borrow)]
    payload: &'a RawValue,
}

/// Returns the blobs that records name.
pub(crate) fn named(records: &[Record]) -> Vec<BlobHash> {
    let mut all: Vec<BlobHash> = records
        .iter()
        .filter_map(|record| match record {
            Record::Started(started) => Some(started.catalog),
            Record::Answered(answered) => match answered.outcome {
                Outcome::Blob { hash, .. } => Some(hash),
                Outcome::Value(_) | Outcome::Failure(_) => None,
            },
            _ => None,
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Exported {
    pub(crate) fn new(run: RunId, found: &[Found], blobs: Vec<(BlobHash, Vec<u8>)>) -> Result<Self, JournalError> {
        let damaged = |seq: u64| JournalError::Damaged { run, seq: Seq(seq), what: "it is not as written".to_owned() };
        let rows = found.iter().map(|found| {
            Some(Row {
                kind: u16::try_from(found.kind).ok()?,
                payload: String::from_utf8(found.payload.clone()).ok()?,
                link: Link::try_from(&found.link[..]).ok()?,
            })
        });
        let records = (0..).zip(rows).map(|(seq, row)| row.ok_or_else(|| damaged(seq))).collect::<Result<_, _>>()?;
        Ok(Self { run, records, blobs })
    }

    /// The runs that this one corrects, the newest first.
    ///
    /// # Errors
    ///
    /// As [`read`](crate::Journal::read).
    pub fn amends(&self) -> Result<Vec<RunId>, JournalError> {
        match self.check()?.first() {
            Some(Record::Started(started)) => Ok(started.amends.clone()),
            _ => Ok(Vec::new()),
        }
    }

    pub(crate) fn found(&self) -> Vec<Found> {
        let found = |(seq, row): (u64, &Row)| Found {
            seq,
            kind: row.kind.into(),
            payload: row.payload.clone().into_bytes(),
            link: row.link.to_vec(),
        };
        (0..).zip(&self.records).map(found).collect()
    }

    /// Checks the chain and the blobs.
    fn check(&self) -> Result<Vec<Record>, JournalError> {
        let link = self.records.last().map_or(Link::default(), |row| row.link);
        let records = verify(self.run, &self.found(), self.records.len() as u64, &link)?;
        for hash in named(&records) {
            let Some((_, bytes)) = self.blobs.iter().find(|(known, _)| *known == hash) else {
                return Err(JournalError::NoBlob { hash });
            };
            if BlobHash::of(bytes) != hash {
                return Err(JournalError::DamagedBlob { hash });
            }
        }
        Ok(records)
    }

    /// Checks everything, and returns how the run stands where it has arrived: nobody holds it.
    pub(crate) fn arrived(&self) -> Result<Arrived, JournalError> {
        // The fix is to be had where the file is from, not in this journal.
        let records = self.check().map_err(|error| match error {
            JournalError::Damaged { run, seq, what } => {
                JournalError::NotExported { what: format!("record {seq} of run `{run}`: {what}") }
            }
            JournalError::NoBlob { hash } => JournalError::NotExported { what: format!("blob `{hash}` is missing") },
            JournalError::DamagedBlob { hash } => {
                JournalError::NotExported { what: format!("the bytes of blob `{hash}` have another hash") }
            }
            other => other,
        })?;
        let link = self.records.last().map_or(Link::default(), |row| row.link);
        let (state, ended_ms, wake_ms) = match records.last() {
            Some(Record::Ended(ended)) => (ended.state.into(), Some(ended.ended_ms), None),
            Some(Record::Parked(parked)) => (RunState::Parked, None, parked.wake_ms),
            _ => (RunState::Running, None, None),
        };
        let Some(Record::Started(start)) = records.first() else {
            return Err(JournalError::Damaged { run: self.run, seq: Seq(0), what: "it is missing".to_owned() });
        };
        let facts = Facts { started_ms: start.started_ms, session: start.session.clone(), title: title(&start.script) };
        let (owner, since_ms, records) = (None, start.started_ms, records.len() as u64);
        let head = Head { state, fence: 1, owner, since_ms, records, link, restarts: 0, wake_ms };
        Ok(Arrived { head, facts, ended_ms })
    }
}

/// Writes runs into one file.
///
/// # Errors
///
/// [`JournalError::Bug`] for a blob that is no text, since none of ours is.
pub fn write(runs: &[Exported]) -> Result<Vec<u8>, JournalError> {
    let mut file = Vec::new();
    let mut part = |run: RunId, part: &Part<'_>| -> Result<(), JournalError> {
        serde_json::to_writer(&mut file, part).map_err(|_| bug(run))?;
        file.push(b'\n');
        Ok(())
    };
    for (n, run) in runs.iter().enumerate() {
        if n == 0 {
            part(run.run, &Part::Refrain { format: FORMAT })?;
        }
        part(run.run, &Part::Run { id: run.run, records: run.records.len() as u64 })?;
        for row in &run.records {
            let payload: &RawValue = serde_json::from_str(&row.payload).map_err(|_| bug(run.run))?;
            let link = BlobHash::from_bytes(row.link);
            part(run.run, &Part::Record(RecordPart { kind: row.kind, link, payload }))?;
        }
        for (hash, bytes) in &run.blobs {
            let text = str::from_utf8(bytes).map_err(|_| bug(run.run))?;
            part(run.run, &Part::Blob { hash: *hash, text: text.to_owned() })?;
        }
    }
    Ok(file)
}

/// Reads a file of runs. Nothing in it is believed: [`import`](crate::Journal::import) checks it.
///
/// # Errors
///
/// [`JournalError::Newer`] for a format that this build does not know, [`JournalError::NotExported`] with the place for anything
/// else that is none.
pub fn read(file: &[u8]) -> Result<Vec<Exported>, JournalError> {
    let damaged = |what: String| JournalError::NotExported { what };
    let text =
        str::from_utf8(file).map_err(|error| damaged(format!("it is no UTF-8 after byte {}", error.valid_up_to())))?;
    let mut runs: Vec<(Exported, u64)> = Vec::new();
    for (n, part) in serde_json::Deserializer::from_str(text).into_iter::<Part<'_>>().enumerate() {
        let part = part.map_err(|error| damaged(format!("part {n}: {error}")))?;
        match (part, runs.last_mut()) {
            (Part::Refrain { format: FORMAT }, None) if n == 0 => {}
            (Part::Refrain { format }, None) if n == 0 => {
                let what = format!("its format is {format}, and {FORMAT} is the last one known here");
                return Err(JournalError::Newer { place: "the file of an exported run".to_owned(), what });
            }
            (Part::Run { id, records }, _) if n > 0 => {
                runs.push((Exported { run: id, records: Vec::new(), blobs: Vec::new() }, records));
            }
            (Part::Record(RecordPart { kind, link, payload }), Some((run, _))) => {
                run.records.push(Row { kind, payload: payload.get().to_owned(), link: *link.as_bytes() });
            }
            (Part::Blob { hash, text }, Some((run, _))) => run.blobs.push((hash, text.into_bytes())),
            _ => return Err(damaged(format!("part {n} is out of place"))),
        }
    }
    if runs.is_empty() {
        return Err(damaged("it has no run".to_owned()));
    }
    for (run, records) in &runs {
        if run.records.len() as u64 != *records {
            return Err(damaged(format!("run `{}` has {} records of {records}", run.run, run.records.len())));
        }
    }
    Ok(runs.into_iter().map(|(run, _)| run).collect())
}

/// Every text here was taken out of a journal that had been checked.
fn bug(run: RunId) -> JournalError {
    JournalError::Bug { run, seq: Seq(0), what: "a record or a blob could not be written to a file" }
}
