//! `[sources.NAME.tools.TOOL]`: a tool over a program, or a correction to tools by glob.
//!
//! In a source of type `command`, a table with a `command` makes a tool. Every other table corrects what matches its name.

use std::time::Duration;

use refrain_runtime::{
    CommandTool, CommandToolSettings, Effect, Glob, Output, OutputFormat, Replay, Retry, ToolOverride,
};

use super::{MOST_MS, document::Table, policy, source::from_folder};

const OVERRIDE: &[&str] =
    &["effect", "replay", "output_schema", "timeout_ms", "cleanup", "retry", "reconcile", "approval"];
const TOOL: &[&str] = &[
    "description",
    "command",
    "input",
    "output",
    "output_schema",
    "effect",
    "replay",
    "timeout_ms",
    "cleanup",
    "retry",
    "reconcile",
    "approval",
    "stdin",
];
/// Keys of releases to come.
const LATER: &[&str] = &["slice_ms", "undo"];
const RETRY: &[&str] = &["attempts", "backoff_ms"];
/// The longest pause before the first repetition: an hour.
const MOST_BACKOFF_MS: u64 = 60 * 60 * 1000;
const OUTPUT: &[&str] = &["format", "pattern", "separator"];

/// Reads the tools of a source of type `command`.
pub(crate) fn read_all(source: &Table<'_>) -> Vec<CommandTool> {
    source.tables("tools").iter().filter(|table| table.has("command")).filter_map(tool).collect()
}

/// Reads the corrections. Where tools are made here too, those tables are left out.
pub(crate) fn overrides(source: &Table<'_>, makes_tools: bool) -> Vec<(Glob, ToolOverride)> {
    let tables = source.tables("tools");
    tables.iter().filter(|table| !(makes_tools && table.has("command"))).map(correction).collect()
}

fn correction(table: &Table<'_>) -> (Glob, ToolOverride) {
    table.known(OVERRIDE, LATER);
    let correction = ToolOverride {
        effect: effect(table),
        replay: replay(table),
        output_schema: table.json("output_schema"),
        timeout: timeout(table),
        cleanup: table.flag("cleanup"),
        retry: retry(table),
        reconcile: table.text("reconcile"),
        approval: policy::permission(table, "approval"),
    };
    (Glob::new(table.name()), correction)
}

fn tool(table: &Table<'_>) -> Option<CommandTool> {
    table.known(TOOL, LATER);
    let mut command = table.texts("command")?;
    if let Some(program) = command.first_mut() {
        *program = from_folder(program, table.folder());
    }
    let settings = CommandToolSettings {
        name: table.name().to_owned(),
        description: table.text("description").unwrap_or_default(),
        command,
        input: table.json("input"),
        output: output(table),
        output_schema: table.json("output_schema"),
        effect: effect(table),
        replay: replay(table),
        timeout: timeout(table),
        cleanup: table.flag("cleanup").unwrap_or_default(),
        retry: retry(table),
        reconcile: table.text("reconcile"),
        approval: policy::permission(table, "approval"),
        stdin: table.text("stdin"),
        hints: Vec::new(),
    };
    match settings.check() {
        Ok(tool) => Some(tool),
        Err(faults) => {
            for fault in faults {
                // Keys of a fault may go deeper than one table; its line is that of the first part.
                let (first, rest) = fault.key.split_once('.').unwrap_or((&fault.key, ""));
                let message = if rest.is_empty() { fault.message } else { format!("(`{rest}`) {}", fault.message) };
                table.fault(first, message);
            }
            None
        }
    }
}

fn output(table: &Table<'_>) -> Output {
    let mut output = Output::default();
    let Some(table) = table.table("output") else { return output };
    table.known(OUTPUT, &[]);
    let formats = [
        ("text", OutputFormat::Text),
        ("json", OutputFormat::Json),
        ("jsonl", OutputFormat::Jsonl),
        ("lines", OutputFormat::Lines),
    ];
    output.format = table.choice("format", &formats).unwrap_or(output.format);
    output.pattern = table.text("pattern");
    output.separator = table.text("separator").unwrap_or(output.separator);
    output
}

fn effect(table: &Table<'_>) -> Option<Effect> {
    table.choice("effect", &[("read", Effect::Read), ("write", Effect::Write), ("destructive", Effect::Destructive)])
}

fn replay(table: &Table<'_>) -> Option<Replay> {
    table.choice("replay", &[("safe", Replay::Safe), ("keyed", Replay::Keyed), ("unsafe", Replay::Unsafe)])
}

fn retry(table: &Table<'_>) -> Option<Retry> {
    let table = table.table("retry")?;
    table.known(RETRY, &[]);
    let attempts = table.whole("attempts", 1..=20).unwrap_or(3);
    let backoff_ms = table.whole("backoff_ms", 0..=MOST_BACKOFF_MS).unwrap_or(500);
    Some(Retry { attempts: u32::try_from(attempts).unwrap_or(u32::MAX), backoff_ms })
}

fn timeout(table: &Table<'_>) -> Option<Duration> {
    table.whole("timeout_ms", 1..=MOST_MS).map(Duration::from_millis)
}
