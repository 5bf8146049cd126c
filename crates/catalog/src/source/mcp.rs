//! An MCP server that is our child and speaks on its standard streams.
//!
//! `rmcp` does the protocol; the child is started here, since it has to lead its own group and be known to the guard. A
//! server that ends is started again by the next call that needs it. What it writes to its standard error is kept, the end
//! of it, for the reason of a failure, and goes nowhere else.
//!
//! Deliberately not here yet: `list_changed`, elicitation, sampling, roots, tasks, backing off after repeated crashes.

use std::{collections::HashSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig,
        ClientRequest, Implementation, MetaObject, PaginatedRequestParams, Request, RequestId, RequestMetaObject,
        RequestOptionalParam, ServerResult,
    },
    service::{PeerRequestOptions, RunningService},
    transport::async_rw::AsyncRwTransport,
};
use serde_json::{Map, Value};
use tokio::{
    process::Child,
    sync::Mutex,
    time::{Instant, timeout, timeout_at},
};

use super::{Call, Listing, Source, command, tail::Tail};
use crate::{
    error::{CallError, ErrorCode},
    name,
    process::{Children, Group},
    settings::{Environment, McpSettings, SourceSettings, Trust},
    sources::CallOutput,
    tool::{Effect, Replay, Tool},
};

mod result;

/// A server that pages for ever, or lists without end, is cut off here.
const MAX_PAGES: usize = 1000;
const MAX_TOOLS: usize = 20_000;

/// One message of a server. Longer ones are skipped by the transport, and then their call times out; the limit on results
/// is lower, so that what is only somewhat too long is told as that.
const MAX_MESSAGE: usize = 4 * result::MAX_RESULT;

/// How long a server may take to end after its input did, and again after it was asked to.
const FAREWELL: Duration = Duration::from_millis(300);

const KEY: &str = "refrain/idempotencyKey";

pub(crate) struct McpSource {
    name: String,
    settings: McpSettings,
    trust: Trust,
    connect_timeout: Duration,
    environment: Environment,
    children: Arc<Children>,
    connection: Mutex<Option<Arc<Connection>>>,
}

struct Connection {
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, ClientConfig>>>,
    child: Mutex<Child>,
    words: Tail,
    group: Group,
}

impl McpSource {
    pub(crate) fn new(
        source: &SourceSettings,
        settings: McpSettings,
        environment: Environment,
        children: Arc<Children>,
    ) -> Self {
        Self {
            name: source.name.clone(),
            settings,
            trust: source.trust_annotations,
            connect_timeout: source.connect_timeout,
            environment,
            children,
            connection: Mutex::new(None),
        }
    }

    /// Returns the connection, made anew where there is none or its server has ended.
    async fn connection(&self, deadline: Instant) -> Result<Arc<Connection>, String> {
        // Held while connecting, so that a burst of calls after a crash starts one server and not many. The wait for it
        // counts, so that with a server that hangs the last of them waits no longer than the first.
        let Ok(mut slot) = timeout_at(deadline, self.connection.lock()).await else {
            return Err(format!("it was not there within {} ms", self.connect_timeout.as_millis()));
        };
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.peer.is_transport_closed()) {
            return Ok(Arc::clone(connection));
        }
        *slot = None;
        let connection = Arc::new(self.connect(deadline).await?);
        *slot = Some(Arc::clone(&connection));
        Ok(connection)
    }

    async fn connect(&self, deadline: Instant) -> Result<Connection, String> {
        let Some((program, args)) = self.settings.command.split_first() else {
            return Err("`command` is empty; write the server's program and its arguments as a list".to_owned());
        };
        let mut command = command(program, &self.environment, &self.settings.env, self.settings.cwd.as_ref());
        command.args(args);
        let (mut child, group) = self.children.spawn(&mut command)?;
        let words = Tail::default();
        if let Some(stderr) = child.stderr.take() {
            let words = words.clone();
            tokio::spawn(async move { words.follow(stderr).await });
        }
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(format!("bug: the streams of `{program}` are not there; please report it"));
        };
        let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MAX_MESSAGE);
        let us =
            ClientConfig::new(ClientCapabilities::default(), Implementation::new("refrain", env!("CARGO_PKG_VERSION")));
        let service = match timeout_at(deadline, rmcp::serve_client(us, transport)).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => {
                let end = end_of(&mut child).await;
                let what = match &end {
                    Some(status) => format!("`{program}` ended with {status} before it answered `initialize`"),
                    None => format!("`{program}` is no MCP server: {}", name::cut(&error.to_string(), 300)),
                };
                return Err(with_words(what, &words).await);
            }
            Err(_) => {
                let limit = self.connect_timeout.as_millis();
                return Err(with_words(
                    format!("`{program}` did not answer within {limit} ms; see `connect_timeout_ms`"),
                    &words,
                )
                .await);
            }
        };
        Ok(Connection {
            peer: service.peer().clone(),
            service: Mutex::new(Some(service)),
            child: Mutex::new(child),
            words,
            group,
        })
    }

    /// Says how a connection was lost in mid-call.
    async fn lost(&self, connection: &Connection) -> String {
        let end = end_of(&mut *connection.child.lock().await).await;
        let program = self.settings.command.first().map_or("", String::as_str);
        let what = match end {
            Some(status) => format!("`{program}` ended with {status}"),
            None => format!("`{program}` closed its output"),
        };
        with_words(what, &connection.words).await
    }
}

