//! JSON as text, kept byte for byte.
//!
//! What a tool returned must reach the script on replay as it did live: number spellings, duplicate keys, lone
//! surrogates and key order included. A parsed tree would lose some of them, and the engine parses anyway.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::JournalError;

/// A JSON text that is known to be valid. Cheap to clone; two are equal when their texts are.
///
/// Only white space around the text is dropped. Nothing bounds its size or its depth.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotJson`] says where it stops being JSON.
    pub fn new(text: impl Into<String>) -> Result<Self, JournalError> {
        match RawValue::from_string(text.into()) {
            Ok(raw) => Ok(Self(raw.into())),
            Err(source) => Err(JournalError::NotJson { source: Arc::new(source) }),
        }
    }

    /// Returns the compact text of `value`.
    pub fn from_value(value: &Value) -> Self {
        Self(serde_json::value::to_raw_value(value).expect("a `Value` always has a text").into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Parses the text into `T`.
    ///
    /// # Errors
    ///
    /// [`JournalError::NotJson`] if the text is no `T`. A [`Value`] too can fail: it refuses 128 levels and `1e400`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, JournalError> {
        serde_json::from_str(self.as_str()).map_err(|source| JournalError::NotJson { source: Arc::new(source) })
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Box::<RawValue>::deserialize(deserializer)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_survives_byte_for_byte_also_inside_another() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [r#"{"b":1,"a":1.0,"a":-0}"#, r#""\ud800""#, "1e400", "9007199254740993", "[1,  2]", "null", &deep]
        {
            let json = Json::new(text).unwrap();
            assert_eq!(json.as_str(), text);
            let around = serde_json::to_string(&[&json]).unwrap();
            assert_eq!(around, format!("[{text}]"));
            assert_eq!(serde_json::from_str::<Vec<Json>>(&around).unwrap(), [json]);
        }
        assert_eq!(Json::new(" \n{}\t").unwrap().as_str(), "{}");
    }

    #[test]
    fn what_is_not_one_value_is_refused() {
        for text in ["", "{", "1 2", "undefined", "\"\n\"", "[1,]", "NaN"] {
            assert!(matches!(Json::new(text), Err(JournalError::NotJson { .. })), "{text}");
        }
    }
}
