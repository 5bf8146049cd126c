//! From what a server wrote to messages: leniently, since a slip in one answer should cost that answer and nothing else.
//!
//! What can be mended without guessing is mended, in its text (see [`mend`]) and in its form. What is an answer and cannot be
//! read becomes an error under its number, so that nobody waits for it until a time-out. Everything else is noise.

use std::{borrow::Cow, sync::LazyLock};

use regex::bytes::Regex;
use rmcp::{
    ErrorData,
    model::{ErrorCode, NumberOrString, RequestId, ServerJsonRpcMessage},
};
use serde_json::{Map, Value, json};

use super::{mend, result};
use crate::name;

/// As much of a line is quoted, and looked through for a number.
pub(super) const GLIMPSE: usize = 1024;
const QUOTED: usize = 120;

/// The error code under which an answer that cannot be read is told. JSON-RPC leaves it to implementations.
pub(super) const UNREADABLE: ErrorCode = ErrorCode(-32_097);

/// The error code under which an answer is told that is too long to be read.
pub(super) const TOO_LONG: ErrorCode = ErrorCode(-32_098);

/// One thing that a server wrote.
#[derive(Debug)]
pub(super) enum Read {
    Message(Box<ServerJsonRpcMessage>),
    /// An answer, or what looks like one, that cannot be read.
    Unreadable {
        number: Number,
        why: String,
    },
    /// Text that is no message.
    Noise(String),
}

/// The number of an answer that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// It was read.
    Sure(RequestId),
    /// It was found in the text, and may be the number of something else.
    Likely(RequestId),
    Unknown,
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Vec<Read> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    if !line.starts_with(b"{") && !line.starts_with(b"[") {
        return vec![Read::Noise(quoted(line))];
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return vec![Read::Message(Box::new(message))];
    }
    if let Ok(value) = serde_json::from_slice(line) {
        return all_of(value);
    }
    let (text, mended) =
        mend::mend(line).map_or_else(|| (Cow::from(line), None), |(text, mended)| (Cow::from(text), Some(mended)));
    match serde_json::from_slice::<Value>(&text) {
        Ok(mut value) => {
            if let Some(mended) = mended {
                match &mut value {
                    Value::Array(all) => {
                        all.iter_mut().filter_map(Value::as_object_mut).for_each(|one| mended.ride(one))
                    }
                    Value::Object(one) => mended.ride(one),
                    _ => {}
                }
            }
            all_of(value)
        }
        Err(error) if is_attempt(line) => {
            let number = glimpsed(line, line).map_or(Number::Unknown, Number::Likely);
            vec![Read::Unreadable { number, why: format!("{error}: {}", quoted(line)) }]
        }
        Err(_) => vec![Read::Noise(quoted(line))],
    }
}

/// Returns whether a text that is no JSON was meant to be a message. What programs print of their own objects, `{ a: 1 }` or
/// `{'a': 1}`, was not.
fn is_attempt(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    rest.is_some_and(|rest| rest.starts_with(b"\"")) || line.windows(9).any(|part| part == b"\"jsonrpc\"")
}

fn all_of(value: Value) -> Vec<Read> {
    match value {
        // A batch, which revision 2025-03-26 had.
        Value::Array(all) if all.iter().any(Value::is_object) => all.into_iter().map(one).collect(),
        value => vec![one(value)],
    }
}

/// Makes an error of an answer that cannot be read.
pub(super) fn unreadable(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    let error = ErrorData::new(UNREADABLE, format!("its answer cannot be read: {why}"), None);
    ServerJsonRpcMessage::error(error, Some(id))
}

/// Returns whether an error says that an answer cannot be read, and not what the server says.
pub(super) fn is_ours(error: &ErrorData) -> bool {
    matches!(error.code, UNREADABLE | TOO_LONG)
}

/// Makes an error of an answer that is longer than `most` bytes.
pub(super) fn too_long(id: RequestId, most: usize) -> ServerJsonRpcMessage {
    let limits =
        format!("it is longer than {} MiB, and a result may have {} MiB", most >> 20, result::MAX_RESULT >> 20);
    ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, limits, None), Some(id))
}

/// Returns the number of an answer of which only the first and the last part are there. Most write it first or last.
pub(super) fn glimpsed(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    static ID: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#""id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{1,64}")"#).ok());
    let id = ID.as_ref()?;
    let head = &head[..head.len().min(GLIMPSE)];
    let tail = &tail[tail.len().saturating_sub(GLIMPSE)..];
    // What the result holds may have an `id` of its own, so in front only what stands before the result counts.
    let before = head.windows(8).position(|part| part == b"\"result\"").unwrap_or(head.len());
    let found = id.captures(&head[..before]).or_else(|| id.captures_iter(tail).last())?;
    serde_json::from_slice(found.get(1)?.as_bytes()).ok()
}

/// Returns our own number for an answer's. Some servers send numbers back as texts.
pub(super) fn numeric(id: RequestId) -> RequestId {
    match &id {
        NumberOrString::String(text) => text.parse().map_or(id, NumberOrString::Number),
        NumberOrString::Number(_) => id,
    }
}

