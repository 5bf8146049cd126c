//! The façade: start a run, take one up again, look at runs and tools.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use refrain_catalog::{Catalog, Diagnosis, Dialect, Expose, Observed, SourceStatus, Sources};
use refrain_engine::{
    Engine, Prepared, Sandbox, Start,
    source::{self, Facts},
};
use refrain_journal::{
    EndState, Ended, Flush, Journal, JournalError, Json, Lease, Page, Parked, Record, RunId, Seq, Started, Stored,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::{
    clock::{Clock, SystemClock},
    config::{Durability, LimitSettings, OnDivergence, Settings},
    drive::{Begin, Drive, Driven, Tools},
    error::RuntimeError,
    policy::{Effects, Gate},
    preflight,
    report::{Note, Report, ReportStatus, Script, Usage},
    rounded,
    run::{Rules, Run},
    ticker::Ticker,
    view::{RunDetail, RunListing},
    waiting::Waiting,
};

mod direct;
mod resume;
mod start;
mod tend;

use tend::Wakes;

pub use start::{AmendRequest, Origin, RunRequest};
pub use tend::Tended;

/// How long a run waits for sources that were never connected. Those that are late are listed as connecting.
const SOURCES_WAIT: Duration = Duration::from_secs(10);

/// How long a run waits for sources that its script does not name: what it searches for may be theirs.
const OTHERS_WAIT: Duration = Duration::from_secs(1);

/// Runs scripts against the tools of its sources, and remembers them in its journal.
pub struct Runtime {
    settings: Settings,
    clock: Arc<dyn Clock>,
    sources: Arc<Sources>,
    journal: OnceCell<Arc<dyn Journal>>,
    engine: OnceCell<Arc<(Engine, Ticker)>>,
    /// The globals of a script, without those of a dialect.
    globals: OnceCell<Vec<String>>,
    /// The catalog last written to a journal, with the bytes that were.
    stored: Mutex<Option<Kept>>,
    /// When the runs that this process parked are due.
    wakes: Wakes,
}

/// A run that is about to be driven.
struct Attempt<'a> {
    lease: &'a Lease,
    run: Run,
    started: &'a Started,
    prepared: &'a Prepared,
    limits: LimitSettings,
    notes: Vec<Note>,
    /// The sandbox in which it has begun, where it was put away.
    restored: Option<Sandbox>,
}

/// A catalog and its stored form.
type Kept = (Arc<Catalog>, Arc<Vec<u8>>);

