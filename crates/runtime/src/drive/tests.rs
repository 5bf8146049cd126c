//! The loop, cut at every write: what a crash leaves is taken up, and nothing finished happens again.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use refrain_catalog::{
    CallError, CallOutput, CallRequest, Catalog, Effect, ErrorCode, Replay, SourceStatus, Status, Tool,
};
use refrain_engine::{Engine, Prepared, Start, source};
use refrain_journal::testing::{Cut, PowerCut};
use refrain_journal::{BlobHash, Fate, Flush, Journal, Json, MemoryJournal, Record, RunId, Started, Take};
use serde_json::{Value, json, value::to_raw_value};

use super::{Begin, Drive, Driven, Tools};
use crate::{
    amend::Earlier,
    clock::{Clock, SystemClock},
    config::{Durability, LimitSettings, OnInterrupted},
    report::{Report, ReportStatus, Script, Usage},
    run::{Rules, Run},
    ticker::Ticker,
};

const NOW: i64 = 1_700_000_000_000;

/// A clock that stands, so that journals of two attempts can be compared.
struct Still;

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        NOW
    }

    fn instant(&self) -> std::time::Instant {
        static ONCE: OnceLock<std::time::Instant> = OnceLock::new();
        *ONCE.get_or_init(|| SystemClock.instant())
    }
}

/// Tools outside the process: they survive the crash, count what they did, and see the disk.
#[derive(Default)]
struct Counting {
    /// How often each call, named by its `id`, was made.
    made: Mutex<HashMap<String, u32>>,
    disk: Mutex<Option<(MemoryJournal, RunId)>>,
}

#[async_trait]
impl Tools for Counting {
    async fn call(&self, request: CallRequest) -> Result<CallOutput, CallError> {
        let id = format!("{}-{}", request.tool, request.args["id"]);
        let disk = self.disk.lock().unwrap().clone();
        if let Some((disk, run)) = disk
            && request.tool != "get"
        {
            let asked = disk.read(run).await.unwrap().into_iter().any(|record| match record {
                Record::Asked(asked) => {
                    asked.calls.iter().any(|call| call.args.parse::<Value>().unwrap() == request.args)
                }
                _ => false,
            });
            assert!(asked, "{id} was sent before the journal had it");
        }
        *self.made.lock().unwrap().entry(id).or_default() += 1;
        // Later ids are back sooner.
        let delay = 20u64.saturating_sub(request.args["id"].as_u64().unwrap_or(0));
        tokio::time::sleep(Duration::from_millis(if request.args["slow"] == true { delay } else { 0 })).await;
        if request.args["fail"] == true {
            return Err(CallError::new(ErrorCode::ToolError, "it failed"));
        }
        Ok(CallOutput { value: to_raw_value(&json!({ "id": request.args["id"] })).unwrap(), notes: Vec::new() })
    }
}

fn catalog() -> Arc<Catalog> {
    let tool = |name: &str, effect, replay| {
        let mut tool = Tool::new("x", name);
        (tool.effect, tool.replay, tool.cleanup) = (effect, replay, replay == Replay::Keyed);
        tool
    };
    let tools = vec![
        tool("get", Effect::Read, Replay::Safe),
        tool("put", Effect::Write, Replay::Unsafe),
        tool("key", Effect::Write, Replay::Keyed),
    ];
    let status = SourceStatus {
        name: "x".into(),
        r#type: "mcp".into(),
        status: Status::Ready,
        reason: None,
        since_ms: 0,
        tools: 3,
    };
    Arc::new(Catalog::new(tools, vec![status]))
}

fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(Some(std::env::temp_dir().join("refrain-runtime-tests"))).unwrap()).clone()
}

fn id() -> RunId {
    RunId::from_parts(NOW, [7; 10])
}

