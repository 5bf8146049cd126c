//! A report as structured content, for a program.
//!
//! The shape is the outside contract of a run's report. What does not fit the budget is cut here and nowhere else: a large
//! result becomes a text that begins with a notice, lists lose entries, and a note of the kind `output_cut` says what is
//! gone. Fields never change their type by it, but for `result`, which may hold anything, and `args`, which may be a text.

use serde::Serialize;
use serde_json::{Map, Value, json};

use refrain_runtime::{CallStatus, Report, ReportStatus};

use crate::{
    cut::{Budget, Measure, cut, shares},
    render::whole,
};

/// Room for what is always there and for the note that says what was cut.
const FRAME: usize = 1_000;

/// Returns the structured content of a report, cut to `budget`.
pub(crate) fn content(report: &Report, budget: Budget) -> Value {
    let result = report.result.as_ref().map(|json| readable(json.as_str()));
    let logs = entries(&report.logs);
    let mut notes = entries(&report.notes);
    if report.result.as_ref().is_some_and(|json| json.parse::<Value>().is_err()) {
        let message =
            "`result` is its JSON text here, since common readers refuse the value; the answer's text has it as it is";
        notes.push(json!({"kind": "value_changed", "message": message}));
    }
    let waiting = entries(&report.waiting);
    let images: Vec<Value> = report.images.iter().map(|image| readable(image.as_str())).collect();
    let error = report.error.as_ref().map(value);
    let calls: Vec<Value> = report
        .calls
        .iter()
        .map(|call| {
            json!({
                "call": call.call, "tool": call.tool, "args": readable(call.args.as_str()), "status": value(&call.status),
                "ms": call.ms, "bytes": call.bytes,
            })
        })
        .collect();

    let mut parts = Parts { result, text: report.text.clone(), images, logs, notes, calls, waiting, error };
    let wants = parts.sizes();
    let mut artifact = None;
    if wants.iter().sum::<usize>() + FRAME > budget.bytes {
        let bad: Vec<bool> =
            report.calls.iter().map(|call| !matches!(call.status, CallStatus::Ok | CallStatus::Reused)).collect();
        artifact = report.run_id.filter(|_| report.status != ReportStatus::Parked);
        parts.cut(wants, shares(budget.bytes.saturating_sub(FRAME), wants), &whole(report), &bad);
    }

    let mut content = Map::new();
    content.insert("run_id".into(), value(&report.run_id));
    content.insert("status".into(), value(&report.status));
    content.extend(parts.result.map(|result| ("result".to_owned(), result)));
    content.insert("text".into(), parts.text.into());
    content.insert("images".into(), parts.images.into());
    content.insert("logs".into(), parts.logs.into());
    content.insert("notes".into(), parts.notes.into());
    content.insert("calls".into(), parts.calls.into());
    content.insert("usage".into(), value(&report.usage));
    content.extend(parts.error.map(|error| ("error".to_owned(), error)));
    content.extend(artifact.map(|id| ("artifact".to_owned(), json!({ "id": id }))));
    if !parts.waiting.is_empty() {
        content.insert("waiting".into(), parts.waiting.into());
    }
    Value::Object(content)
}

/// The parts of a report whose size the script decides.
struct Parts {
    result: Option<Value>,
    text: String,
    images: Vec<Value>,
    logs: Vec<Value>,
    notes: Vec<Value>,
    calls: Vec<Value>,
    waiting: Vec<Value>,
    error: Option<Value>,
}

impl Parts {
    fn sizes(&self) -> [usize; 8] {
        let all = |list: &[Value]| list.iter().map(size).sum();
        [
            self.result.as_ref().map_or(0, size),
            size(&self.text),
            all(&self.images),
            all(&self.logs),
            all(&self.notes),
            all(&self.calls),
            all(&self.waiting),
            self.error.as_ref().map_or(0, size),
        ]
    }

