//! JSON for a person: what fits stays on one line.
//!
//! Works on the text, so that numbers keep their spelling, and neither depth nor size matters.

/// Longest line that is not broken.
const WIDTH: usize = 120;

/// Returns valid JSON, indented by two spaces. A text that is one string is returned as what it says.
pub(crate) fn pretty(json: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return text;
    }
    let json = json.trim();
    let ends = ends(json);
    let mut out = String::with_capacity(json.len() * 2);
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    // Whether what is open may go on one line: then this is where it ends.
    let mut flat_until = 0;
    while at < json.len() {
        let rest = &json[at..];
        let Some(c) = rest.chars().next() else { break };
        match c {
            '"' => {
                let length = string_length(rest);
                out.push_str(&rest[..length]);
                at += length;
                continue;
            }
            '{' | '[' => {
                let end = ends.get(&at).copied().unwrap_or(json.len());
                if at >= flat_until && (open.len() * 2 + (end - at) <= WIDTH || end == at + 1) {
                    flat_until = flat_until.max(end + 1);
                }
                out.push(c);
                open.push(at);
                if at >= flat_until {
                    line(&mut out, open.len());
                }
            }
            '}' | ']' => {
                open.pop();
                if at >= flat_until {
                    line(&mut out, open.len());
                }
                out.push(c);
            }
            ',' if at >= flat_until => {
                out.push(',');
                line(&mut out, open.len());
            }
            ',' => out.push_str(", "),
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
        at += c.len_utf8();
    }
    out
}

/// Returns where each bracket is closed.
fn ends(json: &str) -> std::collections::HashMap<usize, usize> {
    let mut open = Vec::new();
    let mut ends = std::collections::HashMap::new();
    let mut at = 0;
    let bytes = json.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += string_length(&json[at..]);
                continue;
            }
            b'{' | b'[' => open.push(at),
            b'}' | b']' => {
                if let Some(start) = open.pop() {
                    ends.insert(start, at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    ends
}

/// Returns the bytes of the string that the text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn line(out: &mut String, depth: usize) {
    /// Deeper levels are not indented more: nobody can read them, and the spaces would take more room than the data.
    const DEEPEST: usize = 40;
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(DEEPEST)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_on_one_line_and_numbers_keep_their_spelling() {
        let row = r#"{"path":"a,b:[c","n":1.0e2,"by":["x","y\"]","somebody with a long name"]}"#;
        let json = format!(r#"{{"rows":[{row},{row}],"empty":{{}},"none":[],"é":null}}"#);
        insta::assert_snapshot!(pretty(&json), @r#"
        {
          "rows": [
            {"path": "a,b:[c", "n": 1.0e2, "by": ["x", "y\"]", "somebody with a long name"]},
            {"path": "a,b:[c", "n": 1.0e2, "by": ["x", "y\"]", "somebody with a long name"]}
          ],
          "empty": {},
          "none": [],
          "é": null
        }
        "#);
    }

    #[test]
    fn a_string_is_what_it_says_and_a_number_is_itself() {
        assert_eq!(pretty(r#""a\nb""#), "a\nb");
        assert_eq!(pretty("1e400"), "1e400");
        assert_eq!(pretty("null"), "null");
    }

    #[test]
    fn depth_does_not_matter() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text: String = pretty(&deep).chars().filter(|c| !c.is_whitespace()).collect();
        assert_eq!(text, deep);
    }
}
