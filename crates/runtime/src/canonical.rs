//! One text for each JSON value, so that arguments can be compared across attempts.
//!
//! Keys are sorted; a number with no fraction is written without one, so 1 and 1.0 are equal, and so are 0 and -0. Array order
//! counts. The form is compared and never stored, so it may change between releases.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// The canonical form of a JSON text. A text that this parser refuses (too deep, a lone surrogate) is its own form.
pub(crate) fn canonical(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(value) => {
            let mut text = String::with_capacity(json.len());
            write(&value, &mut text);
            text
        }
        Err(_) => json.to_owned(),
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}:", Value::from(key.as_str()));
                write(member, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Number(number) => write_number(number, out),
        Value::Null | Value::Bool(_) | Value::String(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn write_number(number: &Number, out: &mut String) {
    /// Up to here every whole number has a double of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let _ = match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
            write!(out, "{}", float as i64)
        }
        _ => write!(out, "{number}"),
    };
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn equal_values_have_one_text_and_others_do_not() {
        for (a, b) in [
            (r#"{"b":1,"a":[{"d":1,"c":2}]}"#, r#"{ "a": [{"c":2, "d":1}], "b": 1.0 }"#),
            ("[1,1.0,1e0]", "[1,1,1]"),
            ("-0", "0"),
            ("-0.0", "0"),
            (r#""\u0041""#, r#""A""#),
        ] {
            assert_eq!(canonical(a), canonical(b), "{a} {b}");
        }
        for (a, b) in [
            ("[1,2]", "[2,1]"),
            ("1", r#""1""#),
            ("{}", "[]"),
            ("9007199254740993", "9007199254740992"),
            ("null", "{}"),
            ("0.1", "0.2"),
        ] {
            assert_ne!(canonical(a), canonical(b), "{a} {b}");
        }
    }
}
