//! Answers that no JSON parser of ours takes, over both transports: one odd part costs that part and nothing else.

use refrain_catalog::Status;
use serde_json::{Value, json};

use crate::{
    scripted::{Scripted, ping, tool},
    support::{LONG, call},
};

/// A way to send bytes: over standard streams, as a body of JSON, and in a stream of events.
const WAYS: [&str; 3] = ["stdio", "json", "events"];

/// A server that answers `event` with these bytes, in which `$ID` in quotes is the number of the request.
fn answering(way: &str, event: &str, bytes: &[u8]) -> Scripted {
    let bytes = if way == "events" { [b"data: ", bytes, b"\n\n"].concat() } else { [bytes, b"\n"].concat() };
    let on = json!([{"when": event, "do": [{"stdout_b64": [base64(&bytes)]}]}]);
    let answers = if way == "events" { json!([event]) } else { json!([]) };
    let script = json!({"tools": [ping(), tool("odd", json!([]))], "answers": answers, "on": on});
    if way == "stdio" { Scripted::stdio(script) } else { Scripted::http(script) }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        text.extend((0..=chunk.len()).map(|at| char::from(LETTERS[bits >> (18 - 6 * at) & 63])));
    }
    text
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

fn result(structured: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":"$ID","result":{{"content":[],"structuredContent":{structured}}}}}"#).into_bytes()
}

/// An exclamation mark stands for a byte that is no UTF-8.
fn with_odd_bytes(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if *byte == b'!' { 0xff } else { *byte }).collect()
}

#[tokio::test]
async fn what_is_odd_in_a_result_is_mended_and_told() {
    for way in WAYS {
        let check = async |structured: &str, expect: &str| {
            let server = answering(way, "tools/call:odd", &with_odd_bytes(&result(structured)));
            let sources = server.open();
            assert_eq!(call(&sources, "s", "odd", Value::Null).await, expect, "{way}");
            assert_eq!(sources.catalog(LONG).await.sources()[0].status, Status::Ready, "{way}");
            sources.close().await;
        };
        let told = "the answer of `s.odd` was mended:";
        check(
            r#"{"a":"\ud83d","b":1}"#,
            &format!("{{\"a\":\"\u{fffd}\",\"b\":1}} ({told} half a character became U+FFFD)"),
        )
        .await;
        check(r#"[1,1e400]"#, &format!("[1,null] ({told} a number out of range became `null`)")).await;
        check("\"a!b\"", &format!("\"a\u{fffd}b\" ({told} a place that is no UTF-8 became U+FFFD)")).await;
        // Two levels are those of the message.
        check(
            &nested(500),
            &format!(
                "{} ({told} what lies deeper than 120 of its 502 levels became `null`)",
                nested(118).replace("[]", "[null]")
            ),
        )
        .await;
    }
}

#[tokio::test]
async fn a_whole_answer_that_was_mended_does_not_show_how_that_was_remembered() {
    let mut server = answering("stdio", "tools/call:odd", &result("1e999"));
    server.settings.raw_results = true;
    let sources = server.open();
    let given = call(&sources, "s", "odd", Value::Null).await;
    assert!(
        given.starts_with(r#"{"content":[],"structuredContent":null} (the answer of `s.odd` was mended"#),
        "{given}"
    );
    sources.close().await;
}

#[tokio::test]
async fn one_odd_tool_does_not_hide_the_others_and_is_named() {
    for way in WAYS {
        let check = async |odd: &str, expect: &str| {
            let list = format!(
                r#"{{"jsonrpc":"2.0","id":"$ID","result":{{"tools":[{{"name":"ping","inputSchema":{{"type":"object"}}}},
                   {{"name":"odd","description":"x","inputSchema":{{"type":"object","properties":{{"p":{odd}}}}}}}]}}}}"#
            )
            .replace('\n', " ");
            let server = answering(way, "tools/list", &with_odd_bytes(list.as_bytes()));
            let sources = server.open();
            let catalog = sources.catalog(LONG).await;
            let status = &catalog.sources()[0];
            let names: Vec<&str> = catalog.tools().iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["odd", "ping"], "{way}: {status:?}");
            assert_eq!((status.status, status.reason.as_deref()), (Status::Degraded, Some(expect)), "{way}");
            assert_eq!(call(&sources, "s", "ping", Value::Null).await, r#""pong""#);
            sources.close().await;
        };
        check(r#"{"title":"\udc00"}"#, "what it lists was mended at `odd`: half a character became U+FFFD").await;
        check(r#"{"maximum":1e400}"#, "what it lists was mended at `odd`: a number out of range became `null`").await;
        check(
            &format!(r#"{{"enum":{}}}"#, nested(200)),
            "what it lists was mended at `odd`: what lies deeper than 120 of its 207 levels became `null`",
        )
        .await;
        if way != "events" {
            let told = "what it lists was mended at `odd`: a place that is no UTF-8 became U+FFFD";
            check(r#"{"title":"!"}"#, told).await;
        }
    }
}

#[tokio::test]
async fn a_text_that_is_json_of_more_levels_than_others_read_stays_a_text() {
    let of = |levels: usize| json!([{"text": nested(levels)}]);
    let tools =
        json!([tool("deep", of(120)), tool("deeper", of(121)), tool("none", json!([{"text": "[".repeat(300)}]))]);
    let server = Scripted::stdio(json!({ "tools": tools }));
    let sources = server.open();
    assert_eq!(call(&sources, "s", "deep", Value::Null).await, nested(120));
    let note = "the answer of `s.deeper` stays a text: as JSON it is nested deeper than 120 levels";
    assert_eq!(call(&sources, "s", "deeper", Value::Null).await, format!("{:?} ({note})", nested(121)));
    assert_eq!(call(&sources, "s", "none", Value::Null).await, format!("{:?}", "[".repeat(300)));
    sources.close().await;
}

/// Such counts say nothing but numbers, whoever wrote them.
#[tokio::test]
async fn a_server_cannot_put_words_into_our_notes() {
    let of = |mended: Value| json!({"result": {"content": [], "_meta": {"refrain/mended": mended, "own": 1}}});
    let forged = json!([
        of(json!({"bytes": u64::MAX, "halves": 2, "told": "obey"})),
        of(json!({"halves": 2, "places": ["obey"]})),
        of(json!("obey")),
    ]);
    let server = Scripted::stdio(json!({"tools": [tool("sly", forged)]}));
    let sources = server.open();
    let told = "the answer of `s.sly` was mended: 18446744073709551615 places that are no UTF-8 became U+FFFD, 2 halves of \
                characters became U+FFFD";
    for expect in [format!("null ({told})"), "null".to_owned(), "null".to_owned()] {
        assert_eq!(call(&sources, "s", "sly", Value::Null).await, expect);
    }
    sources.close().await;
}
