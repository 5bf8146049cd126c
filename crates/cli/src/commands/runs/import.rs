//! `runs import`.

use std::{io::Read as _, path::PathBuf};

use refrain_runtime::{JournalError, RuntimeError};
use serde_json::json;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// Take in a run that `refrain runs export` wrote
///
/// Everything is checked before anything is stored. The run can then be looked at, and goes on with `refrain runs resume` over the tools
/// that are configured here. Values of its session's store do not come with it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ImportArgs {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Runs `runs import`.
pub(crate) async fn import(context: &Context, args: ImportArgs) -> Result<Exit, CommandError> {
    let mut file = Vec::new();
    let read = match args.file.to_str() {
        Some("-") => std::io::stdin().read_to_end(&mut file).map(drop),
        _ => std::fs::read(context.folder.join(&args.file)).map(|bytes| file = bytes),
    };
    read.map_err(|error| CommandError::failed(format!("`{}` cannot be read: {error}", args.file.display())))?;
    let runtime = context.runtime(Need::NoSources)?;
    let id = runtime.import(&file).await.map_err(|error| match error {
        RuntimeError::Journal(error @ JournalError::NotExported { .. }) => {
            CommandError::failed(format!("`{}`: {error}", args.file.display()))
        }
        other => other.into(),
    })?;
    if context.ui.is_json() {
        context.ui.json(&json!({ "run_id": id }))?;
    } else {
        context.ui.data(&id.to_string())?;
        context.ui.say(&format!("next: `refrain runs show {id}`"));
    }
    Ok(Exit::Completed)
}