    /// Cuts every part that wants more than its room. `bad` tells for each call whether it went otherwise than well: those
    /// are the last to go.
    fn cut(&mut self, wants: [usize; 8], rooms: [usize; 8], whole: &str, bad: &[bool]) {
        let over: [bool; 8] = std::array::from_fn(|part| wants[part] > rooms[part]);
        let mut gone = Vec::new();
        if let (Some(result), true) = (&mut self.result, over[0]) {
            let text = result.to_string();
            *result = cut(&text, rooms[0], Measure::InJson, whole).into();
            gone.push(format!("the result ({} bytes)", text.len()));
        }
        if over[1] {
            gone.push(format!("the text ({} bytes)", self.text.len()));
            self.text = cut(&self.text, rooms[1], Measure::InJson, whole).into_owned();
        }
        let lists = [
            (2, "images", None, &mut self.images),
            (3, "logs", Some("text"), &mut self.logs),
            (4, "notes", Some("message"), &mut self.notes),
            (5, "calls", Some("args"), &mut self.calls),
            (6, "waiting", Some("actual"), &mut self.waiting),
        ];
        for (part, name, key, list) in lists.into_iter().filter(|(part, ..)| over[*part]) {
            let total = list.len();
            if let Some(key) = key {
                shorten(list, key, rooms[part], whole);
            }
            keep(list, rooms[part], if part == 5 { bad } else { &[] });
            gone.push(format!("{name} ({} of {total} shown)", list.len()));
        }
        if let (Some(Value::Object(error)), true) = (&mut self.error, over[7]) {
            for key in ["message", "frame", "stack"] {
                if let Some(Value::String(text)) = error.get_mut(key) {
                    *text = cut(text, rooms[7] / 3, Measure::InJson, whole).into_owned();
                }
            }
            gone.push("the error".to_owned());
        }
        let message = format!("cut to fit `max_output_tokens`: {}; {whole}", gone.join(", "));
        self.notes.push(json!({"kind": "output_cut", "message": message}));
    }
}

/// Cuts `key` of entries that would take more than a quarter of the room.
fn shorten(list: &mut [Value], key: &str, room: usize, whole: &str) {
    for entry in list.iter_mut().filter(|entry| size(entry) > room / 4) {
        if let Some(long) = entry.get_mut(key) {
            let text = long.as_str().map_or_else(|| long.to_string(), str::to_owned);
            *long = cut(&text, room / 8, Measure::InJson, whole).into();
        }
    }
}

/// Keeps as many entries as fit, in their order: those marked `first`, then from both ends towards the middle.
fn keep(list: &mut Vec<Value>, room: usize, first: &[bool]) {
    let total = list.len();
    let ends = (0..total).map(|turn| if turn % 2 == 0 { turn / 2 } else { total - 1 - turn / 2 });
    let mut order: Vec<usize> = ends.collect();
    order.sort_by_key(|index| !first.get(*index).copied().unwrap_or(false));
    let (mut used, mut kept) = (0, vec![false; total]);
    for index in order {
        let next = used + size(&list[index]);
        if next <= room {
            used = next;
            kept[index] = true;
        }
    }
    let mut kept = kept.into_iter();
    list.retain(|_| kept.next().unwrap_or(false));
}

/// The value of a JSON text. Where a common reader refuses it (128 levels deep, a lone surrogate, `1e400`), the text itself
/// as a string, after a notice.
fn readable(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| {
        Value::from(format!("[shown as its JSON text, since common readers refuse the value: {error}]\n{json}"))
    })
}

fn entries<T: Serialize>(list: &[T]) -> Vec<Value> {
    list.iter().map(value).collect()
}

fn value<T: Serialize + ?Sized>(part: &T) -> Value {
    serde_json::to_value(part).expect("parts of a report are plain data with text keys")
}

