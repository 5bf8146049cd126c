//! Messages over standard streams, and everything else that servers write there.

use refrain_catalog::{ErrorCode, Status};
use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, ping, tool},
    support::{LONG, call, eventually, request},
};

/// Case mcp-transport-01.
#[tokio::test]
async fn a_banner_before_the_handshake_is_skipped_and_can_be_found() {
    let server = Scripted::stdio(json!({"tools": [ping()], "on": [{"when": "start", "do": [
        {"stdout": "Acme Tools server v1.4.2\n"}, {"stdout": "\n"}, {"stdout": "[warn] no shop id set\n"},
    ]}]}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    let diagnosis = &sources.diagnose().await[0];
    assert_eq!(diagnosis.status.status, Status::Ready);
    assert_eq!(diagnosis.log, ["Acme Tools server v1.4.2", "[warn] no shop id set"]);
    sources.close().await;
}

/// Case mcp-transport-03.
#[tokio::test]
async fn a_character_that_arrives_in_two_parts_stays_whole() {
    let parts = json!([
        "eyJqc29ucnBjIjoiMi4wIiwiaWQiOiIkSUQiLCJyZXN1bHQiOnsiY29udGVudCI6W3sidHlwZSI6InRleHQiLCJ0ZXh0Ijoi5g==",
        "l6XmnKwg4oCTIPCf",
        "jogifV19fQo=",
    ]);
    let on = json!([{"when": "tools/call:ping", "do": [{"stdout_b64": parts, "gap_ms": 30}]}]);
    let sources = Scripted::stdio(json!({"tools": [ping()], "on": on}));
    let sources = (sources.open(), sources);
    assert_eq!(call(&sources.0, "s", "ping", Value::Null).await, "\"日本 – 🎈\"");
    sources.0.close().await;
}

/// Case mcp-transport-08.
#[tokio::test]
async fn an_odd_answer_to_ping_counts_as_alive() {
    let on = json!([{"when": "ping", "do": [{"reply": []}]}]);
    let server = Scripted::stdio(json!({"tools": [ping()], "on": on}));
    let sources = server.open();
    let diagnosis = &sources.diagnose().await[0];
    assert!(diagnosis.latency.is_some() && diagnosis.notes.is_empty(), "{diagnosis:?}");
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    assert_eq!(server.count(|message| message["start"] == true), 1);
    sources.close().await;
}

#[tokio::test]
async fn what_has_one_meaning_is_understood_however_it_is_written() {
    let result = r#""result":{"content":[{"type":"text","text":"yes"}]}"#;
    let check = async |raw: String| {
        let on = json!([{"when": "tools/call:ping", "do": [{"raw": raw}]}]);
        let server = Scripted::stdio(json!({"tools": [ping()], "on": on}));
        let sources = server.open();
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""yes""#, "{raw}");
        sources.close().await;
    };
    let line = |start: &str, end: &str| format!("{start}{{\"jsonrpc\":\"2.0\",\"id\":$ID,{result}}}{end}");
    check(line("", "\r\n")).await;
    check(line("\u{feff}", "\n")).await;
    check(line("noise\n{\"noise\": 1}\n\n", "\n")).await;
    check(line("[", "]\n")).await;
    check(format!("{{\"id\":\"$ID\",{result}}}\n")).await;
    // Answers to nobody, before the one to us.
    check(line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":777,{result}}}\n"), "\n")).await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_call_at_once_and_shows() {
    let check = async |raw: &str, expect: &str| {
        let on = json!([{"when": "tools/call:odd", "do": [{"raw": raw}]}]);
        let server = Scripted::stdio(json!({"tools": [ping(), tool("odd", json!([]))], "on": on}));
        let mut settings = server.settings.clone();
        settings.call_total_timeout = LONG;
        let sources = refrain_catalog::Sources::open(vec![settings], crate::support::environment());
        let failed = sources.call(request("s", "odd", Value::Null)).await.unwrap_err();
        assert_eq!(format!("{}: {}", failed.code.as_str(), failed.message), expect);
        let catalog = sources.catalog(LONG).await;
        assert_eq!(catalog.sources()[0].status, Status::Degraded, "{raw}");
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#, "the others go on");
        sources.close().await;
    };
    check(
        "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[}\n",
        "protocol: `s.odd`: it has run; its answer cannot be read: expected value at line 1 column 46: \
         {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[}",
    )
    .await;
    // Without a number it is that of the only call.
    check(
        "{\"jsonrpc\":\"2.0\",\"result\"\n",
        "protocol: `s.odd`: it has run; its answer cannot be read: EOF while parsing an object at line 1 column 25: {\"jsonrpc\":\"2.0\",\"result\"",
    )
    .await;
}

#[tokio::test]
async fn an_answer_over_every_limit_is_told_as_that() {
    let mebibytes = |count: u64| json!([{"text_bytes": count << 20}]);
    let tools = json!([tool("over", mebibytes(17)), tool("far_over", mebibytes(65)), ping()]);
    let sources = Scripted::stdio(json!({"tools": tools}));
    let sources = (sources.open(), sources);
    let check = async |tool: &str, expect: &str| assert_eq!(call(&sources.0, "s", tool, Value::Null).await, expect);
    check("over", "result_too_large: `s.over` gave 17825794 bytes, over the limit of 16777216; ask for less").await;
    let told =
        "it has run; its answer cannot be taken: it is longer than 64 MiB, and a result may have 16 MiB; ask for less";
    check("far_over", &format!("result_too_large: `s.far_over`: {told}")).await;
    check("ping", r#""pong""#).await;
    sources.0.close().await;
}

#[tokio::test]
async fn a_server_that_speaks_late_of_the_newest_revision_or_never_is_asked_in_the_old_way() {
    // Only one that ends has to be started again.
    for (answer, starts) in [
        (json!({"hang": true}), 1),
        (json!({"reply": {}}), 1),
        (json!({"reply": []}), 1),
        (json!({"error": {"code": -32602, "message": "not yet"}}), 1),
        (json!({"exit": 9}), 2),
    ] {
        let on = json!([{"when": "server/discover", "do": [answer]}]);
        let mut server = Scripted::stdio(json!({"tools": [ping()], "on": on}));
        server.settings.connect_timeout = std::time::Duration::from_secs(20);
        let sources = server.open();
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#, "{answer}");
        let who = sources.diagnose().await.remove(0).server.unwrap();
        assert_eq!(
            (who.name.as_str(), who.version.as_str(), who.protocol.as_str()),
            ("scripted", "1.2.3", "2025-11-25")
        );
        assert_eq!(server.count(|message| message["start"] == true), starts, "{answer}");
        sources.close().await;
    }
}

/// The protocol wants an answer to the first question within no time in particular; only servers that also begin with
/// `initialize` are asked that before they are ready.
#[tokio::test]
async fn a_server_that_is_slow_and_knows_nothing_but_the_newest_revision_is_waited_for() {
    let found = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
        "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "9"}},
    });
    let server = Scripted::stdio(json!({"tools": [ping()], "on": [
        {"when": "server/discover", "do": [{"sleep_ms": 1200}, {"reply": found}]},
        {"when": "initialize", "do": [{"error": {"code": -32601, "message": "no method initialize"}}]},
    ]}));
    let sources = server.open();
    let listed = sources.catalog(LONG).await;
    assert_eq!(listed.tools().len(), 1, "{:?}", listed.sources());
    assert_eq!(sources.diagnose().await[0].server.as_ref().unwrap().protocol, "2026-07-28");
    assert_eq!(server.count(|message| message["start"] == true), 2);
    sources.close().await;
}

