//! Sets right the text of a message that is no JSON of ours: one odd string or number in it must not cost the whole.
//!
//! Other languages write what our parser refuses: half a character (`"\ud83d"`), a number out of range (`1e400`), nesting without
//! end, bytes that are no UTF-8. Each becomes the nearest honest thing, in one pass over the bytes that neither recurses nor looks
//! ahead, and is counted. The counts ride with the message, in the `_meta` of its result, until somebody tells them. They are numbers,
//! so that a server that writes them itself can say nothing in our name.
//!
//! Deliberately not here: what is no JSON at all, which stays unreadable.

use rmcp::model::ServerResult;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What lies deeper is left out. The parser takes 127, and whatever holds a result later needs some of them.
pub(super) const MAX_LEVELS: usize = 120;

/// As many entries of a list are named.
const MAX_PLACES: usize = 5;

const KEY: &str = "refrain/mended";
const HALF: &[u8; 6] = b"\\ufffd";
/// U+FFFD in UTF-8.
const REPLACEMENT: &[u8; 3] = b"\xEF\xBF\xBD";

/// What was mended, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Mended {
    /// Places that were no UTF-8.
    pub(super) bytes: u64,
    halves: u64,
    numbers: u64,
    /// How deep it went; 0 where that was not too deep.
    levels: u64,
    /// Where in the list of tools, if it is one.
    places: Vec<usize>,
}

impl Mended {
    /// Says what was mended.
    pub(super) fn told(&self) -> String {
        let mut told = Vec::new();
        let mut counted = |count: u64, one: &str, many: &str, became: &str| match count {
            0 => {}
            1 => told.push(format!("{one} became {became}")),
            count => told.push(format!("{count} {many} became {became}")),
        };
        counted(self.bytes, "a place that is no UTF-8", "places that are no UTF-8", "U+FFFD");
        counted(self.halves, "half a character", "halves of characters", "U+FFFD");
        counted(self.numbers, "a number out of range", "numbers out of range", "`null`");
        if self.levels > 0 {
            told.push(format!("what lies deeper than {MAX_LEVELS} of its {} levels became `null`", self.levels));
        }
        told.join(", ")
    }

    /// Names the mended ones among the tools of a page.
    pub(super) fn names<'a>(&self, page: &'a [Value]) -> Vec<&'a str> {
        let named = self.places.iter().filter_map(|at| page.get(*at)?.get("name")?.as_str());
        named.filter(|name| !name.is_empty()).take(MAX_PLACES).collect()
    }

    /// Lets it ride with an answer. An error needs none: nobody computes with its words.
    pub(super) fn ride(&self, message: &mut Map<String, Value>) {
        let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) else { return };
        let meta = result.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        if let (Some(meta), Ok(mended)) = (meta.as_object_mut(), serde_json::to_value(self)) {
            meta.insert(KEY.to_owned(), mended);
        }
    }

    /// Takes it out of a result.
    pub(super) fn of(result: &mut Map<String, Value>) -> Option<Self> {
        let meta = result.get_mut("_meta")?.as_object_mut()?;
        let mended = meta.remove(KEY)?;
        if meta.is_empty() {
            result.remove("_meta");
        }
        Self::known(mended)
    }

    /// Takes it out of a result of a call.
    pub(super) fn of_answer(answer: &mut ServerResult) -> Option<Self> {
        match answer {
            ServerResult::CallToolResult(result) => {
                let meta = &mut result.meta.as_mut()?.0;
                let mended = meta.remove(KEY)?;
                if meta.is_empty() {
                    result.meta = None;
                }
                Self::known(mended)
            }
            ServerResult::CustomResult(result) => Self::of(result.0.as_object_mut()?),
            _ => None,
        }
    }

    fn known(mended: Value) -> Option<Self> {
        serde_json::from_value(mended).ok().filter(|mended| !Self::is_nothing(mended))
    }

    fn is_nothing(&self) -> bool {
        [self.bytes, self.halves, self.numbers, self.levels] == [0; 4]
    }
}

/// Mends a text. None where there is nothing that can be.
pub(super) fn mend(text: &[u8]) -> Option<(Vec<u8>, Mended)> {
    let mut pass = Pass::default();
    for chunk in text.utf8_chunks() {
        chunk.valid().bytes().for_each(|byte| pass.step(byte));
        if !chunk.invalid().is_empty() {
            REPLACEMENT.iter().for_each(|byte| pass.step(*byte));
            pass.mended.bytes += 1;
            pass.note_place();
        }
    }
    if pass.deepest > MAX_LEVELS {
        pass.mended.levels = u64::try_from(pass.deepest).unwrap_or(u64::MAX);
    }
    (!pass.mended.is_nothing()).then_some((pass.out, pass.mended))
}

