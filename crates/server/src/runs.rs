//! Scripts and single calls run for a client, and runs looked at and brought on.

use std::{
    pin::Pin,
    sync::{Mutex, PoisonError},
};

use refrain_runtime::{
    AmendRequest, OnClientCancel, Origin, Report, ReportStatus, RunDetail, RunId, RunRequest, RunState, Runtime,
    RuntimeError, Take, Tool,
};
use rmcp::{
    Peer, RoleServer,
    model::{CallToolResult, JsonObject},
};
use serde_json::json;

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
    /// Waits for what comes of a run. Where the settings say so, a request that is taken back cancels it: whoever waited for it lets go,
    /// and then it is cancelled as by anybody else.
    async fn wait(
        &mut self,
        runtime: &Runtime,
        told: &Mutex<Option<RunId>>,
        run: impl Future<Output = Result<Report, RuntimeError>>,
    ) -> Result<Report, RuntimeError> {
        if runtime.settings().on_client_cancel == OnClientCancel::Detach {
            return run.await;
        }
        {
            let mut run = std::pin::pin!(run);
            tokio::select! {
                outcome = &mut run => return outcome,
                () = &mut self.cancelled => {}
            }
            // Before it has a number there is nothing to cancel.
            if taken(told).is_none() {
                return run.await;
            }
        }
        let id = taken(told).ok_or_else(|| RuntimeError::Bug { what: "a run has lost its number".to_owned() })?;
        runtime.cancel(id, Take::IfFree, Some("the client took its request back".to_owned())).await
    }

    fn origin(&self, direct: bool) -> Origin {
        let asks = person::can_be_asked(&self.peer);
        Origin { way: self.way.into(), client: self.client.clone(), asks, direct, config: None }
    }
}

/// `run_code`.
pub(crate) async fn run_code(runtime: &Runtime, asked: RunCode, mut caller: Caller) -> CallToolResult {
    let origin = caller.origin(false);
    let tokens = asked.max_output_tokens;
    if let Some(old) = &asked.amend {
        let request = AmendRequest { script: asked.code, language: asked.language, take: Take::IfFree, origin };
        return match runtime.find_run(old).await {
            Ok(old) => {
                let told = Mutex::new(None);
                let on_start = |id| note(&told, id);
                let outcome = caller.wait(runtime, &told, runtime.amend(old, request, &on_start)).await;
                answer(runtime, outcome, taken(&told), &caller, tokens).await
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
    let told = Mutex::new(None);
    let on_start = |id| note(&told, id);
    let outcome = caller.wait(runtime, &told, runtime.run(request, &on_start)).await;
    answer(runtime, outcome, taken(&told), &caller, tokens).await
}

/// `run_tool`: one call by itself. Everything that makes a call of a script durable, and judges it, is for this one as well.
pub(crate) async fn run_tool(runtime: &Runtime, asked: RunTool, mut caller: Caller) -> CallToolResult {
    let catalog = runtime.catalog().await;
    let tool = match catalog.find(&asked.path) {
        Ok(tool) => tool,
        Err(unknown) => return result(format!("nothing was called: {unknown}"), None, true),
    };
    let (outcome, id) =
        call(runtime, &catalog.call_in(tool, runtime.settings().dialect), asked.args, &mut caller).await;
    answer(runtime, outcome, id, &caller, asked.max_output_tokens).await
}

/// A call of a tool that is offered by itself, with the answer that its own server would give.
pub(crate) async fn run_direct(runtime: &Runtime, tool: &Tool, args: JsonObject, mut caller: Caller) -> CallToolResult {
    let catalog = runtime.catalog().await;
    let (outcome, id) = call(runtime, &catalog.call_in(tool, runtime.settings().dialect), args, &mut caller).await;
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
    expression: &str,
    args: JsonObject,
    caller: &mut Caller,
) -> (Result<Report, RuntimeError>, Option<RunId>) {
    let script = format!("return await {expression}(args);");
    let request = RunRequest { args, ..RunRequest::new(script, caller.origin(true)) };
    let told = Mutex::new(None);
    let on_start = |id| note(&told, id);
    let outcome = caller.wait(runtime, &told, runtime.run(request, &on_start)).await.map(|mut report| {
        if let Some(error) = &mut report.error {
            // Places in a script that nobody wrote help nobody.
            (error.line, error.column, error.frame, error.stack) = (None, None, None, None);
        }
        report
    });
    (outcome, taken(&told))
}

/// `resume_run`: brings a run on, and asks the person for what it waits for.
pub(crate) async fn resume_run(runtime: &Runtime, asked: OneRun, mut caller: Caller) -> CallToolResult {
    match runtime.find_run(&asked.run_id).await {
        Ok(id) => {
            let told = Mutex::new(Some(id));
            let outcome = caller.wait(runtime, &told, runtime.resume(id, Take::IfFree)).await;
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

fn note(told: &Mutex<Option<RunId>>, id: RunId) {
    *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
}

fn taken(told: &Mutex<Option<RunId>>) -> Option<RunId> {
    *told.lock().unwrap_or_else(PoisonError::into_inner)
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
