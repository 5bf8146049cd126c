//! Runs that wait for what is outside: a moment that is far, a person, a source that asks for patience.

use std::{sync::Arc, time::Duration};

use refrain_runtime::{
    CallError, Decided, Decision, ErrorCode, Json, OnInterrupted, Origin, Replay, Report, ReportStatus, Retry, RunId,
    RunRequest, RuntimeError, Take, Tool, Waiting, WaitingKind,
};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    fake::{Answer, Fake},
    host::{Host, notes, statuses, value},
};

/// A runtime that puts runs down for sleeps of a fifth of a second.
fn host(tools: Vec<Fake>) -> Host {
    Host::with([("fake", tools)], |settings| settings.park_after = Duration::from_millis(200))
}

/// Starts a script and drops it once `tool` was called, as a killed process would.
async fn stopped(host: &Host, script: &str, tool: &str) -> RunId {
    let (told, id) = oneshot::channel();
    let told = std::sync::Mutex::new(Some(told));
    let on_start = |id| {
        let told = told.lock().unwrap().take();
        told.unwrap().send(id).unwrap();
    };
    let before = host.seen().count(tool);
    let run = host.runtime.run(RunRequest::new(script, Origin::default()), &on_start);
    let out = async {
        while host.seen().count(tool) == before {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        report = run => panic!("it ended: {report:?}"),
        () = out => {}
    }
    id.await.unwrap()
}

async fn resume(host: &Host, id: RunId) -> Report {
    host.runtime.resume(id, Take::IfFree).await.unwrap()
}

async fn answer(host: &Host, id: RunId, call: u32, what: Decided) -> Result<Report, RuntimeError> {
    host.runtime.answer(id, Take::IfFree, Decision { call, what, by: Some("ann".into()) }).await
}

fn given(value: serde_json::Value) -> Decided {
    Decided::Value(Json::from_value(&value))
}

/// The kinds and calls of what a parked run waits for.
fn waits(report: &Report) -> Vec<(WaitingKind, Option<u32>)> {
    assert_eq!(report.status, ReportStatus::Parked, "{report:?}");
    report.waiting.iter().map(|Waiting { kind, call, .. }| (*kind, *call)).collect()
}

#[tokio::test]
async fn a_long_sleep_parks_when_everything_else_is_done_and_is_over_when_it_is_due() {
    let host = host(vec![Fake::echo("get")]);
    let script = "const nap = sleep(400).then(() => Date.now()); const began = Date.now();
        for (let n = 0; n < 3; n++) await tools.fake.get({ n });
        const woke = await nap; return [woke - began >= 400, Date.now() === woke]";
    let report = host.run(script).await;
    assert_eq!(waits(&report), [(WaitingKind::Timer, Some(1))]);
    assert_eq!(statuses(&report), ["sleep waiting", "fake.get ok", "fake.get ok", "fake.get ok"]);
    assert!(report.waiting[0].due.as_deref().unwrap().ends_with('Z'));
    let id = report.run_id.unwrap();
    let records = host.runtime.show(id).await.unwrap().journal.len();
    // Too early, it waits on, and nothing new is written of it.
    assert_eq!(waits(&resume(&host, id).await), [(WaitingKind::Timer, Some(1))]);
    assert_eq!(host.runtime.show(id).await.unwrap().journal.len(), records);
    tokio::time::sleep(Duration::from_millis(450)).await;
    let report = resume(&host, id).await;
    assert_eq!(value(&report).unwrap(), json!([true, true]));
    assert_eq!(host.seen().count("get"), 3);
}

#[tokio::test]
async fn a_crash_does_not_move_a_timer() {
    let script = "const began = Date.now(); const nap = sleep(400); await tools.fake.hangs({}).catch(() => 0);
        await nap; return Date.now() - began >= 400";
    for (pause, expected) in [(0, ReportStatus::Parked), (450, ReportStatus::Completed)] {
        let host = host(vec![Fake::echo("get"), Fake::hang("hangs")]);
        let id = stopped(&host, script, "hangs").await;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        // Before it is due the run waits on; due while nobody was there, it is over at once, although it was never parked for.
        let report = resume(&host, id).await;
        assert_eq!(report.status, expected, "{report:?}");
        let took: Vec<u64> = report.calls.iter().filter(|call| call.tool == "sleep").map(|call| call.ms).collect();
        assert_eq!(took, [0]);
        if expected == ReportStatus::Completed {
            assert_eq!(value(&report).unwrap(), json!(true));
        }
    }
}

#[tokio::test]
async fn a_question_waits_for_its_answer_and_no_other() {
    let host = host(vec![Fake::echo("get")]);
    let script = "const [sure, name] = await Promise.all([ask('Close 12 issues?', { schema: { type: 'boolean' } }), ask('Who?')]);
        return [sure, name, (await tools.fake.get({ n: 1 })).n]";
    let report = host.run(script).await;
    assert_eq!(waits(&report), [(WaitingKind::Question, Some(1)), (WaitingKind::Question, Some(2))]);
    assert!(report.waiting[0].args.as_ref().unwrap().as_str().contains("Close 12 issues?"));
    let id = report.run_id.unwrap();
    assert!(report.waiting[0].next.starts_with(&format!("refrain runs answer {id} 1 ")));
    for (call, what, told) in [
        (1, given(json!("yes")), "answer"),
        (1, Decided::Again, "it is a question"),
        (3, given(json!(true)), "it waits for question `call-1`, question `call-2`"),
    ] {
        let error = answer(&host, id, call, what).await.unwrap_err();
        assert!(matches!(error, RuntimeError::NotWaiting { .. }) && error.to_string().contains(told), "{error}");
    }
    // In any order.
    assert_eq!(waits(&answer(&host, id, 2, given(json!("Bo"))).await.unwrap()), [(WaitingKind::Question, Some(1))]);
    let report = answer(&host, id, 1, given(json!(true))).await.unwrap();
    assert_eq!(value(&report).unwrap(), json!([true, "Bo", 1]));
    let late = answer(&host, id, 1, given(json!(false))).await.unwrap_err();
    assert!(late.to_string().ends_with("it is over"), "{late}");
    let detail = host.runtime.show(id).await.unwrap();
    assert!(detail.journal.iter().any(|record| record.fields["by"] == "ann"), "{:?}", detail.journal);
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_denied() {
    let host = host(vec![]);
    let report = host.run("try { await ask('Sure?') } catch (e) { return e.code }").await;
    let report = answer(&host, report.run_id.unwrap(), 1, Decided::Unknown).await.unwrap();
    assert_eq!(value(&report).unwrap(), json!("denied"));
}

#[tokio::test]
async fn a_corrected_script_does_not_ask_again() {
    let host = host(vec![]);
    let report = host.run("const name = await ask('Who?'); throw new Error(name)").await;
    let id = report.run_id.unwrap();
    let report = answer(&host, id, 1, given(json!("Bo"))).await.unwrap();
    assert_eq!(report.status, ReportStatus::Failed);
    let request = refrain_runtime::AmendRequest {
        script: "const name = await ask('Who?'); return name".into(),
        language: refrain_runtime::Language::default(),
        take: Take::IfFree,
        origin: Origin::default(),
    };
    let report = host.runtime.amend(id, request, &|_| {}).await.unwrap();
    assert_eq!(value(&report).unwrap(), json!("Bo"));
}

fn asking(tools: Vec<Fake>) -> Host {
    Host::with([("fake", tools)], |settings| settings.on_interrupted = OnInterrupted::Ask)
}

/// A tool that hangs at its first call and echoes from then on.
fn hangs_once(name: &str) -> Fake {
    let answers = [(Answer::Hang, Duration::ZERO), (Answer::Echo, Duration::ZERO)];
    Fake::of(Tool::new("", name), answers)
}

#[tokio::test]
async fn a_person_says_what_became_of_a_call_that_was_out_at_a_crash() {
    let script = "try { return await tools.fake.put({ n: 1 }) } catch (e) { return e.code }";
    let cases = [
        (given(json!({ "n": 7 })), json!({ "n": 7 }), 1),
        (Decided::Unknown, json!("interrupted"), 1),
        (Decided::Again, json!({ "n": 1 }), 2),
    ];
    for (what, expected, times) in cases {
        let host = asking(vec![hangs_once("put")]);
        let id = stopped(&host, script, "put").await;
        assert_eq!(waits(&resume(&host, id).await), [(WaitingKind::Interrupted, Some(1))]);
        assert_eq!(host.seen().count("put"), 1, "nothing runs while nobody knows");
        let report = answer(&host, id, 1, what.clone()).await.unwrap();
        assert_eq!(value(&report).unwrap(), expected, "{what:?}");
        assert_eq!(host.seen().count("put"), times, "{what:?}");
    }
}

#[tokio::test]
async fn a_tool_for_that_tells_what_became_of_a_call() {
    let script = "try { return await tools.fake.put({ n: 1 }) } catch (e) { return e.code }";
    let cases = [
        (Answer::Value(json!({ "status": "done", "result": { "n": 9 } })), json!({ "n": 9 }), 1),
        (Answer::Value(json!({ "status": "not_done" })), json!({ "n": 1 }), 2),
        (Answer::Value(json!({ "status": "unknown" })), json!("interrupted"), 1),
        (Answer::Value(json!({ "status": "perhaps" })), json!("interrupted"), 1),
        (Answer::Value(json!(null)), json!("interrupted"), 1),
        (Answer::Fails(CallError::new(ErrorCode::ToolError, "it is broken")), json!("interrupted"), 1),
    ];
    for (said, expected, times) in cases {
        let mut put = hangs_once("put");
        put.tool.reconcile = Some("fake.look".into());
        let host = host(vec![put, Fake::new("look", said.clone()).safe()]);
        let id = stopped(&host, script, "put").await;
        let report = resume(&host, id).await;
        assert_eq!(value(&report).unwrap(), expected);
        assert_eq!(host.seen().count("put"), times);
        let asked = host.seen().args("look");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0], json!({ "key": format!("{id}/1"), "tool": "fake.put", "args": { "n": 1 } }));
        assert_eq!(report.calls.len(), 1, "what looks is no call of the script");
    }
}

