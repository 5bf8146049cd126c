//! A report as text, for a model.
//!
//! The result comes first, or else why there is none and the ledger: which calls finished, which were out, which never
//! left. Then what the script said, its logs, and the notes. Pure functions; the text of people is another crate's.

use std::fmt::Write as _;

use refrain_runtime::{CallReport, CallStatus, ErrorReport, Report, ReportStatus, Waiting, WaitingKind};

use crate::cut::{Budget, Measure, cut, shares};

/// Calls of one kind that the ledger shows one by one.
const MOST_SHOWN: usize = 20;
/// Bytes of a call's arguments in the ledger.
const MOST_ARGUMENTS: usize = 120;

/// Returns the text of a report, cut to `budget`.
pub(crate) fn text(report: &Report, budget: Budget) -> String {
    let parts = [
        head(report),
        if report.status == ReportStatus::Completed { String::new() } else { ledger(&report.calls) },
        titled("text:", report.text.clone()),
        titled("logs:", lines(report.logs.iter().map(|log| format!("{}: {}", log.level, log.text)))),
        titled("notes:", lines(report.notes.iter().map(|note| format!("- {}", note.message)))),
    ];
    let rooms = shares(budget.bytes, parts.each_ref().map(String::len));
    let whole = whole(report);
    let mut out = String::new();
    for (part, room) in parts.iter().zip(rooms).filter(|(part, _)| !part.is_empty()) {
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(&cut(part, room, Measure::Plain, &whole));
    }
    if let (Some(id), true) = (report.run_id, report.status != ReportStatus::Completed) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n\nrun {id}");
    }
    out
}

/// Says where all of a cut text is, for its notice.
pub(crate) fn whole(report: &Report) -> String {
    let less = "return less, or raise `max_output_tokens`";
    match report.run_id {
        Some(id) if report.status != ReportStatus::Parked => {
            format!("`read_artifact` with the id `{id}` has the whole; {less}")
        }
        Some(id) => format!("only `refrain runs show {id} --output json` has the whole; {less}"),
        None => less.to_owned(),
    }
}

/// The result, or why there is none.
fn head(report: &Report) -> String {
    match (&report.error, report.status) {
        (Some(error), _) => failure(error),
        (None, ReportStatus::Completed) => match &report.result {
            Some(result) => result.as_str().to_owned(),
            None => "The script returned nothing.".to_owned(),
        },
        (None, status) => {
            lines(std::iter::once(format!("The run is {}.", status.as_str())).chain(report.waiting.iter().map(waiting)))
        }
    }
}

fn failure(error: &ErrorReport) -> String {
    let mut about = vec![error.kind.as_str().to_owned()];
    about.extend(error.code.as_ref().map(|code| format!("code `{code}`")));
    about.extend(error.call.map(|call| format!("call {call}")));
    about.extend(error.tool.as_ref().map(|tool| format!("`{tool}`")));
    about.extend(error.setting.as_ref().map(|setting| format!("`{setting}`")));
    let mut parts = vec![format!("failed ({}): {}", about.join(", "), error.message)];
    match (&error.frame, error.line) {
        (Some(frame), _) => parts.push(frame.trim_end_matches('\n').to_owned()),
        (None, Some(line)) => parts.push(format!("at line {line}")),
        (None, None) => {}
    }
    parts.extend(error.stack.clone());
    parts.join("\n\n")
}

/// The beginning of arguments, for a line.
fn short(args: &str) -> &str {
    &args[..args.floor_char_boundary(300)]
}

pub(crate) fn waiting(waiting: &Waiting) -> String {
    let mut line = format!("- {} `{}`", waiting.kind.as_str(), waiting.id);
    if let Some(args) = &waiting.args {
        let _ = write!(line, " {}", short(args.as_str()));
    }
    if let Some(due) = &waiting.due {
        let _ = write!(line, ", goes on by itself at {due}");
    }
    if let (Some(expected), Some(actual)) = (&waiting.expected, &waiting.actual) {
        let _ = write!(line, ": expected {expected}, and the script made {actual}");
    }
    if let Some(why) = &waiting.why {
        let _ = write!(line, ", wanted by {why}");
    }
    let _ = write!(line, "; next: `{}`", waiting.next);
    if waiting.kind.is_approval() || waiting.kind == WaitingKind::Question {
        line.push_str(" (for the person), then `resume_run`");
    }
    line
}

