//! Names: identifiers for foreign spellings, and the nearest names to a misspelling.
//!
//! Identifiers are plain ASCII. JavaScript allows more, but which letters exactly depends on a Unicode version, and a name
//! that one engine takes and another refuses is worse than an underscore. The original name always works in brackets.

use std::collections::HashSet;

use crate::unseen;

/// Returns whether `name` can follow a dot in JavaScript as it stands.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'$')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
}

/// Returns the identifier for `name`, before collisions are looked at.
pub(crate) fn identifier(name: &str) -> String {
    let mut ident: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '$' { c } else { '_' }).collect();
    if ident.is_empty() || ident.starts_with(|c: char| c.is_ascii_digit()) {
        ident.insert(0, '_');
    }
    if ident == "then" {
        ident.push('_');
    }
    ident
}

/// Returns one identifier for each name, all different, and different from every *other* name as well: `tools.s.a_b` must
/// never be one tool by its name and another by its identifier.
///
/// The outcome depends on the set of names and not on their order, provided that `names` is sorted.
pub(crate) fn identifiers(names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    names
        .iter()
        .map(|name| {
            let wanted = identifier(name);
            if wanted == *name {
                return wanted;
            }
            let free = std::iter::once(wanted.clone())
                .chain((2..).map(|n| format!("{wanted}_{n}")))
                .find(|candidate| !taken.contains(candidate))
                .unwrap_or(wanted);
            taken.insert(free.clone());
            free
        })
        .collect()
}

/// Returns what is to be said of an identifier that is not the one its name asks for.
pub(crate) fn clash(name: &str, ident: &str) -> Option<String> {
    let wanted = identifier(name);
    (ident != wanted).then(|| format!("its identifier is `{ident}`, since `{wanted}` is another tool's"))
}

/// Returns `.name` or `["name"]`, whichever JavaScript needs.
pub(crate) fn access(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quoted(name)) }
}

/// Returns `name` as a property key of an object type.
pub(crate) fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// Returns a string literal that is valid JSON, JavaScript and TypeScript.
pub(crate) fn quoted(text: &str) -> String {
    unseen::in_literal(&serde_json::Value::from(text).to_string()).into_owned()
}

/// Returns at most three of `names` that `wrong` may have meant, best first.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let folded = fold(wrong);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let other = fold(name);
            let score = if other == folded {
                2.0
            } else if folded.len() >= 3 && (other.contains(&folded) || folded.contains(&other)) {
                1.0
            } else if folded.len() >= 3 && strsim::damerau_levenshtein(&folded, &other) <= 1 {
                0.95
            } else {
                strsim::jaro_winkler(&folded, &other)
            };
            (score >= 0.8).then_some((score, name))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by_key(|(_, name)| *name);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns `; did you mean …?`, or nothing where nothing is near.
pub(crate) fn did_you_mean<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = nearest(wrong, names);
    if near.is_empty() {
        return String::new();
    }
    let list: Vec<String> = near.iter().map(|name| format!("`{}`", readable(name))).collect();
    format!("; did you mean {}?", list.join(" or "))
}

/// Returns a name for a sentence: with quotes where it begins or ends with what cannot be seen there.
pub(crate) fn readable(name: &str) -> String {
    let is_clear = !name.is_empty() && name.trim() == name && !name.contains(unseen::is_unseen);
    if is_clear { name.to_owned() } else { quoted(name) }
}

/// Cuts `text` to at most `max` bytes at a character boundary, and shows that it did.
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = (0..=max).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || *c == '.').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_never_another_tools_name() {
        let check = |names: &[&str], expect: &[&str]| assert_eq!(identifiers(names), expect, "{names:?}");
        check(&["list-items"], &["list_items"]);
        check(&["a-b", "a.b", "a_b"], &["a_b_2", "a_b_3", "a_b"]);
        check(&["a-b", "a.b", "a_b_2"], &["a_b", "a_b_3", "a_b_2"]);
        check(&["then"], &["then_"]);
        check(&["then", "then_"], &["then__2", "then_"]);
        check(&["2fa", "", "é", "delete"], &["_2fa", "_", "__2", "delete"]);
    }

    #[test]
    fn near_names_come_best_first_and_far_ones_not_at_all() {
        let names = ["list_commits", "list_authors", "commit_files"];
        assert_eq!(nearest("listCommits", names), ["list_commits", "list_authors"]);
        assert_eq!(nearest("zebra", names), Vec::<&str>::new());
        assert_eq!(did_you_mean("comit_files", names), "; did you mean `commit_files`?");
        assert_eq!(did_you_mean(" ", ["  "]), "; did you mean `\"  \"`?");
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("aéb", 2), "a…");
        assert_eq!(cut("aéb", 4), "aéb");
    }
}
