//! Patterns over tool names: `*` is any text, `?` one character, everything else itself.
//!
//! No classes, no braces, no `**`: names are not paths, and a rule that a person misreads is worse than two rules.

/// A pattern over tool names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Glob(String);

impl Glob {
    /// Returns the pattern. Every text is one.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the whole of `name` fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().collect();
        let name: Vec<char> = name.chars().collect();
        let (mut p, mut n) = (0, 0);
        // Where the last star stood and how much it has eaten: going back only there keeps this quadratic at worst.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(&c) if c == '?' || c == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => match star {
                    Some((at, eaten)) => {
                        star = Some((at, eaten + 1));
                        p = at + 1;
                        n = eaten + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match_and_everything_else_is_itself() {
        let check = |pattern: &str, name: &str, expect: bool| {
            assert_eq!(Glob::new(pattern).matches(name), expect, "{pattern} on {name}");
        };
        check("*", "", true);
        check("list_*", "list_commits", true);
        check("list_*", "relist_commits", false);
        check("*_a*b", "x_aab_ab", true);
        check("*_a*b", "x_aab_abc", false);
        check("?é?", "aéb", true);
        check("a.b", "axb", false);
        check("", "a", false);
        check(&"*a".repeat(50), &"a".repeat(49), false);
    }
}