/// Every kind of outcome with its calls.
fn ledger(calls: &[CallReport]) -> String {
    if calls.is_empty() {
        return "No call was made.".to_owned();
    }
    const KINDS: [(CallStatus, &str); 7] = [
        (CallStatus::Ok, "finished"),
        (CallStatus::Reused, "answered from another run's journal"),
        (CallStatus::Error, "failed"),
        (CallStatus::Interrupted, "interrupted, outcome unknown"),
        (CallStatus::Unfinished, "in flight at the end, outcome unknown"),
        (CallStatus::Waiting, "not answered yet"),
        (CallStatus::Refused, "refused, never sent"),
    ];
    lines(KINDS.iter().filter_map(|(status, title)| {
        let these: Vec<&CallReport> = calls.iter().filter(|call| call.status == *status).collect();
        (!these.is_empty()).then(|| {
            let shown = these.iter().take(MOST_SHOWN).map(|call| entry(call));
            let rest = these.get(MOST_SHOWN..).filter(|rest| !rest.is_empty()).map(by_tool);
            format!("calls {title} ({}):\n{}", these.len(), lines(shown.chain(rest)))
        })
    }))
}

fn entry(call: &CallReport) -> String {
    let args = call.args.as_str();
    let shown = &args[..args.floor_char_boundary(MOST_ARGUMENTS)];
    let mark = if shown.len() < args.len() { "…" } else { "" };
    format!("  {} `{}` {shown}{mark}", call.call, call.tool)
}

/// `  and 30 more: 20 of `a.x`, 10 of `b.y``, in the order in which the tools were first called.
fn by_tool(calls: &[&CallReport]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        match counts.iter_mut().find(|(tool, _)| *tool == call.tool) {
            Some((_, count)) => *count += 1,
            None => counts.push((&call.tool, 1)),
        }
    }
    let counts: Vec<String> = counts.iter().map(|(tool, count)| format!("{count} of `{tool}`")).collect();
    format!("  and {} more: {}", calls.len(), counts.join(", "))
}

fn titled(title: &str, body: String) -> String {
    if body.is_empty() { body } else { format!("{title}\n{body}") }
}

fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A report from its JSON, so that a test says only what matters to it.
    pub(crate) fn report(own: Value) -> Report {
        let mut report = json!({
            "run_id": "01890000-0000-7000-8000-000000000000", "status": "completed", "text": "", "images": [], "logs": [],
            "notes": [], "calls": [], "usage": {"calls": 0, "tool_bytes": 0, "result_bytes": 0, "active_ms": 0, "cpu_fuel": 0}
        });
        for (key, value) in own.as_object().unwrap() {
            report[key] = value.clone();
        }
        serde_json::from_str(&report.to_string()).unwrap()
    }

    pub(crate) fn call(call: u32, tool: &str, status: &str) -> Value {
        json!({"call": call, "tool": tool, "args": {"id": call}, "status": status, "ms": 1, "bytes": 2})
    }

    pub(crate) fn error(own: Value) -> Value {
        let mut error =
            json!({"kind": "script", "message": "boom", "line": null, "column": null, "frame": null, "stack": null});
        for (key, value) in own.as_object().unwrap() {
            error[key] = value.clone();
        }
        error
    }

    fn rendered(own: Value) -> String {
        text(&report(own), Budget::of_tokens(10_000))
    }

    #[test]
    fn the_result_comes_first_and_alone_when_there_is_nothing_else() {
        assert_eq!(rendered(json!({"result": {"a": [1, null]}})), r#"{"a":[1,null]}"#);
        assert_eq!(rendered(json!({"result": null})), "null");
    }

    #[test]
    fn what_the_script_said_follows_the_result() {
        insta::assert_snapshot!(rendered(json!({
            "result": 3,
            "text": "found 3\nreally",
            "logs": [{"level": "log", "text": "page 1"}, {"level": "warn", "text": "slow"}],
            "notes": [{"kind": "policy", "message": "there are no rules"}],
            "calls": [call(1, "a.b", "ok")],
        })), @"
        3

        text:
        found 3
        really

        logs:
        log: page 1
        warn: slow

        notes:
        - there are no rules
        ");
        insta::assert_snapshot!(rendered(json!({"text": "only this"})), @"
        The script returned nothing.

        text:
        only this
        ");
    }

    #[test]
    fn a_failure_says_why_and_what_has_happened() {
        insta::assert_snapshot!(rendered(json!({
            "status": "failed",
            "error": error(json!({
                "kind": "tool", "message": "`mail.send` failed: mailbox full", "line": 2, "column": 7,
                "frame": "  1 | const a = 1;\n> 2 | await tools.mail.send({});\n    |       ^\n",
                "stack": "at send (2:7)\nat 2:1", "tool": "mail.send", "call": 3, "code": "tool_error",
            })),
            "calls": [
                call(1, "a.b", "ok"), call(2, "a.b", "ok"), call(3, "mail.send", "error"), call(4, "mail.send", "unfinished"),
                call(5, "x.y", "refused"), call(6, "x.z", "interrupted"),
            ],
        })), @"
        failed (tool, code `tool_error`, call 3, `mail.send`): `mail.send` failed: mailbox full

          1 | const a = 1;
        > 2 | await tools.mail.send({});
            |       ^

        at send (2:7)
        at 2:1

        calls finished (2):
          1 `a.b` {\"id\":1}
          2 `a.b` {\"id\":2}
        calls failed (1):
          3 `mail.send` {\"id\":3}
        calls interrupted, outcome unknown (1):
          6 `x.z` {\"id\":6}
        calls in flight at the end, outcome unknown (1):
          4 `mail.send` {\"id\":4}
        calls refused, never sent (1):
          5 `x.y` {\"id\":5}

        run 01890000-0000-7000-8000-000000000000
        ");
    }

    #[test]
    fn a_failure_before_the_start_has_no_run_and_no_calls() {
        insta::assert_snapshot!(rendered(json!({
            "run_id": null, "status": "failed", "error": error(json!({"kind": "syntax", "message": "unexpected `;`", "line": 4})),
        })), @"
        failed (syntax): unexpected `;`

        at line 4

        No call was made.
        ");
    }

    #[test]
    fn a_long_ledger_is_counted_by_tool() {
        let calls: Vec<Value> =
            (1..=60).map(|number| call(number, if number > 50 { "c.d" } else { "a.b" }, "ok")).collect();
        let text = rendered(json!({"status": "failed", "error": error(json!({})), "calls": calls}));
        assert!(text.contains("calls finished (60):\n  1 `a.b`"), "{text}");
        assert!(text.contains("  and 40 more: 30 of `a.b`, 10 of `c.d`"), "{text}");
    }

    #[test]
    fn a_parked_run_says_what_it_waits_for_and_what_to_do() {
        insta::assert_snapshot!(rendered(json!({
            "status": "parked",
            "calls": [call(1, "a.b", "waiting")],
            "waiting": [{"id": "call-1", "kind": "diverged", "expected": "`a.b`", "actual": "`a.c`", "next": "refrain runs show 1"}],
        })), @"
        The run is parked.
        - diverged `call-1`: expected `a.b`, and the script made `a.c`; next: `refrain runs show 1`

        calls not answered yet (1):
          1 `a.b` {\"id\":1}

        run 01890000-0000-7000-8000-000000000000
        ");
    }

    #[test]
    fn only_the_part_that_is_too_large_is_cut() {
        let own = json!({"result": "ä".repeat(5_000), "notes": [{"kind": "k", "message": "kept whole"}]});
        let text = text(&report(own), Budget::of_tokens(100));
        assert!(text.starts_with("[cut: "), "{text}");
        assert!(text.contains(" of 10002 bytes shown"), "{text}");
        assert!(text.contains("`read_artifact` with the id `01890000-0000-7000-8000-000000000000`"), "{text}");
        assert!(text.ends_with("notes:\n- kept whole"), "{text}");
        assert!(text.len() < 400 + 300, "{}", text.len());
    }
}
