//! What durability costs: a journaled call, a replay, a run that was put away, runs that wait.
//!
//! `cargo run --release -p refrain-runtime --example durable`

#![expect(clippy::disallowed_methods, reason = "this measures time")]
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use refrain_runtime::{
    CallError, Decided, Decision, Durability, Effect, Environment, Functions, Json, Origin, Replay, ReportStatus,
    RunId, RunRequest, Runtime, Settings, SharedFunctions, SourceKind, SourceSettings, Take, Tool,
};
use serde_json::{Value, json};

const RESULTS: u32 = 10_000;
const PARKED: usize = 10_000;

/// Answers at once; one tool does so only where it is told to.
struct Tools {
    hangs: bool,
}

#[async_trait]
impl Functions for Tools {
    fn tools(&self) -> Vec<Tool> {
        let tool = |name| {
            let mut tool = Tool::new("", name);
            (tool.effect, tool.replay) = (Effect::Read, Replay::Safe);
            tool
        };
        vec![tool("get"), tool("last")]
    }

    async fn call(&self, name: &str, args: Value) -> Result<Value, CallError> {
        if name == "last" && self.hangs {
            std::future::pending::<()>().await;
        }
        Ok(args)
    }
}

fn runtime(folder: &Path, hangs: bool, snapshot_every: u32) -> Runtime {
    let mut settings = Settings::new(Environment::new(|_| None, || 0));
    settings.cache = Some(std::env::temp_dir().join("refrain-durable"));
    settings.journal_url = format!("sqlite:{}", folder.join("journal.db").display());
    settings.durability = Durability::Process;
    settings.limits.calls = RESULTS + 10;
    settings.limits.timeout_ms = 600_000;
    settings.snapshot_every = snapshot_every;
    let tools = SourceKind::Functions(SharedFunctions(Arc::new(Tools { hangs })));
    settings.sources = vec![SourceSettings::new("t", tools)];
    Runtime::new(settings)
}

/// A runtime that has engine, journal and catalog ready, as a server has.
async fn ready(folder: &Path, hangs: bool, snapshot_every: u32) -> Runtime {
    let runtime = runtime(folder, hangs, snapshot_every);
    runtime.check_engine().await.expect("an engine");
    runtime.check_journal().await.expect("a journal");
    runtime.catalog().await;
    runtime
}

/// Runs the script up to its last call, and drops it there as a crash would. Returns the run and the time of a call.
async fn cut(folder: &Path, snapshot_every: u32, calls: u32) -> (RunId, Duration) {
    let runtime = ready(folder, true, snapshot_every).await;
    let script = format!(
        "let s = 0; for (let n = 0; n < {calls}; n++) s += (await tools.t.get({{ n, name: 'a name of some length' }})).n; await tools.t.last({{}}); return s"
    );
    let (told, id) = tokio::sync::oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let on_start = |run| {
        if let Some(told) = told.lock().ok().and_then(|mut told| told.take()) {
            let _ = told.send(run);
        }
    };
    let began = Instant::now();
    let run = runtime.run(RunRequest::new(script, Origin::default()), &on_start);
    let records = async {
        let id = id.await.expect("the run begins");
        loop {
            // The last safe call is recorded with its answer, which never comes: all others have two records.
            let listing = runtime.runs(1, None).await.expect("a listing");
            if listing.runs.iter().any(|run| run.records > u64::from(calls) * 2) {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let mut run = std::pin::pin!(run);
    let id = tokio::select! {
        report = &mut run => panic!("it ended: {report:?}"),
        id = records => id,
    };
    let took = began.elapsed();
    // The snapshot follows the last answer.
    if snapshot_every > 0 {
        let written = tokio::time::timeout(Duration::from_secs(1), run).await;
        assert!(written.is_err(), "it hangs");
    }
    (id, took / calls)
}

async fn resumed(folder: &Path, id: RunId) -> Duration {
    let runtime = ready(folder, false, 0).await;
    let began = Instant::now();
    let report = runtime.resume(id, Take::IfFree).await.expect("it resumes");
    let took = began.elapsed();
    assert_eq!(report.status, ReportStatus::Completed, "{:?}", report.error);
    assert_eq!(report.calls.len() as u32, RESULTS + 1);
    assert!(report.notes.iter().all(|note| note.kind != "snapshot_not_used"), "{:?}", report.notes);
    took
}

/// The memory of this process, in KiB.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("refrain-durable-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

async fn parked(folder: &Path) {
    let runtime = Arc::new(ready(folder, false, 0).await);
    let park = async |script: &str| {
        let report = runtime.run(RunRequest::new(script, Origin::default()), &|_| {}).await.expect("it parks");
        assert_eq!(report.status, ReportStatus::Parked);
        report.run_id.expect("it is kept")
    };
    // What a first run brings with it is no part of what one costs.
    for _ in 0..100 {
        park("await sleep(3_600_000)").await;
    }
    let before = memory_kib();
    let began = Instant::now();
    for _ in 0..PARKED {
        park("await sleep(3_600_000)").await;
    }
    let each = began.elapsed() / u32::try_from(PARKED).unwrap_or(u32::MAX);
    println!("{PARKED} runs parked, one after the other        {each:.2?} each");
    println!("memory of the process for all of them        {} KiB", memory_kib().saturating_sub(before));
    let last = park("const ok = await ask('Sure?'); return ok").await;
    let began = Instant::now();
    let decision = Decision { call: 1, what: Decided::Value(Json::from_value(&json!(true))), by: None };
    let report = runtime.answer(last, Take::IfFree, decision).await.expect("it goes on");
    assert_eq!(report.status, ReportStatus::Completed);
    println!("one of them answered, to its end             {:.2?}", began.elapsed());
    let began = Instant::now();
    println!(
        "all that can go on listed                    {} in {:.2?}",
        runtime.resumable().await.expect("a list").len(),
        began.elapsed()
    );
}

/// In a task, as commands and servers run scripts.
#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    if let Err(error) = tokio::spawn(measure()).await {
        std::panic::resume_unwind(error.into_panic());
    }
}

async fn measure() {
    let (mut calls, mut replays, mut restores) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let place = folder();
        let (id, call) = cut(&place, 0, RESULTS).await;
        calls.push(call);
        replays.push(resumed(&place, id).await);
        let place = folder();
        let (id, _) = cut(&place, RESULTS, RESULTS).await;
        restores.push(resumed(&place, id).await);
    }
    println!("a call, journaled, tool answering at once    {:.1?}", median(calls));
    println!("{RESULTS} results replayed, to the end         {:.1?}", median(replays));
    println!("{RESULTS} results from a snapshot, to the end  {:.1?}", median(restores));
    let place = folder();
    parked(&place).await;
    let _ = std::fs::remove_dir_all(&place);
}
