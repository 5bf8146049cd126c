//! `serve`.

use std::{pin::pin, sync::Arc, time::Duration};

use refrain_runtime::Tended;
use refrain_server::Relay;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// How often what was seen of results is kept. A server is more often killed than asked to go.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// Be an MCP server on standard input and output
///
/// This is what an agent starts. It offers `run_code`, `search_tools`, `describe_tools`, `run_tool`, `get_run`, `resume_run` and
/// `read_artifact`, and ends when its input does. Which calls may be made is for the rules of the policy; where none is about a call,
/// one that is destructive is asked for, or denied where the client can ask nobody.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ServeArgs {}

/// Runs `serve`.
pub(crate) async fn serve(context: &Context, _: ServeArgs) -> Result<Exit, CommandError> {
    let relay = Relay::new();
    let runtime = context.runtime_with(Need::Sources, |settings| {
        settings.environment.elicit = Some(Arc::<Relay>::clone(&relay));
    })?;
    let runtime = Arc::new(runtime);
    if runtime.settings().policy.rules.is_empty() {
        let told = "note: there are no policy rules: scripts may read and write, and what is destructive is asked for, or denied \
                    where the client can ask nobody";
        context.ui.say(told);
    }
    let mut serving = pin!(refrain_server::serve_stdio(Arc::clone(&runtime), relay));
    // What this server began before and is not over goes on, and what waits for its moment has somebody who looks.
    let told = |(run, report): Tended| match report {
        Ok(report) => context.ui.say(&format!("run {run} went on, and is {}", report.status.as_str())),
        Err(error) => context.ui.say(&format!("note: run {run} cannot go on: {error}")),
    };
    let mut tending = Box::pin(Arc::clone(&runtime).tend("mcp", told));
    let mut is_tended = true;
    let served = loop {
        tokio::select! {
            served = &mut serving => break served,
            ended = &mut tending, if is_tended => {
                is_tended = false;
                if let Err(error) = ended {
                    context.ui.say(&format!("note: runs that wait are not brought on: {error}"));
                }
            }
            () = tokio::time::sleep(KEEP_EVERY) => context.keep_observed(&runtime),
        }
    };
    drop(tending);
    context.keep_observed(&runtime);
    // A run that is under way still holds it; then its children end with us.
    if let Ok(runtime) = Arc::try_unwrap(runtime) {
        runtime.close().await;
    }
    match served {
        Ok(()) => Ok(Exit::Completed),
        Err(error) => Err(CommandError::failed(format!("the MCP server ended: {error}"))),
    }
}
