//! The store that is gone with the process: for tests, and for who wants nothing kept.
//!
//! It follows the same rules as the others, on the same stored bytes. A crash is played by [`MemoryJournal::reopen`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::chain::{Found, Link, Sealed, verify};
use crate::export::{Arrived, named};
use crate::head::{Append, Facts, Head, NewRun, restored};
use crate::list::range;
use crate::{
    BlobHash, Exported, Flush, Journal, JournalError, Json, Lease, Listing, OpenRun, Owner, OwnerId, Page, Record,
    Restored, RunId, Seq, Started, Successor, Summary, Take,
};

/// A journal in memory, opened by one owner. Clones are the same owner.
#[derive(Clone)]
pub struct MemoryJournal {
    data: Arc<Mutex<Data>>,
    owner: OwnerId,
    /// What a power cut would leave, where that is played.
    flushed: Option<Arc<Mutex<Data>>>,
}

/// What becomes of the old owner when a [`MemoryJournal`] is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its process was killed: its runs are free, and it writes no more. It can still be read, so that a test can look.
    Dead,
    /// It goes on, as a second process beside the new one.
    Alive,
}

#[derive(Clone, Default)]
struct Data {
    runs: BTreeMap<RunId, Run>,
    blobs: HashMap<BlobHash, Vec<u8>>,
    sessions: HashMap<String, BTreeMap<String, Json>>,
    dead: HashSet<OwnerId>,
}

#[derive(Clone)]
struct Run {
    head: Head,
    facts: Facts,
    ended_ms: Option<i64>,
    records: Vec<Found>,
    snapshot: Option<Snapshot>,
}

/// The run's memory, and the record as of which it is.
#[derive(Clone)]
struct Snapshot {
    seq: u64,
    link: Link,
    bytes: Vec<u8>,
}

impl MemoryJournal {
    /// Makes an empty journal.
    pub fn new() -> Self {
        Self { data: Arc::default(), owner: OwnerId::random(), flushed: None }
    }

    /// Opens the same journal as another owner, as a new process would.
    #[must_use]
    pub fn reopen(&self, old: Fate) -> Self {
        match old {
            Fate::Dead => {
                self.data().dead.insert(self.owner);
            }
            Fate::Alive => {}
        }
        Self { data: Arc::clone(&self.data), owner: OwnerId::random(), flushed: self.flushed.clone() }
    }

    // A panic elsewhere cannot leave the data half changed: each change is judged first and then made.
    fn data(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_write(&self) -> Result<MutexGuard<'_, Data>, JournalError> {
        let data = self.data();
        if data.dead.contains(&self.owner) {
            return Err(JournalError::Unavailable {
                journal: "memory:".to_owned(),
                what: "this owner was declared dead; use the reopened journal".to_owned(),
                source: None,
            });
        }
        Ok(data)
    }

    /// Keeps what a power cut would leave.
    fn flush(&self, flush: Flush, data: &Data) {
        if let (Flush::Disk, Some(flushed)) = (flush, &self.flushed) {
            *flushed.lock().unwrap_or_else(PoisonError::into_inner) = data.clone();
        }
    }

    fn lease(&self, run: RunId, fence: u64, restarts: u32) -> Lease {
        let journal = self.clone();
        Lease::new(
            run,
            fence,
            restarts,
            Box::new(move |run, fence| {
                if let Ok(mut data) = journal.to_write() {
                    data.let_go(run, fence);
                }
            }),
        )
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::new()
    }
}

impl Data {
    fn run(&self, run: RunId) -> Result<&Run, JournalError> {
        self.runs.get(&run).ok_or(JournalError::NotFound { run })
    }

    fn run_mut(&mut self, run: RunId) -> Result<&mut Run, JournalError> {
        self.runs.get_mut(&run).ok_or(JournalError::NotFound { run })
    }

    fn owner_of(&self, run: &Run) -> Option<Owner> {
        let id = run.head.owner.filter(|owner| !self.dead.contains(owner))?;
        Some(Owner { id, who: "another owner in this process".to_owned(), since_ms: run.head.since_ms })
    }

