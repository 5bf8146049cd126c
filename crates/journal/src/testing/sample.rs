//! Records to test with, the same on every run.

use crate::{
    Answered, Asked, AskedCall, BlobHash, EndState, Ended, Failure, Json, Outcome, Parked, Record, RunId, Started,
};

/// Returns run number `n`: a higher number is a newer run.
pub fn run(n: u32) -> RunId {
    let mut random = [0; 10];
    random[6..].copy_from_slice(&n.to_be_bytes());
    RunId::from_parts(1_700_000_000_000 + i64::from(n), random)
}

/// Returns JSON from its text.
pub fn json(text: &str) -> Json {
    Json::new(text).unwrap()
}

/// Returns a start record of `script`, with a catalog of no bytes.
pub fn start(script: &str) -> Started {
    Started {
        script: script.to_owned(),
        language: "typescript".to_owned(),
        javascript: script.to_owned(),
        source_map: None,
        seed: u64::MAX,
        started_ms: 1_700_000_000_000,
        args: json("{}"),
        limits: json(r#"{"timeout_ms":60000}"#),
        fingerprint: "engine-1".to_owned(),
        catalog: BlobHash::of(b""),
        session: Some("s".to_owned()),
        store: json(r#"{"n":1.0}"#),
        origin: json(r#"{"front":"test"}"#),
        dialect: None,
        effects: None,
        amends: Vec::new(),
    }
}

/// Returns a turn that asks for call `call` alone.
pub fn asked(call: u64) -> Record {
    let asked = AskedCall {
        call,
        tool: "demo.add".to_owned(),
        args: json(r#"{"b":2,"a":1}"#),
        effect: "write".to_owned(),
        replay: "keyed".to_owned(),
        key: Some(format!("k{call}")),
        due_ms: None,
        permission: None,
        rule: None,
    };
    Record::Asked(Asked { turn: call, calls: vec![asked], calls_made: call })
}

/// Returns a park until `wake_ms`.
pub fn parked(wake_ms: Option<i64>) -> Record {
    Record::Parked(Parked { at_ms: 1_700_000_000_000, active_ms: 5, wake_ms, waiting: json("[]") })
}

/// Returns the value `value` for call `call`.
pub fn answered(call: u64, value: &str) -> Record {
    let clock_ms = 1_700_000_000_000 + i64::try_from(call).unwrap();
    let outcome = Outcome::Value(json(value));
    Record::Answered(Answered {
        call,
        clock_ms,
        took_ms: 3,
        active_ms: 0,
        turn: call,
        calls_made: call,
        outcome,
        notes: Vec::new(),
        reused: None,
        by: None,
    })
}

/// Returns a failure of call `call`.
pub fn failed(call: u64) -> Record {
    let failure = Failure {
        code: "rate_limited".to_owned(),
        message: "slow \u{0} down".to_owned(),
        retryable: true,
        retry_after_ms: Some(1000),
        data: Some(json("null")),
    };
    let outcome = Outcome::Failure(failure);
    Record::Answered(Answered {
        call,
        clock_ms: 1_700_000_000_000,
        took_ms: 0,
        active_ms: 0,
        turn: call,
        calls_made: call,
        outcome,
        notes: Vec::new(),
        reused: None,
        by: None,
    })
}

/// Returns the end of a run.
pub fn ended(state: EndState) -> Record {
    Record::Ended(Ended { state, ended_ms: 1_700_000_009_000, report: json(r#"{"result":[1,2]}"#), stored: Vec::new() })
}
