//! How records look on disk: a kind number and a JSON text.
//!
//! Each kind has its own type here, apart from [`Record`]. Fields are refused when unknown, although that makes an older
//! build stop at a newer build's optional field: the field may say that something happened, and a replay that does not
//! know it would be a different run. Absent optional fields are left out, so that adding one changes no old bytes.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Answered, Asked, AskedCall, Attempted, BlobHash, Cancelling, Decided, EndState, Ended, Failure, Guard, Json,
    Outcome, Parked, Record, Reused, RunId, Started, Stored,
};

/// A record as it is stored, before it has a place in a chain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoded {
    pub(crate) kind: u16,
    pub(crate) payload: String,
}

impl Record {
    /// Returns the stored form.
    pub(crate) fn encode(&self) -> Encoded {
        match self {
            Self::Started(started) => encoded(1, &StartedV1::from((**started).clone())),
            Self::Asked(asked) => encoded(2, &AskedV1::from(asked.clone())),
            Self::Answered(answered) => encoded(3, &AnsweredV1::from(answered.clone())),
            Self::Ended(ended) => encoded(4, &EndedV1::from(ended.clone())),
            Self::Cancelling(cancelling) => encoded(5, &CancellingV1::from(cancelling.clone())),
            Self::Parked(parked) => encoded(6, &ParkedV1::from(parked.clone())),
            Self::Decided(decided) => encoded(7, &DecidedV1::from(decided.clone())),
            Self::Attempted(attempted) => encoded(8, &AttemptedV1::from(attempted.clone())),
        }
    }

    /// Reads a stored form. The error says what this build does not understand; whether the bytes are damaged is for
    /// the checksum to tell.
    pub(crate) fn decode(kind: u16, payload: &str) -> Result<Self, String> {
        Ok(match kind {
            1 => Self::Started(Box::new(decoded::<StartedV1>(payload)?.into())),
            2 => Self::Asked(decoded::<AskedV1>(payload)?.into()),
            3 => Self::Answered(decoded::<AnsweredV1>(payload)?.into()),
            4 => Self::Ended(decoded::<EndedV1>(payload)?.into()),
            5 => Self::Cancelling(decoded::<CancellingV1>(payload)?.into()),
            6 => Self::Parked(decoded::<ParkedV1>(payload)?.into()),
            7 => Self::Decided(decoded::<DecidedV1>(payload)?.into()),
            8 => Self::Attempted(decoded::<AttemptedV1>(payload)?.into()),
            _ => return Err(format!("kind {kind}")),
        })
    }
}

fn encoded(kind: u16, payload: &impl Serialize) -> Encoded {
    Encoded { kind, payload: serde_json::to_string(payload).expect("payloads have text keys and valid JSON inside") }
}

fn decoded<'de, T: Deserialize<'de>>(payload: &'de str) -> Result<T, String> {
    serde_json::from_str(payload).map_err(|error| error.to_string())
}