fn started(script: &str) -> (Started, Prepared) {
    let prepared = source::prepare(script).unwrap();
    let started = Started {
        script: script.into(),
        language: "typescript".into(),
        javascript: prepared.javascript.clone(),
        source_map: None,
        seed: 1,
        started_ms: NOW,
        args: Json::from_value(&json!({})),
        limits: Json::from_value(&json!({})),
        fingerprint: engine().fingerprint(),
        catalog: BlobHash::of(b"catalog"),
        session: None,
        store: Json::from_value(&json!({})),
        origin: Json::from_value(&json!({})),
        dialect: None,
        effects: None,
        amends: Vec::new(),
    };
    (started, prepared)
}

/// One attempt. The first creates the run, a later one takes it up.
async fn attempt(
    journal: &dyn Journal,
    tools: &Arc<Counting>,
    script: &str,
    first: bool,
) -> Result<Result<Report, String>, crate::RuntimeError> {
    attempt_of(id(), None, journal, tools, script, first).await
}

/// As [`attempt`], of another run than the usual one, which may correct some.
async fn attempt_of(
    id: RunId,
    earlier: Option<Earlier>,
    journal: &dyn Journal,
    tools: &Arc<Counting>,
    script: &str,
    first: bool,
) -> Result<Result<Report, String>, crate::RuntimeError> {
    let (start_record, prepared) = started(script);
    let lease = if first {
        journal.create(id, &start_record, &[b"catalog".to_vec()], Flush::Process).await?
    } else {
        journal.acquire(id, Take::IfFree, NOW).await?
    };
    let history = journal.read(id).await?.split_off(1);
    let rules = Rules {
        durability: Durability::Effects,
        on_interrupted: OnInterrupted::Error,
        park_after_ms: 60_000,
        deadline_ms: None,
    };
    let run = Run::new(id, catalog(), rules, None, NOW);
    let run = if first { run } else { run.resumed(catalog(), history) };
    let mut run = run.correcting(earlier);
    let limits = LimitSettings::default();
    let mut sandbox = engine().sandbox(limits.engine())?;
    let clock: Arc<dyn Clock> = Arc::new(Still);
    let ticker = Ticker::start(engine(), Duration::from_millis(10), Arc::clone(&clock));
    let drive = Drive {
        journal,
        tools: Arc::clone(tools) as Arc<dyn Tools>,
        ticker: &ticker,
        clock: &clock,
        lease: &lease,
        time_left: Duration::from_secs(60),
        drain: Duration::from_secs(5),
        result_bytes: 1 << 20,
        snapshot_every: 0,
    };
    let start = Start { clock_ms: NOW, seed: 1, facts: r#"{"args":{},"tools":{"x":["get","put","key"]}}"#.into() };
    let begin = Begin::Script { javascript: &prepared.javascript, start: &start };
    if let Driven::Diverged(divergence) = drive.run(&mut run, &mut sandbox, begin).await? {
        return Ok(Err(format!(
            "call {}: expected {}, got {}",
            divergence.call, divergence.expected, divergence.actual
        )));
    }
    let script = Script { text: script, map: &prepared.map };
    let report = Report::of(id, &run, run.end().unwrap(), &script, &limits, Usage::default(), false);
    let mut records = run.asked_at_end();
    records.push(Record::Ended(refrain_journal::Ended {
        state: refrain_journal::EndState::Completed,
        ended_ms: NOW,
        report: Json::from_value(&json!(report.result)),
        stored: Vec::new(),
    }));
    journal.append(&lease, run.next_seq(), &records, run.flush(true)).await?;
    Ok(Ok(report))
}

/// Scripts whose calls may all be repeated: the journal after a crash must equal the calm one.
const REPEATABLE: &[&str] = &[
    "const r = []; for (let id = 1; id <= 4; id++) r.push((await tools.x.get({ id })).id); return r",
    "const r = []; for (let id = 1; id <= 3; id++) r.push((await tools.x.key({ id })).id); return r",
    "let s = 0; for (let id = 1; id <= 3; id++) { s += (await tools.x.get({ id })).id; await tools.x.key({ id: 10 + id }) } return s",
    "const r = []; for (const id of [1, 2]) { try { await tools.x.get({ id, fail: true }) } catch (e) { r.push(e.code, e.call) } } return [r, Math.random(), Date.now()]",
    "const r = []; try { await tools.x.nope({}) } catch (e) { r.push(e.code) } r.push(await tools.x.get({ id: 1 })); return r",
    "text('a'); console.log('b'); await tools.x.get({ id: 1 }); text('c'); return 0",
];

/// Scripts with several calls out at a time: the order in which they come back is the journal's to say.
const PARALLEL: &[&str] = &[
    "return (await Promise.all([1, 2, 3].map((id) => tools.x.get({ id, slow: true })))).map((r) => r.id)",
    "const seen = []; await Promise.all([1, 2, 3].map(async (id) => { seen.push((await tools.x.key({ id, slow: true })).id) })); return seen.sort()",
    "const first = await Promise.race([1, 9].map((id) => tools.x.get({ id, slow: true }))); return [first.id > 0, (await tools.x.key({ id: 20 })).id]",
    "const all = await Promise.allSettled([tools.x.get({ id: 1, slow: true }), tools.x.get({ id: 2, fail: true, slow: true })]); return all.map((r) => r.status)",
];

const UNSAFE: &[&str] = &[
    "const r = []; for (let id = 1; id <= 4; id++) { try { r.push((await tools.x.put({ id })).id) } catch (e) { r.push(e.code) } } return r",
    "const r = await Promise.allSettled([1, 2, 3].map((id) => tools.x.put({ id, slow: true }))); return r.map((p) => p.value?.id ?? p.reason.code)",
    "await tools.x.get({ id: 1 }); tools.x.put({ id: 2 }); return 'left'",
];

fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap().block_on(future)
}

