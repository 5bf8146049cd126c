//! Live connections to all sources.
//!
//! Each source has its own task, its own state and its own places for calls; nothing here ever waits for one source on
//! behalf of another. A source is connected when it is first needed and stays connected until [`close`](Sources::close).

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, value::RawValue};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinHandle,
    time::{Instant, timeout},
};

use crate::{
    arguments::{ArgumentRules, Prepared},
    catalog::{Catalog, SourceStatus, Status},
    error::{CallError, ErrorCode, Unresolved},
    name,
    process::Children,
    settings::{Environment, SourceKind, SourceSettings},
    source::{Call, Source, Unusable, command::CommandSource, functions::FunctionSource, mcp::McpSource},
    tool::Tool,
};

/// How long a source that failed is left alone.
const REST: Duration = Duration::from_secs(5);

/// One call to a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// The name of the source.
    pub source: String,
    /// The tool's own name, or its identifier.
    pub tool: String,
    /// An object, or `null` for none.
    pub args: Value,
    /// The idempotency key. The source sees it as far as its protocol has a place for it.
    pub key: Option<String>,
    /// A limit for this call. Shortens what the settings allow, and never lengthens it.
    pub timeout: Option<Duration>,
}

/// What a call gave.
#[derive(Clone, Debug)]
pub struct CallOutput {
    /// The value as JSON text. Where the source sent JSON as text, byte for byte what it sent.
    pub value: Box<RawValue>,
    /// What should be said beside the value.
    pub notes: Vec<String>,
}

/// All sources.
#[derive(Debug)]
pub struct Sources {
    entries: BTreeMap<String, Arc<Entry>>,
    children: Arc<Children>,
}

struct Entry {
    settings: SourceSettings,
    source: Box<dyn Source>,
    places: Semaphore,
    state: Mutex<State>,
    /// True while no listing is under way and at least one has been tried.
    settled: watch::Sender<bool>,
    environment: Environment,
}

struct State {
    status: Status,
    reason: Option<String>,
    since_ms: i64,
    tools: Vec<Tool>,
    /// Set once a listing has been tried, and never sooner.
    tried: Option<Instant>,
    running: bool,
    /// Whether the reason is a call that got no answer, which the next answer makes untrue.
    outage: bool,
    listing: Option<JoinHandle<()>>,
}

impl Sources {
    /// Takes the settings. Nothing is started yet. Of two sources with one name the later counts.
    #[must_use]
    pub fn open(settings: Vec<SourceSettings>, environment: Environment) -> Self {
        let children = Children::new(environment.guard.clone());
        let entries = settings
            .into_iter()
            .map(|settings| {
                let source: Box<dyn Source> = match settings.kind.clone() {
                    SourceKind::Command(command) => {
                        let children = Arc::clone(&children);
                        Box::new(CommandSource::new(&settings.name, command, environment.clone(), children))
                    }
                    SourceKind::Mcp(mcp) => {
                        Box::new(McpSource::new(&settings, mcp, environment.clone(), Arc::clone(&children)))
                    }
                    SourceKind::Functions(functions) => {
                        Box::new(FunctionSource { name: settings.name.clone(), functions })
                    }
                    SourceKind::Unusable { reason, .. } => Box::new(Unusable(reason)),
                };
                let state = State {
                    status: Status::Connecting,
                    reason: None,
                    since_ms: (environment.clock)(),
                    tools: Vec::new(),
                    tried: None,
                    running: false,
                    outage: false,
                    listing: None,
                };
                let entry = Entry {
                    places: Semaphore::new(settings.max_in_flight.clamp(1, Semaphore::MAX_PERMITS)),
                    state: Mutex::new(state),
                    settled: watch::Sender::new(false),
                    environment: environment.clone(),
                    source,
                    settings,
                };
                (entry.settings.name.clone(), Arc::new(entry))
            })
            .collect();
        Self { entries, children }
    }

