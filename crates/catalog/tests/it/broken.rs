//! Answers that are none: whoever can be known to wait for them does not wait for a time-out.

use std::time::Duration;

use refrain_catalog::{ErrorCode, Status};
use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, ping, tool},
    support::{LONG, call, request},
};

/// A server over standard streams that writes this in answer to `odd`, and hangs in `stuck`.
fn writing(raw: &str) -> Scripted {
    let on = json!([{"when": "tools/call:odd", "do": [{"raw": raw}]}]);
    let mut server =
        Scripted::stdio(json!({"tools": [ping(), tool("odd", json!([])), tool("stuck", json!([]))], "on": on}));
    server.settings.call_total_timeout = LONG;
    server
}

async fn told(server: &Scripted) -> String {
    let sources = server.open();
    let told = call(&sources, "s", "odd", Value::Null).await;
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#, "the others go on");
    sources.close().await;
    told
}

#[tokio::test]
async fn a_broken_answer_fails_the_call_that_it_belongs_to_at_once() {
    let check = async |raw: &str, expect: &str| assert_eq!(told(&writing(raw)).await, expect);
    check(
        "{\"jsonrpc\":\"2.0\",\"id\":$ID}\n",
        "protocol: `s.odd`: it has run; its answer cannot be read: it has neither a result nor an error: \
         {\"jsonrpc\":\"2.0\",\"id\":3}",
    )
    .await;
    check(
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n",
        "protocol: `s.odd`: what?",
    )
    .await;
    check(
        "{\"content\": tru\n",
        "protocol: `s.odd`: it has run; its answer cannot be read: EOF while parsing a value at line 1 column 15: {\"content\": tru",
    )
    .await;
}

/// What programs print of their own objects is no answer, and neither is one to somebody else.
#[tokio::test]
async fn what_is_no_answer_to_a_call_does_not_end_it_and_is_told_when_its_time_is_over() {
    let check = async |noise: &str, told: &str| {
        let on = json!([
            {"when": "tools/call:fine", "do": [{"stdout": noise}, {"reply": {"content": []}}]},
            {"when": "tools/call:odd", "do": [{"stdout": "before\n"}, {"raw": noise}]},
        ]);
        let mut server = Scripted::stdio(json!({"tools": [tool("fine", json!([])), tool("odd", json!([]))], "on": on}));
        server.settings.call_total_timeout = Duration::from_millis(500);
        let sources = server.open();
        assert_eq!(call(&sources, "s", "fine", Value::Null).await, "null", "{noise}");
        let failed = sources.call(request("s", "odd", Value::Null)).await.unwrap_err();
        let expect = format!("it may or may not have run; meanwhile the server wrote: {told}");
        assert_eq!((failed.code, failed.message.ends_with(&expect)), (ErrorCode::Timeout, true), "{failed}");
        sources.close().await;
    };
    check("{ a: 1 }\n", "{ a: 1 }").await;
    check("{'level': 'info'}\n", "{'level': 'info'}").await;
    let foreign = "{\"jsonrpc\":\"2.0\",\"id\":777,\"result\":{}}";
    check(&format!("{foreign}\n"), &format!("an answer to nobody: {foreign}")).await;
    let of_nobody = "{\"jsonrpc\":\"2.0\",\"id\":\"x\"}";
    let told = format!("(an answer that cannot be read: it has neither a result nor an error: {of_nobody})");
    check(&format!("{of_nobody}\n"), &told).await;
}

#[tokio::test]
async fn what_the_server_wrote_before_a_call_is_not_told_with_its_time_out() {
    let on = json!([{"when": "start", "do": [{"stdout": "hello\n"}]}]);
    let mut server = Scripted::stdio(json!({"tools": [tool("stuck", json!([]))], "on": on}));
    server.settings.call_total_timeout = Duration::from_millis(300);
    let sources = server.open();
    let told = call(&sources, "s", "stuck", Value::Null).await;
    assert_eq!(told, "timeout: `s.stuck` gave no answer within 300 ms; it may or may not have run");
    sources.close().await;
}

/// Nobody can know whose it is.
#[tokio::test]
async fn an_error_without_a_number_ends_none_of_several_calls_and_is_told_to_them() {
    let error = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"no\"}}";
    let mut server = writing(&format!("{error}\n"));
    server.settings.call_total_timeout = Duration::from_millis(800);
    let sources = server.open();
    sources.catalog(LONG).await;
    let stuck = async {
        let _ = sources.call(request("s", "stuck", Value::Null)).await;
    };
    let odd = async {
        while server.methods("tools/call") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        sources.call(request("s", "odd", Value::Null)).await.unwrap_err()
    };
    let ((), failed) = tokio::join!(stuck, odd);
    let expect = format!("meanwhile the server wrote: an error that belongs to no call: {error}");
    assert!(failed.code == ErrorCode::Timeout && failed.message.ends_with(&expect), "{failed}");
    let status = sources.catalog(LONG).await.sources()[0].clone();
    assert_eq!(status.status, Status::Degraded, "{status:?}");
    sources.close().await;
}