#[async_trait]
impl Source for McpSource {
    async fn list(&self) -> Result<Listing, String> {
        let deadline = Instant::now() + self.connect_timeout;
        let connection = self.connection(deadline).await?;
        match timeout_at(deadline, list_pages(&connection.peer)).await {
            Ok(Ok(values)) => Ok(self.listing(values)),
            Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
                Err(format!("{} while its tools were listed", self.lost(&connection).await))
            }
            Ok(Err(error)) => Err(with_words(format!("its tools cannot be listed: {error}"), &connection.words).await),
            Err(_) => {
                let limit = self.connect_timeout.as_millis();
                Err(with_words(
                    format!("it did not list its tools within {limit} ms; see `connect_timeout_ms`"),
                    &connection.words,
                )
                .await)
            }
        }
    }

    async fn call(&self, call: Call<'_>) -> Result<CallOutput, CallError> {
        let path = call.tool.path();
        let connection = self.connection(Instant::now() + self.connect_timeout).await.map_err(|reason| {
            CallError::new(ErrorCode::SourceDown, format!("source `{}` is down: {reason}", self.name))
        })?;
        let params = CallToolRequestParams::new(call.tool.name.clone()).with_arguments(call.args);
        let mut options = PeerRequestOptions::with_timeout(call.idle.unwrap_or(call.total));
        if call.idle.is_some() {
            options = options.reset_timeout_on_progress().with_max_total_timeout(call.total);
        }
        if let Some(key) = call.key {
            let mut meta = Map::new();
            meta.insert(KEY.to_owned(), Value::from(key));
            options = options.with_meta(RequestMetaObject(MetaObject(meta)));
        }
        let request = ClientRequest::CallToolRequest(Request::new(params));
        let answered = async {
            let handle = connection.peer.send_cancellable_request(request, options).await?;
            let mut abandoned = CancelOnDrop { peer: &connection.peer, id: Some(handle.id.clone()) };
            let answer = handle.await_response().await;
            abandoned.id = None;
            answer
        };
        match answered.await {
            Ok(answer) => result::read(&path, answer, self.settings.raw_results),
            Err(ServiceError::McpError(error)) => Err(result::refused(&path, &error)),
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => Err(CallError::new(
                ErrorCode::Interrupted,
                format!("`{path}` gave no answer: {}; it may or may not have run", self.lost(&connection).await),
            )),
            Err(ServiceError::Timeout { timeout }) => Err(CallError::new(
                ErrorCode::Timeout,
                format!("`{path}` gave no answer within {} ms; it may or may not have run", timeout.as_millis()),
            )),
            Err(ServiceError::Cancelled { reason }) => Err(CallError::new(
                ErrorCode::Interrupted,
                format!("`{path}` was given up by its server: {}", reason.as_deref().unwrap_or("no reason given")),
            )),
            Err(error) => Err(CallError::new(ErrorCode::Protocol, format!("`{path}`: {error}"))),
        }
    }

    async fn close(&self) {
        let Some(connection) = self.connection.lock().await.take() else { return };
        // The end of its input is how a server on standard streams is told to go.
        if let Some(service) = connection.service.lock().await.take() {
            let _ = timeout(FAREWELL, service.cancel()).await;
        }
        let mut child = connection.child.lock().await;
        if timeout(FAREWELL, child.wait()).await.is_err() {
            connection.group.terminate();
            let _ = timeout(FAREWELL, child.wait()).await;
        }
        // What is still there ends with the group, which goes with the connection.
    }
}

impl McpSource {
    /// Reads the tools as they came. Lenient where that costs nothing: one wrong entry must not hide the others.
    fn listing(&self, values: Vec<Value>) -> Listing {
        let all = values.len();
        let tools: Vec<Tool> = values.into_iter().filter_map(|value| self.tool(value)).collect();
        let without = all - tools.len();
        let warning = (without > 0).then(|| format!("{without} of its {all} tools have no name and are left out"));
        Listing { tools, warning }
    }

