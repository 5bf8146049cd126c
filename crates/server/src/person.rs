//! What a run waits for a person to say, asked through the client.
//!
//! A run that waits is parked, and nobody holds it: whoever answers goes on with it, here or elsewhere. So a client that cannot ask,
//! a person who puts the question away, and one who takes too long lose nothing; the answer then says what is waited for.

use std::{borrow::Cow, collections::BTreeSet, time::Duration};

use refrain_runtime::{
    Decided, Decision, Json, Report, ReportStatus, Runtime, RuntimeError, Take, Waiting, WaitingKind, escaped,
};
use rmcp::{
    Peer, RoleServer,
    model::{ElicitRequestParams, ElicitResult, ElicitationAction},
    service::ElicitationMode,
};
use serde_json::{Value, json};

/// How long a call of a client is held for one answer. Clients give up on calls after some minutes.
const HELD: Duration = Duration::from_secs(120);
/// As much of arguments is shown: a form is small.
const MOST_SHOWN: usize = 4 << 10;

/// Whether a client can ask its person.
pub(crate) fn can_be_asked(client: &Peer<RoleServer>) -> bool {
    client.supported_elicitation_modes().contains(&ElicitationMode::Form)
}

/// Asks for everything that a parked run waits for, one by one, a plan as a whole, and goes on with it, until it is over or waits for
/// something else.
pub(crate) async fn ask(runtime: &Runtime, client: &Peer<RoleServer>, who: Option<&str>, mut report: Report) -> Report {
    let mut put_away = BTreeSet::new();
    let by = who.map_or_else(|| "the user of the client".to_owned(), |who| format!("the user of {who}"));
    while report.status == ReportStatus::Parked && can_be_asked(client) {
        let open = |it: &&Waiting| is_for_a_person(it) && it.call.is_some_and(|call| !put_away.contains(&call));
        let Some((id, first)) = report.run_id.zip(report.waiting.iter().find(open)) else { break };
        let together: Vec<&Waiting> = match first.kind {
            WaitingKind::Plan => report.waiting.iter().filter(open).filter(|it| it.kind == WaitingKind::Plan).collect(),
            _ => vec![first],
        };
        let calls: Vec<u32> = together.iter().filter_map(|it| it.call).collect();
        let Some(what) = ask_for(client, &together).await else {
            put_away.extend(calls);
            continue;
        };
        let decision = |call: &u32| Decision { call: *call, what: what.clone(), by: Some(by.clone()) };
        match runtime.answer_all(id, Take::IfFree, calls.iter().map(decision).collect()).await {
            Ok(next) => report = next,
            // Somebody else has decided meanwhile, or the answer is none.
            Err(RuntimeError::NotWaiting { .. }) => match runtime.resume(id, Take::IfFree).await {
                Ok(next) => {
                    put_away.extend(calls);
                    report = next;
                }
                Err(_) => break,
            },
            Err(_) => break,
        }
    }
    report
}

fn is_for_a_person(waiting: &Waiting) -> bool {
    waiting.kind.is_approval() || waiting.kind == WaitingKind::Question
}

/// Asks one thing, which may be about several calls. None where it stays open.
async fn ask_for(client: &Peer<RoleServer>, all: &[&Waiting]) -> Option<Decided> {
    let waiting = *all.first()?;
    let Form { message, schema, answer } = match waiting.kind {
        WaitingKind::Plan => agreement(plan(all)),
        WaitingKind::Approval => agreement(approval(waiting)),
        _ => question(waiting)?,
    };
    let requested_schema = serde_json::from_value(schema).ok()?;
    let request = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    let answered = tokio::time::timeout(HELD, client.create_elicitation(request)).await.ok()?.ok()?;
    let ElicitResult { action, content, .. } = answered;
    match (waiting.kind, action) {
        (kind, ElicitationAction::Accept) if kind.is_approval() => {
            let content = content.unwrap_or_default();
            match content["approve"].as_bool() {
                Some(true) => Some(Decided::Approve),
                Some(false) | None => {
                    let said = content["message"].as_str().filter(|said| !said.trim().is_empty());
                    Some(Decided::Reject(said.map(str::to_owned)))
                }
            }
        }
        (kind, ElicitationAction::Decline) if kind.is_approval() => Some(Decided::Reject(None)),
        (_, ElicitationAction::Accept) => {
            Some(Decided::Value(Json::from_value(&answer.read(content.unwrap_or_default())?)))
        }
        (_, ElicitationAction::Decline) => Some(Decided::Unknown),
        // It was put away, and may be answered later.
        _ => None,
    }
}

