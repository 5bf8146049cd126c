//! Single values that every layer can give: file, environment, and for some a flag. This is the one list of them.

use std::{ops::RangeInclusive, path::Path, sync::Arc, time::Duration};

use refrain_runtime::{DIALECTS, Durability, OnClientCancel, OnDivergence, OnInterrupted, Person, Settings};
use serde_json::Value;

use super::{
    MOST_MS,
    document::Table,
    fault::{Faults, instead},
    row::Row,
    serve,
    variables::Variables,
};

/// Sections of the file.
pub(crate) const SECTIONS: &[&str] =
    &["sources", "limits", "script", "journal", "learn", "runs", "sandbox", "serve", "policy"];
/// Sections of releases to come.
pub(crate) const LATER_SECTIONS: &[&str] = &[];
/// Keys of releases to come.
const LATER: &[(&str, &[&str])] = &[("limits", &["in_flight", "max_output_tokens"]), ("sandbox", &["isolation"])];

/// Ten years.
const MOST_DEADLINE_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1000;
const MOST_KB: u64 = 512 << 10;
const PREFIX: &str = "REFRAIN__";

const DURABILITY_WORDS: &[(&str, usize)] = &[("effects", 0), ("power", 1), ("process", 2)];
const DURABILITIES: &[Durability] = &[Durability::Effects, Durability::Power, Durability::Process];

const INTERRUPTED: &[(&str, usize)] = &[("error", 0), ("ask", 1)];
const CLIENT_CANCEL: &[(&str, usize)] = &[("detach", 0), ("cancel", 1)];
const PERSON: &[(&str, usize)] = &[("auto", 0), ("yes", 1), ("no", 2)];
const DIVERGENCE: &[(&str, usize)] = &[("park", 0), ("fail", 1)];

/// The names of [`DIALECTS`], in its order. A test holds them together.
const DIALECT_WORDS: &[(&str, usize)] =
    &[("refrain", 0), ("cloudflare", 1), ("ordering", 2), ("pi", 3), ("opencode", 4), ("polylane", 5)];

/// One value.
struct Scalar {
    section: &'static str,
    key: &'static str,
    kind: Kind,
}

enum Kind {
    Whole {
        range: RangeInclusive<u64>,
        get: fn(&Settings) -> u64,
        set: fn(&mut Settings, u64),
    },
    JournalUrl,
    Flag {
        get: fn(&Settings) -> bool,
        set: fn(&mut Settings, bool),
    },
    /// One of some words; what is got and set is the number beside the word.
    Word {
        words: &'static [(&'static str, usize)],
        get: fn(&Settings) -> usize,
        set: fn(&mut Settings, usize),
    },
}

const fn whole(
    section: &'static str,
    key: &'static str,
    range: RangeInclusive<u64>,
    get: fn(&Settings) -> u64,
    set: fn(&mut Settings, u64),
) -> Scalar {
    Scalar { section, key, kind: Kind::Whole { range, get, set } }
}

