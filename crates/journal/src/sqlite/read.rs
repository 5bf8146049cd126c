//! What is read, and how.

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, Row};

use super::commit::{head, state, unsigned};
use super::owners::Owners;
use super::readers::Reader;
use crate::chain::{Found, Link, verify};
use crate::export::named;
use crate::head::{Head, restored};
use crate::{
    BlobHash, Exported, JournalError, Json, Listing, OpenRun, Owner, OwnerId, Record, Restored, RunId, Summary,
};

/// Reads the head of a run.
pub(super) fn head_of(reader: &Reader<'_>, run: RunId) -> Result<Head, JournalError> {
    head(&reader.open, run).map_err(|error| reader.fault(error))?.ok_or(JournalError::NotFound { run })
}

/// Reads a run and checks its chain.
pub(super) fn records(reader: &Reader<'_>, run: RunId) -> Result<Vec<Record>, JournalError> {
    let head = head_of(reader, run)?;
    let found = found(reader, run, i64::MIN, i64::MAX).map_err(|error| reader.fault(error))?;
    verify(run, &found, head.records, &head.link)
}

/// Reads the snapshot of a run with what came after it.
pub(super) fn snapshot(reader: &Reader<'_>, run: RunId) -> Result<Restored, JournalError> {
    let head = head_of(reader, run)?;
    let read = || {
        let sql = "SELECT seq, link, bytes FROM snapshots WHERE run = ?1";
        let row = |row: &Row<'_>| {
            Ok((row.get_ref(0)?.as_i64().unwrap_or(-1), bytes(row.get_ref(1)?), bytes(row.get_ref(2)?)))
        };
        reader.open.prepare_cached(sql)?.query_row([run.as_bytes()], row).optional()
    };
    let Some((seq, link, kept)) = read().map_err(|error| reader.fault(error))? else { return Ok(Restored::None) };
    let (Ok(last), Ok(link)) = (u64::try_from(seq), Link::try_from(link)) else {
        return Ok(Restored::Unfit { why: "the place of its snapshot is damaged".to_owned() });
    };
    let between = |low: i64, high: i64| found(reader, run, low, high).map_err(|error| reader.fault(error));
    let first = between(0, 0)?;
    let rest = between(seq, i64::MAX)?;
    let (at, after) = rest.split_first().map_or((None, &[][..]), |(at, after)| (Some(at), after));
    let at = at.filter(|at| at.seq == last);
    Ok(restored(run, &head, first.first(), at, (last, link), after, kept))
}

/// Reads every run that is not over.
pub(super) fn open_runs(reader: &Reader<'_>, owners: &Owners) -> Result<Vec<OpenRun>, JournalError> {
    let read = || -> rusqlite::Result<Vec<OpenRun>> {
        // As the index has it, word for word; otherwise it is not used.
        let sql = "SELECT run, state, owner, since_ms, wake_ms FROM runs
                   WHERE state IN ('queued', 'running', 'parked') ORDER BY run";
        let mut statement = reader.open.prepare_cached(sql)?;
        let rows = statement.query_map([], |row| {
            let since_ms = row.get(3)?;
            let id = row.get::<_, Option<[u8; 16]>>(2)?.map(OwnerId::from_bytes);
            Ok(OpenRun {
                run: RunId::from_bytes(row.get(0)?),
                state: state(row, 1)?,
                owner: id.and_then(|id| Some(Owner { id, who: owners.alive(id)?, since_ms })),
                wake_ms: row.get(4)?,
            })
        })?;
        rows.collect()
    };
    read().map_err(|error| reader.fault(error))
}

/// Reads a run as it is stored, with its blobs.
pub(super) fn export(reader: &Reader<'_>, run: RunId) -> Result<Exported, JournalError> {
    let records = records(reader, run)?;
    let mut blobs = Vec::new();
    for hash in named(&records) {
        blobs.push((hash, blob(reader, hash)?));
    }
    let found = found(reader, run, i64::MIN, i64::MAX).map_err(|error| reader.fault(error))?;
    Exported::new(run, &found, blobs)
}

fn found(reader: &Reader<'_>, run: RunId, low: i64, high: i64) -> rusqlite::Result<Vec<Found>> {
    let sql = "SELECT seq, kind, payload, link FROM records WHERE run = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq";
    let mut statement = reader.open.prepare_cached(sql)?;
    let rows = statement.query_map((run.as_bytes(), low, high), |row| {
        // A value of the wrong type is left for the checksum to find, which can name the record.
        let number = |column| row.get_ref(column).map(|value| value.as_i64().unwrap_or(-1));
        Ok(Found {
            seq: u64::try_from(number(0)?).unwrap_or(u64::MAX),
            kind: number(1)?,
            payload: bytes(row.get_ref(2)?),
            link: bytes(row.get_ref(3)?),
        })
    })?;
    rows.collect()
}