/// A tool that fails `times` times in a way that may be mended by waiting.
fn flaky(replay: Replay, times: usize, retry_after_ms: Option<u64>) -> Fake {
    let mut tool = Tool::new("", "get");
    (tool.replay, tool.retry) = (replay, Some(Retry { attempts: 4, backoff_ms: 10 }));
    let error = CallError { retryable: true, retry_after_ms, ..CallError::new(ErrorCode::RateLimited, "slow down") };
    let failures = std::iter::repeat_n((Answer::Fails(error), Duration::ZERO), times);
    Fake::of(tool, failures.chain([(Answer::Echo, Duration::ZERO)]))
}

#[tokio::test]
async fn a_call_that_may_be_repeated_is_made_again_as_often_as_its_tool_says() {
    let script = "try { return (await tools.fake.get({ n: 1 })).n } catch (e) { return e.code }";
    for (replay, failures, expected, times) in [
        (Replay::Safe, 3, json!(1), 4),
        (Replay::Keyed, 2, json!(1), 3),
        (Replay::Safe, 4, json!("rate_limited"), 4),
        (Replay::Unsafe, 3, json!("rate_limited"), 1),
    ] {
        let host = host(vec![flaky(replay, failures, None)]);
        let report = host.run(script).await;
        assert_eq!(value(&report).unwrap(), expected, "{replay:?}");
        assert_eq!(host.seen().count("get"), times, "{replay:?}");
        assert_eq!(notes(&report, "retried").len(), usize::from(times > 1), "{:?}", report.notes);
        assert_eq!(report.calls.len(), 1);
        let detail = host.runtime.show(report.run_id.unwrap()).await.unwrap();
        let attempts = detail.journal.iter().filter(|record| record.kind == "attempted").count();
        assert_eq!(attempts, times - 1);
    }
}

