//! `types`.

use std::path::PathBuf;

use serde_json::json;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// Print TypeScript declarations of everything a script can use
///
/// One file that compiles alone: `tools` with every tool of every source, and the other globals.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct TypesArgs {
    /// Write one file per source. Comes with a later release.
    #[arg(long, value_name = "DIR", hide = true)]
    out: Option<PathBuf>,

    /// Another language. Comes with a later release.
    #[arg(long, value_name = "LANGUAGE", hide = true)]
    lang: Option<String>,
}

/// Runs `types`.
pub(crate) async fn types(context: &Context, args: TypesArgs) -> Result<Exit, CommandError> {
    if args.out.is_some() {
        return Err(CommandError::usage("`--out` comes with a later release").with_hint("refrain types > tools.d.ts"));
    }
    if args.lang.as_deref().is_some_and(|lang| lang != "typescript") {
        return Err(CommandError::usage("other languages come with a later release; leave `--lang` out"));
    }
    let runtime = context.runtime(Need::Sources)?;
    let catalog = runtime.catalog().await;
    super::tools::tell_troubles(&context.ui, &catalog);
    let declarations = catalog.declarations();
    if context.ui.is_json() {
        context.ui.json(&json!({ "types": declarations }))?;
    } else {
        context.ui.data(&declarations)?;
    }
    runtime.close().await;
    Ok(Exit::Completed)
}
