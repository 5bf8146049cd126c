//! What a store keeps of a run beside its records, and the rules that every write is held against.
//!
//! The rules are here once, without I/O, so that no store has its own. A write is judged before anything of it is
//! written: a refused one has left nothing to undo.

use std::borrow::Cow;

use crate::chain::{Found, Link, Sealed, read, verify_after};
use crate::list::{RunState, title};
use crate::{
    Answered, BlobHash, EndState, JournalError, Json, Lease, Outcome, OwnerId, Parked, Record, Restored, RunId, Seq,
    Started, Stored,
};

/// The most bytes in one record or blob: what SQLite takes in one row, with room to spare. It bounds a single piece, not a run.
const MOST_BYTES: usize = 512 << 20;

/// A value longer than this is kept apart, under its hash: equal ones once, and read only when it is asked for.
const LARGE_BYTES: usize = 16 << 10;

/// The current end of a run.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) state: RunState,
    pub(crate) fence: u64,
    pub(crate) owner: Option<OwnerId>,
    pub(crate) since_ms: i64,
    pub(crate) records: u64,
    pub(crate) link: Link,
    /// How many owners died one after the other without writing anything.
    pub(crate) restarts: u32,
    /// When a parked run goes on by itself.
    pub(crate) wake_ms: Option<i64>,
}

/// What never changes about a run, for listings.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) started_ms: i64,
    pub(crate) session: Option<String>,
    pub(crate) title: String,
}

/// A run to be created.
#[derive(Debug)]
pub(crate) struct NewRun {
    pub(crate) run: RunId,
    pub(crate) facts: Facts,
    pub(crate) first: Sealed,
    pub(crate) blobs: Vec<(BlobHash, Vec<u8>)>,
}

impl NewRun {
    pub(crate) fn new(run: RunId, start: &Started, blobs: &[Vec<u8>]) -> Result<Self, JournalError> {
        let facts = Facts { started_ms: start.started_ms, session: start.session.clone(), title: title(&start.script) };
        let blobs: Vec<_> = blobs.iter().map(|bytes| (BlobHash::of(bytes), bytes.clone())).collect();
        for (hash, bytes) in &blobs {
            fits(bytes.len(), || format!("blob `{hash}`"))?;
        }
        let first = sealed(run, Seq(0), &Record::Started(Box::new(start.clone())))?;
        Ok(Self { run, facts, first, blobs })
    }

    /// Returns the head of the run right after its creation.
    pub(crate) fn head(&self, owner: OwnerId) -> Head {
        Head {
            state: RunState::Running,
            fence: 1,
            owner: Some(owner),
            since_ms: self.facts.started_ms,
            records: 1,
            link: self.first.link(&Link::default(), self.run, Seq(0)),
            restarts: 0,
            wake_ms: None,
        }
    }
}

/// Records to be appended.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) run: RunId,
    pub(crate) fence: u64,
    pub(crate) at: Seq,
    pub(crate) records: Vec<Sealed>,
    /// State and time, if the last record ends the run.
    pub(crate) end: Option<(EndState, i64)>,
    /// What the end leaves in the store of the run's session.
    pub(crate) stored: Vec<Stored>,
    /// When the run goes on by itself, if the last record parks it.
    parks: Option<Option<i64>>,
    /// Values that are kept apart.
    pub(crate) blobs: Vec<(BlobHash, Vec<u8>)>,
    /// Blobs that the records name and do not bring.
    pub(crate) needs: Vec<BlobHash>,
    /// The run's memory as of the last record.
    pub(crate) snapshot: Option<Vec<u8>>,
}

impl Append {
    pub(crate) fn new(lease: &Lease, at: Seq, records: &[Record]) -> Result<Self, JournalError> {
        let run = lease.run();
        let mut end = None;
        let mut stored = Vec::new();
        let mut parks = None;
        let (mut blobs, mut needs) = (Vec::new(), Vec::new());
        let mut all = Vec::with_capacity(records.len());
        for (after, record) in (0..).zip(records) {
            // The number is foreign until the head has judged it, so it may be the last there is.
            let seq = Seq(at.0.saturating_add(after));
            let bug = |what| Err(JournalError::Bug { run, seq, what });
            if end.is_some() || parks.is_some() {
                return bug("a record was to follow the end of its run, or its park");
            }
            let mut record = Cow::Borrowed(record);
            match &*record {
                Record::Started(_) => return bug("a start record was to be appended"),
                Record::Ended(ended) => {
                    end = Some((ended.state, ended.ended_ms));
                    stored.clone_from(&ended.stored);
                }
                Record::Parked(Parked { wake_ms, .. }) => parks = Some(*wake_ms),
                Record::Answered(answered) => match &answered.outcome {
                    Outcome::Value(json) if json.as_str().len() > LARGE_BYTES => {
                        let (text, bytes) = (json.as_str().as_bytes().to_vec(), json.as_str().len() as u64);
                        fits(text.len(), || format!("the value in record {seq} of run `{run}`"))?;
                        let hash = BlobHash::of(&text);
                        blobs.push((hash, text));
                        let outcome = Outcome::Blob { hash, bytes };
                        let notes = answered.notes.clone();
                        let by = answered.by.clone();
                        let apart = Answered { outcome, notes, by, ..*answered };
                        record = Cow::Owned(Record::Answered(apart));
                    }
                    Outcome::Blob { hash, .. } => needs.push(*hash),
                    Outcome::Value(_) | Outcome::Failure(_) => {}
                },
                Record::Asked(_) | Record::Cancelling(_) | Record::Decided(_) | Record::Attempted(_) => {}
            }
            all.push(sealed(run, seq, &record)?);
        }
        let (fence, snapshot) = (lease.fence(), None);
        Ok(Self { run, fence, at, records: all, end, stored, parks, blobs, needs, snapshot })
    }