impl Runtime {
    /// Takes the settings. Journal, engine and sources are opened when they are first needed.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::with_clock(settings, Arc::new(SystemClock))
    }

    /// As [`new`](Self::new), with another clock.
    #[must_use]
    pub fn with_clock(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let mut own = settings.sources.clone();
        for source in &mut own {
            source.learn_types &= settings.learn_types;
        }
        let sources = Arc::new(Sources::open(own, settings.environment.clone()));
        Self {
            settings,
            clock,
            sources,
            journal: OnceCell::new(),
            engine: OnceCell::new(),
            globals: OnceCell::new(),
            stored: Mutex::new(None),
            wakes: Wakes::default(),
        }
    }

    /// As [`with_clock`](Self::with_clock), over a journal that is open, whatever its address in the settings.
    #[must_use]
    pub fn with_journal(settings: Settings, journal: Arc<dyn Journal>, clock: Arc<dyn Clock>) -> Self {
        Self { journal: OnceCell::new_with(Some(journal)), ..Self::with_clock(settings, clock) }
    }

    /// Another runtime over another journal, with the engine, the sources and the clock of this one.
    #[must_use]
    pub fn over(&self, journal: Arc<dyn Journal>) -> Self {
        Self {
            settings: self.settings.clone(),
            clock: Arc::clone(&self.clock),
            sources: Arc::clone(&self.sources),
            journal: OnceCell::new_with(Some(journal)),
            engine: OnceCell::new_with(self.engine.get().cloned()),
            globals: OnceCell::new_with(self.globals.get().cloned()),
            stored: Mutex::new(None),
            wakes: Wakes::default(),
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns what was seen of results since this was last asked. Whoever keeps it gives it back with the environment of the
    /// next start.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.sources.observed()
    }

    /// Drives a run until it is over or waits for what is outside.
    async fn drive(&self, attempt: Attempt<'_>) -> Result<Report, RuntimeError> {
        let Attempt { lease, mut run, started, prepared, limits, notes, restored } = attempt;
        let journal = self.journal().await?;
        let (engine, ticker) = self.engine().await?;
        let id = lease.run();
        let is_restored = restored.is_some();
        let mut sandbox = match restored {
            Some(sandbox) => sandbox,
            None => engine.sandbox(limits.engine())?,
        };
        let before = run.active_before_ms();
        let began = self.clock.instant();
        let drive = Drive {
            journal: &**journal,
            tools: Arc::clone(&self.sources) as Arc<dyn Tools>,
            ticker,
            clock: &self.clock,
            lease,
            // Time that the run had used up is no reason not to clean up.
            time_left: match run.cancelling() {
                Some(_) => self.settings.cleanup,
                None => {
                    let active_ms = limits.timeout_ms.saturating_sub(before);
                    let until_ms = deadline_ms(started, &limits).map(|at_ms| at_ms.saturating_sub(self.clock.now_ms()));
                    let until_ms = until_ms.map_or(u64::MAX, |ms| u64::try_from(ms).unwrap_or(0));
                    Duration::from_millis(active_ms.min(until_ms))
                }
            },
            drain: self.settings.drain,
            result_bytes: usize::try_from(limits.result_kb.saturating_mul(1024)).unwrap_or(usize::MAX),
            snapshot_every: self.settings.snapshot_every,
        };
        let dialect = dialect_of(id, started)?;
        let facts = facts(started, run.catalog(), dialect, &limits);
        let start = Start { clock_ms: started.started_ms, seed: started.seed, facts };
        let begin = match is_restored {
            true => Begin::Restored,
            false => Begin::Script { javascript: &prepared.javascript, start: &start },
        };
        let driven = drive.run(&mut run, &mut sandbox, begin).await?;
        let took = self.clock.instant().saturating_duration_since(began);
        let usage = Usage {
            active_ms: before.saturating_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            cpu_fuel: sandbox.fuel_used(),
            ..Usage::default()
        };
        let script = Script { text: &started.script, map: &prepared.map };
        match driven {
            Driven::Over => {}
            Driven::Parked { waiting, wake_ms } => {
                if let Some(wake_ms) = wake_ms {
                    self.wakes.add(wake_ms, id);
                }
                let mut report = Report::parked(id, &run, waiting, &script, &limits, usage);
                report.add_notes(notes);
                return Ok(report);
            }
            Driven::Diverged(divergence) => {
                let waiting = Waiting::diverged(id, &divergence);
                if self.settings.on_divergence == OnDivergence::Fail {
                    let report = Report::diverged(id, &run, &divergence);
                    self.end(lease, run.next_seq(), Vec::new(), &report, Vec::new()).await?;
                    return Ok(report);
                }
                self.put_down(lease, &run, &waiting).await?;
                let mut report = Report::parked(id, &run, vec![waiting], &script, &limits, usage);
                report.add_notes(notes);
                return Ok(report);
            }
        }
        let end = run.end().ok_or_else(|| RuntimeError::Bug { what: "a run is over and has no end".into() })?;
        let is_late = run.is_late(self.clock.now_ms());
        let mut report = Report::of(id, &run, end, &script, &limits, usage, is_late);
        report.add_notes(notes);
        let rounded = rounded::note("`args`", started.args.as_str());
        report.notes.extend(rounded.map(|told| Note::new("value_changed", told)));
        let left = run.left_in_store()?;
        let kept = match (report.status, &started.session) {
            (ReportStatus::Completed, Some(_)) => left,
            (ReportStatus::Completed, None) if !left.is_empty() => {
                let told =
                    "what was stored is not kept, since the run has no session; give it one with `--session NAME`";
                report.notes.push(Note::new("store_not_kept", told));
                Vec::new()
            }
            _ => Vec::new(),
        };
        match self.end(lease, run.next_seq(), run.asked_at_end(), &report, kept).await {
            // Nothing was written, so the run can end in another way.
            Err(RuntimeError::Journal(conflict @ JournalError::StoreConflict { .. })) => {
                let report = report.failed(&conflict);
                self.end(lease, run.next_seq(), run.asked_at_end(), &report, Vec::new()).await?;
                Ok(report)
            }
            ended => ended.map(|()| report),
        }
    }

    /// Parks a run that only a person can bring on, unless it is parked for the same already.
    async fn put_down(&self, lease: &Lease, run: &Run, waiting: &Waiting) -> Result<(), RuntimeError> {
        let waiting = stored(&[waiting])?;
        if run.waits_for() == Some(&waiting) {
            return Ok(());
        }
        let (at_ms, active_ms) = (self.clock.now_ms(), run.active_before_ms());
        let parked = [Record::Parked(Parked { at_ms, active_ms, wake_ms: None, waiting })];
        Ok(self.journal().await?.append(lease, run.next_seq(), &parked, run.flush(true)).await?)
    }

    /// Records the end of a run, after `records`, with what it leaves in the store of its session.
    async fn end(
        &self,
        lease: &Lease,
        at: Seq,
        mut records: Vec<Record>,
        report: &Report,
        kept: Vec<Stored>,
    ) -> Result<(), RuntimeError> {
        records.push(Record::Ended(Ended {
            state: match report.status {
                ReportStatus::Completed => EndState::Completed,
                ReportStatus::Failed | ReportStatus::Parked => EndState::Failed,
                ReportStatus::Cancelled => EndState::Cancelled,
            },
            ended_ms: self.clock.now_ms(),
            report: stored(report)?,
            stored: kept,
        }));
        let flush = match self.settings.durability {
            Durability::Process => Flush::Process,
            Durability::Effects | Durability::Power => Flush::Disk,
        };
        Ok(self.journal().await?.append(lease, at, &records, flush).await?)
    }

    /// A name for a session that nobody has named.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Bug`] where the system has no random numbers.
    pub fn fresh_session(&self) -> Result<String, RuntimeError> {
        let id = RunId::from_parts(self.clock.now_ms(), self.random()?);
        Ok(format!("connection-{id}"))
    }

    /// What judges the calls of a run.
    fn gate(&self, started: &Started) -> Gate {
        Gate {
            policy: Arc::clone(&self.settings.policy),
            origin: started.origin.parse().unwrap_or_default(),
            session: started.session.clone(),
            effects: Effects::of(started.effects.as_deref()),
        }
    }

    /// What the settings say about the steps of a run.
    fn rules(&self, started: &Started, limits: &LimitSettings) -> Rules {
        Rules {
            deadline_ms: deadline_ms(started, limits),
            durability: self.settings.durability,
            on_interrupted: self.settings.on_interrupted,
            park_after_ms: u64::try_from(self.settings.park_after.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// One page of runs, the newest first.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`], also for a cursor that no listing gave.
    pub async fn runs(&self, limit: usize, cursor: Option<String>) -> Result<RunListing, RuntimeError> {
        let listing = self.journal().await?.list(&Page { limit, cursor }).await?;
        Ok(RunListing::of(listing))
    }

    /// Everything the journal has of one run.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`].
    pub async fn show(&self, id: RunId) -> Result<RunDetail, RuntimeError> {
        let journal = self.journal().await?;
        let summary = journal.summary(id).await?;
        let records = journal.read(id).await?;
        let report = finished(id, &records)?;
        Ok(RunDetail::of(summary, records, report))
    }

    /// A run as one file, with the runs that it corrects; see [`import`](Self::import).
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`].
    pub async fn export(&self, id: RunId) -> Result<Vec<u8>, RuntimeError> {
        let journal = self.journal().await?;
        let mut runs = vec![journal.export(id).await?];
        for older in runs[0].amends()? {
            runs.push(journal.export(older).await?);
        }
        Ok(refrain_journal::export::write(&runs)?)
    }

    /// Takes in the file of a run, whole or not at all. Returns the run, which can be looked at and taken up here; values of its
    /// session's store do not come with it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] for a file that is damaged or newer, and for a run that is here with other records.
    pub async fn import(&self, file: &[u8]) -> Result<RunId, RuntimeError> {
        let runs = refrain_journal::export::read(file)?;
        let id = runs.first().map(|run| run.run);
        self.journal().await?.import(runs, Flush::Disk).await?;
        id.ok_or_else(|| RuntimeError::Bug { what: "a file of runs was read and has none".into() })
    }

    /// The one run whose id starts with `prefix`.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoSuchRun`] and [`RuntimeError::AmbiguousRun`].
    pub async fn find_run(&self, prefix: &str) -> Result<RunId, RuntimeError> {
        let found = self.journal().await?.find(prefix, 2).await?;
        match found[..] {
            [] => Err(RuntimeError::NoSuchRun { prefix: prefix.into() }),
            [id] => Ok(id),
            [first, second, ..] => Err(RuntimeError::AmbiguousRun { prefix: prefix.into(), first, second }),
        }
    }

    /// All tools as they are now. Sources that were never connected are connected and waited for.
    pub async fn catalog(&self) -> Arc<Catalog> {
        self.sources.catalog(SOURCES_WAIT).await
    }

    /// The part of a catalog that scripts of clients see: without sources whose tools are offered only by themselves.
    #[must_use]
    pub fn for_scripts(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        let is_hidden = |name: &str| {
            self.settings.sources.iter().any(|source| source.name == name && source.expose == Expose::Direct)
        };
        if catalog.sources().iter().any(|source| is_hidden(&source.name)) {
            Arc::new(catalog.without(is_hidden))
        } else {
            catalog
        }
    }

    /// As [`catalog`](Self::catalog), but waits so long. Asked again, it goes on waiting for those that have not answered.
    pub async fn catalog_within(&self, wait: Duration) -> Arc<Catalog> {
        self.sources.catalog(wait).await
    }

    /// Connects every source, waits for each as long as its settings say, and tells what it found.
    pub async fn diagnose(&self) -> Vec<Diagnosis> {
        self.sources.diagnose().await
    }

    /// All tools for a script: the sources that it names are waited for as long as their settings say, and others only for a
    /// moment.
    async fn catalog_for(&self, script: &str, facts: &Facts, dialect: Option<&Dialect>) -> Arc<Catalog> {
        let has_all = |catalog: &Catalog| preflight::is_enough(script, facts, catalog, dialect);
        let longest = self.settings.sources.iter().map(|source| source.connect_timeout).max();
        // Each has an end of its own, and a moment for the reason of a failure.
        let wait = longest.unwrap_or_default() + OTHERS_WAIT;
        self.sources.catalog_until(wait, OTHERS_WAIT, has_all).await
    }

    /// Opens the journal, or says why it cannot be opened.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`].
    pub async fn check_journal(&self) -> Result<(), RuntimeError> {
        self.journal().await.map(drop)
    }

    /// Makes the engine, or says why it cannot be made. Returns its fingerprint.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Engine`].
    pub async fn check_engine(&self) -> Result<String, RuntimeError> {
        Ok(self.engine().await?.0.fingerprint())
    }

    /// Ends the sources' processes. Runs that are under way elsewhere in this process lose their tools.
    pub async fn close(self) {
        if let Ok(sources) = Arc::try_unwrap(self.sources) {
            sources.close().await;
        }
    }

    fn random<const N: usize>(&self) -> Result<[u8; N], RuntimeError> {
        let mut bytes = [0; N];
        self.clock.random(&mut bytes)?;
        Ok(bytes)
    }

    pub(crate) async fn journal(&self) -> Result<&Arc<dyn Journal>, RuntimeError> {
        self.journal.get_or_try_init(|| async { Ok(refrain_journal::open(&self.settings.journal_url).await?) }).await
    }

    async fn engine(&self) -> Result<&(Engine, Ticker), RuntimeError> {
        let made = self
            .engine
            .get_or_try_init(|| async {
                let cache = self.settings.cache.clone();
                // Compiling takes a second; journal and sources are opened meanwhile.
                let made = tokio::task::spawn_blocking(move || Engine::new(cache)).await;
                let engine =
                    made.map_err(|error| RuntimeError::Bug { what: format!("making the engine broke: {error}") })??;
                let ticker = Ticker::start(engine.clone(), self.settings.slice, Arc::clone(&self.clock));
                Ok::<_, RuntimeError>(Arc::new((engine, ticker)))
            })
            .await?;
        Ok(made)
    }

    /// The stored form of a catalog: what a script may see, without how its sources fared, so that equal catalogs of
    /// different days are one blob.
    fn kept(&self, catalog: &Arc<Catalog>) -> Result<Arc<Vec<u8>>, RuntimeError> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, bytes)) = &*stored
            && Arc::ptr_eq(known, catalog)
        {
            return Ok(Arc::clone(bytes));
        }
        let timeless = catalog.sources().iter().map(|status| SourceStatus { since_ms: 0, ..status.clone() }).collect();
        let bytes = serde_json::to_vec(&Catalog::new(catalog.tools().to_vec(), timeless))
            .map_err(|error| RuntimeError::Bug { what: format!("a catalog has no JSON: {error}") })?;
        let bytes = Arc::new(bytes);
        *stored = Some((Arc::clone(catalog), Arc::clone(&bytes)));
        Ok(bytes)
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("journal", &self.settings.journal_url).finish_non_exhaustive()
    }
}

