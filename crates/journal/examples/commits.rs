//! Prints how many commits a second the SQLite store makes here, for each way to flush and for one and many writers.
//!
//! `cargo run --release -p refrain-journal --example commits [FOLDER]`. Flushes depend on the disk: name a folder on it.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal that may fail")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use refrain_journal::{
    Answered, BlobHash, Flush, Journal, Json, Outcome, PATIENCE, Record, RunId, Seq, SqliteJournal, Started,
};

const LASTS: Duration = Duration::from_secs(2);

fn start() -> Started {
    let json = |text: &str| Json::new(text).unwrap();
    Started {
        script: "return 1".to_owned(),
        language: "javascript".to_owned(),
        javascript: "return 1".to_owned(),
        source_map: None,
        seed: 1,
        started_ms: 0,
        args: json("{}"),
        limits: json("{}"),
        fingerprint: "example".to_owned(),
        catalog: BlobHash::of(b""),
        session: None,
        store: json("{}"),
        origin: json("{}"),
        dialect: None,
        effects: None,
        amends: Vec::new(),
    }
}

async fn write(journal: Arc<SqliteJournal>, writer: u8, flush: Flush, until: Instant) -> u64 {
    let run = RunId::from_parts(1, [writer; 10]);
    let lease = journal.create(run, &start(), &[], flush).await.unwrap();
    let value = Json::new(format!("\"{}\"", "x".repeat(700))).unwrap();
    let mut written = 0;
    while Instant::now() < until {
        written += 1;
        let outcome = Outcome::Value(value.clone());
        let record = Record::Answered(Answered {
            call: written,
            clock_ms: 0,
            took_ms: 0,
            active_ms: 0,
            turn: written,
            calls_made: written,
            outcome,
            notes: Vec::new(),
            reused: None,
            by: None,
        });
        journal.append(&lease, Seq(written), &[record], flush).await.unwrap();
    }
    written
}

#[tokio::main]
async fn main() {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, Into::into);
    println!("flush    writers  appends/s  mean latency");
    for flush in [Flush::Process, Flush::Disk] {
        for writers in [1_u8, 32] {
            let folder = tempfile::tempdir_in(&folder).unwrap();
            let journal = Arc::new(SqliteJournal::open(&folder.path().join("journal.db"), PATIENCE).await.unwrap());
            let begin = Instant::now();
            let tasks: Vec<_> =
                (0..writers).map(|n| tokio::spawn(write(Arc::clone(&journal), n, flush, begin + LASTS))).collect();
            let mut written = 0;
            for task in tasks {
                written += task.await.unwrap();
            }
            let rate = written as f64 / begin.elapsed().as_secs_f64();
            let latency = f64::from(writers) / rate * 1e6;
            println!("{:<8} {writers:>7} {rate:>10.0} {latency:>10.0} µs", format!("{flush:?}"));
        }
    }
}
