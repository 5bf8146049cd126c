//! The options line: what a script asks for itself.
//!
//! `// @options: {"timeout_ms": 30000, "max_output_tokens": 2000}` as the first line of the program. It is read strictly: an
//! option that is misspelt and ignored is worse than one that is refused.

use std::ops::Range;

use serde::{Deserialize, Deserializer};

use super::{Position, SyntaxError};

/// What a script asks for itself. Whoever runs it decides what it gets: an option may lower a limit and never raises one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptOptions {
    /// The longest active time, in milliseconds.
    #[serde(default, deserialize_with = "given")]
    pub timeout_ms: Option<u64>,
    /// The most that is shown to a model, in tokens.
    #[serde(default, deserialize_with = "given")]
    pub max_output_tokens: Option<u64>,
}

/// A day. Longer is a mistake in the unit.
const MOST_MS: u64 = 24 * 60 * 60 * 1000;
const MOST_TOKENS: u64 = 1_000_000;

/// A number that is there; `null` is none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    u64::deserialize(deserializer).map(Some)
}

/// Reads the options of the program that lies at `program` in `text`.
pub(super) fn read(text: &str, program: Range<usize>) -> Result<ScriptOptions, SyntaxError> {
    let body = &text[program.clone()];
    let begin = program.start + (body.len() - body.trim_start().len());
    let line = text[begin..program.end].lines().next().unwrap_or_default();
    let comment = line.strip_prefix("//").map(str::trim_start);
    let Some(rest) = comment.and_then(|comment| comment.strip_prefix("@options")) else {
        return Ok(ScriptOptions::default());
    };
    let refuse = |at: usize, why: &str| {
        let message = format!(
            "the options line is wrong: {why}; it is like `// @options: {{\"timeout_ms\": 30000, \"max_output_tokens\": 2000}}`"
        );
        Err(SyntaxError { message, position: Position::of(text, at as u32) })
    };
    let Some(json) = rest.trim_start().strip_prefix(':') else {
        return refuse(begin, "a colon is missing after `@options`");
    };
    let json_at = begin + line.len() - json.len();
    let options: ScriptOptions = match serde_json::from_str(json) {
        Ok(options) => options,
        Err(error) => {
            let told = error.to_string();
            let told = told.rsplit_once(" at line ").map_or(told.as_str(), |(told, _)| told);
            let told = told.replace(", expected u64", ", expected a whole number");
            // The column of the last byte that was read, from 1.
            return refuse(json_at + error.column().saturating_sub(1).min(json.len()), &told);
        }
    };
    for (name, value, most) in
        [("timeout_ms", options.timeout_ms, MOST_MS), ("max_output_tokens", options.max_output_tokens, MOST_TOKENS)]
    {
        if let Some(value) = value.filter(|value| !(1..=most).contains(value)) {
            let at = json_at + json.find(name).unwrap_or_default();
            return refuse(at, &format!("`{name}` is {value} and may be 1 to {most}"));
        }
    }
    Ok(options)
}
