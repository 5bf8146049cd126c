//! Calls that wait for a person's agreement, and calls that are not made at all.

use std::{sync::Arc, time::Duration};

use refrain_journal::MemoryJournal;
use refrain_runtime::{
    Condition, Decided, Decision, Effect, Effects, Glob, Origin, Permission, Policy, Report, ReportStatus, Rule, RunId,
    RunRequest, RuntimeError, Settings, Take, WaitingKind,
};
use serde_json::json;

use crate::{
    fake::Fake,
    host::{notes, statuses, value},
    policies::at,
    snapshots::{Process, killed, process_with},
};

fn rule(tools: &str, outcome: Permission) -> Rule {
    Rule { tools: Glob::new(tools), effect: None, when: None, outcome, place: "refrain.toml:3".into() }
}

fn tools() -> Vec<Fake> {
    let mut get = Fake::echo("get").safe();
    get.tool.effect = Effect::Read;
    vec![get, Fake::echo("put"), Fake::echo("drop")]
}

fn with(rules: Vec<Rule>) -> impl FnOnce(&mut Settings) {
    move |settings: &mut Settings| settings.policy = Arc::new(Policy { rules, ..Policy::default() })
}

fn asking() -> Vec<Rule> {
    vec![rule("fake.put", Permission::Ask)]
}

async fn run(process: &Process, script: &str) -> Report {
    process.runtime.run(RunRequest::new(script, Origin::default()), &|_| {}).await.unwrap()
}

async fn decide(process: &Process, run: RunId, call: u32, what: Decided) -> Result<Report, RuntimeError> {
    process.runtime.answer(run, Take::IfFree, Decision { call, what, by: Some("ann".into()) }).await
}

fn count(process: &Process, tool: &str) -> usize {
    process.seen.lock().unwrap().count(tool)
}

