//! The built-in source `demo`: a Git repository as tools, through the `git` program.
//!
//! It exists so that there is something to try without any configuration, and it is a command source like any other.
//!
//! # What the values mean
//!
//! * Commits are those of `git log` from `HEAD`, in its order. Names and addresses are after `.mailmap`, in all three tools,
//!   so that they can be joined.
//! * Files are those of `git log --numstat --no-renames`: a rename is a file removed and a file added, a binary file has
//!   `null` for both counts, and **a merge commit has no files**: what it brings in is counted where it was committed.
//! * Paths are as Git keeps them, never quoted, tabs and line breaks included. Fields come between NUL characters, which
//!   neither a path nor a line of a commit can hold, so no name can break the output.
//! * Bytes that are no UTF-8 become U+FFFD, with a note.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    command::{CommandTool, CommandToolSettings, Output},
    settings::{CommandSettings, SourceKind, SourceSettings},
    tool::{Effect, Replay},
};

/// The name of the source.
pub const NAME: &str = "demo";

/// Returns the source, which reads the repository around `cwd`.
#[must_use]
pub fn source(cwd: PathBuf) -> SourceSettings {
    let variables = [
        // Messages in one language, no question at a terminal, no lock taken on a repository that we only read.
        ("LC_ALL", "C.UTF-8"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
    ];
    let env = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let tools = vec![list_commits(), commit_files(), list_authors()];
    SourceSettings::new(NAME, SourceKind::Command(CommandSettings { tools, env, cwd: Some(cwd) }))
}

fn list_commits() -> CommandTool {
    tool(
        "list_commits",
        "Lists commits of the Git repository in the current folder, newest first, one page at a time. \
         `author` and `email` are the same as in `list_authors`.",
        &[
            "log",
            "-z",
            "--no-show-signature",
            "--no-color",
            "--format=tformat:%H%x00%aN%x00%aE%x00%aI%x00%s",
            "--skip={offset}",
            "--max-count={limit}",
        ],
        r"(?s)(?<sha>[0-9a-f]+)\x00(?<author>[^\x00]*)\x00(?<email>[^\x00]*)\x00(?<date>[^\x00]*)\x00(?<subject>[^\x00]*)\x00",
        json!({
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100,
                "description": "How many commits at most."},
            "offset": {"type": "integer", "minimum": 0, "maximum": 1_000_000_000, "default": 0,
                "description": "How many of the newest commits to leave out first."},
        }),
        json!({
            "sha": {"type": "string"},
            "author": {"type": "string"},
            "email": {"type": "string"},
            "date": {"type": "string", "description": "When it was written, as ISO 8601 with the author's time zone."},
            "subject": {"type": "string", "description": "The first line of the message."},
        }),
    )
}

fn commit_files() -> CommandTool {
    tool(
        "commit_files",
        "Lists the files that one commit changes, with the number of lines added and deleted. \
         A merge commit changes no files; a rename is one file deleted and one added.",
        &[
            "-c",
            "log.showRoot=true",
            "log",
            "-z",
            "--no-show-signature",
            "--no-color",
            "--format=",
            "--numstat",
            "--no-renames",
            "--no-diff-merges",
            "--no-ext-diff",
            "--max-count=1",
            "{sha}",
            "--",
        ],
        r"(?s)(?<added>\d+|-)\t(?<deleted>\d+|-)\t(?<path>[^\x00]+)\x00",
        json!({
            "sha": {"type": "string", "pattern": "^[0-9a-fA-F]{4,64}$",
                "description": "The commit, in full or as the beginning of its hash."},
        }),
        json!({
            "path": {"type": "string", "description": "From the top of the repository."},
            "added": {"type": ["integer", "null"], "description": "Lines added, or null for a binary file."},
            "deleted": {"type": ["integer", "null"], "description": "Lines deleted, or null for a binary file."},
        }),
    )
}

fn list_authors() -> CommandTool {
    tool(
        "list_authors",
        "Lists everyone who wrote commits of the Git repository in the current folder, most commits first.",
        // Without a revision it would read its standard input.
        &["shortlog", "--summary", "--numbered", "--email", "HEAD", "--"],
        r"^\s*(?<commits>\d+)\t(?<name>.*?) ?<(?<email>[^<>]*)>$",
        json!({}),
        json!({
            "name": {"type": "string"},
            "email": {"type": "string"},
            "commits": {"type": "integer"},
        }),
    )
}

fn tool(name: &str, description: &str, git: &[&str], pattern: &str, input: Value, row: Value) -> CommandTool {
    let required: Vec<&String> = input
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, schema)| schema.get("default").is_none())
        .map(|(key, _)| key)
        .collect();
    let columns: Vec<&String> = row.as_object().into_iter().flatten().map(|(key, _)| key).collect();
    let settings = CommandToolSettings {
        name: name.to_owned(),
        description: description.to_owned(),
        command: std::iter::once("git").chain(git.iter().copied()).map(str::to_owned).collect(),
        input: Some(
            json!({"type": "object", "properties": input, "required": required, "additionalProperties": false}),
        ),
        output: Output {
            pattern: Some(pattern.to_owned()),
            // Records that end in NUL are looked for in the whole output; the others are lines.
            separator: if pattern.ends_with(r"\x00") { String::new() } else { "\n".to_owned() },
            ..Output::default()
        },
        output_schema: Some(json!({
            "type": "array",
            "items": {"type": "object", "properties": row, "required": columns, "additionalProperties": false},
        })),
        effect: Some(Effect::Read),
        replay: Some(Replay::Safe),
        cleanup: false,
        retry: None,
        reconcile: None,
        hints: [
            ("not a git repository", "run it inside a Git repository"),
            ("does not have any commits yet", "the repository has no commits yet"),
            ("bad revision 'HEAD'", "the repository has no commits yet"),
            ("bad revision", "the repository has no such commit"),
            ("unknown revision", "the repository has no such commit"),
            ("bad object", "the repository has no such commit"),
            ("dubious ownership", "the folder belongs to another user; see `git help config` on `safe.directory`"),
        ]
        .map(|(needle, hint)| (needle.to_owned(), hint.to_owned()))
        .to_vec(),
        ..CommandToolSettings::default()
    };
    settings.check().expect("the built-in tools pass their own check")
}
