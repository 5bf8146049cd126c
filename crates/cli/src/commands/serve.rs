//! `serve`.

use std::{pin::pin, sync::Arc, time::Duration};

use refrain_server::Relay;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// How often what was seen of results is kept. A server is more often killed than asked to go.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// Be an MCP server on standard input and output
///
/// This is what an agent starts. It offers `run_code`, `search_tools` and `describe_tools`, and ends when its input does.
/// There are no rules yet on who may call what: everything that a script asks for is allowed.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ServeArgs {}

/// Runs `serve`.
pub(crate) async fn serve(context: &Context, _: ServeArgs) -> Result<Exit, CommandError> {
    let relay = Relay::new();
    let runtime = context.runtime_with(Need::Sources, |settings| {
        settings.environment.elicit = Some(Arc::<Relay>::clone(&relay));
    })?;
    let runtime = Arc::new(runtime);
    context.ui.say("note: there are no policy rules, so everything that a script asks for is allowed");
    let mut serving = pin!(refrain_server::serve_stdio(Arc::clone(&runtime), relay));
    let served = loop {
        tokio::select! {
            served = &mut serving => break served,
            () = tokio::time::sleep(KEEP_EVERY) => context.keep_observed(&runtime),
        }
    };
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
