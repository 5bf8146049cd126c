//! Where things go wrong: every place is one in the text that was sent.

use crate::{
    errors::host,
    host::{texts, value},
};

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

/// Nobody catches `undefined` by name, so at least its place has to be told.
#[tokio::test]
async fn what_is_no_error_has_the_line_on_which_it_was_thrown() {
    let (_, error) = host().failure("const a = 1;\nif (a) {\n  throw 'text';\n}").await;
    assert_eq!(error.line, Some(3), "{error:?}");
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

/// A script may look at a stack, and give it to the model.
#[tokio::test]
async fn a_stack_in_the_result_has_the_lines_of_the_text_that_was_sent() {
    let report = host()
        .run("interface A {\n  b: 1\n}\nconst a = 1;\ntry { null.x } catch (e) { return { stack: e.stack } }")
        .await;
    let told = texts(&value(&report));
    assert!(told.contains("(script:5:"), "{told}");
}