fn one(value: Value) -> Read {
    let text = quoted(value.to_string().as_bytes());
    let Value::Object(mut map) = value else { return Read::Noise(text) };
    let is_answer = map.contains_key("result") || map.contains_key("error");
    let is_message = map.contains_key("method") || map.contains_key("id") && (is_answer || map.contains_key("jsonrpc"));
    if !is_message {
        return Read::Noise(text);
    }
    let id = map.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let number = id.map_or(Number::Unknown, Number::Sure);
    if !is_answer && !map.contains_key("method") {
        return Read::Unreadable { number, why: format!("it has neither a result nor an error: {text}") };
    }
    set_right(&mut map);
    match serde_json::from_value(Value::Object(map)) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(_) if is_answer => Read::Unreadable { number, why: text },
        Err(_) => Read::Noise(text),
    }
}

/// Sets right what servers get wrong and what has one meaning only.
fn set_right(map: &mut Map<String, Value>) {
    map.insert("jsonrpc".to_owned(), "2.0".into());
    match map.remove("error") {
        None => {}
        Some(Value::Null) if map.contains_key("result") => {}
        Some(error) => {
            map.remove("result");
            let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
            let message = match (&error, error.get("message")) {
                (_, Some(Value::String(message))) | (Value::String(message), _) => message.clone(),
                _ => error.to_string(),
            };
            let mut mended = json!({"code": code.unwrap_or(ErrorCode::INTERNAL_ERROR.0), "message": message});
            if let Some(data) = error.get("data") {
                mended["data"] = data.clone();
            }
            map.insert("error".to_owned(), mended);
        }
    }
}

/// Returns the beginning of what a server wrote, on one line.
pub(super) fn quoted(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * QUOTED)]);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    name::cut(text.trim(), QUOTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[u8], expect: &str) {
        let shown: Vec<String> = read(line)
            .into_iter()
            .map(|read| match read {
                Read::Message(message) => serde_json::to_string(&message).unwrap(),
                Read::Unreadable { number, .. } => format!("unreadable {number:?}"),
                Read::Noise(text) => format!("noise {text}"),
            })
            .collect();
        assert_eq!(shown.join(" | "), expect, "{}", String::from_utf8_lossy(line));
    }

    #[test]
    fn what_has_one_meaning_is_mended_and_the_rest_is_told_apart() {
        let fine = r#"{"jsonrpc":"2.0","id":1,"result":{"x":1}}"#;
        check(fine.as_bytes(), fine);
        check(format!("\u{feff} {fine}\r").as_bytes(), fine);
        check(br#"{"id":1,"result":{"x":1}}"#, fine);
        check(br#"{"jsonrpc":"1.0","id":1,"error":null,"result":{"x":1}}"#, fine);
        check(format!("[{fine},{fine},7]").as_bytes(), &format!("{fine} | {fine} | noise 7"));
        check(br#"{"id":1,"error":"no"}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}"#);
        check(
            br#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"message":"no","data":2}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":2}}"#,
        );
        check(b"", "");
        check(b"  \r", "");
        check(b"Listening on 3000", "noise Listening on 3000");
        check(br#"{"level":"info"}"#, r#"noise {"level":"info"}"#);
        check(b"[warn] no", "noise [warn] no");
        check(b"[1,2]", "noise [1,2]");
        check(br#"{"jsonrpc":"2.0","id":7,"result":{"#, "unreadable Likely(Number(7))");
        check(br#"{"result":{"id":3},"jsonrpc":"2.0","id":"a","#, "unreadable Likely(String(\"a\"))");
        check(br#"{"jsonrpc":"2.0","id":7}"#, "unreadable Sure(Number(7))");
        check(br#"{"jsonrpc":"2.0","id":[],"result":{}}"#, "unreadable Unknown");
        check(br#"{"note""#, "unreadable Unknown");
        check(b"{ a: 1 }", "noise { a: 1 }");
        check(b"{'id': 1}", "noise {'id': 1}");
        check(b"{", "noise {");
        check(br#"{"id":7}"#, r#"noise {"id":7}"#);
        let rides = |mended: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"x":{mended}}}}}"#);
        let counts = |bytes, halves, numbers| {
            format!(
                r#"null,"_meta":{{"refrain/mended":{{"bytes":{bytes},"halves":{halves},"numbers":{numbers},"levels":0,"places":[]}}}}"#
            )
        };
        check(rides("1e400").as_bytes(), &rides(&counts(0, 0, 1)));
        check(rides(r#""\udc00""#).as_bytes(), &rides(&counts(0, 1, 0).replace("null", "\"\u{fffd}\"")));
        let bytes = rides(r#""!""#)
            .into_bytes()
            .iter()
            .map(|byte| if *byte == b'!' { 0xff } else { *byte })
            .collect::<Vec<_>>();
        check(&bytes, &rides(&counts(1, 0, 0).replace("null", "\"\u{fffd}\"")));
        check(
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{}1"#, "[".repeat(1000)).as_bytes(),
            "unreadable Likely(Number(7))",
        );
    }
}
