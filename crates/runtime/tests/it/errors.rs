//! What the model is told when a script goes wrong: what happened, and what to do.

use serde_json::json;

use crate::{
    fake::{Fake, tool_error},
    host::{Host, value},
};

pub(crate) fn host() -> Host {
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
        ("return await tools.github.list_isues({})", &["`github.list_isues`", "`list_issues`"]),
        ("return await tools.github.listIssues({})", &["`list_issues`"]),
        ("return await tools.github.delete_repo({})", &["`github.delete_repo`", "`list_issues`", "`get_issue`"]),
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

#[tokio::test]
async fn an_error_that_cannot_be_described_is_said_to_be_one() {
    let (_, error) = host()
        .failure("const e = new Error('y');\nObject.defineProperty(e, 'message', { get() { throw 1 } });\nthrow e")
        .await;
    assert_eq!(error.kind.as_str(), "script");
    assert_eq!(error.message.matches("the script threw").count(), 1, "{}", error.message);
}

#[tokio::test]
async fn tools_in_a_text_are_no_failure() {
    let report = host().run("text(`${tools} ${tools.github} ${tools.github.count}`); text('' + tools); return 1").await;
    assert_eq!((value(&report), report.error), (Some(json!(1)), None));
}
