//! How a run begins: from a script, or in place of one that was run before.

use std::sync::Arc;

use refrain_catalog::{Catalog, Dialect};
use refrain_engine::{Engine, Language, source};
use refrain_journal::{
    BlobHash, EndState, Ended, Flush, JournalError, Json, Lease, Record, RunId, Seq, Started, Successor, Take,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Attempt, Runtime, dialect_of, read, start_of, stored};
use crate::{
    amend::Earlier,
    config::{Durability, LimitSettings},
    error::RuntimeError,
    policy::Effects,
    preflight::{self, Certainty, Finding},
    report::{Note, Report},
    run::Run,
};

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
    /// What its calls may do.
    pub effects: Effects,
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
            effects: Effects::All,
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
            effects: None,
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
    /// Whether somebody there can be asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// Whether it is one call by itself, and no script's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// The settings under which it came in; see [`Settings::config`](crate::Settings).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
}

impl Origin {
    /// Whether it came from a client of a server, and not from a person at a terminal.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        matches!(self.way.as_str(), "mcp" | "http")
    }
}

/// What tells the caller a run's id before the script starts.
pub(super) type OnStart<'a> = &'a (dyn Fn(RunId) + Send + Sync);

/// What is to be said of a script before it runs.
pub(super) struct Remarks {
    findings: Vec<Finding>,
    of_the_form: Vec<Note>,
}

impl Remarks {
    /// What is told beside the result: everything that does not stop the run.
    pub(super) fn notes(&self) -> Vec<Note> {
        let suspected = self.findings.iter().filter(|finding| finding.certainty == Certainty::Suspected);
        self.of_the_form.iter().cloned().chain(suspected.map(Note::from)).collect()
    }
}

impl Runtime {
    /// Runs a script to its end. `on_start` hears the run's id once the run is in the journal and before the script starts.
    ///
    /// A script that fails is a report. Dropped half way, the run stays in the journal and can be resumed.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] and [`RuntimeError::Engine`]. When `on_start` was called, the run can be resumed.
    pub async fn run(&self, request: RunRequest, on_start: OnStart<'_>) -> Result<Report, RuntimeError> {
        let dialect = request.dialect.or(self.settings.dialect);
        let ready = match self.ready(&request.script, &request.origin, dialect, request.timeout_ms).await? {
            Ok(ready) => ready,
            Err(report) => return Ok(*report),
        };
        let started = Started {
            script: request.script,
            language: request.language.name().into(),
            seed: u64::from_le_bytes(self.random()?),
            started_ms: self.clock.now_ms(),
            args: Json::from_value(&Value::Object(request.args)),
            store: self.store(request.session.as_deref()).await?,
            session: request.session,
            origin: stored(&Origin { config: self.settings.config.clone(), ..request.origin })?,
            effects: request.effects.word().map(str::to_owned),
            dialect: dialect.map(|dialect| dialect.name.to_owned()),
            amends: Vec::new(),
            ..ready.started()?
        };
        let id = RunId::from_parts(started.started_ms, self.random()?);
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
        let ready = match self.ready(&request.script, &request.origin, dialect, None).await? {
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
            origin: stored(&Origin { config: self.settings.config.clone(), ..request.origin })?,
            amends: chain.iter().map(|(run, _)| *run).collect(),
            seed: before.seed,
            started_ms: before.started_ms,
            args: before.args,
            session: before.session,
            store: before.store,
            effects: before.effects,
            dialect: before.dialect,
            ..ready.started()?
        };
        let id = RunId::from_parts(self.clock.now_ms(), self.random()?);
        let blobs = [ready.kept.to_vec()];
        let lease = match &held {
            Some(held) => {
                let last = Record::Ended(Ended {
                    state: EndState::Cancelled,
                    ended_ms: self.clock.now_ms(),
                    report: stored(&Report::amended(old, id))?,
                    stored: Vec::new(),
                });
                let next = Successor { run: id, start: &started, blobs: &blobs };
                journal.replace(held, at, &last, next, self.flush()).await?
            }
            None => journal.create(id, &started, &blobs, self.flush()).await?,
        };
        on_start(id);
        self.begin(&lease, &started, ready, dialect, Earlier::new(chain)).await
    }

    /// What is in the store of a session, each value as its text.
    async fn store(&self, session: Option<&str>) -> Result<Json, RuntimeError> {
        let Some(session) = session else { return Ok(Json::from_value(&json!({}))) };
        let values = self.journal().await?.session(session).await?;
        let texts: Map<String, Value> = values.into_iter().map(|(key, value)| (key, value.as_str().into())).collect();
        Ok(Json::from_value(&texts.into()))
    }

    /// What a script needs before it can start; or the report, where it cannot.
    async fn ready(
        &self,
        script: &str,
        origin: &Origin,
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
        let catalog = if origin.is_agent() && !origin.direct { self.for_scripts(catalog) } else { catalog };
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
        let rules = self.rules(started, &ready.limits);
        let run = Run::new(lease.run(), ready.catalog, rules, dialect, started.started_ms);
        let run = run.guarded(self.gate(started)).correcting(earlier);
        let (prepared, limits, notes) = (&ready.read.prepared, ready.limits, ready.notes);
        let attempt = Attempt { lease, run, started, prepared, limits, notes, restored: None };
        let mut report = self.drive(attempt).await?;
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
    pub(super) async fn remarks(
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
}
