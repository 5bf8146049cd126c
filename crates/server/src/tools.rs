//! What `tools/list` says: names, schemas, annotations.
//!
//! Everything here is part of the interface of clients. The whole list is a golden file of the tests.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use refrain_runtime::{Catalog, Dialect, Effect, Status};

use crate::{
    arguments::{DEFAULT_CHARACTERS, DEFAULT_HITS, DEFAULT_OUTPUT_TOKENS, MOST_CHARACTERS, MOST_HITS, MOST_NAMES},
    prompt,
};

pub(crate) const RUN_CODE: &str = "run_code";
pub(crate) const SEARCH_TOOLS: &str = "search_tools";
pub(crate) const DESCRIBE_TOOLS: &str = "describe_tools";

pub(crate) const RUN_TOOL: &str = "run_tool";
pub(crate) const GET_RUN: &str = "get_run";
pub(crate) const RESUME_RUN: &str = "resume_run";
pub(crate) const READ_ARTIFACT: &str = "read_artifact";

/// Every tool that is offered.
pub(crate) const NAMES: [&str; 7] =
    [RUN_CODE, SEARCH_TOOLS, DESCRIBE_TOOLS, RUN_TOOL, GET_RUN, RESUME_RUN, READ_ARTIFACT];

/// Returns the list for a catalog. Equal catalogs and budgets give equal lists.
pub(crate) fn list(catalog: &Catalog, dialect: Option<&Dialect>, prompt_tokens: usize) -> Vec<Tool> {
    let reads = only_reads(catalog);
    vec![
        run_code(catalog, dialect, prompt_tokens),
        search_tools(),
        describe_tools(),
        run_tool(reads),
        get_run(),
        resume_run(reads),
        read_artifact(),
    ]
}

fn run_code(catalog: &Catalog, dialect: Option<&Dialect>, prompt_tokens: usize) -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "The script."},
            "language": {
                "type": "string", "enum": ["typescript", "javascript"], "default": "typescript",
                "description": "The script's language.",
            },
            "session": {"type": "string", "minLength": 1, "description": "The session that this run belongs to: a name of your choice. What its scripts `store`, later ones `load`."},
            "timeout_ms": {
                "type": "integer", "minimum": 1,
                "description": "Stops the script after so many milliseconds. Can lower the configured limit, not raise it.",
            },
            "effects": {
                "type": "string", "enum": ["read", "all"], "default": "all",
                "description": "`read`: whatever the script does, no call that may change something leaves.",
            },
            "plan": {
                "type": "boolean", "default": false,
                "description": "Reads are made, and writes are held back as a plan until the person agrees to them.",
            },
            "amend": {
                "type": "string",
                "description": "The id of a run that this script corrects: what that one finished is not done again.",
            },
            "max_output_tokens": budget(),
        },
        "required": ["code"],
        "additionalProperties": false,
    });
    let reads = only_reads(catalog);
    let annotations = does_what_tools_do("Run a script over tools", reads);
    Tool::new(RUN_CODE, prompt::description(catalog, dialect, prompt_tokens), object(input))
        .with_raw_output_schema(object(report_schema()))
        .with_annotations(annotations)
}

fn budget() -> Value {
    json!({
        "type": "integer", "minimum": 1, "default": DEFAULT_OUTPUT_TOKENS,
        "description": "How much may come back. What is larger is cut, and says so.",
    })
}

/// Annotations of a tool that does what tools of sources do.
fn does_what_tools_do(title: &str, reads: bool) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(reads).destructive(!reads).idempotent(reads).open_world(true)
}

fn run_tool(reads: bool) -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The tool's path, such as `github.create_issue`."},
            "args": {"type": "object", "description": "Its arguments."},
            "max_output_tokens": budget(),
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let description =
        "Calls one tool by itself, without a script: for a change that the person should see as a step of its own.";
    Tool::new(RUN_TOOL, description, object(input))
        .with_raw_output_schema(object(report_schema()))
        .with_annotations(does_what_tools_do("Call one tool", reads))
}

fn one_run() -> Value {
    json!({
        "type": "object",
        "properties": {"run_id": {"type": "string", "description": "The run, by its id."}, "max_output_tokens": budget()},
        "required": ["run_id"],
        "additionalProperties": false,
    })
}

