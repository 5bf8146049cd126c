//! What the model is told when a script goes wrong: what happened, where, and what to do.

use serde_json::{Value, json};

use crate::{
    fake::{Fake, tool_error},
    host::{Host, notes, texts, value},
};

fn host() -> Host {
    let rows = json!({ "items": [{ "id": 1 }, { "id": 2 }], "total": 2 });
    Host::with(
        [
            (
                "github",
                vec![Fake::value("list_issues", rows.clone()), Fake::echo("get_issue"), Fake::value("count", json!(3))],
            ),
            ("jira", vec![Fake::fails("move", tool_error("no such ticket")), Fake::echo("search")]),
        ],
        |_| {},
    )
}

/// Runs scripts that fail, and collects those whose error lacks one of the words.
async fn told(cases: &[(&str, &[&str])]) {
    let host = host();
    let mut wrong = String::new();
    for (script, words) in cases {
        let report = host.run(script).await;
        let error = report.error.as_ref().map(|error| error.message.clone()).unwrap_or_default();
        if words.iter().any(|word| !error.contains(word)) || error.is_empty() {
            wrong += &format!("\n{script}\n    {error:?} lacks one of {words:?}; result {:?}", report.result);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn a_misspelt_name_is_answered_with_the_nearest() {
    told(&[
        ("return await tools.gihub.list_isues({})", &["`gihub`", "`github`"]),
        ("return await tools.github.list_isues({})", &["`list_isues`", "`list_issues`"]),
        ("return await tools.github.listIssues({})", &["`list_issues`"]),
        ("return await tools.github.delete_repo({})", &["`delete_repo`", "`list_issues`", "`get_issue`"]),
        ("return await tools.slack.send({})", &["`slack`", "`github`", "`jira`"]),
        ("const name = 'list_isues'; return await tools.github[name]({})", &["`list_issues`"]),
        ("const { list_isues } = tools.github; return await list_isues({})", &["`list_issues`"]),
    ])
    .await;
}

#[tokio::test]
async fn a_misspelt_name_is_a_rejection_that_can_be_caught() {
    let found = host()
        .value("try { await tools.gihub.list_isues({}); return 'no' } catch (e) { return [e.name, e.code, e.tool, e.retryable, e.message] }")
        .await;
    assert_eq!(
        found.as_array().unwrap()[..4],
        [json!("ToolError"), json!("unknown_tool"), json!("gihub.list_isues"), json!(false)]
    );
    assert!(found[4].as_str().unwrap().contains("`github`"), "{found}");
}

/// A tool without its source, and a source as if it were a tool.
#[tokio::test]
async fn a_path_that_is_too_short_is_answered_with_the_whole() {
    told(&[
        ("return await tools.list_issues({})", &["tools.github.list_issues"]),
        ("return await tools.github({ state: 'open' })", &["github", "list_issues"]),
        ("return await tools({})", &["tools.<source>.<tool>"]),
        ("return await github.list_issues({})", &["github", "tools.github"]),
        ("return await list_issues({})", &["list_issues", "tools.github.list_issues"]),
    ])
    .await;
}

/// The commonest mistake of all: an envelope taken for the list in it.
#[tokio::test]
async fn an_array_method_on_an_envelope_names_the_array_in_it() {
    told(&[
        (
            "const rows = await tools.github.list_issues({});\nreturn rows.map((row) => row.id);",
            &["rows.map", "`items`"],
        ),
        (
            "const rows = await tools.github.list_issues({});\nreturn rows.filter((row) => row.id).length;",
            &["rows.filter", "`items`"],
        ),
        (
            "const rows = await tools.github.list_issues({});\nfor (const row of rows) text(row.id);",
            &["not iterable", "`items`"],
        ),
        ("const rows = await tools.github.list_issues({});\nreturn [...rows];", &["not iterable", "`items`"]),
    ])
    .await;
}

#[tokio::test]
async fn a_missing_method_is_named_with_the_expression_it_was_called_on() {
    told(&[
        ("const n = await tools.github.count({});\nreturn n.map((row) => row.id);", &["n.map", "not a function"]),
        ("const a = { b: {} };\nreturn a.b.c();", &["a.b.c", "not a function"]),
        ("const a = {};\nreturn a.b.c;", &["'c'", "undefined"]),
        ("return nope.length", &["nope", "not defined"]),
    ])
    .await;
}

#[tokio::test]
async fn a_global_that_does_not_exist_here_is_answered_with_what_does() {
    told(&[
        ("const r = await fetch('https://a.example');\nreturn r.status", &["fetch", "tools"]),
        ("const fs = require('fs');\nreturn fs.readFileSync('x')", &["require", "tools"]),
        ("return process.env.HOME", &["process", "args"]),
        ("return Buffer.from('a').toString('base64')", &["Buffer", "btoa"]),
        ("setImmediate(() => {});\nreturn 1", &["setImmediate", "setTimeout"]),
        ("return document.title", &["document"]),
        ("return new WebAssembly.Module(new Uint8Array(8))", &["WebAssembly"]),
        ("return new WeakRef({}).deref()", &["WeakRef"]),
        ("return eval('1 + 1')", &["eval"]),
        ("return new Function('return 1')()", &["not supported"]),
        ("consol.log(1);\nreturn 1", &["consol", "`console`"]),
        ("return await serchTools('x')", &["serchTools", "`searchTools`"]),
    ])
    .await;
}

#[tokio::test]
async fn a_thrown_value_is_told_whatever_it_is() {
    for (script, kind, message) in [
        ("throw 'text'", "script", "the script threw text, which is no Error"),
        ("throw undefined", "script", "the script threw undefined, which is no Error"),
        ("throw null", "script", "the script threw null, which is no Error"),
        ("throw { code: 7 }", "script", "the script threw {\"code\":7}, which is no Error"),
        ("throw new Error('plain')", "script", "plain"),
        ("throw new RangeError('far')", "script", "RangeError: far"),
        ("class Mine extends Error { name = 'Mine' }\nthrow new Mine('own')", "script", "Mine: own"),
        ("await Promise.reject(new TypeError('late'))", "script", "TypeError: late"),
        ("await Promise.reject()", "script", "the script threw undefined, which is no Error"),
        ("await tools.jira.move({})", "tool", "no such ticket"),
        ("(function f() { f() })()", "stack_overflow", "RangeError: Maximum call stack size exceeded"),
    ] {
        let (_, error) = host().failure(script).await;
        assert_eq!((error.kind.as_str(), error.message.as_str()), (kind, message), "{script}");
    }
}

/// Nobody catches `undefined` by name, so at least its place has to be told.
#[tokio::test]
async fn what_is_no_error_has_the_line_on_which_it_was_thrown() {
    let (_, error) = host().failure("const a = 1;\nif (a) {\n  throw 'text';\n}").await;
    assert_eq!(error.line, Some(3), "{error:?}");
}

#[tokio::test]
async fn several_failures_in_one_are_all_told() {
    told(&[
        (
            "await Promise.any([tools.jira.move({}), Promise.reject(new Error('second'))])",
            &["no such ticket", "second"],
        ),
        (
            "try { await tools.jira.move({}) } catch (cause) { throw new Error('outer', { cause }) }",
            &["outer", "no such ticket"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn an_error_after_an_await_has_the_lines_of_the_functions_it_came_through() {
    let script = "interface Row { id: number }\n\nasync function inner(row: Row) {\n  await tools.github.get_issue(row);\n  throw new Error(`bad row ${row.id}`);\n}\nconst outer = async () => {\n  await inner({ id: 4 });\n};\nawait outer();";
    let (report, error) = host().failure(script).await;
    assert_eq!((error.message.as_str(), error.line), ("bad row 4", Some(5)), "{error:?}");
    let stack = error.stack.unwrap();
    assert!(stack.starts_with("at inner (5:"), "{stack}");
    let frame = error.frame.unwrap();
    assert!(frame.contains("> 5 | ") && frame.contains("throw new Error") && frame.contains('^'), "{frame}");
    assert_eq!(report.calls.len(), 1);
}

#[tokio::test]
async fn an_uncaught_failure_of_a_call_names_tool_call_code_and_line() {
    let (_, error) = host()
        .failure("await tools.github.count({});\nconst moved = await Promise.all([1, 2].map((id) =>\n  tools.jira.move({ id })));\nreturn moved;")
        .await;
    assert_eq!(
        (error.kind.as_str(), error.tool.as_deref(), error.call, error.code.as_deref(), error.line),
        ("tool", Some("jira.move"), Some(2), Some("tool_error"), Some(3)),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_rejection_that_nobody_sees_is_a_note_with_its_line() {
    for (script, line, word) in [
        ("Promise.reject(new Error('lost'));\nreturn 1", 1, "lost"),
        ("const f = async () => {\n  throw new Error('lost');\n};\nf();\nreturn 1", 2, "lost"),
        ("await sleep(1);\nPromise.reject(new Error('lost'));\nawait sleep(1);\nreturn 1", 2, "lost"),
        ("setTimeout(() => {\n  throw new Error('lost');\n}, 1);\nawait sleep(5);\nreturn 1", 2, "lost"),
        ("[1].forEach(async () => {\n  await sleep(1);\n  null.x;\n});\nawait sleep(5);\nreturn 1", 3, "null"),
    ] {
        let report = host().run(script).await;
        assert_eq!(value(&report), Some(json!(1)), "{script}: {:?}", report.error);
        let found = notes(&report, "unhandled_rejection");
        assert!(
            found.len() == 1 && found[0].message.contains(word) && found[0].line == Some(line),
            "{script}: {:?}",
            report.notes
        );
    }
}

#[tokio::test]
async fn a_rejection_that_is_seen_later_is_no_note() {
    for script in [
        "const p = Promise.reject(new Error('x')); await sleep(1); try { await p } catch {} return 1",
        "await Promise.allSettled([Promise.reject(new Error('x'))]); return 1",
        "const p = tools.jira.move({}); await sleep(1); await p.catch(() => {}); return 1",
        "await Promise.race([tools.github.count({}), tools.jira.search({})]); await sleep(1); return 1",
    ] {
        let report = host().run(script).await;
        let kinds: Vec<&str> =
            report.notes.iter().map(|note| note.kind.as_str()).filter(|kind| *kind != "policy").collect();
        assert_eq!((value(&report), kinds), (Some(json!(1)), vec![]), "{script}: {:?}", report.notes);
    }
}

#[tokio::test]
async fn a_call_that_is_not_awaited_is_a_note_with_its_line() {
    for (script, tool) in [
        ("const a = 1;\ntools.jira.search({ a });\nreturn a", "jira.search"),
        ("const a = 1;\ntools.jira.move({ a });\nreturn a", "jira.move"),
        ("const a = 1;\nconst q = tools.github.count({});\nreturn q.amount ?? a", "github.count"),
        ("const a = 1;\nif (tools.github.count({}) > 2) text('many');\nreturn a", "github.count"),
        ("const a = 1;\ntext(`there are ${tools.github.count({})}`);\nreturn a", "github.count"),
        ("const a = 1;\n[1].forEach(async (id) => { tools.jira.search({ id }) });\nreturn a", "jira.search"),
    ] {
        let report = host().run(script).await;
        let found = notes(&report, "not_awaited");
        assert!(
            !found.is_empty()
                && found
                    .iter()
                    .all(|note| note.line == Some(2) && texts(note).contains(tool) && note.message.contains("await")),
            "{script}: {:?}",
            report.notes
        );
        // Said once, whoever found it.
        assert_eq!(found.len(), 1, "{script}: {:?}", report.notes);
    }
}

#[tokio::test]
async fn a_promise_in_the_result_is_told_with_its_path() {
    for (script, path) in
        [("return { n: tools.github.count({}) }", "result.n"), ("return [1, 2].map(async (id) => id)", "result[0]")]
    {
        let report = host().run(script).await;
        let said = texts(&json!([report.notes, report.error]));
        assert!(said.contains(path) && said.contains("await"), "{script}: {said} {:?}", report.result);
    }
}

#[tokio::test]
async fn a_script_that_waits_for_nothing_is_stalled() {
    for script in [
        "await new Promise(() => {});",
        "const a = await tools.github.count({});\nawait new Promise((resolve) => { if (a > 5) resolve() });",
        "await Promise.race([]);",
        "let wake;\nawait Promise.all([tools.github.count({}), new Promise((r) => { wake = r })]);",
    ] {
        let (_, error) = host().failure(script).await;
        assert_eq!(
            (error.kind.as_str(), error.message.as_str()),
            ("stalled", "the script waits for something and no call, timer or question is pending"),
            "{script}"
        );
    }
}

#[tokio::test]
async fn a_script_that_returns_nothing_says_so() {
    for script in ["await tools.github.count({});\nconst a = 1;", "return;", "async () => {}", "return undefined"] {
        let report = host().run(script).await;
        assert_eq!((&report.error, &report.result), (&None, &None), "{script}");
        let found = notes(&report, "nothing_returned");
        assert!(found.len() == 1 && found[0].message.contains("return"), "{script}: {:?}", report.notes);
    }
    let null = host().run("return null").await;
    assert_eq!((value(&null), notes(&null, "nothing_returned").len()), (Some(Value::Null), 0));
}

/// A call is written over several lines more often than not, and its place is where it is made and not its last argument.
#[tokio::test]
async fn the_line_of_an_error_is_that_of_the_expression_that_failed() {
    let host = host();
    let mut wrong = String::new();
    for (script, line) in [
        ("const row = { id: { n: 1 } };\nthrow new Error(\n  `bad ${row.id.n}`,\n);", 2),
        ("const row = { id: { n: 1 } };\nawait tools.jira.move({\n  id: row.id.n,\n});", 2),
        ("const row = { id: { n: 1 } };\nrow.nope(\n  row.id,\n  row.id.n,\n);", 2),
        ("const row = { id: { n: 1 } };\nnew Set(\n  row.id.n,\n);", 2),
        ("const row = [1];\nrow.map((x) => x)\n  .filter((x) => x)\n  .nope((x) => x);", 4),
        ("const row = { n: 1 };\nrow.n.toFixed(1);\nconst [first] = row;", 3),
        ("const a = 1;\nconst [first] = {};", 2),
        ("const a = 1;\nconst { first } = null;", 2),
        ("const a = 1;\nconst { b: { c } } = {};", 2),
        ("const a = 1;\nlet first;\n[first] = [null][0];", 3),
        ("const a = 1;\nreturn [...null];", 2),
        ("const a = 1;\nMath.max(\n  a,\n  ...null,\n);", 4),
        ("const f = ({ b }) => b;\nconst a = 1;\nf();", 1),
        ("const rows = [1];\nfor (const { b } of [null]) text(b);", 2),
        ("const a = 1;\nJSON.parse('{bad');", 2),
        ("const a = 1;\nconst o = {};\no.x.y = 1;", 3),
    ] {
        let report = host.run(script).await;
        let found = report.error.as_ref().and_then(|error| error.line);
        if found != Some(line) {
            wrong +=
                &format!("\n{script}\n    line {found:?}, not {line}: {:?}", report.error.map(|error| error.message));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A script may look at a stack, and give it to the model.
#[tokio::test]
async fn a_stack_in_the_result_has_the_lines_of_the_text_that_was_sent() {
    let report = host()
        .run("interface A {\n  b: 1\n}\nconst a = 1;\ntry { null.x } catch (e) { return { stack: e.stack } }")
        .await;
    let told = texts(&value(&report));
    assert!(told.contains("(script:5:"), "{told}");
}

#[tokio::test]
async fn what_cannot_be_returned_is_told_with_its_path() {
    told(&[
        ("const o = { rows: [{}] };\no.rows[0].up = o;\nreturn o", &["`result.rows[0].up`", "circular"]),
        ("return { a: [{ get b() { throw new Error('from the getter') } }] }", &["result.a[0].b", "from the getter"]),
        ("return { a: { toJSON() { throw new TypeError('from toJSON') } } }", &["result.a", "from toJSON"]),
        ("return { a: new Proxy({ b: 1 }, { get() { throw 1 } }) }", &["result.a"]),
        ("let a = [];\nfor (let i = 0; i < 10_000; i++) a = [a];\nreturn a", &["`result`", "500 levels"]),
    ])
    .await;
}

/// They would be empty objects, and nobody would know.
#[tokio::test]
async fn an_iterator_in_the_result_is_told() {
    for script in [
        "return [1, 2].values()",
        "return new Map([[1, 2]]).keys()",
        "return { all: new Set([1]).entries() }",
        "return (function* () { yield 1 })()",
        "return (async function* () { yield 1 })()",
        "return 'ab'.matchAll(/a/g)",
        "return [1, 2].values().map((n) => n)",
    ] {
        let report = host().run(script).await;
        let told = notes(&report, "value_changed");
        let listed = value(&report).is_some_and(|value| value.is_array());
        assert!(
            listed || (told.len() == 1 && told[0].message.contains("result")),
            "{script}: {:?} {:?}",
            report.result,
            report.notes
        );
    }
}

#[tokio::test]
async fn an_error_that_cannot_be_described_is_said_to_be_one() {
    let (_, error) = host()
        .failure("const e = new Error('y');\nObject.defineProperty(e, 'message', { get() { throw 1 } });\nthrow e")
        .await;
    assert_eq!(error.kind.as_str(), "script");
    assert_eq!(error.message.matches("the script threw").count(), 1, "{}", error.message);
}

#[tokio::test]
async fn the_same_fault_many_times_is_told_in_few_notes() {
    for (script, kind) in [
        ("for (let i = 0; i < 200; i++) Promise.reject(new Error(`e${i}`));\nreturn 1", "unhandled_rejection"),
        ("for (let i = 0; i < 200; i++) tools.jira.search({ i });\nreturn 1", "not_awaited"),
    ] {
        let report = host().run(script).await;
        let found = notes(&report, kind);
        let told = texts(&found);
        assert!(!found.is_empty() && found.len() <= 20, "{script}: {} notes", found.len());
        assert!(told.contains("200") || told.contains("199") || told.contains("more"), "{script}: {told}");
    }
}

#[tokio::test]
async fn tools_in_a_text_are_no_failure() {
    let report = host().run("text(`${tools} ${tools.github} ${tools.github.count}`); text('' + tools); return 1").await;
    assert_eq!((value(&report), report.error), (Some(json!(1)), None));
}