fn size<T: Serialize + ?Sized>(part: &T) -> usize {
    serde_json::to_string(part).map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::{call, error, report};

    fn shown(own: Value, tokens: u64) -> Value {
        content(&report(own), Budget::of_tokens(tokens))
    }

    #[test]
    fn a_report_that_fits_has_the_shape_of_the_contract() {
        let own = json!({"result": null, "calls": [call(1, "a.b", "ok")], "logs": [{"level": "log", "text": "x"}]});
        insta::assert_snapshot!(shown(own, 10_000), @r#"{"run_id":"01890000-0000-7000-8000-000000000000","status":"completed","result":null,"text":"","images":[],"logs":[{"level":"log","text":"x"}],"notes":[],"calls":[{"call":1,"tool":"a.b","args":{"id":1},"status":"ok","ms":1,"bytes":2}],"usage":{"calls":0,"tool_bytes":0,"result_bytes":0,"active_ms":0,"cpu_fuel":0}}"#);
        let nothing = shown(json!({}), 10_000);
        assert!(nothing.get("result").is_none() && nothing.get("error").is_none() && nothing.get("waiting").is_none());
        let failed = shown(json!({"status": "failed", "error": error(json!({}))}), 10_000);
        assert_eq!(failed["error"]["kind"], "script");
    }

    #[test]
    fn a_result_that_is_too_large_becomes_a_text_that_says_so() {
        let rows: Vec<Value> = (0..1_000).map(|id| json!({"id": id, "title": "a \"quoted\" title"})).collect();
        let content = shown(json!({"result": rows, "calls": [call(1, "a.b", "ok")]}), 1_000);
        let result = content["result"].as_str().unwrap();
        assert!(result.starts_with("[cut: "), "{result}");
        assert!(result.contains(r#"[{"id":0,"#) && result.ends_with("}]"), "{result}");
        assert_eq!(content["calls"].as_array().unwrap().len(), 1);
        assert_eq!(content["notes"][0]["kind"], "output_cut");
        assert!(size(&content) <= 4_000 + 700, "{}", size(&content));
    }

    #[test]
    fn whatever_is_large_the_whole_stays_near_its_budget() {
        let calls: Vec<Value> =
            (1..=1_000).map(|n| call(n, "a.b", if n == 500 { "unfinished" } else { "ok" })).collect();
        let logs: Vec<Value> =
            (0..500).map(|n| json!({"level": "log", "text": format!("{n} {}", "\u{1}".repeat(500))})).collect();
        let notes: Vec<Value> = (0..500).map(|n| json!({"kind": "k", "message": format!("note {n}")})).collect();
        let long = "x\n".repeat(100_000);
        let own = json!({
            "status": "failed", "text": long, "logs": logs, "notes": notes, "calls": calls, "images": [long],
            "error": error(json!({"message": long, "frame": long, "stack": long})),
            "waiting": [{"id": "1", "kind": "diverged", "expected": "e", "actual": long, "next": "n"}],
        });
        for tokens in [1, 500, 2_000, 10_000] {
            let content = shown(own.clone(), tokens);
            let bytes = tokens as usize * 4;
            assert!(size(&content) <= bytes + 3_500, "{tokens} tokens: {}", size(&content));
        }
        let content = shown(own, 10_000);
        assert!(content["calls"].as_array().unwrap().iter().any(|call| call["call"] == 500), "the odd one stays");
        assert_eq!(content["calls"][0]["call"], 1, "the order stays");
        assert!(content["notes"].as_array().unwrap().iter().any(|note| note["kind"] == "output_cut"));
    }

    #[test]
    fn a_value_that_readers_refuse_is_shown_as_its_text() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for json in [deep.as_str(), "1e400", r#""\ud800""#] {
            // Through the text, since a `Value` refuses these as well.
            let text = serde_json::to_string(&report(json!({"result": "HERE"}))).unwrap().replace("\"HERE\"", json);
            let report: Report = serde_json::from_str(&text).unwrap();
            let content = content(&report, Budget::of_tokens(10_000));
            let result = content["result"].as_str().unwrap();
            assert!(result.starts_with("[shown as its JSON text") && result.ends_with(json), "{result}");
            assert_eq!(content["notes"][0]["kind"], "value_changed", "{json}");
        }
    }
}
