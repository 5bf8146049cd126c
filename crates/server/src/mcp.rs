//! What an MCP client sees: two requests, `tools/list` and `tools/call`, translated and handed to the runtime.
//!
//! The work of a call is a task of its own (see [`Tasks`]), and it answers with a tool result whatever happens. The library
//! speaks every protocol revision; nothing here depends on one.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::Value;

use refrain_runtime::{Origin, ReportStatus, RunId, RunRequest, Runtime};

use crate::{
    arguments::{BadArguments, DescribeTools, RunCode, SearchTools},
    cut::Budget,
    discover::{self, Answer},
    images, render, structured,
    tasks::{BrokenOff, Tasks},
    tools,
};

const INSTRUCTIONS: &str = "Refrain runs scripts over tools. Write one script for `run_code` that makes all calls of a step, \
                            works on the results, and returns only what you need; `search_tools` and `describe_tools` tell \
                            what it can call.";

/// One client's server.
pub(crate) struct Server {
    /// Only tasks hold the runtime, so that nothing does once they are closed. The library keeps us a moment longer.
    runtime: Weak<Runtime>,
    tasks: Arc<Tasks>,
}

impl Server {
    pub(crate) fn new(runtime: &Arc<Runtime>, tasks: &Arc<Tasks>) -> Self {
        Self { runtime: Arc::downgrade(runtime), tasks: Arc::clone(tasks) }
    }

    fn runtime(&self) -> Result<Arc<Runtime>, ErrorData> {
        self.runtime.upgrade().ok_or_else(|| broken(BrokenOff))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("refrain", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let runtime = self.runtime()?;
        let work = async move {
            let settings = runtime.settings();
            tools::list(&*runtime.catalog().await, settings.dialect, settings.prompt_tokens)
        };
        let list = self.tasks.run(work).await;
        Ok(ListToolsResult::with_all_items(list.map_err(broken)?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let runtime = self.runtime()?;
        let arguments = request.arguments;
        let result = match &*request.name {
            tools::RUN_CODE => match RunCode::parse(arguments) {
                Ok(asked) => {
                    let client = context.client_info().map(|client| format!("{} {}", client.name, client.version));
                    self.tasks.run(async move { run_code(&runtime, asked, client).await }).await.map_err(broken)?
                }
                Err(error) => refused(&error),
            },
            tools::SEARCH_TOOLS => match SearchTools::parse(arguments) {
                Ok(asked) => {
                    let work =
                        async move { discover::search(&*runtime.catalog().await, runtime.settings().dialect, &asked) };
                    answered(self.tasks.run(work).await.map_err(broken)?)
                }
                Err(error) => refused(&error),
            },
            tools::DESCRIBE_TOOLS => match DescribeTools::parse(arguments) {
                Ok(asked) => {
                    let work = async move {
                        discover::describe(&*runtime.catalog().await, runtime.settings().dialect, &asked)
                    };
                    answered(self.tasks.run(work).await.map_err(broken)?)
                }
                Err(error) => refused(&error),
            },
            other => {
                let names = tools::NAMES.map(|name| format!("`{name}`")).join(", ");
                let message = format!(
                    "there is no tool `{other}`; there are {names}. Tools of sources are called by a script of `run_code`"
                );
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(result.into())
    }
}

async fn run_code(runtime: &Runtime, asked: RunCode, client: Option<String>) -> CallToolResult {
    let request = RunRequest {
        language: asked.language,
        session: asked.session,
        timeout_ms: asked.timeout_ms,
        ..RunRequest::new(asked.code, Origin { way: "mcp".into(), client, ..Origin::default() })
    };
    let started = Mutex::new(None);
    let on_start = |id: RunId| *started.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
    let outcome = runtime.run(request, &on_start).await;
    match outcome {
        Ok(mut report) => {
            let blocks = images::take(&mut report);
            let failed = match report.status {
                ReportStatus::Failed | ReportStatus::Cancelled => true,
                ReportStatus::Completed | ReportStatus::Parked => false,
            };
            let tokens =
                report.max_output_tokens.map_or(asked.max_output_tokens, |own| own.min(asked.max_output_tokens));
            let budget = Budget::of_tokens(tokens);
            let text = render::text(&report, budget);
            let mut answer = result(text, Some(structured::content(&report, budget)), failed);
            answer.content.extend(blocks);
            answer
        }
        Err(error) => {
            let mut text = format!("the script could not be run: {error}");
            match *started.lock().unwrap_or_else(PoisonError::into_inner) {
                Some(id) => text.push_str(&format!(
                    "\n\nIt had begun, so calls may have happened. `refrain runs resume {id}` goes on with it; do not send it \
                     again before that."
                )),
                None => text.push_str("\n\nIt had not begun: no call was made."),
            }
            result(text, None, true)
        }
    }
}

fn answered(answer: Answer) -> CallToolResult {
    result(answer.text, Some(answer.content), false)
}

fn refused(error: &BadArguments) -> CallToolResult {
    result(error.to_string(), None, true)
}

fn result(text: String, content: Option<Value>, failed: bool) -> CallToolResult {
    let blocks = vec![ContentBlock::text(text)];
    let mut result = if failed { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    result.structured_content = content;
    result
}

fn broken(BrokenOff: BrokenOff) -> ErrorData {
    ErrorData::internal_error(
        "the call broke off; unless the server is ending, that is a bug: please report it. `refrain runs list` shows \
         whether a run had begun",
        None,
    )
}
