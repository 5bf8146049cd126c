//! The façade: start a run, take one up again, look at runs and tools.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use refrain_catalog::{Catalog, Diagnosis, Dialect, Observed, SourceStatus, Sources};
use refrain_engine::{
    Engine, Language, Prepared, SourceMap, Start,
    source::{self, Facts},
};
use refrain_journal::{
    BlobHash, EndState, Ended, Flush, Journal, JournalError, Json, Lease, Page, Record, RunId, Seq, Started, Successor,
    Take,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::{
    amend::Earlier,
    clock::{Clock, SystemClock},
    config::{Durability, LimitSettings, Settings},
    drive::{Drive, Driven, Tools},
    error::RuntimeError,
    preflight::{self, Certainty, Finding},
    report::{Note, Report, ReportStatus, Script, Usage},
    rounded,
    run::Run,
    ticker::Ticker,
    view::{RunDetail, RunListing},
};

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
    engine: OnceCell<(Engine, Ticker)>,
    /// The globals of a script, without those of a dialect.
    globals: OnceCell<Vec<String>>,
    /// The catalog last written to a journal, with the bytes that were.
    stored: Mutex<Option<Stored>>,
}

/// What is to be said of a script before it runs.
struct Remarks {
    findings: Vec<Finding>,
    of_the_form: Vec<Note>,
}

impl Remarks {
    /// What is told beside the result: everything that does not stop the run.
    fn notes(&self) -> Vec<Note> {
        let suspected = self.findings.iter().filter(|finding| finding.certainty == Certainty::Suspected);
        self.of_the_form.iter().cloned().chain(suspected.map(Note::from)).collect()
    }
}

/// A catalog and its stored form.
type Stored = (Arc<Catalog>, Arc<Vec<u8>>);

/// A script to run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The text, as it was sent.
    pub script: String,
    /// Its language.
    pub language: Language,
    /// What the script sees as `args`.
    pub args: Map<String, Value>,
    /// The session that it belongs to.
    pub session: Option<String>,
    /// Lowers `timeout_ms`; never raises it.
    pub timeout_ms: Option<u64>,
    /// The names under which the script sees the tools, in place of the settings'.
    pub dialect: Option<&'static Dialect>,
    /// Where it came from.
    pub origin: Origin,
}

impl RunRequest {
    /// A request with nothing but a script.
    #[must_use]
    pub fn new(script: impl Into<String>, origin: Origin) -> Self {
        Self {
            script: script.into(),
            language: Language::default(),
            args: Map::new(),
            session: None,
            timeout_ms: None,
            dialect: None,
            origin,
        }
    }
}

/// A script to run in place of another.
#[derive(Clone, Debug)]
pub struct AmendRequest {
    /// The corrected text, as it was sent.
    pub script: String,
    /// Its language.
    pub language: Language,
    /// What to do where the old run is not over and has an owner that is alive.
    pub take: Take,
    /// Where it came from.
    pub origin: Origin,
}

/// A script that can start.
struct Ready {
    read: source::Script,
    catalog: Arc<Catalog>,
    /// Its stored form.
    kept: Arc<Vec<u8>>,
    fingerprint: String,
    limits: LimitSettings,
    notes: Vec<Note>,
}

impl Ready {
    /// The start record, as far as the script and this process decide it.
    fn started(&self) -> Result<Started, RuntimeError> {
        let nothing = Json::from_value(&json!({}));
        Ok(Started {
            script: String::new(),
            language: String::new(),
            javascript: self.read.prepared.javascript.clone(),
            source_map: Some(self.read.prepared.map.to_json().to_owned()),
            seed: 0,
            started_ms: 0,
            args: nothing.clone(),
            limits: stored(&self.limits)?,
            fingerprint: self.fingerprint.clone(),
            catalog: BlobHash::of(&self.kept),
            session: None,
            store: nothing.clone(),
            origin: nothing,
            dialect: None,
            amends: Vec::new(),
        })
    }
}

/// Where a run came from. Kept in its start record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The way in: `cli` or `mcp`.
    pub way: String,
    /// The client's name and version, as it gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What tells the caller a run's id before the script starts.
