//! The arguments of a call, checked once.
//!
//! A model reads the complaint and tries again, so every fault is named at once, each with its key, what came and what would
//! be right. `null` counts as left out: many clients send it for that.

use rmcp::model::JsonObject;
use serde_json::Value;

use refrain_runtime::{Effects, Language};

/// What a call without a budget of its own may answer, in tokens.
pub(crate) const DEFAULT_OUTPUT_TOKENS: u64 = 10_000;
/// Characters of one page of `read_artifact`, where no number is asked for, and at most.
pub(crate) const DEFAULT_CHARACTERS: u64 = 20_000;
pub(crate) const MOST_CHARACTERS: u64 = 400_000;
/// Names in one `describe_tools`.
pub(crate) const MOST_NAMES: usize = 50;
/// Hits of one `search_tools`.
pub(crate) const MOST_HITS: u64 = 50;
/// Hits where no number is asked for.
pub(crate) const DEFAULT_HITS: u64 = 10;

/// Arguments of `run_code`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunCode {
    pub(crate) code: String,
    pub(crate) language: Language,
    pub(crate) session: Option<String>,
    pub(crate) timeout_ms: Option<u64>,
    /// What its calls may do.
    pub(crate) effects: Effects,
    /// The run that this script corrects.
    pub(crate) amend: Option<String>,
    pub(crate) max_output_tokens: u64,
}

/// Arguments of `run_tool`.
#[derive(Debug, PartialEq)]
pub(crate) struct RunTool {
    pub(crate) path: String,
    pub(crate) args: JsonObject,
    pub(crate) max_output_tokens: u64,
}

/// Arguments of `get_run` and `resume_run`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OneRun {
    pub(crate) run_id: String,
    pub(crate) max_output_tokens: u64,
}

/// Arguments of `read_artifact`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReadArtifact {
    pub(crate) id: String,
    /// A JSON pointer into the report.
    pub(crate) path: Option<String>,
    /// In characters.
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

/// Arguments of `search_tools`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchTools {
    pub(crate) query: String,
    pub(crate) limit: usize,
    /// Tools of this source alone.
    pub(crate) namespace: Option<String>,
    /// Hits to leave out: what the cursor says.
    pub(crate) skip: usize,
}

/// Arguments of `describe_tools`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DescribeTools {
    pub(crate) names: Vec<String>,
}

/// Arguments that cannot be used, in words for a model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` was not run, its arguments are wrong: {}", faults.join("; "))]
pub(crate) struct BadArguments {
    tool: &'static str,
    faults: Vec<String>,
}

impl RunCode {
    pub(crate) fn parse(given: Option<JsonObject>) -> Result<Self, BadArguments> {
        let mut given = Given::new("run_code", given);
        let code = given.required("code", "the script as a text", text);
        let language = given.optional("language", "`typescript` (JavaScript is a part of it)", language);
        let session =
            given.optional("session", "a text that is not empty", |value| text(value).filter(|s| !s.is_empty()));
        let timeout_ms = given.optional("timeout_ms", "a whole number of milliseconds, at least 1", count);
        let effects = given.optional("effects", "`read` or `all`", |value| match value.as_str()? {
            "read" => Some(Effects::Read),
            "all" => Some(Effects::All),
            _ => None,
        });
        let plan = given.optional("plan", "`true` or `false`", Value::as_bool).unwrap_or_default();
        if plan && effects.is_some() {
            given.faults.push("`effects` cannot stand beside `plan`: a plan holds the writes back".to_owned());
        }
        let amend = given.optional("amend", "the id of the run that the script corrects", name);
        if amend.is_some() {
            for (key, has) in [
                ("session", session.is_some()),
                ("timeout_ms", timeout_ms.is_some()),
                ("effects", effects.is_some()),
                ("plan", plan),
            ] {
                if has {
                    given
                        .faults
                        .push(format!("`{key}` cannot stand beside `amend`: a corrected run has what the old one had"));
                }
            }
        }
        let budget = given.budget();
        given.finish()?;
        Ok(Self {
            effects: if plan { Effects::Plan } else { effects.unwrap_or_default() },
            amend,
            code: code.unwrap_or_default(),
            language: language.unwrap_or_default(),
            session,
            timeout_ms,
            max_output_tokens: budget.unwrap_or(DEFAULT_OUTPUT_TOKENS),
        })
    }
}

