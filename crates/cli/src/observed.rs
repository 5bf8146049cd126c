//! Where the shapes of results are kept from one start to the next: `observed.json` beside the journal's file.
//!
//! It is a help and no truth: a file that cannot be read counts as empty and is replaced, one that cannot be written is said
//! and nothing else. Processes that write at the same time take turns on a lock, and each adds only what it saw itself. A
//! journal that keeps nothing keeps no shapes either.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use refrain_runtime::Observed;
use serde::{Deserialize, Serialize};

/// A file of this size is none of ours.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    /// Of the form. Another release may have another, which is then started anew.
    version: u32,
    sources: Observed,
}

const VERSION: u32 = 1;

/// Returns the file that belongs to a journal.
pub(crate) fn path(journal_url: &str) -> Option<PathBuf> {
    Some(Path::new(journal_url.strip_prefix("sqlite:")?).parent()?.join("observed.json"))
}

/// Reads what is kept. Nothing that is wrong with the file stops anybody.
pub(crate) fn load(path: &Path) -> Observed {
    let small = fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MOST_BYTES);
    let stored: Option<Stored> =
        small.then(|| fs::read(path).ok()).flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    stored.filter(|stored| stored.version == VERSION).map(|stored| stored.sources).unwrap_or_default()
}

/// Adds what was seen to what is kept.
///
/// # Errors
///
/// Of the file system. What was there is still there.
pub(crate) fn add(path: &Path, seen: Observed) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // The file itself is replaced, so a lock on it would hold nobody up.
    let lock = File::create(path.with_extension("lock"))?;
    lock.lock()?;
    let mut all = load(path);
    all.unite(seen);
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = serde_json::to_vec(&Stored { version: VERSION, sources: all })
        .map_err(io::Error::from)
        .and_then(|bytes| fs::write(&new, bytes))
        // Not flushed to the disk: after a power cut an old file, or none, does as well.
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