/// The issue's own case: each write once, in any order, from other processes, hours later.
#[tokio::test]
async fn three_writes_wait_and_are_decided_one_by_one_by_other_processes() {
    let journal = MemoryJournal::new();
    let first = process_with(&journal, tools(), with(asking()));
    let script = "const all = await Promise.allSettled([1, 2, 3].map((n) => tools.fake.put({ n })));
        const read = await tools.fake.get({ n: 9 });
        return [...all.map((it) => it.value?.n ?? it.reason.code + ': ' + it.reason.message), read.n]";
    let report = run(&first, script).await;
    let id = report.run_id.unwrap();
    assert_eq!(report.status, ReportStatus::Parked);
    assert_eq!(statuses(&report), ["fake.put waiting", "fake.put waiting", "fake.put waiting"]);
    assert!(report.waiting.iter().all(|it| it.kind == WaitingKind::Approval));
    assert_eq!(report.waiting[1].next, format!("refrain approvals approve {id}/2"));
    assert_eq!(report.waiting[1].why.as_deref(), Some("rule 1 (refrain.toml:3)"));
    let listed = first.runtime.approvals().await.unwrap();
    assert_eq!(listed.iter().map(|it| it.call).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(
        (listed[2].tool.as_str(), listed[2].args.as_str(), listed[2].effect.as_str()),
        ("fake.put", r#"{"n":3}"#, "write")
    );
    drop(first);

    // Today's rules are others; what was asked stays asked.
    let second = process_with(&journal, tools(), with(vec![rule("*", Permission::Deny)]));
    assert_eq!(decide(&second, id, 2, Decided::Approve).await.unwrap().waiting.len(), 2);
    assert_eq!(count(&second, "put"), 1);
    let rejected = decide(&second, id, 3, Decided::Reject(Some("not today".into()))).await.unwrap();
    assert_eq!(rejected.waiting.len(), 1);
    // Twice changes nothing.
    let again = decide(&second, id, 2, Decided::Approve).await.unwrap_err();
    assert!(again.to_string().contains("it waits for approval `call-1`"), "{again}");
    let third = process_with(&journal, tools(), with(Vec::new()));
    let report = decide(&third, id, 1, Decided::Approve).await.unwrap();
    assert_eq!(value(&report), Some(json!([1, 2, "denied: `fake.put` was not called: not today", 9])));
    assert_eq!(statuses(&report), ["fake.put ok", "fake.put ok", "fake.put refused", "fake.get ok"]);
    assert_eq!((count(&second, "put"), count(&third, "put")), (1, 1));
    assert!(third.runtime.approvals().await.unwrap().is_empty());
    let detail = third.runtime.show(id).await.unwrap();
    let audit =
        |kind: &str| detail.journal.iter().filter(|record| record.kind == kind && record.fields["by"] == "ann").count();
    assert_eq!((audit("decided"), audit("answered")), (2, 1), "two agreed to, one refused: {:?}", detail.journal);
}

#[tokio::test]
async fn siblings_go_on_and_a_race_need_not_wait() {
    let journal = MemoryJournal::new();
    let process = process_with(&journal, tools(), with(asking()));
    let script =
        "const first = await Promise.race([tools.fake.put({ n: 1 }), tools.fake.get({ n: 2 })]); return first.n";
    let report = run(&process, script).await;
    assert_eq!((value(&report), count(&process, "put")), (Some(json!(2)), 0), "{report:?}");
    let left = notes(&report, "unfinished");
    assert!(
        left.len() == 1 && left[0].message.contains("the script ended before anybody agreed to it"),
        "{:?}",
        report.notes
    );
}

/// Between the agreement and the answer: the call may have been made.
#[tokio::test]
async fn a_crash_after_the_agreement_repeats_no_write_and_asks_nobody_again() {
    let journal = MemoryJournal::new();
    let put = |hangs: bool| if hangs { Fake::hang("put") } else { Fake::echo("put") };
    let first = process_with(&journal, vec![put(true)], with(asking()));
    let script = "return await tools.fake.put({ n: 1 }).catch((e) => e.code)";
    let id = run(&first, script).await.run_id.unwrap();
    let out = async {
        while count(&first, "put") < 1 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        report = decide(&first, id, 1, Decided::Approve) => panic!("it ended: {report:?}"),
        () = out => {}
    }
    drop(first);
    let journal = journal.reopen(refrain_journal::Fate::Dead);
    let second = process_with(&journal, vec![put(false)], with(asking()));
    let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
    assert_eq!((value(&report), count(&second, "put")), (Some(json!("interrupted")), 0));
}

/// And before it: nothing has left, so nothing is in doubt.
#[tokio::test]
async fn a_crash_before_the_agreement_leaves_the_question_as_it_is() {
    let journal = MemoryJournal::new();
    let slow = || vec![Fake::hang("hangs").safe(), Fake::echo("put")];
    let first = process_with(&journal, slow(), with(asking()));
    let script =
        "const [a, b] = await Promise.all([tools.fake.put({ n: 1 }), tools.fake.hangs({ n: 2 })]); return [a.n, b.n]";
    let (id, journal) = killed(&journal, first, script, "hangs", 1).await;
    let quick = vec![Fake::echo("hangs").safe(), Fake::echo("put")];
    let second = process_with(&journal, quick, with(Vec::new()));
    let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
    assert_eq!((report.status, count(&second, "put")), (ReportStatus::Parked, 0));
    let report = decide(&second, id, 1, Decided::Approve).await.unwrap();
    assert_eq!((value(&report), count(&second, "put")), (Some(json!([1, 2])), 1));
}

#[tokio::test]
async fn what_is_denied_is_told_with_what_would_help_and_nothing_leaves() {
    let journal = MemoryJournal::new();
    let when = Some(Condition::new("args.n > 5").unwrap());
    let rules = vec![
        Rule { when, ..rule("fake.put", Permission::Deny) },
        rule("fake.put", Permission::Allow),
        rule("fake.drop", Permission::Direct),
    ];
    let process = process_with(&journal, tools(), with(rules));
    let script = "const at = (p) => p.then((it) => it.n, (e) => e.code + ': ' + e.message);
        return [await at(tools.fake.put({ n: 1 })), await at(tools.fake.put({ n: 6 })), await at(tools.fake.drop({})), await at(tools.fake.put({}))]";
    let report = run(&process, script).await;
    let told = value(&report).unwrap();
    assert_eq!(told[0], 1);
    assert_eq!(
        told[1],
        "denied: `fake.put` was not called: rule 1 (refrain.toml:3) denies it; change that, or do without the call"
    );
    assert!(told[2].as_str().unwrap().contains("call it directly with `run_tool`"), "{told}");
    assert!(
        told[3].as_str().unwrap().contains("rule 1 (refrain.toml:3) cannot be judged; correct the condition: "),
        "{told}"
    );
    assert_eq!((count(&process, "put"), count(&process, "drop")), (1, 0));
    assert_eq!(statuses(&report), ["fake.put ok", "fake.put refused", "fake.drop refused", "fake.put refused"]);
    let said = notes(&report, "policy");
    assert!(
        said.iter().any(|note| note.message == "rule 2 (refrain.toml:3) let writes through: `fake.put`"),
        "{said:?}"
    );
}

#[tokio::test]
async fn an_approval_that_comes_too_late_is_none() {
    let journal = MemoryJournal::new();
    let policy = Policy { rules: asking(), ask_timeout: Some(Duration::from_secs(3600)), ..Policy::default() };
    let process = process_with(&journal, tools(), |settings| settings.policy = Arc::new(policy));
    let script = "return await tools.fake.put({ n: 1 }).catch((e) => e.code + ': ' + e.message)";
    let report = run(&process, script).await;
    let id = report.run_id.unwrap();
    assert_eq!(report.waiting[0].due.as_deref(), Some("2023-11-14T23:13:20Z"));
    let later = at(&process, &journal, 1_700_000_000_000 + 3_600_000);
    assert_eq!(later.resumable().await.unwrap(), [id], "it is due");
    let report = later.resume(id, Take::IfFree).await.unwrap();
    assert_eq!(value(&report), Some(json!("denied: `fake.put` was not called: the approval timed out")));
    assert_eq!(count(&process, "put"), 0);
}

#[tokio::test]
async fn under_reads_only_no_write_leaves_in_whatever_way_it_is_made() {
    let journal = MemoryJournal::new();
    let mut liar = Fake::echo("liar");
    liar.tool.effect = Effect::Write; // as the catalog has it of a source that is not trusted
    let mut all = tools();
    all.push(liar);
    let process = process_with(&journal, all, with(vec![rule("*", Permission::Allow)]));
    let script = "const at = (p) => Promise.resolve(p).then(() => 'made', (e) => e.code ?? e.name);
        const { put } = tools.fake; const alias = tools['fake']['drop'];
        return [await at(tools.fake.get({ n: 1 })), await at(put({ n: 1 })), await at(alias({})), await at(tools.fake.liar({})),
                await at(Reflect.apply(tools.fake.put, null, [{ n: 2 }]))]";
    let request = RunRequest { effects: Effects::Read, ..RunRequest::new(script, Origin::default()) };
    let report = process.runtime.run(request, &|_| {}).await.unwrap();
    assert_eq!(value(&report), Some(json!(["made", "denied", "denied", "denied", "denied"])));
    assert_eq!(["put", "drop", "liar"].map(|tool| count(&process, tool)), [0, 0, 0]);
    // It stays so for whoever goes on.
    let script = "await ask('Go on?'); return await tools.fake.put({}).catch((e) => e.message)";
    let request = RunRequest { effects: Effects::Read, ..RunRequest::new(script, Origin::default()) };
    let id = process.runtime.run(request, &|_| {}).await.unwrap().run_id.unwrap();
    let yes = Decided::Value(refrain_runtime::Json::from_value(&json!(true)));
    let told = value(&decide(&process, id, 1, yes).await.unwrap()).unwrap();
    assert!(told.as_str().unwrap().contains("run the script with `effects: \"all\"`"), "{told}");
}

#[tokio::test]
async fn a_run_that_waits_for_agreement_is_cancelled_and_corrected_without_doubt() {
    let journal = MemoryJournal::new();
    let process = process_with(&journal, tools(), with(asking()));
    let id =
        run(&process, "try { await tools.fake.put({ n: 1 }) } catch (e) { text(e.message) }").await.run_id.unwrap();
    let report = process.runtime.cancel(id, Take::IfFree, None).await.unwrap();
    assert_eq!(report.text, "`fake.put` was not called: the run was cancelled before anybody agreed to it");
    let id = run(&process, "await tools.fake.put({ n: 1 }); return 1").await.run_id.unwrap();
    let request = refrain_runtime::AmendRequest {
        script: "return (await tools.fake.put({ n: 1 })).n".into(),
        language: refrain_runtime::Language::default(),
        take: Take::IfFree,
        origin: Origin::default(),
    };
    let amended = process.runtime.amend(id, request, &|_| {}).await.unwrap();
    assert_eq!(amended.status, ReportStatus::Parked, "it never left, so it is asked for and not in doubt: {amended:?}");
    let report = decide(&process, amended.run_id.unwrap(), 1, Decided::Approve).await.unwrap();
    assert_eq!((value(&report), count(&process, "put")), (Some(json!(1)), 1));
}

/// Step by step: what a plan holds back is agreed to as a whole, and the run goes on to its next one.
#[tokio::test]
async fn a_plan_makes_reads_and_holds_writes_back_until_somebody_agrees() {
    let journal = MemoryJournal::new();
    let process = process_with(&journal, tools(), with(vec![rule("fake.drop", Permission::Deny)]));
    let script = "const found = await tools.fake.get({ n: 1 });
        const both = await Promise.all([tools.fake.put({ n: found.n + 1 }), tools.fake.put({ n: 3 })]);
        const gone = await tools.fake.drop({}).catch((e) => e.code);
        const last = await tools.fake.put({ n: both[0].n + both[1].n });
        return [last.n, gone]";
    let request = RunRequest { effects: Effects::Plan, ..RunRequest::new(script, Origin::default()) };
    let first = process.runtime.run(request, &|_| {}).await.unwrap();
    let id = first.run_id.unwrap();
    let held = |report: &Report| -> Vec<(WaitingKind, u32)> {
        report.waiting.iter().map(|it| (it.kind, it.call.unwrap())).collect()
    };
    assert_eq!(held(&first), [(WaitingKind::Plan, 2), (WaitingKind::Plan, 3)]);
    assert_eq!(first.waiting[0].next, format!("refrain approvals approve {id}"));
    assert_eq!((count(&process, "get"), count(&process, "put")), (1, 0));
    let all =
        |calls: &[u32]| calls.iter().map(|call| Decision { call: *call, what: Decided::Approve, by: None }).collect();
    // One that does not wait takes the others with it.
    assert!(process.runtime.answer_all(id, Take::IfFree, all(&[2, 3, 9])).await.is_err());
    assert_eq!(count(&process, "put"), 0);
    let second = process.runtime.answer_all(id, Take::IfFree, all(&[2, 3])).await.unwrap();
    assert_eq!((held(&second), count(&process, "put")), (vec![(WaitingKind::Plan, 5)], 2));
    let report = process.runtime.answer_all(id, Take::IfFree, all(&[5])).await.unwrap();
    assert_eq!((value(&report), count(&process, "put"), count(&process, "drop")), (Some(json!([5, "denied"])), 3, 0));
}

/// Nobody is there to be asked, and nothing may hold the clean-up up: a run that waits for a person in it would never end.
#[tokio::test]
async fn while_a_run_is_cancelled_nobody_is_asked_and_it_ends() {
    let undo = || {
        let mut undo = Fake::echo("undo");
        undo.tool.cleanup = true;
        undo
    };
    let all = || vec![Fake::echo("put"), undo()];
    for script in [
        // Made in the clean-up, and before it.
        "try { await tools.fake.put({}) } catch (e) { await tools.fake.undo({}).catch((e) => text(e.code + ': ' + e.message)) }",
        "await Promise.all([tools.fake.put({}), tools.fake.undo({})].map((it) => it.catch((e) => text(e.code + ': ' + e.message))))",
    ] {
        let journal = MemoryJournal::new();
        let rules = || vec![rule("fake.put", Permission::Ask), rule("fake.undo", Permission::Ask)];
        let process = process_with(&journal, all(), with(rules()));
        let id = run(&process, script).await.run_id.unwrap();
        let report = process.runtime.cancel(id, Take::IfFree, None).await.unwrap();
        assert_eq!(report.status, ReportStatus::Cancelled, "{script}: {report:?}");
        assert!(report.text.contains("cancelled: `fake.undo` was not called: the run "), "{script}: {}", report.text);
        assert_eq!((count(&process, "put"), count(&process, "undo")), (0, 0), "{script}");
    }
}
