//! MCP servers that are reached by HTTP, and what they do wrong.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::Duration,
};

use refrain_catalog::{ErrorCode, Proxies, Secrets, Sources, Status};
use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, ping, tool},
    support::{LONG, call, environment, eventually, request},
};

/// The answer to the call `ping` is what `action` does.
fn with(action: &Value) -> Scripted {
    let on = json!([{"when": "tools/call:ping", "do": [action]}]);
    Scripted::http(json!({"tools": [ping()], "on": on}))
}

#[tokio::test]
async fn calls_are_answered_as_json_and_as_streams() {
    for answers in [json!([]), json!(["initialize", "tools/list", "tools/call:ping"])] {
        let server = Scripted::http(json!({"tools": [ping()], "answers": answers}));
        let sources = server.open();
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#, "{answers}");
        let diagnosis = &sources.diagnose().await[0];
        assert_eq!(diagnosis.server.as_ref().unwrap().protocol, "2025-11-25");
        assert!(diagnosis.latency.is_some(), "{diagnosis:?}");
        sources.close().await;
        eventually("the session is ended", || server.count(|message| message["http"] == "DELETE") == 1);
    }
}

/// Case mcp-transport-05.
#[tokio::test]
async fn a_session_that_has_expired_is_begun_anew_and_nobody_is_told() {
    let on = json!([{"when": "tools/call:ping", "nth": 2, "do": [{"http_status": 404}]}]);
    let server = Scripted::http(json!({"tools": [ping()], "on": on}));
    let sources = server.open();
    for _ in 0..3 {
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    }
    assert_eq!(server.methods("initialize"), 2);
    let begun = server.received().into_iter().rev().find(|message| message["headers"]["mcp-session-id"] == "s2");
    assert!(begun.is_some(), "the calls after it are in the new session");
    sources.close().await;
}

#[tokio::test]
async fn each_status_has_its_code_and_says_what_to_do() {
    let check = async |action: Value, expect: &str| {
        let server = with(&action);
        let sources = server.open();
        let failed = sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        let after = failed.retry_after_ms.map_or_else(String::new, |after| format!(" (after {after} ms)"));
        assert_eq!(format!("{}: {}{after}", failed.code.as_str(), failed.message), expect, "{action}");
        assert_eq!(server.methods("tools/call"), 1, "it is not repeated");
        sources.close().await;
    };
    check(
        json!({"http_status": 401, "headers": {"WWW-Authenticate": "Bearer"}}),
        "source_down: `s.ping`: the server answers 401: it wants credentials, or does not accept those it got; set or \
         correct `headers.Authorization` of the source",
    )
    .await;
    check(
        json!({"http_status": 401, "body": "who are you?"}),
        "source_down: `s.ping`: the server answers 401: it wants credentials, or does not accept those it got; set or \
         correct `headers.Authorization` of the source",
    )
    .await;
    check(
        json!({"http_status": 403}),
        "denied: `s.ping`: the server answers 403: these credentials may not do this; set others in `headers` of the source",
    )
    .await;
    check(
        json!({"http_status": 429, "headers": {"Retry-After": "7"}}),
        "rate_limited: `s.ping`: the server answers 429: too many calls; try again in 7 s (after 7000 ms)",
    )
    .await;
    check(
        json!({"http_status": 429, "headers": {"Retry-After": "Thu, 01 Jan 1970 00:00:11 GMT"}}),
        "rate_limited: `s.ping`: the server answers 429: too many calls; try again in 10 s (after 10000 ms)",
    )
    .await;
    check(
        json!({"http_status": 503, "headers": {"Retry-After": "1"}}),
        "source_down: `s.ping`: the server answers 503: it is not available; try again in 1 s (after 1000 ms)",
    )
    .await;
    check(
        json!({"http_status": 500, "body": "oops"}),
        "interrupted: `s.ping`: the server answers 500; the call may or may not have run",
    )
    .await;
    check(
        json!({"http_status": 200, "content_type": "text/html", "body": "<html>"}),
        "protocol: `s.ping`: the server answers with a content type that is neither JSON nor an event stream: `text/html`; \
         is `url` the address of its MCP endpoint?",
    )
    .await;
    check(
        json!({"http_status": 429, "headers": {"Retry-After": "x"}}),
        "rate_limited: `s.ping`: the server answers 429: too many calls",
    )
    .await;
    check(
        json!({"http_status": 408}),
        "source_down: `s.ping`: the server answers 408: it did not get the request in time",
    )
    .await;
    check(
        json!({"http_status": 400, "body": "bad"}),
        "protocol: `s.ping`: the server answers what it should not: HTTP 400 Bad Request: bad",
    )
    .await;
}

