//! `runs show`.

use std::fmt::Write as _;

use refrain_runtime::{CallReport, RecordView, RunDetail, date::utc};
use serde_json::Value;

use crate::{
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{count, one_line, report, table},
};

use super::list::standing;

/// Show one run: its script, its calls, its journal, and what to do next
///
/// Nothing is executed, so this is safe on a run that another process is driving.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ShowArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID")]
    run: String,
}

/// Runs `runs show`.
pub(crate) async fn show(context: &Context, args: ShowArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::NoSources)?;
    let id = runtime.find_run(&args.run).await?;
    let detail = runtime.show(id).await?;
    if context.ui.is_json() {
        context.ui.json(&detail)?;
        return Ok(Exit::Completed);
    }
    context.ui.listing(&lines(&detail))?;
    if let Some(next) = &detail.next {
        context.ui.say(&format!("next: `{next}`"));
    }
    Ok(Exit::Completed)
}

fn lines(detail: &RunDetail) -> String {
    let run = &detail.run;
    let mut text = String::new();
    let mut head: Vec<Vec<String>> = Vec::new();
    let mut fact = |name: &str, value: String| head.push(vec![name.to_owned(), value]);
    fact("run", run.run_id.to_string());
    fact("status", standing(run).to_owned());
    if let Some(owner) = &run.owner {
        fact("owner", format!("{}, since {}", owner.who, utc(owner.since_ms)));
    }
    fact("started", utc(run.started_ms));
    if let Some(ended) = run.ended_ms {
        fact("ended", utc(ended));
    }
    if let Some(wake) = run.wake_ms {
        fact("due", utc(wake));
    }
    if let Some(session) = &run.session {
        fact("session", session.clone());
    }
    text.push_str(&table::aligned(&head));
    let _ = write!(text, "\nscript\n{}", indented(&detail.script));
    text.push_str("\njournal\n");
    let records: Vec<Vec<String>> = detail.journal.iter().map(record).collect();
    text.push_str(&table::aligned(&records));
    for waiting in &detail.waiting {
        let _ = write!(text, "\n{}", report::waiting(waiting));
    }
    let Some(ended) = &detail.report else { return text };
    if !ended.calls.is_empty() {
        let _ = write!(text, "\ncalls\n{}", report::ledger(&ended.calls.iter().collect::<Vec<&CallReport>>()));
    }
    if let Some(error) = &ended.error {
        let _ = write!(text, "\n{}", report::error(error));
    }
    let data = report::data(ended);
    if !data.is_empty() {
        let _ = write!(text, "\nresult\n{}", indented(&data));
    }
    text
}

fn record(record: &RecordView) -> Vec<String> {
    let of = |key: &str| record.fields.get(key).unwrap_or(&Value::Null);
    let said = match record.kind {
        "started" => {
            let amends = match of("amends")[0].as_str() {
                Some(run) => format!(", amends {run}"),
                None => String::new(),
            };
            format!("{}, from {}{amends}", text_of(of("language")), text_of(&of("origin")["way"]))
        }
        "asked" => {
            let calls = of("calls").as_array().map(Vec::as_slice).unwrap_or_default();
            let calls: Vec<String> = calls
                .iter()
                .map(|call| {
                    format!(
                        "call {} {} {}",
                        call["call"],
                        text_of(&call["tool"]),
                        one_line(&call["args"].to_string(), 60)
                    )
                })
                .collect();
            calls.join("; ")
        }
        "answered" => match of("code") {
            Value::String(code) => format!("call {}: {code}, {}", of("call"), one_line(&text_of(of("message")), 80)),
            _ if of("reused").is_object() => {
                let bytes = count(of("bytes").as_u64().unwrap_or(0), "byte");
                format!(
                    "call {}: {bytes}, of call {} of run {}",
                    of("call"),
                    of("reused")["call"],
                    text_of(&of("reused")["run"])
                )
            }
            _ => format!("call {}: {}, {} ms", of("call"), count(of("bytes").as_u64().unwrap_or(0), "byte"), of("ms")),
        },
        "parked" => {
            let waiting = of("waiting").as_array().map(Vec::as_slice).unwrap_or_default();
            let waiting: Vec<String> = waiting
                .iter()
                .map(|it| match &it["due"] {
                    Value::String(due) => format!("{} {}, due {due}", text_of(&it["kind"]), text_of(&it["id"])),
                    _ => format!("{} {}", text_of(&it["kind"]), text_of(&it["id"])),
                })
                .collect();
            format!("waits for {}", waiting.join("; "))
        }
        "attempted" => {
            let again = of("again_ms").as_i64().map(utc).unwrap_or_default();
            let what = one_line(&text_of(of("message")), 60);
            format!("call {}, attempt {}: {}, {what}; again at {again}", of("call"), of("attempt"), text_of(of("code")))
        }
        "decided" => format!("call {}: {}, by {}", of("call"), text_of(of("decision")), text_of(of("by"))),
        "cancelling" => match of("reason") {
            Value::String(reason) => one_line(reason, 80),
            _ => "no reason given".to_owned(),
        },
        "ended" => text_of(of("state")),
        _ => record.fields.to_string(),
    };
    vec![format!("  {}", record.seq), record.kind.to_owned(), said]
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
