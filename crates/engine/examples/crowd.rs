//! Prints how many sandboxes live side by side, and how well: `cargo run --release -p refrain-engine --example crowd`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::time::Instant;

use refrain_engine::{Engine, Limits, Sandbox, Start, Status, source};

const WAITING: usize = 2_000;

fn main() {
    let engine = Engine::new(Some(std::env::temp_dir().join("refrain-measure"))).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(alone(&engine));
    runtime.block_on(waiting(&engine));
}

fn start() -> Start {
    Start { clock_ms: 0, seed: 1, facts: r#"{"args":{},"tools":{"x":["get"]}}"#.into() }
}

async fn begin(engine: &Engine, javascript: &str) -> Sandbox {
    let mut sandbox = engine.sandbox(Limits { fuel: u64::MAX / 2, ..Limits::default() }).unwrap();
    let turn = sandbox.start(javascript, &start()).await;
    assert!(matches!(turn.status, Status::Returned(_) | Status::Waiting), "{:?}", turn.status);
    sandbox
}

/// How many of the smallest scripts a second, on both workers.
async fn alone(engine: &Engine) {
    const EACH: u32 = 5_000;
    let began = Instant::now();
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let engine = engine.clone();
            tokio::spawn(async move {
                for _ in 0..EACH {
                    let javascript = source::prepare("return 1+1").unwrap().javascript;
                    drop(begin(&engine, &javascript).await);
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let rate = f64::from(2 * EACH) / began.elapsed().as_secs_f64();
    println!("{:<52} {rate:.0} per second", "`return 1+1`, prepared and run, two workers");
}

/// What a run that waits keeps.
async fn waiting(engine: &Engine) {
    let small =
        source::prepare("const a = { b: [1, 2, 3] }; await tools.x.get({ id: 1 }); return a").unwrap().javascript;
    let before = resident();
    let mut all = Vec::new();
    for _ in 0..WAITING {
        all.push(begin(engine, &small).await);
    }
    let each = resident().saturating_sub(before) / WAITING as u64;
    println!("{:<52} {} KiB", format!("memory of a waiting run, of {WAITING}"), each >> 10);
    let began = Instant::now();
    let bytes: usize = all.iter().map(|sandbox| sandbox.save().to_bytes().len()).sum();
    println!(
        "{:<52} {} KiB, {:.2} ms",
        "the same put away",
        (bytes / WAITING) >> 10,
        began.elapsed().as_secs_f64() * 1000.0 / WAITING as f64
    );
    drop(all);
    println!(
        "{:<52} {} KiB",
        "what is left of each when all are dropped",
        (resident().saturating_sub(before) / WAITING as u64) >> 10
    );
}

/// The memory that is this process's alone, in bytes; zero where the system does not tell. Pages of the template that a run has only
/// read are shared by all, and not counted.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) << 10
}
