//! `tools call`.

use refrain_runtime::RunRequest;

use crate::{
    commands::{
        report,
        run::{origin, pairs},
    },
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
};

/// Call one tool, without a script
///
/// The call is kept as a run of its own and reported like one.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct CallArgs {
    /// The tool, as `source.name` or by its name alone where only one source has it
    #[arg(value_name = "PATH")]
    path: String,

    /// Arguments: `KEY=text`, or `KEY:=JSON`
    #[arg(value_name = "KEY=VALUE")]
    args: Vec<String>,
}

/// Runs `tools call`.
pub(crate) async fn call(context: &Context, args: CallArgs) -> Result<Exit, CommandError> {
    let given = pairs(&args.args)?;
    let runtime = context.runtime(Need::Sources)?;
    let catalog = runtime.catalog().await;
    let tool = super::find(&catalog, &args.path)?;
    // Everything that makes a call of a script durable makes this one so.
    let script = format!("return await {}(args);", catalog.call_in(tool, runtime.settings().dialect));
    let request = RunRequest { args: given, ..RunRequest::new(script, origin("direct")) };
    let mut report = runtime.run(request, &|id| context.started(id)).await?;
    if let Some(error) = &mut report.error {
        // Places in a script that nobody wrote help nobody.
        (error.line, error.column, error.frame, error.stack) = (None, None, None, None);
    }
    let exit = report::print(&context.ui, &report)?;
    runtime.close().await;
    Ok(exit)
}
