//! One source: its state, its listing and its calls.
//!
//! A listing is a task of its own, so that nobody who stops waiting leaves the source half connected. What calls and events
//! tell of the source goes into its state, which is all that others see of it.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, watch},
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{CallOutput, CallRequest, Diagnosis};
use crate::{
    arguments::{ArgumentRules, Prepared},
    backoff::Backoff,
    catalog::{Catalog, SourceStatus, Status},
    error::{CallError, ErrorCode, Unresolved},
    name,
    observed::{Observed, Observer},
    output,
    process::Children,
    settings::{Environment, SourceKind, SourceSettings},
    source::{
        Call, Down, Event, Events, Facts, Server, Source, Unusable,
        command::CommandSource,
        functions::FunctionSource,
        mcp::{McpSource, Reach},
    },
    tool::{Observation, Tool},
};

/// How long a list that changed is left to change again before it is read: servers that add ten tools say so ten times.
const SETTLING: Duration = Duration::from_millis(100);

pub(super) struct Entry {
    pub(super) settings: SourceSettings,
    pub(super) source: Box<dyn Source>,
    places: Semaphore,
    observer: Observer,
    state: Mutex<State>,
    /// True while no listing is under way and at least one has been tried.
    settled: watch::Sender<bool>,
    environment: Environment,
}

pub(super) struct State {
    status: Status,
    reason: Option<String>,
    since_ms: i64,
    pub(super) tools: Vec<Tool>,
    /// Whether a listing has been tried to its end.
    tried: bool,
    /// After listings that failed.
    backoff: Backoff,
    /// Whether what failed does so until somebody changes something.
    stays: bool,
    running: bool,
    /// Whether the list changed since the listing under way began.
    changed: bool,
    /// Whether the reason is something that the next answer makes untrue.
    outage: bool,
    /// What is wrong with the list, which stays true.
    warning: Option<String>,
    listing: Option<JoinHandle<()>>,
    /// Nothing is started any more.
    closed: bool,
}

