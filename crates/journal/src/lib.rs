//! The journal: everything a run did that could matter again, in order.
//!
//! A run is its start record and what came back from outside. Feed both to the sandbox and the script is where it was,
//! so a crash costs time and never work. Nothing else in the project is trusted to remember.
//!
//! # Invariants
//!
//! * **Append only.** A record is never changed. A run is deleted whole.
//! * **All or none.** One append is one commit, with its records in order and nothing between them.
//! * **One writer.** Every write carries the fence of its [`Lease`]. Whoever acquires a run raises the fence, so a late
//!   writer fails and changes nothing.
//! * **A dead owner holds nothing.** A run whose process was killed can be acquired at once. Closing a store decides
//!   nothing about its runs.
//! * **Over means over.** After [`Record::Ended`] nothing follows.
//! * **Nobody holds a parked run.** [`Record::Parked`] ends its lease.
//! * **A snapshot is a cache.** It fits a run that has the record at which it was taken, with that checksum, or it is not given out.
//! * **Damage is found.** Each record carries a checksum chained to the one before it, blobs are checked against their
//!   hash, and the run's head says where the chain ends.
//! * **Unknown means stop.** A record this build cannot read is an error, never skipped: skipping would replay a
//!   different run. The error tells *newer* from *damaged*.
//!
//! # Deliberately not here
//!
//! No clock, no JavaScript, no idea what a tool is. Times come in as milliseconds since the epoch; names and arguments are plain
//! data, so an old journal opens after its tools are gone. Which records mean what for the next step is the runtime's.

mod chain;
mod error;
pub mod export;
mod head;
mod id;
mod json;
mod lease;
mod list;
mod memory;
mod payload;
mod record;
mod sqlite;
#[cfg(feature = "testing")]
pub mod testing;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

pub use error::JournalError;
pub use export::Exported;
pub use id::{BlobHash, RunId, Seq};
pub use json::Json;
pub use lease::{Flush, Lease, Owner, OwnerId, Take};
pub use list::{Listing, MOST_RUNS, OpenRun, Page, Restored, RunState, Summary};
pub use memory::{Fate, MemoryJournal};
pub use record::{
    Answered, Asked, AskedCall, Attempted, Cancelling, Decided, EndState, Ended, Failure, Guard, Outcome, Parked,
    Record, Reused, Started, Stored,
};
pub use sqlite::{PATIENCE, SqliteJournal};

/// A run that takes the place of another: what [`Journal::create`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Successor<'a> {
    /// The new run.
    pub run: RunId,
    /// Its record 0.
    pub start: &'a Started,
    /// The blobs that the record names.
    pub blobs: &'a [Vec<u8>],
}