    fn let_go(&mut self, run: RunId, fence: u64) {
        if let Some(kept) = self.runs.get_mut(&run).filter(|kept| kept.head.fence == fence) {
            kept.head.owner = None;
        }
    }

    fn can_create(&self, run: RunId) -> Result<(), JournalError> {
        if self.runs.contains_key(&run) { Err(JournalError::Conflict { run, at: Seq(0) }) } else { Ok(()) }
    }

    fn create(&mut self, new: NewRun, owner: OwnerId) {
        let head = new.head(owner);
        self.blobs.extend(new.blobs);
        let records = vec![found(0, new.first, head.link)];
        self.runs.insert(new.run, Run { head, facts: new.facts, ended_ms: None, records, snapshot: None });
    }

    fn append(&mut self, append: Append) -> Result<(), JournalError> {
        let kept = self.runs.get_mut(&append.run).ok_or(JournalError::NotFound { run: append.run })?;
        let (links, head) = kept.head.after(&append)?;
        if let Some(hash) = append.needs.iter().find(|hash| !self.blobs.contains_key(hash)) {
            return Err(JournalError::NoBlob { hash: *hash });
        }
        if let Some(session) = &kept.facts.session
            && !append.stored.is_empty()
        {
            let values = self.sessions.entry(session.clone()).or_default();
            Head::may_store(&append, session, |key| Ok::<_, JournalError>(values.get(key).cloned()))?;
            for stored in &append.stored {
                match stored.value.clone() {
                    Some(value) => drop(values.insert(stored.key.clone(), value)),
                    None => drop(values.remove(&stored.key)),
                }
            }
        }
        let rows = (append.at.0..).zip(append.records).zip(links);
        kept.records.extend(rows.map(|((seq, record), link)| found(seq, record, link)));
        kept.head = head;
        self.blobs.extend(append.blobs);
        let (seq, link) = (kept.head.records.saturating_sub(1), kept.head.link);
        match append.snapshot {
            Some(bytes) => kept.snapshot = Some(Snapshot { seq, link, bytes }),
            None if append.end.is_some() => kept.snapshot = None,
            None => {}
        }
        kept.ended_ms = append.end.map(|(_, ended_ms)| ended_ms);
        Ok(())
    }

    fn summary(&self, run: RunId, kept: &Run) -> Summary {
        Summary {
            run,
            state: kept.head.state,
            owner: self.owner_of(kept),
            started_ms: kept.facts.started_ms,
            ended_ms: kept.ended_ms,
            wake_ms: kept.head.wake_ms,
            records: kept.head.records,
            session: kept.facts.session.clone(),
            title: kept.facts.title.clone(),
        }
    }
}

