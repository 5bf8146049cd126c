//! From what an MCP server answered to a value or an error.
//!
//! Structured content first. Without it, a single text that holds a JSON object or array is that value, any other single
//! text is a text, several blocks are a list of blocks, and no block is `null`. What was mended in it is told in a note.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ServerResult},
};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::mend::{self, Mended};
use crate::{
    error::{CallError, ErrorCode},
    name,
    sources::CallOutput,
};

/// What a call may give, as JSON text.
pub(super) const MAX_RESULT: usize = 16 << 20;

/// What a failing tool may say for itself.
const MAX_MESSAGE: usize = 4096;

/// Reads an answer to a call of the tool `path`. With `raw`, the value is the whole answer.
pub(super) fn read(path: &str, mut answer: ServerResult, raw: bool) -> Result<CallOutput, CallError> {
    let protocol = |what: &str| Err(CallError::new(ErrorCode::Protocol, format!("`{path}`: the server {what}")));
    let mut notes: Vec<String> = Mended::of_answer(&mut answer).map(|mended| note(path, &mended)).into_iter().collect();
    let mut whole = None;
    let answer = match answer {
        ServerResult::CallToolResult(result) => {
            if raw {
                whole = serde_json::to_value(&result).ok();
            }
            Answer::of(result)
        }
        ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => Answer::default(),
        // A result that breaks the protocol somewhere: what can be used of it is used.
        ServerResult::CustomResult(result) => {
            whole = raw.then(|| result.0.clone());
            match Answer::of_value(result.0) {
                Some(answer) => answer,
                None => return protocol("answered with something that is no tool result"),
            }
        }
        ServerResult::InputRequiredResult(_) => return protocol("asks for input, which is not supported yet"),
        ServerResult::CreateTaskResult(_) => return protocol("started a task, which is not supported yet"),
        _ => return protocol("answered a different question"),
    };
    if answer.failed {
        let mut message = name::cut(&answer.text(), MAX_MESSAGE);
        if message.is_empty() {
            message = "the tool failed and did not say why".to_owned();
        }
        let mut error = CallError::new(ErrorCode::ToolError, format!("`{path}`: {message}"));
        error.data =
            whole.or(answer.structured).or_else(|| (answer.blocks.len() > 1).then(|| Value::Array(answer.blocks)));
        return Err(error);
    }
    let value = if raw { to_raw_value(&whole.unwrap_or_else(|| json!({ "content": [] }))) } else { answer.value() };
    let value = value
        .map_err(|error| CallError::new(ErrorCode::Internal, format!("bug: a value does not become JSON: {error}")))?;
    if value.get().len() > MAX_RESULT {
        let size = value.get().len();
        let message = format!("`{path}` gave {size} bytes, over the limit of {MAX_RESULT}; ask for less");
        return Err(CallError::new(ErrorCode::ResultTooLarge, message));
    }
    if !raw && value.get().starts_with('"') && answer.is_json_too_deep() {
        let why = format!("as JSON it is nested deeper than {} levels", mend::MAX_LEVELS);
        notes.push(format!("the answer of `{path}` stays a text: {why}"));
    }
    Ok(CallOutput { value, notes })
}

/// Says what was mended in an answer.
pub(super) fn note(path: &str, mended: &Mended) -> String {
    format!("the answer of `{path}` was mended: {}", mended.told())
}

/// Returns the schema of a whole answer.
pub(super) fn envelope() -> Value {
    json!({
        "type": "object",
        "description": "The server's whole answer: a `CallToolResult` of MCP.",
        "properties": {
            "content": {
                "type": "array",
                "items": {"type": "object", "properties": {"type": {"type": "string"}, "text": {"type": "string"}}, "required": ["type"]},
            },
            "structuredContent": {},
            "isError": {"type": "boolean"},
        },
        "required": ["content"],
    })
}

/// Turns a JSON-RPC error into ours.
pub(super) fn refused(path: &str, error: &ErrorData) -> CallError {
    let code = match error.code.0 {
        -32602 => ErrorCode::InvalidArguments,
        -32700 | -32600 | -32601 => ErrorCode::Protocol,
        // Everything else is how servers report that the tool failed.
        _ => ErrorCode::ToolError,
    };
    let message = format!("`{path}`: {}", name::cut(&error.message, MAX_MESSAGE));
    CallError::new(code, message).with_data(json!({"code": error.code.0, "data": error.data}))
}

#[derive(Debug, Default)]
struct Answer {
    structured: Option<Value>,
    blocks: Vec<Value>,
    failed: bool,
}

impl Answer {
    fn of(result: CallToolResult) -> Self {
        Self {
            structured: result.structured_content.filter(says_something),
            blocks: result.content.iter().filter_map(|block| serde_json::to_value(block).ok()).collect(),
            failed: result.is_error == Some(true),
        }
    }

    fn of_value(mut value: Value) -> Option<Self> {
        let map = value.as_object_mut()?;
        let blocks = match map.remove("content") {
            Some(Value::Array(blocks)) => Some(blocks),
            _ => None,
        };
        let had_structured = map.contains_key("structuredContent");
        let structured = map.remove("structuredContent").filter(says_something);
        if blocks.is_none() && structured.is_none() && !had_structured {
            return None;
        }
        // In words it breaks the protocol, and what is meant is clear.
        let failed = map.get("isError").is_some_and(|is| *is == Value::Bool(true) || *is == "true");
        Some(Self { structured, blocks: blocks.unwrap_or_default(), failed })
    }