fn get_run() -> Tool {
    let description = "Tells how a run stands, what it waits for, and what came of it. Nothing goes on by it.";
    Tool::new(GET_RUN, description, object(one_run()))
        .with_raw_output_schema(object(report_schema()))
        .with_annotations(looks_only("Look at a run"))
}

fn resume_run(reads: bool) -> Tool {
    let description = "Goes on with a run that waits or was interrupted, without repeating what it finished. What only a person \
                       can say is asked of the person, not of you.";
    Tool::new(RESUME_RUN, description, object(one_run()))
        .with_raw_output_schema(object(report_schema()))
        .with_annotations(does_what_tools_do("Go on with a run", reads))
}

fn read_artifact() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The `artifact.id` of an answer that was cut."},
            "path": {"type": "string", "description": "A JSON pointer: `/result` (the default), `/result/items/3`, `/text`, `/logs`."},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "Characters to leave out."},
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_CHARACTERS, "default": DEFAULT_CHARACTERS,
                "description": "Characters at most.",
            },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"}, "path": {"type": "string"}, "offset": {"type": "integer"},
            "total": {"type": "integer", "description": "Characters in all."},
            "text": {"type": "string"},
            "next_offset": {"type": ["integer", "null"], "description": "Where the next page begins."},
        },
        "required": ["id", "path", "offset", "total", "text", "next_offset"],
    });
    let description = "Reads what was too large for an answer, page by page.";
    Tool::new(READ_ARTIFACT, description, object(input))
        .with_raw_output_schema(object(output))
        .with_annotations(looks_only("Read a large result"))
}

/// Whether no script can change anything. A source whose tools are not known may have any kind of tool.
fn only_reads(catalog: &Catalog) -> bool {
    let unknown = |status| matches!(status, Status::Connecting | Status::Failed);
    catalog.tools().iter().all(|tool| tool.effect == Effect::Read)
        && !catalog.sources().iter().any(|source| unknown(source.status))
}

fn search_tools() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "A few words: what the tool does, or its name."},
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MOST_HITS, "default": DEFAULT_HITS,
                "description": "How many tools at most.",
            },
            "namespace": {"type": "string", "description": "Only tools of this source."},
            "cursor": {"type": "string", "description": "The `next_cursor` of the page before."},
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {"tools": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "call": {"type": "string", "description": "The expression that reaches the tool in a script."},
                "signature": {"type": "string", "description": "The call with its types."},
                "description": {"type": "string"},
            },
            "required": ["path", "call", "signature", "description"],
        }},
        "next_cursor": {"type": ["string", "null"]},
        "note": {"type": "string", "description": "Which words matched nothing."}},
        "required": ["tools", "next_cursor"],
    });
    let description = "Finds tools that a script of `run_code` can call, best first, each with the call and its types.";
    Tool::new(SEARCH_TOOLS, description, object(input))
        .with_raw_output_schema(object(output))
        .with_annotations(looks_only("Search for tools"))
}

fn describe_tools() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {"names": {
            "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_NAMES,
            "description": "Paths of tools, such as `github.list_issues`, or patterns, such as `github.*`.",
        }},
        "required": ["names"],
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {"tools": {"type": "array", "description": "In the order of the names; a pattern gives several.", "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name that was asked for."},
                "error": {"type": "string", "description": "Why there is no such tool, with the nearest names."},
                "path": {"type": "string"},
                "call": {"type": "string"},
                "signature": {"type": "string"},
                "description": {"type": "string"},
                "effect": {"type": "string", "enum": ["read", "write", "destructive"]},
                "replay": {"type": "string", "enum": ["safe", "keyed", "unsafe"]},
                "approval": {"type": "string", "description": "What a person is asked first."},
                "example": {"type": ["string", "null"], "description": "A call that passes the check of arguments."},
                "input_schema": {},
                "output_schema": {},
                "notes": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["name"],
        }}},
        "required": ["tools"],
    });
    let description = "Tells everything about tools that a script of `run_code` can call: types, effect, an example, and the \
                       schemas of input and output.";
    Tool::new(DESCRIBE_TOOLS, description, object(input))
        .with_raw_output_schema(object(output))
        .with_annotations(looks_only("Describe tools"))
}

/// Annotations of a tool that reads the catalog and touches nothing else.
fn looks_only(title: &str) -> ToolAnnotations {
    ToolAnnotations::with_title(title).read_only(true).destructive(false).idempotent(true).open_world(false)
}