impl RunTool {
    pub(crate) fn parse(given: Option<JsonObject>) -> Result<Self, BadArguments> {
        let mut given = Given::new("run_tool", given);
        let path = given.required("path", "the tool's path, such as `github.create_issue`", name);
        let args = given.optional("args", "an object", |value| value.as_object().cloned());
        let budget = given.budget();
        given.finish()?;
        Ok(Self {
            path: path.unwrap_or_default(),
            args: args.unwrap_or_default(),
            max_output_tokens: budget.unwrap_or(DEFAULT_OUTPUT_TOKENS),
        })
    }
}

impl OneRun {
    pub(crate) fn parse(tool: &'static str, given: Option<JsonObject>) -> Result<Self, BadArguments> {
        let mut given = Given::new(tool, given);
        let run_id = given.required("run_id", "the id of the run", name);
        let budget = given.budget();
        given.finish()?;
        Ok(Self { run_id: run_id.unwrap_or_default(), max_output_tokens: budget.unwrap_or(DEFAULT_OUTPUT_TOKENS) })
    }
}

impl ReadArtifact {
    pub(crate) fn parse(given: Option<JsonObject>) -> Result<Self, BadArguments> {
        let mut given = Given::new("read_artifact", given);
        let id = given.required("id", "the `artifact.id` of the answer that was cut", name);
        let path = given.optional("path", "a JSON pointer, such as `/result/items/0`", text);
        let offset = given.optional("offset", "a whole number of characters", Value::as_u64);
        let limit = given.optional("limit", &format!("a whole number from 1 to {MOST_CHARACTERS}"), |value| {
            count(value).filter(|limit| *limit <= MOST_CHARACTERS)
        });
        given.finish()?;
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Self {
            id: id.unwrap_or_default(),
            path,
            offset: size(offset.unwrap_or(0)),
            limit: size(limit.unwrap_or(DEFAULT_CHARACTERS)),
        })
    }
}

impl SearchTools {
    pub(crate) fn parse(given: Option<JsonObject>) -> Result<Self, BadArguments> {
        let mut given = Given::new("search_tools", given);
        let query = given.required("query", "a few words as a text", text);
        let limit = given.optional("limit", &format!("a whole number from 1 to {MOST_HITS}"), |value| {
            count(value).filter(|limit| *limit <= MOST_HITS)
        });
        let namespace = given.optional("namespace", "the name of a source as a text", text);
        let skip =
            given.optional("cursor", "the `next_cursor` of the page before", |value| value.as_str()?.parse().ok());
        given.finish()?;
        let limit = usize::try_from(limit.unwrap_or(DEFAULT_HITS)).unwrap_or(usize::MAX);
        Ok(Self { query: query.unwrap_or_default(), limit, namespace, skip: skip.unwrap_or(0) })
    }
}

impl DescribeTools {
    pub(crate) fn parse(given: Option<JsonObject>) -> Result<Self, BadArguments> {
        let mut given = Given::new("describe_tools", given);
        let expected = format!(
            "an array of 1 to {MOST_NAMES} tool paths or patterns, such as `[\"github.list_issues\", \"git.*\"]`"
        );
        let names = given.required("names", &expected, |value| {
            let names = value.as_array()?.iter().map(text).collect::<Option<Vec<_>>>()?;
            (1..=MOST_NAMES).contains(&names.len()).then_some(names)
        });
        given.finish()?;
        Ok(Self { names: names.unwrap_or_default() })
    }
}

