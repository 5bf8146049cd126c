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

    /// Returns whether this fits every name that `other` fits. It may say no where it does; it never says yes where it does not.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        // A star of the other fits nothing here but a star, as long as no question mark takes it for a character.
        !(self.0.contains('?') && other.0.contains('*')) && self.matches(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_another_when_it_fits_all_that_the_other_does() {
        let check = |pattern: &str, other: &str, expect: bool| {
            assert_eq!(Glob::new(pattern).covers(&Glob::new(other)), expect, "{pattern} over {other}");
        };
        check("*", "git.*", true);
        check("git.*", "git.list_?", true);
        check("git.*", "git.list_*", true);
        check("git.list", "git.*", false);
        check("git.l*", "git.*", false);
        check("?", "*", false);
        check("a?", "ab", true);
        check("a.b", "a.b", true);
    }

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