/// When a run has to be over, in milliseconds since 1970.
fn deadline_ms(started: &Started, limits: &LimitSettings) -> Option<i64> {
    limits.deadline_ms.map(|deadline_ms| started.started_ms.saturating_add_unsigned(deadline_ms))
}

/// What the sandbox is told of its run: every name under which a tool can be reached.
fn facts(started: &Started, catalog: &Catalog, dialect: Option<&Dialect>, limits: &LimitSettings) -> String {
    let (room, store_kb) = (limits.engine().output_bytes, limits.store_kb);
    let mut tools: Map<String, Value> = Map::new();
    for status in catalog.sources() {
        tools.entry(status.name.clone()).or_insert_with(|| json!([]));
    }
    for tool in catalog.tools() {
        let names = tools.entry(tool.source.clone()).or_insert_with(|| json!([]));
        if let Value::Array(names) = names {
            // A namespace must not look like a promise.
            if tool.name != "then" {
                names.push(tool.name.as_str().into());
            }
            if tool.ident != tool.name {
                names.push(tool.ident.as_str().into());
            }
        }
    }
    let idents: Vec<(String, Value)> = tools
        .iter()
        .filter_map(|(source, names)| {
            let ident = catalog.source_ident(source);
            (ident != source).then(|| (ident.to_owned(), names.clone()))
        })
        .collect();
    tools.extend(idents);
    let mut facts = format!(
        "{{\"args\":{},\"tools\":{},\"store\":{},\"storeRoom\":{{\"value\":{},\"all\":{}}},\"room\":{room}",
        started.args,
        Value::Object(tools),
        started.store,
        store_kb.saturating_mul(1024),
        store_kb.saturating_mul(4 * 1024),
    );
    if let Some(dialect) = dialect {
        let names = |table: &[(&str, &str)]| -> Map<String, Value> {
            table.iter().map(|(name, is)| ((*name).to_owned(), (*is).into())).collect()
        };
        let mut values = Map::new();
        if dialect.flat {
            let flat: Map<String, Value> =
                catalog.flat_names().map(|(name, tool)| (name.to_owned(), json!([tool.source, tool.name]))).collect();
            facts.push_str(&format!(",\"flat\":{}", Value::Object(flat)));
        }
        if let Some(list) = dialect.list {
            let all: Vec<Value> = catalog
                .tools()
                .iter()
                .map(|tool| {
                    let name = format!("mcp__{}__{}", catalog.source_ident(&tool.source), tool.ident);
                    json!({ "name": name, "description": tool.description })
                })
                .collect();
            values.insert(list.to_owned(), all.into());
        }
        let told = json!({
            "root": dialect.root, "flat": dialect.flat, "members": names(dialect.members), "globals": names(dialect.globals),
            "values": values,
        });
        facts.push_str(&format!(",\"dialect\":{told}"));
    }
    facts + "}"
}