    /// Puts the run's memory, as of the last record, beside the records.
    pub(crate) fn with_snapshot(self, bytes: Vec<u8>) -> Result<Self, JournalError> {
        fits(bytes.len(), || format!("the snapshot of run `{}`", self.run))?;
        Ok(Self { snapshot: Some(bytes), ..self })
    }
}

impl Head {
    /// Judges an append, and returns the links of its records and the head after them.
    pub(crate) fn after(&self, append: &Append) -> Result<(Vec<Link>, Self), JournalError> {
        // The fence comes first: to a late writer, that the run went on or ended is the other owner's business.
        if append.fence != self.fence {
            return Err(JournalError::Conflict { run: append.run, at: append.at });
        }
        if self.state.is_over() {
            return Err(JournalError::Over { run: append.run });
        }
        if append.at.0 != self.records {
            return Err(JournalError::Conflict { run: append.run, at: append.at });
        }
        let mut next = self.clone();
        let mut links = Vec::with_capacity(append.records.len());
        for record in &append.records {
            next.link = record.link(&next.link, append.run, Seq(next.records));
            next.records += 1;
            links.push(next.link);
        }
        if !append.records.is_empty() {
            (next.state, next.restarts, next.wake_ms) = (RunState::Running, 0, None);
        }
        if let Some(wake_ms) = append.parks {
            // Nobody holds a parked run: what its owner still writes is too late.
            (next.state, next.owner, next.wake_ms) = (RunState::Parked, None, wake_ms);
            next.fence += 1;
        }
        if let Some((state, _)) = append.end {
            next.state = state.into();
            next.owner = None;
        }
        Ok((links, next))
    }

    /// Returns the head once `owner` has acquired the run. Whether it may is judged by the store, which knows who is
    /// alive, and by [`Head::open`]; `is_alive` tells whether the owner before is.
    pub(crate) fn acquired(&self, owner: OwnerId, now_ms: i64, is_alive: bool) -> Self {
        let died = self.owner.is_some() && !is_alive;
        let restarts = self.restarts.saturating_add(died.into());
        Self { fence: self.fence + 1, owner: Some(owner), since_ms: now_ms, restarts, ..self.clone() }
    }

    /// Refuses a guarded write over another value than its run found. `now` gives what is in the store.
    pub(crate) fn may_store<E: From<JournalError>>(
        append: &Append,
        session: &str,
        mut now: impl FnMut(&str) -> Result<Option<Json>, E>,
    ) -> Result<(), E> {
        for stored in &append.stored {
            let Some(guard) = &stored.guard else { continue };
            if now(&stored.key)? != guard.was {
                let (session, key) = (session.to_owned(), stored.key.clone());
                return Err(JournalError::StoreConflict { run: append.run, session, key }.into());
            }
        }
        Ok(())
    }

    /// Whether what is written with this lease would be taken.
    pub(crate) fn is_held_by(&self, lease: &Lease) -> bool {
        self.fence == lease.fence() && !self.state.is_over()
    }

    /// Refuses a run that has ended.
    pub(crate) fn open(&self, run: RunId) -> Result<(), JournalError> {
        if self.state.is_over() { Err(JournalError::Over { run }) } else { Ok(()) }
    }
}

/// Judges what was kept of a run's memory: `first` and `at` are what was found as record 0 and as the one at which it was kept,
/// whose number and link it has, and `after` what came later.
pub(crate) fn restored(
    run: RunId,
    head: &Head,
    first: Option<&Found>,
    at: Option<&Found>,
    kept: (u64, Link),
    after: &[Found],
    bytes: Vec<u8>,
) -> Restored {
    let (seq, link) = kept;
    let judge = || -> Result<Restored, JournalError> {
        let missing = |seq| JournalError::Damaged { run, seq: Seq(seq), what: "it is missing".to_owned() };
        let first = first.ok_or_else(|| missing(0))?;
        let Record::Started(start) = read(run, 0, &Link::default(), first)?.0 else { return Err(missing(0)) };
        let at = at.ok_or_else(|| missing(seq))?;
        if at.link != link {
            let what = "the snapshot is of another run than the one that is recorded".to_owned();
            return Err(JournalError::Damaged { run, seq: Seq(seq), what });
        }
        let after = verify_after(run, Some(kept), after, head.records, &head.link)?;
        Ok(Restored::Fits { start, bytes, last: Seq(seq), after })
    };
    judge().unwrap_or_else(|error| Restored::Unfit { why: error.to_string() })
}

fn sealed(run: RunId, seq: Seq, record: &Record) -> Result<Sealed, JournalError> {
    let encoded = record.encode();
    fits(encoded.payload.len(), || format!("record {seq} of run `{run}`"))?;
    Ok(Sealed::new(encoded))
}

fn fits(bytes: usize, what: impl Fn() -> String) -> Result<(), JournalError> {
    if bytes > MOST_BYTES {
        return Err(JournalError::TooLarge { what: what(), bytes, most: MOST_BYTES });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_no_store_takes_is_refused_by_name_before_it_is_copied() {
        assert!(fits(MOST_BYTES, || unreachable!()).is_ok());
        let error = fits(MOST_BYTES + 1, || "record 3 of run `x`".to_owned()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "record 3 of run `x` has 536870913 bytes and a journal takes at most 536870912 in one piece; make it smaller"
        );
    }
}