#[tokio::test]
async fn half_an_answer_and_then_the_end_is_an_interruption() {
    for half in ["{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"cont", "{\"jsonrpc\":\"2.0\",\"id\":$ID"] {
        let on = json!([{"when": "tools/call:odd", "do": [{"stdout": half}, {"exit": 3}]}]);
        let server = Scripted::stdio(json!({"tools": [tool("odd", json!([]))], "on": on}));
        let sources = server.open();
        let failed = sources.call(request("s", "odd", Value::Null)).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::Interrupted, "{failed}");
        assert!(failed.message.ends_with("; it may or may not have run"), "{failed}");
        sources.close().await;
    }
    // As an event, with and without its line break.
    for half in ["data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"cont", "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\n"]
    {
        let on = json!([{"when": "tools/call:odd", "do": [{"stdout": half}, {"cut": true}]}]);
        let script = json!({"tools": [tool("odd", json!([]))], "answers": ["tools/call:odd"], "on": on});
        let server = Scripted::http(script);
        let sources = server.open();
        let failed = sources.call(request("s", "odd", Value::Null)).await.unwrap_err();
        assert_eq!(failed.code, ErrorCode::Interrupted, "{failed}");
        sources.close().await;
    }
    // A whole one is an answer, with or without its line break.
    let whole = "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}";
    let on = json!([{"when": "tools/call:odd", "do": [{"stdout": whole}, {"exit": 0}]}]);
    let server = Scripted::stdio(json!({"tools": [tool("odd", json!([]))], "on": on}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "odd", Value::Null).await, "null");
    sources.close().await;
}

#[tokio::test]
async fn an_answer_without_end_fails_its_call_when_it_is_too_long() {
    let told = "result_too_large: `s.odd`: it has run; its answer cannot be taken: it is longer than 64 MiB, and a result may \
                have 16 MiB; ask for less";
    let mebibytes = json!({"repeat": 66, "do": [{"stdout": "x".repeat(1 << 20)}]});
    for head in ["{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":\"", "{\"jsonrpc\":\"2.0\",\"result\":\""] {
        let on = json!([{"when": "tools/call:odd", "do": [{"stdout": head}, mebibytes, {"hang": true}]}]);
        let mut server = Scripted::stdio(json!({"tools": [tool("odd", json!([]))], "on": on}));
        server.settings.call_total_timeout = LONG;
        let sources = server.open();
        assert_eq!(call(&sources, "s", "odd", Value::Null).await, told);
        sources.close().await;
    }
    let on = json!([{"when": "tools/call:odd", "do": [{"stdout": "data: "}, mebibytes, {"hang": true}]}]);
    let server = Scripted::http(json!({"tools": [tool("odd", json!([]))], "answers": ["tools/call:odd"], "on": on}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "odd", Value::Null).await, told);
    sources.close().await;
}

#[tokio::test]
async fn an_answer_by_http_that_is_none_fails_its_call_at_once() {
    let check = async |action: Value, expect: &str| {
        let on = json!([{"when": "tools/call:odd", "do": [action]}]);
        let server = Scripted::http(json!({"tools": [ping(), tool("odd", json!([]))], "on": on}));
        let mut settings = server.settings.clone();
        settings.call_total_timeout = LONG;
        let sources = refrain_catalog::Sources::open(vec![settings], crate::support::environment());
        assert_eq!(call(&sources, "s", "odd", Value::Null).await, expect);
        assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
        sources.close().await;
    };
    let json = |body: &str| json!({"http_status": 200, "content_type": "application/json", "body": body});
    let events = |body: &str| json!({"http_status": 200, "content_type": "text/event-stream", "body": format!("data: {body}\n\n"), "open": true});
    let unread = "protocol: `s.odd`: it has run; its answer cannot be read: ";
    for way in [json, events] {
        let bare = r#"{"jsonrpc":"2.0","id":9}"#;
        check(way(bare), &format!("{unread}it has neither a result nor an error: {bare}")).await;
        check(
            way(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}"#),
            "protocol: `s.odd`: what?",
        )
        .await;
        let foreign = r#"{"jsonrpc":"2.0","id":777,"result":{}}"#;
        check(way(foreign), &format!("{unread}it has the number `777`, which is not that of the request: {foreign}"))
            .await;
    }
    let nothing = |status: &str| {
        format!(
            "protocol: `s.odd`: the server answers what it should not: HTTP {status} and no answer; the call may or may not have run"
        )
    };
    check(json!({"http_status": 202}), &nothing("202 Accepted")).await;
    check(json!({"http_status": 200}), &nothing("200 OK")).await;
    check(json(" "), &nothing("200 OK")).await;
}

#[tokio::test]
async fn a_list_that_is_odd_is_taken_and_shows_in_its_source() {
    let check = async |script: Value, tools: usize, expect: &str| {
        for is_http in [false, true] {
            let server = if is_http { Scripted::http(script.clone()) } else { Scripted::stdio(script.clone()) };
            let sources = server.open();
            let catalog = sources.catalog(LONG).await;
            let status = &catalog.sources()[0];
            let shown = format!("{} {}", status.status.as_str(), status.reason.as_deref().unwrap_or_default());
            assert_eq!((catalog.tools().len(), shown.as_str()), (tools, expect), "{script}");
            if tools > 0 {
                assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
            }
            sources.close().await;
        }
    };
    let listing = |result: Value| json!({"on": [{"when": "tools/list", "do": [{"reply": result}]}]});
    check(listing(json!({"tools": null})), 0, "degraded its list of tools is `null` and not a list").await;
    check(listing(json!({"tools": []})), 0, "ready ").await;
    check(json!({"tools": [ping(), ping()]}), 1, "degraded it lists `ping` more than once; the first one counts").await;
    let nameless = json!({"tools": [ping(), {"name": ""}, {"name": ""}]});
    check(nameless, 1, "degraded 2 of its 3 tools have no name and are left out").await;
    check(
        json!({"tools": [ping()], "protocolVersion": "9999-01-01"}),
        1,
        "degraded it speaks revision `9999-01-01` of the protocol, which is not known here; what it means may be misread",
    )
    .await;
}

#[tokio::test]
async fn a_tool_whose_schema_takes_no_object_says_so() {
    let odd = |schema: Value| json!({"tools": [{"name": "odd", "inputSchema": schema}]});
    let check = async |schema: Value, expect: &[&str]| {
        let server = Scripted::stdio(odd(schema));
        let sources = server.open();
        let catalog = sources.catalog(LONG).await;
        assert_eq!(catalog.resolve("s", "odd").unwrap().notes, expect);
        sources.close().await;
    };
    let note = "its input schema takes no object, so it cannot be called";
    check(json!({"type": "array"}), &[note]).await;
    check(json!({"type": ["string", "null"]}), &[note]).await;
    check(json!({"type": ["object", "null"]}), &[]).await;
    check(json!({"anyOf": [{"type": "object"}]}), &[]).await;
}

#[tokio::test]
async fn a_failure_in_words_is_a_failure() {
    let result = json!([{"result": {"content": [{"type": "text", "text": "no disk"}], "isError": "true"}}]);
    let server = Scripted::stdio(json!({"tools": [tool("odd", result)]}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "odd", Value::Null).await, "tool_error: `s.odd`: no disk");
    sources.close().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_ping_and_an_address_is_told() {
    let on = json!([
        {"when": "ping", "do": [{"http_status": 500, "body": "x"}]},
        {"when": "tools/call:odd", "do": [{"http_status": 404, "body": "no such page"}]},
    ]);
    let server = Scripted::http(json!({"tools": [ping(), tool("odd", json!([]))], "on": on}));
    let sources = server.open();
    sources.catalog(LONG).await;
    assert_eq!(sources.diagnose().await[0].notes, ["it does not answer `ping`: the server answers 500"]);
    sources.close().await;
    let server =
        Scripted::http(json!({"on": [{"when": "http", "do": [{"http_status": 404, "body": "no such page"}]}]}));
    let sources = server.open();
    let reason = sources.catalog(LONG).await.sources()[0].reason.clone().unwrap();
    let expect = "the server answers 404: there is nothing at this address (no such page); is `url` the address of its MCP endpoint?";
    assert_eq!(reason, expect);
    sources.close().await;
}

/// Nothing is waited for that nobody asked for.
#[tokio::test]
async fn a_notification_that_is_answered_without_end_holds_up_nothing() {
    let action = json!({"http_status": 200, "content_type": "text/event-stream", "body": ": hi\n\n", "open": true});
    let on = json!([{"when": "notifications/initialized", "do": [action]}]);
    let server = Scripted::http(json!({"tools": [ping()], "on": on}));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
    sources.close().await;
}
