//! `serve`.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use refrain_runtime::Tended;
use refrain_server::{HttpSettings, Relay};
use tokio::net::TcpListener;

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// How often what was seen of results is kept. A server is more often killed than asked to go.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// Be an MCP server, on standard input and output or by HTTP
///
/// This is what an agent starts. It offers `run_code`, `search_tools`, `describe_tools`, `run_tool`, `get_run`, `resume_run` and
/// `read_artifact`, and ends when its input does. Which calls may be made is for the rules of the policy; where none is about a call,
/// one that is destructive is asked for, or denied where the client can ask nobody. By HTTP every write is asked for.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ServeArgs {
    /// Listen at this address instead, `127.0.0.1:8900`, and serve any number of clients at `/mcp`
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
}

/// Runs `serve`.
pub(crate) async fn serve(context: &Context, args: ServeArgs) -> Result<Exit, CommandError> {
    let door = match &args.http {
        Some(address) => Some(door(context, address).await?),
        None => None,
    };
    let relay = Relay::new();
    let runtime = context.runtime_with(Need::Sources, |settings| {
        settings.environment.elicit = Some(Arc::<Relay>::clone(&relay));
    })?;
    let runtime = Arc::new(runtime);
    if runtime.settings().policy.rules.is_empty() {
        let told = "note: there are no policy rules: scripts may read and write, and what is destructive is asked for, or denied \
                    where the client can ask nobody";
        context.ui.say(told);
    }
    let way = if door.is_some() { "http" } else { "mcp" };
    let serving = {
        let runtime = Arc::clone(&runtime);
        async move {
            match door {
                // A signal ends the process, and with it whatever is under way.
                Some((listener, http)) => {
                    refrain_server::serve_http(runtime, listener, http, std::future::pending()).await
                }
                None => refrain_server::serve_stdio(runtime, relay).await,
            }
        }
    };
    let mut serving = pin!(serving);
    // What this server began before and is not over goes on, and what waits for its moment has somebody who looks.
    let told = |(run, report): Tended| match report {
        Ok(report) => context.ui.say(&format!("run {run} went on, and is {}", report.status.as_str())),
        Err(error) => context.ui.say(&format!("note: run {run} cannot go on: {error}")),
    };
    let mut tending = Box::pin(Arc::clone(&runtime).tend(way, told));
    let mut is_tended = true;
    let served = loop {
        tokio::select! {
            served = &mut serving => break served,
            ended = &mut tending, if is_tended => {
                is_tended = false;
                if let Err(error) = ended {
                    context.ui.say(&format!("note: runs that wait are not brought on: {error}"));
                }
            }
            () = tokio::time::sleep(KEEP_EVERY) => context.keep_observed(&runtime),
        }
    };
    drop(tending);
    context.keep_observed(&runtime);
    // A run that is under way still holds it; then its children end with us.
    if let Ok(runtime) = Arc::try_unwrap(runtime) {
        runtime.close().await;
    }
    match served {
        Ok(()) => Ok(Exit::Completed),
        Err(error) => Err(CommandError::failed(format!("the MCP server ended: {error}"))),
    }
}

/// Opens the address, if it is one that may be opened.
async fn door(context: &Context, address: &str) -> Result<(TcpListener, HttpSettings), CommandError> {
    let http = context.config(Need::Http)?.http;
    let parsed: SocketAddr = address.parse().map_err(|_| {
        CommandError::usage(format!("`{address}` is no address to listen at; write it as `127.0.0.1:8900`"))
    })?;
    if !parsed.ip().is_loopback() && http.is_open() {
        let error = CommandError::usage(format!(
            "`{address}` can be reached from elsewhere, and everybody would be let in: there are no tokens"
        ));
        let hint = "write `[[serve.tokens]]` with `token = \"env:NAME\"` into the settings, or listen at `127.0.0.1`";
        return Err(error.with_hint(hint));
    }
    let listener = TcpListener::bind(parsed)
        .await
        .map_err(|error| CommandError::failed(format!("`{address}` cannot be listened at: {error}")))?;
    let at = listener.local_addr().map_err(|error| CommandError::failed(error.to_string()))?;
    context.ui.say(&format!("serving MCP at http://{at}/mcp"));
    Ok((listener, http))
}
