//! Characters of foreign texts that nobody sees and that change how others look or what they mean: control characters, marks
//! that turn the direction of writing, line ends that only some programs know, and those without any width.
//!
//! Whoever shows a text shows these as escapes. Whoever passes it on leaves them as they are.
//!
//! Deliberately not among them: joiners, which emoji and several scripts need, and letters that look like others.

use std::borrow::Cow;

/// Returns whether a character is one of them. Line breaks and tabs are control characters too.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}'
            | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Tags: a whole alphabet that is not drawn.
            | '\u{e0000}'..='\u{e007f}')
}

/// Returns `text` with each of them as `\u{202e}`, `\r` and the like, but for those that `is_kept` names.
#[must_use]
pub fn escaped(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_shown = |c: char| !is_unseen(c) || is_kept(c);
    if text.chars().all(is_shown) {
        return text.into();
    }
    let show = |c: char| if is_shown(c) { c.to_string() } else { c.escape_default().to_string() };
    text.chars().map(show).collect::<String>().into()
}

/// Returns a literal of JSON, JavaScript and TypeScript with each of them as `\u202e`. The value stays the same.
pub(crate) fn in_literal(literal: &str) -> Cow<'_, str> {
    if !literal.contains(is_unseen) {
        return literal.into();
    }
    let mut out = String::new();
    for c in literal.chars() {
        if is_unseen(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_shown_and_everything_else_stays() {
        let text = "é 数据 👩\u{200d}👩 العربية a\tb";
        assert_eq!(escaped(text, |c| c == '\t'), text);
        assert_eq!(
            escaped("a\u{202e}b\u{2028}\u{1b}[2J\r\u{9b}\n\u{e0041}", |c| c == '\n'),
            "a\\u{202e}b\\u{2028}\\u{1b}[2J\\r\\u{9b}\n\\u{e0041}"
        );
    }

    #[test]
    fn a_literal_keeps_its_value() {
        let text = "a\u{202e}\u{e0041}\u{7f}\n\"\\é";
        let literal = serde_json::Value::from(text).to_string();
        let shown = in_literal(&literal);
        assert_eq!(shown, "\"a\\u202e\\udb40\\udc41\\u007f\\n\\\"\\\\é\"");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
