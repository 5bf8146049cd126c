//! `tools search`.

use serde_json::json;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// Find tools by words
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct SearchArgs {
    /// What the tool should do
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,

    /// How many tools at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    limit: u16,
}

/// Runs `tools search`.
pub(crate) async fn search(context: &Context, args: SearchArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let catalog = runtime.catalog().await;
    super::tell_troubles(&context.ui, &catalog);
    let hits = catalog.search(&args.words.join(" "), args.limit.into());
    if context.ui.is_json() {
        context.ui.json(&json!({ "tools": hits, "next_cursor": null }))?;
    } else if hits.is_empty() {
        context.ui.say("no tool fits; `refrain tools list` shows every tool");
    } else {
        let lines = hits.iter().map(|hit| format!("{}\n    {}\n", hit.signature, hit.summary));
        context.ui.data(&lines.collect::<String>())?;
    }
    runtime.close().await;
    Ok(Exit::Completed)
}
