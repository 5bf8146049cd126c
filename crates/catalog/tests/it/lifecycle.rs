//! Servers that crash, hang, change and come back.

use std::time::Duration;

use refrain_catalog::{ErrorCode, Secrets, SourceSettings, Sources, Status};
use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, ping, tool},
    support::{LONG, call, environment, guarded, request},
};

fn starts(server: &Scripted) -> usize {
    server.count(|message| message["start"] == true)
}

/// Case mcp-lifecycle-01.
#[tokio::test]
async fn a_server_that_dies_in_a_call_is_told_with_its_signal_and_last_words() {
    let mut server = Scripted::stdio(json!({"tools": [tool("bye", json!([]))], "on": [
        {"when": "tools/call:bye", "do": [{"stderr": "fatal: out of memory\n"}, {"kill": "SIGKILL"}]},
    ]}));
    server.settings.call_total_timeout = Duration::from_secs(600);
    let sources = Sources::open(vec![server.settings.clone()], guarded());
    let failed = sources.call(request("s", "bye", Value::Null)).await.unwrap_err();
    assert_eq!((failed.code, failed.retryable), (ErrorCode::Interrupted, true));
    let expect = "ended with signal: 9 (SIGKILL); its last words: fatal: out of memory; it may or may not have run";
    assert!(failed.message.ends_with(expect), "{failed}");
    assert_eq!(server.methods("tools/call"), 1, "it is not repeated");
    sources.close().await;
}

#[tokio::test]
async fn a_server_that_crashes_in_a_loop_is_left_alone_for_longer_each_time() {
    let server = Scripted::stdio(json!({"tools": [tool("bye", json!([]))], "on": [
        {"when": "tools/call:bye", "do": [{"exit": 3}]},
    ]}));
    let sources = server.open();
    let fail = async || sources.call(request("s", "bye", Value::Null)).await.unwrap_err();
    // The first crash is forgiven: the next call starts the server again at once.
    assert_eq!(fail().await.code, ErrorCode::Interrupted);
    assert_eq!(fail().await.code, ErrorCode::Interrupted);
    // From now on it is left alone, and the call is told for how long.
    let down = fail().await;
    assert_eq!(down.code, ErrorCode::SourceDown, "{down}");
    assert!(down.retry_after_ms.is_some_and(|rest| (1..=1000).contains(&rest)), "{down:?}");
    for _ in 0..50 {
        fail().await;
    }
    assert!(starts(&server) <= 4, "{} starts", starts(&server));
    sources.close().await;
}

