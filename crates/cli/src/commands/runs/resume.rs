//! `runs resume`.

use refrain_runtime::{JournalError, OnDivergence, ReportStatus, Runtime, RuntimeError, Take};
use serde_json::json;

use crate::{commands::report, config::Need, context::Context, error::CommandError, exit::Exit};

/// Go on with a run that was stopped, or with all of them
///
/// Finished calls are answered from the journal. A call that was in flight runs again if its tool is safe to repeat;
/// otherwise the script gets an error with the code `interrupted`. A run that is over answers with its report.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ResumeArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    run: Option<String>,

    /// Every run that nobody drives and that can go on: its process died, or the moment has come for which it waits
    #[arg(long)]
    all: bool,

    /// Take the run from an owner that is alive but stuck; what it still writes is refused
    #[arg(long, conflicts_with = "all")]
    take: bool,

    /// What to do if the script does not do what its journal says, in place of the settings' `runs.on_divergence`
    #[arg(long, value_name = "park|fail")]
    on_divergence: Option<Divergence>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Divergence {
    Park,
    Fail,
}

/// Runs `runs resume`.
pub(crate) async fn resume(context: &Context, args: ResumeArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime_with(Need::Sources, |settings| match args.on_divergence {
        Some(Divergence::Park) => settings.on_divergence = OnDivergence::Park,
        Some(Divergence::Fail) => settings.on_divergence = OnDivergence::Fail,
        None => {}
    })?;
    let Some(run) = args.run else { return all(context, runtime).await };
    let id = runtime.find_run(&run).await?;
    context.started(id);
    let take = if args.take { Take::ByForce } else { Take::IfFree };
    let report = match runtime.resume(id, take).await {
        Ok(report) => report,
        Err(error) => {
            return Err(held(args.take, error, &format!("refrain runs resume {id} --take")));
        }
    };
    let exit = report::print(&context.ui, &report)?;
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}

/// Goes on with every run that can, one after the other. What keeps one from going on is told, and keeps no other.
async fn all(context: &Context, runtime: Runtime) -> Result<Exit, CommandError> {
    let mut exit = Exit::Completed;
    let mut reports = Vec::new();
    for id in runtime.resumable().await? {
        let (status, row) = match runtime.resume(id, Take::IfFree).await {
            // Somebody else was faster.
            Err(RuntimeError::Journal(JournalError::Held { .. } | JournalError::Over { .. })) => continue,
            Ok(report) => (report.status, json!({ "run_id": id, "status": report.status, "error": report.error })),
            Err(error) => {
                let error = CommandError::from(error);
                (ReportStatus::Failed, json!({ "run_id": id, "status": "stopped", "error": error.json(None)["error"] }))
            }
        };
        exit = match (exit, status) {
            (Exit::Failed, _) | (_, ReportStatus::Failed | ReportStatus::Cancelled) => Exit::Failed,
            (Exit::Parked, _) | (_, ReportStatus::Parked) => Exit::Parked,
            (exit, ReportStatus::Completed) => exit,
        };
        let why = row["error"]["message"].as_str().map(|why| format!(": {why}")).unwrap_or_default();
        context.ui.say(&format!("run {id} {}{why}", row["status"].as_str().unwrap_or_default()));
        reports.push(row);
    }
    if context.ui.is_json() {
        context.ui.json(&json!({ "runs": reports }))?;
    } else if reports.is_empty() {
        context.ui.say("there is no run to go on with");
    }
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}

/// The error, with the command that takes the run from an owner that is alive.
pub(in crate::commands) fn held(is_taken: bool, error: RuntimeError, taking: &str) -> CommandError {
    match error {
        RuntimeError::Journal(JournalError::Held { .. } | JournalError::Conflict { .. }) if !is_taken => {
            CommandError::failed(error.to_string()).with_hint(format!("if its owner is stuck: `{taking}`"))
        }
        error => error.into(),
    }
}
