//! Values that are never repeated: not in errors, not in reasons, not in what a server writes beside the protocol.
//!
//! Whoever reads the settings says which values are secret. Here they are only ever looked for, and taken out of texts that we
//! pass on. A part of a secret counts as well, since programs cut and quote what they complain about.
//!
//! Deliberately not looked at: what a tool *returns*. That is its work, and to change it would be to lie about it.

use std::{collections::HashSet, fmt, sync::Arc};

use serde_json::Value;

use crate::error::CallError;

/// As many bytes of a secret in a row are taken out. Fewer would hit ordinary words.
const PART: usize = 6;
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
        let parts = values
            .iter()
            .flat_map(|value| value.as_bytes().windows(PART))
            .filter_map(|part| part.try_into().ok())
            .collect();
        Self { values: Arc::new(values), parts: Arc::new(parts) }
    }

    /// Returns `text` without what is secret in it.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        if self.values.is_empty() {
            return text.to_owned();
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
        assert_eq!(format!("{secrets:?}"), "***");
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
