//! A run's report for a person.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    fmt::Write as _,
};

use refrain_runtime::{AmendReport, CallReport, CallStatus, ErrorReport, Note, Report, Waiting};

use super::{count, json, one_line, table, thousands};

/// Most calls that are listed when a run failed. `runs show` has all.
const MOST_CALLS: usize = 40;

/// As many notes that are alike are told.
const MOST_ALIKE: usize = 5;

/// What is printed as data: texts, then the result. Empty when there is neither.
pub(crate) fn data(report: &Report) -> String {
    let mut text = String::new();
    if !report.text.is_empty() {
        line(&mut text, &report.text);
    }
    if let Some(result) = &report.result {
        line(&mut text, &json::pretty(result.as_str()));
    }
    text
}

/// What the script logged, which is said before the data.
pub(crate) fn logs(report: &Report) -> String {
    report.logs.iter().map(|log| format!("[{}] {}\n", log.level, log.text)).collect()
}

/// What is said after the data: notes, what went wrong with all calls, what it waits for, and the last line with the figures.
pub(crate) fn talk(report: &Report) -> String {
    let mut text = String::new();
    if !report.images.is_empty() {
        line(
            &mut text,
            &format!("note: {} left out here; `--output json` has them", count(report.images.len() as u64, "image")),
        );
    }
    text.push_str(&notes(&report.notes));
    if let Some(error) = &report.error {
        text.push_str(&self::error(error));
        text.push_str(&calls(report));
    }
    if let Some(amends) = &report.amends {
        text.push_str(&self::amends(amends));
    }
    for waiting in &report.waiting {
        text.push_str(&self::waiting(waiting));
    }
    if let Some(id) = report.run_id {
        let usage = &report.usage;
        let _ = writeln!(
            text,
            "run {id}: {}, {}, {} from tools, {} returned, {} ms",
            report.status.as_str(),
            count(usage.calls, "call"),
            count(usage.tool_bytes, "byte"),
            count(usage.result_bytes, "byte"),
            thousands(usage.active_ms),
        );
    }
    text
}

/// Notes that say the same are one line, with their number and the first of their places. Of those that are alike, of one kind
/// about one tool, some are told and the rest counted.
fn notes(notes: &[Note]) -> String {
    let mut counted: Vec<(&Note, u64)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for note in notes {
        match places.entry(&note.message) {
            Entry::Occupied(place) => counted[*place.get()].1 += 1,
            Entry::Vacant(place) => {
                place.insert(counted.len());
                counted.push((note, 1));
            }
        }
    }
    let mut text = String::new();
    let mut alike: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    for (note, times) in counted {
        let so_far = alike.entry((&note.kind, note.tool.as_deref())).or_default();
        *so_far += 1;
        if *so_far > MOST_ALIKE {
            continue;
        }
        let place = match (note.line, times) {
            (None, 1) => String::new(),
            (Some(line), 1) => format!(" (line {line})"),
            (None, times) => format!(" ({} times)", thousands(times)),
            (Some(line), times) => format!(" ({} times, first in line {line})", thousands(times)),
        };
        line(&mut text, &format!("note: {}{place}", note.message));
    }
    for ((kind, tool), all) in alike {
        let Some(more) = all.checked_sub(MOST_ALIKE).filter(|more| *more > 0) else { continue };
        let about = tool.map(|tool| format!(" about `{tool}`")).unwrap_or_default();
        let more = count(more as u64, "more note");
        line(&mut text, &format!("note: {more} of the kind `{kind}`{about}; `--output json` has all of them"));
    }
    text
}