impl Entry {
    pub(super) fn new(
        settings: SourceSettings,
        environment: &Environment,
        children: &Arc<Children>,
        observer: &Observer,
        entry: &Weak<Self>,
    ) -> Self {
        let events = || {
            let entry = Weak::clone(entry);
            Events::new(move |event| {
                if let Some(entry) = entry.upgrade() {
                    entry.hear(event);
                }
            })
        };
        let mcp = |reach| -> Box<dyn Source> {
            Box::new(McpSource::new(&settings, reach, environment.clone(), Arc::clone(children), events()))
        };
        let source: Box<dyn Source> = match settings.kind.clone() {
            SourceKind::Command(command) => {
                Box::new(CommandSource::new(&settings.name, command, environment.clone(), Arc::clone(children)))
            }
            SourceKind::Mcp(child) => mcp(Reach::Child(child)),
            SourceKind::McpHttp(http) => mcp(Reach::Http(http)),
            SourceKind::Functions(functions) => Box::new(FunctionSource { name: settings.name.clone(), functions }),
            SourceKind::Unusable { reason, .. } => Box::new(Unusable(reason)),
        };
        let state = State {
            status: Status::Connecting,
            reason: None,
            since_ms: (environment.clock)(),
            tools: Vec::new(),
            tried: false,
            backoff: Backoff::default(),
            stays: false,
            running: false,
            changed: false,
            outage: false,
            warning: None,
            listing: None,
            closed: false,
        };
        Self {
            places: Semaphore::new(settings.max_in_flight.clamp(1, Semaphore::MAX_PERMITS)),
            state: Mutex::new(state),
            settled: watch::Sender::new(false),
            observer: observer.hiding(&settings.secrets),
            environment: environment.clone(),
            source,
            settings,
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn status(&self, state: &State) -> SourceStatus {
        let unanswered = || {
            let limit = self.settings.connect_timeout.as_millis();
            (state.status == Status::Connecting)
                .then(|| format!("it has not answered yet and may take {limit} ms (`connect_timeout_ms`)"))
        };
        SourceStatus {
            name: self.settings.name.clone(),
            r#type: self.settings.kind.as_str().to_owned(),
            status: state.status,
            reason: state.reason.clone().or_else(unanswered),
            since_ms: state.since_ms,
            tools: state.tools.len(),
        }
    }

    pub(super) fn diagnosis(&self, facts: Facts) -> Diagnosis {
        let secrets = &self.settings.secrets;
        let hide = |lines: Vec<String>| lines.iter().map(|line| secrets.hide(line)).collect();
        Diagnosis {
            status: self.status(&self.state()),
            server: facts.server.map(|server| Server {
                name: secrets.hide(&server.name),
                version: secrets.hide(&server.version),
                protocol: secrets.hide(&server.protocol),
            }),
            latency: facts.latency,
            notes: hide(facts.notes),
            log: hide(facts.log),
        }
    }

    /// Starts a listing where one is due. Returns whether the caller should wait for it: the first one only.
    pub(super) fn begin(self: &Arc<Self>) -> bool {
        let mut state = self.state();
        let first = !state.tried;
        let due = match state.status {
            Status::Connecting => first,
            Status::Failed => state.backoff.rest(Instant::now()).is_zero(),
            Status::Ready | Status::Degraded => false,
        };
        if due && !state.running {
            // Whoever calls meanwhile waits for what comes of it.
            self.settled.send_replace(false);
            self.start(&mut state, Duration::ZERO);
        }
        first
    }

    /// Lists in a task of its own: a caller that stops waiting must not leave the source half connected.
    fn start(self: &Arc<Self>, state: &mut State, pause: Duration) {
        if state.closed {
            return;
        }
        state.running = true;
        state.changed = false;
        let entry = Arc::downgrade(self);
        state.listing = Some(tokio::spawn(async move {
            sleep(pause).await;
            if let Some(entry) = entry.upgrade() {
                entry.list().await;
            }
        }));
    }

    fn hear(self: &Arc<Self>, event: Event) {
        let mut state = self.state();
        match event {
            Event::ListChanged if state.running => state.changed = true,
            Event::ListChanged => self.start(&mut state, SETTLING),
            Event::Trouble(reason) => {
                if matches!(state.status, Status::Ready | Status::Degraded) {
                    self.turn(&mut state, Status::Degraded, Some(reason));
                    state.outage = true;
                }
            }
        }
    }

    /// Stops a listing that is under way, and lets none begin.
    pub(super) fn abort(&self) -> Option<JoinHandle<()>> {
        let mut state = self.state();
        state.closed = true;
        let listing = state.listing.take()?;
        listing.abort();
        Some(listing)
    }

    pub(super) async fn settled(&self) {
        // The sender lives as long as the entry, so this only ends when there is something to see.
        let _ = self.settled.subscribe().wait_for(|settled| *settled).await;
    }

    async fn list(self: &Arc<Self>) {
        let listed = self.source.list().await;
        let mut state = self.state();
        state.running = false;
        state.tried = true;
        match listed {
            Ok(listing) => {
                state.tools = offered(&self.settings, listing.tools, &self.environment.observed);
                state.backoff.worked();
                (state.outage, state.stays) = (false, false);
                state.warning = listing.warning;
                self.turn_well(&mut state);
            }
            // What was there before is most likely still there.
            Err(Down { reason, .. }) if matches!(state.status, Status::Ready | Status::Degraded) => {
                state.outage = true;
                self.turn(&mut state, Status::Degraded, Some(reason));
            }
            Err(Down { reason, rest, stays }) => {
                let now = Instant::now();
                state.tools.clear();
                state.backoff.failed(now);
                if let Some(rest) = rest {
                    state.backoff.rest_for(rest, now);
                }
                state.stays = stays;
                self.turn(&mut state, Status::Failed, Some(reason));
            }
        }
        if state.changed {
            self.start(&mut state, SETTLING);
        }
        drop(state);
        self.settled.send_replace(true);
    }

    fn turn(&self, state: &mut State, status: Status, reason: Option<String>) {
        if state.status != status {
            state.since_ms = (self.environment.clock)();
        }
        state.status = status;
        state.reason = reason.map(|reason| self.settings.secrets.hide(&reason));
    }

    /// It answers; what is wrong with its list is all that is wrong.
    fn turn_well(&self, state: &mut State) {
        let warning = state.warning.clone();
        let status = if warning.is_some() { Status::Degraded } else { Status::Ready };
        self.turn(state, status, warning);
    }

    pub(super) async fn call(self: &Arc<Self>, request: CallRequest) -> Result<CallOutput, CallError> {
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
        let mut outcome = self.source.call(call).await.map_err(|error| self.settings.secrets.hide_in(error));
        if let Ok(output) = &mut outcome {
            output.notes.splice(0..0, notes);
        }
        self.learn(&outcome);
        let observer = self.settings.learn_types.then_some(&self.observer);
        output::received(&tool, outcome?, self.settings.on_output_mismatch, observer).await
    }

    fn tool(&self, wanted: &str) -> Result<Tool, CallError> {
        let state = self.state();
        if let Some(tool) = state.tools.iter().find(|tool| tool.name == wanted || tool.ident == wanted) {
            return Ok(tool.clone());
        }
        // The catalog knows how to say what is wrong.
        let rest = state.backoff.rest(Instant::now());
        let status = self.status(&state);
        let catalog = Catalog::new(state.tools.clone(), vec![status]);
        let unresolved = match catalog.resolve(&self.settings.name, wanted) {
            Ok(tool) => return Ok(tool.clone()),
            Err(unresolved) => unresolved,
        };
        let down = matches!(unresolved, Unresolved::SourceDown { .. });
        let mut error = CallError::from(unresolved);
        error.retryable &= !state.stays;
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
                self.turn_well(&mut state);
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
fn offered(settings: &SourceSettings, tools: Vec<Tool>, observed: &Observed) -> Vec<Tool> {
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
        tool.notes.extend(name::clash(&tool.name, &ident));
        tool.ident = ident;
        settings.secrets.hide_in_tool(tool);
        tool.rules = ArgumentRules { coerce: settings.coerce_arguments, defaults: settings.apply_defaults };
        for (_, over) in settings.overrides.iter().filter(|(glob, _)| glob.matches(&tool.name)) {
            tool.effect = over.effect.unwrap_or(tool.effect);
            tool.replay = over.replay.unwrap_or(tool.replay);
            tool.cleanup = over.cleanup.unwrap_or(tool.cleanup);
            tool.retry = over.retry.or(tool.retry);
            tool.approval = over.approval.or(tool.approval);
            if over.reconcile.is_some() {
                tool.reconcile.clone_from(&over.reconcile);
            }
            if let Some(schema) = &over.output_schema {
                tool.output_schema = Some(Arc::new(schema.clone()));
            }
            if let Some(limit) = over.timeout {
                tool.timeout_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
            }
        }
        if settings.learn_types && tool.output_schema.is_none() {
            tool.observed = observed
                .get(&tool.source, &tool.name)
                .map(|seen| Observation { calls: seen.calls, schema: Arc::new(seen.shape.schema()) });
        }
    }
    tools
}