    fn tool(&self, mut value: Value) -> Option<Tool> {
        let map = value.as_object_mut()?;
        let name = map.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())?;
        let mut tool = Tool::new(&self.name, name);
        let text = |map: &Map<String, Value>, key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
        tool.description = text(map, "description").or_else(|| text(map, "title")).unwrap_or_default();
        match map.remove("inputSchema") {
            Some(schema @ Value::Object(_)) => {
                tool.input_schema = Arc::new(schema);
                tool.note_unusable_schema();
            }
            None | Some(Value::Null) => {}
            Some(_) => tool.notes.push("its input schema is not an object, so arguments are not checked".to_owned()),
        }
        match map.remove("outputSchema") {
            Some(schema @ Value::Object(_)) => tool.output_schema = Some(Arc::new(schema)),
            None | Some(Value::Null) => {}
            Some(_) => tool.notes.push("its output schema is not an object and is not used".to_owned()),
        }
        if self.settings.raw_results {
            tool.output_schema = Some(Arc::new(result::envelope()));
        }
        let hint = |key: &str| value.pointer(&format!("/annotations/{key}")).and_then(Value::as_bool) == Some(true);
        (tool.effect, tool.replay) =
            believed(self.trust, hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"));
        Some(tool)
    }
}

/// Returns what a tool may do, from what its server says of it and how far that is believed.
fn believed(trust: Trust, read_only: bool, destructive: bool, idempotent: bool) -> (Effect, Replay) {
    let effect = match (read_only, destructive) {
        (true, _) => Effect::Read,
        (false, true) => Effect::Destructive,
        (false, false) => Effect::Write,
    };
    let replay = match (read_only, idempotent) {
        (true, _) => Replay::Safe,
        (false, true) => Replay::Keyed,
        (false, false) => Replay::Unsafe,
    };
    match trust {
        Trust::None => (Effect::Write, Replay::Unsafe),
        Trust::Effect => (effect, Replay::Unsafe),
        Trust::All => (effect, replay),
    }
}

/// Lists every page. A cursor that comes again ends the list: some servers return the one they were given.
async fn list_pages(peer: &Peer<RoleClient>) -> Result<Vec<Value>, ServiceError> {
    let mut tools = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ClientRequest::ListToolsRequest(RequestOptionalParam::with_param(params));
        let (page, next) = match peer.send_request(request).await {
            Ok(ServerResult::ListToolsResult(page)) => {
                (page.tools.iter().filter_map(|tool| serde_json::to_value(tool).ok()).collect(), page.next_cursor)
            }
            // A list in which any entry breaks the protocol arrives here, whole.
            Ok(ServerResult::CustomResult(mut page)) => {
                let next = page.0.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
                match page.0.get_mut("tools").map(Value::take) {
                    Some(Value::Array(tools)) => (tools, next),
                    _ => return Err(ServiceError::UnexpectedResponse),
                }
            }
            Ok(_) => return Err(ServiceError::UnexpectedResponse),
            // No such method: a server without tools, which is allowed.
            Err(ServiceError::McpError(error)) if error.code.0 == -32601 => (Vec::new(), None),
            Err(error) => return Err(error),
        };
        tools.extend(page);
        cursor = next.filter(|next| !next.is_empty() && seen.insert(next.clone()));
        if cursor.is_none() || tools.len() > MAX_TOOLS {
            break;
        }
    }
    tools.truncate(MAX_TOOLS);
    Ok(tools)
}

/// Tells the server that nobody waits for an answer any more.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("the caller has stopped waiting".to_owned()));
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

/// Returns how a child ended, giving it a moment to be seen: its output ends a little before it does.
async fn end_of(child: &mut Child) -> Option<std::process::ExitStatus> {
    timeout(FAREWELL, child.wait()).await.ok().and_then(Result::ok)
}

async fn with_words(what: String, words: &Tail) -> String {
    let words = words.last_words().await;
    if words.is_empty() { what } else { format!("{what}; its last words: {words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_count_as_far_as_they_are_trusted() {
        let check = |trust, read_only, destructive, idempotent, expect: &str| {
            let (effect, replay) = believed(trust, read_only, destructive, idempotent);
            assert_eq!(format!("{} {}", effect.as_str(), replay.as_str()), expect);
        };
        check(Trust::None, true, false, true, "write unsafe");
        check(Trust::Effect, true, false, true, "read unsafe");
        check(Trust::Effect, false, true, false, "destructive unsafe");
        check(Trust::Effect, false, false, true, "write unsafe");
        check(Trust::All, true, false, false, "read safe");
        check(Trust::All, false, false, true, "write keyed");
        check(Trust::All, false, true, true, "destructive keyed");
        check(Trust::All, false, false, false, "write unsafe");
    }
}