/// Runs `script` with the power cut at write `nth` of each of the first attempts, then without. Returns the report, the tools and the journal.
async fn crashed(script: &str, cuts: &[(u64, Cut)]) -> (Report, Arc<Counting>, Vec<Record>, bool) {
    let tools = Arc::new(Counting::default());
    let mut disk = MemoryJournal::new();
    let mut any = false;
    for &(nth, cut) in cuts {
        *tools.disk.lock().unwrap() = Some((disk.clone(), id()));
        let first = disk.read(id()).await.is_err();
        let journal = PowerCut::at(Arc::new(disk.clone()), nth, cut);
        let outcome = attempt(&journal, &tools, script, first).await;
        any |= journal.is_off();
        disk = disk.reopen(Fate::Dead);
        if let Ok(Ok(report)) = outcome {
            let records = disk.read(id()).await.unwrap();
            return (report, tools, records, any);
        }
    }
    *tools.disk.lock().unwrap() = Some((disk.clone(), id()));
    let records = disk.read(id()).await;
    if let Ok(records) = &records
        && let Some(Record::Ended(_)) = records.last()
    {
        // The end was stored and the writer never heard: nothing is left to drive. The report of a calm run stands for it.
        let calm = Arc::new(Counting::default());
        let report = attempt(&MemoryJournal::new(), &calm, script, true).await.unwrap().unwrap();
        return (report, tools, records.clone(), any);
    }
    let report = attempt(&disk, &tools, script, records.is_err()).await.unwrap().unwrap();
    let records = disk.read(id()).await.unwrap();
    (report, tools, records, any)
}

/// The records without what differs between attempts by nature.
fn timeless(records: &[Record]) -> Vec<Record> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let Record::Answered(answered) = record {
            answered.took_ms = 0;
        }
    }
    records
}