/// What is left of the arguments while they are taken one by one.
struct Given {
    tool: &'static str,
    left: JsonObject,
    known: Vec<&'static str>,
    faults: Vec<String>,
}

impl Given {
    fn new(tool: &'static str, given: Option<JsonObject>) -> Self {
        Self { tool, left: given.unwrap_or_default(), known: Vec::new(), faults: Vec::new() }
    }

    fn optional<T>(&mut self, key: &'static str, expected: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        self.known.push(key);
        let value = self.left.shift_remove(key).filter(|value| !value.is_null())?;
        let read = read(&value);
        if read.is_none() {
            self.faults.push(format!("`{key}` is {}; send {expected}", shown(&value)));
        }
        read
    }

    fn required<T>(&mut self, key: &'static str, expected: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        if self.left.get(key).is_none_or(Value::is_null) {
            self.faults.push(format!("`{key}` is missing; send {expected}"));
        }
        self.optional(key, expected, read)
    }

    fn budget(&mut self) -> Option<u64> {
        self.optional("max_output_tokens", "a whole number of tokens, at least 1", count)
    }

    fn finish(mut self) -> Result<(), BadArguments> {
        let known = self.known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        for key in self.left.keys() {
            self.faults.push(format!("{} is no argument; there are {known}", shown(&Value::from(key.as_str()))));
        }
        if self.faults.is_empty() { Ok(()) } else { Err(BadArguments { tool: self.tool, faults: self.faults }) }
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn name(value: &Value) -> Option<String> {
    text(value).filter(|text| !text.is_empty())
}

fn count(value: &Value) -> Option<u64> {
    value.as_u64().filter(|count| *count > 0)
}

fn language(value: &Value) -> Option<Language> {
    matches!(value.as_str()?, "typescript" | "ts" | "javascript" | "js").then_some(Language::TypeScript)
}

/// The value as it was sent, or its beginning.
fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    if text.len() <= MOST { format!("`{text}`") } else { format!("`{}…`", &text[..text.floor_char_boundary(MOST)]) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(parsed: Result<impl std::fmt::Debug, BadArguments>, expect: &str) {
        let said = parsed.map_err(|error| error.to_string());
        match said {
            Ok(parsed) => assert_eq!(format!("{parsed:?}"), expect),
            Err(said) => assert_eq!(said.split_once(": ").map_or("", |(_, faults)| faults), expect),
        }
    }

    fn object(value: Value) -> Option<JsonObject> {
        value.as_object().cloned()
    }

    #[test]
    fn every_fault_of_run_code_is_named_with_its_key() {
        let check = |given: Value, expect: &str| check(RunCode::parse(object(given)), expect);
        check(
            json!({"code": "return 1"}),
            r#"RunCode { code: "return 1", language: TypeScript, session: None, timeout_ms: None, effects: All, amend: None, max_output_tokens: 10000 }"#,
        );
        check(
            json!({"code": "", "language": "js", "session": "s", "timeout_ms": 5, "max_output_tokens": 1}),
            r#"RunCode { code: "", language: TypeScript, session: Some("s"), timeout_ms: Some(5), effects: All, amend: None, max_output_tokens: 1 }"#,
        );
        check(
            json!({"code": "1", "timeout_ms": null, "session": null}),
            r#"RunCode { code: "1", language: TypeScript, session: None, timeout_ms: None, effects: All, amend: None, max_output_tokens: 10000 }"#,
        );
        check(json!({}), "`code` is missing; send the script as a text");
        check(json!({"code": null}), "`code` is missing; send the script as a text");
        check(json!({"code": ["a"]}), "`code` is `[\"a\"]`; send the script as a text");
        check(
            json!({"code": "1", "language": "python"}),
            "`language` is `\"python\"`; send `typescript` (JavaScript is a part of it)",
        );
        check(
            json!({"code": "1", "timeout_ms": 0}),
            "`timeout_ms` is `0`; send a whole number of milliseconds, at least 1",
        );
        check(
            json!({"code": "1", "timeout_ms": "60"}),
            "`timeout_ms` is `\"60\"`; send a whole number of milliseconds, at least 1",
        );
        check(
            json!({"code": "1", "max_output_tokens": -1.5}),
            "`max_output_tokens` is `-1.5`; send a whole number of tokens, at least 1",
        );
        check(json!({"code": "1", "session": ""}), "`session` is `\"\"`; send a text that is not empty");
        check(
            json!({"script": "1", "timeout_ms": {}}),
            "`code` is missing; send the script as a text; \
             `timeout_ms` is `{}`; send a whole number of milliseconds, at least 1; \
             `\"script\"` is no argument; there are `code`, `language`, `session`, `timeout_ms`, `effects`, `plan`, `amend`, `max_output_tokens`",
        );
        check(json!({"code": "1", "effects": "write"}), "`effects` is `\"write\"`; send `read` or `all`");
        check(
            json!({"code": "1", "amend": "r", "session": "s"}),
            "`session` cannot stand beside `amend`: a corrected run has what the old one had",
        );
        let long = "ä".repeat(500);
        check(
            json!({"code": "1", "session": [long]}),
            &format!("`session` is `[\"{}…`; send a text that is not empty", "ä".repeat(29)),
        );
    }

    #[test]
    fn every_fault_of_the_others_is_named_too() {
        let search = |given: Value, expect: &str| check(SearchTools::parse(object(given)), expect);
        search(json!({"query": "a"}), r#"SearchTools { query: "a", limit: 10, namespace: None, skip: 0 }"#);
        search(
            json!({"query": "a", "limit": 50, "namespace": "s", "cursor": "50"}),
            r#"SearchTools { query: "a", limit: 50, namespace: Some("s"), skip: 50 }"#,
        );
        search(json!({"query": "a", "cursor": "x"}), "`cursor` is `\"x\"`; send the `next_cursor` of the page before");
        search(json!({"query": "a", "limit": 51}), "`limit` is `51`; send a whole number from 1 to 50");
        search(json!({"query": 1}), "`query` is `1`; send a few words as a text");
        let tool = |given: Value, expect: &str| check(RunTool::parse(object(given)), expect);
        tool(
            json!({"path": "a.b", "args": {"n": 1}}),
            r#"RunTool { path: "a.b", args: {"n": Number(1)}, max_output_tokens: 10000 }"#,
        );
        tool(
            json!({"args": []}),
            "`path` is missing; send the tool's path, such as `github.create_issue`; `args` is `[]`; send an object",
        );
        let read = |given: Value, expect: &str| check(ReadArtifact::parse(object(given)), expect);
        read(json!({"id": "r"}), r#"ReadArtifact { id: "r", path: None, offset: 0, limit: 20000 }"#);
        read(
            json!({"id": "", "limit": 400_001, "offset": -1}),
            "`id` is `\"\"`; send the `artifact.id` of the answer that was cut; `offset` is `-1`; send a whole number of characters; `limit` is `400001`; send a whole number from 1 to 400000",
        );
        let describe = |given: Value, expect: &str| check(DescribeTools::parse(object(given)), expect);
        let expected = "send an array of 1 to 50 tool paths or patterns, such as `[\"github.list_issues\", \"git.*\"]`";
        describe(json!({"names": ["a", "b"]}), r#"DescribeTools { names: ["a", "b"] }"#);
        describe(json!({"names": "a"}), &format!("`names` is `\"a\"`; {expected}"));
        describe(json!({"names": []}), &format!("`names` is `[]`; {expected}"));
        describe(json!({"names": [1]}), &format!("`names` is `[1]`; {expected}"));
        check(DescribeTools::parse(None), &format!("`names` is missing; {expected}"));
    }
}