type OnStart<'a> = &'a (dyn Fn(RunId) + Send + Sync);

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

    /// Runs a script to its end. `on_start` hears the run's id once the run is in the journal and before the script starts.
    ///
    /// A script that fails is a report. Dropped half way, the run stays in the journal and can be resumed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] and [`RuntimeError::Engine`]. When `on_start` was called, the run can be resumed.
    pub async fn run(&self, request: RunRequest, on_start: OnStart<'_>) -> Result<Report, RuntimeError> {
        let dialect = request.dialect.or(self.settings.dialect);
        let ready = match self.ready(&request.script, dialect, request.timeout_ms).await? {
            Ok(ready) => ready,
            Err(report) => return Ok(*report),
        };
        let started = Started {
            script: request.script,
            language: request.language.name().into(),
            seed: u64::from_le_bytes(random()?),
            started_ms: self.clock.now_ms(),
            args: Json::from_value(&Value::Object(request.args)),
            session: request.session,
            store: Json::from_value(&json!({})),
            origin: stored(&request.origin)?,
            dialect: dialect.map(|dialect| dialect.name.to_owned()),
            amends: Vec::new(),
            ..ready.started()?
        };
        let id = RunId::from_parts(started.started_ms, random()?);
        let lease = self.journal().await?.create(id, &started, &[ready.kept.to_vec()], self.flush()).await?;
        on_start(id);
        self.begin(&lease, &started, ready, dialect, None).await
    }

    /// Runs a corrected script in place of one that was run before: what that one finished is not done again.
    ///
    /// The new run has the old one's arguments, session, seed and clock. A call with the tool and the arguments of one that the
    /// old run finished is answered from its journal; see the report's `amends`. A run that is not over is cancelled in the same
    /// commit in which the new one starts.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); [`RuntimeError::Journal`] with `Held` while another process that is alive drives the old run.
    pub async fn amend(
        &self,
        old: RunId,
        request: AmendRequest,
        on_start: OnStart<'_>,
    ) -> Result<Report, RuntimeError> {
        let journal = self.journal().await?;
        let dialect = dialect_of(old, &*start_of(old, journal.read(old).await?.first())?)?;
        let ready = match self.ready(&request.script, dialect, None).await? {
            Ok(ready) => ready,
            Err(report) => return Ok(*report),
        };
        // From here on nobody else drives it, so what is read now is all there is.
        let held = match journal.acquire(old, request.take, self.clock.now_ms()).await {
            Ok(lease) => Some(lease),
            Err(JournalError::Over { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let records = journal.read(old).await?;
        let at = Seq(records.len() as u64);
        let before = start_of(old, records.first())?;
        let mut chain = vec![(old, records)];
        for older in before.amends.clone() {
            chain.push((older, journal.read(older).await?));
        }
        let started = Started {
            script: request.script,
            language: request.language.name().into(),
            origin: stored(&request.origin)?,
            amends: chain.iter().map(|(run, _)| *run).collect(),
            seed: before.seed,
            started_ms: before.started_ms,
            args: before.args,
            session: before.session,
            store: before.store,
            dialect: before.dialect,
            ..ready.started()?
        };
        let id = RunId::from_parts(self.clock.now_ms(), random()?);
        let blobs = [ready.kept.to_vec()];
        let lease = match &held {
            Some(held) => {
                let last = Record::Ended(Ended {
                    state: EndState::Cancelled,
                    ended_ms: self.clock.now_ms(),
                    report: stored(&Report::amended(old, id))?,
                });
                let next = Successor { run: id, start: &started, blobs: &blobs };
                journal.replace(held, at, &last, next, self.flush()).await?
            }
            None => journal.create(id, &started, &blobs, self.flush()).await?,
        };
        on_start(id);
        self.begin(&lease, &started, ready, dialect, Earlier::new(chain)).await
    }

    /// What a script needs before it can start; or the report, where it cannot.
    async fn ready(
        &self,
        script: &str,
        dialect: Option<&'static Dialect>,
        timeout_ms: Option<u64>,
    ) -> Result<Result<Ready, Box<Report>>, RuntimeError> {
        let read = match read(script, preflight::roots(dialect)).await? {
            Ok(read) => read,
            Err(error) => return Ok(Err(Box::new(Report::syntax(script, &error)))),
        };
        let (journal, engine, catalog) =
            tokio::join!(self.journal(), self.engine(), self.catalog_for(script, &read.facts, dialect));
        journal?;
        let (engine, _) = engine?;
        let remarks = self.remarks(engine, &read, &catalog, dialect).await?;
        if let Some(error) = preflight::refusal(script, &remarks.findings) {
            return Ok(Err(Box::new(Report::refused(error, remarks.notes()))));
        }
        let mut limits = self.settings.limits;
        for own in [timeout_ms, read.options.timeout_ms].into_iter().flatten() {
            limits.timeout_ms = limits.timeout_ms.min(own);
        }
        let (kept, fingerprint, notes) = (self.kept(&catalog)?, engine.fingerprint(), remarks.notes());
        Ok(Ok(Ready { read, catalog, kept, fingerprint, limits, notes }))
    }

    /// Drives a run that was just created to its end.
    async fn begin(
        &self,
        lease: &Lease,
        started: &Started,
        ready: Ready,
        dialect: Option<&'static Dialect>,
        earlier: Option<Earlier>,
    ) -> Result<Report, RuntimeError> {
        let (durability, started_ms) = (self.settings.durability, started.started_ms);
        let run = Run::new(lease.run(), ready.catalog, None, durability, dialect, started_ms, Vec::new());
        let run = run.correcting(earlier);
        let mut report = self.drive(lease, run, started, &ready.read.prepared, ready.limits, ready.notes).await?;
        report.max_output_tokens = ready.read.options.max_output_tokens;
        Ok(report)
    }

    /// How durable the start of a run is.
    fn flush(&self) -> Flush {
        match self.settings.durability {
            Durability::Power => Flush::Disk,
            Durability::Effects | Durability::Process => Flush::Process,
        }
    }

    /// What is to be said of a script before it runs.
    async fn remarks(
        &self,
        engine: &Engine,
        read: &source::Script,
        catalog: &Catalog,
        dialect: Option<&Dialect>,
    ) -> Result<Remarks, RuntimeError> {
        let globals = self.globals.get_or_try_init(|| preflight::globals_of(engine)).await?;
        Ok(Remarks {
            findings: preflight::check(&read.facts, catalog, globals, dialect),
            of_the_form: read.remarks.iter().map(Note::from).collect(),
        })
    }

    /// Takes a run up where its journal ends. A run that is over answers with its report, and nothing runs.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] with `Held` while another process that is alive drives it.
    pub async fn resume(&self, id: RunId, take: Take) -> Result<Report, RuntimeError> {
        let journal = self.journal().await?;
        if let Some(report) = finished(id, &journal.read(id).await?)? {
            return Ok(report);
        }
        let lease = match journal.acquire(id, take, self.clock.now_ms()).await {
            Ok(lease) => lease,
            // It ended between the look and the try.
            Err(JournalError::Over { .. }) => {
                return finished(id, &journal.read(id).await?)?
                    .ok_or_else(|| unusable(id, "it is over and has no end record"));
            }
            Err(error) => return Err(error.into()),
        };
        let mut records = journal.read(id).await?.into_iter();
        let started = start_of(id, records.next().as_ref())?;
        let mut chain = Vec::new();
        for older in &started.amends {
            chain.push((*older, journal.read(*older).await?));
        }
        let limits: LimitSettings =
            started.limits.parse().map_err(|error| unusable(id, &format!("its limits: {error}")))?;
        let kept = journal.blob(started.catalog).await?;
        let catalog: Catalog =
            serde_json::from_slice(&kept).map_err(|error| unusable(id, &format!("its catalog: {error}")))?;
        let dialect = dialect_of(id, &started)?;
        // Read anew for what it names and for what is said beside the result; what runs is what ran before.
        let read = read(&started.script, preflight::roots(dialect)).await?;
        let present = match &read {
            Ok(read) => self.catalog_for(&started.script, &read.facts, dialect).await,
            Err(_) => self.catalog().await, // a later version that reads scripts otherwise
        };
        let durability = self.settings.durability;
        let run =
            Run::new(id, Arc::new(catalog), Some(present), durability, dialect, started.started_ms, records.collect())
                .correcting(Earlier::new(chain));
        let prepared = Prepared {
            javascript: started.javascript.clone(),
            map: started.source_map.as_deref().map(SourceMap::from_json).unwrap_or_default(),
        };
        let notes = match &read {
            Ok(read) => self.remarks(&self.engine().await?.0, read, run.catalog(), dialect).await?.notes(),
            Err(_) => Vec::new(),
        };
        self.drive(&lease, run, &started, &prepared, limits, notes).await
    }

    async fn drive(
        &self,
        lease: &Lease,
        mut run: Run,
        started: &Started,
        prepared: &Prepared,
        limits: LimitSettings,
        notes: Vec<Note>,
    ) -> Result<Report, RuntimeError> {
        let journal = self.journal().await?;
        let (engine, ticker) = self.engine().await?;
        let id = lease.run();
        let mut sandbox = engine.sandbox(limits.engine())?;
        let before = run.active_before_ms();
        let began = self.clock.instant();
        let drive = Drive {
            journal: &**journal,
            tools: Arc::clone(&self.sources) as Arc<dyn Tools>,
            ticker,
            clock: &self.clock,
            lease,
            time_left: Duration::from_millis(limits.timeout_ms.saturating_sub(before)),
            drain: self.settings.drain,
            result_bytes: usize::try_from(limits.result_kb.saturating_mul(1024)).unwrap_or(usize::MAX),
        };
        let dialect = dialect_of(id, started)?;
        let facts = facts(started, run.catalog(), dialect, limits.engine().output_bytes);
        let start = Start { clock_ms: started.started_ms, seed: started.seed, facts };
        if let Driven::Diverged(divergence) = drive.run(&mut run, &mut sandbox, &prepared.javascript, &start).await? {
            return Ok(Report::diverged(id, &run, &divergence));
        }
        let took = self.clock.instant().saturating_duration_since(began);
        let usage = Usage {
            active_ms: before.saturating_add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            cpu_fuel: sandbox.fuel_used(),
            ..Usage::default()
        };
        let end = run.end().ok_or_else(|| RuntimeError::Bug { what: "a run is over and has no end".into() })?;
        let script = Script { text: &started.script, map: &prepared.map };
        let mut report = Report::of(id, &run, end, &script, &limits, usage);
        report.add_notes(notes);
        let rounded = rounded::note("`args`", started.args.as_str());
        report.notes.extend(rounded.map(|told| Note::new("value_changed", told)));
        let mut records = run.asked_at_end();
        records.push(Record::Ended(Ended {
            state: match report.status {
                ReportStatus::Completed => EndState::Completed,
                ReportStatus::Failed | ReportStatus::Parked => EndState::Failed,
                ReportStatus::Cancelled => EndState::Cancelled,
            },
            ended_ms: self.clock.now_ms(),
            report: stored(&report)?,
        }));
        journal.append(lease, run.next_seq(), &records, run.flush(true)).await?;
        Ok(report)
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

    async fn journal(&self) -> Result<&Arc<dyn Journal>, RuntimeError> {
        self.journal.get_or_try_init(|| async { Ok(refrain_journal::open(&self.settings.journal_url).await?) }).await
    }

    async fn engine(&self) -> Result<&(Engine, Ticker), RuntimeError> {
        self.engine
            .get_or_try_init(|| async {
                let cache = self.settings.cache.clone();
                // Compiling takes a second; journal and sources are opened meanwhile.
                let made = tokio::task::spawn_blocking(move || Engine::new(cache)).await;
                let engine =
                    made.map_err(|error| RuntimeError::Bug { what: format!("making the engine broke: {error}") })??;
                let ticker = Ticker::start(engine.clone(), self.settings.slice, Arc::clone(&self.clock));
                Ok((engine, ticker))
            })
            .await
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

/// What the sandbox is told of its run: every name under which a tool can be reached.
fn facts(started: &Started, catalog: &Catalog, dialect: Option<&Dialect>, room: usize) -> String {
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
        "{{\"args\":{},\"tools\":{},\"store\":{},\"room\":{room}",
        started.args,
        Value::Object(tools),
        started.store
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

fn random<const N: usize>() -> Result<[u8; N], RuntimeError> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(RuntimeError::Bug { what: format!("the system gives no random bytes: {error}") }),
    }
}