/// What a `retry` in the settings goes by.
#[tokio::test]
async fn only_what_passes_is_said_to_work_later() {
    let busy =
        json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32000, "message": "maintenance until five"}}).to_string();
    let json = |status: u16| json!({"http_status": status, "content_type": "application/json", "body": busy, "headers": {"Retry-After": "2"}});
    let wait = Some(2000);
    for (action, code, retryable, after) in [
        (json!({"http_status": 401}), ErrorCode::SourceDown, false, None),
        (json!({"http_status": 403}), ErrorCode::Denied, false, None),
        (json!({"http_status": 400, "body": "bad"}), ErrorCode::Protocol, false, None),
        (json!({"http_status": 409, "body": "taken"}), ErrorCode::Protocol, false, None),
        (json!({"http_status": 410, "body": "gone"}), ErrorCode::Protocol, false, None),
        (json!({"http_status": 408}), ErrorCode::SourceDown, true, None),
        (json!({"http_status": 425}), ErrorCode::SourceDown, true, None),
        (json!({"http_status": 429}), ErrorCode::RateLimited, true, None),
        (json!({"http_status": 500, "body": "oops"}), ErrorCode::Interrupted, true, None),
        (json!({"cut": true}), ErrorCode::Interrupted, true, None),
        // Whoever stands before a server says so in whatever words; the server itself with 500 tells of the call.
        (json(429), ErrorCode::RateLimited, true, wait),
        (json(502), ErrorCode::Interrupted, true, wait),
        (json(503), ErrorCode::SourceDown, true, wait),
        (json(504), ErrorCode::Interrupted, true, wait),
        (json(500), ErrorCode::ToolError, false, None),
    ] {
        let server = with(&action);
        let sources = server.open();
        let failed = sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        assert_eq!(
            (failed.code, failed.retryable, failed.retry_after_ms),
            (code, retryable, after),
            "{action}: {failed}"
        );
        let log = sources.diagnose().await[0].log.join("\n");
        let is_told = failed.message.contains("maintenance") || log.contains("maintenance");
        assert_eq!(is_told, action["body"] == busy.as_str(), "{action}: {failed}: {log}");
        sources.close().await;
    }
}

