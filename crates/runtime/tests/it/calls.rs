//! Calls of tools: what a script sees of a failure, and what the ledger says of each call.

use std::time::Duration;

use refrain_runtime::{CallError, ErrorCode, Origin, RunRequest};
use serde_json::{Value, json};

use crate::{
    fake::{Answer, Fake, tool_error},
    host::{Host, notes, statuses, value},
};

/// A script's view of the error that `call` rejects with.
fn caught(call: &str) -> String {
    format!(
        "try {{ return {{ value: await {call} }} }} catch (e) {{
           return {{ name: e.name, message: e.message, code: e.code, tool: e.tool, call: e.call, retryable: e.retryable,
                     retryAfterMs: e.retryAfterMs, data: e.data, mine: e instanceof ToolError && e instanceof Error }} }}"
    )
}

fn row_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "id": { "type": "integer" }, "tags": { "type": "array", "items": { "type": "string" } } },
        "required": ["id"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn a_failure_reaches_the_script_with_every_field() {
    let limited = CallError {
        retry_after_ms: Some(1500),
        data: Some(json!({ "limit": 60, "__proto__": 1 })),
        ..CallError::new(ErrorCode::RateLimited, "slow down")
    };
    let host =
        Host::new(vec![Fake::fails("limited", limited), Fake::fails("broken", tool_error("row 9 not found\nat all"))]);
    let mut found = host.value(&caught("tools.fake.limited({})")).await;
    assert_eq!(
        found,
        json!({ "name": "ToolError", "message": "slow down", "code": "rate_limited", "tool": "fake.limited", "call": 1,
                "retryable": true, "retryAfterMs": 1500, "data": { "limit": 60, "__proto__": 1 }, "mine": true })
    );
    let logged = "try { await tools.fake.limited({}) } catch (e) { return JSON.parse(JSON.stringify({ e })) }";
    assert_eq!(
        host.value(logged).await,
        json!({ "e": { "name": "ToolError", "message": "slow down", "code": "rate_limited", "tool": "fake.limited", "call": 1,
                       "retryable": true, "retryAfterMs": 1500, "data": { "limit": 60, "__proto__": 1 } } })
    );
    found = host.value(&caught("tools.fake.broken({})")).await;
    assert_eq!(
        found,
        json!({ "name": "ToolError", "message": "row 9 not found\nat all", "code": "tool_error", "tool": "fake.broken", "call": 1,
                "retryable": false, "mine": true })
    );
}

#[tokio::test]
async fn a_whole_number_that_javascript_rounds_is_told() {
    let big = 1_234_567_890_123_456_789_i64;
    let host = Host::new(vec![Fake::value("row", json!({ "id": big, "small": 7 })), Fake::echo("next")]);
    let report = host.run("const row = await tools.fake.row({}); return await tools.fake.next({ id: row.id })").await;
    assert_eq!(value(&report).unwrap(), json!({ "id": 1_234_567_890_123_456_800_i64 }));
    let told: Vec<&str> = notes(&report, "tool").iter().map(|note| note.message.as_str()).collect();
    let rounded = "has numbers that the script sees rounded: 1234567890123456789 as 1234567890123456800; JavaScript has no such numbers; as text they stay as they are";
    assert_eq!(told, [format!("the result of `fake.row` {rounded}")]);
    let request = RunRequest {
        args: json!({ "id": big }).as_object().unwrap().clone(),
        ..RunRequest::new("return args.id", Origin::default())
    };
    let report = host.request(request).await;
    let told: Vec<&str> = notes(&report, "value_changed").iter().map(|note| note.message.as_str()).collect();
    assert_eq!(told, [format!("`args` {rounded}")]);
}

/// What was in flight has a while to end, and what came of it takes no blame away.
#[tokio::test]
async fn a_run_whose_time_is_up_names_the_call_that_it_waited_for() {
    let slow = Fake::of(Fake::echo("slow").tool, [(Answer::Echo, Duration::from_millis(400))]);
    let host = Host::with([("fake", vec![slow])], |settings| settings.limits.timeout_ms = 200);
    let (report, error) = host.failure("return await tools.fake.slow({})").await;
    assert!(error.message.ends_with("while it waited for call 1, `fake.slow`"), "{}", error.message);
    assert_eq!(statuses(&report), ["fake.slow ok"]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_they_leave() {
    let host = Host::new(vec![Fake::echo("row").taking(row_schema())]);
    for (args, expect) in [
        ("{ id: args.none ?? '7' }", "args.id"),
        ("{ idd: 7, ...args }", "args.idd"),
        ("{ ...args }", "id"),
        ("{ id: 1, tags: [args.none ?? 2] }", "args.tags[0]"),
        ("args.none ?? 'seven'", "object"),
        ("args.none ?? [7]", "object"),
        ("args.none ?? 7", "object"),
    ] {
        let found = host.value(&caught(&format!("tools.fake.row({args})"))).await;
        let message = found["message"].as_str().unwrap_or_default();
        assert!(
            found["code"] == "invalid_arguments" && message.contains(expect) && message.contains("`fake.row`"),
            "{args}: {found}"
        );
    }
    assert_eq!(host.seen().calls.len(), 0);
}

#[tokio::test]
async fn no_arguments_and_null_are_an_empty_object_and_what_follows_the_first_is_ignored() {
    let host = Host::new(vec![Fake::echo("get")]);
    let script =
        "const t = tools.fake.get; return [await t(), await t(undefined), await t(null), await t({ a: 1 }, { b: 2 })]";
    let report = host.run(script).await;
    assert_eq!(value(&report), Some(json!([{}, {}, {}, { "a": 1 }])));
    assert!(report.notes.iter().any(|note| note.message.contains("takes one object")), "{:?}", report.notes);
    assert_eq!(host.seen().args("get"), [json!({}), json!({}), json!({}), json!({ "a": 1 })]);
}

#[tokio::test]
async fn arguments_that_json_cannot_carry_are_refused_with_their_path_and_use_no_number() {
    let host = Host::new(vec![Fake::echo("row")]);
    for (args, path) in [
        ("{ id: 7n }", "arguments.id"),
        ("{ rows: [{ n: NaN }] }", "arguments.rows[0].n"),
        ("{ a: Infinity }", "arguments.a"),
        ("(() => { const a = { b: {} }; a.b.c = a; return a })()", "arguments.b.c"),
        ("{ when: tools.fake.row({}) }", "arguments.when"),
        ("{ f: () => 1 }", "arguments.f"),
    ] {
        let report = host.run(&caught(&format!("tools.fake.row({args})"))).await;
        let found = value(&report).unwrap();
        assert!(
            found["code"] == "invalid_arguments" && found["message"].as_str().unwrap().contains(path),
            "{args}: {found}"
        );
        let made = usize::from(args.contains("tools"));
        assert_eq!((report.calls.len(), found["call"].is_null()), (made, true), "{args}");
    }
}

#[tokio::test]
async fn what_json_writes_by_its_own_rules_is_sent_so() {
    let host = Host::new(vec![Fake::echo("row")]);
    for (args, sent) in [
        ("{ when: new Date(0) }", json!({ "when": "1970-01-01T00:00:00.000Z" })),
        ("{ a: undefined, b: null, c: [undefined] }", json!({ "b": null, "c": [null] })),
        ("{ toJSON() { return { a: 1 } } }", json!({ "a": 1 })),
        ("undefined", json!({})),
        ("null", json!({})),
        ("", json!({})),
    ] {
        let found = host.value(&format!("return await tools.fake.row({args})")).await;
        assert_eq!(found, sent, "{args}");
    }
}

#[tokio::test]
async fn every_call_stands_in_the_ledger_with_what_became_of_it() {
    let host = Host::with(
        [(
            "fake",
            vec![
                Fake::value("ok", json!("äö")),
                Fake::fails("fails", tool_error("no")),
                Fake::echo("row").taking(row_schema()),
                Fake::hang("hangs"),
                Fake::hang("reads").safe(),
            ],
        )],
        |settings| settings.drain = Duration::from_millis(1),
    );
    let report = host
        .run(
            "const row = { idd: 1 };
             await tools.fake.ok({ big: 'x'.repeat(5000) });
             await tools.fake.fails({}).catch(() => {});
             await tools.fake.row(row).catch(() => {});
             await tools.fake.none({}).catch(() => {});
             tools.fake.hangs({}).catch(() => {});
             tools.fake.reads({}).catch(() => {});
             await sleep(1);
             return 1",
        )
        .await;
    assert_eq!(
        statuses(&report),
        [
            "fake.ok ok",
            "fake.fails error",
            "fake.row refused",
            "fake.none refused",
            "fake.hangs unfinished",
            "fake.reads unfinished",
            "sleep ok"
        ],
        "{report:?}"
    );
    assert_eq!(report.calls.iter().map(|call| call.call).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((report.calls[0].bytes, report.usage.calls), (6, 7));
    let cut: String = report.calls[0].args.parse().unwrap();
    assert!(cut.starts_with("{\"big\":\"xxx") && cut.len() < 1200 && cut.contains("5010 bytes"), "{cut}");
    let unfinished: Vec<&str> = notes(&report, "unfinished").iter().map(|note| note.tool.as_deref().unwrap()).collect();
    assert_eq!(unfinished, ["fake.hangs", "fake.reads"]);
}

#[tokio::test]
async fn the_ledger_is_there_whatever_the_end() {
    for (end, kind) in [
        ("throw new Error('x')", "script"),
        ("for (;;);", "timeout"),
        ("await new Promise(() => {})", "stalled"),
        ("const all = []; for (;;) all.push('z'.repeat(100000) + all.length)", "out_of_memory"),
        ("await tools.fake.hangs({})", "timeout"),
    ] {
        let host = Host::with([("fake", vec![Fake::echo("row"), Fake::hang("hangs")])], |settings| {
            settings.limits.timeout_ms = if kind == "timeout" { 300 } else { 60_000 };
            settings.drain = Duration::from_millis(1);
        });
        let (report, error) = host
            .failure(&format!("console.log('began'); text('half');\nawait tools.fake.row({{ id: 1 }});\n{end}"))
            .await;
        assert_eq!(error.kind.as_str(), kind, "{error:?}");
        assert_eq!((report.text.as_str(), report.logs.len()), ("half", 1), "{end}");
        assert_eq!(
            (report.calls[0].tool.as_str(), report.calls[0].args.as_str()),
            ("fake.row", r#"{"id":1}"#),
            "{end}"
        );
        assert_eq!(statuses(&report)[0], "fake.row ok", "{end}");
        if end.contains("hangs") {
            assert!(error.message.contains("`fake.hangs`"), "{error:?}");
            assert_eq!(statuses(&report)[1], "fake.hangs unfinished");
        } else {
            assert_eq!(error.line.is_some(), kind != "stalled", "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_takes_too_long_fails_alone() {
    let host = Host::with([("fake", vec![Fake::hang("hangs"), Fake::echo("row")])], |settings| {
        settings.sources[0].call_total_timeout = Duration::from_millis(20);
    });
    let script = "const [late, row] = await Promise.allSettled([tools.fake.hangs({}), tools.fake.row({ a: 1 })]);
                  return [late.reason.code, late.reason.retryable, row.value]";
    assert_eq!(host.value(script).await, json!(["timeout", true, { "a": 1 }]));
}

#[tokio::test]
async fn results_reach_their_own_calls_in_whatever_order_they_come() {
    let delays = [30, 20, 10, 0].map(|ms| (Answer::Echo, Duration::from_millis(ms)));
    let host = Host::with([("fake", vec![Fake::of(refrain_runtime::Tool::new("", "row"), delays)])], |_| {});
    let script = "const seen = [];
                  const all = await Promise.all([1, 2, 3, 4].map(async (id) => { const row = await tools.fake.row({ id }); seen.push(row.id); return row.id }));
                  return [all, seen.sort()]";
    assert_eq!(host.value(script).await, json!([[1, 2, 3, 4], [1, 2, 3, 4]]));
}

#[tokio::test]
async fn arguments_that_readers_would_refuse_for_their_depth_are_refused_as_that() {
    let host = Host::new(vec![Fake::echo("row")]);
    let nested = |levels: usize| {
        let deep = format!("JSON.parse('{}{}')", "[".repeat(levels), "]".repeat(levels));
        format!(
            "try {{ await tools.fake.row({{ a: {deep} }}); return 'sent' }} catch (e) {{ return [e.code, e.message] }}"
        )
    };
    assert_eq!(host.value(&nested(126)).await, "sent");
    let told = "the arguments of `fake.row` are nested deeper than 127 levels, which cannot be sent; flatten them";
    assert_eq!(host.value(&nested(127)).await, json!(["invalid_arguments", told]));
}

#[tokio::test]
async fn a_result_that_is_nested_too_deep_is_told_by_the_name_of_its_tool() {
    for (levels, expect) in [
        (1000, json!("object")),
        (
            1001,
            json!(
                "result_too_large: `fake.deep` returned JSON of 1001 levels, and a script takes 1000; ask it for less"
            ),
        ),
    ] {
        let deep = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let host = Host::new(vec![Fake::value("deep", deep)]);
        let script = "return await tools.fake.deep({}).then((it) => typeof it, (e) => e.code + ': ' + e.message)";
        assert_eq!(host.value(script).await, expect);
    }
}
