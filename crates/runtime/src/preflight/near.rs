//! The nearest name to a misspelling.

/// Names longer than this are nobody's misspelling, and comparing takes quadratic time.
const MOST_BYTES: usize = 64;

/// The name that `wrong` most likely meant, if one is near.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > MOST_BYTES || wrong.chars().count() < 3 {
        return None;
    }
    let folded = fold(wrong);
    names
        .into_iter()
        .filter(|name| name.len() <= MOST_BYTES && *name != wrong)
        .map(|name| (strsim::damerau_levenshtein(&folded, &fold(name)), name))
        .filter(|(distance, name)| *distance * 4 <= name.chars().count().max(4))
        .min()
        .map(|(_, name)| name)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}
