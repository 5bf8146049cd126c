//! An MCP server: our child on its standard streams, or somebody else's by HTTP.
//!
//! `rmcp` does the protocol; here is what surrounds it. A connection is made when it is first needed, and made anew by the next
//! call after it was lost. What was under way then is told as interrupted and never repeated. A server that ends again and again
//! is left alone for longer each time.
//!
//! What a server says beside the protocol (on its standard error, between its messages, as log messages) is kept, the end of it,
//! for the reason of a failure, and goes nowhere else.
//!
//! Deliberately not here: tasks, sign-in (tokens are headers in the settings), and a cache of what was read.

use std::{
    sync::{
        Arc, Mutex as StdMutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use rmcp::{
    ServiceError,
    model::{CallToolRequestParams, ClientRequest, MetaObject, Request, RequestMetaObject, ServerResult},
};
use serde_json::{Map, Value, value::to_raw_value};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout_at},
};

use super::{Call, Down, Event, Events, Facts, Listing, Source};
use crate::{
    backoff::Backoff,
    error::{CallError, ErrorCode},
    name,
    process::Children,
    settings::{Environment, SourceSettings, Trust},
    sources::CallOutput,
};

mod asked;
mod call;
mod client;
mod connection;
mod dialler;
mod extras;
mod failure;
mod gate;
mod http;
mod lines;
mod listing;
mod mend;
mod message;
mod post;
mod probe;
mod result;
mod retry_after;
mod stdio;

use call::{Failure, Limits};
use connection::{Connection, with_words};
use dialler::{Dialler, Opening};
use extras::{Asking, Extra};

pub(crate) use dialler::Reach;

const KEY: &str = "refrain/idempotencyKey";

pub(crate) struct McpSource {
    name: String,
    reach: Reach,
    trust: Trust,
    raw_results: bool,
    connect_timeout: Duration,
    environment: Environment,
    children: Arc<Children>,
    events: Events,
    connection: Mutex<Option<Arc<Connection>>>,
    /// After the server was lost.
    backoff: StdMutex<Backoff>,
    /// Whether the server is known to begin with `initialize`, so that nothing else is tried.
    is_old: AtomicBool,
    /// What the last listing added to the server's own tools.
    extras: StdMutex<Vec<(String, Extra)>>,
}

impl McpSource {
    pub(crate) fn new(
        source: &SourceSettings,
        reach: Reach,
        environment: Environment,
        children: Arc<Children>,
        events: Events,
    ) -> Self {
        Self {
            name: source.name.clone(),
            reach,
            trust: source.trust_annotations,
            raw_results: source.raw_results,
            connect_timeout: source.connect_timeout,
            environment,
            children,
            events,
            connection: Mutex::new(None),
            // The first end is forgiven: most servers that crash do so once.
            backoff: StdMutex::new(Backoff::forgiving(1)),
            is_old: AtomicBool::new(false),
            extras: StdMutex::default(),
        }
    }

    /// Returns the connection, made anew where there is none or it is over.
    async fn connection(&self, deadline: Instant) -> Result<Arc<Connection>, Down> {
        // Held while connecting, so that a burst of calls after a crash starts one server and not many. The wait for it
        // counts, so that with a server that hangs the last of them waits no longer than the first.
        let Ok(mut slot) = timeout_at(deadline, self.connection.lock()).await else {
            return Err(format!("it was not there within {} ms", self.connect_timeout.as_millis()).into());
        };
        if let Some(connection) = slot.as_ref().filter(|connection| !connection.is_over()) {
            return Ok(Arc::clone(connection));
        }
        let is_new = slot.take().is_none();
        let connection = Arc::new(self.connect(deadline).await?);
        connection.listen(&self.events);
        *slot = Some(Arc::clone(&connection));
        if !is_new {
            // Another process may be another version.
            self.events.tell(Event::ListChanged);
        }
        Ok(connection)
    }

