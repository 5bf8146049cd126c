//! A journal that loses its power.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use crate::{
    BlobHash, Exported, Flush, Journal, JournalError, Json, Lease, Listing, OpenRun, Page, Record, Restored, RunId,
    Seq, Started, Successor, Summary, Take,
};

/// Passes everything through until write number `nth`, then fails that one and all that comes after it, reads
/// included: a process without power does not get a second try.
///
/// A write is a `create`, an `append`, a `put_away` or a `replace`. Taking and releasing a run decide nothing, so they are not counted.
pub struct PowerCut {
    journal: Arc<dyn Journal>,
    nth: u64,
    cut: Cut,
    writes: AtomicU64,
    dies: Option<Box<dyn Fn() + Send + Sync>>,
}

/// On which side of the write the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The write never happens.
    Before,
    /// The write is stored, and the writer never hears of it.
    After,
}

impl PowerCut {
    /// Cuts the power at write `nth`, counted from 0.
    pub fn at(journal: Arc<dyn Journal>, nth: u64, cut: Cut) -> Self {
        Self { journal, nth, cut, writes: AtomicU64::new(0), dies: None }
    }

    /// Does this when the power goes, before anybody hears of it. A process that is killed lets go of no run, but one that is played
    /// drops its leases on the way out, unless its owner is dead by then.
    #[must_use]
    pub fn dying(self, dies: impl Fn() + Send + Sync + 'static) -> Self {
        Self { dies: Some(Box::new(dies)), ..self }
    }

    /// Never cuts it: for counting.
    pub fn never(journal: Arc<dyn Journal>) -> Self {
        Self::at(journal, u64::MAX, Cut::Before)
    }

    /// Returns how many writes were tried.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::SeqCst)
    }

    /// Returns whether the power is off.
    pub fn is_off(&self) -> bool {
        self.writes() > self.nth
    }

    fn on(&self) -> Result<&dyn Journal, JournalError> {
        if self.is_off() { Err(off()) } else { Ok(&*self.journal) }
    }

    async fn write<T>(&self, write: impl Future<Output = Result<T, JournalError>>) -> Result<T, JournalError> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst);
        if number > self.nth {
            return Err(off());
        }
        if number < self.nth {
            return write.await;
        }
        if self.cut == Cut::After {
            drop(write.await);
        }
        if let Some(dies) = &self.dies {
            dies();
        }
        Err(off())
    }
}

fn off() -> JournalError {
    let what = "the power was cut by a test".to_owned();
    JournalError::Unavailable { journal: "power cut".to_owned(), what, source: None }
}

#[async_trait]
impl Journal for PowerCut {
    async fn create(
        &self,
        run: RunId,
        start: &Started,
        blobs: &[Vec<u8>],
        flush: Flush,
    ) -> Result<Lease, JournalError> {
        self.write(self.journal.create(run, start, blobs, flush)).await
    }

    async fn acquire(&self, run: RunId, take: Take, now_ms: i64) -> Result<Lease, JournalError> {
        self.on()?.acquire(run, take, now_ms).await
    }

    async fn append(&self, lease: &Lease, at: Seq, records: &[Record], flush: Flush) -> Result<(), JournalError> {
        self.write(self.journal.append(lease, at, records, flush)).await
    }

    async fn put_away(
        &self,
        lease: &Lease,
        at: Seq,
        records: &[Record],
        snapshot: Vec<u8>,
        flush: Flush,
    ) -> Result<(), JournalError> {
        self.write(self.journal.put_away(lease, at, records, snapshot, flush)).await
    }

    async fn replace(
        &self,
        old: &Lease,
        at: Seq,
        last: &Record,
        next: Successor<'_>,
        flush: Flush,
    ) -> Result<Lease, JournalError> {
        self.write(self.journal.replace(old, at, last, next, flush)).await
    }

    async fn holds(&self, lease: &Lease) -> Result<bool, JournalError> {
        self.on()?.holds(lease).await
    }

    async fn release(&self, lease: Lease) -> Result<(), JournalError> {
        self.on()?.release(lease).await
    }

    async fn read(&self, run: RunId) -> Result<Vec<Record>, JournalError> {
        self.on()?.read(run).await
    }

    async fn snapshot(&self, run: RunId) -> Result<Restored, JournalError> {
        self.on()?.snapshot(run).await
    }

    async fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError> {
        self.on()?.open_runs().await
    }

    async fn summary(&self, run: RunId) -> Result<Summary, JournalError> {
        self.on()?.summary(run).await
    }

    async fn find(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, JournalError> {
        self.on()?.find(prefix, most).await
    }

    async fn list(&self, page: &Page) -> Result<Listing, JournalError> {
        self.on()?.list(page).await
    }

    async fn session(&self, session: &str) -> Result<Vec<(String, Json)>, JournalError> {
        self.on()?.session(session).await
    }

    async fn export(&self, run: RunId) -> Result<Exported, JournalError> {
        self.on()?.export(run).await
    }

    async fn import(&self, runs: Vec<Exported>, flush: Flush) -> Result<(), JournalError> {
        self.write(self.journal.import(runs, flush)).await
    }

    async fn blob(&self, hash: BlobHash) -> Result<Vec<u8>, JournalError> {
        self.on()?.blob(hash).await
    }
}
