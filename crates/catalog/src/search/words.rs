//! Words: how text is split into them, what they come from, and which say the same.
//!
//! Stems need not be words; they only have to be the same for the forms of one. English alone: the names and descriptions of
//! tools are, nearly all of them.

/// Longer words are data. They are cut, so that no description makes a large index.
const MOST_LETTERS: usize = 40;

/// Words that say nothing about a tool.
const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "i",
    "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "that", "the", "their", "them",
    "these", "this", "those", "to", "us", "was", "we", "what", "when", "where", "which", "who", "will", "with", "you",
    "your",
];

/// Groups of words of which each stands, a little, for the others: what models and servers call the same act or thing.
const SAME: &[&[&str]] = &[
    &["create", "new", "add", "insert", "make"],
    &["delete", "remove", "erase", "drop", "destroy"],
    &["get", "fetch", "read", "retrieve", "show", "view"],
    &["list", "get", "show", "all"],
    &["update", "edit", "modify", "change", "set", "patch"],
    &["search", "find", "query", "lookup"],
    &["send", "post", "publish", "push"],
    &["run", "execute", "invoke", "trigger", "start"],
    &["stop", "end", "cancel", "kill", "abort"],
    &["rename", "move"],
    &["write", "save", "store", "put"],
    &["convert", "export", "transform"],
    &["install", "deploy"],
    &["comment", "note", "reply"],
    &["directory", "folder"],
    &["email", "mail"],
    &["image", "picture", "screenshot", "photo"],
    &["repository", "repo"],
    &["database", "db"],
    &["documentation", "docs"],
    &["document", "doc", "docx"],
    &["javascript", "js"],
    &["url", "link", "page"],
    &["configuration", "config", "settings"],
    &["pr", "pull"],
];

/// Returns the words of `text`, lower-case, split at camelCase too. `HTTPServer` is two words and `PDFs` is one.
pub(super) fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let lower = |ahead: usize| chars.get(at + ahead).is_some_and(|c| c.is_lowercase());
        let hump = c.is_uppercase()
            && before.is_some_and(|b| b.is_lowercase() || b.is_numeric() || (b.is_uppercase() && lower(1) && lower(2)));
        if (hump || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() && word.len() < MOST_LETTERS {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Returns whether a word says nothing.
pub(super) fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

/// Returns the stems that say about the same as `stem`, without itself.
pub(super) fn same(stem: &str) -> Vec<String> {
    let mut stems: Vec<String> = Vec::new();
    for group in SAME {
        let group: Vec<String> = group.iter().map(|word| self::stem(word)).collect();
        if group.iter().any(|member| member == stem) {
            stems.extend(group.into_iter().filter(|member| member != stem));
        }
    }
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// Returns what the forms of a word have in common: `invoic` for `invoice`, `invoices` and `invoicing`.
pub(super) fn stem(word: &str) -> String {
    // Other letters have other endings, and a slice could cut one in two.
    if !word.is_ascii() || word.len() <= 3 {
        return word.to_owned();
    }
    let mut word = singular(word);
    for ending in ["ing", "ed"] {
        if let Some(root) = word.strip_suffix(ending)
            && root.len() >= 3
            && syllables(root) > 0
        {
            word = undoubled(root);
            break;
        }
    }
    // `creation` and `create`, `documentation` and `document`, `permissions` and `permission`.
    if let Some(root) = word.strip_suffix("ion")
        && root.len() >= 4
        && root.ends_with(['t', 's'])
    {
        word = root.to_owned();
    } else if let Some(root) = word.strip_suffix('e')
        && root.len() >= 3
    {
        word = root.to_owned();
    }
    if let Some(root) = word.strip_suffix("at")
        && syllables(root) >= 2
    {
        word = root.to_owned();
    }
    if let Some(root) = word.strip_suffix("ment")
        && root.len() >= 5
    {
        word = root.strip_suffix('e').unwrap_or(root).to_owned();
    }
    word
}

fn singular(word: &str) -> String {
    if let Some(root) = word.strip_suffix("ies") {
        return format!("{root}y");
    }
    for ending in ["sses", "xes", "zes", "ches", "shes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(root) if !root.ends_with(['s', 'u', 'i']) => root.to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns `run` for `runn`. `call` and `miss` stay.
fn undoubled(root: &str) -> String {
    let bytes = root.as_bytes();
    let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    if doubled && !root.ends_with(['l', 's', 'z', 'e']) { root[..root.len() - 1].to_owned() } else { root.to_owned() }
}

/// Returns how often consonants follow vowels: about the number of syllables.
fn syllables(root: &str) -> usize {
    let vowel = |byte: u8| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
    root.as_bytes().windows(2).filter(|pair| vowel(pair[0]) && !vowel(pair[1])).count()
}

/// Returns whether two words are the same but for one letter more, less, other, or two that changed places.
pub(super) fn one_slip(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let head = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[head..], &other[head..]);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[..one.len() - tail], &other[..other.len() - tail]);
    one.len().max(other.len()) <= 1 || (one.len() == 2 && other.len() == 2 && one[0] == other[1] && one[1] == other[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_at_signs_and_at_humps() {
        let check = |text: &str, expect: &str| assert_eq!(split(text).join(" "), expect, "{text}");
        check("list_issues", "list issues");
        check("linear_getIssueById", "linear get issue by id");
        check("API-post-page", "api post page");
        check("HTTPServer2Go", "http server2 go");
        check("files.get_PDFs", "files get pdfs");
        check("Größe: ½ 日本語", "größe ½ 日本語");
        check("", "");
    }

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        for forms in [
            "invoice invoices invoicing invoiced",
            "create creates creating created creation",
            "document documents documentation",
            "query queries querying",
            "run running runs",
            "search searches searching",
            "delete deletion deleted",
            "permission permissions",
            "authenticate authentication",
            "process processes processing",
            "schedule scheduling scheduled",
            "box boxes",
            "deploy deployment deployments deploying",
        ] {
            let stems: std::collections::BTreeSet<String> = forms.split(' ').map(stem).collect();
            assert_eq!(stems.len(), 1, "{forms}: {stems:?}");
        }
        for other in [["list", "listen"], ["status", "state"], ["bus", "but"], ["string", "stride"], ["red", "ring"]] {
            assert_ne!(stem(other[0]), stem(other[1]), "{other:?}");
        }
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP.is_sorted());
        assert!(is_stop("the") && !is_stop("list"));
    }

    #[test]
    fn one_slip_is_one_letter_or_two_that_changed_places() {
        for (one, other, expect) in [
            ("issue", "isue", true),
            ("issue", "issuse", true),
            ("issue", "issoe", true),
            ("issue", "isseu", true),
            ("issue", "issue", true),
            ("issue", "iseus", false),
            ("issue", "tissues", false),
            ("ab", "ba", true),
            ("", "a", true),
            ("é", "è", true),
        ] {
            assert_eq!(one_slip(one, other), expect, "{one} {other}");
        }
    }
}
