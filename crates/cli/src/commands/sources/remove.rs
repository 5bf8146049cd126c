//! `sources remove`.

use serde_json::json;

use crate::{config::SettingsFile, context::Context, error::CommandError, exit::Exit};

/// Remove a source from the settings file
///
/// All of it goes, with the corrections of its tools; the rest of the file stays as it is.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RemoveArgs {
    /// The name of the source
    name: String,
}

/// Runs `sources remove`.
pub(crate) fn remove(context: &Context, args: RemoveArgs) -> Result<Exit, CommandError> {
    let file = SettingsFile::of(&context.places, &context.folder);
    file.remove(&args.name)?;
    let shown = file.shown();
    if context.ui.is_json() {
        context.ui.json(&json!({ "removed": args.name, "file": shown }))?;
    } else {
        context.ui.say(&format!("removed `{}` from `{shown}`", args.name));
    }
    Ok(Exit::Completed)
}