/// Reads a script away from the threads that serve everything else: a hostile one takes a while.
async fn read(script: &str, roots: source::Roots) -> Result<Result<source::Script, source::SyntaxError>, RuntimeError> {
    let script = script.to_owned();
    tokio::task::spawn_blocking(move || source::read(&script, &roots))
        .await
        .map_err(|error| RuntimeError::Bug { what: format!("reading a script broke: {error}") })
}

/// The start record of a run.
fn start_of(run: RunId, first: Option<&Record>) -> Result<Box<Started>, RuntimeError> {
    match first {
        Some(Record::Started(started)) => Ok(started.clone()),
        _ => Err(unusable(run, "its first record is no start record")),
    }
}

fn dialect_of(run: RunId, started: &Started) -> Result<Option<&'static Dialect>, RuntimeError> {
    started.dialect.as_deref().map(Dialect::find).transpose().map_err(|error| unusable(run, &error))
}

/// The report of a run that is over.
fn finished(id: RunId, records: &[Record]) -> Result<Option<Report>, RuntimeError> {
    match records.last() {
        Some(Record::Ended(ended)) => {
            let report = ended.report.parse().map_err(|error| unusable(id, &format!("its report: {error}")))?;
            Ok(Some(report))
        }
        _ => Ok(None),
    }
}

fn stored<T: Serialize>(value: &T) -> Result<Json, RuntimeError> {
    let text = serde_json::to_string(value)
        .map_err(|error| RuntimeError::Bug { what: format!("a record has no JSON: {error}") })?;
    Ok(Json::new(text)?)
}

fn unusable(run: RunId, what: &str) -> RuntimeError {
    RuntimeError::Unusable { run, what: what.to_owned() }
}
