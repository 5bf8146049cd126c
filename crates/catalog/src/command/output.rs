//! From what a program prints to a value.
//!
//! With a pattern, each record becomes one object of its named groups. A record is what stands between separators, or,
//! where the separator is empty, each place in the whole output at which the pattern matches. What does not match is left
//! out, and a note says how much.

use regex::{Captures, Regex};
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    error::{CallError, ErrorCode, SettingsError},
    name,
};

/// How a program's output is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What the output is.
    pub format: OutputFormat,
    /// A regular expression with named groups. The value becomes a list of objects. Not for `json` and `jsonl`.
    pub pattern: Option<String>,
    /// What ends a record of `lines`, `jsonl` and of a pattern. Default: a line break, with or without a carriage return.
    /// Empty, and with a pattern: the pattern is looked for again and again in the whole output.
    pub separator: String,
}

impl Default for Output {
    fn default() -> Self {
        Self { format: OutputFormat::Text, pattern: None, separator: "\n".to_owned() }
    }
}

/// What a program's output is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// One text. Line breaks at its end are cut off.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// One JSON value in each record; empty records count for nothing.
    Jsonl,
    /// A list of texts, one for each record.
    Lines,
}

impl Output {
    pub(crate) fn pattern(&self) -> Result<Option<Regex>, SettingsError> {
        let Some(pattern) = &self.pattern else {
            return match (self.format, self.separator.is_empty()) {
                (OutputFormat::Lines | OutputFormat::Jsonl, true) => {
                    Err(SettingsError::new("output.separator", "is empty; only a `pattern` can do without a separator"))
                }
                _ => Ok(None),
            };
        };
        let fault = |message: String| Err(SettingsError::new("output.pattern", message));
        match (self.format, Regex::new(pattern)) {
            (OutputFormat::Json | OutputFormat::Jsonl, _) => {
                fault("cannot stand beside a JSON format; use `lines` or remove the pattern".to_owned())
            }
            (_, Err(error)) => fault(format!("is not a regular expression: {error}")),
            (_, Ok(regex)) if regex.capture_names().flatten().next().is_none() => {
                fault("has no named group, so no object can be made; write `(?<name>…)`".to_owned())
            }
            (_, Ok(regex)) => Ok(Some(regex)),
        }
    }

    /// Returns the schema of what [`read`](Self::read) gives where no other is declared; none where the program decides.
    pub(crate) fn schema(&self, pattern: Option<&Regex>) -> Option<Value> {
        if let Some(pattern) = pattern {
            let names: Vec<&str> = pattern.capture_names().flatten().collect();
            let properties: Map<String, Value> =
                names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
            // A group that may be passed over is left out of its object.
            let are_all_there = pattern.static_captures_len() == Some(pattern.captures_len());
            let required = if are_all_there { names } else { Vec::new() };
            let item = json!({
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            });
            return Some(json!({"type": "array", "items": item}));
        }
        match self.format {
            OutputFormat::Text => Some(json!({"type": "string"})),
            OutputFormat::Lines => Some(json!({"type": "array", "items": {"type": "string"}})),
            OutputFormat::Json | OutputFormat::Jsonl => None,
        }
    }