/// Each can also be given as `REFRAIN__SECTION__KEY`.
const SCALARS: &[Scalar] = &[
    // Active time of a run. Since 0.1.
    whole("limits", "timeout_ms", 1..=MOST_MS, |all| all.limits.timeout_ms, |all, n| all.limits.timeout_ms = n),
    // Time of a run from its start to its end, also while it waits; 0 for no end. Since 0.1.
    whole(
        "limits",
        "deadline_ms",
        0..=MOST_DEADLINE_MS,
        |all| all.limits.deadline_ms.unwrap_or(0),
        |all, n| all.limits.deadline_ms = Some(n).filter(|n| *n > 0),
    ),
    // Computing of a run; a thousand million units take about a second. Since 0.1.
    whole("limits", "cpu_fuel", 1..=i64::MAX as u64, |all| all.limits.cpu_fuel, |all, n| all.limits.cpu_fuel = n),
    // The sandbox itself takes 2 MiB, and its addresses end at 4 GiB. Since 0.1.
    whole("limits", "memory_mb", 4..=4096, |all| all.limits.memory_mb, |all, n| all.limits.memory_mb = n),
    // Calls of a run. Since 0.1.
    whole(
        "limits",
        "calls",
        0..=1_000_000,
        |all| all.limits.calls.into(),
        |all, n| {
            all.limits.calls = u32::try_from(n).unwrap_or(u32::MAX);
        },
    ),
    // Arguments of a call. Since 0.1.
    whole("limits", "argument_kb", 1..=MOST_KB, |all| all.limits.argument_kb, |all, n| all.limits.argument_kb = n),
    // The result of a call. Since 0.1.
    whole("limits", "result_kb", 1..=MOST_KB, |all| all.limits.result_kb, |all, n| all.limits.result_kb = n),
    // Logs and texts of a run. Since 0.1.
    whole("limits", "log_kb", 1..=MOST_KB, |all| all.limits.log_kb, |all, n| all.limits.log_kb = n),
    // Images of a run. Since 0.1.
    whole("limits", "image_kb", 1..=MOST_KB, |all| all.limits.image_kb, |all, n| all.limits.image_kb = n),
    // What a script returns. Since 0.1.
    whole("limits", "return_kb", 1..=MOST_KB, |all| all.limits.return_kb, |all, n| all.limits.return_kb = n),
    // A value of the store; all of a session may have four times as much. Since 0.1.
    whole("limits", "store_kb", 1..=16_384, |all| all.limits.store_kb, |all, n| all.limits.store_kb = n),
    // Where runs are kept. Since 0.1.
    Scalar { section: "journal", key: "url", kind: Kind::JournalUrl },
    // What survives what. Since 0.1.
    Scalar {
        section: "journal",
        key: "durability",
        kind: Kind::Word {
            words: DURABILITY_WORDS,
            get: |all| DURABILITIES.iter().position(|one| *one == all.durability).unwrap_or(0),
            set: |all, n| all.durability = DURABILITIES[n],
        },
    },
    // Whether the shapes of results are kept, for tools that declare none. Since 0.1.
    Scalar {
        section: "learn",
        key: "types",
        kind: Kind::Flag { get: |all| all.learn_types, set: |all, yes| all.learn_types = yes },
    },
    // Under which names scripts see the tools. Since 0.1.
    Scalar {
        section: "script",
        key: "dialect",
        kind: Kind::Word {
            words: DIALECT_WORDS,
            get: |all| DIALECTS.iter().position(|one| Some(one) == all.dialect).unwrap_or(0),
            set: |all, n| all.dialect = DIALECTS.get(n),
        },
    },
    // How long calls that are not safe may go on after the script's end. Since 0.1.
    whole(
        "runs",
        "drain_ms",
        0..=MOST_MS,
        |all| milliseconds(all.drain),
        |all, n| all.drain = Duration::from_millis(n),
    ),
    // How long a run that is being cancelled may clean up. Since 0.1.
    whole(
        "runs",
        "cleanup_ms",
        0..=MOST_MS,
        |all| milliseconds(all.cleanup),
        |all, n| all.cleanup = Duration::from_millis(n),
    ),
    // What happens with a call that is not safe to repeat and was out when its process ended. Since 0.1.
    Scalar {
        section: "runs",
        key: "on_interrupted",
        kind: Kind::Word {
            words: INTERRUPTED,
            get: |all| usize::from(all.on_interrupted == OnInterrupted::Ask),
            set: |all, n| all.on_interrupted = [OnInterrupted::Error, OnInterrupted::Ask][n],
        },
    },
    // What happens with a run that does not do what its journal says. Since 0.1.
    Scalar {
        section: "runs",
        key: "on_divergence",
        kind: Kind::Word {
            words: DIVERGENCE,
            get: |all| usize::from(all.on_divergence == OnDivergence::Fail),
            set: |all, n| all.on_divergence = [OnDivergence::Park, OnDivergence::Fail][n],
        },
    },
    // How many processes may die of a run before it parks. Since 0.1.
    whole(
        "runs",
        "max_restarts",
        1..=1000,
        |all| all.max_restarts.into(),
        |all, n| all.max_restarts = u32::try_from(n).unwrap_or(u32::MAX),
    ),
    // The shortest sleep that a run does not stay in memory for. Since 0.1.
    whole(
        "runs",
        "park_after_ms",
        0..=MOST_MS,
        |all| milliseconds(all.park_after),
        |all, n| all.park_after = Duration::from_millis(n),
    ),
    // After how many results a run's memory is written beside the journal; 0 for never but at a park. Since 0.1.
    whole(
        "journal",
        "snapshot_every",
        0..=1_000_000,
        |all| all.snapshot_every.into(),
        |all, n| all.snapshot_every = u32::try_from(n).unwrap_or(u32::MAX),
    ),
    // Whether somebody can be asked. Since 0.1.
    Scalar {
        section: "policy",
        key: "person",
        kind: Kind::Word {
            words: PERSON,
            get: |all| all.policy.person as usize,
            set: |all, n| Arc::make_mut(&mut all.policy).person = [Person::Auto, Person::Yes, Person::No][n],
        },
    },
    // How long a call waits for its approval; 0 for ever. Since 0.1.
    whole(
        "policy",
        "ask_timeout_ms",
        0..=MOST_DEADLINE_MS,
        |all| all.policy.ask_timeout.map_or(0, milliseconds),
        |all, n| {
            Arc::make_mut(&mut all.policy).ask_timeout = Some(n).filter(|n| *n > 0).map(Duration::from_millis);
        },
    ),
    // How long a run computes before others get a turn. Since 0.1.
    whole(
        "sandbox",
        "slice_ms",
        1..=10_000,
        |all| milliseconds(all.slice),
        |all, n| all.slice = Duration::from_millis(n),
    ),
    // What becomes of a run whose client takes its request back. Since 0.1.
    Scalar {
        section: "serve",
        key: "on_client_cancel",
        kind: Kind::Word {
            words: CLIENT_CANCEL,
            get: |all| usize::from(all.on_client_cancel == OnClientCancel::Cancel),
            set: |all, n| all.on_client_cancel = [OnClientCancel::Detach, OnClientCancel::Cancel][n],
        },
    },
    // What the description of `run_code` may take, in tokens of four bytes. The guide in it takes about 500. Since 0.1.
    whole(
        "serve",
        "prompt_tokens",
        800..=1_000_000,
        |all| all.prompt_tokens as u64,
        |all, n| all.prompt_tokens = usize::try_from(n).unwrap_or(usize::MAX),
    ),
];