/// The shape of a run's report. Lists of words stay open (`string`): a client that checks must not refuse the answer of a
/// newer server.
fn report_schema() -> Value {
    let text = || json!({"type": "string"});
    let count = || json!({"type": "integer"});
    let maybe = |kind: &str| json!({"type": [kind, "null"]});
    json!({
        "type": "object",
        "properties": {
            "run_id": {"type": ["string", "null"], "description": "Null when nothing was stored."},
            "status": {"type": "string", "description": "completed, failed, parked, cancelled or running"},
            "result": {"description": "What the script returned. Left out when that is nothing."},
            "text": text(),
            "images": {"type": "array", "description": "What `image()` was given. The data are blocks of the answer."},
            "logs": {"type": "array", "items": {
                "type": "object", "properties": {"level": text(), "text": text()}, "required": ["level", "text"],
            }},
            "notes": {"type": "array", "items": {
                "type": "object",
                "properties": {"kind": text(), "message": text(), "line": count(), "tool": text()},
                "required": ["kind", "message"],
            }},
            "calls": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "call": count(), "tool": text(), "args": {},
                    "status": {
                        "type": "string",
                        "description": "ok, error, refused, interrupted, unfinished, reused or waiting",
                    },
                    "ms": count(), "bytes": count(),
                },
                "required": ["call", "tool", "args", "status", "ms", "bytes"],
            }},
            "usage": {
                "type": "object",
                "properties": {
                    "calls": count(), "tool_bytes": count(), "result_bytes": count(), "active_ms": count(),
                    "cpu_fuel": count(),
                },
            },
            "error": {
                "type": "object",
                "description": "Only when failed.",
                "properties": {
                    "kind": text(), "message": text(), "line": maybe("integer"), "column": maybe("integer"),
                    "frame": maybe("string"), "stack": maybe("string"), "tool": text(), "call": count(), "code": text(),
                    "setting": text(),
                },
                "required": ["kind", "message"],
            },
            "waiting": {"type": "array", "description": "Only when parked.", "items": {
                "type": "object",
                "properties": {
                    "id": text(), "kind": text(), "call": count(), "tool": text(), "args": {}, "due": text(),
                    "why": text(), "expected": text(), "actual": text(), "after": text(),
                    "next": {"type": "string", "description": "What to do, as a command."},
                },
                "required": ["id", "kind", "next"],
            }},
            "artifact": {
                "type": "object", "description": "Only where something was cut: the handle for `read_artifact`.",
                "properties": {"id": text()}, "required": ["id"],
            },
            "next": {"type": ["string", "null"], "description": "What to do about a run that is not over."},
        },
        "required": ["run_id", "status", "text", "images", "logs", "notes", "calls", "usage"],
    })
}

pub(crate) fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(map) => Arc::new(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use refrain_runtime::{SourceStatus, Tool};

    use super::*;

    fn reads(effects: &[Effect], statuses: &[Status]) -> (Option<bool>, Option<bool>) {
        let tools = effects
            .iter()
            .enumerate()
            .map(|(at, effect)| {
                let mut tool = Tool::new("s", format!("t{at}"));
                tool.effect = *effect;
                tool
            })
            .collect();
        let sources = statuses
            .iter()
            .enumerate()
            .map(|(at, status)| SourceStatus {
                name: format!("s{at}"),
                r#type: "mcp".into(),
                status: *status,
                reason: None,
                since_ms: 0,
                tools: 0,
            })
            .collect();
        let annotations = run_code(&Catalog::new(tools, sources), None, 3_000).annotations.unwrap();
        (annotations.read_only_hint, annotations.destructive_hint)
    }

    #[test]
    fn run_code_is_called_read_only_when_nothing_else_is_possible() {
        let (harmless, harmful) = ((Some(true), Some(false)), (Some(false), Some(true)));
        assert_eq!(reads(&[Effect::Read], &[Status::Ready]), harmless);
        assert_eq!(reads(&[Effect::Read, Effect::Read], &[Status::Degraded]), harmless);
        assert_eq!(reads(&[Effect::Read, Effect::Write], &[Status::Ready]), harmful);
        assert_eq!(reads(&[Effect::Destructive], &[]), harmful);
        assert_eq!(reads(&[Effect::Read], &[Status::Ready, Status::Failed]), harmful);
        assert_eq!(reads(&[], &[Status::Connecting]), harmful);
    }
}