    /// Reads `bytes` into JSON.
    pub(crate) fn read(
        &self,
        pattern: Option<&Regex>,
        schema: Option<&Value>,
        tool: &str,
        bytes: &[u8],
    ) -> Result<(Box<RawValue>, Vec<String>), CallError> {
        let mut notes = Vec::new();
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.push("bytes that are not UTF-8 were replaced by U+FFFD".to_owned());
        }
        let mismatch = |what: String| CallError::new(ErrorCode::OutputMismatch, format!("`{tool}` {what}"));
        if let Some(pattern) = pattern {
            let rows = self.matches(pattern, schema, &text, &mut notes);
            return Ok((raw(&rows)?, notes));
        }
        let value =
            match self.format {
                OutputFormat::Text => raw(text.trim_end_matches(['\n', '\r']))?,
                OutputFormat::Lines => raw(&self.records(&text))?,
                OutputFormat::Json => serde_json::from_str(text.trim()).map_err(|error| {
                    mismatch(format!("did not print JSON: {error}; it began with `{}`", name::cut(text.trim(), 80)))
                })?,
                OutputFormat::Jsonl => {
                    let mut rows: Vec<&RawValue> = Vec::new();
                    for (index, record) in self.records(&text).into_iter().enumerate() {
                        if record.trim().is_empty() {
                            continue;
                        }
                        rows.push(serde_json::from_str(record).map_err(|error| {
                            mismatch(format!("did not print JSON in record {}: {error}", index + 1))
                        })?);
                    }
                    raw(&rows)?
                }
            };
        Ok((value, notes))
    }

    /// Splits `text` at the separator. One at the end opens no further record.
    fn records<'t>(&self, text: &'t str) -> Vec<&'t str> {
        if text.is_empty() {
            return Vec::new();
        }
        let text = text.strip_suffix(self.separator.as_str()).unwrap_or(text);
        let records = text.split(self.separator.as_str());
        if self.separator == "\n" {
            records.map(|record| record.strip_suffix('\r').unwrap_or(record)).collect()
        } else {
            records.collect()
        }
    }

    fn matches(&self, pattern: &Regex, schema: Option<&Value>, text: &str, notes: &mut Vec<String>) -> Vec<Value> {
        let properties = schema.and_then(|schema| schema.pointer("/items/properties")).and_then(Value::as_object);
        let object = |captures: &Captures<'_>| {
            let mut map = Map::new();
            for group in pattern.capture_names().flatten() {
                if let Some(found) = captures.name(group) {
                    map.insert(group.to_owned(), typed(found.as_str(), properties.and_then(|all| all.get(group))));
                }
            }
            Value::Object(map)
        };
        if self.separator.is_empty() {
            let mut matched = 0;
            let rows = pattern
                .captures_iter(text)
                .map(|captures| {
                    matched += captures.get_match().len();
                    object(&captures)
                })
                .collect();
            if matched < text.len() {
                notes.push(format!("{} of {} bytes did not match the pattern", text.len() - matched, text.len()));
            }
            return rows;
        }
        let records = self.records(text);
        let rows: Vec<Value> =
            records.iter().filter_map(|record| pattern.captures(record)).map(|c| object(&c)).collect();
        if rows.len() < records.len() {
            notes.push(format!(
                "{} of {} records did not match the pattern",
                records.len() - rows.len(),
                records.len()
            ));
        }
        rows
    }
}

/// Converts matched text to what the schema calls for. Text that does not fit stays text: the check of the output against
/// its schema then says so, with the value that came.
fn typed(text: &str, schema: Option<&Value>) -> Value {
    let wants = |name: &str| match schema.and_then(|schema| schema.get("type")) {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(many)) => many.iter().any(|one| one == name),
        _ => false,
    };
    let trimmed = text.trim();
    if wants("integer") || wants("number") {
        // By way of JSON, since Rust also reads `inf` and `nan`. A leading `+` or zero is no JSON and still a number.
        if let Ok(integer) = trimmed.parse::<i64>() {
            return integer.into();
        }
        if wants("number")
            && let Ok(float) = trimmed.parse::<f64>()
            && float.is_finite()
        {
            return float.into();
        }
    }
    if wants("boolean")
        && let Ok(truth) = trimmed.parse::<bool>()
    {
        return truth.into();
    }
    if wants("null") && (trimmed.is_empty() || trimmed == "-" || trimmed == "null") {
        return Value::Null;
    }
    Value::String(text.to_owned())
}

