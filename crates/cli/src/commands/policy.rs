//! `policy`: what the rules say.

use refrain_runtime::{Origin, Subject};
use serde_json::{Value, json};

use super::{
    run::pairs,
    tools::{find, keep_named},
};
use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// See what the rules of the policy say
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum PolicyCommand {
    Test(TestArgs),
}

/// Tell which rule decides about a call, and how; nothing is called
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct TestArgs {
    /// The tool, as `source.name` or by its name alone where only one source has it
    #[arg(value_name = "PATH")]
    path: String,

    /// Arguments of the call: `KEY=text`, or `KEY:=JSON`
    #[arg(value_name = "KEY=VALUE")]
    args: Vec<String>,

    /// The way in which the call comes: `mcp` for a client on standard streams, `http`, or `cli`
    #[arg(long, value_name = "WAY", default_value = "mcp")]
    way: String,

    /// The client's name and version
    #[arg(long, value_name = "NAME")]
    client: Option<String>,

    /// The session of the run
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// That the client can ask a person
    #[arg(long)]
    asks: bool,

    /// How many calls the run has made before
    #[arg(long, value_name = "N", default_value_t = 0)]
    calls: u64,
}

/// Runs `policy`.
pub(crate) async fn run(context: &Context, command: PolicyCommand) -> Result<Exit, CommandError> {
    let PolicyCommand::Test(args) = command;
    let given = Value::Object(pairs(&args.args)?);
    let runtime = context.runtime_with(Need::Sources, |settings| keep_named(&mut settings.sources, &args.path))?;
    let catalog = context.catalog(&runtime).await;
    let tool = find(&catalog, &args.path)?;
    let origin = Origin { way: args.way, client: args.client, asks: args.asks, ..Origin::default() };
    let session = args.session.as_deref();
    let subject = Subject { tool, args: &given, origin: &origin, session, run: None, calls: args.calls };
    let verdict = runtime.settings().policy.judge(&subject);
    if context.ui.is_json() {
        context.ui.json(&json!({
            "tool": tool.path(),
            "effect": tool.effect,
            "outcome": verdict.permission,
            "who": verdict.who,
            "default": verdict.is_default,
            "fix": verdict.fix,
        }))?;
    } else {
        context.ui.listing(&format!("{}: {}\n", verdict.permission.as_str(), verdict.who))?;
        if let Some(fix) = &verdict.fix {
            context.ui.say(&format!("hint: {fix}"));
        }
    }
    runtime.close().await;
    Ok(Exit::Completed)
}
