//! What a write does to the tables.
//!
//! Each is judged by `head.rs` before its first change, so a refused one needs no undoing. An error of SQLite leaves
//! the transaction to its owner, who undoes it whole.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::owners::Owners;
use crate::chain::{Link, Sealed};
use crate::export::Arrived;
use crate::head::{Append, Head, NewRun};
use crate::list::RunState;
use crate::{BlobHash, Exported, JournalError, Json, Owner, OwnerId, RunId, Seq, Take};

/// One thing to be written.
pub(super) enum Write {
    Create(Box<NewRun>),
    Acquire {
        run: RunId,
        take: Take,
        now_ms: i64,
    },
    Append(Box<Append>),
    /// The end of one run and the start of the one that takes its place.
    Replace(Box<Append>, Box<NewRun>),
    Release {
        run: RunId,
        fence: u64,
    },
    /// Runs from elsewhere, checked.
    Import(Vec<(Exported, Arrived)>),
}

/// What a lease is made of: run, fence, restarts.
pub(super) type Leased = (RunId, u64, u32);

/// Why a write was not made.
pub(super) enum NotWritten {
    /// The rules say no. Nothing was changed.
    Refused(JournalError),
    /// SQLite says no. The transaction is to be undone.
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for NotWritten {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<JournalError> for NotWritten {
    fn from(error: JournalError) -> Self {
        Self::Refused(error)
    }
}

impl Write {
    /// Makes the write inside the open transaction. Returns run, fence and restarts where a lease follows from it.
    pub(super) fn make(&self, open: &Connection, me: OwnerId, owners: &Owners) -> Result<Option<Leased>, NotWritten> {
        match self {
            Self::Create(new) => create(open, me, new).map(Some),
            Self::Acquire { run, take, now_ms } => acquire(open, me, owners, *run, *take, *now_ms).map(Some),
            Self::Append(append) => self::append(open, append).map(|()| None),
            Self::Replace(end, new) => {
                // Judged before the first change, as every write is.
                can_create(open, new)?;
                self::append(open, end)?;
                create(open, me, new).map(Some)
            }
            Self::Import(runs) => import(open, runs).map(|()| None),
            Self::Release { run, fence } => {
                let sql = "UPDATE runs SET owner = NULL WHERE run = ?1 AND fence = ?2";
                open.prepare_cached(sql)?.execute((run.as_bytes(), signed(*fence)?))?;
                Ok(None)
            }
        }
    }
}

fn import(open: &Connection, runs: &[(Exported, Arrived)]) -> Result<(), NotWritten> {
    // Judged before the first change, as every write is.
    let mut new = Vec::new();
    for (run, arrived) in runs {
        match head(open, run.run)? {
            Some(here) if here.link == arrived.head.link => {}
            Some(_) => return Err(JournalError::Conflict { run: run.run, at: Seq(0) }.into()),
            None => new.push((run, arrived)),
        }
    }
    for (run, Arrived { head, facts, ended_ms }) in new {
        let sql = "INSERT INTO runs (run, state, fence, owner, since_ms, records, link, started_ms, ended_ms, session, title, wake_ms)
                   VALUES (?1, ?2, ?3, NULL, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        open.prepare_cached(sql)?.execute((
            run.run.as_bytes(),
            head.state.as_str(),
            signed(head.fence)?,
            head.since_ms,
            signed(head.records)?,
            head.link,
            facts.started_ms,
            ended_ms,
            &facts.session,
            &facts.title,
            head.wake_ms,
        ))?;
        for (seq, row) in (0..).zip(&run.records) {
            let sql = "INSERT INTO records (run, seq, kind, payload, link) VALUES (?1, ?2, ?3, ?4, ?5)";
            let key = run.run.as_bytes();
            open.prepare_cached(sql)?.execute((key, signed(seq)?, row.kind, &row.payload, row.link))?;
        }
        keep(open, &run.blobs)?;
    }
    Ok(())
}

fn can_create(open: &Connection, new: &NewRun) -> Result<(), NotWritten> {
    match head(open, new.run)? {
        Some(_) => Err(JournalError::Conflict { run: new.run, at: Seq(0) }.into()),
        None => Ok(()),
    }
}

fn create(open: &Connection, me: OwnerId, new: &NewRun) -> Result<Leased, NotWritten> {
    can_create(open, new)?;
    let head = new.head(me);
    open.prepare_cached(
        "INSERT INTO runs (run, state, fence, owner, since_ms, records, link, started_ms, session, title)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute((
        new.run.as_bytes(),
        head.state.as_str(),
        signed(head.fence)?,
        me.as_bytes(),
        head.since_ms,
        signed(head.records)?,
        head.link,
        new.facts.started_ms,
        &new.facts.session,
        &new.facts.title,
    ))?;
    insert(open, new.run, 0, &new.first, &head.link)?;
    keep(open, &new.blobs)?;
    Ok((new.run, head.fence, head.restarts))
}

fn keep(open: &Connection, blobs: &[(BlobHash, Vec<u8>)]) -> rusqlite::Result<()> {
    for (hash, bytes) in blobs {
        // Bytes that differ under the same hash are damage, and these are known to be right.
        let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2)
                   ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes WHERE bytes IS NOT excluded.bytes";
        open.prepare_cached(sql)?.execute((hash.as_bytes(), bytes))?;
    }
    Ok(())
}

fn acquire(
    open: &Connection,
    me: OwnerId,
    owners: &Owners,
    run: RunId,
    take: Take,
    now_ms: i64,
) -> Result<Leased, NotWritten> {
    let head = head(open, run)?.ok_or(JournalError::NotFound { run })?;
    head.open(run)?;
    let holder = head.owner.and_then(|id| Some(Owner { id, who: owners.alive(id)?, since_ms: head.since_ms }));
    let is_alive = holder.is_some();
    if let (Take::IfFree, Some(owner)) = (take, holder) {
        return Err(JournalError::Held { run, owner }.into());
    }
    let next = head.acquired(me, now_ms, is_alive);
    open.prepare_cached("UPDATE runs SET fence = ?2, owner = ?3, since_ms = ?4, restarts = ?5 WHERE run = ?1")?
        .execute((run.as_bytes(), signed(next.fence)?, me.as_bytes(), now_ms, next.restarts))?;
    Ok((run, next.fence, next.restarts))
}

fn append(open: &Connection, append: &Append) -> Result<(), NotWritten> {
    let head = head(open, append.run)?.ok_or(JournalError::NotFound { run: append.run })?;
    let (links, next) = head.after(append)?;
    for hash in &append.needs {
        let sql = "SELECT 1 FROM blobs WHERE hash = ?1";
        if open.prepare_cached(sql)?.query_row([hash.as_bytes()], |_| Ok(())).optional()?.is_none() {
            return Err(JournalError::NoBlob { hash: *hash }.into());
        }
    }
    let session = if append.stored.is_empty() { None } else { session(open, append.run)? };
    if let Some(session) = &session {
        Head::may_store(append, session, |key| value(open, session, key))?;
        store(open, session, append)?;
    }
    for ((seq, record), link) in (append.at.0..).zip(&append.records).zip(&links) {
        insert(open, append.run, seq, record, link)?;
    }
    keep(open, &append.blobs)?;
    if next.state == head.state && next.restarts == head.restarts {
        // Nearly always so; and a state that is written, even the same, would have its index written as well.
        let sql = "UPDATE runs SET records = ?2, link = ?3 WHERE run = ?1";
        open.prepare_cached(sql)?.execute((append.run.as_bytes(), signed(next.records)?, next.link))?;
    } else {
        stand(open, append, &next)?;
    }
    if let Some(bytes) = &append.snapshot {
        let sql = "INSERT INTO snapshots (run, seq, link, bytes) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, link = excluded.link, bytes = excluded.bytes";
        let last = signed(next.records.saturating_sub(1))?;
        open.prepare_cached(sql)?.execute((append.run.as_bytes(), last, next.link, bytes))?;
    } else if append.end.is_some() {
        open.prepare_cached("DELETE FROM snapshots WHERE run = ?1")?.execute([append.run.as_bytes()])?;
    }
    Ok(())
}

/// Writes how a run stands after an append that changes that.
fn stand(open: &Connection, append: &Append, next: &Head) -> rusqlite::Result<()> {
    open.prepare_cached(
        "UPDATE runs SET state = ?2, owner = ?3, records = ?4, link = ?5, ended_ms = ?6, fence = ?7, restarts = ?8,
         wake_ms = ?9 WHERE run = ?1",
    )?
    .execute((
        append.run.as_bytes(),
        next.state.as_str(),
        next.owner.as_ref().map(OwnerId::as_bytes),
        signed(next.records)?,
        next.link,
        append.end.map(|(_, ended_ms)| ended_ms),
        signed(next.fence)?,
        next.restarts,
        next.wake_ms,
    ))?;
    Ok(())
}

fn session(open: &Connection, run: RunId) -> rusqlite::Result<Option<String>> {
    open.prepare_cached("SELECT session FROM runs WHERE run = ?1")?.query_row([run.as_bytes()], |row| row.get(0))
}

/// What is in the store of a session. A text that is no JSON equals nothing that a run found there.
fn value(open: &Connection, session: &str, key: &str) -> Result<Option<Json>, NotWritten> {
    let sql = "SELECT value FROM sessions WHERE session = ?1 AND key = ?2";
    let text: Option<String> = open.prepare_cached(sql)?.query_row((session, key), |row| row.get(0)).optional()?;
    Ok(text.map(Json::new).transpose()?)
}

fn store(open: &Connection, session: &str, append: &Append) -> rusqlite::Result<()> {
    for stored in &append.stored {
        match &stored.value {
            Some(value) => {
                let sql = "INSERT INTO sessions (session, key, value) VALUES (?1, ?2, ?3)
                           ON CONFLICT (session, key) DO UPDATE SET value = excluded.value";
                open.prepare_cached(sql)?.execute((session, &stored.key, value.as_str()))?;
            }
            None => {
                let sql = "DELETE FROM sessions WHERE session = ?1 AND key = ?2";
                open.prepare_cached(sql)?.execute((session, &stored.key))?;
            }
        }
    }
    Ok(())
}

fn insert(open: &Connection, run: RunId, seq: u64, record: &Sealed, link: &Link) -> rusqlite::Result<()> {
    let sql = "INSERT INTO records (run, seq, kind, payload, link) VALUES (?1, ?2, ?3, ?4, ?5)";
    let (kind, payload) = (record.encoded.kind, &record.encoded.payload);
    open.prepare_cached(sql)?.execute((run.as_bytes(), signed(seq)?, kind, payload, link))?;
    Ok(())
}

/// Reads the head of a run.
pub(super) fn head(open: &Connection, run: RunId) -> rusqlite::Result<Option<Head>> {
    let sql = "SELECT state, fence, owner, since_ms, records, link, restarts, wake_ms FROM runs WHERE run = ?1";
    let read = |row: &Row<'_>| {
        Ok(Head {
            state: state(row, 0)?,
            fence: unsigned(row, 1)?,
            owner: row.get::<_, Option<[u8; 16]>>(2)?.map(OwnerId::from_bytes),
            since_ms: row.get(3)?,
            records: unsigned(row, 4)?,
            link: row.get(5)?,
            restarts: row.get(6)?,
            wake_ms: row.get(7)?,
        })
    };
    open.prepare_cached(sql)?.query_row([run.as_bytes()], read).optional()
}

pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<RunState> {
    let word: String = row.get(column)?;
    RunState::from_word(&word).ok_or_else(|| {
        let what = format!("`{word}` is no state of a run");
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, what.into())
    })
}

// SQLite's integers are signed. A number of ours that does not fit was made by damage.
fn signed(number: u64) -> rusqlite::Result<i64> {
    i64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}