#[test]
fn a_power_cut_at_any_write_leaves_no_trace() {
    block(async {
        for script in REPEATABLE {
            let (calm, _, want, _) = crashed(script, &[]).await;
            for cut in [Cut::Before, Cut::After] {
                for nth in 0.. {
                    let (report, tools, got, cut_happened) = crashed(script, &[(nth, cut)]).await;
                    assert_eq!((&report.result, &report.text), (&calm.result, &calm.text), "{script} {cut:?} {nth}");
                    assert_eq!(timeless(&got), timeless(&want), "{script} {cut:?} {nth}");
                    let repeated = tools.made.lock().unwrap().values().filter(|times| **times > 1).count();
                    assert!(repeated <= 1, "{script} {cut:?} {nth}: {repeated} calls were made twice");
                    if !cut_happened {
                        break;
                    }
                }
            }
        }
    });
}

#[test]
fn two_power_cuts_in_a_row_leave_no_trace() {
    block(async {
        for script in &REPEATABLE[..3] {
            let (calm, _, want, _) = crashed(script, &[]).await;
            for first in 0..6 {
                for second in 0..6 {
                    let (report, _, got, _) = crashed(script, &[(first, Cut::After), (second, Cut::Before)]).await;
                    assert_eq!(report.result, calm.result, "{script} {first} {second}");
                    assert_eq!(timeless(&got), timeless(&want), "{script} {first} {second}");
                }
            }
        }
    });
}

/// The first run is cut at any write, and so is the run that corrects it: what is not safe happens once, whatever is lost.
#[test]
fn a_corrected_run_repeats_nothing_wherever_either_is_cut() {
    const OLD: &str = "for (let id = 1; id <= 3; id++) { await tools.x.put({ id }); await tools.x.key({ id: 10 + id }); await tools.x.get({ id: 20 + id }) } throw 1";
    const NEW: &str = "const r = [];
        const tried = async (call) => { try { return (await call).id } catch (e) { return e.code } };
        r.push(...await Promise.all([3, 2, 1].map((id) => tried(tools.x.put({ id })))));
        for (let id = 11; id <= 13; id++) r.push(await tried(tools.x.key({ id })));
        return r";
    let old = RunId::from_parts(NOW, [8; 10]);
    block(async {
        let mut calm = 0;
        for (first, cut) in (0..24).flat_map(|nth| [(nth, Cut::Before), (nth, Cut::After)]) {
            for second in 0..14 {
                let tools = Arc::new(Counting::default());
                let mut disk = MemoryJournal::new();
                let begun = PowerCut::at(Arc::new(disk.clone()), first, cut);
                let _ = attempt_of(old, None, &begun, &tools, OLD, true).await;
                disk = disk.reopen(Fate::Dead);
                let Ok(records) = disk.read(old).await else { continue };
                let earlier = || Earlier::new(vec![(old, records.clone())]);
                let halved = PowerCut::at(Arc::new(disk.clone()), second, Cut::After);
                let outcome = attempt_of(id(), earlier(), &halved, &tools, NEW, true).await;
                disk = disk.reopen(Fate::Dead);
                if !matches!(outcome, Ok(Ok(_)))
                    && !matches!(disk.read(id()).await.unwrap().last(), Some(Record::Ended(_)))
                {
                    attempt_of(id(), earlier(), &disk, &tools, NEW, false).await.unwrap().unwrap();
                }
                let place = format!("{first} {cut:?} {second}");
                let made = tools.made.lock().unwrap();
                let puts: Vec<u32> = (1..=3).map(|id| made.get(&format!("put-{id}")).copied().unwrap_or(0)).collect();
                assert!(puts.iter().all(|times| *times <= 1), "{place}: {made:?}");
                if !begun.is_off() && !halved.is_off() {
                    assert_eq!((puts, made.values().max()), (vec![1; 3], Some(&1)), "{place}: {made:?}");
                    calm += 1;
                }
                let repeated = made.values().filter(|times| **times > 1).count();
                assert!(repeated <= 2, "{place}: {made:?}");
            }
        }
        assert!(calm > 0);
    });
}

