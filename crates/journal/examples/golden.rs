//! Writes a small journal, to be kept as that of a released format: `cargo run -p refrain-journal --example golden FILE`.
//!
//! `tests/golden/README.md` says when.

#![expect(clippy::unwrap_used, reason = "a program for the terminal that may fail")]

use std::path::PathBuf;

use refrain_journal::testing::sample::{answered, asked, ended, failed, parked, run, start};
use refrain_journal::{EndState, Flush, Journal, PATIENCE, Seq, SqliteJournal};

#[tokio::main]
async fn main() {
    let path = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let journal = SqliteJournal::open(&path, PATIENCE).await.unwrap();
    let over = [asked(1), answered(1, "[1.0, null]"), asked(2), failed(2), ended(EndState::Completed)];
    let stopped = [asked(1), answered(1, "\"half \\ud800\"")];
    let waiting = [asked(1), answered(1, &format!("\"{}\"", "x".repeat(70_000))), parked(Some(5))];
    for (n, records) in [(1, &over[..]), (2, &stopped[..]), (3, &waiting[..])] {
        let lease = journal.create(run(n), &start("return 1"), &[Vec::new()], Flush::Disk).await.unwrap();
        journal.append(&lease, Seq(1), records, Flush::Disk).await.unwrap();
        drop(lease);
    }
}
