//! A run that is cut and taken up until it is over.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use refrain_journal::{Fate, MemoryJournal, Page, Record, testing::PowerCut};
use refrain_runtime::{
    Clock, Environment, Functions, Journal, Origin, Report, ReportStatus, RunId, RunRequest, Runtime, RuntimeError,
    Settings, SharedFunctions, SourceKind, SourceSettings, SystemClock, Take,
};
use serde_json::Value;

use super::{
    generator::Dice,
    place::{Cuts, Place},
    tools::{Fates, Tools},
};

const START: i64 = 1_700_000_000_000;

/// A clock that stands until a run parks, and chance that is the same for the same script, so that two traces can be compared.
struct Still {
    instant: std::time::Instant,
    now_ms: AtomicI64,
    seed: AtomicU64,
}

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn instant(&self) -> std::time::Instant {
        self.instant
    }

    fn random(&self, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        let mut dice = Dice::new(self.seed.load(Ordering::SeqCst));
        bytes.fill_with(|| dice.roll(256).to_le_bytes()[0]);
        Ok(())
    }
}

/// Everything that outlives a crash but the journal.
pub(crate) struct World {
    runtime: Runtime,
    tools: Arc<Tools>,
    clock: Arc<Still>,
}

/// What came of a trace.
pub(crate) struct Trace {
    /// The writes of the last attempt: of the whole run, where it was not cut.
    pub(crate) writes: u64,
    pub(crate) kills: u64,
    pub(crate) parks: u64,
    pub(crate) report: Value,
    pub(crate) records: Vec<Record>,
    /// The calls that reached the tools.
    pub(crate) calls: BTreeSet<String>,
}

impl World {
    pub(crate) async fn new(cache: std::path::PathBuf) -> Self {
        let tools = Arc::new(Tools::default());
        let mut settings = Settings::new(Environment::new(|_| None, || 0));
        settings.cache = Some(cache);
        settings.snapshot_every = 3;
        settings.drain = std::time::Duration::from_millis(200);
        // Shorter than the time between any two long sleeps, so that a test waits for none of them.
        settings.park_after = std::time::Duration::from_millis(500);
        // How fast the machine is may not matter, so that a trace can be played again.
        settings.slice = std::time::Duration::from_secs(3600);
        // What is learnt of results is in the catalog of the next run, and two would start otherwise.
        settings.learn_types = false;
        // That a run of which many processes die is put down has a test of its own.
        settings.max_restarts = u32::MAX;
        let source = SourceKind::Functions(SharedFunctions(Arc::clone(&tools) as Arc<dyn Functions>));
        settings.sources = vec![SourceSettings::new("t", source)];
        let clock = Still { instant: SystemClock.instant(), now_ms: AtomicI64::new(START), seed: AtomicU64::new(0) };
        let clock = Arc::new(clock);
        let clock_of_run = Arc::clone(&clock) as Arc<dyn Clock>;
        let runtime = Runtime::with_journal(settings, Arc::new(MemoryJournal::new()), clock_of_run);
        // What all share is made once.
        runtime.run(RunRequest::new("return 1", Origin::default()), &|_| {}).await.unwrap();
        Self { runtime, tools, clock }
    }