/// What a corrected run took over.
fn amends(amends: &AmendReport) -> String {
    let mut text = String::new();
    line(
        &mut text,
        &format!(
            "of run {}: {} reused, {} ran",
            amends.run_id,
            count(amends.reused, "call"),
            count(amends.ran, "call")
        ),
    );
    if !amends.made_again.is_empty() {
        let calls: Vec<String> = amends.made_again.iter().take(MOST_CALLS).map(u32::to_string).collect();
        line(&mut text, &format!("  read again, since the new run had written: {}", calls.join(", ")));
    }
    for call in amends.unmatched.iter().take(MOST_CALLS) {
        line(
            &mut text,
            &format!("  finished and not made any more: {} {}", call.tool, one_line(call.args.as_str(), 80)),
        );
    }
    let more = amends.unmatched.len().saturating_sub(MOST_CALLS);
    if more > 0 {
        line(&mut text, &format!("  and {} more", count(more as u64, "call")));
    }
    text
}

/// Why a run failed, and where.
pub(crate) fn error(error: &ErrorReport) -> String {
    let mut text = String::new();
    let _ = write!(text, "error ({}", error.kind.as_str());
    if let Some(code) = &error.code {
        let _ = write!(text, ", {code}");
    }
    if let Some(at) = error.line {
        let _ = write!(text, ", line {at}");
    }
    let _ = write!(text, "): {}", error.message);
    line(&mut text, "");
    if let Some(frame) = &error.frame {
        line(&mut text, frame);
    }
    for frame in error.stack.iter().flat_map(|stack| stack.lines()) {
        line(&mut text, &format!("    {frame}"));
    }
    text
}

/// Every call and what became of it, as a table.
pub(crate) fn ledger(calls: &[&CallReport]) -> String {
    let row = |call: &&CallReport| {
        vec![
            format!("  {}", call.call),
            call.tool.clone(),
            word(call.status).to_owned(),
            count(call.bytes, "byte"),
            format!("{} ms", thousands(call.ms)),
            one_line(call.args.as_str(), 60),
        ]
    };
    table::aligned(&calls.iter().map(row).collect::<Vec<_>>())
}

fn calls(report: &Report) -> String {
    let all: Vec<&CallReport> = report.calls.iter().collect();
    if all.is_empty() {
        return "no call was made\n".to_owned();
    }
    let mut counted: Vec<(&str, u64)> = Vec::new();
    for call in &all {
        match counted.iter_mut().find(|(status, _)| *status == word(call.status)) {
            Some((_, number)) => *number += 1,
            None => counted.push((word(call.status), 1)),
        }
    }
    let counted: Vec<String> =
        counted.iter().map(|(status, number)| format!("{} {status}", thousands(*number))).collect();
    let mut text = format!("calls: {}\n", counted.join(", "));
    if all.len() <= MOST_CALLS {
        text.push_str(&ledger(&all));
        return text;
    }
    // What did not go well is what a person has to know; the rest is counted above.
    let shown: Vec<&CallReport> =
        all.iter().copied().filter(|call| call.status != CallStatus::Ok).take(MOST_CALLS).collect();
    text.push_str(&ledger(&shown));
    if let Some(id) = report.run_id {
        let _ = writeln!(text, "  every call: `refrain runs show {id}`");
    }
    text
}

/// What a parked run waits for.
pub(crate) fn waiting(waiting: &Waiting) -> String {
    let call = waiting.call.map(|call| format!(" at call {call}")).unwrap_or_default();
    let tool = waiting.tool.as_deref().map(|tool| format!(" `{tool}`")).unwrap_or_default();
    let mut text = format!("waits ({}){call}{tool}\n", waiting.kind.as_str());
    let args = waiting.args.as_ref().map(|args| one_line(args.as_str(), 200));
    let facts = [
        ("with", &args),
        ("why", &waiting.why),
        ("due", &waiting.due),
        ("after", &waiting.after),
        ("expected", &waiting.expected),
        ("actual", &waiting.actual),
    ];
    for (what, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(text, "  {what}: {value}");
        }
    }
    let _ = writeln!(text, "  next: `{}`", waiting.next);
    text
}

/// The word that reports use.
fn word(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "ok",
        CallStatus::Error => "error",
        CallStatus::Refused => "refused",
        CallStatus::Interrupted => "interrupted",
        CallStatus::Unfinished => "unfinished",
        CallStatus::Reused => "reused",
        CallStatus::Waiting => "waiting",
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests;
