//! A run and its sandbox as bytes, to go on from without replaying its whole journal.
//!
//! It is a cache: whatever is wrong with one is a reason that the caller tells and answers by replaying.

use refrain_engine::{Engine, Limits, Sandbox, Snapshot};
use refrain_journal::BlobHash;

use crate::{
    error::RuntimeError,
    run::{Run, Saved},
};

const MAGIC: &[u8; 8] = b"RFRUN\0\0\x01";
/// A hash over what follows it, and the length of the run's part. The sandbox's part has a checksum of its own.
const HEADER: usize = MAGIC.len() + 32 + 8;
/// The most memory that is written away, in bytes: beyond that the journal is read as fast.
const MOST: usize = 64 << 20;

/// Puts run and sandbox away, between two turns. None where that cannot be done, or costs too much.
pub(crate) async fn put_away(run: &Run, sandbox: &Sandbox) -> Result<Option<Vec<u8>>, RuntimeError> {
    let Some(saved) = run.save() else { return Ok(None) };
    let snapshot = sandbox.save();
    if snapshot.raw_bytes() > MOST {
        return Ok(None);
    }
    // Compressing takes a while, and others compute meanwhile.
    let bytes = tokio::task::spawn_blocking(move || encode(&saved, &snapshot)).await;
    match bytes {
        Ok(bytes) => bytes.map(Some).map_err(|error| bug(&error.to_string())),
        Err(error) => Err(bug(&error.to_string())),
    }
}

fn encode(saved: &Saved, snapshot: &Snapshot) -> Result<Vec<u8>, serde_json::Error> {
    let run = serde_json::to_vec(saved)?;
    let mut bytes = Vec::with_capacity(HEADER + run.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(BlobHash::of(&run).as_bytes());
    bytes.extend_from_slice(&(run.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&run);
    bytes.extend_from_slice(&snapshot.to_bytes());
    Ok(bytes)
}

/// Brings back what was put away. The error says why it is of no use.
pub(crate) fn bring_back(bytes: &[u8], engine: &Engine, limits: Limits) -> Result<(Saved, Sandbox), String> {
    let damaged = || "it is damaged".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("another version of refrain wrote it, or it is damaged")?;
    let (hash, rest) = rest.split_first_chunk::<32>().ok_or_else(damaged)?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let (run, memory) = rest.split_at_checked(length).ok_or_else(damaged)?;
    if BlobHash::of(run).as_bytes() != hash {
        return Err(damaged());
    }
    let saved = serde_json::from_slice(run).map_err(|_| "another version of refrain wrote it".to_owned())?;
    let snapshot = Snapshot::from_bytes(engine, memory).map_err(|error| error.to_string())?;
    let sandbox = snapshot.restore(engine, limits).map_err(|error| error.to_string())?;
    Ok((saved, sandbox))
}

fn bug(what: &str) -> RuntimeError {
    RuntimeError::Bug { what: format!("putting a run away broke: {what}") }
}
