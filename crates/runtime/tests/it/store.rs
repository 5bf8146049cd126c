//! What scripts of a session leave to each other.

use std::time::Duration;

use refrain_runtime::{Decided, Decision, Json, Origin, Report, ReportStatus, RunRequest, Take};
use serde_json::json;

use crate::{
    fake::{Answer, Fake},
    globals::host,
    host::{Host, notes, value},
};

fn in_session(script: &str, session: Option<&str>) -> RunRequest {
    RunRequest { session: session.map(str::to_owned), ..RunRequest::new(script, Origin::default()) }
}

#[tokio::test]
async fn a_session_keeps_what_scripts_that_end_well_leave_in_its_store() {
    let host = host();
    let run = async |script: &str, session: Option<&str>| host.request(in_session(script, session)).await;
    let given = |report: &Report| value(report).unwrap_or_else(|| panic!("{:?}", report.error));
    let first = run(
        "store('a', { n: [1, null] }); store('b', 2); store('b', undefined); store('c', new Date(0)); return load('a')",
        Some("s"),
    )
    .await;
    assert_eq!(given(&first), json!({ "n": [1, null] }));
    for (script, why) in [
        ("store('a', 'lost'); throw new Error('no')", "an error"),
        ("store('a', 'lost'); return { toJSON() { throw new Error('no') } }", "a result that cannot be read"),
        ("store('a', 'lost'); for (;;);", "its deadline"),
    ] {
        let request = RunRequest { timeout_ms: Some(300), ..in_session(script, Some("s")) };
        assert_eq!(host.request(request).await.status, ReportStatus::Failed, "{why}");
    }
    let told = "return ['a', 'b', 'c'].map(load)";
    assert_eq!(given(&run(told, Some("s")).await), json!([{ "n": [1, null] }, null, "1970-01-01T00:00:00.000Z"]));
    assert_eq!(given(&run(told, Some("t")).await), json!([null, null, null]));
    // Without a session nothing is kept, which is said where something was to be.
    let alone = run("store('a', 1); return load('a')", None).await;
    assert_eq!((given(&alone), notes(&alone, "store_not_kept").len()), (json!(1), 1));
    assert!(notes(&run("return 1", None).await, "store_not_kept").is_empty());
    // `exit` ends a script well.
    run("store('d', 1); exit(); store('d', 2)", Some("s")).await;
    assert_eq!(given(&run("store('d', undefined); return load('d') === undefined", Some("s")).await), json!(true));
    assert_eq!(
        given(&run("return [load('d') === undefined, load('__proto__') === undefined]", Some("s")).await),
        json!([true, true])
    );
}

/// Whatever others leave there meanwhile: a script that goes on would else find another world than it decided on.
#[tokio::test]
async fn a_script_that_goes_on_finds_the_store_of_its_start() {
    let host = host();
    host.request(in_session("store('k', 1)", Some("s"))).await;
    let script = "const before = load('k'); await ask('Go on?'); store('mine', before); return [before, load('k')]";
    let parked = host.request(in_session(script, Some("s"))).await;
    assert_eq!(parked.status, ReportStatus::Parked);
    host.request(in_session("store('k', 2)", Some("s"))).await;
    let yes = Decided::Value(Json::from_value(&json!(true)));
    let decision = Decision { call: 1, what: yes, by: None };
    let report = host.runtime.answer(parked.run_id.unwrap(), Take::IfFree, decision).await.unwrap();
    assert_eq!(value(&report), Some(json!([1, 1])));
    // What it left itself is there, and what it did not touch is as others left it.
    let after = host.request(in_session("return [load('k'), load('mine')]", Some("s"))).await;
    assert_eq!(value(&after), Some(json!([2, 1])));
}

#[tokio::test]
async fn a_guarded_write_fails_the_script_that_was_overtaken() {
    let host = Host::with(
        [("fake", vec![Fake::of(Fake::echo("slow").tool, [(Answer::Echo, Duration::from_millis(100))])])],
        |_| {},
    );
    let add = "const n = load('n') ?? 0; await tools.fake.slow({}); return compareAndStore('n', load('n'), n + 1)";
    let (one, two) = tokio::join!(host.request(in_session(add, Some("s"))), host.request(in_session(add, Some("s"))));
    let (done, failed) = if one.status == ReportStatus::Completed { (one, two) } else { (two, one) };
    assert_eq!((value(&done), failed.status), (Some(json!(true)), ReportStatus::Failed));
    let error = failed.error.unwrap();
    assert!(
        error.message.contains("`n`")
            && error.message.contains("session `s`")
            && error.message.ends_with("run the script again"),
        "{}",
        error.message
    );
    let script = "store('x', 1); return [load('n'), compareAndStore('n', 7, 8), load('n'), compareAndStore('n', 1, { a: 1 }), compareAndStore('n', { a: 1 }, undefined), compareAndStore('x', 1, 2), load('x')]";
    assert_eq!(
        value(&host.request(in_session(script, Some("s"))).await),
        Some(json!([1, false, 1, true, true, true, 2]))
    );
    assert_eq!(
        value(&host.request(in_session("return [load('n') === undefined, load('x')]", Some("s"))).await),
        Some(json!([true, 2]))
    );
}

#[tokio::test]
async fn a_store_that_is_full_says_so_and_keeps_what_it_had() {
    let host = Host::with([("fake", vec![Fake::echo("echo")])], |settings| settings.limits.store_kb = 1);
    let script = "const tried = [];
        const put = (key, n) => { try { store(key, 'x'.repeat(n)); tried.push('ok') } catch (e) { tried.push(e.name + ': ' + e.message) } };
        put('large', 2000); for (const key of 'abcde') put(key, 1000); store('a', undefined); put('e', 1000); put('b', 10); return tried";
    let given = value(&host.request(in_session(script, Some("s"))).await).unwrap();
    let tried: Vec<&str> = given.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert!(
        tried[0].starts_with(
            "RangeError: `large` is too large for the store: 1 KiB, and one value may have 1 KiB (`store_kb`)"
        ),
        "{}",
        tried[0]
    );
    assert!(
        tried[5].starts_with(
            "RangeError: the store of the session is full: with `e` it would have 4 KiB, and may have 4 KiB"
        ),
        "{}",
        tried[5]
    );
    assert!([1, 2, 3, 4, 6, 7].iter().all(|at| tried[*at] == "ok"), "{tried:?}");
    let kept = "return [..'abcde'].map((key) => (load(key) ?? '').length)".replace("..'", "...'");
    assert_eq!(value(&host.request(in_session(&kept, Some("s"))).await), Some(json!([0, 10, 1000, 1000, 1000])));
}
