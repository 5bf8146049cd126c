//! `amend`.

use refrain_runtime::{AmendRequest, Take};

use super::{
    report,
    run::{language, origin, script},
    runs::held,
};
use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// Run a corrected script in place of one that failed, without repeating what worked
///
/// The new run has the arguments, the session, the seed and the clock of the old one. A call with the tool and the arguments of
/// one that the old run finished is answered from its journal, in whatever order the new script makes them; everything else
/// runs. After the first new call that may write, what the old run read is read again. A run that is not over is cancelled.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct AmendArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID")]
    run: String,

    /// The corrected script, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// The script's language, which is `typescript`; JavaScript is a part of it
    #[arg(long, value_name = "LANGUAGE", default_value = "typescript", hide_default_value = true)]
    lang: String,

    /// Take the run from an owner that is alive; what it still writes is refused
    #[arg(long)]
    take: bool,
}

/// Runs `amend`.
pub(crate) async fn amend(context: &Context, args: AmendArgs) -> Result<Exit, CommandError> {
    let language = language(&args.lang)?;
    let script = script(&args.file, &context.folder)?;
    let runtime = context.runtime(Need::Sources)?;
    let old = runtime.find_run(&args.run).await?;
    let take = if args.take { Take::ByForce } else { Take::IfFree };
    let request = AmendRequest { script, language, take, origin: origin("cli") };
    let report = match runtime.amend(old, request, &|id| context.started(id)).await {
        Ok(report) => report,
        Err(error) => {
            return Err(held(args.take, error, &format!("refrain amend {old} FILE --take")));
        }
    };
    let exit = report::print(&context.ui, &report)?;
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}