/// Cancelled after a cut at any write, and cut again at any write of the clean-up: the clean-up goes on, and the run does not.
#[test]
fn a_cancelled_run_cleans_up_wherever_it_is_cut_and_does_nothing_else() {
    const SCRIPT: &str = "try { for (let id = 1; id <= 3; id++) await tools.x.put({ id }) } finally { await tools.x.key({ id: 10 }); await tools.x.put({ id: 20 }) } return 1";
    block(async {
        for (first, second) in (1..7).flat_map(|first| (0..6).map(move |second| (first, second))) {
            let tools = Arc::new(Counting::default());
            let mut disk = MemoryJournal::new();
            let cut = PowerCut::at(Arc::new(disk.clone()), first, Cut::After);
            let _ = attempt(&cut, &tools, SCRIPT, true).await;
            disk = disk.reopen(Fate::Dead);
            let before = tools.made.lock().unwrap().clone();
            let lease = disk.acquire(id(), Take::IfFree, NOW).await.unwrap();
            let at = refrain_journal::Seq(disk.read(id()).await.unwrap().len() as u64);
            let mark = Record::Cancelling(refrain_journal::Cancelling { at_ms: NOW, reason: None });
            disk.append(&lease, at, &[mark], Flush::Disk).await.unwrap();
            disk.release(lease).await.unwrap();
            let cut = PowerCut::at(Arc::new(disk.clone()), second, Cut::After);
            let outcome = attempt(&cut, &tools, SCRIPT, false).await;
            disk = disk.reopen(Fate::Dead);
            let over = matches!(disk.read(id()).await.unwrap().last(), Some(Record::Ended(_)));
            let report = match outcome {
                Ok(Ok(report)) => Some(report),
                _ if over => None,
                _ => Some(attempt(&disk, &tools, SCRIPT, false).await.unwrap().unwrap()),
            };
            if let Some(report) = report {
                assert_eq!((report.status, &report.result), (ReportStatus::Cancelled, &None), "{first} {second}");
            }
            let mut after = tools.made.lock().unwrap().clone();
            let cleaned = after.remove("key-10").unwrap_or(0);
            // Keyed: what was out when the power went may be made again, with the same key.
            assert!((1..=2).contains(&cleaned), "{first} {second}: {cleaned}");
            assert_eq!(after, before, "{first} {second}");
        }
    });
}

#[test]
fn calls_in_parallel_survive_a_cut_at_any_write() {
    block(async {
        for script in PARALLEL {
            let (calm, ..) = crashed(script, &[]).await;
            for cut in [Cut::Before, Cut::After] {
                for nth in 0.. {
                    let (report, tools, records, cut_happened) = crashed(script, &[(nth, cut)]).await;
                    assert_eq!(report.result, calm.result, "{script} {cut:?} {nth}");
                    let answered = |call: u64| {
                        records.iter().filter(|r| matches!(r, Record::Answered(a) if a.call == call)).count()
                    };
                    assert!((1..=4).all(|call| answered(call) <= 1), "{script} {cut:?} {nth}");
                    assert!(tools.made.lock().unwrap().values().all(|times| *times <= 2), "{script} {cut:?} {nth}");
                    if !cut_happened {
                        break;
                    }
                }
            }
        }
    });
}

#[test]
fn a_call_that_is_not_safe_is_never_made_twice() {
    block(async {
        for script in UNSAFE {
            let mut interrupted = 0;
            for cut in [Cut::Before, Cut::After] {
                for nth in 0.. {
                    let (report, tools, _, cut_happened) = crashed(script, &[(nth, cut), (nth, cut)]).await;
                    assert_eq!(report.status, ReportStatus::Completed, "{script} {cut:?} {nth}: {report:?}");
                    for (call, times) in &*tools.made.lock().unwrap() {
                        assert!(
                            *times == 1 || call.starts_with("get"),
                            "{script} {cut:?} {nth}: {call} was made {times} times"
                        );
                    }
                    let told = report.calls.iter().filter(|call| call.status == crate::CallStatus::Interrupted).count();
                    interrupted += told;
                    if !cut_happened {
                        break;
                    }
                }
            }
            assert!(interrupted > 0, "{script}: no cut ever left a call in doubt");
        }
    });
}

