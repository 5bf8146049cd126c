//! Whole numbers that JavaScript cannot hold: ids of databases, mostly. The script gets the nearest number it has, so that is
//! said.
//!
//! Fractions are not looked at: that those are near what was written is how numbers work everywhere.

/// Digits that every number has room for.
const SAFE_DIGITS: usize = 15;
/// Numbers that are named.
const MAX_NAMED: usize = 3;
/// Longer numbers are cut.
const MAX_SHOWN: usize = 40;

/// Returns a note on the whole numbers in a JSON text that a script sees rounded. None where there are none. `whose` begins
/// the sentence.
pub(crate) fn note(whose: &str, json: &str) -> Option<String> {
    let named = rounded_numbers(json)?;
    let why = "JavaScript has no such numbers; as text they stay as they are";
    Some(format!("{whose} has numbers that the script sees rounded: {named}; {why}"))
}

/// Returns the whole numbers in a JSON text that JavaScript rounds, each with what it becomes. None where there are none.
#[must_use]
pub fn rounded_numbers(json: &str) -> Option<String> {
    let mut rounded = Numbers(json).filter(|text| text.len() > SAFE_DIGITS).filter_map(rounded);
    let named: Vec<String> = rounded.by_ref().take(MAX_NAMED).collect();
    if named.is_empty() {
        return None;
    }
    let more = rounded.count();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{}{more}", named.join(", ")))
}

/// Returns what a whole number becomes, where that is another.
fn rounded(text: &str) -> Option<String> {
    let number: f64 = text.parse().ok()?;
    // As JavaScript writes a number it is not always what the number is, to the digit, and both are read as it.
    let is_same = || number.to_string() == text || format!("{number:.0}") == text;
    if text.contains(['.', 'e', 'E']) || is_same() {
        return None;
    }
    let shown = if text.len() > MAX_SHOWN { format!("{}…", &text[..MAX_SHOWN]) } else { text.to_owned() };
    let becomes = if number.abs() < 1e21 { number.to_string() } else { format!("{number:e}") };
    Some(format!("{shown} as {becomes}"))
}

/// The numbers in a JSON text.
struct Numbers<'a>(&'a str);

impl<'a> Iterator for Numbers<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.0.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at += 1;
                    while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'"') {
                        at += if *byte == b'\\' { 2 } else { 1 };
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    let len = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                    let number = &self.0[at..at + len];
                    self.0 = &self.0[at + len..];
                    return Some(number);
                }
                _ => {}
            }
            at += 1;
        }
        self.0 = "";
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_javascript_has_not_are_told() {
        let check = |json: &str, expect: &str| {
            let told = note("it", json).unwrap_or_default();
            let told = told.strip_prefix("it has numbers that the script sees rounded: ").unwrap_or(&told);
            assert_eq!(told.split(';').next().unwrap(), expect, "{json}");
        };
        check(r#"{"id":1234567890123456789}"#, "1234567890123456789 as 1234567890123456800");
        check("[9007199254740992,-9007199254740992,9007199254740994,1000000000000000000000000]", "");
        check("[-9007199254740993]", "-9007199254740993 as -9007199254740992");
        check(r#"["1234567890123456789","\\","\"1234567890123456789",1234567890123456.5,1e300,""]"#, "");
        check(&"9".repeat(400), &format!("{}… as inf", "9".repeat(40)));
        check("123456789012345678901234", "123456789012345678901234 as 1.2345678901234569e23");
        check(
            &format!("[{}]", ["9007199254740993"; 5].join(",")),
            &format!("{} and 2 more", ["9007199254740993 as 9007199254740992"; 3].join(", ")),
        );
    }
}