    async fn connect(&self, deadline: Instant) -> Result<Connection, Down> {
        let dialler = Dialler {
            source: &self.name,
            reach: &self.reach,
            environment: &self.environment,
            children: &self.children,
            events: &self.events,
            connect_timeout: self.connect_timeout,
        };
        if !self.is_old.load(Ordering::Relaxed) {
            match dialler.dial(Opening::Newest, deadline).await {
                Ok(connection) => {
                    self.is_old.store(connection.is_old(), Ordering::Relaxed);
                    return Ok(connection);
                }
                Err(refused) if refused.may_be_slow => {
                    let patient = dialler.dial(Opening::NewestPatiently, deadline).await;
                    return patient.map_err(|_| refused.down);
                }
                Err(refused) if !refused.may_be_the_opening => return Err(refused.down),
                Err(_) => {}
            }
        }
        let connection = dialler.dial(Opening::Initialize, deadline).await.map_err(|refused| refused.down)?;
        self.is_old.store(true, Ordering::Relaxed);
        Ok(connection)
    }

    /// The connection for a call, unless the server is to be left alone.
    async fn connection_for_a_call(&self) -> Result<Arc<Connection>, CallError> {
        let down =
            |reason: &str| CallError::new(ErrorCode::SourceDown, format!("source `{}` is down: {reason}", self.name));
        let rest = self.backoff().rest(Instant::now());
        if !rest.is_zero() && self.connection.lock().await.as_ref().is_none_or(|connection| connection.is_over()) {
            let mut error = down("its server ended several times in a row and is started again later");
            error.retry_after_ms = Some(u64::try_from(rest.as_millis()).unwrap_or(u64::MAX));
            return Err(error);
        }
        self.connection(Instant::now() + self.connect_timeout).await.map_err(|Down { reason, rest, stays }| {
            let (mut backoff, now) = (self.backoff(), Instant::now());
            backoff.failed(now);
            if let Some(rest) = rest {
                backoff.rest_for(rest, now);
            }
            let mut error = down(&reason);
            error.retryable = !stays;
            error.retry_after_ms = u64::try_from(backoff.rest(now).as_millis()).ok();
            error
        })
    }

    fn backoff(&self) -> std::sync::MutexGuard<'_, Backoff> {
        self.backoff.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn extra(&self, tool: &str) -> Option<Extra> {
        let extras = self.extras.lock().unwrap_or_else(PoisonError::into_inner);
        extras.iter().find(|(name, _)| name == tool).map(|(_, extra)| *extra)
    }

    /// Asks for what is no tool of the server's.
    async fn ask(
        &self,
        connection: &Connection,
        path: &str,
        asking: Asking,
        limits: Limits,
    ) -> Result<CallOutput, CallError> {
        let began = Instant::now();
        let mut notes = Vec::new();
        let value = match asking {
            Asking::One(key, make) => match call::request(connection, None, limits, make).await {
                Ok(answer) => {
                    let mut whole = match answer {
                        ServerResult::CustomResult(custom) => custom.0,
                        other => serde_json::to_value(other).unwrap_or_default(),
                    };
                    let mended = whole.as_object_mut().and_then(mend::Mended::of);
                    notes.extend(mended.map(|mended| result::note(path, &mended)));
                    value_of(whole, key)
                }
                Err(failure) => return Err(self.failed(path, connection, began, failure).await),
            },
            Asking::Lists(lists) => {
                let mut all = Map::new();
                for (key, request) in lists {
                    let pages = tokio::time::timeout(limits.total, listing::pages(&connection.peer, key, request));
                    let failure = match pages.await {
                        Ok(Ok(pages)) => {
                            all.insert((*key).to_owned(), Value::Array(pages.entries));
                            notes.extend(pages.notes.iter().map(|note| format!("`{path}`: {note}")));
                            continue;
                        }
                        Ok(Err(error)) => Failure::Service(error),
                        Err(_) => Failure::Late(limits.total),
                    };
                    return Err(self.failed(path, connection, began, failure).await);
                }
                match lists {
                    [(key, _)] => all.remove(*key).unwrap_or_default(),
                    _ => Value::Object(all),
                }
            }
        };
        let value = to_raw_value(&value).map_err(|error| CallError::new(ErrorCode::Internal, error.to_string()))?;
        Ok(CallOutput { value, notes })
    }
}

/// Returns a part of a result, or the whole without what only the protocol needs.
fn value_of(mut whole: Value, key: &str) -> Value {
    match whole.as_object_mut() {
        Some(map) if key.is_empty() => {
            for needless in ["_meta", "resultType", "ttlMs", "cacheScope"] {
                map.remove(needless);
            }
            whole
        }
        Some(map) => map.remove(key).unwrap_or_default(),
        None => Value::Null,
    }
}

