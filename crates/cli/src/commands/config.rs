//! `config`.

use serde_json::{Value, json};

use crate::{
    config::{Need, Row},
    context::Context,
    error::CommandError,
    exit::Exit,
    text::table,
};

/// Look at the settings
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum ConfigCommand {
    /// Print each setting with its value and where that comes from
    ///
    /// A secret is shown as the reference that leads to it, and never read here. The value of a variable that stands in
    /// the settings themselves is shown as `***`.
    Show,
}

/// Runs `config`.
pub(crate) fn run(context: &Context, command: ConfigCommand) -> Result<Exit, CommandError> {
    let ConfigCommand::Show = command;
    let config = context.config(Need::NoSources)?;
    if context.ui.is_json() {
        context.ui.json(&json!({ "settings": config.rows, "next_cursor": null }))?;
    } else {
        context.ui.listing(&lines(&config.rows))?;
    }
    Ok(Exit::Completed)
}

fn lines(rows: &[Row]) -> String {
    let shown = |value: &Value| match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| vec![row.key.clone(), row.origin.clone(), shown(&row.value)]).collect();
    table::aligned(&rows)
}
