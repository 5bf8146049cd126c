//! The words that cases are written in. One that is missing here fails the case that uses it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use refrain_runtime::Tool;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    checks::Check,
    fake::{Answer, Fake, tool_error},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    #[serde(rename = "title")]
    _title: String,
    pub(crate) class: String,
    pub(crate) kind: String,
    pub(crate) input: Input,
    #[serde(rename = "expected")]
    _expected: String,
    pub(crate) checks: Vec<Check>,
    #[serde(default)]
    pub(crate) ours: Ours,
}

/// What we demand beside the case, or in place of it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Ours {
    pub(crate) checks: Vec<Check>,
    /// Whether `checks` are all that is demanded: we answer otherwise than the case says.
    pub(crate) instead: bool,
    pub(crate) reason: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Input {
    pub(crate) code: Option<String>,
    pub(crate) code_js: Option<String>,
    pub(crate) also_code: Vec<String>,
    pub(crate) also_code_js: Vec<String>,
    pub(crate) runs: Vec<Program>,
    pub(crate) then: Vec<Program>,
    pub(crate) tools: Vec<Described>,
    pub(crate) limits: Limits,
    pub(crate) server_name: Option<String>,
    #[serde(rename = "transport")]
    _transport: Option<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) parent_env: BTreeMap<String, String>,
    pub(crate) env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) limits: Limits,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) memory_mb: Option<u64>,
    pub(crate) log_kb: Option<u64>,
    pub(crate) max_concurrent_calls: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(crate) enum Step {
    List(bool),
    Script(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Described {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(rename = "inputSchema")]
    pub(crate) input_schema: Option<Value>,
    pub(crate) behaviour: Vec<Behaviour>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Behaviour {
    pub(crate) value: Option<Value>,
    pub(crate) text: Option<String>,
    pub(crate) tool_error: Option<String>,
    pub(crate) echo: bool,
    pub(crate) hang: bool,
    pub(crate) returns_env_names: bool,
    pub(crate) delay_ms: u64,
}

impl Behaviour {
    pub(crate) fn answer(&self) -> Answer {
        match self {
            Self { value: Some(value), .. } => Answer::Value(value.clone()),
            Self { text: Some(text), .. } => Answer::Value(text.as_str().into()),
            Self { tool_error: Some(text), .. } => Answer::Fails(tool_error(text)),
            Self { echo: true, .. } => Answer::Echo,
            Self { hang: true, .. } => Answer::Hang,
            Self { returns_env_names: true, .. } => panic!("only a child process has an environment"),
            Self { .. } => panic!("a behaviour without an answer"),
        }
    }
}

impl Described {
    pub(crate) fn fake(&self) -> Fake {
        let mut tool = Tool::new("", &self.name);
        tool.description.clone_from(&self.description);
        if let Some(schema) = &self.input_schema {
            tool.input_schema = Arc::new(schema.clone());
        }
        Fake::of(tool, self.behaviour.iter().map(|b| (b.answer(), Duration::from_millis(b.delay_ms))))
    }
}

impl Case {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        include_str!("../cases/r2.jsonl").lines().map(|line| match serde_json::from_str(line) {
            Ok(case) => case,
            Err(error) => panic!("{error}: {line:.200}"),
        })
    }
}
