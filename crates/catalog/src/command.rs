//! A tool over a program: how it is declared, checked once, and turned into what a call needs.
//!
//! The program runs without a shell. Arguments are made from a [template](template), and what the program prints is read
//! as [declared](output). Running it is the business of the [source](crate::source).

pub(crate) mod output;
pub(crate) mod template;

use std::{sync::Arc, time::Duration};

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::{
    arguments,
    error::SettingsError,
    tool::{Effect, Permission, Replay, Retry, Tool},
};
pub use output::{Output, OutputFormat};
use template::Template;

/// What a config says of a command tool. [`check`](Self::check) turns it into one.
#[derive(Clone, Debug, Default)]
pub struct CommandToolSettings {
    /// Its name.
    pub name: String,
    /// What it does, for a model.
    pub description: String,
    /// The program and its arguments, with `{name}` where an argument of the call goes; `{{` and `}}` are braces.
    pub command: Vec<String>,
    /// JSON Schema of the arguments: an object with `properties`. Their `default`s are filled in.
    pub input: Option<Value>,
    /// How the program's output is read. Default: as text.
    pub output: Output,
    /// JSON Schema of the value. Numbers and truth values in matched text are converted by it. Without one, what is read as
    /// text is declared as text.
    pub output_schema: Option<Value>,
    /// What a call may do. Default: `write`.
    pub effect: Option<Effect>,
    /// Whether a call may be made again. Default: `unsafe`.
    pub replay: Option<Replay>,
    /// Whether a run that is being cancelled may call it to clean up.
    pub cleanup: bool,
    /// Whether a call that failed is made again by itself.
    pub retry: Option<Retry>,
    /// The path of a tool that can tell what became of a call.
    pub reconcile: Option<String>,
    /// Whether a call may be made, whatever the rules of the policy say.
    pub approval: Option<Permission>,
    /// How long one call may take.
    pub timeout: Option<Duration>,
    /// A template for the program's input. Default: no input.
    pub stdin: Option<String>,
    /// What to add to an error when the program's complaint contains a text: pairs of that text and a hint. The first
    /// that fits is shown.
    pub hints: Vec<(String, String)>,
}

/// A checked command tool.
#[derive(Clone, Debug)]
pub struct CommandTool {
    pub(crate) settings: CommandToolSettings,
    pub(crate) input: Arc<Value>,
    pub(crate) template: Template,
    pub(crate) pattern: Option<Regex>,
}

impl CommandToolSettings {
    /// Checks everything that can be wrong.
    ///
    /// # Errors
    ///
    /// Every fault, each with its key.
    pub fn check(self) -> Result<CommandTool, Vec<SettingsError>> {
        let mut faults = Vec::new();
        if self.name.is_empty() {
            faults.push(SettingsError::new("name", "is empty; give the tool a name"));
        }
        let input = Arc::new(match &self.input {
            None => json!({"type": "object", "properties": {}, "additionalProperties": false}),
            Some(Value::Object(map)) => Value::Object(closed(map)),
            Some(other) => {
                faults.push(SettingsError::new(
                    "input",
                    format!("is {other}; write a JSON Schema object such as `{{ properties = {{ … }} }}`"),
                ));
                json!({"type": "object"})
            }
        });
        if let Err(reason) = arguments::build(&input) {
            faults.push(SettingsError::new("input", format!("is not a valid JSON Schema: {reason}")));
        }
        if let Some(schema) = &self.output_schema
            && let Err(reason) = arguments::build(schema)
        {
            faults.push(SettingsError::new("output_schema", format!("is not a valid JSON Schema: {reason}")));
        }
        let known: Vec<&str> = input
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.keys().map(String::as_str))
            .collect();
        let template = Template::parse(&self.command, self.stdin.as_deref(), &known);
        let pattern = self.output.pattern();
        let template = template.map_err(|more| faults.extend(more)).ok();
        let pattern = pattern.map_err(|fault| faults.push(fault)).ok();
        match (template, pattern) {
            (Some(template), Some(pattern)) if faults.is_empty() => {
                Ok(CommandTool { input, template, pattern, settings: self })
            }
            _ => Err(faults),
        }
    }
}

impl CommandTool {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    pub(crate) fn tool(&self, source: &str) -> Tool {
        let settings = &self.settings;
        let mut tool = Tool::new(source, &settings.name);
        tool.description.clone_from(&settings.description);
        tool.input_schema = Arc::clone(&self.input);
        let schema = settings.output_schema.clone().or_else(|| settings.output.schema(self.pattern.as_ref()));
        tool.output_schema = schema.map(Arc::new);
        tool.effect = settings.effect.unwrap_or(Effect::Write);
        tool.replay = settings.replay.unwrap_or(Replay::Unsafe);
        tool.cleanup = settings.cleanup;
        tool.retry = settings.retry;
        tool.reconcile.clone_from(&settings.reconcile);
        tool.approval = settings.approval;
        tool.timeout_ms = settings.timeout.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        tool
    }

    /// Returns the arguments with defaults filled in.
    pub(crate) fn with_defaults(&self, mut args: Map<String, Value>) -> Map<String, Value> {
        for (key, schema) in self.input.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let Some(default) = schema.get("default")
                && !args.contains_key(key)
            {
                args.insert(key.clone(), default.clone());
            }
        }
        args
    }
}

/// An argument that no placeholder uses would be dropped without a word, so a schema that does not say takes no others.
fn closed(map: &Map<String, Value>) -> Map<String, Value> {
    let mut map = map.clone();
    map.entry("type").or_insert_with(|| json!("object"));
    map.entry("additionalProperties").or_insert(Value::Bool(false));
    map
}
