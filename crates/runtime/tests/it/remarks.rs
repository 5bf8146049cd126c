//! What is told beside the result, so that nothing is silently lost.

use serde_json::{Value, json};

use crate::{
    errors::host,
    host::{notes, texts, value},
};

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
async fn the_same_fault_many_times_is_told_in_few_notes() {
    for (script, kind) in [
        ("for (let i = 0; i < 200; i++) Promise.reject(new Error(`e${i}`));\nreturn 1", "unhandled_rejection"),
        ("for (let i = 0; i < 200; i++) tools.jira.search({ i });\nreturn 1", "not_awaited"),
    ] {
        let report = host().run(script).await;
        let found = notes(&report, kind);
        let told = texts(&found);
        assert!(!found.is_empty() && found.len() <= 25, "{script}: {} notes", found.len());
        assert!(told.contains("200") || told.contains("199") || told.contains("more"), "{script}: {told}");
    }
}

/// What the engine remarks is no output of the script, and a flood of output does not wash it away.
#[tokio::test]
async fn remarks_survive_a_flood_of_output() {
    let flood = "for (let i = 0; i < 30; i++) console.log('x'.repeat(100_000));\n";
    for (script, kind) in [
        ("tools.jira.search({});\nreturn 1", "not_awaited"),
        ("Promise.reject(new Error('lost'));\nreturn 1", "unhandled_rejection"),
        ("return { n: NaN }", "value_changed"),
    ] {
        let report = host().run(&format!("{flood}{script}")).await;
        assert_eq!(
            (notes(&report, "output_cut").len(), notes(&report, kind).len()),
            (1, 1),
            "{script}: {:?}",
            report.notes
        );
    }
}
