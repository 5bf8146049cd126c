//! What a run waits for a person to say, asked through the client.
//!
//! A run that waits is parked, and nobody holds it: whoever answers goes on with it, here or elsewhere. So a client that cannot ask,
//! a person who puts the question away, and one who takes too long lose nothing; the answer then says what is waited for.

use std::{collections::BTreeSet, time::Duration};

use refrain_runtime::{
    Decided, Decision, Json, Report, ReportStatus, Runtime, RuntimeError, Take, Waiting, WaitingKind,
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

/// Asks for everything that a parked run waits for, one by one, and goes on with it, until it is over or waits for something else.
pub(crate) async fn ask(runtime: &Runtime, client: &Peer<RoleServer>, who: Option<&str>, mut report: Report) -> Report {
    let mut put_away = BTreeSet::new();
    while report.status == ReportStatus::Parked && can_be_asked(client) {
        let open = |it: &&Waiting| it.call.is_some_and(|call| !put_away.contains(&call));
        let Some((id, waiting)) = report.run_id.zip(report.waiting.iter().filter(open).find(|it| is_for_a_person(it)))
        else {
            break;
        };
        let call = waiting.call.unwrap_or_default();
        let Some(what) = ask_one(client, waiting).await else {
            put_away.insert(call);
            continue;
        };
        let by = Some(who.map_or_else(|| "the user of the client".to_owned(), |who| format!("the user of {who}")));
        match runtime.answer(id, Take::IfFree, Decision { call, what, by }).await {
            Ok(next) => report = next,
            // Somebody else has decided meanwhile, or the answer is none.
            Err(RuntimeError::NotWaiting { .. }) => match runtime.resume(id, Take::IfFree).await {
                Ok(next) => {
                    put_away.insert(call);
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

/// Asks one thing. None where it stays open.
async fn ask_one(client: &Peer<RoleServer>, waiting: &Waiting) -> Option<Decided> {
    let (message, schema, read): (String, Value, fn(&Value, Value) -> Option<Value>) = match waiting.kind {
        kind if kind.is_approval() => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "approve": {"type": "boolean", "title": "Approve", "description": "Whether the call may be made"},
                    "message": {"type": "string", "title": "Message", "description": "What to tell the script if not"},
                },
                "required": ["approve"],
            });
            (approval(waiting), schema, |_, content| Some(content))
        }
        _ => question(waiting)?,
    };
    let requested_schema = serde_json::from_value(schema.clone()).ok()?;
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
            Some(Decided::Value(Json::from_value(&read(&schema, content.unwrap_or_default())?)))
        }
        (_, ElicitationAction::Decline) => Some(Decided::Unknown),
        // It was put away, and may be answered later.
        _ => None,
    }
}

fn approval(waiting: &Waiting) -> String {
    let args = waiting.args.as_ref().map_or("", |args| args.as_str());
    let shown = &args[..args.floor_char_boundary(MOST_SHOWN)];
    let more = if shown.len() < args.len() { format!("… ({} bytes in all)", args.len()) } else { String::new() };
    let why = waiting.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("A script wants to call `{}`{why} with:\n{shown}{more}", waiting.tool.as_deref().unwrap_or_default())
}

/// The form for a question, and how its answer is read from it. Forms are flat: what does not fit one is asked for as text.
#[expect(clippy::type_complexity, reason = "it is taken apart at once")]
fn question(waiting: &Waiting) -> Option<(String, Value, fn(&Value, Value) -> Option<Value>)> {
    let asked: Value = waiting.args.as_ref()?.parse().ok()?;
    let message = asked["question"].as_str()?.to_owned();
    let schema = &asked["schema"];
    let is_plain = |schema: &Value| {
        matches!(schema["type"].as_str(), Some("string" | "number" | "integer" | "boolean"))
            || schema["enum"].is_array()
    };
    let fields = schema["properties"].as_object().filter(|fields| fields.values().all(is_plain) && !fields.is_empty());
    if schema["type"] == "object" && fields.is_some() {
        return Some((message, schema.clone(), |_, content| Some(content)));
    }
    let (answer, is_json) = match schema {
        schema if is_plain(schema) => (schema.clone(), false),
        Value::Null => (json!({"type": "string"}), false),
        _ => (json!({"type": "string", "description": format!("As JSON: {schema}")}), true),
    };
    let form = json!({"type": "object", "properties": {"answer": answer}, "required": ["answer"]});
    let plain: fn(&Value, Value) -> Option<Value> = |_, mut content| Some(content["answer"].take());
    let parsed: fn(&Value, Value) -> Option<Value> =
        |_, content| serde_json::from_str(content["answer"].as_str()?).ok();
    Some((message, form, if is_json { parsed } else { plain }))
}