/// The first question is not answered, so there is no tool to be called.
#[tokio::test]
async fn a_server_that_asks_to_be_left_alone_at_the_start_is_left_alone_that_long() {
    for (action, retryable, at_least) in [
        (json!({"http_status": 503, "headers": {"Retry-After": "40"}}), true, 39_000),
        (json!({"http_status": 429, "headers": {"Retry-After": "40"}}), true, 39_000),
        (json!({"http_status": 502, "headers": {"Retry-After": "40"}}), true, 39_000),
        (json!({"http_status": 503}), true, 1),
        (json!({"http_status": 401}), false, 1),
    ] {
        let server = Scripted::http(json!({"on": [{"when": "http", "do": [action]}]}));
        let names_a_time = action["headers"].is_object();
        let sources = server.open();
        let failed = sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        assert_eq!((failed.code, failed.retryable), (ErrorCode::SourceDown, retryable), "{action}: {failed}");
        assert!(failed.retry_after_ms.is_some_and(|ms| (at_least..=40_000).contains(&ms)), "{action}: {failed:?}");
        let asked = server.received().len();
        if names_a_time {
            assert_eq!(server.count(|message| message["http"] == "POST"), 1, "{action}: it is asked once, in one way");
        }
        sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        assert_eq!(server.received().len(), asked, "{action}: it is asked again before its time");
        sources.close().await;
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_call_at_once() {
    let check = async |action: Value| {
        let server = with(&action);
        let sources = server.open();
        let failed = sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::Protocol, "{action}: {failed}");
        sources.close().await;
    };
    let event = "data: {\"jsonrpc\":\"2.0\",\"result\":[\n\n";
    check(json!({"http_status": 200, "content_type": "application/json", "body": "{\"jsonrpc\":\"2.0\",\"id\":9"}))
        .await;
    check(json!({"http_status": 200, "content_type": "application/json", "body": ""})).await;
    check(json!({"http_status": 200, "content_type": "text/event-stream", "body": event})).await;
    check(json!({"http_status": 200, "content_type": "text/event-stream", "body": event, "open": true})).await;
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_where_it_broke_or_told_as_interrupted() {
    // With numbered events: the answer comes by GET, after the last one that was seen.
    let answer = json!({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "late"}]}});
    let resumed = format!("id: 8\ndata: {answer}\n\n");
    let event = "id: 7\nretry: 10\ndata: \n\n";
    let server = Scripted::http(json!({"tools": [ping()], "on": [
        {"when": "tools/call:ping", "do": [{"http_status": 200, "content_type": "text/event-stream", "body": event}]},
        {"when": "GET", "nth": 2, "do": [{"http_status": 200, "content_type": "text/event-stream", "body": resumed}]},
    ]}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""late""#);
    let last = |message: &Value| message["http"] == "GET" && message["headers"]["last-event-id"] == "7";
    assert_eq!(server.count(last), 1, "{:?}", server.received());
    sources.close().await;

    // Without numbers there is nothing to take up.
    for action in
        [json!({"http_status": 200, "content_type": "text/event-stream", "body": ": hi\n\n"}), json!({"cut": true})]
    {
        let server = with(&action);
        let sources = server.open();
        let failed = sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::Interrupted, "{action}: {failed}");
        assert_eq!(server.methods("tools/call"), 1, "it is not repeated");
        sources.close().await;
    }
}

#[tokio::test]
async fn headers_go_with_every_request_and_to_no_other_origin() {
    let mut elsewhere = Scripted::http(json!({"tools": [ping()]}));
    let url = elsewhere.http_settings().url.clone();
    let mut server = Scripted::http(json!({"tools": [ping(), tool("away", json!([]))], "on": [
        {"when": "http:/old", "do": [{"http_status": 307, "headers": {"Location": "/mcp"}}]},
        {"when": "tools/call:away", "do": [{"http_status": 307, "headers": {"Location": url}}]},
    ]}));
    let settings = server.http_settings();
    settings.url = settings.url.replace("/mcp", "/old");
    settings.headers = vec![("Authorization".into(), "Bearer sk-1234567890".into())];
    let sources = server.open();
    // Within the origin a redirect is followed.
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    let away = call(&sources, "s", "away", Value::Null).await;
    assert!(away.starts_with("protocol: `s.away`: it sends us on to `http://127.0.0.1:"), "{away}");
    assert!(away.ends_with("which is another origin; write that address in `url` if you trust it"), "{away}");
    let authorised = |message: &Value| message["headers"]["authorization"] == "Bearer sk-1234567890";
    assert!(server.count(authorised) >= 4);
    assert_eq!(server.count(|message| message["http"].is_string() && !authorised(message)), 0);
    assert_eq!(elsewhere.count(|message| message["http"].is_string()), 0, "{:?}", elsewhere.received());
    sources.close().await;
}

