//! `runs`: what is in the journal.

use crate::{context::Context, error::CommandError, exit::Exit};

mod answer;
mod cancel;
mod export;
mod import;
mod list;
mod resume;
mod show;

pub(super) use resume::held;

/// See runs, go on with one that was stopped, answer what one waits for, cancel one, and carry one elsewhere
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum Runs {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Resume(resume::ResumeArgs),
    Answer(answer::AnswerArgs),
    Cancel(cancel::CancelArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
}

/// Runs `runs`.
pub(crate) async fn run(context: &Context, runs: Runs) -> Result<Exit, CommandError> {
    match runs {
        Runs::List(args) => list::list(context, args).await,
        Runs::Show(args) => show::show(context, args).await,
        Runs::Resume(args) => resume::resume(context, args).await,
        Runs::Answer(args) => answer::answer(context, args).await,
        Runs::Cancel(args) => cancel::cancel(context, args).await,
        Runs::Export(args) => export::export(context, args).await,
        Runs::Import(args) => import::import(context, args).await,
    }
}
