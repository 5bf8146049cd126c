//! What two traces of one script must have in common.
//!
//! Of a script that has one call out at a time everything: its journals are equal, record by record, but for attempts. With several out,
//! the order in which they come back is chance, and a crash throws the dice again. Hence these may differ, and nothing else:
//!
//! * the order of answers, and with it the turns, the numbers of calls made after an answer, and which records share a commit;
//! * fuel, since other turns compute in another order;
//! * whether a call that the script does not wait for is back before its end, and the notes on that.

use std::collections::BTreeMap;

use refrain_journal::{Answered, AskedCall, Record};
use serde_json::{Value, json};

use super::{place::Place, world::Trace};

/// Notes on calls that nobody waits for, or on how often a tool said something, theirs included.
const LOOSE_NOTES: [&str; 3] = ["not_awaited", "unfinished", "tool"];

/// Holds a trace with cuts against one without.
///
/// # Panics
///
/// When they differ.
pub(crate) fn compare(cut: &Trace, calm: &Trace, place: &Place<'_>) {
    let extra: Vec<&String> = cut.calls.difference(&calm.calls).collect();
    assert!(extra.is_empty(), "calls that the calm run does not make: {extra:?}\n{place}");
    let is_sequential = place.script.is_sequential;
    let [one, other] = [cut, calm].map(|trace| told(&trace.report, place));
    assert_eq!(one, other, "the reports differ (cut, calm)\n{place}");
    let [one, other] = [cut, calm].map(|trace| steady(&trace.records, place));
    if is_sequential {
        // One by one: a whole journal in a message says nothing.
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(one, other, "a record differs (cut, calm)\n{place}");
        }
        assert_eq!(one.len(), other.len(), "one journal is longer (cut, calm)\n{place}");
        return;
    }
    assert_eq!(one.first(), other.first(), "they start otherwise (cut, calm)\n{place}");
    assert_eq!(one.last(), other.last(), "they end otherwise (cut, calm)\n{place}");
    let [mut one, mut other] = [&one, &other].map(|records| calls(records, place));
    for (call, other) in &mut other {
        let one = one.remove(call).unwrap_or_default();
        let is_loose = is_loose(call, place);
        assert_eq!(one.len(), other.len(), "`{call}` is not asked for as often (cut, calm)\n{place}");
        for (one, other) in one.iter().zip(other) {
            assert_eq!(one.asked, other.asked, "`{call}` is asked for otherwise (cut, calm)\n{place}");
            let is_open = one.answered.is_none() || other.answered.is_none();
            if !(is_loose && is_open) {
                assert_eq!(one.answered, other.answered, "`{call}` is answered otherwise (cut, calm)\n{place}");
            }
        }
    }
    assert!(one.is_empty(), "the calm run does not ask for {:?}\n{place}", one.keys());
}

/// The records without attempts, which depend on how often a call was made. The report in the last one is as [`told`].
fn steady(records: &[Record], place: &Place<'_>) -> Vec<Record> {
    let mut records: Vec<Record> =
        records.iter().filter(|record| !matches!(record, Record::Attempted(_))).cloned().collect();
    if let Some(Record::Ended(ended)) = records.last_mut() {
        let report: Value = ended.report.parse().unwrap();
        ended.report = refrain_runtime::Json::from_value(&told(&report, place));
    }
    records
}

/// One call of a journal, without the place that it has there.
#[derive(Debug)]
struct Call {
    asked: AskedCall,
    answered: Option<Answered>,
}

/// The calls by what they ask for. Timers may ask for the same.
fn calls(records: &[Record], place: &Place<'_>) -> BTreeMap<String, Vec<Call>> {
    let mut by_number: BTreeMap<u64, Call> = BTreeMap::new();
    for record in records {
        match record {
            Record::Asked(asked) => {
                let calls = asked.calls.iter().map(|it| (it.call, Call { asked: it.clone(), answered: None }));
                by_number.extend(calls);
            }
            Record::Answered(answered) => {
                let call = by_number.get_mut(&answered.call).expect("what is answered was asked for");
                assert!(call.answered.is_none(), "call {} is answered twice\n{place}", answered.call);
                call.answered = Some(Answered { call: 0, turn: 0, calls_made: 0, ..answered.clone() });
            }
            _ => {}
        }
    }
    let mut calls: BTreeMap<String, Vec<Call>> = BTreeMap::new();
    for (number, mut call) in by_number {
        // The key ends with the number of its call.
        call.asked.key = call.asked.key.map(|key| key.strip_suffix(&format!("/{number}")).unwrap_or(&key).to_owned());
        call.asked.call = 0;
        calls.entry(format!("{} {}", call.asked.tool, call.asked.args)).or_default().push(call);
    }
    for calls in calls.values_mut() {
        calls.sort_by_key(|call| call.asked.due_ms);
    }
    calls
}

/// A report without what may differ.
fn told(report: &Value, place: &Place<'_>) -> Value {
    let mut report = report.clone();
    let of_loose = |note: &Value| LOOSE_NOTES.iter().any(|kind| note["kind"] == *kind);
    let is_sequential = place.script.is_sequential;
    if let Some(notes) = report["notes"].as_array_mut() {
        notes.retain(|note| note["kind"] != "retried" && (is_sequential || !of_loose(note)));
    }
    if is_sequential {
        return report;
    }
    for what in ["cpu_fuel", "tool_bytes"] {
        report["usage"][what] = Value::Null;
    }
    if let Some(calls) = report["calls"].as_array_mut() {
        for call in calls.iter_mut() {
            call["call"] = json!(0);
            if is_loose(&format!("{} {}", call["tool"].as_str().unwrap_or_default(), call["args"]), place) {
                (call["status"], call["bytes"]) = (Value::Null, Value::Null);
            }
        }
        calls.sort_by_key(Value::to_string);
    }
    report
}

/// Whether the script does not wait for a call, told as `tool args`.
fn is_loose(call: &str, place: &Place<'_>) -> bool {
    let args = call.split_once(' ').and_then(|(_, args)| args.parse::<Value>().ok());
    args.and_then(|args| args["id"].as_u64()).is_some_and(|id| place.script.loose.contains(&id))
}
