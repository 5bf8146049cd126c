//! A server behind the real protocol, in a real process.

use refrain_catalog::{Catalog, Effect, ErrorCode, Glob, Replay, Sources, Status, ToolOverride, Trust};
use serde_json::{Value, json};

use crate::support::{LONG, alive, call, environment, eventually, guarded, mcp, request};

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.tools().iter().map(|tool| format!("{}={}", tool.name, tool.ident)).collect()
}

#[tokio::test]
async fn every_page_is_listed_and_one_bad_entry_hides_no_other() {
    let sources = Sources::open(vec![mcp("s", "plain")], guarded());
    let catalog = sources.catalog(LONG).await;
    insta::assert_snapshot!(names(&catalog).join(" "), @"bad-schema=bad_schema cancelled=cancelled crash=crash echo=echo environment=environment erase=erase fail=fail large=large list-items=list_items_2 list_items=list_items meta=meta never=never no-schema=no_schema pids=pids refuse=refuse then=then_ weather=weather");
    let status = &catalog.sources()[0];
    assert_eq!(status.status, Status::Degraded);
    insta::assert_snapshot!(status.reason.as_deref().unwrap_or_default(), @"1 of its 19 tools has no name and is left out; it lists `echo` more than once; the first one counts");
    let notes = |name: &str| catalog.resolve("s", name).unwrap().notes.join("; ");
    insta::assert_snapshot!(notes("bad-schema"), @r#"its input schema is not valid, so arguments are not checked: "banana" is not valid under any of the schemas listed in the 'anyOf' keyword"#);
    insta::assert_snapshot!(notes("echo"), @"the source lists this name more than once; the first one counts");
    assert_eq!(notes("weather"), "");
    // What has no usable schema takes any object.
    assert_eq!(call(&sources, "s", "no-schema", json!({"any": 1})).await, r#"{"any":1}"#);
    insta::assert_snapshot!(call(&sources, "s", "bad-schema", json!({"any": 1})).await, @r#"{"any":1} (the arguments of `s.bad-schema` were not checked: its input schema is not valid: "banana" is not valid under any of the schemas listed in the 'anyOf' keyword)"#);
    sources.close().await;
}

#[tokio::test]
async fn a_cursor_that_comes_again_ends_the_list() {
    let sources = Sources::open(vec![mcp("s", "loop")], environment());
    assert_eq!(names(&*sources.catalog(LONG).await), ["again=again", "first=first"]);
    sources.close().await;
}

#[tokio::test]
async fn a_server_without_tools_is_ready_with_none() {
    let sources = Sources::open(vec![mcp("s", "no-tools")], environment());
    let catalog = sources.catalog(LONG).await;
    assert_eq!((catalog.sources()[0].status, catalog.tools().len()), (Status::Ready, 0));
    sources.close().await;
}

#[tokio::test]
async fn noise_between_the_messages_does_no_harm() {
    let sources = Sources::open(vec![mcp("s", "garbage")], environment());
    assert_eq!(call(&sources, "s", "echo", json!({"text": "hi"})).await, r#"{"text":"hi"}"#);
    sources.close().await;
}

#[tokio::test]
async fn results_errors_and_keys_pass_as_they_are() {
    let sources = Sources::open(vec![mcp("s", "plain")], environment());
    let check = async |tool: &str, args: Value, expect: &str| {
        assert_eq!(call(&sources, "s", tool, args).await, expect);
    };
    check("weather", Value::Null, r#"{"degrees":21.5}"#).await;
    check("list_items_2", json!({"original": "list-items"}), r#"{"original":"list-items"}"#).await;
    check("then_", json!({}), "{}").await;
    check("fail", json!({}), "tool_error: `s.fail`: the disk is full").await;
    check("refuse", json!({}), "invalid_arguments: `s.refuse`: no such room").await;
    check(
        "large",
        json!({}),
        "result_too_large: `s.large` gave 17825794 bytes, over the limit of 16777216; ask for less",
    )
    .await;
    check("ecko", json!({}), "unknown_tool: unknown tool `s.ecko`; did you mean `echo`?").await;
    check("meta", json!({}), "null").await;
    let mut keyed = request("s", "meta", json!({}));
    keyed.key = Some("k-1".into());
    assert_eq!(sources.call(keyed).await.unwrap().value.get(), r#""k-1""#);
    let error = sources.call(request("s", "echo", json!({"txt": 1}))).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidArguments);
    sources.close().await;
}

#[tokio::test]
async fn a_server_sees_only_the_environment_it_was_given() {
    let mut source = mcp("s", "plain");
    let refrain_catalog::SourceKind::Mcp(settings) = &mut source.kind else { unreachable!() };
    settings.env = vec![("TOKEN".into(), "t".into())];
    let sources = Sources::open(vec![source], environment());
    let seen: Vec<String> = serde_json::from_str(&call(&sources, "s", "environment", json!({})).await).unwrap();
    let extra: Vec<&String> = seen.iter().filter(|name| !["PATH", "HOME", "LANG"].contains(&name.as_str())).collect();
    assert_eq!(extra, ["TOKEN"]);
    sources.close().await;
}

#[tokio::test]
async fn settings_choose_and_correct_what_a_server_offers() {
    let mut source = mcp("s", "plain");
    source.include = vec![Glob::new("e*"), Glob::new("weather")];
    source.exclude = vec![Glob::new("env*")];
    source.trust_annotations = Trust::Effect;
    let safe = ToolOverride { replay: Some(Replay::Safe), ..ToolOverride::default() };
    let keyed = ToolOverride {
        replay: Some(Replay::Keyed),
        output_schema: Some(json!({"type": "string"})),
        ..ToolOverride::default()
    };
    source.overrides = vec![(Glob::new("e*"), safe), (Glob::new("echo"), keyed)];
    let sources = Sources::open(vec![source], environment());
    let catalog = sources.catalog(LONG).await;
    let seen: Vec<_> = catalog.tools().iter().map(|tool| (tool.name.as_str(), tool.effect, tool.replay)).collect();
    assert_eq!(
        seen,
        [
            ("echo", Effect::Read, Replay::Keyed),
            ("erase", Effect::Destructive, Replay::Safe),
            ("weather", Effect::Write, Replay::Unsafe),
        ]
    );
    assert_eq!(catalog.tools()[0].output_schema.as_deref(), Some(&json!({"type": "string"})));
    // What is not offered cannot be called either.
    let refused = call(&sources, "s", "environment", json!({})).await;
    assert!(refused.starts_with("unknown_tool: "), "{refused}");
    sources.close().await;
}

#[tokio::test]
async fn a_source_that_is_down_says_why_and_delays_no_other() {
    let mut missing = mcp("missing", "plain");
    let refrain_catalog::SourceKind::Mcp(settings) = &mut missing.kind else { unreachable!() };
    settings.command = vec!["refrain-no-such-program".into()];
    let sources =
        Sources::open(vec![missing, mcp("dies", "dies"), mcp("good", "plain"), mcp("silent", "silent")], environment());
    // The silent one has a minute left. Asking until the good one is there shows that it waits for nobody.
    let catalog = loop {
        let catalog = sources.catalog(std::time::Duration::from_millis(20)).await;
        let settled = |name: &str| {
            catalog.sources().iter().any(|source| source.name == name && source.status != Status::Connecting)
        };
        if ["dies", "good", "missing"].into_iter().all(settled) {
            break catalog;
        }
    };
    let seen: Vec<String> = catalog
        .sources()
        .iter()
        .map(|source| format!("{} {} {}", source.name, source.status.as_str(), source.reason.as_deref().unwrap_or("")))
        .map(|line| line.replace(&fixture_name(), "fixture"))
        .collect();
    insta::assert_snapshot!(seen.join("\n"), @r"
dies failed `fixture` ended with exit status: 7 before it answered `initialize`; its last words: no token in  [31mTOKEN
good degraded 1 of its 19 tools has no name and is left out; it lists `echo` more than once; the first one counts
missing failed cannot start `refrain-no-such-program`: not found; install it, or give its full path in `command`
silent connecting it has not answered yet and may take 60000 ms (`connect_timeout_ms`)
");
    let error = catalog.resolve("dies", "x").unwrap_err();
    assert!(matches!(error, refrain_catalog::Unresolved::SourceDown { .. }), "{error}");
    let down = sources.call(request("dies", "x", json!({}))).await.unwrap_err();
    assert_eq!((down.code, down.retryable), (ErrorCode::SourceDown, true));
    assert!(down.retry_after_ms.is_some());
    sources.close().await;
}

fn fixture_name() -> String {
    crate::support::fixture().to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_crash_in_a_call_is_interrupted_and_the_next_call_starts_the_server_again() {
    let sources = Sources::open(vec![mcp("s", "plain")], guarded());
    let lost = call(&sources, "s", "crash", json!({})).await.replace(&fixture_name(), "fixture");
    insta::assert_snapshot!(lost, @"interrupted: `s.crash` gave no answer: `fixture` ended with exit status: 3; its last words: out of memory; it may or may not have run");
    let catalog = sources.catalog(LONG).await;
    assert_eq!(catalog.sources()[0].status, Status::Degraded);
    assert!(catalog.resolve("s", "echo").is_ok(), "its tools are still known");
    assert_eq!(call(&sources, "s", "echo", json!({"text": "back"})).await, r#"{"text":"back"}"#);
    // What was wrong with its list before is so still, and nothing more.
    let catalog = sources.catalog(LONG).await;
    insta::assert_snapshot!(catalog.sources()[0].reason.as_deref().unwrap_or_default(), @"1 of its 19 tools has no name and is left out; it lists `echo` more than once; the first one counts");
    sources.close().await;
}

#[tokio::test]
async fn a_call_without_an_answer_times_out_and_the_server_is_told() {
    let mut source = mcp("s", "plain");
    source.call_total_timeout = std::time::Duration::from_millis(50);
    let sources = Sources::open(vec![source], environment());
    sources.catalog(LONG).await;
    insta::assert_snapshot!(call(&sources, "s", "never", json!({})).await, @"timeout: `s.never` gave no answer within 50 ms; it may or may not have run");
    server_hears_of_it(&sources).await;
    sources.close().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_at_the_server() {
    let sources = Sources::open(vec![mcp("s", "plain")], environment());
    sources.catalog(LONG).await;
    let never = sources.call(request("s", "never", json!({})));
    let _ = tokio::time::timeout(std::time::Duration::from_millis(50), never).await;
    server_hears_of_it(&sources).await;
    sources.close().await;
}

/// Asks until the server says that it was told to cancel.
async fn server_hears_of_it(sources: &Sources) {
    let times = async || call(sources, "s", "cancelled", json!({})).await.parse::<u32>();
    let heard = async { while !matches!(times().await, Ok(1..)) {} };
    tokio::time::timeout(LONG, heard).await.unwrap();
}

#[tokio::test]
async fn closing_ends_a_server_that_ignores_the_end_of_its_input_and_what_it_started() {
    let sources = Sources::open(vec![mcp("s", "stubborn")], guarded());
    let pids: Vec<u32> = serde_json::from_str(&call(&sources, "s", "pids", json!({})).await).unwrap();
    assert!(pids.iter().all(|pid| alive(*pid)));
    sources.close().await;
    eventually("the server and its child are gone", || !pids.iter().any(|pid| alive(*pid)));
}
