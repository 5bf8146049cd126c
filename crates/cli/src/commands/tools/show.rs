//! `tools show`.

use std::fmt::Write as _;

use refrain_runtime::{Description, NO_APPROVAL, Retry, ToolView, Unresolved};
use serde_json::{Value, json};

use super::named;
use crate::{
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{cut::bounded, json, visible::on_one_line},
};

/// As much of a description or a schema is shown. JSON has all of it.
const MOST_BYTES: usize = 8 << 10;

/// Show tools: what they do, take and give
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ShowArgs {
    /// The tool, as `source.name` or by its name alone where only one source has it; or a pattern, such as `github.*`
    #[arg(value_name = "PATH|GLOB")]
    path: String,
}

/// Runs `tools show`.
pub(crate) async fn show(context: &Context, args: ShowArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime_with(Need::Sources, |settings| {
        // Where tools have no source before them, what one is called depends on all.
        if !settings.dialect.is_some_and(|dialect| dialect.flat) {
            named::keep(&mut settings.sources, &args.path);
        }
    })?;
    let dialect = runtime.settings().dialect;
    let catalog = context.catalog(&runtime).await;
    let is_pattern = args.path.contains(['*', '?']) && catalog.find(&args.path).is_err();
    let mut shown = Vec::new();
    if is_pattern {
        for one in catalog.select([args.path.as_str()]) {
            match one.found {
                Ok(tool) => shown.push(catalog.description_of(tool, dialect)),
                // More than are shown.
                Err(error) if !shown.is_empty() => context.ui.say(&format!("note: {error}")),
                // A source that is down has no tools that a pattern could fit.
                Err(error) => {
                    if let Err(down @ Unresolved::SourceDown { .. }) = catalog.find(&args.path) {
                        return Err(super::unresolved(&catalog, &args.path, &down));
                    }
                    super::tell_troubles(&context.ui, &catalog);
                    let error = CommandError::failed(error.to_string());
                    return Err(error.with_hint("`refrain tools list` shows every tool"));
                }
            }
        }
        super::tell_troubles(&context.ui, &catalog);
    } else {
        let tool = super::find(&catalog, &args.path)?;
        let source = catalog.sources().iter().find(|source| source.name == tool.source);
        if let Some(source) = source.filter(|source| super::is_unwell(source)) {
            super::tell_trouble(&context.ui, source);
        }
        shown.push(catalog.description_of(tool, dialect));
    }
    if !context.ui.is_json() {
        context.ui.listing(&shown.iter().map(lines).collect::<Vec<_>>().join("\n"))?;
    } else if is_pattern {
        context.ui.json(&json!({ "tools": shown.iter().map(object).collect::<Vec<_>>(), "next_cursor": null }))?;
    } else {
        context.ui.json(&shown.first().map(object))?;
    }
    runtime.close().await;
    Ok(Exit::Completed)
}

/// What a listing has of a tool, and more.
fn object(shown: &Description) -> Value {
    let mut object = json!(ToolView::of(&shown.tool));
    object["call"] = shown.call.as_str().into();
    object["signature"] = shown.signature.as_str().into();
    object["input"] = shown.input.as_str().into();
    object["output"] = shown.output.as_str().into();
    object["approval"] = NO_APPROVAL.into();
    object["retry"] = json!(shown.tool.retry);
    object["reconcile"] = json!(shown.tool.reconcile);
    object["example"] = json!(shown.example);
    object["notes"] = notes(shown).collect::<Vec<_>>().into();
    object["observed"] = json!(shown.tool.observed);
    object
}

fn lines(shown: &Description) -> String {
    let tool = &shown.tool;
    let mut text = format!("{}\n", on_one_line(&shown.path));
    if !tool.description.is_empty() {
        let _ = writeln!(text, "\n{}\n", bounded(tool.description.trim(), MOST_BYTES));
    }
    let _ = writeln!(text, "call      {}", shown.call);
    let _ = writeln!(text, "input     {}", shown.input);
    let _ = writeln!(text, "output    {}", shown.output);
    let _ = writeln!(text, "effect    {}", tool.effect.as_str());
    let _ = writeln!(text, "replay    {}", tool.replay.as_str());
    if let Some(Retry { attempts, backoff_ms }) = tool.retry {
        let _ = writeln!(text, "retry     {attempts} attempts, {backoff_ms} ms apart and twice as long each time");
    }
    if let Some(probe) = &tool.reconcile {
        let _ = writeln!(text, "reconcile {probe} tells what became of a call");
    }
    let _ = writeln!(text, "approval  {NO_APPROVAL}");
    if let Some(example) = &shown.example {
        let _ = writeln!(text, "example   {example}");
    }
    for note in notes(shown) {
        let _ = writeln!(text, "note      {note}");
    }
    let _ = writeln!(text, "\ninput schema\n{}", schema(&tool.input_schema));
    let output = match (&tool.output_schema, &tool.observed) {
        (Some(schema), _) => format!("output schema\n{}", self::schema(schema)),
        (None, Some(observed)) => format!(
            "no output schema is declared; this was observed in {} {}\n{}",
            observed.calls,
            if observed.calls == 1 { "result" } else { "results" },
            schema(&observed.schema)
        ),
        (None, None) => "no output schema is declared".to_owned(),
    };
    let _ = writeln!(text, "\n{output}");
    text
}

fn schema(schema: &Value) -> String {
    bounded(&json::pretty(&schema.to_string()), MOST_BYTES)
}

/// What a person should know about the tool and its settings.
fn notes(shown: &Description) -> impl Iterator<Item = &str> {
    shown.tool.notes.iter().chain(&shown.vain).map(String::as_str)
}