/// Cases mcp-lifecycle-03 and -09, and the cold start of the issue: ten sources, one hangs, one crashes.
#[tokio::test]
async fn of_ten_sources_one_that_hangs_and_one_that_crashes_hold_up_nobody() {
    let quick: Vec<Scripted> = (0..7).map(|_| Scripted::stdio(json!({"tools": [ping()]}))).collect();
    let stuck = Scripted::stdio(json!({"tools": [], "on": [
        {"when": "initialize", "do": [{"hang": true}]}, {"when": "server/discover", "do": [{"hang": true}]},
    ]}));
    let crash = Scripted::stdio(json!({"tools": [], "on": [{"when": "start", "do": [{"exit": 1}]}]}));
    let named = |server: &Scripted, name: String| SourceSettings { name, ..server.settings.clone() };
    let mut all: Vec<SourceSettings> =
        quick.iter().enumerate().map(|(at, server)| named(server, format!("quick{at}"))).collect();
    all.push(named(&stuck, "stuck".into()));
    all.push(named(&crash, "crash".into()));
    let mut broken = named(&quick[0], "broken".into());
    let refrain_catalog::SourceKind::Mcp(settings) = &mut broken.kind else { unreachable!() };
    settings.command = vec!["/nonexistent/acme-mcp".into(), "--stdio".into()];
    all.push(broken);
    let sources = Sources::open(all, guarded());
    // The one that hangs has a minute. Whoever needs another does not wait for it.
    let ready = |name: &str, catalog: &refrain_catalog::Catalog| {
        catalog.sources().iter().any(|source| source.name == name && source.status == Status::Ready)
    };
    let names: Vec<String> = (0..7).map(|at| format!("quick{at}")).collect();
    let enough = |catalog: &refrain_catalog::Catalog| names.iter().all(|name| ready(name, catalog));
    let waited = sources.catalog_until(LONG, Duration::ZERO, enough);
    let catalog = tokio::time::timeout(LONG / 2, waited).await.unwrap();
    assert!(enough(&catalog));
    for name in &names {
        assert_eq!(call(&sources, name, "ping", Value::Null).await, r#""pong""#);
    }
    let catalog = loop {
        let catalog = sources.catalog(Duration::from_millis(20)).await;
        let settled = |source: &&refrain_catalog::SourceStatus| source.status == Status::Connecting;
        if catalog.sources().iter().filter(settled).count() == 1 {
            break catalog;
        }
    };
    let reason = |name: &str| {
        let source = catalog.sources().iter().find(|source| source.name == name).unwrap();
        format!("{} {}", source.status.as_str(), source.reason.as_deref().unwrap_or_default())
    };
    assert_eq!(reason("stuck"), "connecting it has not answered yet and may take 60000 ms (`connect_timeout_ms`)");
    assert!(
        reason("crash").ends_with("ended with exit status: 1 before it answered `initialize`"),
        "{}",
        reason("crash")
    );
    assert!(
        reason("broken").starts_with("failed cannot start `/nonexistent/acme-mcp`: not found"),
        "{}",
        reason("broken")
    );
    sources.close().await;
}

/// Case mcp-lifecycle-06.
#[tokio::test]
async fn a_tool_that_is_announced_can_be_called_and_found() {
    for is_http in [false, true] {
        let fresh = tool("fresh", json!([{"text": "new"}]));
        let news = json!({"notify": "notifications/tools/list_changed"});
        let script = json!({"tools": [tool("grow", json!([]))], "answers": ["tools/call:grow"], "on": [
            {"when": "tools/call:grow", "do": [{"add_tool": fresh}, news, news, news, {"reply": {"content": []}}]},
        ]});
        let server = if is_http { Scripted::http(script) } else { Scripted::stdio(script) };
        let sources = server.open();
        assert_eq!(sources.catalog(LONG).await.tools().len(), 1);
        assert_eq!(call(&sources, "s", "grow", Value::Null).await, "null");
        let grown = async {
            while sources.catalog(LONG).await.search("fresh", 5).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LONG, grown).await.unwrap();
        assert_eq!(call(&sources, "s", "fresh", Value::Null).await, r#""new""#);
        assert_eq!(server.methods("tools/list"), 2, "what is announced three times at once is read once");
        sources.close().await;
    }
}

#[tokio::test]
async fn a_list_that_cannot_be_read_again_leaves_the_tools_that_were_there() {
    let server = Scripted::stdio(json!({"tools": [ping(), tool("news", json!([]))], "on": [
        {"when": "tools/call:news", "do": [{"notify": "notifications/tools/list_changed"}, {"reply": {"content": []}}]},
        {"when": "tools/list", "nth": 2, "do": [{"error": {"code": -32603, "message": "the index is locked"}}]},
    ]}));
    let sources = server.open();
    call(&sources, "s", "news", Value::Null).await;
    let catalog = async {
        loop {
            let catalog = sources.catalog(LONG).await;
            if catalog.sources()[0].status == Status::Degraded {
                break catalog;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let catalog = tokio::time::timeout(LONG, catalog).await.unwrap();
    assert_eq!(catalog.tools().len(), 2);
    let reason = catalog.sources()[0].reason.as_deref();
    assert_eq!(reason, Some("its tools cannot be listed: the index is locked"));
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    sources.close().await;
}

/// Case mcp-paging-01, and pages without end.
#[tokio::test]
async fn all_pages_are_read_and_an_empty_one_is_no_problem() {
    let pages = json!([[tool("sow", json!([{"text": "1"}]))], [tool("reap", json!([{"text": "2"}]))], []]);
    let server = Scripted::stdio(json!({"tool_pages": pages, "cursors": ["p2", "p3", null]}));
    let sources = server.open();
    assert_eq!(sources.catalog(LONG).await.tools().len(), 2);
    assert_eq!(call(&sources, "s", "reap", Value::Null).await, r#""2""#);
    sources.close().await;

    let pages = json!([[ping()], []]);
    let server = Scripted::stdio(json!({"tool_pages": pages, "cursors": ["p2", "p2"]}));
    let sources = server.open();
    let catalog = sources.catalog(LONG).await;
    assert_eq!(catalog.tools().len(), 1);
    let told = "its list comes back to a page that was there before; the list ends there";
    assert_eq!(catalog.sources()[0].reason.as_deref(), Some(told));
    sources.close().await;
}

#[tokio::test]
async fn two_thousand_tools_with_one_bad_one_are_all_there_but_that_one() {
    let mut tools: Vec<Value> =
        (0..2000).map(|at| tool(&format!("t{at}"), json!([{"text": at.to_string()}]))).collect();
    tools[1000] = json!({"name": "", "inputSchema": {"type": "object"}});
    let server = Scripted::stdio(json!({"tools": tools}));
    let sources = server.open();
    let catalog = sources.catalog(LONG).await;
    assert_eq!(catalog.tools().len(), 1999);
    let told = "1 of its 2000 tools has no name and is left out";
    assert_eq!(catalog.sources()[0].reason.as_deref(), Some(told));
    assert_eq!(call(&sources, "s", "t1999", Value::Null).await, r#""1999""#);
    sources.close().await;
}

/// Case timeouts-cancel-01.
#[tokio::test]
async fn progress_keeps_a_long_call_alive_and_silence_ends_it() {
    let mut server = Scripted::stdio(json!({"tools": [tool("research", json!([])), tool("silent", json!([]))], "on": [
        {"when": "tools/call:research", "do": [
            {"require_progress_token": true},
            {"repeat": 6, "do": [{"sleep_ms": 400}, {"progress": true}]},
            {"reply": {"content": [{"type": "text", "text": "done"}]}},
        ]},
        {"when": "tools/call:silent", "do": [{"hang": true}]},
    ]}));
    server.settings.call_idle_timeout = Some(Duration::from_millis(1500));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "research", Value::Null).await, r#""done""#);
    let told = "timeout: `s.silent` gave no answer and showed no progress within 1500 ms; it may or may not have run";
    assert_eq!(call(&sources, "s", "silent", Value::Null).await, told);
    sources.close().await;
}

/// Case timeouts-cancel-03, shortened: the limit is the one in the settings and no other.
#[tokio::test]
async fn a_call_may_take_as_long_as_its_settings_say() {
    let slow = |ms: u64| json!([{"text": "late", "delay_ms": ms}]);
    let mut server = Scripted::stdio(json!({"tools": [tool("slow", slow(1200)), tool("slower", slow(60_000))]}));
    server.settings.call_total_timeout = Duration::from_secs(30);
    let sources = server.open();
    assert_eq!(call(&sources, "s", "slow", Value::Null).await, r#""late""#);
    let mut short = request("s", "slower", Value::Null);
    short.timeout = Some(Duration::from_millis(40));
    assert_eq!(sources.call(short).await.unwrap_err().code, ErrorCode::Timeout);
    let told = async {
        while server.methods("notifications/cancelled") == 0 {
            tokio::task::yield_now().await
        }
    };
    tokio::time::timeout(LONG, told).await.unwrap();
    sources.close().await;
}

#[tokio::test]
async fn a_secret_is_in_no_reason_error_or_log() {
    let secret = "sk-live-0123456789abcdef";
    let mut server = Scripted::stdio(
        json!({"tools": [tool("refused", json!([{"tool_error": format!("bad key {secret}")}])), tool("bye", json!([]))], "on": [
            {"when": "start", "do": [{"stdout": format!("using key {secret}\n")}]},
            {"when": "tools/call:bye", "do": [{"stderr": format!("key 0123456789abcdef…\n")}, {"exit": 1}]},
        ]}),
    );
    server.settings.secrets = Secrets::new([secret.to_owned()]);
    let sources = Sources::open(vec![server.settings.clone()], environment());
    assert_eq!(call(&sources, "s", "refused", Value::Null).await, "tool_error: `s.refused`: bad key ***");
    let seen = format!("{:?}", sources.diagnose().await);
    assert!(seen.contains("using key ***") && !seen.contains("0123456"), "{seen}");
    let lost = call(&sources, "s", "bye", Value::Null).await;
    assert!(lost.contains("key ***…"), "{lost}");
    let reason = format!("{:?}", sources.catalog(LONG).await.sources());
    assert!(reason.contains("key ***") && !reason.contains("0123456"), "{reason}");
    sources.close().await;
}
