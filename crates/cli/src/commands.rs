//! The commands, one module each.

use std::sync::Arc;

use crate::{context::Context, error::CommandError, exit::Exit};

mod amend;
mod approvals;
mod config;
mod doctor;
mod policy;
mod report;
mod run;
mod runs;
mod serve;
mod sources;
mod tools;
mod types;

/// What to do.
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum Command {
    Run(run::RunArgs),
    Amend(amend::AmendArgs),
    Serve(serve::ServeArgs),
    #[command(subcommand)]
    Tools(tools::Tools),
    Types(types::TypesArgs),
    #[command(subcommand)]
    Runs(runs::Runs),
    #[command(subcommand)]
    Approvals(approvals::Approvals),
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    #[command(subcommand)]
    Sources(sources::Sources),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Doctor(doctor::DoctorArgs),
}

/// Runs a command to its end.
///
/// # Errors
///
/// [`CommandError`], which says how the program ends.
pub(crate) async fn run(context: Arc<Context>, command: Command) -> Result<Exit, CommandError> {
    let context = &*context;
    match command {
        Command::Run(args) => run::run(context, args).await,
        Command::Amend(args) => amend::amend(context, args).await,
        Command::Serve(args) => serve::serve(context, args).await,
        Command::Tools(tools) => tools::run(context, tools).await,
        Command::Types(args) => types::types(context, args).await,
        Command::Runs(runs) => runs::run(context, runs).await,
        Command::Approvals(approvals) => approvals::run(context, approvals).await,
        Command::Policy(command) => policy::run(context, command).await,
        Command::Sources(sources) => sources::run(context, sources),
        Command::Config(config) => config::run(context, config),
        Command::Doctor(args) => doctor::doctor(context, args).await,
    }
}

#[cfg(test)]
mod tests;
