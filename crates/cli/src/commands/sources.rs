//! `sources`: what is in the settings file.

use crate::{context::Context, error::CommandError, exit::Exit};

mod add;
mod remove;

/// Add and remove sources in the settings file
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum Sources {
    Add(add::AddArgs),
    Remove(remove::RemoveArgs),
}

/// Runs `sources`.
pub(crate) fn run(context: &Context, sources: Sources) -> Result<Exit, CommandError> {
    match sources {
        Sources::Add(args) => add::add(context, args),
        Sources::Remove(args) => remove::remove(context, args),
    }
}
