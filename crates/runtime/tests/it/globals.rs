//! What a script has beside its tools, used rightly and wrongly.

use refrain_runtime::{Origin, RunRequest};
use serde_json::{Value, json};

use crate::{
    fake::{Fake, tool_error},
    host::{Host, notes, statuses, value},
};

pub(crate) fn host() -> Host {
    Host::with(
        [
            (
                "github",
                vec![
                    Fake::echo("list_issues").described("Lists the issues of a repository.").safe(),
                    Fake::echo("get_issue").described("Gets one issue."),
                ],
            ),
            ("jira", vec![Fake::fails("move", tool_error("no such ticket"))]),
        ],
        |_| {},
    )
}

/// Runs `return <expression>` for each, and compares.
pub(crate) async fn values(cases: &[(&str, Value)]) {
    let host = host();
    let mut wrong = String::new();
    for (expression, expected) in cases {
        let report = host.run(&format!("return {expression}")).await;
        if value(&report).as_ref() != Some(expected) {
            wrong += &format!("\n{expression}\n    gave {:?}, not {expected}; {:?}", report.result, report.error);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Runs `return <expression>` for each, and looks for `name: words` in what it throws.
pub(crate) async fn refused(cases: &[(&str, &str, &[&str])]) {
    let host = host();
    let mut wrong = String::new();
    for (expression, name, words) in cases {
        let script = format!(
            "try {{ return {{ value: {expression} }} }} catch (e) {{ return {{ name: e.name, message: e.message }} }}"
        );
        let report = host.run(&script).await;
        let found = value(&report).unwrap_or(Value::Null);
        let message = found["message"].as_str().unwrap_or_default();
        if found["name"] != *name || words.iter().any(|word| !message.contains(word)) {
            wrong += &format!("\n{expression}\n    gave {found} {:?}, not {name} with {words:?}", report.error);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn tools_are_searched_and_described() {
    values(&[
        (
            "(await searchTools('issues repository')).map((hit) => hit.path)",
            json!(["github.list_issues", "github.get_issue"]),
        ),
        ("(await searchTools('issue', { limit: 1 })).length", json!(1)),
        ("(await searchTools('issue move', { namespace: 'jira' })).map((hit) => hit.path)", json!(["jira.move"])),
        ("Object.keys((await searchTools('issue'))[0])", json!(["path", "call", "signature", "description"])),
        ("await searchTools('nothing like it xyzzy')", json!([])),
        (
            "(await describeTools(['github.list_issues', 'jira.move'])).map((tool) => tool.path)",
            json!(["github.list_issues", "jira.move"]),
        ),
        ("(await describeTools('github.list_issues'))[0].effect", json!("read")),
        ("(await describeTools('tools.github.list_issues'))[0].path", json!("github.list_issues")),
        ("(await describeTools('list_issues'))[0].path", json!("github.list_issues")),
        ("(await describeTools('github.*')).length", json!(2)),
        ("await describeTools([])", json!([])),
    ])
    .await;
    refused(&[
        ("await searchTools()", "ToolError", &["searchTools(\"words\"", "query"]),
        ("await searchTools({ words: 'issue' })", "ToolError", &["searchTools(\"words\""]),
        ("await searchTools('issue', { limit: 'many' })", "ToolError", &["searchTools(\"words\""]),
        ("await describeTools()", "ToolError", &["describeTools(["]),
        ("await describeTools([7])", "ToolError", &["describeTools(["]),
        ("await describeTools(['github.list_isues'])", "ToolError", &["`list_issues`"]),
        ("await describeTools(['gihub.list_issues'])", "ToolError", &["`github`"]),
        ("await describeTools('gihub.*')", "ToolError", &["no tool fits `gihub.*`"]),
        ("await searchTools('issue', { cursor: 'next' })", "ToolError", &["`cursor` is the number of hits"]),
    ])
    .await;
}

#[tokio::test]
async fn search_has_pages_and_describe_keeps_the_good_names() {
    values(&[
        (
            "(await Promise.all(['0', '1'].map((cursor) => searchTools('issue', { limit: 1, cursor })))).map(([hit]) => hit.path)
             .join() === (await searchTools('issue', { limit: 2 })).map((hit) => hit.path).join()",
            json!(true),
        ),
        (
            "(await describeTools(['github.list_isues', 'jira.move'])).map((one) => one.path ?? [one.name, one.error])",
            json!([["github.list_isues", "unknown tool `github.list_isues`; did you mean `list_issues`?"], "jira.move"]),
        ),
        ("(await describeTools(['*.move', 'jira.*', 'jira.move'])).map((one) => one.path)", json!(["jira.move", "jira.move"])),
        ("Object.keys((await describeTools('jira.move'))[0])", json!([
            "path", "call", "signature", "input", "output", "description", "effect", "replay", "approval", "example", "notes",
        ])),
        ("(await describeTools('jira.move'))[0].example", json!("await tools.jira.move({})")),
        ("(await describeTools('jira.move'))[0].approval", json!("none")),
    ])
    .await;
}

#[tokio::test]
async fn what_is_not_done_as_asked_is_told_once() {
    let told = async |script: &str| {
        let report = host().run(script).await;
        let notes: Vec<String> = report.notes.iter().map(|note| format!("{} {:?}", note.kind, note.line)).collect();
        (value(&report).unwrap_or_default(), notes)
    };
    let day = "new Date('2026-12-01T03:00Z')";
    let (given, notes) = told(&format!(
        "const days = [];\nfor (const zone of ['America/New_York', 'UTC']) days.push({day}.toLocaleDateString('en-CA', {{ timeZone: zone }}));\nreturn days"
    ))
    .await;
    assert_eq!((given, notes), (json!(["12/01/2026", "12/01/2026"]), vec!["locale_ignored Some(2)".to_owned()]));
    let (_, notes) =
        told("return [(1.5).toLocaleString('de'), 'a10'.localeCompare('a9', undefined, { numeric: true })]").await;
    assert_eq!(notes, ["locale_ignored Some(1)", "locale_ignored Some(1)"]);
    let plain = format!(
        "return [{day}.toLocaleString(), (1.5).toLocaleString(), 'b'.localeCompare('a'), ['b', 'a'].sort((a, b) => a.localeCompare(b))]"
    );
    let (given, notes) = told(&plain).await;
    assert_eq!((given, notes), (json!(["12/01/2026, 03:00:00 AM", "1.5", 1, ["a", "b"]]), Vec::<String>::new()));

    let (given, notes) = told("return [JSON.parse({ a: 1 }), await Promise.resolve([1, 2]).then(JSON.parse)]").await;
    assert_eq!((given, notes), (json!([{ "a": 1 }, [1, 2]]), vec!["already_parsed Some(1)".to_owned()]));
    let (given, notes) = told("let e; try { JSON.parse(new Date(0)) } catch (x) { e = x.name }\nreturn [e, JSON.parse('[1]', (k, v) => k === '0' ? 2 : v), JSON.parse(5), JSON.parse.length, JSON.parse.name]").await;
    assert_eq!((given, notes), (json!(["SyntaxError", [2], 5, 2, "parse"]), Vec::<String>::new()));
    let (given, _) = told("return (await searchTools({ query: 'issue', limit: 1 })).length").await;
    assert_eq!(given, json!(1));
}

/// Case discovery-03: the value is an empty list, and the run says which words were of no use.
#[tokio::test]
async fn a_search_that_finds_nothing_says_so_in_the_notes() {
    let report = host().run("return (await searchTools('glacier seismology')).length").await;
    assert_eq!(value(&report), Some(json!(0)));
    let told: Vec<&str> = report.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(told.iter().any(|note| note.contains("nothing matches `glacier`, `seismology`")), "{told:?}");
    let report = host().run("return (await searchTools('issue', { namespace: 'jra' })).length").await;
    let told: Vec<&str> = report.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(told.iter().any(|note| note.contains("did you mean `jira`?")), "{told:?}");
}

#[tokio::test]
async fn timers_fire_in_the_order_of_their_time_and_can_be_cleared() {
    values(&[
        ("await new Promise((done) => { const seen = []; setTimeout(() => { seen.push('c'); done(seen) }, 60); setTimeout((x) => seen.push(x), 5, 'a'); setTimeout(() => seen.push('b'), 30) })", json!(["a", "b", "c"])),
        ("await (async () => { let fired = 0; const id = setTimeout(() => fired++, 1); clearTimeout(id); await sleep(20); return fired })()", json!(0)),
        ("await new Promise((done) => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); sleep(20).then(() => done(n)) } }, 1) })", json!(3)),
        ("typeof setTimeout(() => {}, 1)", json!("number")),
        ("await new Promise((done) => setTimeout(done, undefined, 'default'))", json!("default")),
        ("[clearTimeout(), clearTimeout(99), clearInterval(null)]", json!([null, null, null])),
        ("await sleep('1')", Value::Null),
        ("await (async () => { const began = Date.now(); await sleep(40); return Date.now() - began >= 40 })()", json!(true)),
        ("await (async () => { const seen = []; queueMicrotask(() => seen.push('micro')); await null; return seen })()", json!(["micro"])),
    ])
    .await;
    refused(&[
        ("await sleep()", "RangeError", &["sleep takes a number of milliseconds"]),
        ("await sleep(-1)", "RangeError", &["-1"]),
        ("await sleep(NaN)", "RangeError", &["NaN"]),
        ("await sleep({})", "RangeError", &["sleep"]),
        ("setTimeout('code', 1)", "TypeError", &["setTimeout takes a function"]),
        ("setInterval()", "TypeError", &["setInterval takes a function"]),
    ])
    .await;
}

/// As everywhere else: a time that is none, or is over, is now.
#[tokio::test]
async fn a_timer_without_a_sensible_time_fires_at_once() {
    values(&[
        ("await new Promise((done) => setTimeout(done, -5, 'past'))", json!("past")),
        ("await new Promise((done) => setTimeout(done, NaN, 'none'))", json!("none")),
        ("await new Promise((done) => setTimeout(done, 'soon', 'none'))", json!("none")),
    ])
    .await;
}

#[tokio::test]
async fn a_timer_that_is_left_behind_ends_with_the_script_and_without_a_word() {
    let report = host().run("setTimeout(() => text('late'), 600_000); setInterval(() => {}, 600_000); return 1").await;
    assert_eq!(
        (value(&report), report.text.as_str(), report.notes.len()),
        (Some(json!(1)), "", 0),
        "{:?}",
        report.notes
    );
}

#[tokio::test]
async fn parallel_settles_in_order_under_its_bound() {
    let slow = || {
        Fake::of(
            refrain_runtime::Tool::new("", "slow"),
            [(crate::fake::Answer::Echo, std::time::Duration::from_millis(5))],
        )
    };
    let bounded = Host::new(vec![slow(), Fake::fails("fails", tool_error("no"))]);
    let script = "const rows = await parallel([3, 1, 2], (id, index) => id === 1 ? tools.fake.fails({}) : tools.fake.slow({ id, index }), { concurrency: 2 });
                  return rows.map((row) => row.status === 'fulfilled' ? row.value : row.reason.code)";
    assert_eq!(bounded.value(script).await, json!([{ "id": 3, "index": 0 }, "tool_error", { "id": 2, "index": 2 }]));
    let many = "return (await parallel(Array.from({ length: 30 }, (_, id) => id), (id) => tools.fake.slow({ id }), { concurrency: 3 })).length";
    assert_eq!(bounded.value(many).await, 30);
    assert_eq!(bounded.seen().most_in_flight, 3);
    values(&[
        ("await parallel([], () => 1)", json!([])),
        (
            "await parallel(new Set([1, 2]), (n) => n * 2)",
            json!([{ "status": "fulfilled", "value": 2 }, { "status": "fulfilled", "value": 4 }]),
        ),
        ("(await parallel([1], () => { throw new Error('sync') }))[0].reason.message", json!("sync")),
        ("(await parallel([1, 2], async (n) => n, { concurrency: 0 })).length", json!(2)),
        ("(await parallel([1, 2], async (n) => n, { concurrency: 'all' })).length", json!(2)),
    ])
    .await;
    refused(&[
        ("await parallel([1])", "TypeError", &["parallel takes the items, a function"]),
        ("await parallel([1], 5)", "TypeError", &["parallel takes the items, a function"]),
        ("await parallel(5, (n) => n)", "TypeError", &["parallel"]),
        ("await parallel()", "TypeError", &["parallel"]),
        ("await parallel({ items: [1] }, (n) => n)", "TypeError", &["parallel"]),
    ])
    .await;
}

#[tokio::test]
async fn exit_ends_the_script_well_wherever_it_is_called() {
    for script in [
        "text('a'); exit(); text('b')",
        "text('a'); try { exit() } catch { text('b') } finally { text('b') }",
        "text('a'); const f = () => [1].map(() => exit()); f(); return 1",
        "text('a'); await sleep(1); exit(); return 1",
        "text('a'); await Promise.all([sleep(1).then(() => exit()), sleep(60_000)]); text('b')",
        "text('a'); await new Promise(() => { setTimeout(() => exit(), 1) })",
        "text('a'); exit(1)",
    ] {
        let report = host().run(script).await;
        assert_eq!((&report.error, &report.result, report.text.as_str()), (&None, &None, "a"), "{script}");
        assert!(notes(&report, "nothing_returned").is_empty(), "{script}: {:?}", report.notes);
    }
}

#[tokio::test]
async fn the_store_keeps_copies() {
    values(&[
        ("load('nothing') === undefined", json!(true)),
        ("(() => { const a = { n: [1] }; store('a', a); a.n.push(2); return [load('a'), load('a') === load('a')] })()", json!([{ "n": [1] }, false])),
        ("(() => { store('a', 1); store('a', undefined); return load('a') === undefined })()", json!(true)),
        ("(() => { store('a', null); return load('a') })()", Value::Null),
        ("(() => { store('a', new Date(0)); return load('a') })()", json!("1970-01-01T00:00:00.000Z")),
        ("(() => { store('', 1); store('__proto__', 2); return [load(''), load('__proto__'), ({}).x === undefined] })()", json!([1, 2, true])),
    ])
    .await;
    refused(&[
        ("store(7, 1)", "TypeError", &["string"]),
        ("store()", "TypeError", &["string"]),
        ("load()", "TypeError", &["string"]),
        ("(() => { const a = {}; a.b = a; store('a', a) })()", "TypeError", &["store(a).b"]),
    ])
    .await;
}

#[tokio::test]
async fn a_question_that_is_none_is_refused() {
    let report = host().run("try { return await ask(7) } catch (e) { return [e.name, e.code] }").await;
    assert_eq!(value(&report), Some(json!(["ToolError", "invalid_arguments"])));
    assert_eq!(statuses(&report), ["ask refused"]);
    // A schema in the wrong place would be a question that takes any answer.
    for options in ["{ type: 'boolean' }", "{ schema: 'boolean' }"] {
        let report = host()
            .run(&format!("try {{ return await ask('Sure?', {options}) }} catch (e) {{ return e.message }}"))
            .await;
        let told = value(&report).unwrap();
        let form = r#"`ask` is called as ask("question", { schema: { type: "boolean" } }): "#;
        assert!(told.as_str().unwrap().starts_with(form), "{told}");
    }
}

#[tokio::test]
async fn args_are_what_the_run_was_started_with() {
    let mut request = RunRequest::new("args.list.push(4); return [args, typeof args.none]", Origin::default());
    request.args = json!({ "n": 3, "list": [1], "__proto__": 5 }).as_object().unwrap().clone();
    let report = host().request(request).await;
    assert_eq!(
        value(&report),
        Some(json!([{ "n": 3, "list": [1, 4], "__proto__": 5 }, "undefined"])),
        "{:?}",
        report.error
    );
    assert_eq!(host().value("return args").await, json!({}));
}

#[tokio::test]
async fn the_options_line_lowers_the_time_and_never_raises_it() {
    let host = Host::with([], |settings| settings.limits.timeout_ms = 2000);
    for (option, told) in [(150, "150"), (600_000, "2000")] {
        let (_, error) = host
            .failure(&format!(
                "// @options: {{\"timeout_ms\": {option}}}\nawait new Promise((r) => setTimeout(r, 20000));"
            ))
            .await;
        assert_eq!((error.kind.as_str(), error.setting.as_deref()), ("timeout", Some("timeout_ms")));
        assert!(error.message.contains(&format!("its {told} ms")), "{}", error.message);
    }
    let (report, error) = host.failure("// @options: {\"timout_ms\": 1}\nreturn 1").await;
    assert_eq!((report.run_id, error.kind.as_str(), error.line), (None, "syntax", Some(1)));
}
