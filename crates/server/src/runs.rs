//! Scripts and single calls run for a client, and runs looked at and brought on.

use std::pin::Pin;

use refrain_runtime::{
    AmendRequest, Catalog, OnClientCancel, Origin, Report, ReportStatus, RunDetail, RunId, RunRequest, RunState,
    Runtime, RuntimeError, Take, Tool,
};
use rmcp::{
    Peer, RoleServer,
    model::{CallToolResult, JsonObject},
};
use serde_json::json;
use tokio::sync::watch;

use crate::{
    arguments::{DEFAULT_OUTPUT_TOKENS, OneRun, ReadArtifact, RunCode, RunTool},
    artifact,
    cut::Budget,
    direct, images,
    mcp::result,
    person, render, structured,
};

/// Who asks.
pub(crate) struct Caller {
    /// The way in: `mcp` on streams, or `http`.
    pub(crate) way: &'static str,
    /// The session of the connection, where it has one.
    pub(crate) session: Option<String>,
    /// Its name and version.
    pub(crate) client: Option<String>,
    pub(crate) peer: Peer<RoleServer>,
    /// Is done when the request is taken back.
    pub(crate) cancelled: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
}

impl Caller {
    /// Waits for what comes of a run, whose number `started` tells. Where the settings say so, a request that is taken back cancels
    /// it: whoever waited for it lets go, and then it is cancelled as by anybody else.
    async fn wait(
        &mut self,
        runtime: &Runtime,
        started: &Started,
        run: impl Future<Output = Result<Report, RuntimeError>>,
    ) -> Result<Report, RuntimeError> {
        if runtime.settings().on_client_cancel == OnClientCancel::Detach {
            return run.await;
        }
        let id = {
            let mut run = std::pin::pin!(run);
            tokio::select! {
                outcome = &mut run => return outcome,
                () = &mut self.cancelled => {}
            }
            // It may still be on its way into the journal.
            tokio::select! {
                outcome = &mut run => return outcome,
                id = started.number() => id,
            }
        };
        runtime.cancel(id, Take::IfFree, Some("the client took its request back".to_owned())).await
    }

    fn origin(&self) -> Origin {
        let asks = person::can_be_asked(&self.peer);
        Origin { way: self.way.into(), client: self.client.clone(), asks, ..Origin::default() }
    }
}

/// The number of a run, once it has one.
struct Started(watch::Sender<Option<RunId>>);

impl Started {
    fn new(id: Option<RunId>) -> Self {
        Self(watch::Sender::new(id))
    }

    fn is(&self, id: RunId) {
        self.0.send_replace(Some(id));
    }

    fn now(&self) -> Option<RunId> {
        *self.0.borrow()
    }

    async fn number(&self) -> RunId {
        // The sender is ours, so the wait ends with a number or not at all.
        match self.0.subscribe().wait_for(Option::is_some).await.ok().and_then(|id| *id) {
            Some(id) => id,
            None => std::future::pending().await,
        }
    }
}

/// `run_code`.
pub(crate) async fn run_code(runtime: &Runtime, asked: RunCode, mut caller: Caller) -> CallToolResult {
    let origin = caller.origin();
    let tokens = asked.max_output_tokens;
    if let Some(old) = &asked.amend {
        let request = AmendRequest { script: asked.code, language: asked.language, take: Take::IfFree, origin };
        return match runtime.find_run(old).await {
            Ok(old) => {
                let started = Started::new(None);
                let on_start = |id| started.is(id);
                let outcome = caller.wait(runtime, &started, runtime.amend(old, request, &on_start)).await;
                answer(runtime, outcome, started.now(), &caller, tokens).await
            }
            Err(error) => result(format!("nothing was run: {error}"), None, true),
        };
    }
    let request = RunRequest {
        language: asked.language,
        session: asked.session.or_else(|| caller.session.clone()),
        timeout_ms: asked.timeout_ms,
        effects: asked.effects,
        ..RunRequest::new(asked.code, origin)
    };
    let started = Started::new(None);
    let on_start = |id| started.is(id);
    let outcome = caller.wait(runtime, &started, runtime.run(request, &on_start)).await;
    answer(runtime, outcome, started.now(), &caller, tokens).await
}

/// `run_tool`: one call by itself.
pub(crate) async fn run_tool(runtime: &Runtime, asked: RunTool, mut caller: Caller) -> CallToolResult {
    let catalog = runtime.catalog().await;
    let tool = match catalog.find(&asked.path) {
        Ok(tool) => tool,
        Err(unknown) => return result(format!("nothing was called: {unknown}"), None, true),
    };
    let (outcome, id) = call(runtime, &catalog, tool, asked.args, &mut caller).await;
    answer(runtime, outcome, id, &caller, asked.max_output_tokens).await
}

