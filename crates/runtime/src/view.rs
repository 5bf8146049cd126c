//! Plain data for the edges: listings of runs and tools, in the shape of the outside contract.

use refrain_catalog::{Catalog, Dialect, SourceStatus, Tool};
use refrain_journal::{Decided, Listing, Outcome, Record, RunId, RunState, Summary};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{report::Report, waiting::Waiting};

/// A page of runs.
#[derive(Clone, Debug, Serialize)]
pub struct RunListing {
    /// The newest first.
    pub runs: Vec<RunView>,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}

/// One run in a listing.
#[derive(Clone, Debug, Serialize)]
pub struct RunView {
    /// Its id.
    pub run_id: RunId,
    /// How it stands. A run whose process died is `running` without an owner.
    pub status: RunState,
    /// Who drives it; none when nobody does.
    pub owner: Option<OwnerView>,
    /// When it started, in milliseconds since 1970.
    pub started_ms: i64,
    /// When a parked run is due to go on; none where it waits for a person.
    pub wake_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// How many records its journal has.
    pub records: u64,
    /// Its session.
    pub session: Option<String>,
    /// The first line of its script.
    pub title: String,
}

/// Who drives a run.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerView {
    /// Its id.
    pub id: String,
    /// Its process, for a person.
    pub who: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
}

impl RunView {
    fn of(summary: Summary) -> Self {
        Self {
            run_id: summary.run,
            status: summary.state,
            owner: summary.owner.map(|owner| OwnerView {
                id: owner.id.to_string(),
                who: owner.who,
                since_ms: owner.since_ms,
            }),
            started_ms: summary.started_ms,
            ended_ms: summary.ended_ms,
            wake_ms: summary.wake_ms,
            records: summary.records,
            session: summary.session,
            title: summary.title,
        }
    }
}

impl RunListing {
    pub(crate) fn of(listing: Listing) -> Self {
        Self { runs: listing.runs.into_iter().map(RunView::of).collect(), next_cursor: listing.next_cursor }
    }
}

/// Everything the journal has of one run.
#[derive(Clone, Debug, Serialize)]
pub struct RunDetail {
    /// How it stands.
    #[serde(flatten)]
    pub run: RunView,
    /// The script, as it was sent.
    pub script: String,
    /// Its journal.
    pub journal: Vec<RecordView>,
    /// Its report, once it is over.
    pub report: Option<Report>,
    /// What it waits for, where it is parked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Waiting>,
    /// What to do next, as a command. None when there is nothing to do.
    pub next: Option<String>,
}

/// One record, for a reader.
#[derive(Clone, Debug, Serialize)]
pub struct RecordView {
    /// Its number.
    pub seq: u64,
    /// `started`, `asked`, `answered`, `attempted`, `decided`, `parked`, `cancelling` or `ended`.
    pub kind: &'static str,
    /// The rest, by kind.
    #[serde(flatten)]
    pub fields: Value,
}

impl RunDetail {
    pub(crate) fn of(summary: Summary, records: Vec<Record>, report: Option<Report>) -> Self {
        let script = match records.first() {
            Some(Record::Started(started)) => started.script.clone(),
            _ => String::new(),
        };
        let waiting: Vec<Waiting> = match records.last() {
            Some(Record::Parked(parked)) => parked.waiting.parse().unwrap_or_default(),
            _ => Vec::new(),
        };
        let next = match (summary.state, &summary.owner) {
            (RunState::Parked, None) if !waiting.is_empty() => Some(waiting[0].next.clone()),
            (RunState::Failed, _) => Some(format!("refrain amend {} FILE", summary.run)),
            (state, None) if !state.is_over() => Some(format!("refrain runs resume {}", summary.run)),
            _ => None,
        };
        let journal = records.iter().enumerate().map(|(seq, record)| RecordView::of(seq as u64, record)).collect();
        Self { run: RunView::of(summary), script, journal, report, waiting, next }
    }
}

