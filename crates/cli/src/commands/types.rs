//! `types`.

use std::path::PathBuf;

use serde_json::json;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

mod folder;

/// Print TypeScript declarations of everything a script can use
///
/// One file that compiles alone: `tools` with every tool of every source, and the other globals.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct TypesArgs {
    /// Write one file per source into a folder, and one with the other globals
    ///
    /// Files of sources that are gone are removed; files that something else wrote are left alone.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Another language. Comes with a later release.
    #[arg(long, value_name = "LANGUAGE", hide = true)]
    lang: Option<String>,
}

/// Runs `types`.
pub(crate) async fn types(context: &Context, args: TypesArgs) -> Result<Exit, CommandError> {
    if args.lang.as_deref().is_some_and(|lang| lang != "typescript") {
        return Err(CommandError::usage("other languages come with a later release; leave `--lang` out"));
    }
    let runtime = context.runtime(Need::Sources)?;
    let catalog = context.catalog(&runtime).await;
    super::tools::tell_troubles(&context.ui, &catalog);
    if let Some(dialect) = runtime.settings().dialect.filter(|dialect| dialect.name != "refrain") {
        let told = format!("note: these are Refrain's own names; scripts of `script.dialect` `{}` have", dialect.name);
        context.ui.say(&format!("{told} others, which `refrain tools list` shows"));
    }
    match args.out {
        Some(out) => {
            let written = folder::write(&context.folder.join(&out), &catalog.declaration_files())?;
            if context.ui.is_json() {
                context.ui.json(&written)?;
            } else {
                context.ui.listing(&written.files.iter().map(|file| format!("{file}\n")).collect::<String>())?;
                for file in &written.removed {
                    context.ui.say(&format!("note: `{file}` is removed: its source is gone"));
                }
            }
        }
        None if context.ui.is_json() => context.ui.json(&json!({ "types": catalog.declarations() }))?,
        None => context.ui.data(&catalog.declarations())?,
    }
    runtime.close().await;
    Ok(Exit::Completed)
}
