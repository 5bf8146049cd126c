//! A corrected script: what worked is not repeated.

use refrain_runtime::{AmendRequest, CallError, CallStatus, ErrorCode, Language, Origin, Report, RunId, Take};
use serde_json::{Value, json};

use crate::{
    fake::{Answer, Fake, tool_error},
    host::{Host, statuses, value},
};

impl Host {
    async fn amend(&self, old: RunId, script: &str) -> Report {
        let request = AmendRequest {
            script: script.into(),
            language: Language::default(),
            take: Take::IfFree,
            origin: Origin::default(),
        };
        self.runtime.amend(old, request, &|_| {}).await.unwrap()
    }
}

fn write(name: &str) -> Fake {
    Fake::echo(name)
}

fn read(name: &str) -> Fake {
    Fake::echo(name).safe()
}

/// What became of each call.
fn outcomes(report: &Report) -> Vec<String> {
    statuses(report).iter().map(|status| status.rsplit(' ').next().unwrap().to_owned()).collect()
}

/// Tool and arguments of the finished calls that the new script did not make.
fn unmatched(report: &Report) -> Vec<String> {
    let amends = report.amends.as_ref().unwrap();
    amends.unmatched.iter().map(|call| format!("{} {}", call.tool, call.args.as_str())).collect()
}

#[tokio::test]
async fn a_corrected_script_repeats_none_of_fifty_finished_calls() {
    let host = Host::new(vec![read("list"), write("put")]);
    let body = "const rows = await tools.fake.list({ n: 25 });
        const all = await Promise.all(Array.from({ length: 24 }, (_, i) => tools.fake.put({ id: i })));
        for (let i = 0; i < 25; i++) all.push(await tools.fake.list({ page: i }));";
    let failed = host.run(&format!("{body} return all.lenght.toFixed()")).await;
    assert_eq!((failed.calls.len(), failed.error.is_some()), (50, true));
    let report = host.amend(failed.run_id.unwrap(), &format!("{body} return [rows, all.length, all[3]]")).await;
    assert_eq!(value(&report).unwrap(), json!([{ "n": 25 }, 49, { "id": 3 }]));
    assert!(report.calls.iter().all(|call| call.status == CallStatus::Reused), "{:?}", statuses(&report));
    let amends = report.amends.unwrap();
    assert_eq!((amends.run_id, amends.reused, amends.ran), (failed.run_id.unwrap(), 50, 0));
    assert!(amends.made_again.is_empty() && amends.unmatched.is_empty());
    let seen = host.seen();
    assert_eq!((seen.count("list"), seen.count("put")), (26, 24));
}

