//! The command line as a whole, and what all commands share.

use std::path::PathBuf;

use crate::{commands::Command, ui::Format};

/// Run scripts over tools, and go on where they were after a crash
///
/// A script is JavaScript or TypeScript with the tools of your sources in it. Every call it makes is kept in a journal,
/// so that a run that was stopped goes on without making a finished call again.
///
/// Exit codes: 0 completed, 1 failed, 2 wrong usage or settings, 3 parked, 70 a bug of ours, 130 stopped by Ctrl-C.
#[derive(clap::Parser, Debug)]
#[command(name = "refrain", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// How to print: text for a person, or one JSON object on stdout whatever happens
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true,
        display_order = 900
    )]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) places: Places,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where settings come from.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Settings")]
pub(crate) struct Places {
    /// The settings file, in place of the `refrain.toml` in this folder or one above
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// A file with `mcpServers`, as agents have; may be given more than once
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,

    /// The journal, as `sqlite:PATH` or `memory:`
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) journal: Option<String>,
}