/// The origin of each of [`SCALARS`].
#[derive(Debug)]
pub(crate) struct Scalars {
    origins: Vec<String>,
}

impl Scalars {
    /// Nothing was given yet.
    pub(crate) fn defaults() -> Self {
        Self { origins: vec!["default".to_owned(); SCALARS.len()] }
    }

    /// Takes what the file gives.
    pub(crate) fn read(&mut self, root: &Table<'_>, settings: &mut Settings) {
        for section in SECTIONS.iter().filter(|section| **section != "sources") {
            let Some(table) = root.table(section) else { continue };
            let keys: Vec<&str> =
                SCALARS.iter().filter(|scalar| scalar.section == *section).map(|scalar| scalar.key).collect();
            let later = LATER.iter().find(|(name, _)| name == section).map_or(&[][..], |(_, keys)| *keys);
            // They are read by themselves.
            let apart: &[&str] = match *section {
                "policy" => &["rules"],
                "serve" => serve::KEYS,
                _ => &[],
            };
            table.known(&[&keys[..], apart].concat(), later);
            for (n, scalar) in SCALARS.iter().enumerate().filter(|(_, scalar)| scalar.section == *section) {
                let taken = match &scalar.kind {
                    Kind::Whole { range, set, .. } => {
                        table.whole(scalar.key, range.clone()).map(|number| set(settings, number))
                    }
                    Kind::JournalUrl => table
                        .text(scalar.key)
                        .and_then(|url| {
                            let fault = |message: &str| table.fault(scalar.key, message);
                            journal_url(&url, table.folder(), table.faults()).map_err(|message| fault(&message)).ok()
                        })
                        .map(|url| settings.journal_url = url),
                    Kind::Flag { set, .. } => table.flag(scalar.key).map(|yes| set(settings, yes)),
                    Kind::Word { words, set, .. } => {
                        table.choice(scalar.key, words).map(|chosen| set(settings, chosen))
                    }
                };
                if taken.is_some() {
                    self.origins[n] = table.place(scalar.key);
                }
            }
        }
    }

    /// Takes what the environment gives.
    pub(crate) fn environment(
        &mut self,
        variables: &Variables,
        folder: &Path,
        settings: &mut Settings,
        faults: &Faults,
    ) {
        let names: Vec<String> = SCALARS.iter().map(Scalar::variable).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        for name in variables.starting_with(PREFIX) {
            let Some(n) = known.iter().position(|known| *known == name) else {
                faults.push(
                    format!("environment variable `{name}`"),
                    None,
                    format!("no setting has this name; {}", instead(name, &known)),
                );
                continue;
            };
            let taken = match variables.text(name) {
                Err(message) => Err(message),
                // An empty variable is how shells and unit files unset one.
                Ok(None) => continue,
                Ok(Some(text)) if text.is_empty() => continue,
                Ok(Some(text)) => SCALARS[n].take(&text, folder, settings, faults),
            };
            match taken {
                Ok(()) => self.origins[n] = format!("environment {name}"),
                Err(message) => faults.push(format!("environment variable `{name}`"), None, message),
            }
        }
    }