    /// Returns what all sources offer now.
    ///
    /// Sources that were never asked are connected, all at once, and waited for up to `wait`. Those that failed before are
    /// tried again in the background, so they cost this caller nothing and may be there for the next. Must run within
    /// tokio, with I/O and time enabled.
    pub async fn catalog(&self, wait: Duration) -> Arc<Catalog> {
        let first: Vec<&Arc<Entry>> = self.entries.values().filter(|entry| entry.begin()).collect();
        // A time-out is no error: what is not there yet is listed as connecting.
        let _ = timeout(wait, join_all(first.into_iter().map(|entry| entry.settled()))).await;
        let mut tools = Vec::new();
        let mut sources = Vec::new();
        for entry in self.entries.values() {
            let state = entry.state();
            tools.extend(state.tools.iter().cloned());
            sources.push(SourceStatus {
                name: entry.settings.name.clone(),
                r#type: entry.settings.kind.as_str().to_owned(),
                status: state.status,
                reason: state.reason.clone(),
                since_ms: state.since_ms,
                tools: state.tools.len(),
            });
        }
        Arc::new(Catalog::new(tools, sources))
    }

    /// Makes a call, once. Connects first where needed, and waits for a free place.
    ///
    /// # Errors
    ///
    /// [`CallError`]. `source_down`, `unknown_tool` and `invalid_arguments` mean that nothing was sent; after
    /// `interrupted` and `timeout` nobody knows.
    pub async fn call(&self, request: CallRequest) -> Result<CallOutput, CallError> {
        let entry = self.entries.get(&request.source).ok_or_else(|| {
            let near = name::did_you_mean(&request.source, self.entries.keys().map(String::as_str));
            CallError::new(ErrorCode::UnknownTool, format!("no source `{}`{near}", request.source))
        })?;
        entry.call(request).await
    }

    /// Ends all connections, and with them every child.
    pub async fn close(mut self) {
        let entries = std::mem::take(&mut self.entries);
        join_all(entries.into_values().map(async |entry| {
            // A source that is still connecting would keep its connection from being ended.
            if let Some(listing) = entry.abort() {
                let _ = listing.await;
            }
            entry.source.close().await;
        }))
        .await;
        self.children.close();
    }
}

impl Drop for Sources {
    /// Without [`close`](Self::close) children are killed instead of asked to go.
    fn drop(&mut self) {
        for entry in self.entries.values() {
            entry.abort();
        }
    }
}

impl Entry {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a listing where one is due. Returns whether the caller should wait for it: the first one only.
    fn begin(self: &Arc<Self>) -> bool {
        let mut state = self.state();
        let first = state.tried.is_none();
        let due = match state.status {
            Status::Connecting => first,
            Status::Failed => state.tried.is_none_or(|tried| tried.elapsed() >= REST),
            Status::Ready | Status::Degraded => false,
        };
        if due && !state.running {
            state.running = true;
            self.settled.send_replace(false);
            let entry = Arc::clone(self);
            // A task of its own: a caller that stops waiting must not leave the source half connected.
            state.listing = Some(tokio::spawn(async move { entry.list().await }));
        }
        first
    }

    /// Stops a listing that is under way.
    fn abort(&self) -> Option<JoinHandle<()>> {
        let listing = self.state().listing.take()?;
        listing.abort();
        Some(listing)
    }

    async fn settled(&self) {
        // The sender lives as long as the entry, so this only ends when there is something to see.
        let _ = self.settled.subscribe().wait_for(|settled| *settled).await;
    }

    async fn list(&self) {
        let listed = self.source.list().await;
        let mut state = self.state();
        state.running = false;
        state.tried = Some(Instant::now());
        match listed {
            Ok(listing) => {
                state.tools = offered(&self.settings, listing.tools);
                let status = if listing.warning.is_some() { Status::Degraded } else { Status::Ready };
                self.turn(&mut state, status, listing.warning);
            }
            Err(reason) => {
                state.tools.clear();
                self.turn(&mut state, Status::Failed, Some(reason));
            }
        }
        drop(state);
        self.settled.send_replace(true);
    }

