//! `runs answer`.

use refrain_runtime::{Decided, Decision, Json, Take};

use super::held;
use crate::{commands::report, config::Need, context::Context, error::CommandError, exit::Exit};

/// Answer a question of a parked run, or say what became of a call, and go on
///
/// `refrain runs show ID` tells what a run waits for. A question takes a value. Of a call that was out when its process ended, say what
/// it gave, or that it is to be made `--again` since it did not happen, or that its outcome is `--unknown`.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct AnswerArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID")]
    run: String,

    /// The number of the call
    #[arg(value_name = "CALL")]
    call: u32,

    /// The answer, as JSON; what is no JSON is a text
    #[arg(value_name = "VALUE", required_unless_present_any = ["again", "unknown"], conflicts_with_all = ["again", "unknown"])]
    value: Option<String>,

    /// The call did not happen, and is to be made
    #[arg(long, conflicts_with = "unknown")]
    again: bool,

    /// Nobody knows whether the call happened, or answers the question: the script is told so
    #[arg(long)]
    unknown: bool,

    /// Who says so, for the journal; otherwise the name in `USER`
    #[arg(long, value_name = "NAME")]
    by: Option<String>,

    /// Take the run from an owner that is alive but stuck; what it still writes is refused
    #[arg(long)]
    take: bool,
}

/// Runs `runs answer`.
pub(crate) async fn answer(context: &Context, args: AnswerArgs) -> Result<Exit, CommandError> {
    let what = match (args.value, args.again) {
        (Some(text), _) => Decided::Value(match Json::new(text.as_str()) {
            Ok(json) => json,
            Err(_) => Json::from_value(&text.into()),
        }),
        (None, true) => Decided::Again,
        (None, false) => Decided::Unknown,
    };
    let by = args.by.or_else(|| context.variables.text("USER").ok().flatten());
    let runtime = context.runtime(Need::Sources)?;
    let id = runtime.find_run(&args.run).await?;
    context.started(id);
    let take = if args.take { Take::ByForce } else { Take::IfFree };
    let report = match runtime.answer(id, take, Decision { call: args.call, what, by }).await {
        Ok(report) => report,
        Err(error) => {
            return Err(held(args.take, error, &format!("refrain runs answer {id} {} … --take", args.call)));
        }
    };
    let exit = report::print(&context.ui, &report)?;
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}