#[test]
fn one_commit_for_a_safe_call_and_two_for_another() {
    block(async {
        for (script, want) in [
            ("for (let id = 1; id <= 5; id++) await tools.x.get({ id })", 1 + 5 + 1),
            ("for (let id = 1; id <= 5; id++) await tools.x.put({ id })", 1 + 2 * 5 + 1),
        ] {
            let journal = PowerCut::never(Arc::new(MemoryJournal::new()));
            attempt(&journal, &Arc::new(Counting::default()), script, true).await.unwrap().unwrap();
            assert_eq!(journal.writes(), want, "{script}");
        }
    });
}

#[test]
fn calls_in_parallel_are_asked_for_in_one_commit_and_answered_in_no_more_than_they_are() {
    block(async {
        for many in [1, 2, 7, 20] {
            for (tool, asking) in [("get", 0), ("put", 1)] {
                for slow in [true, false] {
                    let script = format!(
                        "await Promise.all(Array.from({{ length: {many} }}, (_, id) => tools.x.{tool}({{ id, slow: {slow} }})))"
                    );
                    let journal = PowerCut::never(Arc::new(MemoryJournal::new()));
                    attempt(&journal, &Arc::new(Counting::default()), &script, true).await.unwrap().unwrap();
                    let records = journal.read(id()).await.unwrap();
                    let answers = records.iter().filter(|record| matches!(record, Record::Answered(_))).count();
                    assert_eq!(answers, many, "{script}");
                    // The start, and the end. What is back together is written together, so that there may be fewer.
                    let calls = journal.writes() - 2;
                    assert!((asking + 1..=asking + many as u64).contains(&calls), "{script}: {calls}");
                }
            }
        }
    });
}

#[test]
fn a_script_that_does_something_else_admits_nothing() {
    let original = "await tools.x.get({ id: 1 }); await tools.x.get({ id: 2 }); await tools.x.put({ id: 3 })";
    for changed in [
        "await tools.x.get({ id: 9 }); await tools.x.put({ id: 8 })",
        "await tools.x.key({ id: 1 }); await tools.x.put({ id: 8 })",
        "return 1",
        "throw 1",
        "await new Promise(() => {})",
        "tools.x.put({ id: 8 }); await tools.x.get({ id: 1 }); await tools.x.put({ id: 8 })",
        "await tools.x.get({ id: 1 }); tools.x.put({ id: 8 }); await tools.x.get({ id: 2 })",
        "try { await tools.x.get({ id: 9 }) } catch {} finally { await tools.x.put({ id: 8 }) }",
        "await tools.x.get({ id: 1 }); return 1",
        "await tools.x.get({ id: 1 }); await tools.x.get({ id: 2 }); await tools.x.put({ id: 8 })",
        "await tools.x.get({ id: 1 }); await tools.x.get({ id: 2 }); const p = tools.x.put({ id: 3 }); tools.x.put({ id: 8 }); await p",
        "await tools.x.get({ id: 1 }); tools.x.get({ id: 8 }); await tools.x.get({ id: 2 }); await tools.x.put({ id: 3 })",
    ] {
        block(async {
            let disk = MemoryJournal::new();
            let journal = PowerCut::at(Arc::new(disk.clone()), 4, Cut::Before);
            let tools = Arc::new(Counting::default());
            assert!(attempt(&journal, &tools, original, true).await.is_err());
            let disk = disk.reopen(Fate::Dead);
            let before = disk.read(id()).await.unwrap();
            let made = tools.made.lock().unwrap().clone();
            let outcome = attempt(&disk, &tools, changed, false).await.unwrap();
            assert!(outcome.is_err(), "{changed}: {outcome:?}");
            assert_eq!(disk.read(id()).await.unwrap(), before, "{changed}");
            assert_eq!(*tools.made.lock().unwrap(), made, "{changed}");
        });
    }
}

