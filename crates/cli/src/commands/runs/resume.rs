//! `runs resume`.

use refrain_runtime::{RunId, Runtime, RuntimeError, Take};

use crate::{commands::report, config::Need, context::Context, error::CommandError, exit::Exit};

/// Go on with a run that was stopped
///
/// Finished calls are answered from the journal. A call that was in flight runs again if its tool is safe to repeat;
/// otherwise the script gets an error with the code `interrupted`. A run that is over answers with its report.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ResumeArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID")]
    run: String,

    /// Take the run from an owner that is alive but stuck; what it still writes is refused
    #[arg(long)]
    take: bool,
}

/// Runs `runs resume`.
pub(crate) async fn resume(context: &Context, args: ResumeArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let id = runtime.find_run(&args.run).await?;
    context.started(id);
    let take = if args.take { Take::ByForce } else { Take::IfFree };
    let report = match runtime.resume(id, take).await {
        Ok(report) => report,
        Err(error) => {
            return Err(held(&runtime, id, args.take, error, &format!("refrain runs resume {id} --take")).await);
        }
    };
    let exit = report::print(&context.ui, &report)?;
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}

/// The error, with the command that takes the run from an owner that is alive.
pub(in crate::commands) async fn held(
    runtime: &Runtime,
    id: RunId,
    is_taken: bool,
    error: RuntimeError,
    taking: &str,
) -> CommandError {
    let owner = match runtime.show(id).await {
        Ok(detail) if !is_taken => detail.run.owner,
        _ => None,
    };
    match owner {
        Some(_) => CommandError::failed(error.to_string()).with_hint(format!("if its owner is stuck: `{taking}`")),
        None => error.into(),
    }
}
