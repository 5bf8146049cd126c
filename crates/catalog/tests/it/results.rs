//! What tools gave, against what they declare, and what is kept of it where they declare nothing.

use std::sync::Arc;

use refrain_catalog::{
    CallError, ErrorCode, Functions, Observed, OnMismatch, SharedFunctions, SourceKind, SourceSettings, Sources, Tool,
};
use serde_json::{Value, json};

use crate::support::{LONG, call, environment, request, tool};

/// Tools that give their argument `give`, or fail.
struct Givers;

#[async_trait::async_trait]
impl Functions for Givers {
    fn tools(&self) -> Vec<Tool> {
        let user = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "bio": {"type": "string"}},
            "required": ["name", "bio"],
        });
        let unusable = json!({"type": "nothing"});
        vec![
            tool("s", "user", json!({"type": "object"}), Some(user)),
            tool("s", "any", json!({"type": "object"}), None),
            tool("s", "unusable", json!({"type": "object"}), Some(unusable)),
        ]
    }

    async fn call(&self, _: &str, args: Value) -> Result<Value, CallError> {
        match args.get("give") {
            Some(value) => Ok(value.clone()),
            None => Err(CallError::new(ErrorCode::ToolError, "nothing to give")),
        }
    }
}

fn settings() -> SourceSettings {
    SourceSettings::new("s", SourceKind::Functions(SharedFunctions(Arc::new(Givers))))
}

fn open(change: impl FnOnce(&mut SourceSettings), observed: Observed) -> Sources {
    let mut source = settings();
    change(&mut source);
    let mut environment = environment();
    environment.observed = Arc::new(observed);
    Sources::open(vec![source], environment)
}

#[tokio::test]
async fn a_result_that_does_not_fit_its_schema_is_delivered_with_a_note() {
    let sources = open(|_| (), Observed::default());
    let given = call(&sources, "s", "user", json!({"give": {"name": "Ada", "bio": null}})).await;
    insta::assert_snapshot!(given, @r#"{"name":"Ada","bio":null} (the result of `s.user` does not fit its output schema: `result.bio`: expected string, got null)"#);
    let given = call(&sources, "s", "user", json!({"give": {"name": 1, "bio": 2}})).await;
    assert!(given.contains("`result.name`") && given.contains("`result.bio`"), "{given}");
    assert_eq!(
        call(&sources, "s", "user", json!({"give": {"name": "a", "bio": "b"}})).await,
        r#"{"name":"a","bio":"b"}"#
    );
    // A large one is checked elsewhere, and the same way.
    let long = "x".repeat(300_000);
    let given = call(&sources, "s", "user", json!({"give": {"name": long, "bio": null}})).await;
    assert!(given.ends_with("`result.bio`: expected string, got null)"), "{}", &given[given.len() - 200..]);
    // A schema that cannot be used is told, and nothing more.
    let given = call(&sources, "s", "unusable", json!({"give": 1})).await;
    insta::assert_snapshot!(given, @r#"1 (the result of `s.unusable` was not checked: its output schema is not valid: "nothing" is not valid under any of the schemas listed in the 'anyOf' keyword)"#);
}

#[tokio::test]
async fn a_result_that_does_not_fit_fails_the_call_where_that_is_asked_for() {
    let sources = open(|source| source.on_output_mismatch = OnMismatch::Reject, Observed::default());
    let error = sources.call(request("s", "user", json!({"give": []}))).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::OutputMismatch);
    insta::assert_snapshot!(error.message, @r#"the result of `s.user` does not fit its output schema: `result`: expected object, got []; the call has run"#);
    // A tool that failed is told as that, whatever its schema says.
    let error = sources.call(request("s", "user", json!({}))).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::ToolError, "nothing to give"));
}

#[tokio::test]
async fn what_results_looked_like_is_a_type_at_the_next_start() {
    let first = open(|_| (), Observed::default());
    let unknown = first.catalog(LONG).await.resolve("s", "any").unwrap().signature();
    assert!(unknown.ends_with("Promise<unknown>"), "{unknown}");
    for give in [json!({"id": 1, "note": null}), json!({"id": 2, "note": "x", "extra": []})] {
        call(&first, "s", "any", json!({ "give": give })).await;
    }
    call(&first, "s", "any", json!({})).await;
    call(&first, "s", "user", json!({"give": {"name": "a", "bio": "b"}})).await;
    assert_eq!(first.catalog(LONG).await.resolve("s", "any").unwrap().signature(), unknown);

    let seen = first.observed();
    assert!(first.observed().is_empty());
    // What is declared is not looked at, and a failure is no result.
    assert_eq!((seen.get("s", "user"), seen.get("s", "any").unwrap().calls), (None, 2));
    let next = open(|_| (), seen.clone());
    let catalog = next.catalog(LONG).await;
    let any = catalog.resolve("s", "any").unwrap();
    assert_eq!(any.observed.as_ref().unwrap().calls, 2);
    assert!(any.signature().contains("note: string | null"), "{}", any.signature());
    assert!(catalog.tool_declarations().contains("as observed in earlier calls"), "{}", catalog.tool_declarations());

    let unwilling = open(|source| source.learn_types = false, seen);
    assert!(unwilling.catalog(LONG).await.resolve("s", "any").unwrap().observed.is_none());
    call(&unwilling, "s", "any", json!({"give": 1})).await;
    assert!(unwilling.observed().is_empty());
}