#[test]
fn equal_arguments_in_another_spelling_do_not_diverge() {
    block(async {
        let disk = MemoryJournal::new();
        let journal = PowerCut::at(Arc::new(disk.clone()), 3, Cut::Before);
        let tools = Arc::new(Counting::default());
        let first = attempt(
            &journal,
            &tools,
            "await tools.x.get({ id: 1, b: 2 }); await tools.x.get({ id: 2 }); await tools.x.get({ id: 3 })",
            true,
        )
        .await;
        assert!(first.is_err());
        let disk = disk.reopen(Fate::Dead);
        let again = "await tools.x.get({ b: 2.0, id: 1 }); await tools.x.get({ id: 2 }); return (await tools.x.get({ id: 3 })).id";
        let report = attempt(&disk, &tools, again, false).await.unwrap().unwrap();
        assert_eq!(report.result.unwrap().as_str(), "3");
    });
}

#[test]
fn a_journal_that_answers_one_call_twice_admits_nothing() {
    block(async {
        let script = "await tools.x.get({ id: 1 }); await tools.x.get({ id: 2 })";
        let disk = MemoryJournal::new();
        let journal = PowerCut::at(Arc::new(disk.clone()), 2, Cut::Before);
        let tools = Arc::new(Counting::default());
        assert!(attempt(&journal, &tools, script, true).await.is_err());
        let disk = disk.reopen(Fate::Dead);
        let records = disk.read(id()).await.unwrap();
        let lease = disk.acquire(id(), Take::IfFree, NOW).await.unwrap();
        let twice = records.last().unwrap().clone();
        disk.append(&lease, refrain_journal::Seq(records.len() as u64), &[twice], Flush::Process).await.unwrap();
        drop(lease);
        assert!(attempt(&disk, &tools, script, false).await.unwrap().is_err());
    });
}

/// Resumes `script` from a journal with these answers to its calls 1 and 2, each as (call, last turn when it was written).
async fn resumed(script: &str, answers: &[(u64, u64)]) -> Result<Report, String> {
    let disk = MemoryJournal::new();
    let (start, _) = started(script);
    let lease = disk.create(id(), &start, &[b"catalog".to_vec()], Flush::Process).await.unwrap();
    let asked = |call: u64| refrain_journal::AskedCall {
        call,
        tool: "x.get".into(),
        args: Json::from_value(&json!({ "id": call })),
        effect: "read".into(),
        replay: "safe".into(),
        key: None,
        due_ms: None,
        permission: None,
        rule: None,
    };
    let mut records =
        vec![Record::Asked(refrain_journal::Asked { turn: 0, calls: vec![asked(1), asked(2)], calls_made: 2 })];
    records.extend(answers.iter().map(|&(call, turn)| {
        Record::Answered(refrain_journal::Answered {
            call,
            clock_ms: NOW,
            took_ms: 0,
            active_ms: 0,
            turn,
            calls_made: 2,
            outcome: refrain_journal::Outcome::Value(Json::from_value(&json!({ "id": call }))),
            notes: Vec::new(),
            reused: None,
            by: None,
        })
    }));
    disk.append(&lease, refrain_journal::Seq(1), &records, Flush::Process).await.unwrap();
    drop(lease);
    attempt(&disk.reopen(Fate::Dead), &Arc::new(Counting::default()), script, false).await.unwrap()
}

#[test]
fn an_answer_written_with_the_one_that_ended_the_script_is_no_divergence() {
    block(async {
        let race = "return (await Promise.race([tools.x.get({ id: 1 }), tools.x.get({ id: 2 })])).id";
        let report = resumed(race, &[(2, 0), (1, 0)]).await.unwrap();
        assert_eq!(report.result.unwrap().as_str(), "2");
        assert!(report.calls.iter().all(|call| call.status == crate::CallStatus::Ok), "{:?}", report.calls);
        // Written after the turn in which this script ends: the script that wrote it went on.
        assert!(resumed(race, &[(2, 0), (1, 1)]).await.is_err());
    });
}
