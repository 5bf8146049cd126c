//! `runs list`.

use refrain_runtime::{RunState, RunView, date::utc};

use crate::{
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{one_line, table},
};

/// List runs, the newest first
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ListArgs {
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,

    /// Where to go on, as the page before said
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Runs `runs list`.
pub(crate) async fn list(context: &Context, args: ListArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::NoSources)?;
    let listing = runtime.runs(args.limit.into(), args.cursor).await?;
    if context.ui.is_json() {
        context.ui.json(&listing)?;
        return Ok(Exit::Completed);
    }
    if listing.runs.is_empty() {
        context.ui.say("there are no runs");
    } else {
        context.ui.listing(&lines(&listing.runs))?;
    }
    if let Some(cursor) = &listing.next_cursor {
        context.ui.say(&format!("more: `refrain runs list --limit {} --cursor {cursor}`", args.limit));
    }
    Ok(Exit::Completed)
}

fn lines(runs: &[RunView]) -> String {
    let row = |run: &RunView| {
        vec![run.run_id.to_string(), standing(run).to_owned(), utc(run.started_ms), one_line(&run.title, 60)]
    };
    table::aligned(&runs.iter().map(row).collect::<Vec<_>>())
}

/// How a run stands, in a word.
pub(super) fn standing(run: &RunView) -> &'static str {
    match (run.status, &run.owner) {
        (RunState::Queued, _) => "queued",
        (RunState::Running, Some(_)) => "running",
        // Its process died, and it can be resumed.
        (RunState::Running, None) => "stopped",
        (RunState::Parked, _) => "parked",
        (RunState::Completed, _) => "completed",
        (RunState::Failed, _) => "failed",
        (RunState::Cancelled, _) => "cancelled",
    }
}
