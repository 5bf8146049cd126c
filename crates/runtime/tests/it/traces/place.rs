//! Which trace it is: a script and where it is cut. Told with every rule that is broken, as the command that plays it again.

use std::{fmt, str::FromStr};

use refrain_journal::testing::Cut;

use super::generator::{Dice, Generated};

/// Where the power goes, attempt by attempt: at which write, and on which side of it. Written `3b,0a`.
#[derive(Clone, Default)]
pub(crate) struct Cuts(pub(crate) Vec<(u64, Cut)>);

impl Cuts {
    /// Up to `most` in a row.
    pub(crate) fn some(dice: &mut Dice, most: u64, writes: u64) -> Self {
        let times = 1 + dice.roll(most);
        let mut cut = || (dice.roll(writes), if dice.roll(2) == 0 { Cut::Before } else { Cut::After });
        Self((0..times).map(|_| cut()).collect())
    }
}

impl fmt::Display for Cuts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self
            .0
            .iter()
            .map(|(nth, side)| match side {
                Cut::Before => format!("{nth}b"),
                Cut::After => format!("{nth}a"),
            })
            .collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

impl FromStr for Cuts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cut = |word: &str| {
            let (nth, side) = word.split_at_checked(word.len().saturating_sub(1))?;
            let side = match side {
                "b" => Cut::Before,
                "a" => Cut::After,
                _ => return None,
            };
            Some((nth.parse().ok()?, side))
        };
        if text == "none" {
            return Ok(Self::default());
        }
        let cuts =
            text.split(',').map(|word| cut(word).ok_or_else(|| format!("`{word}` is no cut; write `3b` or `3a`")));
        cuts.collect::<Result<_, _>>().map(Self)
    }
}

/// A script and its cuts.
pub(crate) struct Place<'a> {
    pub(crate) script: &'a Generated,
    pub(crate) cuts: &'a Cuts,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script: Generated { seed, number, script, .. }, cuts } = self;
        write!(
            f,
            "seed {seed}, script {number}, cut at {cuts} (before or after a write), again with\n    \
             cargo run -p refrain-runtime --example traces -- again {seed} {number} {cuts}\n{script}"
        )
    }
}
