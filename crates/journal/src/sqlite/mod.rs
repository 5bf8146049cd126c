//! The SQLite store: one file in WAL mode, shared by any number of processes of one machine.
//!
//! # Invariants
//!
//! * One thread writes. It commits all that is queued together, so that many runs share one flush (`writer.rs`).
//! * Reads have connections of their own and never wait for a writer.
//! * An owner is alive while its lock file is locked, and the operating system unlocks it however the process ends
//!   (`owners.rs`).
//!
//! # Deliberately not here
//!
//! No network file systems: WAL needs shared memory, and file locks need to be true.

mod commit;
mod fault;
mod file;
mod owners;
mod read;
mod readers;
mod schema;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::oneshot;

use self::commit::Write;
use self::owners::Owners;
use self::readers::Readers;
use self::writer::{Request, Writer};
use crate::export::Arrived;
use crate::head::{Append, NewRun};
use crate::list::range;
use crate::{
    BlobHash, Exported, Flush, Journal, JournalError, Json, Lease, Listing, OpenRun, Page, Record, Restored, RunId,
    Seq, Started, Successor, Summary, Take,
};

/// How long to wait for another process that has the file locked, before [`JournalError::Unavailable`].
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A journal in an SQLite file, opened by one owner.
///
/// Dropping it finishes what was handed over, which can take a flush, and leaves its runs free.
pub struct SqliteJournal {
    journal: Arc<str>,
    requests: Sender<Request>,
    writer: Option<JoinHandle<()>>,
    owners: Owners,
    readers: Arc<Readers>,
}

impl SqliteJournal {
    /// Opens the journal at `path`, and makes file and folder when they are missing.
    ///
    /// A folder that is made for it gets a `.gitignore`, since a journal holds what tools returned.
    ///
    /// # Errors
    ///
    /// [`JournalError::Settings`] if the file is something else, [`JournalError::Newer`] if a newer version wrote it,
    /// and whatever keeps it from opening within `patience`.
    pub async fn open(path: &Path, patience: Duration) -> Result<Self, JournalError> {
        let path = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || Self::open_blocking(&path, patience)).await;
        opened.unwrap_or_else(|_| Err(fault::stopped(&"sqlite:".into())))
    }

    fn open_blocking(path: &Path, patience: Duration) -> Result<Self, JournalError> {
        let (connection, path) = file::open(path, patience)?;
        let journal: Arc<str> = path.display().to_string().into();
        let owners = Owners::beside(&path);
        owners.sweep();
        let me = owners.enlist().map_err(|error| fault::owners(&journal, error))?;
        let (requests, queue) = mpsc::channel();
        let writer = Writer::new(Arc::clone(&journal), connection, me, owners.clone(), requests.clone());
        let thread = thread::Builder::new().name("refrain-journal".to_owned()).spawn(move || writer.run(&queue));
        let thread = thread.map_err(|error| fault::owners(&journal, error))?;
        let readers = Arc::new(Readers::new(Arc::clone(&journal), path, patience));
        Ok(Self { journal, requests, writer: Some(thread), owners, readers })
    }

    async fn write(&self, write: Write, flush: Flush) -> Result<Option<Lease>, JournalError> {
        let (answer, answered) = oneshot::channel();
        self.requests
            .send(Request::Write { write, flush, answer: Some(answer) })
            .map_err(|_| fault::stopped(&self.journal))?;
        answered.await.map_err(|_| fault::stopped(&self.journal))?
    }

    async fn write_for_lease(&self, write: Write, flush: Flush) -> Result<Lease, JournalError> {
        self.write(write, flush).await?.ok_or_else(|| fault::stopped(&self.journal))
    }
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        // Leases may outlive us and hold senders too, so the queue does not end by itself.
        let _ = self.requests.send(Request::Stop);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn create(
        &self,
        run: RunId,
        start: &Started,
        blobs: &[Vec<u8>],
        flush: Flush,
    ) -> Result<Lease, JournalError> {
        let new = Box::new(NewRun::new(run, start, blobs)?);
        self.write_for_lease(Write::Create(new), flush).await
    }

    async fn replace(
        &self,
        old: &Lease,
        at: Seq,
        last: &Record,
        next: Successor<'_>,
        flush: Flush,
    ) -> Result<Lease, JournalError> {
        let end = Box::new(Append::new(old, at, std::slice::from_ref(last))?);
        let new = Box::new(NewRun::new(next.run, next.start, next.blobs)?);
        self.write_for_lease(Write::Replace(end, new), flush).await
    }

    async fn acquire(&self, run: RunId, take: Take, now_ms: i64) -> Result<Lease, JournalError> {
        // A power cut ends every owner, so a fence need not survive one.
        self.write_for_lease(Write::Acquire { run, take, now_ms }, Flush::Process).await
    }

    async fn append(&self, lease: &Lease, at: Seq, records: &[Record], flush: Flush) -> Result<(), JournalError> {
        let append = Append::new(lease, at, records)?;
        self.write(Write::Append(Box::new(append)), flush).await.map(|_| ())
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
        self.write(Write::Append(Box::new(append)), flush).await.map(|_| ())
    }

    async fn holds(&self, lease: &Lease) -> Result<bool, JournalError> {
        let run = lease.run();
        let head = self.readers.with(move |reader| read::head_of(reader, run)).await?;
        Ok(head.is_held_by(lease))
    }

    async fn release(&self, lease: Lease) -> Result<(), JournalError> {
        let (run, fence) = lease.end();
        self.write(Write::Release { run, fence }, Flush::Process).await.map(|_| ())
    }

    async fn read(&self, run: RunId) -> Result<Vec<Record>, JournalError> {
        self.readers.with(move |reader| read::records(reader, run)).await
    }

    async fn snapshot(&self, run: RunId) -> Result<Restored, JournalError> {
        self.readers.with(move |reader| read::snapshot(reader, run)).await
    }

    async fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError> {
        let owners = self.owners.clone();
        self.readers.with(move |reader| read::open_runs(reader, &owners)).await
    }

    async fn summary(&self, run: RunId) -> Result<Summary, JournalError> {
        let owners = self.owners.clone();
        self.readers.with(move |reader| read::summary(reader, &owners, run)).await
    }

    async fn find(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, JournalError> {
        let Some((low, high)) = range(prefix) else { return Ok(Vec::new()) };
        self.readers.with(move |reader| read::between(reader, low, high, most)).await
    }

    async fn list(&self, page: &Page) -> Result<Listing, JournalError> {
        let (after, most, owners) = (page.after()?, page.most(), self.owners.clone());
        self.readers.with(move |reader| read::page(reader, &owners, after, most)).await
    }

    async fn session(&self, session: &str) -> Result<Vec<(String, Json)>, JournalError> {
        let session = session.to_owned();
        self.readers.with(move |reader| read::session(reader, &session)).await
    }

    async fn export(&self, run: RunId) -> Result<Exported, JournalError> {
        self.readers.with(move |reader| read::export(reader, run)).await
    }

    async fn import(&self, runs: Vec<Exported>, flush: Flush) -> Result<(), JournalError> {
        let arrived: Vec<(Exported, Arrived)> =
            runs.into_iter().map(|run| run.arrived().map(|arrived| (run, arrived))).collect::<Result<_, _>>()?;
        self.write(Write::Import(arrived), flush).await.map(|_| ())
    }

    async fn blob(&self, hash: BlobHash) -> Result<Vec<u8>, JournalError> {
        self.readers.with(move |reader| read::blob(reader, hash)).await
    }
}
