//! One tool: what it is called, what it takes and gives, and what a call may do.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    arguments::{self, ArgumentRules, CachedValidator, Checker, Prepared},
    error::CallError,
    name, typescript,
};

/// What a call may do to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Changes something.
    Write,
    /// Changes something that cannot be had back.
    Destructive,
}

impl Effect {
    /// Returns the word that configs, listings and journals use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// Whether a call whose outcome is unknown may be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replay {
    /// Yes: a second call does no more than the first.
    Safe,
    /// Yes, with the same idempotency key.
    Keyed,
    /// No.
    Unsafe,
}

impl Replay {
    /// Returns the word that configs, listings and journals use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Keyed => "keyed",
            Self::Unsafe => "unsafe",
        }
    }
}

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Yes.
    Allow,
    /// After a person has agreed to it.
    Ask,
    /// No.
    Deny,
    /// Not by a script: by itself, where a person sees it as a step of its own.
    Direct,
}

impl Permission {
    /// Returns the word that configs, listings and journals use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Direct => "direct",
        }
    }
}

/// How often a call that failed is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// How often it is made in all.
    pub attempts: u32,
    /// The pause after the first failure, in milliseconds; each later one is twice as long.
    pub backoff_ms: u64,
}

/// A function that scripts can call, as plain data.
///
/// Fields may gain neighbours, never other meanings: journals keep tools as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// The source it belongs to.
    pub source: String,
    /// The server's own spelling.
    pub name: String,
    /// A JavaScript identifier, unique within the source and fixed per catalog.
    pub ident: String,
    /// What it does, for a model. Empty when the server says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it takes. The validator is made at the first check, so this is not to be changed afterwards.
    pub input_schema: Arc<Value>,
    /// What it gives, where that is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// What its results looked like, where nothing is declared and some were seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observation>,
    /// What a call may do.
    pub effect: Effect,
    /// Whether a call may be made again.
    pub replay: Replay,
    /// Its own limit for one call, in milliseconds, in place of the source's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether a run that is being cancelled may call it to clean up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cleanup: bool,
    /// Whether a call that failed is made again by itself. Only where its replay rule allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// The path of a tool that can tell what became of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconcile: Option<String>,
    /// Whether a call may be made, whatever the rules of the policy say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Permission>,
    /// What may be changed in the arguments of a call before they are checked.
    #[serde(default, skip_serializing_if = "ArgumentRules::is_strict")]
    pub rules: ArgumentRules,
    /// What a person should know about this entry: a schema that is not used, a name that came twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip)]
    validator: CachedValidator,
    #[serde(skip)]
    output_validator: CachedValidator,
}

/// What results of a tool had in common. No promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// How many results it rests on.
    pub calls: u64,
    /// Their shape, as JSON Schema.
    pub schema: Arc<Value>,
}

impl Tool {
    /// Returns a tool that takes any object, gives anything, writes, and may not be repeated: the most careful guess.
    #[must_use]
    pub fn new(source: impl Into<String>, name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            source: source.into(),
            ident: name::identifier(&name),
            name,
            description: String::new(),
            input_schema: Arc::new(serde_json::json!({"type": "object"})),
            output_schema: None,
            observed: None,
            effect: Effect::Write,
            replay: Replay::Unsafe,
            timeout_ms: None,
            cleanup: false,
            retry: None,
            reconcile: None,
            approval: None,
            rules: ArgumentRules::default(),
            notes: Vec::new(),
            validator: CachedValidator::default(),
            output_validator: CachedValidator::default(),
        }
    }

    /// Returns `source.name`: how people, rules and reports name the tool.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.source, self.name)
    }

    /// Returns the expression that reaches the tool in a script, as it can be typed: `tools.git.list_commits` or
    /// `tools["my-src"]["x"]`.
    #[must_use]
    pub fn call_expression(&self) -> String {
        // A tools object with a `then` would be taken for a promise, so that one name exists only as its identifier.
        let tool = if self.name == "then" { &self.ident } else { &self.name };
        let source = if self.source == "then" { "then_" } else { &self.source };
        format!("tools{}{}", name::access(source), name::access(tool))
    }

    /// Returns the call with its types on one line: `tools.git.list_authors(): Promise<…>`.
    #[must_use]
    pub fn signature(&self) -> String {
        typescript::signature(self)
    }

    /// Returns the TypeScript types of what it takes and what it gives.
    #[must_use]
    pub fn types(&self) -> (String, String) {
        typescript::types(self)
    }

    /// Returns the schema of what it gives: the declared one, or else the observed one.
    #[must_use]
    pub fn result_schema(&self) -> Option<&Value> {
        let observed = self.observed.as_ref().map(|observed| &observed.schema);
        self.output_schema.as_ref().or(observed).map(|schema| &**schema)
    }

    /// Checks the arguments of a call against the input schema, changed as the source's rules want. `null` counts as no
    /// arguments.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidArguments`](crate::ErrorCode::InvalidArguments), with every fault in the message and, as
    /// `{path, expected, got}`, in `data`. A schema that cannot be used accepts any object.
    pub fn check_args(&self, args: &Value) -> Result<(), CallError> {
        arguments::check(self, args)
    }

    /// Returns the arguments of a call as they are to be sent.
    ///
    /// # Errors
    ///
    /// As [`check_args`](Self::check_args).
    pub(crate) fn prepare_args(&self, args: Value) -> Result<Prepared, CallError> {
        arguments::prepare(self, args)
    }

    /// Says in the notes what a person should know about the schemas: that one cannot be used, or is not shown whole.
    pub(crate) fn note_unusable_schema(&mut self) {
        if let Err(reason) = self.validator.get(&self.input_schema) {
            self.notes.push(format!("its input schema is not valid, so arguments are not checked: {reason}"));
        } else if arguments::says_nothing(&self.input_schema) {
            self.notes.push("its server does not say which arguments it takes, so any object is accepted".to_owned());
        } else {
            self.notes.extend(typescript::notes(self));
        }
    }

    /// Returns the validator of the output schema, where one is declared; or why it cannot be used.
    pub(crate) fn output_validator(&self) -> Option<Result<&Checker, &str>> {
        Some(self.output_validator.get(self.output_schema.as_ref()?))
    }

    pub(crate) fn validator(&self) -> Result<&Checker, &str> {
        self.validator.get(&self.input_schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_says_little_or_too_much_is_noted() {
        let notes = |schema: serde_json::Value| {
            let mut tool = Tool::new("s", "t");
            tool.input_schema = Arc::new(schema);
            tool.note_unusable_schema();
            tool.notes.join("; ")
        };
        let nothing = "its server does not say which arguments it takes, so any object is accepted";
        assert_eq!(notes(serde_json::json!({})), nothing);
        assert_eq!(notes(serde_json::json!({"$schema": "http://json-schema.org/draft-07/schema#"})), nothing);
        assert_eq!(notes(serde_json::json!({"type": "object", "properties": {"a": {"format": "path"}}})), "");
        let many: Vec<usize> = (0..200).collect();
        assert_eq!(
            notes(serde_json::json!({"properties": {"a": {"enum": many}}})),
            "an enum of 200 values is shown as its type"
        );
        assert_eq!(
            notes(serde_json::json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})),
            "a part of the schema only refers to itself, which says nothing"
        );
        let broken = notes(serde_json::json!({"properties": {"a": {"pattern": "("}}}));
        assert!(broken.starts_with("its input schema is not valid, so arguments are not checked: "), "{broken}");
    }
}
