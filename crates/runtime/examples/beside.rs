//! Prints how long the smallest run takes beside runs that compute without end, all with a journal in memory:
//! `cargo run --release -p refrain-runtime --example beside`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures and prints"
)]

use std::{sync::Arc, time::Instant};

use refrain_runtime::{Environment, Origin, RunRequest, Runtime, Settings};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut settings = Settings::new(Environment::new(|_| None, || 0));
    settings.limits.timeout_ms = 600_000;
    let runtime = Arc::new(Runtime::new(settings));
    runtime.run(RunRequest::new("return 1+1", Origin::default()), &|_| {}).await.unwrap();
    for spinning in [0, 8, 32] {
        let mut spinners = tokio::task::JoinSet::new();
        for _ in 0..spinning {
            let runtime = Arc::clone(&runtime);
            spinners.spawn(async move {
                runtime.run(RunRequest::new("for (;;) {}", Origin::default()), &|_| {}).await.unwrap();
            });
        }
        let measured = tokio::spawn({
            let runtime = Arc::clone(&runtime);
            async move {
                let mut all = Vec::new();
                for _ in 0..300 {
                    let began = Instant::now();
                    let report = runtime.run(RunRequest::new("return 1+1", Origin::default()), &|_| {}).await.unwrap();
                    assert!(report.error.is_none(), "{report:?}");
                    all.push(began.elapsed());
                }
                all.sort_unstable();
                all
            }
        });
        let all = measured.await.unwrap();
        spinners.shutdown().await;
        for (name, at) in [("p50", 150), ("p99", 297), ("most", 299)] {
            let name = format!("a run of `return 1+1` beside {spinning} spinning ones, {name}");
            println!("{name:<62} {:.2} ms", all[at].as_secs_f64() * 1000.0);
        }
    }
}