#[tokio::test]
async fn a_tool_that_asks_for_patience_gets_it_and_the_run_parks_meanwhile() {
    let host = host(vec![flaky(Replay::Safe, 1, Some(400))]);
    let report = host.run("return (await tools.fake.get({ n: 1 })).n").await;
    assert_eq!(waits(&report), [(WaitingKind::Timer, Some(1))]);
    let id = report.run_id.unwrap();
    assert_eq!(waits(&resume(&host, id).await).len(), 1);
    assert_eq!(host.seen().count("get"), 1);
    tokio::time::sleep(Duration::from_millis(450)).await;
    assert_eq!(value(&resume(&host, id).await).unwrap(), json!(1));
}

#[tokio::test]
async fn a_run_that_waits_is_cancelled_like_any_other() {
    let host = host(vec![]);
    let report = host.run("try { await ask('Sure?') } finally { text('undone') }").await;
    let report = host.runtime.cancel(report.run_id.unwrap(), Take::IfFree, None).await.unwrap();
    assert_eq!((report.status, report.text.as_str()), (ReportStatus::Cancelled, "undone"));
}

#[tokio::test]
async fn who_tends_brings_on_what_is_due_and_what_was_left_behind() {
    let Host { runtime, .. } = host(vec![]);
    let runtime = Arc::new(runtime);
    let start = async |way: &str, script: &str| {
        let origin = Origin { way: way.into(), ..Origin::default() };
        runtime.run(RunRequest::new(script, origin), &|_| {}).await.unwrap().run_id.unwrap()
    };
    let ours = start("mcp", "await sleep(300); return 1").await;
    let other = start("cli", "await sleep(300); return 2").await;
    let asks = start("mcp", "return await ask('Sure?')").await;
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let tending = tokio::spawn(Arc::clone(&runtime).tend("mcp", move |tended| said.send(tended).unwrap()));
    let (run, report) = heard.recv().await.unwrap();
    assert_eq!((run, report.unwrap().status), (ours, ReportStatus::Completed));
    // What parks while somebody tends is brought on as well.
    let later = start("mcp", "await sleep(250); return 3").await;
    let (run, report) = heard.recv().await.unwrap();
    assert_eq!((run, report.unwrap().status), (later, ReportStatus::Completed));
    for waiting in [other, asks] {
        assert_eq!(runtime.show(waiting).await.unwrap().run.status, refrain_runtime::RunState::Parked);
    }
    assert_eq!(runtime.resumable().await.unwrap(), [other]);
    tending.abort();
}

#[tokio::test]
async fn a_deadline_counts_also_while_a_run_waits_and_admits_nothing_after_it() {
    let host = Host::with([("fake", vec![Fake::echo("put")])], |settings| settings.limits.deadline_ms = Some(300));
    let report = host.run("const ok = await ask('Sure?'); await tools.fake.put({ n: 1 }); return ok").await;
    let id = report.run_id.unwrap();
    assert_eq!(waits(&report).len(), 1);
    assert!(host.runtime.show(id).await.unwrap().run.wake_ms.is_some(), "it is looked at when its time is up");
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert_eq!(host.runtime.resumable().await.unwrap(), [id]);
    let report = answer(&host, id, 1, given(json!(true))).await.unwrap();
    let error = report.error.unwrap();
    assert_eq!((error.kind, error.setting.as_deref()), (refrain_runtime::ErrorKind::Timeout, Some("deadline_ms")));
    assert_eq!(host.seen().count("put"), 0);
}