/// A call of a tool that is offered by itself, with the answer that its own server would give.
pub(crate) async fn run_direct(
    runtime: &Runtime,
    catalog: &Catalog,
    tool: &Tool,
    args: JsonObject,
    mut caller: Caller,
) -> CallToolResult {
    let (outcome, id) = call(runtime, catalog, tool, args, &mut caller).await;
    match outcome {
        Ok(report) => {
            let report = person::ask(runtime, &caller.peer, caller.client.as_deref(), report).await;
            direct::answer(tool, report, Budget::of_tokens(DEFAULT_OUTPUT_TOKENS))
        }
        failed => answer(runtime, failed, id, &caller, DEFAULT_OUTPUT_TOKENS).await,
    }
}

async fn call(
    runtime: &Runtime,
    catalog: &Catalog,
    tool: &Tool,
    args: JsonObject,
    caller: &mut Caller,
) -> (Result<Report, RuntimeError>, Option<RunId>) {
    let (started, origin) = (Started::new(None), caller.origin());
    let on_start = |id| started.is(id);
    let outcome = caller.wait(runtime, &started, runtime.call(catalog, tool, args, origin, &on_start)).await;
    (outcome, started.now())
}

/// `resume_run`: brings a run on, and asks the person for what it waits for.
pub(crate) async fn resume_run(runtime: &Runtime, asked: OneRun, mut caller: Caller) -> CallToolResult {
    match runtime.find_run(&asked.run_id).await {
        Ok(id) => {
            let outcome = caller.wait(runtime, &Started::new(Some(id)), runtime.resume(id, Take::IfFree)).await;
            answer(runtime, outcome, Some(id), &caller, asked.max_output_tokens).await
        }
        Err(error) => result(error.to_string(), None, true),
    }
}

/// `get_run`: how a run stands. Nothing goes on by it.
pub(crate) async fn get_run(runtime: &Runtime, asked: OneRun) -> CallToolResult {
    let detail = async { runtime.show(runtime.find_run(&asked.run_id).await?).await };
    match detail.await {
        Ok(RunDetail { report: Some(report), .. }) => shown(report, asked.max_output_tokens, true),
        Ok(detail) => {
            let status = match detail.run.status {
                RunState::Parked => "parked",
                _ => "running",
            };
            let content = json!({
                "run_id": detail.run.run_id, "status": status, "text": "", "images": [], "logs": [], "notes": [],
                "calls": [], "usage": {}, "waiting": detail.waiting, "next": detail.next,
            });
            let mut lines = vec![format!("run {} is {status}.", detail.run.run_id)];
            lines.extend(detail.waiting.iter().map(render::waiting));
            lines.extend(detail.next.map(|next| format!("next: `{next}`")));
            result(lines.join("\n"), Some(content), false)
        }
        Err(error) => result(error.to_string(), None, true),
    }
}

/// `read_artifact`: a part of what a run gave, by characters.
pub(crate) async fn read_artifact(runtime: &Runtime, asked: ReadArtifact) -> CallToolResult {
    let detail = async { runtime.show(runtime.find_run(&asked.id).await?).await };
    let detail = match detail.await {
        Ok(detail) => detail,
        Err(error) => return result(error.to_string(), None, true),
    };
    let Some(report) = detail.report else {
        let told = format!("run {} is not over, so there is nothing to read; see `get_run`", detail.run.run_id);
        return result(told, None, true);
    };
    match artifact::page(&report, &asked) {
        Ok(page) => result(page.text.clone(), Some(page.content()), false),
        Err(told) => result(told, None, true),
    }
}

/// What became of a run, once the person was asked for what it waits for.
async fn answer(
    runtime: &Runtime,
    outcome: Result<Report, RuntimeError>,
    started: Option<RunId>,
    caller: &Caller,
    tokens: u64,
) -> CallToolResult {
    match outcome {
        Ok(report) => {
            let own = report.max_output_tokens;
            let report = person::ask(runtime, &caller.peer, caller.client.as_deref(), report).await;
            shown(report, own.map_or(tokens, |own| own.min(tokens)), false)
        }
        Err(error) => {
            let mut text = format!("the script could not be run: {error}");
            match started {
                Some(id) => text.push_str(&format!(
                    "\n\nIt had begun, so calls may have happened. `resume_run` with `{id}` goes on with it; do not send it again \
                     before that."
                )),
                None => text.push_str("\n\nIt had not begun: no call was made."),
            }
            result(text, None, true)
        }
    }
}

/// A report as an answer. One that is only looked at is no failure of the look.
fn shown(mut report: Report, tokens: u64, is_look: bool) -> CallToolResult {
    let blocks = images::take(&mut report);
    let failed = match report.status {
        ReportStatus::Failed | ReportStatus::Cancelled => !is_look,
        ReportStatus::Completed | ReportStatus::Parked => false,
    };
    let budget = Budget::of_tokens(tokens);
    let text = render::text(&report, budget);
    let mut answer = result(text, Some(structured::content(&report, budget)), failed);
    answer.content.extend(blocks);
    answer
}