fn raw(value: &(impl serde::Serialize + ?Sized)) -> Result<Box<RawValue>, CallError> {
    serde_json::value::to_raw_value(value)
        .map_err(|error| CallError::new(ErrorCode::Internal, format!("bug: a value does not become JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &Output, schema: Value, bytes: &[u8]) -> String {
        let pattern = output.pattern().unwrap();
        match output.read(pattern.as_ref(), Some(&schema), "s.t", bytes) {
            Ok((value, notes)) if notes.is_empty() => value.to_string(),
            Ok((value, notes)) => format!("{value} ({})", notes.join("; ")),
            Err(error) => format!("{}: {}", error.code.as_str(), error.message),
        }
    }

    #[test]
    fn each_format_reads_what_it_promises() {
        let check = |format: OutputFormat, bytes: &[u8], expect: &str| {
            let output = Output { format, ..Output::default() };
            assert_eq!(read(&output, json!({}), bytes), expect);
        };
        check(OutputFormat::Text, b"a\nb\n\n", r#""a\nb""#);
        check(OutputFormat::Text, b"", r#""""#);
        check(OutputFormat::Text, b"\xff!", "\"\u{fffd}!\" (bytes that are not UTF-8 were replaced by U+FFFD)");
        check(OutputFormat::Lines, b"a\r\n\nb", r#"["a","","b"]"#);
        check(OutputFormat::Lines, b"", "[]");
        check(
            OutputFormat::Json,
            b" {\"b\": 1.10, \"a\":12345678901234567890123}\n",
            r#"{"b": 1.10, "a":12345678901234567890123}"#,
        );
        check(
            OutputFormat::Json,
            b"oops",
            "output_mismatch: `s.t` did not print JSON: expected value at line 1 column 1; it began with `oops`",
        );
        check(OutputFormat::Jsonl, b"1\n\n{\"a\":2}\n", r#"[1,{"a":2}]"#);
        check(
            OutputFormat::Jsonl,
            b"1\nx\n",
            "output_mismatch: `s.t` did not print JSON in record 2: expected value at line 1 column 1",
        );
    }

    #[test]
    fn a_pattern_makes_objects_typed_by_the_schema() {
        let schema = json!({"items": {"properties": {
            "n": {"type": ["integer", "null"]}, "x": {"type": "number"}, "b": {"type": "boolean"}
        }}});
        let check = |pattern: &str, separator: &str, bytes: &str, expect: &str| {
            let output = Output { pattern: Some(pattern.into()), separator: separator.into(), ..Output::default() };
            assert_eq!(read(&output, schema.clone(), bytes.as_bytes()), expect);
        };
        check(r"^(?<n>\S+) (?<s>.*)$", "\n", "1 a\n- b\n", r#"[{"n":1,"s":"a"},{"n":null,"s":"b"}]"#);
        check(r"^(?<x>\S+) (?<b>\S+)$", "\n", "0.5 true\n+7 no\n", r#"[{"x":0.5,"b":true},{"x":7,"b":"no"}]"#);
        check(r"^(?<n>\d+)$", "\n", "1\nx\n", r#"[{"n":1}] (1 of 2 records did not match the pattern)"#);
        check(
            r"(?<n>\d+)\t(?<s>[^\x00]*)\x00",
            "",
            "1\ta\nb\x002\tc\td\x00",
            r#"[{"n":1,"s":"a\nb"},{"n":2,"s":"c\td"}]"#,
        );
        check(r"(?<n>\d+)\x00", "", "1\x00??2\x00", r#"[{"n":1},{"n":2}] (2 of 6 bytes did not match the pattern)"#);
    }

    #[test]
    fn an_unusable_pattern_is_a_fault_of_the_settings() {
        let check = |format: OutputFormat, pattern: &str, expect: &str| {
            let output = Output { format, pattern: Some(pattern.into()), ..Output::default() };
            let message = output.pattern().unwrap_err().to_string();
            assert!(message.starts_with(expect), "{message}");
        };
        check(OutputFormat::Lines, "(", "`output.pattern` is not a regular expression: ");
        check(OutputFormat::Lines, "(a)", "`output.pattern` has no named group");
        check(OutputFormat::Json, "(?<a>b)", "`output.pattern` cannot stand beside a JSON format");
    }
}