/// Returns whether a JSON text is nested deeper than what may lie in a result.
pub(super) fn is_too_deep(text: &str) -> bool {
    // Every level needs two brackets, so that most texts need no look.
    if text.len() <= 2 * MAX_LEVELS {
        return false;
    }
    let (mut in_text, mut escaped, mut level) = (false, false, 0_usize);
    text.bytes().any(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => level += 1,
            b'}' | b']' if !in_text => level = level.saturating_sub(1),
            _ => {}
        }
        level > MAX_LEVELS
    })
}

/// Where in the text the pass is.
#[derive(Clone, Copy, Default)]
enum Token {
    #[default]
    Between,
    Text,
    Escape,
    /// So many digits of `\uXXXX`, and what they say.
    Unit(u8, u16),
    /// Since there.
    Number(usize),
}

#[derive(Default)]
struct Pass {
    out: Vec<u8>,
    token: Token,
    level: usize,
    deepest: usize,
    /// Where the first half of a character is, whose second must come next.
    half: Option<usize>,
    /// The entry of `result.tools` that we are in.
    place: Option<usize>,
    /// Whether the last text in the result itself was `tools`.
    names_tools: bool,
    mended: Mended,
}

impl Pass {
    fn step(&mut self, byte: u8) {
        match (self.token, byte) {
            (Token::Between, _) => self.between(byte),
            (Token::Text, b'\\') => {
                self.token = Token::Escape;
                self.put(byte);
            }
            (Token::Text, _) => {
                self.end_half();
                self.put(byte);
                if byte == b'"' {
                    self.token = Token::Between;
                    if self.level == 2 {
                        self.names_tools = self.out.ends_with(b"\"tools\"");
                    }
                }
            }
            (Token::Escape, b'u') => {
                self.token = Token::Unit(0, 0);
                self.put(byte);
            }
            (Token::Escape, _) => {
                self.end_half();
                self.token = Token::Text;
                self.put(byte);
            }
            (Token::Unit(digits, value), _) => {
                match char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok()) {
                    Some(digit) => {
                        self.put(byte);
                        let value = value << 4 | digit;
                        if digits == 3 {
                            self.token = Token::Text;
                            self.unit(value);
                        } else {
                            self.token = Token::Unit(digits + 1, value);
                        }
                    }
                    None => {
                        self.token = Token::Text;
                        self.step(byte);
                    }
                }
            }
            (Token::Number(_), b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => self.put(byte),
            (Token::Number(start), _) => {
                self.number(start);
                self.between(byte);
            }
        }
    }

    fn between(&mut self, byte: u8) {
        self.token = Token::Between;
        match byte {
            b'{' | b'[' => {
                self.level += 1;
                self.deepest = self.deepest.max(self.level);
                if self.level == 3 && byte == b'[' && self.names_tools {
                    self.place = Some(0);
                }
                if self.level == MAX_LEVELS + 1 {
                    self.out.extend_from_slice(b"null");
                    self.note_place();
                }
                self.put(byte);
            }
            b'}' | b']' => {
                self.put(byte);
                self.level = self.level.saturating_sub(1);
                if self.level < 3 {
                    self.place = None;
                }
            }
            b',' => {
                if let (3, Some(place)) = (self.level, &mut self.place) {
                    *place += 1;
                }
                self.put(byte);
            }
            b'"' => {
                self.token = Token::Text;
                self.put(byte);
            }
            b'-' | b'0'..=b'9' => {
                self.token = Token::Number(self.out.len());
                self.put(byte);
            }
            _ => self.put(byte),
        }
    }

    fn is_too_deep(&self) -> bool {
        self.level > MAX_LEVELS
    }

    fn put(&mut self, byte: u8) {
        if !self.is_too_deep() {
            self.out.push(byte);
        }
    }

    fn number(&mut self, start: usize) {
        let digits = self.out.get(start..).and_then(|digits| std::str::from_utf8(digits).ok());
        if digits.and_then(|digits| digits.parse::<f64>().ok()).is_some_and(f64::is_infinite) {
            self.out.truncate(start);
            self.out.extend_from_slice(b"null");
            self.mended.numbers += 1;
            self.note_place();
        }
    }

    /// Takes in an escape that is complete and the last that was put.
    fn unit(&mut self, value: u16) {
        if self.is_too_deep() {
            return;
        }
        let start = self.out.len() - HALF.len();
        match value {
            0xD800..=0xDBFF => {
                self.end_half();
                self.half = Some(start);
            }
            0xDC00..=0xDFFF => {
                if self.half.take().is_none() {
                    self.replace_half(start);
                }
            }
            _ => self.end_half(),
        }
    }

    fn end_half(&mut self) {
        if let Some(start) = self.half.take() {
            self.replace_half(start);
        }
    }

    fn replace_half(&mut self, start: usize) {
        self.out[start..start + HALF.len()].copy_from_slice(HALF);
        self.mended.halves += 1;
        self.note_place();
    }