fn bytes(value: ValueRef<'_>) -> Vec<u8> {
    value.as_bytes().map(<[u8]>::to_vec).unwrap_or_default()
}

/// Reads what a listing shows of one run.
pub(super) fn summary(reader: &Reader<'_>, owners: &Owners, run: RunId) -> Result<Summary, JournalError> {
    summaries(reader, owners, run, run, 1)?.pop().ok_or(JournalError::NotFound { run })
}

/// Reads what the runs of a session left in its store.
pub(super) fn session(reader: &Reader<'_>, session: &str) -> Result<Vec<(String, Json)>, JournalError> {
    let read = || {
        let mut statement =
            reader.open.prepare_cached("SELECT key, value FROM sessions WHERE session = ?1 ORDER BY key")?;
        let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
    };
    let rows = read().map_err(|error| reader.fault(error))?;
    let value = |(key, text)| match Json::new(text) {
        Ok(value) => Ok((key, value)),
        Err(_) => Err(reader.damaged(format!("`{key}` in the store of session `{session}` is no JSON"))),
    };
    rows.into_iter().map(value).collect()
}

/// Reads a page of the runs older than `after`.
pub(super) fn page(
    reader: &Reader<'_>,
    owners: &Owners,
    after: Option<RunId>,
    most: usize,
) -> Result<Listing, JournalError> {
    let lowest = RunId::from_bytes([0; 16]);
    let highest = match after {
        None => RunId::from_bytes([0xff; 16]),
        Some(after) => match u128::from_be_bytes(*after.as_bytes()).checked_sub(1) {
            Some(before) => RunId::from_bytes(before.to_be_bytes()),
            None => return Ok(Listing::new(Vec::new(), most)),
        },
    };
    Ok(Listing::new(summaries(reader, owners, lowest, highest, most + 1)?, most))
}

fn summaries(
    reader: &Reader<'_>,
    owners: &Owners,
    low: RunId,
    high: RunId,
    most: usize,
) -> Result<Vec<Summary>, JournalError> {
    let read = || -> rusqlite::Result<Vec<Summary>> {
        let mut statement = reader.open.prepare_cached(
            "SELECT run, state, owner, since_ms, started_ms, ended_ms, records, session, title, wake_ms FROM runs
             WHERE run BETWEEN ?1 AND ?2 ORDER BY run DESC LIMIT ?3",
        )?;
        let rows = statement.query_map((low.as_bytes(), high.as_bytes(), limit(most)), |row| one(row, owners))?;
        rows.collect()
    };
    read().map_err(|error| reader.fault(error))
}

fn one(row: &Row<'_>, owners: &Owners) -> rusqlite::Result<Summary> {
    let since_ms = row.get(3)?;
    let id = row.get::<_, Option<[u8; 16]>>(2)?.map(OwnerId::from_bytes);
    Ok(Summary {
        run: RunId::from_bytes(row.get(0)?),
        state: state(row, 1)?,
        owner: id.and_then(|id| Some(Owner { id, who: owners.alive(id)?, since_ms })),
        started_ms: row.get(4)?,
        ended_ms: row.get(5)?,
        records: unsigned(row, 6)?,
        session: row.get(7)?,
        title: row.get(8)?,
        wake_ms: row.get(9)?,
    })
}

/// Reads the ids in a range, newest first.
pub(super) fn between(reader: &Reader<'_>, low: RunId, high: RunId, most: usize) -> Result<Vec<RunId>, JournalError> {
    let read = || -> rusqlite::Result<Vec<RunId>> {
        let sql = "SELECT run FROM runs WHERE run BETWEEN ?1 AND ?2 ORDER BY run DESC LIMIT ?3";
        let mut statement = reader.open.prepare_cached(sql)?;
        let rows = statement
            .query_map((low.as_bytes(), high.as_bytes(), limit(most)), |row| Ok(RunId::from_bytes(row.get(0)?)))?;
        rows.collect()
    };
    read().map_err(|error| reader.fault(error))
}

/// Reads a blob and checks its hash.
pub(super) fn blob(reader: &Reader<'_>, hash: BlobHash) -> Result<Vec<u8>, JournalError> {
    let read = || -> rusqlite::Result<Option<Vec<u8>>> {
        let mut statement = reader.open.prepare_cached("SELECT bytes FROM blobs WHERE hash = ?1")?;
        statement.query_row([hash.as_bytes()], |row| Ok(bytes(row.get_ref(0)?))).optional()
    };
    let found = read().map_err(|error| reader.fault(error))?.ok_or(JournalError::NoBlob { hash })?;
    if BlobHash::of(&found) == hash { Ok(found) } else { Err(JournalError::DamagedBlob { hash }) }
}

// A limit that SQLite cannot count to is no limit.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
