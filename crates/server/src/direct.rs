//! Tools of sources that are offered by themselves, beside `run_code` or in its place.
//!
//! A call of one is a run of its own, as by `run_tool`: judged, journaled and reported like any other. What comes back has the shape
//! that the tool's own server gives it.

use std::collections::HashSet;

use refrain_runtime::{Catalog, Effect, Expose, Json, Report, ReportStatus, SourceSettings, Tool};
use rmcp::model::{CallToolResult, ContentBlock, Tool as Offered, ToolAnnotations};
use serde_json::Value;

use crate::{
    cut::Budget,
    images, render,
    tools::{self, object},
};

/// Longer names are refused by clients.
const MOST_NAME: usize = 64;
/// Bytes of a description.
const MOST_DESCRIPTION: usize = 4 << 10;

/// The tools that are offered by themselves, each with the name that a client calls it by. `room` gives what the entry of
/// `run_code` takes, where it is asked: a source that says `auto` is offered where all such sources together take no more than that.
pub(crate) fn offered<'a>(
    catalog: &'a Catalog,
    sources: &[SourceSettings],
    room: impl FnOnce() -> usize,
) -> Vec<(String, &'a Tool)> {
    let expose = |name: &str| sources.iter().find(|source| source.name == name).map_or(Expose::Code, |it| it.expose);
    let takes = |tool: &Tool| tool.description.len() + tool.input_schema.to_string().len();
    let auto = catalog.tools().iter().filter(|tool| expose(&tool.source) == Expose::Auto).map(takes).sum::<usize>();
    let are_few = auto > 0 && auto <= room();
    let mut taken: HashSet<String> = tools::NAMES.iter().map(|name| (*name).to_owned()).collect();
    let is_offered = |tool: &&Tool| match expose(&tool.source) {
        Expose::Direct | Expose::Both => true,
        Expose::Auto => are_few,
        Expose::Code => false,
    };
    let named = |tool: &'a Tool| (name(catalog, tool, &mut taken), tool);
    catalog.tools().iter().filter(is_offered).map(named).collect()
}

/// `source__tool`, in letters that every client takes, and of no other tool.
fn name(catalog: &Catalog, tool: &Tool, taken: &mut HashSet<String>) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
    };
    let whole = format!("{}__{}", plain(catalog.source_ident(&tool.source)), plain(&tool.ident));
    let mut number = 1;
    loop {
        let end = if number == 1 { String::new() } else { format!("_{number}") };
        let name = format!("{}{end}", &whole[..whole.len().min(MOST_NAME - end.len())]);
        if taken.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
}

/// A tool as it is listed.
pub(crate) fn entry(name: &str, tool: &Tool) -> Offered {
    let description = &tool.description[..tool.description.floor_char_boundary(MOST_DESCRIPTION)];
    let reads = tool.effect == Effect::Read;
    let annotations =
        ToolAnnotations::new().read_only(reads).destructive(tool.effect == Effect::Destructive).open_world(true);
    let input = match Value::clone(&tool.input_schema) {
        Value::Object(map) if map.get("type").and_then(Value::as_str) == Some("object") => Value::Object(map),
        // Clients refuse any other.
        _ => serde_json::json!({"type": "object"}),
    };
    let offered = Offered::new(name.to_owned(), description.to_owned(), object(input)).with_annotations(annotations);
    match tool.output_schema.as_deref() {
        Some(schema) if is_object(schema) => offered.with_raw_output_schema(object(schema.clone())),
        _ => offered,
    }
}

fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// What came of a call of one.
pub(crate) fn answer(tool: &Tool, mut report: Report, budget: Budget) -> CallToolResult {
    let blocks = images::take(&mut report);
    if report.status != ReportStatus::Completed {
        let mut result = CallToolResult::error(vec![ContentBlock::text(render::text(&report, budget))]);
        result.is_error = Some(report.status != ReportStatus::Parked);
        return result;
    }
    let value: Value = report.result.as_ref().and_then(|json: &Json| json.parse().ok()).unwrap_or_default();
    let text = value.as_str().map_or_else(|| render::text(&report, budget), str::to_owned);
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.content.extend(blocks);
    // A client that checks takes structured content for what the schema says.
    if tool.output_schema.as_deref().is_some_and(is_object) && value.is_object() {
        result.structured_content = Some(value);
    }
    result
}