    fn turn(&self, state: &mut State, status: Status, reason: Option<String>) {
        if state.status != status {
            state.since_ms = (self.environment.clock)();
        }
        state.status = status;
        state.reason = reason;
    }

    async fn call(self: &Arc<Self>, request: CallRequest) -> Result<CallOutput, CallError> {
        self.begin();
        self.settled().await;
        let tool = self.tool(&request.tool)?;
        let Prepared { args, notes } = tool.prepare_args(request.args)?;
        let total = tool.timeout_ms.map_or(self.settings.call_total_timeout, Duration::from_millis);
        let _place =
            self.places.acquire().await.map_err(|_| {
                CallError::new(ErrorCode::SourceDown, format!("source `{}` is closed", self.settings.name))
            })?;
        let call = Call {
            tool: &tool,
            args,
            key: request.key.as_deref(),
            idle: self.settings.call_idle_timeout,
            total: request.timeout.map_or(total, |limit| limit.min(total)),
        };
        let mut outcome = self.source.call(call).await;
        if let Ok(output) = &mut outcome {
            output.notes.splice(0..0, notes);
        }
        self.learn(&outcome);
        outcome
    }

    fn tool(&self, wanted: &str) -> Result<Tool, CallError> {
        let state = self.state();
        if let Some(tool) = state.tools.iter().find(|tool| tool.name == wanted || tool.ident == wanted) {
            return Ok(tool.clone());
        }
        // The catalog knows how to say what is wrong.
        let status = SourceStatus {
            name: self.settings.name.clone(),
            r#type: self.settings.kind.as_str().to_owned(),
            status: state.status,
            reason: state.reason.clone(),
            since_ms: state.since_ms,
            tools: state.tools.len(),
        };
        let rest = state.tried.map_or(REST, |tried| REST.saturating_sub(tried.elapsed()));
        let catalog = Catalog::new(state.tools.clone(), vec![status]);
        let unresolved = match catalog.resolve(&self.settings.name, wanted) {
            Ok(tool) => return Ok(tool.clone()),
            Err(unresolved) => unresolved,
        };
        let down = matches!(unresolved, Unresolved::SourceDown { .. });
        let mut error = CallError::from(unresolved);
        error.retry_after_ms = down.then(|| u64::try_from(rest.as_millis()).unwrap_or(u64::MAX));
        Err(error)
    }

    /// Lets the outcome of a call show in the status.
    fn learn(&self, outcome: &Result<CallOutput, CallError>) {
        let mut state = self.state();
        match outcome {
            Err(error) if matches!(error.code, ErrorCode::SourceDown | ErrorCode::Interrupted) => {
                self.turn(&mut state, Status::Degraded, Some(error.message.clone()));
                state.outage = true;
            }
            Ok(_) if state.outage => {
                self.turn(&mut state, Status::Ready, None);
                state.outage = false;
            }
            Ok(_) | Err(_) => {}
        }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.settings.name).finish_non_exhaustive()
    }
}

/// Applies the settings to what a source listed.
fn offered(settings: &SourceSettings, tools: Vec<Tool>) -> Vec<Tool> {
    let mut tools: Vec<Tool> = tools.into_iter().filter(|tool| settings.offers(&tool.name)).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools.dedup_by(|later, first| {
        let same = later.name == first.name;
        if same {
            first.notes.push("the source lists this name more than once; the first one counts".to_owned());
        }
        same
    });
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let idents = name::identifiers(&names);
    for (tool, ident) in tools.iter_mut().zip(idents) {
        tool.ident = ident;
        tool.rules = ArgumentRules { coerce: settings.coerce_arguments, defaults: settings.apply_defaults };
        for (_, over) in settings.overrides.iter().filter(|(glob, _)| glob.matches(&tool.name)) {
            tool.effect = over.effect.unwrap_or(tool.effect);
            tool.replay = over.replay.unwrap_or(tool.replay);
            if let Some(schema) = &over.output_schema {
                tool.output_schema = Some(Arc::new(schema.clone()));
            }
            if let Some(limit) = over.timeout {
                tool.timeout_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
            }
        }
    }
    tools
}