    fn note_place(&mut self) {
        let places = &mut self.mended.places;
        if let Some(place) = self.place.filter(|place| places.last() != Some(place) && places.len() < MAX_PLACES) {
            places.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], expect: &str) {
        let shown = match mend(text) {
            Some((text, mended)) => format!("{} ({})", String::from_utf8(text).unwrap(), mended.told()),
            None => "nothing".to_owned(),
        };
        assert_eq!(shown, expect, "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn what_other_languages_write_becomes_the_nearest_honest_thing() {
        check(br#"{"a":"\ud83d\ude00 \\ud83d \"\u00e9","b":[1e3,-0.5,"1e400"]}"#, "nothing");
        check(br#"["\ud83d"]"#, r#"["\ufffd"] (half a character became U+FFFD)"#);
        check(
            br#"["\ude00\ud83d\ud83d\ude00\ud83d\n\ud83d\u0041"]"#,
            r#"["\ufffd\ufffd\ud83d\ude00\ufffd\n\ufffd\u0041"] (4 halves of characters became U+FFFD)"#,
        );
        check(
            br#"{"\udc00":[1e400,-1E+999, 2]}"#,
            r#"{"\ufffd":[null,null, 2]} (half a character became U+FFFD, 2 numbers out of range became `null`)"#,
        );
        check(b"[\"\xff\xc3\"]", "[\"\u{fffd}\u{fffd}\"] (2 places that are no UTF-8 became U+FFFD)");
        // What is no JSON stays none.
        check(br#"["\ud8"]"#, "nothing");
        check(br#"["\ud83d"#, "nothing");
        check(b"[1e400", "nothing");
    }

    #[test]
    fn what_lies_too_deep_is_left_out_and_the_rest_is_as_it_was() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        check(nested(MAX_LEVELS).as_bytes(), "nothing");
        let deep = format!(r#"[{},"[{{",2]"#, nested(100_000));
        let (text, mended) = mend(deep.as_bytes()).unwrap();
        let cut = nested(MAX_LEVELS - 1).replace("[]", "[null]");
        assert_eq!(String::from_utf8(text.clone()).unwrap(), format!(r#"[{cut},"[{{",2]"#));
        assert_eq!(mended.told(), "what lies deeper than 120 of its 100001 levels became `null`");
        assert!(serde_json::from_slice::<Value>(&text).is_ok());
        // Odd things down there are gone with it, and brackets in texts are none.
        let hidden = format!(r#"{}"]\ud83d",1e400{}"#, "[".repeat(121), "]".repeat(121));
        assert_eq!(
            mend(hidden.as_bytes()).unwrap().1.told(),
            "what lies deeper than 120 of its 121 levels became `null`"
        );
        assert!(is_too_deep(&deep) && !is_too_deep(&nested(MAX_LEVELS)));
        assert!(!is_too_deep(&format!(r#"["{}\"["]"#, "[".repeat(300))));
    }

    #[test]
    fn the_tools_that_were_mended_are_known() {
        let names = |text: &str| {
            let (text, mended) = mend(text.as_bytes()).unwrap();
            let page: Value = serde_json::from_slice(&text).unwrap();
            let tools = page["result"]["tools"].as_array().cloned().unwrap_or_default();
            mended.names(&tools).join(" ")
        };
        assert_eq!(
            names(
                r#"{"result":{"tools":[{"name":"a","t":[1,2]},{"name":"b","x":"\ud83d"},{"name":"c","x":[1e400]}]}}"#
            ),
            "b c"
        );
        assert_eq!(names(r#"{"result":{"_meta":[1,"\ud83d"],"tools":[{"name":"a"},{"name":"b"}]}}"#), "");
        assert_eq!(names(r#"{"result":{"tools":[{"name":"a"},{"name":"b"}],"more":[1,1e400]}}"#), "");
    }

    #[test]
    fn whatever_comes_does_no_harm_and_what_parses_stays_as_it_is() {
        const PIECES: [&[u8]; 20] = [
            b"\"",
            b"\"",
            b"\\",
            b"\\u",
            b"\\ud83d",
            b"\\ude00",
            b"\\u0041",
            b"[",
            b"]",
            b"{",
            b"}",
            b",",
            b":",
            b"1e400",
            b"-",
            b"7",
            b"\"tools\"",
            b"\"a\":",
            b"\xff",
            b"\xe6\x97",
        ];
        let mut seed = 1_u64;
        let mut next = |most: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % most
        };
        let (mut parsed, mut mended) = (0, 0);
        for round in 0..50_000 {
            let deep = if round % 4 == 0 { MAX_LEVELS - 2 } else { 0 };
            let mut text = b"[".repeat(deep);
            for _ in 0..next(12) {
                text.extend_from_slice(PIECES[next(PIECES.len())]);
            }
            text.extend_from_slice(&b"]".repeat(deep));
            let outcome = mend(&text);
            mended += usize::from(outcome.is_some());
            let is_deep = std::str::from_utf8(&text).is_ok_and(is_too_deep);
            if !is_deep && serde_json::from_slice::<Value>(&text).is_ok() {
                parsed += 1;
                assert!(outcome.is_none(), "{}", String::from_utf8_lossy(&text));
            }
        }
        assert!(parsed > 500 && mended > 500, "{parsed} parsed, {mended} mended");
    }
}
