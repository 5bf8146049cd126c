//! `runs cancel`.

use refrain_runtime::Take;

use super::held;
use crate::{commands::report, config::Need, context::Context, error::CommandError, exit::Exit};

/// Cancel a run that is not over
///
/// Calls that wait fail with the code `cancelled`, so that the script's `finally` runs, for `runs.cleanup_ms` and with none but the tools
/// whose settings say `cleanup = true`. Then the script is stopped. Ends with 1, as a run that failed does; a run that is over
/// answers with its report.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct CancelArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID")]
    run: String,

    /// Why, for whoever reads the run's journal
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Take the run from an owner that is alive; what it still writes is refused
    #[arg(long)]
    take: bool,
}

/// Runs `runs cancel`.
pub(crate) async fn cancel(context: &Context, args: CancelArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let id = runtime.find_run(&args.run).await?;
    context.started(id);
    let take = if args.take { Take::ByForce } else { Take::IfFree };
    let report = match runtime.cancel(id, take, args.reason).await {
        Ok(report) => report,
        Err(error) => {
            return Err(held(args.take, error, &format!("refrain runs cancel {id} --take")));
        }
    };
    let exit = report::print(&context.ui, &report)?;
    runtime.close().await;
    Ok(exit)
}