#[tokio::test]
async fn calls_are_found_again_in_another_order_with_other_keys_first_and_as_often_as_they_were_made() {
    let host = Host::new(vec![write("put"), read("get")]);
    let failed = host
        .run(
            "await tools.fake.put({ a: 1, b: 2 }); await tools.fake.put({ a: 1, b: 2 }); await tools.fake.put({ a: 3 });
             await tools.fake.get({ q: 'gone' }); throw new Error('no')",
        )
        .await;
    let report = host
        .amend(
            failed.run_id.unwrap(),
            "const got = await Promise.all([
                tools.fake.put({ a: 3 }), tools.fake.put({ b: 2, a: 1.0 }), tools.fake.put({ a: 1, b: 2 }), tools.fake.put({ a: 1, b: 2 }),
             ]); return got",
        )
        .await;
    assert_eq!(outcomes(&report), ["reused", "reused", "reused", "ok"]);
    assert_eq!(
        value(&report).unwrap(),
        json!([{ "a": 3 }, { "a": 1, "b": 2 }, { "a": 1, "b": 2 }, { "a": 1, "b": 2 }])
    );
    assert_eq!(unmatched(&report), [r#"fake.get {"q":"gone"}"#]);
    assert_eq!(host.seen().count("put"), 4);
}

#[tokio::test]
async fn what_failed_is_made_again_and_reads_are_after_a_new_write() {
    let flaky = Fake::of(
        Fake::echo("flaky").tool,
        [Answer::Fails(tool_error("busy")), Answer::Value(json!("done"))].map(|answer| (answer, Default::default())),
    );
    let host = Host::new(vec![flaky, read("get"), write("put")]);
    let failed =
        host.run("await tools.fake.get({}); await tools.fake.put({ id: 1 }); return await tools.fake.flaky({})").await;
    assert_eq!(failed.error.as_ref().unwrap().code.as_deref(), Some("tool_error"));
    let report = host
        .amend(
            failed.run_id.unwrap(),
            "await tools.fake.put({ id: 1 }); const done = await tools.fake.flaky({}); await tools.fake.get({}); return done",
        )
        .await;
    assert_eq!(value(&report).unwrap(), json!("done"));
    assert_eq!(outcomes(&report), ["reused", "ok", "ok"]);
    let amends = report.amends.as_ref().unwrap();
    assert_eq!((amends.reused, amends.ran, amends.made_again.as_slice()), (1, 2, &[3][..]));
    let seen = host.seen();
    assert_eq!((seen.count("get"), seen.count("put"), seen.count("flaky")), (2, 1, 2));
}

#[tokio::test]
async fn the_winner_of_a_race_stays_and_so_do_clock_and_chance() {
    let host = Host::new(vec![read("get")]);
    let race = "const seen = [Date.now(), Math.random()];
        const slow = (async () => { await sleep(30); return tools.fake.get({ who: 'slow' }) })();
        const first = await Promise.race([slow, tools.fake.get({ who: 'quick' })]);
        await slow; seen.push(first.who, Date.now());";
    let failed = host.run(&format!("{race} throw new Error(JSON.stringify(seen))")).await;
    let told = failed.error.as_ref().unwrap().message.clone();
    let report = host.amend(failed.run_id.unwrap(), &format!("{race} return JSON.stringify(seen)")).await;
    assert_eq!(value(&report).unwrap(), Value::from(told));
    assert_eq!(host.seen().count("get"), 2);
}

#[tokio::test]
async fn a_correction_of_a_correction_repeats_nothing_of_either() {
    let host = Host::new(vec![write("put"), read("get")]);
    let put = |ids: &[u32]| ids.iter().map(|id| format!("await tools.fake.put({{ id: {id} }}); ")).collect::<String>();
    let first = host.run(&(put(&[1, 2, 3]) + "await tools.fake.get({}); throw 1")).await;
    // It takes over one, makes a new one, and fails before the others.
    let second = host.amend(first.run_id.unwrap(), &(put(&[1, 4]) + "throw 2")).await;
    assert_eq!(outcomes(&second), ["reused", "ok"]);
    let third = host.amend(second.run_id.unwrap(), &(put(&[1, 2, 3, 4]) + "return await tools.fake.get({})")).await;
    // What the first one read is from before the second one wrote.
    assert_eq!(outcomes(&third), ["reused", "reused", "reused", "reused", "ok"]);
    {
        let seen = host.seen();
        assert_eq!((seen.count("put"), seen.count("get")), (4, 2));
    }
    // A run that completed is a run like any other.
    let fourth = host.amend(third.run_id.unwrap(), &(put(&[1]) + "return 'short'")).await;
    assert_eq!(
        unmatched(&fourth),
        [r#"fake.put {"id":2}"#, r#"fake.put {"id":3}"#, r#"fake.put {"id":4}"#, "fake.get {}"]
    );
}

/// Taken over once and not made in the correction after that, a write is a write all the same, and never stale.
#[tokio::test]
async fn a_write_that_two_corrections_carry_along_is_not_made_again_after_a_newer_write() {
    let host = Host::new(vec![write("put")]);
    let put = |id: u32| format!("await tools.fake.put({{ id: {id} }}); ");
    let first = host.run(&(put(1) + "throw 1")).await;
    let second = host.amend(first.run_id.unwrap(), &(put(1) + "throw 2")).await;
    let third = host.amend(second.run_id.unwrap(), &(put(2) + "throw 3")).await;
    let fourth = host.amend(third.run_id.unwrap(), &(put(1) + &put(2) + "return 1")).await;
    assert_eq!(outcomes(&fourth), ["reused", "reused"]);
    assert_eq!(host.seen().count("put"), 2);
}

#[tokio::test]
async fn a_script_that_is_no_program_leaves_the_old_run_as_it_was() {
    let host = Host::new(vec![write("put")]);
    let failed = host.run("await tools.fake.put({}); throw 1").await;
    let report = host.amend(failed.run_id.unwrap(), "return (").await;
    assert_eq!((report.run_id, report.amends), (None, None));
    let report = host.amend(failed.run_id.unwrap(), "return await tools.fake.put({})").await;
    assert_eq!(outcomes(&report), ["reused"]);
}

#[tokio::test]
async fn a_denied_call_is_asked_again() {
    let denied = Fake::fails("put", CallError::new(ErrorCode::Denied, "not today"));
    let host = Host::new(vec![denied]);
    let failed = host.run("return await tools.fake.put({})").await;
    let report = host.amend(failed.run_id.unwrap(), "return await tools.fake.put({}).catch((e) => e.code)").await;
    assert_eq!((value(&report).unwrap(), host.seen().count("put")), (json!("denied"), 2));
}