    fn value(&self) -> Result<Box<RawValue>, serde_json::Error> {
        if let Some(structured) = &self.structured {
            return to_raw_value(structured);
        }
        match self.blocks.as_slice() {
            [] => to_raw_value(&Value::Null),
            [block] => match text_of(block) {
                Some(text) => match parsed(text) {
                    Some(value) => Ok(value),
                    None => to_raw_value(text),
                },
                // One block that is no text: alone, not a list of one, as a text is alone.
                None => to_raw_value(block),
            },
            blocks => to_raw_value(blocks),
        }
    }

    /// Returns whether there is only a text, which is JSON and no value for its depth alone.
    fn is_json_too_deep(&self) -> bool {
        let [block] = self.blocks.as_slice() else { return false };
        // The parser does not recurse for what it only passes over.
        let is_json = |text: &str| serde_json::from_str::<&RawValue>(text.trim()).is_ok();
        self.structured.is_none()
            && text_of(block).is_some_and(|text| starts_a_value(text) && mend::is_too_deep(text) && is_json(text))
    }

    fn text(&self) -> String {
        self.blocks.iter().filter_map(text_of).collect::<Vec<_>>().join("\n").trim().to_owned()
    }
}

/// Null beside content is how some servers say that there is nothing structured.
fn says_something(structured: &Value) -> bool {
    !structured.is_null()
}

fn text_of(block: &Value) -> Option<&str> {
    (block.get("type")?.as_str()? == "text").then(|| block.get("text")?.as_str()).flatten()
}

/// Returns the JSON object or array that `text` is, as it was written. One that is nested deeper than others can read stays a text.
fn parsed(text: &str) -> Option<Box<RawValue>> {
    (starts_a_value(text) && !mend::is_too_deep(text)).then(|| serde_json::from_str(text.trim()).ok()).flatten()
}

fn starts_a_value(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, expect: &str) {
        let answer: ServerResult = serde_json::from_value(result).unwrap();
        let shown = match read("s.t", answer, false) {
            Ok(output) => output.value.get().to_owned(),
            Err(error) => {
                let data = error.data.map(|data| format!(" {data}")).unwrap_or_default();
                format!("{}: {}{data}", error.code.as_str(), error.message)
            }
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn each_shape_of_an_answer_has_one_value() {
        let text = |text: &str| json!({"type": "text", "text": text});
        check(json!({"content": [text("{\"n\":2}")], "structuredContent": {"n": 1}}), r#"{"n":1}"#);
        check(json!({"content": [], "structuredContent": null}), "null");
        check(json!({"content": [text(" {\"b\": 1.50, \"a\":2}\n")]}), r#"{"b": 1.50, "a":2}"#);
        check(json!({"content": [text("[1]")]}), "[1]");
        check(json!({"content": [text("[1")]}), r#""[1""#);
        check(json!({"content": [text("12")]}), r#""12""#);
        check(json!({"content": [text("")]}), r#""""#);
        check(json!({"content": []}), "null");
        check(json!({}), "null");
        check(
            json!({"content": [text("[1]"), text("b")]}),
            r#"[{"type":"text","text":"[1]"},{"type":"text","text":"b"}]"#,
        );
        check(
            json!({"content": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}),
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
        );
        check(json!({"content": [{"type": "hologram", "x": 1}]}), r#"{"type":"hologram","x":1}"#);
        check(
            json!({"content": [text("hello"), 7], "structuredContent": null}),
            r#"[{"type":"text","text":"hello"},7]"#,
        );
        check(json!({"content": "none", "structuredContent": null}), "null");
        check(json!({"strange": true}), "protocol: `s.t`: the server answered with something that is no tool result");
    }

    #[test]
    fn a_raw_answer_is_the_whole_of_it() {
        let raw = |result: Value| read("s.t", serde_json::from_value(result).unwrap(), true);
        let text = json!({"type": "text", "text": "[1]"});
        let whole = json!({"content": [text], "structuredContent": {"n": 1}, "_meta": {"m": 2}});
        let given: Value = serde_json::from_str(raw(whole.clone()).unwrap().value.get()).unwrap();
        assert_eq!(given, whole);
        let failed = json!({"content": [text], "isError": true});
        let error = raw(failed.clone()).unwrap_err();
        assert_eq!((error.message.as_str(), error.data), ("`s.t`: [1]", Some(failed)));
        assert!(jsonschema::is_valid(&envelope(), &whole));
    }

    #[test]
    fn a_tool_that_says_it_failed_is_an_error_with_its_own_words() {
        let text = |text: &str| json!({"type": "text", "text": text});
        check(json!({"content": [text("no disk")], "isError": true}), "tool_error: `s.t`: no disk");
        check(json!({"content": [text("no disk")], "isError": "true"}), "tool_error: `s.t`: no disk");
        check(
            json!({"content": [], "isError": true, "structuredContent": {"why": 1}}),
            r#"tool_error: `s.t`: the tool failed and did not say why {"why":1}"#,
        );
    }
}
