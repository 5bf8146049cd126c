//! Values that are never repeated: not in errors, not in reasons, not in what a server writes beside the protocol.
//!
//! Whoever reads the settings says which values are secret. Here they are only ever looked for, and taken out of texts that we
//! pass on. A part of a secret counts as well, since programs cut and quote what they complain about; and so does a secret in
//! Base64, percent-encoded, in hexadecimal, or as it stands in JSON.
//!
//! Deliberately not looked at: what a tool *returns*. That is its work, and to change it would be to lie about it.

use std::{collections::HashSet, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose};
use serde_json::Value;

use crate::{error::CallError, tool::Tool};

/// As many bytes of a secret in a row are taken out. Fewer would hit ordinary words.
const PART: usize = 6;
/// Where a text is cut, a part of a secret may be shorter: as many bytes before the mark are taken out as well.
const CUT_PART: usize = 2;
const CUT_MARK: char = '…';
const MASK: &str = "***";

/// Values that are never repeated.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Arc<Vec<String>>,
    /// Every run of [`PART`] bytes of a value.
    parts: Arc<HashSet<[u8; PART]>>,
}

impl Secrets {
    /// Takes the values. Empty ones are no secrets.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        let mut parts = HashSet::new();
        // What is short is looked for as it is: its other forms are as short and as common.
        for value in values.iter().filter(|value| value.len() >= PART) {
            for form in forms(value) {
                parts.extend(form.as_bytes().windows(PART).filter_map(|part| <[u8; PART]>::try_from(part).ok()));
            }
        }
        Self { values: Arc::new(values), parts: Arc::new(parts) }
    }

    /// Returns whether something in `text` is secret.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.hidden(text).contains(&true)
    }

    /// Returns `text` without what is secret in it.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        if self.values.is_empty() {
            return text.to_owned();
        }
        let hidden = self.hidden(text);
        let mut shown = String::with_capacity(text.len());
        let mut in_mask = false;
        for (at, c) in text.char_indices() {
            // A part may begin or end within a character, which then goes as a whole.
            if hidden[at..at + c.len_utf8()].contains(&true) {
                if !in_mask {
                    shown.push_str(MASK);
                }
                in_mask = true;
            } else {
                shown.push(c);
                in_mask = false;
            }
        }
        shown
    }

    /// Returns which bytes of `text` are secret. Nothing where there are no secrets.
    fn hidden(&self, text: &str) -> Vec<bool> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let mut hidden = vec![false; text.len()];
        for (at, part) in text.as_bytes().windows(PART).enumerate() {
            if <[u8; PART]>::try_from(part).is_ok_and(|part| self.parts.contains(&part)) {
                hidden[at..at + PART].fill(true);
            }
        }
        // One that is shorter than a part is looked for whole, and as a word: it may be a common one.
        for value in self.values.iter().filter(|value| value.len() < PART) {
            for (at, _) in text.match_indices(value.as_str()) {
                let end = at + value.len();
                let is_word =
                    !text[..at].ends_with(char::is_alphanumeric) && !text[end..].starts_with(char::is_alphanumeric);
                if is_word {
                    hidden[at..end].fill(true);
                }
            }
        }
        // What was cut before it came here may end with the beginning of one.
        for (end, _) in text.match_indices(CUT_MARK) {
            let begun = self
                .values
                .iter()
                .flat_map(|value| (CUT_PART..PART.min(value.len())).map(|len| &value.as_bytes()[..len]));
            for part in begun.filter(|part| text.as_bytes()[..end].ends_with(part)) {
                hidden[end - part.len()..end].fill(true);
            }
        }
        hidden
    }

    /// Takes what is secret out of what a tool says of itself. Keys stay, and what a schema compares with: they are what
    /// a call has to have.
    pub(crate) fn hide_in_tool(&self, tool: &mut Tool) {
        if self.values.is_empty() {
            return;
        }
        tool.description = self.hide(&tool.description);
        tool.notes.iter_mut().for_each(|note| *note = self.hide(note));
        for schema in [Some(&mut tool.input_schema), tool.output_schema.as_mut()].into_iter().flatten() {
            if self.are_in(&schema.to_string()) {
                self.hide_prose(Arc::make_mut(schema), false);
            }
        }
    }

    /// `named` says that the keys are names that the tool gave, and no keywords.
    fn hide_prose(&self, schema: &mut Value, named: bool) {
        const PROSE: [&str; 6] = ["description", "title", "$comment", "default", "example", "examples"];
        const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
        match schema {
            Value::Array(list) => list.iter_mut().for_each(|each| self.hide_prose(each, false)),
            Value::Object(map) => map.iter_mut().for_each(|(key, value)| match named {
                false if PROSE.contains(&key.as_str()) => self.hide_value(value),
                _ => self.hide_prose(value, !named && NAMED.contains(&key.as_str())),
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Returns an error without what is secret in it.
    pub(crate) fn hide_in(&self, mut error: CallError) -> CallError {
        if !self.values.is_empty() {
            error.message = self.hide(&error.message);
            if let Some(data) = &mut error.data {
                self.hide_value(data);
            }
        }
        error
    }

    fn hide_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(list) => list.iter_mut().for_each(|each| self.hide_value(each)),
            Value::Object(map) => {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(key, mut value)| {
                        self.hide_value(&mut value);
                        (self.hide(&key), value)
                    })
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns a secret as it is and as it is written in other places.
fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned(), value.bytes().map(|byte| format!("{byte:02x}")).collect()];
    let json = Value::from(value).to_string();
    forms.push(json[1..json.len() - 1].to_owned());
    // Base64 looks different at each of three places. What its first and last characters share with what is around is left out.
    for before in 0..3 {
        let bytes = [&b"\0\0"[..before], value.as_bytes()].concat();
        for engine in [general_purpose::STANDARD_NO_PAD, general_purpose::URL_SAFE_NO_PAD] {
            let text = engine.encode(&bytes);
            let first = (before * 8).div_ceil(6);
            let last = bytes.len() * 8 / 6;
            forms.extend(text.get(first..last).map(str::to_owned));
        }
    }
    for is_kept in [&b"-_.~"[..], b"-_.~!$&'()*+,;=:@/"] {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || is_kept.contains(&byte);
        let with = |escaped: fn(u8) -> String| {
            value
                .bytes()
                .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { escaped(byte) })
                .collect()
        };
        forms.extend([with(|byte| format!("%{byte:02X}")), with(|byte| format!("%{byte:02x}"))]);
    }
    forms
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn a_secret_and_every_longer_part_of_it_are_hidden() {
        let secrets =
            Secrets::new(["Bearer sk-12345678".to_owned(), "ünïcödé".to_owned(), "pin".to_owned(), String::new()]);
        let check = |text: &str, expect: &str| assert_eq!(secrets.hide(text), expect, "{text}");
        check("nothing here", "nothing here");
        check("key=sk-12345678!", "key=***!");
        check("…2345678", "…***");
        check("12345", "12345");
        check("Bearer", "***");
        check("ünï cöd ünïcödé", "ünï cöd ***");
        check("pin, spin", "***, spin");
        check("", "");
        check("it said Be…", "it said ***…");
        check("it said B…", "it said B…");
        assert_eq!(format!("{secrets:?}"), "***");
    }

    #[test]
    fn a_secret_is_hidden_in_whatever_way_it_is_written() {
        let secret = "p\"ä/ s+w0rd&more?";
        let secrets = Secrets::new([secret.to_owned()]);
        let url = "p%22%C3%A4%2F%20s%2Bw0rd%26more%3F";
        for written in [secret, "p\\\"ä/ s+w0rd&more?", url, &url.to_lowercase()] {
            assert!(!secrets.hide(&format!("at {written}.")).contains("w0rd"), "{written}");
        }
        for around in ["", "u", "ab", "abc"] {
            let text = general_purpose::STANDARD.encode(format!("{around}{secret}{around}"));
            let shown = secrets.hide(&text);
            assert!(shown.contains(MASK) && shown.len() < 3 + 12, "{text}: {shown}");
        }
        assert_eq!(secrets.hide("70 22c3a42f20732b7730726426 71"), "70 *** 71");
    }

    #[test]
    fn a_tool_that_repeats_a_secret_is_cleaned_and_can_be_called() {
        let secrets = Secrets::new(["hunter2hunter2".to_owned()]);
        let mut tool = Tool::new("s", "t");
        tool.description = "uses hunter2hunter2".to_owned();
        tool.input_schema = Arc::new(json!({"description": "hunter2hunter2", "properties": {
            "hunter2hunter2": {"enum": ["hunter2hunter2"], "default": "hunter2hunter2"},
            "description": {"description": "no hunter2hunter2"}, "default": {"default": {"a": "hunter2hunter2"}},
        }}));
        secrets.hide_in_tool(&mut tool);
        assert_eq!(tool.description, "uses ***");
        assert_eq!(
            *tool.input_schema,
            json!({"description": "***", "properties": {
                "hunter2hunter2": {"enum": ["hunter2hunter2"], "default": "***"},
                "description": {"description": "no ***"}, "default": {"default": {"a": "***"}},
            }})
        );
    }

    #[test]
    fn an_errors_data_is_cleaned_as_its_message_is() {
        let secrets = Secrets::new(["hunter2hunter2".to_owned()]);
        let error = CallError::new(ErrorCode::ToolError, "no hunter2hunter2")
            .with_data(json!({"hunter2hunter2": ["is hunter2hunter2", 1, null]}));
        let error = secrets.hide_in(error);
        assert_eq!((error.message.as_str(), error.data), ("no ***", Some(json!({"***": ["is ***", 1, null]}))));
    }
}
