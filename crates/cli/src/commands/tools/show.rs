//! `tools show`.

use std::fmt::Write as _;

use refrain_runtime::{Tool, ToolView};

use crate::{config::Need, context::Context, error::CommandError, exit::Exit, text::json};

/// Show one tool: what it does, takes and gives
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ShowArgs {
    /// The tool, as `source.name` or by its name alone where only one source has it
    #[arg(value_name = "PATH")]
    path: String,
}

/// Runs `tools show`.
pub(crate) async fn show(context: &Context, args: ShowArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let catalog = runtime.catalog().await;
    let tool = super::find(&catalog, &args.path)?;
    if context.ui.is_json() {
        context.ui.json(&ToolView::of(tool))?;
    } else {
        context.ui.data(&lines(tool))?;
    }
    runtime.close().await;
    Ok(Exit::Completed)
}

fn lines(tool: &Tool) -> String {
    let mut text = format!("{}\n", tool.path());
    if !tool.description.is_empty() {
        let _ = writeln!(text, "\n{}\n", tool.description.trim());
    }
    let _ = writeln!(text, "call    {}", tool.signature());
    let _ = writeln!(text, "effect  {}", tool.effect.as_str());
    let _ = writeln!(text, "replay  {}", tool.replay.as_str());
    for note in &tool.notes {
        let _ = writeln!(text, "note    {note}");
    }
    let _ = writeln!(text, "\ninput schema\n{}", json::pretty(&tool.input_schema.to_string()));
    let output = match &tool.output_schema {
        Some(schema) => format!("output schema\n{}", json::pretty(&schema.to_string())),
        None => "no output schema is declared".to_owned(),
    };
    let _ = writeln!(text, "\n{output}");
    text
}
