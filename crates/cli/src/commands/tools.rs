//! `tools`: what scripts can call.

use refrain_runtime::{Catalog, SourceStatus, Status, Tool, ToolListing, Unresolved, date::utc};
use serde_json::{Value, json};

use crate::{
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{nearest, visible::shell_word},
    ui::Ui,
};

mod call;
mod list;
mod named;
mod search;
mod show;

/// See and call tools
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum Tools {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Search(search::SearchArgs),
    Call(call::CallArgs),
}

/// Runs `tools`.
pub(crate) async fn run(context: &Context, tools: Tools) -> Result<Exit, CommandError> {
    match tools {
        Tools::List(args) => list::list(context, args).await,
        Tools::Show(args) => show::show(context, args).await,
        Tools::Search(args) => search::search(context, args).await,
        Tools::Call(args) => call::call(context, args).await,
    }
}

/// Leaves those of `sources` that `path` names, so that no other has to be connected.
pub(crate) use named::keep as keep_named;

/// Says which sources are not well, since when and why.
pub(crate) fn tell_troubles(ui: &Ui, catalog: &Catalog) {
    for source in catalog.sources().iter().filter(|source| is_unwell(source)) {
        tell_trouble(ui, source);
    }
}

fn is_unwell(source: &SourceStatus) -> bool {
    match source.status {
        Status::Ready => false,
        Status::Connecting | Status::Degraded | Status::Failed => true,
    }
}

fn tell_trouble(ui: &Ui, source: &SourceStatus) {
    let reason = source.reason.as_deref().unwrap_or("no reason is known");
    let since = match source.status {
        Status::Connecting => format!(" since {}", utc(source.since_ms)),
        Status::Ready | Status::Degraded | Status::Failed => String::new(),
    };
    ui.say(&format!("note: source `{}` is {}{since}: {reason}", source.name, source.status.as_str()));
}

/// Returns a listing as JSON.
fn listing_json(listing: &ToolListing) -> Value {
    json!({ "tools": listing.tools, "sources": listing.sources.iter().map(source_json).collect::<Vec<_>>() })
}

/// Returns a source as JSON. `since` is a moment in UTC.
pub(crate) fn source_json(source: &SourceStatus) -> Value {
    let mut value = json!({
        "name": source.name,
        "type": source.r#type,
        "status": source.status.as_str(),
        "since": utc(source.since_ms),
        "tools": source.tools,
    });
    if let Some(reason) = &source.reason {
        value["reason"] = reason.as_str().into();
    }
    value
}

/// Finds the tool that was asked for; an error names the nearest.
pub(crate) fn find<'a>(catalog: &'a Catalog, path: &str) -> Result<&'a Tool, CommandError> {
    catalog.find(path).map_err(|error| unresolved(catalog, path, &error))
}

fn unresolved(catalog: &Catalog, path: &str, unresolved: &Unresolved) -> CommandError {
    let error = CommandError::failed(unresolved.to_string());
    if let Unresolved::SourceDown { .. } = unresolved {
        return error.with_hint("`refrain doctor` checks every source");
    }
    let paths: Vec<String> = catalog.tools().iter().map(Tool::path).collect();
    match nearest(path, paths.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("`refrain tools show {}`", shell_word(near))),
        None => error.with_hint("`refrain tools list` shows every tool"),
    }
}