    /// Takes `--journal`.
    pub(crate) fn journal_flag(&mut self, url: &str, folder: &Path, settings: &mut Settings, faults: &Faults) {
        for (n, scalar) in SCALARS.iter().enumerate() {
            if let Kind::JournalUrl = scalar.kind {
                match scalar.take(url, folder, settings, faults) {
                    Ok(()) => self.origins[n] = "flag --journal".to_owned(),
                    Err(message) => faults.push("--journal", None, message),
                }
            }
        }
    }

    /// Returns each value with its origin.
    pub(crate) fn rows(&self, settings: &Settings) -> Vec<Row> {
        let row = |(scalar, origin): (&Scalar, &String)| {
            let value: Value = match &scalar.kind {
                Kind::Whole { get, .. } => get(settings).into(),
                Kind::JournalUrl => settings.journal_url.as_str().into(),
                Kind::Flag { get, .. } => get(settings).into(),
                Kind::Word { words, get, .. } => {
                    let now = get(settings);
                    words.iter().find(|(_, number)| *number == now).map(|(word, _)| *word).into()
                }
            };
            Row::new(&[scalar.section, scalar.key], value, origin)
        };
        SCALARS.iter().zip(&self.origins).map(row).collect()
    }
}

impl Scalar {
    fn variable(&self) -> String {
        format!("{PREFIX}{}__{}", self.section.to_uppercase(), self.key.to_uppercase())
    }

    /// Takes a value that is text, as flags and variables are. An error follows the name of the place in a sentence.
    fn take(&self, text: &str, folder: &Path, settings: &mut Settings, faults: &Faults) -> Result<(), String> {
        match &self.kind {
            Kind::Whole { range, set, .. } => match text.parse().ok().filter(|number| range.contains(number)) {
                Some(number) => set(settings, number),
                None => {
                    let (start, end) = (range.start(), range.end());
                    return Err(format!("is {text:?}; give a whole number from {start} to {end}"));
                }
            },
            Kind::JournalUrl => settings.journal_url = journal_url(text, folder, faults)?,
            Kind::Flag { set, .. } => match text.parse() {
                Ok(yes) => set(settings, yes),
                Err(_) => return Err(format!("is {text:?}; give `true` or `false`")),
            },
            Kind::Word { words, set, .. } => match words.iter().find(|(word, _)| *word == text) {
                Some((_, chosen)) => set(settings, *chosen),
                None => {
                    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                    return Err(format!("is {text:?}; {}", instead(text, &words)));
                }
            },
        }
        Ok(())
    }
}

/// Returns the address of a journal file, as the journal takes it.
pub(crate) fn sqlite_in(folder: &Path, path: &Path, faults: &Faults) -> Option<String> {
    let path = folder.join(path);
    match path.to_str() {
        Some(path) => Some(format!("sqlite:{path}")),
        None => {
            faults.push(
                path.display().to_string(),
                None,
                "this path is no UTF-8; give a journal elsewhere with `--journal`",
            );
            None
        }
    }
}

/// Checks an address, and makes its path whole. The address is not repeated in an error: it may hold a password.
fn journal_url(url: &str, folder: &Path, faults: &Faults) -> Result<String, String> {
    match url.split_once(':') {
        Some(("memory", "")) => Ok(url.to_owned()),
        Some(("sqlite", "" | ":memory:")) => {
            Err("names no file; write `sqlite:PATH`, or `memory:` to keep nothing".to_owned())
        }
        Some(("sqlite", path)) if path.starts_with("//") && !path.starts_with("///") => {
            Err(format!("has two slashes; write `sqlite:{}`", path.trim_start_matches('/')))
        }
        Some(("sqlite", path)) => sqlite_in(folder, Path::new(path), faults).ok_or_else(|| "is no UTF-8".to_owned()),
        Some(("postgres" | "postgresql", _)) => {
            Err("is a PostgreSQL address, which comes with a later release; write `sqlite:PATH`".to_owned())
        }
        _ => Err("is no address of a journal; write `sqlite:PATH`, or `memory:` to keep nothing".to_owned()),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_can_be_set() {
        let names: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
        assert_eq!(DIALECT_WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>(), names);
        assert!(DIALECT_WORDS.iter().enumerate().all(|(n, (_, number))| n == *number));
    }
}