fn found(seq: u64, record: Sealed, link: Link) -> Found {
    Found { seq, kind: record.encoded.kind.into(), payload: record.encoded.payload.into_bytes(), link: link.to_vec() }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn create(
        &self,
        run: RunId,
        start: &Started,
        blobs: &[Vec<u8>],
        flush: Flush,
    ) -> Result<Lease, JournalError> {
        let new = NewRun::new(run, start, blobs)?;
        let mut data = self.to_write()?;
        data.can_create(run)?;
        data.create(new, self.owner);
        self.flush(flush, &data);
        Ok(self.lease(run, 1, 0))
    }

    async fn replace(
        &self,
        old: &Lease,
        at: Seq,
        last: &Record,
        next: Successor<'_>,
        flush: Flush,
    ) -> Result<Lease, JournalError> {
        let append = Append::new(old, at, std::slice::from_ref(last))?;
        let new = NewRun::new(next.run, next.start, next.blobs)?;
        let mut data = self.to_write()?;
        data.can_create(next.run)?;
        data.append(append)?;
        data.create(new, self.owner);
        self.flush(flush, &data);
        Ok(self.lease(next.run, 1, 0))
    }

    async fn acquire(&self, run: RunId, take: Take, now_ms: i64) -> Result<Lease, JournalError> {
        let mut data = self.to_write()?;
        let kept = data.run(run)?;
        kept.head.open(run)?;
        let owner = data.owner_of(kept);
        let is_alive = owner.is_some();
        if let (Take::IfFree, Some(owner)) = (take, owner) {
            return Err(JournalError::Held { run, owner });
        }
        let kept = data.run_mut(run)?;
        kept.head = kept.head.acquired(self.owner, now_ms, is_alive);
        Ok(self.lease(run, kept.head.fence, kept.head.restarts))
    }

    async fn append(&self, lease: &Lease, at: Seq, records: &[Record], flush: Flush) -> Result<(), JournalError> {
        let append = Append::new(lease, at, records)?;
        let mut data = self.to_write()?;
        data.append(append)?;
        self.flush(flush, &data);
        Ok(())
    }

    async fn put_away(
        &self,
        lease: &Lease,
        at: Seq,
        records: &[Record],
        snapshot: Vec<u8>,
        flush: Flush,
    ) -> Result<(), JournalError> {
        let append = Append::new(lease, at, records)?.with_snapshot(snapshot)?;
        let mut data = self.to_write()?;
        data.append(append)?;
        self.flush(flush, &data);
        Ok(())
    }

    async fn holds(&self, lease: &Lease) -> Result<bool, JournalError> {
        Ok(self.data().run(lease.run())?.head.is_held_by(lease))
    }

    async fn release(&self, lease: Lease) -> Result<(), JournalError> {
        let (run, fence) = lease.end();
        self.to_write()?.let_go(run, fence);
        Ok(())
    }

    async fn read(&self, run: RunId) -> Result<Vec<Record>, JournalError> {
        let data = self.data();
        let kept = data.run(run)?;
        verify(run, &kept.records, kept.head.records, &kept.head.link)
    }

    async fn snapshot(&self, run: RunId) -> Result<Restored, JournalError> {
        let data = self.data();
        let kept = data.run(run)?;
        let Some(Snapshot { seq, link, bytes }) = &kept.snapshot else { return Ok(Restored::None) };
        let first = kept.records.first();
        let at = usize::try_from(*seq).unwrap_or(usize::MAX);
        let after = kept.records.get(at.saturating_add(1)..).unwrap_or_default();
        Ok(restored(run, &kept.head, first, kept.records.get(at), (*seq, *link), after, bytes.clone()))
    }

    async fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError> {
        let data = self.data();
        let open = data.runs.iter().filter(|(_, kept)| !kept.head.state.is_over());
        Ok(open
            .map(|(run, kept)| OpenRun {
                run: *run,
                state: kept.head.state,
                owner: data.owner_of(kept),
                wake_ms: kept.head.wake_ms,
            })
            .collect())
    }

    async fn summary(&self, run: RunId) -> Result<Summary, JournalError> {
        let data = self.data();
        Ok(data.summary(run, data.run(run)?))
    }

    async fn find(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, JournalError> {
        let Some((low, high)) = range(prefix) else { return Ok(Vec::new()) };
        Ok(self.data().runs.range(low..=high).rev().take(most).map(|(run, _)| *run).collect())
    }

    async fn list(&self, page: &Page) -> Result<Listing, JournalError> {
        let after = page.after()?;
        let data = self.data();
        let older = data.runs.iter().rev().filter(|(run, _)| after.is_none_or(|after| **run < after));
        let runs = older.take(page.most() + 1).map(|(run, kept)| data.summary(*run, kept)).collect();
        Ok(Listing::new(runs, page.most()))
    }

    async fn session(&self, session: &str) -> Result<Vec<(String, Json)>, JournalError> {
        let data = self.data();
        let values = data.sessions.get(session).into_iter().flatten();
        Ok(values.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    async fn export(&self, run: RunId) -> Result<Exported, JournalError> {
        let records = self.read(run).await?;
        let mut blobs = Vec::new();
        for hash in named(&records) {
            blobs.push((hash, self.blob(hash).await?));
        }
        Exported::new(run, &self.data().run(run)?.records, blobs)
    }

    async fn import(&self, runs: Vec<Exported>, _: Flush) -> Result<(), JournalError> {
        let arrived: Vec<Arrived> = runs.iter().map(Exported::arrived).collect::<Result<_, _>>()?;
        let mut data = self.to_write()?;
        for (run, arrived) in runs.iter().zip(&arrived) {
            if data.runs.get(&run.run).is_some_and(|kept| kept.head.link != arrived.head.link) {
                return Err(JournalError::Conflict { run: run.run, at: Seq(0) });
            }
        }
        for (run, Arrived { head, facts, ended_ms }) in runs.into_iter().zip(arrived) {
            if !data.runs.contains_key(&run.run) {
                let records = run.found();
                data.blobs.extend(run.blobs);
                data.runs.insert(run.run, Run { head, facts, ended_ms, records, snapshot: None });
            }
        }
        Ok(())
    }

    async fn blob(&self, hash: BlobHash) -> Result<Vec<u8>, JournalError> {
        let bytes = self.data().blobs.get(&hash).cloned().ok_or(JournalError::NoBlob { hash })?;
        if BlobHash::of(&bytes) == hash { Ok(bytes) } else { Err(JournalError::DamagedBlob { hash }) }
    }
}

#[cfg(feature = "testing")]
impl MemoryJournal {
    /// Changes the stored records of `run`, for tests.
    pub fn edit(
        &self,
        run: RunId,
        chain: crate::testing::Chain,
        change: impl FnOnce(&mut Vec<crate::testing::RawRecord>),
    ) {
        let mut data = self.data();
        let kept = data.runs.get_mut(&run).expect("the test edits a run that it made");
        let mut records = kept.records.drain(..).map(Into::into).collect();
        change(&mut records);
        if chain == crate::testing::Chain::Made {
            kept.head.link = crate::testing::make_chain(run, &mut records);
            kept.head.records = records.len() as u64;
        }
        kept.records = records.into_iter().map(Into::into).collect();
    }

    /// Makes an empty journal that remembers what was flushed; see [`lose_power`](Self::lose_power).
    #[must_use]
    pub fn on_a_disk() -> Self {
        Self { flushed: Some(Arc::default()), ..Self::new() }
    }

    /// Opens what a power cut leaves of a journal that is on a disk: everything up to the last commit that was flushed.
    #[must_use]
    pub fn lose_power(&self) -> Self {
        let flushed = self.flushed.as_ref().expect("the test made it on a disk");
        let data = flushed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { data: Arc::new(Mutex::new(data)), owner: OwnerId::random(), flushed: Some(Arc::default()) }
            .reopen_dead(self.owner)
    }

    fn reopen_dead(self, owner: OwnerId) -> Self {
        self.data().dead.insert(owner);
        self
    }

    /// Makes a journal of its own with all that is in this one, opened by another owner, while the one of this one is dead there.
    #[must_use]
    pub fn copy(&self) -> Self {
        let mut data = self.data().clone();
        data.dead.insert(self.owner);
        Self { data: Arc::new(Mutex::new(data)), owner: OwnerId::random(), flushed: None }
    }

    /// Changes what was put away of `run`, for tests; what is left empty is gone.
    pub fn edit_snapshot(&self, run: RunId, change: impl FnOnce(&mut Vec<u8>)) {
        let mut data = self.data();
        let kept = data.runs.get_mut(&run).expect("the test edits a run that it made");
        if let Some(snapshot) = &mut kept.snapshot {
            change(&mut snapshot.bytes);
        }
        if kept.snapshot.as_ref().is_some_and(|snapshot| snapshot.bytes.is_empty()) {
            kept.snapshot = None;
        }
    }

    /// Changes the bytes of a blob, for tests.
    pub fn spoil(&self, blob: BlobHash) {
        self.data().blobs.insert(blob, b"spoilt".to_vec());
    }
}