impl RecordView {
    fn of(seq: u64, record: &Record) -> Self {
        let (kind, fields) = match record {
            Record::Started(started) => (
                "started",
                json!({
                    "started_ms": started.started_ms,
                    "language": started.language,
                    "seed": started.seed.to_string(),
                    "fingerprint": started.fingerprint,
                    "catalog": started.catalog.to_string(),
                    "args": started.args.parse::<Value>().unwrap_or_default(),
                    "limits": started.limits.parse::<Value>().unwrap_or_default(),
                    "origin": started.origin.parse::<Value>().unwrap_or_default(),
                    "amends": started.amends,
                }),
            ),
            Record::Asked(asked) => {
                let calls: Vec<Value> = asked
                    .calls
                    .iter()
                    .map(|call| {
                        // Arguments that a tree cannot hold (half a character, nesting beyond 128) are shown as their text.
                        let args = call.args.parse::<Value>().unwrap_or_else(|_| call.args.as_str().into());
                        json!({
                            "call": call.call, "tool": call.tool, "args": args,
                            "effect": call.effect, "replay": call.replay, "key": call.key, "due_ms": call.due_ms,
                            "permission": call.permission, "rule": call.rule,
                        })
                    })
                    .collect();
                ("asked", json!({ "turn": asked.turn, "calls": calls }))
            }
            Record::Answered(answered) => {
                let mut fields = json!({
                    "call": answered.call,
                    "clock_ms": answered.clock_ms,
                    "ms": answered.took_ms,
                });
                if let Some(by) = &answered.by {
                    fields["by"] = by.as_str().into();
                }
                if let Some(reused) = answered.reused {
                    fields["reused"] = json!({ "run": reused.run, "call": reused.call });
                }
                match &answered.outcome {
                    Outcome::Value(value) => fields["bytes"] = value.as_str().len().into(),
                    Outcome::Blob { hash, bytes } => {
                        fields["bytes"] = (*bytes).into();
                        fields["blob"] = hash.to_string().into();
                    }
                    Outcome::Failure(failure) => {
                        fields["code"] = failure.code.as_str().into();
                        fields["message"] = failure.message.as_str().into();
                    }
                }
                ("answered", fields)
            }
            Record::Parked(parked) => {
                let waiting = parked.waiting.parse::<Value>().unwrap_or_default();
                ("parked", json!({ "at_ms": parked.at_ms, "wake_ms": parked.wake_ms, "waiting": waiting }))
            }
            Record::Decided(decided) => {
                let Decided { call, at_ms, decision, by } = decided;
                ("decided", json!({ "call": call, "at_ms": at_ms, "decision": decision, "by": by }))
            }
            Record::Attempted(attempted) => (
                "attempted",
                json!({
                    "call": attempted.call,
                    "attempt": attempted.attempt,
                    "ms": attempted.took_ms,
                    "code": attempted.failure.code,
                    "message": attempted.failure.message,
                    "again_ms": attempted.again_ms,
                }),
            ),
            Record::Cancelling(cancelling) => {
                ("cancelling", json!({ "at_ms": cancelling.at_ms, "reason": cancelling.reason }))
            }
            Record::Ended(ended) => {
                ("ended", json!({ "state": format!("{:?}", ended.state).to_lowercase(), "ended_ms": ended.ended_ms }))
            }
        };
        Self { seq, kind, fields }
    }
}

/// All tools and sources.
#[derive(Clone, Debug, Serialize)]
pub struct ToolListing {
    /// The tools.
    pub tools: Vec<ToolView>,
    /// The sources, also those without tools.
    pub sources: Vec<SourceStatus>,
}

/// One tool, for a reader or a program.
#[derive(Clone, Debug, Serialize)]
pub struct ToolView {
    /// `source.name`.
    pub path: String,
    /// Its source.
    pub source: String,
    /// The server's own spelling.
    pub name: String,
    /// The expression that runs as printed, without arguments.
    pub call: String,
    /// What it does.
    pub description: String,
    /// What a call may do.
    pub effect: &'static str,
    /// Whether a call may be made again.
    pub replay: &'static str,
    /// What it takes.
    pub input_schema: Value,
    /// What it gives; `null` when that is not declared.
    pub output_schema: Option<Value>,
    /// What a person should know about this entry.
    pub notes: Vec<String>,
}

impl ToolListing {
    /// The listing of a catalog.
    pub fn of(catalog: &Catalog) -> Self {
        Self::in_dialect(catalog, None)
    }

    /// The listing of a catalog, with the expressions that scripts of `dialect` use.
    pub fn in_dialect(catalog: &Catalog, dialect: Option<&Dialect>) -> Self {
        let view = |tool| {
            let mut view = ToolView { call: catalog.call_in(tool, dialect), ..ToolView::of(tool) };
            view.notes.extend(catalog.vain_settings(tool));
            view
        };
        Self { tools: catalog.tools().iter().map(view).collect(), sources: catalog.sources().to_vec() }
    }
}

impl ToolView {
    /// The view of a tool.
    pub fn of(tool: &Tool) -> Self {
        Self {
            path: tool.path(),
            source: tool.source.clone(),
            name: tool.name.clone(),
            call: tool.call_expression(),
            description: tool.description.clone(),
            effect: tool.effect.as_str(),
            replay: tool.replay.as_str(),
            input_schema: (*tool.input_schema).clone(),
            output_schema: tool.output_schema.as_ref().map(|schema| (**schema).clone()),
            notes: tool.notes.clone(),
        }
    }
}