/// Declares the stored form of a struct: the same fields by name, here and on disk, converted one by one. A field that is
/// renamed on one side stops compiling, and the golden bytes below hold the names on disk.
macro_rules! stored {
    ($stored:ident is $record:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $stored { $($(#[$meta])* $field: $type,)* }

        impl From<$record> for $stored {
            fn from($record { $($field),* }: $record) -> Self {
                Self { $($field: $field.into()),* }
            }
        }

        impl From<$stored> for $record {
            fn from($stored { $($field),* }: $stored) -> Self {
                Self { $($field: $field.into()),* }
            }
        }
    };
}

stored!(StartedV1 is Started {
    script: String,
    language: String,
    javascript: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_map: Option<String>,
    seed: u64,
    started_ms: i64,
    args: Json,
    limits: Json,
    fingerprint: String,
    catalog: BlobHash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    store: Json,
    origin: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effects: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialect: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    amends: Vec<RunId>,
});

// By hand: `Into` does not reach into a `Vec`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedV1 {
    turn: u64,
    calls: Vec<AskedCallV1>,
    calls_made: u64,
}

impl From<Asked> for AskedV1 {
    fn from(Asked { turn, calls, calls_made }: Asked) -> Self {
        Self { turn, calls: calls.into_iter().map(Into::into).collect(), calls_made }
    }
}

impl From<AskedV1> for Asked {
    fn from(AskedV1 { turn, calls, calls_made }: AskedV1) -> Self {
        Self { turn, calls: calls.into_iter().map(Into::into).collect(), calls_made }
    }
}

stored!(AskedCallV1 is AskedCall {
    call: u64,
    tool: String,
    args: Json,
    effect: String,
    replay: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permission: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
});

// By hand: `Into` does not reach into an `Option` either.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredV1 {
    call: u64,
    clock_ms: i64,
    took_ms: u64,
    active_ms: u64,
    turn: u64,
    calls_made: u64,
    outcome: OutcomeV1,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reused: Option<ReusedV1>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

impl From<Answered> for AnsweredV1 {
    fn from(answered: Answered) -> Self {
        let Answered { call, clock_ms, took_ms, active_ms, turn, calls_made, outcome, notes, reused, by } = answered;
        let (outcome, reused) = (outcome.into(), reused.map(Into::into));
        Self { call, clock_ms, took_ms, active_ms, turn, calls_made, outcome, notes, reused, by }
    }
}

impl From<AnsweredV1> for Answered {
    fn from(answered: AnsweredV1) -> Self {
        let AnsweredV1 { call, clock_ms, took_ms, active_ms, turn, calls_made, outcome, notes, reused, by } = answered;
        let (outcome, reused) = (outcome.into(), reused.map(Into::into));
        Self { call, clock_ms, took_ms, active_ms, turn, calls_made, outcome, notes, reused, by }
    }
}

stored!(ReusedV1 is Reused {
    run: RunId,
    call: u64,
});

stored!(FailureV1 is Failure {
    code: String,
    message: String,
    retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    data: Option<Json>,
});

// By hand, as those above.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndedV1 {
    state: EndStateV1,
    ended_ms: i64,
    report: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stored: Vec<StoredV1>,
}

impl From<Ended> for EndedV1 {
    fn from(Ended { state, ended_ms, report, stored }: Ended) -> Self {
        Self { state: state.into(), ended_ms, report, stored: stored.into_iter().map(Into::into).collect() }
    }
}

impl From<EndedV1> for Ended {
    fn from(EndedV1 { state, ended_ms, report, stored }: EndedV1) -> Self {
        Self { state: state.into(), ended_ms, report, stored: stored.into_iter().map(Into::into).collect() }
    }
}

stored!(ParkedV1 is Parked {
    at_ms: i64,
    active_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wake_ms: Option<i64>,
    waiting: Json,
});

stored!(DecidedV1 is Decided {
    call: u64,
    at_ms: i64,
    decision: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
});

stored!(AttemptedV1 is Attempted {
    call: u64,
    attempt: u64,
    failure: FailureV1,
    took_ms: u64,
    active_ms: u64,
    again_ms: i64,
});

stored!(CancellingV1 is Cancelling {
    at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
});

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredV1 {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    value: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guard: Option<GuardV1>,
}

impl From<Stored> for StoredV1 {
    fn from(Stored { key, value, guard }: Stored) -> Self {
        Self { key, value, guard: guard.map(Into::into) }
    }
}

impl From<StoredV1> for Stored {
    fn from(StoredV1 { key, value, guard }: StoredV1) -> Self {
        Self { key, value, guard: guard.map(Into::into) }
    }
}

stored!(GuardV1 is Guard {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    was: Option<Json>,
});

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeV1 {
    Value(Json),
    Blob { hash: BlobHash, bytes: u64 },
    Failure(FailureV1),
}

impl From<Outcome> for OutcomeV1 {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Value(value) => Self::Value(value),
            Outcome::Blob { hash, bytes } => Self::Blob { hash, bytes },
            Outcome::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

impl From<OutcomeV1> for Outcome {
    fn from(outcome: OutcomeV1) -> Self {
        match outcome {
            OutcomeV1::Value(value) => Self::Value(value),
            OutcomeV1::Blob { hash, bytes } => Self::Blob { hash, bytes },
            OutcomeV1::Failure(failure) => Self::Failure(failure.into()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndStateV1 {
    Completed,
    Failed,
    Cancelled,
}

impl From<EndState> for EndStateV1 {
    fn from(state: EndState) -> Self {
        match state {
            EndState::Completed => Self::Completed,
            EndState::Failed => Self::Failed,
            EndState::Cancelled => Self::Cancelled,
        }
    }
}

impl From<EndStateV1> for EndState {
    fn from(state: EndStateV1) -> Self {
        match state {
            EndStateV1::Completed => Self::Completed,
            EndStateV1::Failed => Self::Failed,
            EndStateV1::Cancelled => Self::Cancelled,
        }
    }
}

/// Reads a field that is there, so that a `null` stays a value and is not taken for an absent field.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that released versions wrote. Lines are added, never edited: a line that stops decoding means that
    /// users' journals stop opening.
    const WRITTEN_BY_RELEASES: &[(u16, &str)] = &[
        (
            1,
            r#"{"script":"return 1","language":"typescript","javascript":"return 1","seed":18446744073709551615,"started_ms":1700000000000,"args":{},"limits":{"timeout_ms":60000},"fingerprint":"e1","catalog":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","store":{},"origin":{"front":"cli"}}"#,
        ),
        (
            1,
            r#"{"script":"x","language":"javascript","javascript":"y","source_map":"AAAA","seed":0,"started_ms":-1,"args":null,"limits":{},"fingerprint":"","catalog":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","session":"s","store":{"k":1e400},"origin":{}}"#,
        ),
        (
            1,
            r#"{"script":"x","language":"javascript","javascript":"y","seed":0,"started_ms":0,"args":{},"limits":{},"fingerprint":"","catalog":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","store":{},"origin":{},"dialect":"pi","amends":["018bcfe5-6800-7707-8707-070707070707"]}"#,
        ),
        (
            2,
            r#"{"turn":0,"calls":[{"call":1,"tool":"git.log","args":{"page":1.0},"effect":"read","replay":"safe"},{"call":2,"tool":"mail.send","args":{},"effect":"write","replay":"keyed","key":"k-2"}],"calls_made":2}"#,
        ),
        (
            3,
            r#"{"call":1,"clock_ms":1700000000005,"took_ms":5,"active_ms":5,"turn":0,"calls_made":2,"outcome":{"value":null},"notes":["n"]}"#,
        ),
        (
            3,
            r#"{"call":2,"clock_ms":1700000000006,"took_ms":0,"active_ms":6,"turn":1,"calls_made":2,"outcome":{"failure":{"code":"rate_limited","message":"slow down","retryable":true,"retry_after_ms":1000,"data":null}}}"#,
        ),
        (
            3,
            r#"{"call":3,"clock_ms":0,"took_ms":0,"active_ms":6,"turn":1,"calls_made":3,"outcome":{"failure":{"code":"tool_error","message":"\u0000","retryable":false}}}"#,
        ),
        (
            3,
            r#"{"call":4,"clock_ms":0,"took_ms":9,"active_ms":6,"turn":1,"calls_made":4,"outcome":{"value":1},"reused":{"run":"018bcfe5-6800-7707-8707-070707070707","call":2}}"#,
        ),
        (4, r#"{"state":"completed","ended_ms":1700000000009,"report":{"result":"\ud800"}}"#),
        (
            4,
            r#"{"state":"completed","ended_ms":0,"report":null,"stored":[{"key":"a","value":null},{"key":"","guard":{"was":1.0}},{"key":"b","value":[],"guard":{}}]}"#,
        ),
        (4, r#"{"state":"failed","ended_ms":0,"report":null}"#),
        (4, r#"{"state":"cancelled","ended_ms":0,"report":null}"#),
        (5, r#"{"at_ms":1700000000009}"#),
        (5, r#"{"at_ms":-1,"reason":"too \"slow\""}"#),
        (
            2,
            r#"{"turn":3,"calls":[{"call":3,"tool":"sleep","args":{"ms":1},"effect":"read","replay":"safe","due_ms":1700000000009}],"calls_made":3}"#,
        ),
        (
            3,
            r#"{"call":5,"clock_ms":0,"took_ms":9,"active_ms":6,"turn":1,"calls_made":4,"outcome":{"value":1},"by":"ann"}"#,
        ),
        (
            3,
            r#"{"call":6,"clock_ms":0,"took_ms":9,"active_ms":6,"turn":1,"calls_made":4,"outcome":{"blob":{"hash":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","bytes":3}}}"#,
        ),
        (6, r#"{"at_ms":1,"active_ms":2,"wake_ms":-3,"waiting":[{"kind":"timer"}]}"#),
        (6, r#"{"at_ms":1,"active_ms":2,"waiting":[]}"#),
        (7, r#"{"call":2,"at_ms":1,"decision":"again","by":"ann"}"#),
        (7, r#"{"call":2,"at_ms":1,"decision":"again"}"#),
        (
            8,
            r#"{"call":2,"attempt":1,"failure":{"code":"rate_limited","message":"slow down","retryable":true},"took_ms":5,"active_ms":7,"again_ms":1700000000009}"#,
        ),
    ];

    #[test]
    fn every_release_can_still_be_read_and_is_written_the_same() {
        for &(kind, payload) in WRITTEN_BY_RELEASES {
            let record = Record::decode(kind, payload).unwrap();
            assert_eq!(record.encode(), Encoded { kind, payload: payload.to_owned() });
        }
    }

    #[test]
    fn a_null_value_and_null_data_are_not_the_same_as_none() {
        let read = |at: usize| match Record::decode(3, WRITTEN_BY_RELEASES[at + 1].1).unwrap() {
            Record::Answered(answered) => answered.outcome,
            other => panic!("{other:?}"),
        };
        assert_eq!(read(3), Outcome::Value(Json::new("null").unwrap()));
        let Outcome::Failure(with_data) = read(4) else { panic!("no failure") };
        assert_eq!(with_data.data, Some(Json::new("null").unwrap()));
        let Outcome::Failure(without) = read(5) else { panic!("no failure") };
        assert_eq!(without.data, None);
    }

    #[test]
    fn what_this_build_does_not_know_stops_it() {
        for &(kind, payload) in WRITTEN_BY_RELEASES {
            let more = format!(r#"{},"new":1}}"#, payload.strip_suffix('}').unwrap());
            assert!(Record::decode(kind, &more).unwrap_err().contains("`new`"), "{more}");
        }
        assert_eq!(Record::decode(9, "{}").unwrap_err(), "kind 9");
        assert_eq!(Record::decode(0, "{}").unwrap_err(), "kind 0");
        let state = r#"{"state":"parked","ended_ms":0,"report":null}"#;
        assert!(Record::decode(4, state).unwrap_err().contains("`parked`"));
    }
}
