//! How fast search is: `cargo run --release -p refrain-catalog --example search`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "it measures and prints, and a panic is how it fails"
)]

use std::time::{Duration, Instant};

use refrain_catalog::{Catalog, Query, Tool};

const TOOLS: usize = 5_000;
const WORDS: &[&str] = &[
    "issue",
    "customer",
    "invoice",
    "branch",
    "page",
    "message",
    "channel",
    "file",
    "folder",
    "event",
    "calendar",
    "record",
    "table",
    "pipeline",
    "job",
    "deployment",
    "user",
    "team",
    "label",
    "comment",
];
const VERBS: &[&str] = &["list", "get", "create", "update", "delete", "search", "send", "archive"];

fn main() {
    let tools = (0..TOOLS).map(|n| {
        let (verb, noun) = (VERBS[n % VERBS.len()], WORDS[n / VERBS.len() % WORDS.len()]);
        let mut tool = Tool::new(format!("source{}", n / 100), format!("{verb}_{noun}_{n}"));
        let other = WORDS[n * 7 % WORDS.len()];
        tool.description =
            format!("{verb}s the {noun} with the {other} number {n}. It takes the {other} and gives what is known of it back, word{n}.");
        tool.input_schema = std::sync::Arc::new(serde_json::json!({
            "type": "object", "properties": {format!("{noun}_id"): {"type": "string"}, "limit": {"type": "integer"}},
        }));
        tool
    });
    let catalog = Catalog::new(tools.collect(), Vec::new());
    let began = Instant::now();
    let _ = catalog.search("warm", 1);
    println!("index of {TOOLS} tools: {:?}", began.elapsed());
    for words in [
        "create invoice",
        "list the comments of an issue in a channel",
        "lsit custmer",
        "delte",
        "word4711",
        "glacier seismology",
    ] {
        let mut times: Vec<Duration> = (0..200)
            .map(|_| {
                let began = Instant::now();
                let found = catalog.find_tools(&Query { words, limit: 10, skip: 0, namespace: None });
                assert!(found.hits.len() <= 10);
                began.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("{words:45} median {:?}, worst of 200 {:?}", times[100], times.last().unwrap());
    }
}
