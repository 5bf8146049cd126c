//! `approvals`: calls that wait for a person's agreement.

use std::collections::{BTreeMap, BTreeSet};

use refrain_runtime::{ApprovalView, Decided, Decision, RunId, Runtime, Take};
use serde_json::{Value, json};

use super::{report, runs::held};
use crate::{
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{cut::bounded, json, one_line, table, visible::on_one_line},
};

/// As much of the arguments is shown in a list.
const MOST_CHARS: usize = 60;
/// As much of them is shown of one. JSON has all.
const MOST_BYTES: usize = 8 << 10;

/// See the calls that wait for your agreement, and decide about them
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum Approvals {
    List(ListArgs),
    Show(ShowArgs),
    Approve(ApproveArgs),
    Reject(RejectArgs),
}

/// List the calls that wait, of all runs
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ListArgs {}

/// Show one: what it would do, with which arguments, in which script, and what the run did so far
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ShowArgs {
    /// The approval, as `refrain approvals list` has it: `RUN/CALL`
    #[arg(value_name = "ID")]
    id: String,
}

/// Agree to calls: each is made with the arguments that are shown, and its run goes on
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ApproveArgs {
    /// The approvals: `RUN/CALL`, or `RUN` for all that waits in it, such as a plan
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Who agrees, for the journal; otherwise the name in `USER`
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// Refuse calls: each rejects with the code `denied`, and its run goes on
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RejectArgs {
    /// The approvals: `RUN/CALL`, or `RUN` for all that waits in it
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,

    /// Why, for the script
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Who refuses, for the journal; otherwise the name in `USER`
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// Runs `approvals`.
pub(crate) async fn run(context: &Context, approvals: Approvals) -> Result<Exit, CommandError> {
    match approvals {
        Approvals::List(_) => list(context).await,
        Approvals::Show(args) => show(context, &args.id).await,
        Approvals::Approve(args) => decide(context, &args.ids, args.by, &Decided::Approve).await,
        Approvals::Reject(args) => decide(context, &args.ids, args.by, &Decided::Reject(args.message)).await,
    }
}

async fn list(context: &Context) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::NoSources)?;
    let all = runtime.approvals().await?;
    if context.ui.is_json() {
        context.ui.json(&json!({ "approvals": all, "next_cursor": null }))?;
    } else if all.is_empty() {
        context.ui.say("no call waits for approval");
    } else {
        let row = |it: &ApprovalView| {
            vec![
                it.id.clone(),
                on_one_line(&it.tool).into_owned(),
                it.effect.clone(),
                one_line(it.args.as_str(), MOST_CHARS),
            ]
        };
        context.ui.listing(&table::aligned(&all.iter().map(row).collect::<Vec<_>>()))?;
        context.ui.say("next: `refrain approvals show ID`, `approve ID` or `reject ID`");
    }
    Ok(Exit::Completed)
}

async fn show(context: &Context, id: &str) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::NoSources)?;
    let wanted = find(&runtime, id).await?;
    let run = runtime.show(wanted.run_id).await?;
    if context.ui.is_json() {
        let mut shown = json!(wanted);
        shown["script"] = run.script.into();
        shown["journal"] = json!(run.journal);
        context.ui.json(&shown)?;
        return Ok(Exit::Completed);
    }
    let arguments = bounded(&json::pretty(wanted.args.as_str()), MOST_BYTES);
    let mut lines = vec![
        format!("approval  {}", wanted.id),
        format!("tool      {}", on_one_line(&wanted.tool)),
        format!("effect    {}", wanted.effect),
        format!("waits     since {}", wanted.since),
    ];
    lines.extend(wanted.due.iter().map(|due| format!("until     {due}")));
    lines.extend(wanted.why.iter().map(|why| format!("why       {}", on_one_line(why))));
    lines.extend(wanted.session.iter().map(|session| format!("session   {}", on_one_line(session))));
    context.ui.listing(&format!("{}\n\narguments\n{arguments}\n", lines.join("\n")))?;
    let id = wanted.id;
    context.ui.say(&format!(
        "next: `refrain approvals approve {id}`, `refrain approvals reject {id}`; `refrain runs show {}` has the script and what it did",
        wanted.run_id
    ));
    Ok(Exit::Completed)
}

/// Decides about each in turn. The report is that of the last one.
async fn decide(context: &Context, ids: &[String], by: Option<String>, what: &Decided) -> Result<Exit, CommandError> {
    let by = by.or_else(|| context.variables.text("USER").ok().flatten());
    let runtime = context.runtime(Need::Sources)?;
    // A name that leads nowhere decides nothing, also about those before it.
    let mut wanted: BTreeMap<RunId, BTreeSet<u32>> = BTreeMap::new();
    for id in ids {
        for it in find_all(&runtime, id).await? {
            wanted.entry(it.run_id).or_default().insert(it.call);
        }
    }
    let mut exit = Exit::Completed;
    let mut reports: Vec<Value> = Vec::new();
    for (run, calls) in &wanted {
        let decision = |call: &u32| Decision { call: *call, what: what.clone(), by: by.clone() };
        let report = runtime.answer_all(*run, Take::IfFree, calls.iter().map(decision).collect()).await;
        let report = report.map_err(|error| held(false, error, "the same again once it is free"))?;
        if context.ui.is_json() && wanted.len() > 1 {
            reports.push(json!(report));
            exit = report::exit(&report);
        } else {
            context.started(*run);
            exit = report::print(&context.ui, &report)?;
        }
    }
    if !reports.is_empty() {
        context.ui.json(&json!({ "reports": reports }))?;
    }
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}

/// Finds the calls that wait in a run, or the one of them that is named.
async fn find_all(runtime: &Runtime, id: &str) -> Result<Vec<ApprovalView>, CommandError> {
    if id.contains('/') {
        return Ok(vec![find(runtime, id).await?]);
    }
    let run = runtime.find_run(id).await?;
    let all = runtime.approvals_of(run).await?;
    if all.is_empty() {
        let error = CommandError::failed(format!("run `{run}` waits for no approval"));
        return Err(error.with_hint("`refrain approvals list` shows those that wait"));
    }
    Ok(all)
}

/// Finds a call that waits, by `RUN/CALL`, where the run may be the start of its id.
async fn find(runtime: &Runtime, id: &str) -> Result<ApprovalView, CommandError> {
    let parts = id.rsplit_once('/').and_then(|(run, call)| Some((run, call.parse::<u32>().ok()?)));
    let Some((run, call)) = parts else {
        let error = CommandError::usage(format!("`{id}` names no approval; it is written `RUN/CALL`"));
        return Err(error.with_hint("`refrain approvals list` shows those that wait"));
    };
    let run = runtime.find_run(run).await?;
    let all = runtime.approvals_of(run).await?;
    all.into_iter().find(|it| it.call == call).ok_or_else(|| {
        let error = CommandError::failed(format!("call {call} of run `{run}` waits for no approval"));
        error.with_hint(
            "it may have been decided, or its run may still be busy; `refrain approvals list` shows those that wait",
        )
    })
}