/// A place where journals are kept, opened by one owner.
///
/// Every store passes the contract in `testing`; a new one starts by being added to `tests/it`.
///
/// A write that was handed over goes on when its future is dropped. Whoever lost the answer rereads.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Creates `run` with record 0 and the blobs it names, in one commit, and holds it.
    ///
    /// # Errors
    ///
    /// [`JournalError::Conflict`] if the run exists: read it instead.
    async fn create(&self, run: RunId, start: &Started, blobs: &[Vec<u8>], flush: Flush)
    -> Result<Lease, JournalError>;

    /// Appends `last`, the end of the run of `old`, as its number `at`, and in the same commit creates `next` in its place.
    ///
    /// # Errors
    ///
    /// Those of [`append`](Self::append) and [`create`](Self::create). Where either is refused, neither was done.
    async fn replace(
        &self,
        old: &Lease,
        at: Seq,
        last: &Record,
        next: Successor<'_>,
        flush: Flush,
    ) -> Result<Lease, JournalError>;

    /// Takes hold of `run` and fences every earlier lease of it.
    ///
    /// # Errors
    ///
    /// [`JournalError::Held`] while another lease's owner is alive, unless taken [`Take::ByForce`]. This store is an
    /// owner like any other: a run is not driven twice in one process. [`JournalError::Over`] if the run has ended.
    async fn acquire(&self, run: RunId, take: Take, now_ms: i64) -> Result<Lease, JournalError>;

    /// Appends `records` as numbers `at` and following, all or none, in one commit.
    ///
    /// # Errors
    ///
    /// [`JournalError::Conflict`] if the lease was fenced or `at` is not the next free number: someone else drives
    /// the run, and this one must stop. [`JournalError::Over`] after [`Record::Ended`]. After
    /// [`JournalError::Unavailable`] the records may or may not be stored, so the caller rereads before it decides.
    async fn append(&self, lease: &Lease, at: Seq, records: &[Record], flush: Flush) -> Result<(), JournalError>;

    /// As [`append`](Self::append), with the run's memory as of the last record in the same commit, in place of what was kept
    /// before. There need not be any records. What is kept is a cache, and gone when the run is over.
    ///
    /// # Errors
    ///
    /// Those of [`append`](Self::append).
    async fn put_away(
        &self,
        lease: &Lease,
        at: Seq,
        records: &[Record],
        snapshot: Vec<u8>,
        flush: Flush,
    ) -> Result<(), JournalError>;

    /// Returns whether the lease still holds its run: nobody has taken it, and it is neither parked nor over.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotFound`], and the store's own.
    async fn holds(&self, lease: &Lease) -> Result<bool, JournalError>;

    /// Lets the run go. Decides nothing about it: the next owner goes on from its records.
    ///
    /// Dropping a lease does the same, without waiting and without an answer.
    ///
    /// # Errors
    ///
    /// [`JournalError::Unavailable`] and its kin; the run is then free once this store is closed. Letting go of a run
    /// that another owner took is no error.
    async fn release(&self, lease: Lease) -> Result<(), JournalError>;

    /// Returns every record of `run` in order, after checking the whole chain. A value of more than 16 KiB is
    /// [`Outcome::Blob`], and [`blob`](Self::blob) gives it.
    ///
    /// # Errors
    ///
    /// [`JournalError::Damaged`] if the bytes are not what was written, [`JournalError::Newer`] if they are and this
    /// build cannot read them. Neither may be skipped or retried.
    async fn read(&self, run: RunId) -> Result<Vec<Record>, JournalError>;

    /// Returns the snapshot of `run` with what came after it, where it fits the run's records. Those before it are not read.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotFound`], and the store's own. What does not fit is no error: [`read`](Self::read) tells what is wrong.
    async fn snapshot(&self, run: RunId) -> Result<Restored, JournalError>;

    /// Returns what a listing shows of `run`, without reading its records.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotFound`] names the run.
    async fn summary(&self, run: RunId) -> Result<Summary, JournalError>;

    /// Returns at most `most` runs whose id starts with `prefix`, newest first. Hyphens and case do not matter.
    ///
    /// # Errors
    ///
    /// Only the store's own; a prefix that no id can have finds nothing.
    async fn find(&self, prefix: &str, most: usize) -> Result<Vec<RunId>, JournalError>;

    /// Returns one page of runs, newest first. Runs that are added meanwhile do not shift later pages.
    ///
    /// # Errors
    ///
    /// [`JournalError::BadCursor`] if the cursor is none of ours.
    async fn list(&self, page: &Page) -> Result<Listing, JournalError>;

    /// Returns every run that is not over, the oldest first.
    ///
    /// # Errors
    ///
    /// Only the store's own.
    async fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError>;

    /// Returns what the runs of `session` left in its store, by name. Nothing where there is no such session.
    ///
    /// # Errors
    ///
    /// [`JournalError::DamagedFile`] if a value is none, and the store's own.
    async fn session(&self, session: &str) -> Result<Vec<(String, Json)>, JournalError>;

    /// Returns `run` as it is stored, with the blobs that it names, after checking both.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read) and [`blob`](Self::blob).
    async fn export(&self, run: RunId) -> Result<Exported, JournalError>;

    /// Stores runs that were exported, all or none, in one commit and after checking everything. One that is here already, with the
    /// same records, stays as it is. Nobody holds the others.
    ///
    /// # Errors
    ///
    /// [`JournalError::Conflict`] for a run that is here with other records, [`JournalError::Damaged`] and its kin for what is not as it
    /// was written, [`JournalError::Newer`] for what this build does not know.
    async fn import(&self, runs: Vec<Exported>, flush: Flush) -> Result<(), JournalError>;

    /// Returns the blob with this hash, checked against it.
    ///
    /// # Errors
    ///
    /// [`JournalError::NoBlob`] if there is none, [`JournalError::DamagedBlob`] if the bytes do not have this hash.
    async fn blob(&self, hash: BlobHash) -> Result<Vec<u8>, JournalError>;
}

/// Opens the journal at `url`: `sqlite:PATH` (made when missing) or `memory:` (gone with the process).
///
/// # Errors
///
/// [`JournalError::Settings`] if the address or the file behind it is no journal, and whatever keeps the store from
/// opening.
pub async fn open(url: &str) -> Result<Arc<dyn Journal>, JournalError> {
    let wrong = |what: String| JournalError::Settings { what };
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(MemoryJournal::new())),
        Some(("sqlite", "" | ":memory:")) => {
            Err(wrong(format!("journal url `{url}` names no file; write `sqlite:PATH`, or `memory:` to keep nothing")))
        }
        // Two slashes would turn `sqlite://runs.db`, meant as a file beside us, into one in the root folder.
        Some(("sqlite", path)) if path.starts_with("//") && !path.starts_with("///") => {
            Err(wrong(format!("journal url `{url}` has two slashes; write `sqlite:{}`", path.trim_start_matches('/'))))
        }
        Some(("sqlite", path)) => Ok(Arc::new(SqliteJournal::open(Path::new(path), PATIENCE).await?)),
        // The address is not repeated: it may hold a password.
        Some(("postgres" | "postgresql", _)) => Err(wrong(
            "journal url `postgres://…`: PostgreSQL comes with a later release; use `sqlite:PATH` until then"
                .to_owned(),
        )),
        _ => Err(wrong(format!("journal url `{url}` is none that we know; write `sqlite:PATH` or `memory:`"))),
    }
}
