//! The read side: runs in pages, newest first.
//!
//! Pages go by id, which sorts by time. A cursor names the last run shown, so runs that are added meanwhile, which are
//! newer, do not shift what comes after it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{EndState, JournalError, Owner, Record, RunId, Seq, Started};

/// The most runs in one page.
pub const MOST_RUNS: usize = 1000;

/// The states of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Waits for its turn.
    Queued,
    /// Has an owner, or had one that died.
    Running,
    /// Put away until something outside happens.
    Parked,
    /// The script returned.
    Completed,
    /// The script, a tool or a limit ended it.
    Failed,
    /// A person or a client ended it.
    Cancelled,
}

impl RunState {
    const ALL: [Self; 6] = [Self::Queued, Self::Running, Self::Parked, Self::Completed, Self::Failed, Self::Cancelled];

    /// Returns whether the state can never change again.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running | Self::Parked => false,
            Self::Completed | Self::Failed | Self::Cancelled => true,
        }
    }

    /// Returns the word for the state, as users and the store spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Parked => "parked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

impl From<EndState> for RunState {
    fn from(state: EndState) -> Self {
        match state {
            EndState::Completed => Self::Completed,
            EndState::Failed => Self::Failed,
            EndState::Cancelled => Self::Cancelled,
        }
    }
}

/// What a listing shows of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// Its state. Without an owner, *running* means that it can be resumed.
    pub state: RunState,
    /// Who drives it; none when that process died.
    pub owner: Option<Owner>,
    /// When it started, in milliseconds since the epoch.
    pub started_ms: i64,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// When a parked run goes on by itself; none where it waits for a person.
    pub wake_ms: Option<i64>,
    /// How many records it has.
    pub records: u64,
    /// Its session.
    pub session: Option<String>,
    /// The first line of its script that is not empty, at most 80 characters.
    pub title: String,
}

/// A run that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// The run.
    pub run: RunId,
    /// Its state.
    pub state: RunState,
    /// Who drives it.
    pub owner: Option<Owner>,
    /// When a parked run goes on by itself.
    pub wake_ms: Option<i64>,
}

/// Where a run can be taken up without reading all of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Restored {
    /// It has no snapshot.
    None,
    /// It has one that is of no use.
    Unfit {
        /// Why.
        why: String,
    },
    /// It has one that fits its records.
    Fits {
        /// Record 0.
        start: Box<Started>,
        /// What was put away.
        bytes: Vec<u8>,
        /// The last record that is in it.
        last: Seq,
        /// Those that came after.
        after: Vec<Record>,
    },
}

/// Which runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// How many at most; taken as at least 1 and at most [`MOST_RUNS`].
    pub limit: usize,
    /// Where the page before ended; none for the newest.
    pub cursor: Option<String>,
}

/// One page of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The runs, newest first.
    pub runs: Vec<Summary>,
    /// Give this to get the next page; none after the last.
    pub next_cursor: Option<String>,
}

impl Page {
    /// Returns the limit as it is applied.
    pub(crate) fn most(&self) -> usize {
        self.limit.clamp(1, MOST_RUNS)
    }

    /// Returns the run after which the page begins.
    pub(crate) fn after(&self) -> Result<Option<RunId>, JournalError> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        match Uuid::try_parse(cursor) {
            Ok(id) if cursor.len() == 32 => Ok(Some(RunId::from_bytes(id.into_bytes()))),
            _ => Err(JournalError::BadCursor { cursor: cut(cursor, 80) }),
        }
    }
}

impl Listing {
    /// Makes a page of `runs`, of which there is one more than `most` when another page follows.
    pub(crate) fn new(mut runs: Vec<Summary>, most: usize) -> Self {
        let more = runs.len() > most;
        runs.truncate(most);
        let next_cursor =
            runs.last().filter(|_| more).map(|last| Uuid::from_bytes(*last.run.as_bytes()).simple().to_string());
        Self { runs, next_cursor }
    }
}

/// Returns the first and last id that `prefix` can begin, or none if it can begin no id.
pub(crate) fn range(prefix: &str) -> Option<(RunId, RunId)> {
    let digits: String = prefix.chars().filter(|digit| *digit != '-').collect();
    if digits.len() > 32 || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let id = |fill: char| {
        let mut text = digits.clone();
        text.extend(std::iter::repeat_n(fill, 32 - digits.len()));
        Uuid::try_parse(&text).ok().map(|id| RunId::from_bytes(id.into_bytes()))
    };
    Some((id('0')?, id('f')?))
}

/// Returns the first line of `script` that is not empty.
pub(crate) fn title(script: &str) -> String {
    cut(script.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(""), 80)
}

/// Cuts `text` to at most `most` characters, the last of which says so. Control characters become spaces: these texts
/// end up on terminals.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).map(|char| if char.is_control() { ' ' } else { char }).collect();
    if text.chars().nth(most).is_some() {
        short.pop();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_is_not_empty() {
        for (script, want) in [
            ("", ""),
            (" \n\t\n", ""),
            ("\n  const a = 1;\nreturn a", "const a = 1;"),
            ("\u{1b}[31mred\r\nx", " [31mred"),
        ] {
            assert_eq!(title(script), want, "{script:?}");
        }
        let long = title(&"é".repeat(81));
        assert_eq!((long.chars().count(), long.ends_with("é…")), (80, true));
        assert_eq!(title(&"é".repeat(80)), "é".repeat(80));
    }

    #[test]
    fn a_prefix_is_a_range_of_ids_and_nonsense_is_none() {
        let bounds = |prefix| range(prefix).map(|(low, high)| (low.to_string(), high.to_string()));
        assert_eq!(
            bounds("018BCFE5-68").unwrap(),
            ("018bcfe5-6800-0000-0000-000000000000".to_owned(), "018bcfe5-68ff-ffff-ffff-ffffffffffff".to_owned())
        );
        assert!(bounds("").is_some() && bounds("--").is_some());
        for bad in ["g", "é", "0 1", &"0".repeat(33)] {
            assert_eq!(bounds(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_state_is_read_back_from_its_word() {
        for state in RunState::ALL {
            assert_eq!(RunState::from_word(state.as_str()), Some(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
    }
}