    /// Runs a script with these cuts, and then without one until it is over. `place` is what is told of it.
    ///
    /// # Panics
    ///
    /// When a rule of the journal is broken.
    pub(crate) async fn trace(&self, place: &Place<'_>, cuts: &Cuts, fates: &Fates) -> Trace {
        let mut disk = MemoryJournal::new();
        self.tools.begin(&disk, place.script.is_sequential, fates);
        self.clock.now_ms.store(START, Ordering::SeqCst);
        self.clock.seed.store(place.script.seed ^ place.script.number, Ordering::SeqCst);
        let (mut run, mut kills, mut parks) = (None, 0, 0);
        for cut in cuts.0.iter().copied().map(Some).chain([None]) {
            let journal = match cut {
                Some((nth, side)) => PowerCut::at(Arc::new(disk.clone()), nth, side),
                None => PowerCut::never(Arc::new(disk.clone())),
            };
            let dying = disk.clone();
            let journal = Arc::new(journal.dying(move || drop(dying.reopen(Fate::Dead))));
            let runtime = self.runtime.over(Arc::clone(&journal) as Arc<dyn Journal>);
            let outcome = loop {
                let outcome = attempt(&runtime, &disk, &mut run, place).await;
                match outcome {
                    Ok(report) if report.status == ReportStatus::Parked => {
                        let wake_ms = disk.summary(run.unwrap()).await.unwrap().wake_ms;
                        let wake_ms = wake_ms.unwrap_or_else(|| panic!("it parks for ever: {report:?}\n{place}"));
                        self.clock.now_ms.fetch_max(wake_ms, Ordering::SeqCst);
                        parks += 1;
                        assert!(parks < 1000, "it parks and parks\n{place}");
                    }
                    outcome => break outcome,
                }
            };
            if journal.is_off() {
                kills += 1;
                disk = disk.reopen(Fate::Dead);
                self.tools.next_attempt();
                if let Some(id) = run {
                    self.tell_what_is_finished(&disk, id).await;
                }
                continue;
            }
            let report = outcome.unwrap_or_else(|error| panic!("neither cut nor over: {error}\n{place}"));
            self.tools.each_kind_keeps_its_promise(kills, place);
            let (writes, report) = (journal.writes(), serde_json::to_value(&report).unwrap());
            let records = disk.read(run.unwrap()).await.unwrap();
            return Trace { writes, kills, parks, report, records, calls: self.tools.calls() };
        }
        panic!("the last attempt was cut\n{place}");
    }

    /// Makes a call that succeeds. A source whose call was interrupted is listed as degraded until then, and the next run would
    /// start with another catalog.
    pub(crate) async fn recover(&self) {
        let journal = MemoryJournal::new();
        self.tools.begin(&journal, true, &Fates::new());
        let script = RunRequest::new("return (await tools.t.get({ id: 1 })).id", Origin::default());
        let runtime = self.runtime.over(Arc::new(journal));
        let report = runtime.run(script, &|_| {}).await.unwrap();
        assert_eq!(report.status, ReportStatus::Completed);
    }

    async fn tell_what_is_finished(&self, disk: &MemoryJournal, id: RunId) {
        let Ok(records) = disk.read(id).await else { return };
        let asked = asked(&records);
        for record in &records {
            if let Record::Answered(answered) = record
                && let Some(call) = asked.get(&answered.call)
            {
                self.tools.finished(call);
            }
        }
    }
}

/// Starts the run, or takes it up where it is in the journal.
async fn attempt(
    runtime: &Runtime,
    disk: &MemoryJournal,
    run: &mut Option<RunId>,
    place: &Place<'_>,
) -> Result<Report, RuntimeError> {
    if let Some(id) = *run {
        return runtime.resume(id, Take::IfFree).await;
    }
    let known = Mutex::new(None);
    let request = RunRequest::new(place.script.script.as_str(), Origin::default());
    let outcome = runtime.run(request, &|id| *known.lock().unwrap() = Some(id)).await;
    *run = *known.lock().unwrap();
    if run.is_none() {
        // It may be stored although nobody was told.
        let newest = disk.list(&Page { limit: 1, cursor: None }).await.unwrap();
        *run = newest.runs.first().map(|it| it.run);
    }
    outcome
}

/// The calls of a journal as their tools know them, by number.
pub(crate) fn asked(records: &[Record]) -> BTreeMap<u64, String> {
    let mut calls = BTreeMap::new();
    for record in records {
        if let Record::Asked(asked) = record {
            calls.extend(asked.calls.iter().map(|call| {
                let args: Value = call.args.parse().unwrap();
                (call.call, format!("{}-{}", call.tool.trim_start_matches("t."), args["id"]))
            }));
        }
    }
    calls
}
