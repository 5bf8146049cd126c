//! `tools list`.

use refrain_runtime::{ToolListing, ToolView};

use crate::{
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{one_line, table},
};

/// List every tool of every source
///
/// A source that is down is told with its reason and hides no other.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ListArgs {}

/// Runs `tools list`.
pub(crate) async fn list(context: &Context, _: ListArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let catalog = context.catalog(&runtime).await;
    let listing = ToolListing::in_dialect(&catalog, runtime.settings().dialect);
    if context.ui.is_json() {
        context.ui.json(&super::listing_json(&listing))?;
    } else {
        super::tell_troubles(&context.ui, &catalog);
        if listing.tools.is_empty() {
            context.ui.say("there are no tools");
        } else {
            context.ui.listing(&lines(&listing.tools))?;
        }
    }
    runtime.close().await;
    Ok(Exit::Completed)
}

fn lines(tools: &[ToolView]) -> String {
    let row = |tool: &ToolView| {
        vec![tool.call.clone(), tool.effect.to_owned(), tool.replay.to_owned(), one_line(&tool.description, 70)]
    };
    table::aligned(&tools.iter().map(row).collect::<Vec<_>>())
}