#[tokio::test]
async fn what_is_wrong_with_an_address_is_told_without_repeating_it() {
    let reason = async |url: &str, headers: &[(&str, &str)]| {
        let mut server = Scripted::http(json!({"tools": []}));
        let settings = server.http_settings();
        if !url.is_empty() {
            settings.url = url.to_owned();
        }
        settings.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let sources = server.open();
        let catalog = sources.catalog(LONG).await;
        let source = catalog.sources()[0].clone();
        assert_eq!(source.status, Status::Failed);
        let failed = sources.call(request("s", "ping", Value::Null)).await.unwrap_err();
        let is_ours = !source.reason.as_ref().unwrap().contains("cannot be reached");
        assert_eq!(failed.retryable, !is_ours, "only other settings mend it: {failed}");
        sources.close().await;
        source.reason.unwrap()
    };
    insta::assert_snapshot!(reason("token@@", &[]).await, @"`url` is no address: relative URL without a base; write `https://…`");
    insta::assert_snapshot!(reason("file:///etc/passwd", &[]).await, @"`url` is no web address; write `https://…`");
    insta::assert_snapshot!(reason("", &[("a b", "x")]).await, @"`headers.a b` is no name of a header");
    insta::assert_snapshot!(reason("", &[("X", "a\nb")]).await, @"the value of `headers.x` cannot be sent: it has a line break or the like in it");
    insta::assert_snapshot!(reason("", &[("Accept", "x")]).await, @"`headers.accept` is set by the protocol; remove it");
    // Nobody listens there, once the listener is gone.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    insta::assert_snapshot!(reason(&format!("http://{free}/?token=abc"), &[]).await, @"the server cannot be reached: Connection refused (os error 111); check `url`");
}

#[tokio::test]
async fn a_server_that_is_none_is_told_as_that() {
    for action in [
        json!({"http_status": 404, "body": "not here"}),
        json!({"http_status": 405}),
        json!({"http_status": 200, "content_type": "text/html", "body": "<html>"}),
        json!({"http_status": 200, "content_type": "application/json", "body": "{}"}),
    ] {
        let server = Scripted::http(json!({"on": [{"when": "http", "do": [action]}]}));
        let sources = server.open();
        let catalog = sources.catalog(LONG).await;
        assert_eq!(catalog.sources()[0].status, Status::Failed, "{action}");
        let reason = catalog.sources()[0].reason.as_deref().unwrap();
        assert!(reason.contains("what it should not") || reason.contains("is `url` the address"), "{action}: {reason}");
        sources.close().await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_know_the_newest_revision_is_asked_in_the_old_way() {
    for action in [
        json!({"http_status": 400, "body": "no session"}),
        json!({"http_status": 500, "body": "crash"}),
        json!({"http_status": 200, "content_type": "application/json", "body": "{}"}),
        json!({"hang": true}),
    ] {
        let on = json!([{"when": "server/discover", "do": [action]}]);
        let mut server = Scripted::http(json!({"tools": [ping()], "on": on}));
        server.settings.connect_timeout = Duration::from_secs(6);
        let sources = server.open();
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#, "{action}");
        sources.close().await;
    }
}

/// The name cannot be resolved, so that only a proxy can be meant. TLS goes through it and is not ended there.
#[tokio::test]
async fn a_proxy_of_the_environment_is_used_and_never_for_this_machine() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = proxy.accept().unwrap();
        let mut bytes = [0; 1024];
        let read = stream.read(&mut bytes).unwrap();
        stream.write_all(b"HTTP/1.1 502 X\r\n\r\n").unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    let mut environment = environment();
    environment.proxies = Proxies { https: Some(address.clone()), http: Some(address), no_proxy: None };
    // Straight to this machine, although a proxy is named.
    let near = Scripted::http(json!({"tools": [ping()]}));
    let sources = Sources::open(vec![near.settings.clone()], environment.clone());
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    sources.close().await;

    let mut far = Scripted::http(json!({"tools": []}));
    far.http_settings().url = "https://mcp.example.invalid/mcp".into();
    far.http_settings().headers = vec![("Authorization".into(), "Bearer sk-1234567890".into())];
    far.settings.secrets = Secrets::new(["Bearer sk-1234567890".to_owned()]);
    let sources = Sources::open(vec![far.settings.clone()], environment);
    let catalog = sources.catalog(LONG).await;
    assert_eq!(catalog.sources()[0].status, Status::Failed);
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("CONNECT mcp.example.invalid:443 HTTP/1.1\r\n"), "{asked}");
    assert!(!asked.contains("sk-1234567890"), "{asked}");
    sources.close().await;
}
