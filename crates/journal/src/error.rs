//! Why the journal could not do what it was asked, split by what the caller can do about it.
//!
//! Errors are `Clone`, because one failed commit is the answer to every request that was in it.

use std::error::Error;
use std::sync::Arc;

use crate::{BlobHash, Owner, RunId, Seq};

/// Why the journal could not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Someone else writes this run. Give it up; the other one has it.
    #[error("record {at} of run `{run}` was not written: another owner has the run; stop driving it and read it again")]
    Conflict {
        /// The run.
        run: RunId,
        /// The number that was to be written.
        at: Seq,
    },
    /// The run has ended. Read it for its result.
    #[error("run `{run}` is over and nothing can follow; read it for its result")]
    Over {
        /// The run.
        run: RunId,
    },
    /// A live owner has the run. Wait for it, or take the run by force.
    #[error("run `{run}` is held by {}, which is alive; wait for it or stop it, or take the run by force", owner.who)]
    Held {
        /// The run.
        run: RunId,
        /// Who holds it.
        owner: Owner,
    },
    /// Another run of the session has changed what this one may only store over. Nothing was written.
    #[error(
        "`{key}` in the store of session `{session}` is not what run `{run}` found there: another run changed it; run the script again"
    )]
    StoreConflict {
        /// The run.
        run: RunId,
        /// Its session.
        session: String,
        /// The name of the value.
        key: String,
    },
    /// There is no such run. Fix the id.
    #[error("no run `{run}` in this journal; list the runs to see which there are")]
    NotFound {
        /// The run that was asked for.
        run: RunId,
    },
    /// There is no such blob. Fix the hash.
    #[error("no blob `{hash}` in this journal; take the hash from a record of this journal")]
    NoBlob {
        /// The blob that was asked for.
        hash: BlobHash,
    },
    /// The cursor is none of ours. Start from the first page.
    #[error("cursor `{cursor}` is none that a listing gave; leave it out to start from the newest run")]
    BadCursor {
        /// What was given.
        cursor: String,
    },
    /// The text is no id of a run or a blob. Fix it.
    #[error("`{text}` is no id; give a whole one, as a listing or a record prints it")]
    BadId {
        /// What was given.
        text: String,
    },
    /// The text is not the JSON it should be. Fix it.
    #[error("a value for the journal is not the JSON it should be; give one complete JSON value")]
    NotJson {
        /// Where it stops being JSON.
        source: Arc<serde_json::Error>,
    },
    /// The address, or the file it leads to, is no journal. Fix the settings.
    #[error("{what}")]
    Settings {
        /// What is wrong and what to write instead.
        what: String,
    },
    /// The store did not do it. After a write, reread before deciding: it may have happened. Trying later can help.
    #[error("journal `{journal}` is unavailable: {what}")]
    Unavailable {
        /// The file or the server.
        journal: String,
        /// What failed, and what to do.
        what: String,
        /// The driver's own words.
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// There is no room. Nothing was written; make room and go on.
    #[error("journal `{journal}` has no room on its disk: nothing was written; free some space and resume")]
    Full {
        /// The file.
        journal: String,
        /// The driver's own words.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The store may not be written. Fix its permissions, or use another one.
    #[error("journal `{journal}` cannot be written: {what} is read-only; make it writable or choose another journal")]
    ReadOnly {
        /// The file.
        journal: String,
        /// The file, folder or file system.
        what: String,
        /// The driver's own words.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The record or blob is larger than any store takes. Make it smaller.
    #[error("{what} has {bytes} bytes and a journal takes at most {most} in one piece; make it smaller")]
    TooLarge {
        /// The record or blob.
        what: String,
        /// Its size.
        bytes: usize,
        /// The most that is taken.
        most: usize,
    },
    /// Written whole by a newer version. Upgrade, or run the newer binary.
    #[error("{place} was written by a newer version of this program, which this one cannot read ({what}); upgrade it")]
    Newer {
        /// The record or the file.
        place: String,
        /// What was not understood.
        what: String,
    },
    /// The stored bytes of a run are not what was written. Never retried, never skipped.
    #[error("record {seq} of run `{run}` is damaged: {what}; restore the journal from a backup, or start the run anew")]
    Damaged {
        /// The run.
        run: RunId,
        /// The first record that is not as written.
        seq: Seq,
        /// How it differs.
        what: String,
    },
    /// The stored bytes of a blob are not what was written.
    #[error("blob `{hash}` is damaged: its bytes have another hash; restore the journal from a backup")]
    DamagedBlob {
        /// The blob.
        hash: BlobHash,
    },
    /// A file of exported runs is not as it was written. Nothing of it is taken in.
    #[error("this is not the whole of an exported run: {what}; export it once more")]
    NotExported {
        /// What was found, and where.
        what: String,
    },
    /// The file holds what no version of ours wrote.
    #[error("journal `{journal}` is damaged: {what}; restore it from a backup or choose another journal")]
    DamagedFile {
        /// The file.
        journal: String,
        /// What was found.
        what: String,
    },
    /// We are wrong. Report it.
    #[error("bug in refrain: {what} (record {seq} of run `{run}`); nothing was written, please report it")]
    Bug {
        /// The run.
        run: RunId,
        /// The number that was to be written.
        seq: Seq,
        /// What we did.
        what: &'static str,
    },
}
