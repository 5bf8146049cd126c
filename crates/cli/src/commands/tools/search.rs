//! `tools search`.

use refrain_runtime::Query;
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

    /// Only tools of this source
    #[arg(long, value_name = "SOURCE")]
    namespace: Option<String>,

    /// Go on where a page before ended: its `next_cursor`
    #[arg(long, value_name = "CURSOR", default_value_t = 0, hide_default_value = true)]
    cursor: usize,
}

/// Runs `tools search`.
pub(crate) async fn search(context: &Context, args: SearchArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let catalog = context.catalog(&runtime).await;
    super::tell_troubles(&context.ui, &catalog);
    let words = args.words.join(" ");
    let query =
        Query { words: &words, limit: args.limit.into(), skip: args.cursor, namespace: args.namespace.as_deref() };
    let mut found = catalog.find_tools(&query);
    // As the scripts of these settings call them.
    for hit in &mut found.hits {
        if let Ok(tool) = catalog.resolve(&hit.source, &hit.name) {
            hit.call = catalog.call_in(tool, runtime.settings().dialect);
            hit.signature = catalog.signature_in(tool, runtime.settings().dialect);
        }
    }
    if let Some(note) = found.note() {
        context.ui.say(&format!("note: {note}"));
    }
    let next = found.next(&query).map(|next| next.to_string());
    if context.ui.is_json() {
        context.ui.json(&json!({
            "tools": found.hits,
            "unmatched": found.unmatched,
            "next_cursor": next,
            "sources": catalog.sources().iter().map(super::source_json).collect::<Vec<_>>(),
        }))?;
    } else if found.hits.is_empty() {
        context.ui.say("`refrain tools list` shows every tool");
    } else {
        let lines = found.hits.iter().map(|hit| format!("{}\n    {}\n", hit.signature, hit.summary));
        context.ui.listing(&lines.collect::<String>())?;
        if let Some(next) = next {
            context.ui.say(&format!("{} of {}; more with `--cursor {next}`", found.hits.len(), found.total));
        }
    }
    runtime.close().await;
    Ok(Exit::Completed)
}