/// The arguments of a call, or their beginning.
fn arguments(waiting: &Waiting, most: usize) -> String {
    let args = waiting.args.as_ref().map_or("", |args| args.as_str());
    let shown = &args[..args.floor_char_boundary(most)];
    // What cannot be seen could show a person another call than the one that is made.
    let shown = escaped(shown, |c| c == '\n');
    let is_cut = most < args.len();
    if is_cut { format!("{shown}… ({} bytes in all)", args.len()) } else { shown.into_owned() }
}

/// What is shown to a person.
struct Form {
    message: String,
    schema: Value,
    answer: Answer,
}

/// How the answer is read from what was filled in.
#[derive(Clone, Copy)]
enum Answer {
    Whole,
    /// It is one field.
    Field,
    /// It is one field, as JSON text.
    Json,
}

impl Answer {
    fn read(self, mut content: Value) -> Option<Value> {
        match self {
            Self::Whole => Some(content),
            Self::Field => Some(content.get_mut("answer")?.take()),
            Self::Json => serde_json::from_str(content["answer"].as_str()?).ok(),
        }
    }
}

fn agreement(message: String) -> Form {
    let schema = json!({
        "type": "object",
        "properties": {
            "approve": {"type": "boolean", "title": "Approve", "description": "Whether it may be done"},
            "message": {"type": "string", "title": "Message", "description": "What to tell the script if not"},
        },
        "required": ["approve"],
    });
    Form { message, schema, answer: Answer::Whole }
}

fn plan(all: &[&Waiting]) -> String {
    let most = MOST_SHOWN / all.len().max(1);
    let line = |it: &&Waiting| format!("- `{}` {}", tool(it), arguments(it, most));
    let lines: Vec<String> = all.iter().map(line).collect();
    format!("A script plans these {} calls, and would make all of them:\n{}", all.len(), lines.join("\n"))
}

fn approval(waiting: &Waiting) -> String {
    let why = waiting.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("A script wants to call `{}`{why} with:\n{}", tool(waiting), arguments(waiting, MOST_SHOWN))
}

fn tool(waiting: &Waiting) -> Cow<'_, str> {
    escaped(waiting.tool.as_deref().unwrap_or_default(), |_| false)
}

/// The form for a question. Forms are flat: what does not fit one is asked for as text.
fn question(waiting: &Waiting) -> Option<Form> {
    let asked: Value = waiting.args.as_ref()?.parse().ok()?;
    let message = asked["question"].as_str()?.to_owned();
    let schema = &asked["schema"];
    let is_plain = |schema: &Value| {
        matches!(schema["type"].as_str(), Some("string" | "number" | "integer" | "boolean"))
            || schema["enum"].is_array()
    };
    let fields = schema["properties"].as_object().filter(|fields| fields.values().all(is_plain) && !fields.is_empty());
    if schema["type"] == "object" && fields.is_some() {
        return Some(Form { message, schema: schema.clone(), answer: Answer::Whole });
    }
    let (field, answer) = match schema {
        schema if is_plain(schema) => (schema.clone(), Answer::Field),
        Value::Null => (json!({"type": "string"}), Answer::Field),
        _ => (json!({"type": "string", "description": format!("As JSON: {schema}")}), Answer::Json),
    };
    let schema = json!({"type": "object", "properties": {"answer": field}, "required": ["answer"]});
    Some(Form { message, schema, answer })
}