#[async_trait]
impl Source for McpSource {
    async fn list(&self) -> Result<Listing, Down> {
        let deadline = Instant::now() + self.connect_timeout;
        let connection = self.connection(deadline).await?;
        match timeout_at(deadline, listing::tools(&connection.peer)).await {
            Ok(Ok(pages)) => {
                let mut listing = listing::read(&self.name, self.trust, pages);
                let warnings: Vec<String> =
                    connection.odd_revision().into_iter().chain(listing.warning.take()).collect();
                listing.warning = (!warnings.is_empty()).then(|| warnings.join("; "));
                if self.raw_results {
                    let envelope = Arc::new(result::envelope());
                    listing.tools.iter_mut().for_each(|tool| tool.output_schema = Some(Arc::clone(&envelope)));
                }
                if let Some(info) = connection.info() {
                    let added = extras::add(&self.name, &info.capabilities, &mut listing.tools);
                    *self.extras.lock().unwrap_or_else(PoisonError::into_inner) = added;
                }
                Ok(listing)
            }
            Ok(Err(ServiceError::TransportClosed)) => {
                Err(format!("{} while its tools were listed", connection.lost().await).into())
            }
            Ok(Err(ServiceError::TransportSend(error))) => match http::trouble(&error, (self.environment.clock)()) {
                Some(trouble) => {
                    let reason = format!("its tools cannot be listed: {}", trouble.what);
                    Err(Down { reason, ..trouble.into() })
                }
                None => Err(format!("{} while its tools were listed", connection.lost().await).into()),
            },
            Ok(Err(ServiceError::McpError(error))) => {
                let told = format!("its tools cannot be listed: {}", name::cut(&error.message, 300));
                Err(with_words(told, &connection.words).await.into())
            }
            Ok(Err(error)) => {
                Err(with_words(format!("its tools cannot be listed: {error}"), &connection.words).await.into())
            }
            Err(_) => {
                let limit = self.connect_timeout.as_millis();
                let told = format!("it did not list its tools within {limit} ms; see `connect_timeout_ms`");
                Err(with_words(told, &connection.words).await.into())
            }
        }
    }

    async fn call(&self, call: Call<'_>) -> Result<CallOutput, CallError> {
        let path = call.tool.path();
        let connection = self.connection_for_a_call().await?;
        let _under_way = connection.calls().begin(&path);
        let began = Instant::now();
        let limits = Limits { idle: call.idle, total: call.total };
        let outcome = match self.extra(&call.tool.name) {
            Some(extra) => self.ask(&connection, &path, extra.asking(&call.args), limits).await,
            None => {
                let params = CallToolRequestParams::new(call.tool.name.clone()).with_arguments(call.args);
                let meta = call.key.map(|key| {
                    let mut meta = Map::new();
                    meta.insert(KEY.to_owned(), Value::from(key));
                    RequestMetaObject(MetaObject(meta))
                });
                let answer = call::request(&connection, meta, limits, |responses, state| {
                    let mut params = params.clone();
                    (params.input_responses, params.request_state) = (responses, state);
                    ClientRequest::CallToolRequest(Request::new(params))
                });
                match answer.await {
                    Ok(answer) => result::read(&path, answer, self.raw_results),
                    Err(failure) => Err(self.failed(&path, &connection, began, failure).await),
                }
            }
        };
        if !connection.is_over() {
            self.backoff().worked();
        }
        outcome
    }

    async fn facts(&self) -> Facts {
        let connection = self.connection.lock().await.clone();
        let Some(connection) = connection else { return Facts::default() };
        let mut notes = Vec::new();
        let latency = match connection.ping().await {
            Ok(latency) => Some(latency),
            Err(why) => {
                notes.push(format!("it does not answer `ping`: {}", self.unanswered(&connection, why).await));
                None
            }
        };
        let words = connection.words.text();
        Facts { server: Some(connection.server()), latency, notes, log: words.lines().map(str::to_owned).collect() }
    }

    async fn close(&self) {
        let Some(connection) = self.connection.lock().await.take() else { return };
        connection.close().await;
    }
}
