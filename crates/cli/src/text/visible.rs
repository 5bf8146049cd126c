//! Foreign texts, such as names and descriptions of tools, as a person may read them.

use std::borrow::Cow;

use refrain_runtime::escaped;

/// Returns a text in which everything can be seen: what nobody sees, and what moves the cursor or turns the writing around, is
/// an escape. Lines and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// As [`visible`], for what has to stay on its line.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Returns a word as it is typed into a shell. One that has something unusual in it is in quotes, so that spaces are seen.
pub(crate) fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_where_there_may_be_several() {
        assert_eq!(visible("a\tb\nc\u{202e}\r"), "a\tb\nc\\u{202e}\\r");
        assert_eq!(on_one_line("a\tb\nc"), "a\\tb\\nc");
    }

    #[test]
    fn a_word_for_a_shell_is_quoted_where_it_has_to_be() {
        let check = |word: &str, expect: &str| assert_eq!(shell_word(word), expect);
        check("github.list_issues", "github.list_issues");
        check("s.  ", "'s.  '");
        check("it's", r"'it'\''s'");
        check("", "''");
    }
}
