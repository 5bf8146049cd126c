//! Text for a person: pure functions from data to lines.

pub(crate) mod cut;
pub(crate) mod json;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod visible;

/// Returns a number with its noun: `1 call`, `2 calls`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Returns a number with commas between thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the first line, at most `most` characters of it, with a mark where something is missing.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}

/// Returns the name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Below this, names that share a few letters are called near.
    const NEAR: f64 = 0.6;
    names
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_as_a_person_would_say_them() {
        assert_eq!(
            [0, 1, 999, 1000, 1_234_567].map(|n| count(n, "call")),
            ["0 calls", "1 call", "999 calls", "1,000 calls", "1,234,567 calls"]
        );
    }

    #[test]
    fn one_line_is_the_first_with_words_on_it() {
        assert_eq!(one_line("\n  äbc def\nx", 80), "äbc def");
        assert_eq!(one_line("äbc def", 4), "äbc…");
        assert_eq!(one_line("", 4), "");
    }
}