#[tokio::test]
async fn every_revision_down_to_the_first_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = Scripted::stdio(json!({"tools": [ping()], "protocolVersion": version}));
        let sources = server.open();
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#, "{version}");
        assert_eq!(sources.diagnose().await[0].server.as_ref().unwrap().protocol, version);
        sources.close().await;
    }
}

#[tokio::test]
async fn a_server_that_refuses_to_begin_is_told_in_its_own_words() {
    let error = json!({"code": -32000, "message": "licence expired on Monday"});
    let on = json!([{"when": "initialize", "do": [{"error": error}]}]);
    let server = Scripted::stdio(json!({"tools": [], "on": on}));
    let sources = server.open();
    let reason = sources.catalog(LONG).await.sources()[0].reason.clone().unwrap();
    assert!(reason.ends_with("refuses to connect: licence expired on Monday"), "{reason}");
    sources.close().await;
}

/// A server that does not read its input must not keep a call beyond its time.
#[tokio::test]
async fn a_call_ends_in_time_although_the_server_reads_nothing() {
    // It stops reading its input: what it does first never ends, on its only thread.
    let script = "read line; printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32601,\"message\":\"no\"}}'; \
                  read line; printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}'; \
                  read line; read line; printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"t\"}]}}'; sleep 600";
    let mut source = crate::support::mcp("s", "unused");
    let refrain_catalog::SourceKind::Mcp(settings) = &mut source.kind else { unreachable!() };
    settings.command = ["sh", "-c", script].map(str::to_owned).to_vec();
    source.call_total_timeout = std::time::Duration::from_millis(300);
    let sources = refrain_catalog::Sources::open(vec![source], crate::support::guarded());
    let large = json!({"text": "x".repeat(1 << 20)});
    for _ in 0..2 {
        let failed = sources.call(request("s", "t", large.clone())).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::Timeout, "{failed}");
    }
    sources.close().await;
}

#[tokio::test]
async fn log_messages_and_requests_before_and_between_do_no_harm() {
    let log = |text: &str| json!({"notify": "notifications/message", "params": {"level": "warning", "data": text}});
    let server = Scripted::stdio(json!({"tools": [ping()], "on": [
        {"when": "initialize", "do": [log("starting")]},
        {"when": "tools/call:ping", "do": [
            log("called"), {"request": "ping"}, {"request": "roots/list"}, {"reply_after_answer": {"content": [
                {"type": "text", "text": "roots: $ACTION"}]}},
        ]},
    ]}));
    let sources = server.open();
    let answer = call(&sources, "s", "ping", Value::Null).await;
    assert!(answer.contains("'roots':[]"), "{answer}");
    let mut log = Vec::new();
    for _ in 0..100 {
        log = sources.diagnose().await.remove(0).log;
        if log.len() == 2 {
            break;
        }
    }
    assert_eq!(log, ["[warning] starting", "[warning] called"]);
    sources.close().await;
    eventually("the server is told to go", || server.methods("tools/call") == 1);
}
