//! What an MCP client sees: two requests, `tools/list` and `tools/call`, translated and handed to the runtime.
//!
//! The work of a call is a task of its own (see [`Tasks`]), and it answers with a tool result whatever happens. The library
//! speaks every protocol revision; nothing here depends on one.

use std::sync::{Arc, Weak};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use refrain_runtime::{Catalog, Runtime};

use crate::{
    arguments::{BadArguments, DescribeTools, OneRun, ReadArtifact, RunCode, RunTool, SearchTools},
    direct,
    discover::{self, Answer},
    runs::{self, Caller},
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
    front: Front,
}

/// The way in which clients come.
#[derive(Clone, Debug)]
pub(crate) enum Front {
    /// On a pair of streams: one client, whose scripts share the store of this session.
    Streams { session: String },
    /// By HTTP. Where the revision has sessions, the scripts of one share its store.
    Http,
}

impl Server {
    pub(crate) fn new(runtime: &Arc<Runtime>, tasks: &Arc<Tasks>, front: Front) -> Self {
        Self { runtime: Arc::downgrade(runtime), tasks: Arc::clone(tasks), front }
    }

    /// Who makes a request, and over which session.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let client = context.client_info().map(|client| format!("{} {}", client.name, client.version));
        let (way, session) = match &self.front {
            Front::Streams { session } => ("mcp", Some(session.clone())),
            Front::Http => {
                let parts = context.extensions.get::<axum::http::request::Parts>();
                let session = parts.and_then(|parts| parts.headers.get("mcp-session-id")?.to_str().ok());
                ("http", session.map(|session| format!("http-{session}")))
            }
        };
        let cancelled = Box::pin(context.ct.clone().cancelled_owned());
        Caller { way, session, client, peer: context.peer.clone(), cancelled }
    }

    /// Does `work` in a task of its own.
    async fn work<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, ErrorData> {
        self.tasks.run(work).await.map_err(broken)
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
            let catalog = runtime.catalog().await;
            let scripts = runtime.for_scripts(Arc::clone(&catalog));
            let mut list = tools::list(&scripts, settings.dialect, settings.prompt_tokens);
            let offered = direct::offered(&catalog, &settings.sources, || room(&list));
            list.extend(offered.iter().map(|(name, tool)| direct::entry(name, tool)));
            list
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
        let caller = self.caller(&context);
        let result = match &*request.name {
            tools::RUN_CODE => match RunCode::parse(arguments) {
                Ok(asked) => self.work(async move { runs::run_code(&runtime, asked, caller).await }).await?,
                Err(error) => refused(&error),
            },
            tools::RUN_TOOL => match RunTool::parse(arguments) {
                Ok(asked) => self.work(async move { runs::run_tool(&runtime, asked, caller).await }).await?,
                Err(error) => refused(&error),
            },
            tools::GET_RUN => match OneRun::parse(tools::GET_RUN, arguments) {
                Ok(asked) => self.work(async move { runs::get_run(&runtime, asked).await }).await?,
                Err(error) => refused(&error),
            },
            tools::RESUME_RUN => match OneRun::parse(tools::RESUME_RUN, arguments) {
                Ok(asked) => self.work(async move { runs::resume_run(&runtime, asked, caller).await }).await?,
                Err(error) => refused(&error),
            },
            tools::READ_ARTIFACT => match ReadArtifact::parse(arguments) {
                Ok(asked) => self.work(async move { runs::read_artifact(&runtime, asked).await }).await?,
                Err(error) => refused(&error),
            },
            tools::SEARCH_TOOLS => match SearchTools::parse(arguments) {
                Ok(asked) => {
                    let work =
                        async move { discover::search(&*scripts(&runtime).await, runtime.settings().dialect, &asked) };
                    answered(self.work(work).await?)
                }
                Err(error) => refused(&error),
            },
            tools::DESCRIBE_TOOLS => match DescribeTools::parse(arguments) {
                Ok(asked) => {
                    let work = async move {
                        discover::describe(&*scripts(&runtime).await, runtime.settings().dialect, &asked)
                    };
                    answered(self.work(work).await?)
                }
                Err(error) => refused(&error),
            },
            other => {
                let (name, args) = (other.to_owned(), arguments.unwrap_or_default());
                if let Some(result) =
                    self.work(async move { call_directly(&runtime, &name, args, caller).await }).await?
                {
                    return Ok(result.into());
                }
                let names = tools::NAMES.map(|name| format!("`{name}`")).join(", ");
                let message = format!(
                    "there is no tool `{other}`; there are {names}. Tools of sources are called by a script of `run_code`, or \
                     one by itself with `run_tool`"
                );
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(result.into())
    }
}

/// What scripts of clients see.
async fn scripts(runtime: &Runtime) -> Arc<Catalog> {
    runtime.for_scripts(runtime.catalog().await)
}

/// What the entry of `run_code` takes, in bytes.
fn room(list: &[Tool]) -> usize {
    list.first().and_then(|tool| tool.description.as_ref()).map_or(0, |description| description.len())
}

/// Calls a tool that is offered by itself. None where there is no such tool.
async fn call_directly(runtime: &Runtime, name: &str, args: JsonObject, caller: Caller) -> Option<CallToolResult> {
    let catalog = runtime.catalog().await;
    let settings = runtime.settings();
    let as_listed = || {
        let scripts = runtime.for_scripts(Arc::clone(&catalog));
        room(&tools::list(&scripts, settings.dialect, settings.prompt_tokens))
    };
    let offered = direct::offered(&catalog, &settings.sources, as_listed);
    let (_, tool) = offered.into_iter().find(|(other, _)| other == name)?;
    Some(runs::run_direct(runtime, &catalog, tool, args, caller).await)
}

fn answered(answer: Answer) -> CallToolResult {
    result(answer.text, Some(answer.content), false)
}

fn refused(error: &BadArguments) -> CallToolResult {
    result(error.to_string(), None, true)
}

pub(crate) fn result(text: String, content: Option<Value>, failed: bool) -> CallToolResult {
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
