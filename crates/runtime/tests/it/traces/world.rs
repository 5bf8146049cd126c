//! Tools outside of any process that count what they did, and a run that is cut and taken up until it is over.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use refrain_journal::{
    Fate, MemoryJournal, Outcome, Page, Record,
    testing::{Cut, PowerCut},
};
use refrain_runtime::{
    CallError, Clock, Effect, Environment, ErrorCode, Functions, Journal, Origin, Replay, Report, RunId, RunRequest,
    Runtime, Settings, SharedFunctions, SourceKind, SourceSettings, SystemClock, Take, Tool,
};
use serde_json::{Value, json};

use super::generator::Generated;

/// A clock that stands, so that two attempts can be compared.
struct Still(std::time::Instant);

impl Clock for Still {
    fn now_ms(&self) -> i64 {
        1_700_000_000_000
    }

    fn instant(&self) -> std::time::Instant {
        self.0
    }
}

/// What the tools did, by the identity of each call, with the keys that came.
#[derive(Default)]
struct Done(BTreeMap<String, Vec<Option<String>>>);

#[derive(Default)]
struct Tools(Mutex<Done>);

impl Tools {
    async fn made(&self, name: &str, args: &Value, key: Option<String>) -> Result<Value, CallError> {
        let id = args["id"].as_u64().unwrap_or(0);
        self.0.lock().unwrap().0.entry(format!("{name}-{id}")).or_default().push(key);
        // Some are back later than others that were made after them.
        for _ in 0..(id * 7) % 5 {
            tokio::task::yield_now().await;
        }
        match args["fail"] == true {
            true => Err(CallError::new(ErrorCode::ToolError, "it failed")),
            false => Ok(json!({ "id": id })),
        }
    }
}

#[async_trait]
impl Functions for Tools {
    fn tools(&self) -> Vec<Tool> {
        let kinds = [
            ("get", Effect::Read, Replay::Safe),
            ("key", Effect::Write, Replay::Keyed),
            ("put", Effect::Write, Replay::Unsafe),
        ];
        kinds
            .into_iter()
            .map(|(name, effect, replay)| {
                let mut tool = Tool::new("", name);
                (tool.effect, tool.replay) = (effect, replay);
                tool
            })
            .collect()
    }

    async fn call(&self, name: &str, args: Value) -> Result<Value, CallError> {
        self.made(name, &args, None).await
    }

    async fn call_keyed(&self, name: &str, args: Value, key: &str) -> Result<Value, CallError> {
        self.made(name, &args, Some(key.to_owned())).await
    }
}

/// Everything that outlives a crash but the journal.
pub(crate) struct World {
    runtime: Runtime,
    tools: Arc<Tools>,
}

/// Where the power goes, attempt by attempt: at which write, and on which side of it.
pub(crate) type Cuts = Vec<(u64, Cut)>;

/// What came of a trace.
pub(crate) struct Trace {
    pub(crate) writes: u64,
    pub(crate) kills: u64,
    report: Value,
    records: Vec<Record>,
    calls: BTreeSet<String>,
}

impl World {
    pub(crate) async fn new(cache: std::path::PathBuf) -> Self {
        let tools = Arc::new(Tools::default());
        let mut settings = Settings::new(Environment::new(|_| None, || 0));
        settings.cache = Some(cache);
        settings.snapshot_every = 3;
        settings.drain = std::time::Duration::from_millis(200);
        let source = SourceKind::Functions(SharedFunctions(Arc::clone(&tools) as Arc<dyn Functions>));
        settings.sources = vec![SourceSettings::new("t", source)];
        let clock = Still(SystemClock.instant());
        let runtime = Runtime::with_journal(settings, Arc::new(MemoryJournal::new()), Arc::new(clock));
        // What all share is made once.
        runtime.run(RunRequest::new("return 1", Origin::default()), &|_| {}).await.unwrap();
        Self { runtime, tools }
    }

    /// Runs a script with these cuts, and then without one until it is over.
    ///
    /// # Panics
    ///
    /// When a rule of the journal is broken.
    pub(crate) async fn trace(&self, script: &Generated, cuts: &Cuts) -> Trace {
        self.tools.0.lock().unwrap().0.clear();
        let mut disk = MemoryJournal::new();
        let (mut run, mut kills, mut writes) = (None, 0, 0);
        let mut done = None;
        for cut in cuts.iter().copied().map(Some).chain([None]) {
            let journal = match cut {
                Some((nth, side)) => PowerCut::at(Arc::new(disk.clone()), nth, side),
                None => PowerCut::never(Arc::new(disk.clone())),
            };
            let journal = Arc::new(journal);
            let runtime = self.runtime.over(Arc::clone(&journal) as Arc<dyn Journal>);
            let known = Mutex::new(run);
            let outcome = match run {
                None => {
                    let told = |id| *known.lock().unwrap() = Some(id);
                    let request = RunRequest::new(script.script.as_str(), Origin::default());
                    runtime.run(request, &told).await
                }
                Some(id) => runtime.resume(id, Take::IfFree).await,
            };
            run = *known.lock().unwrap();
            if run.is_none() {
                // It may be stored although nobody was told.
                let newest = disk.list(&Page { limit: 1, cursor: None }).await.unwrap();
                run = newest.runs.first().map(|it| it.run);
            }
            writes = journal.writes();
            match outcome {
                Ok(report) if !journal.is_off() => {
                    done = Some(report);
                    break;
                }
                _ if journal.is_off() => kills += 1,
                outcome => panic!("neither cut nor over: {outcome:?}\n{}", script.script),
            }
            disk = disk.reopen(Fate::Dead);
            if let Some(id) = run {
                self.nothing_finished_is_made_again(&disk, id).await;
            }
        }
        let report = done.unwrap_or_else(|| panic!("it is not over\n{}", script.script));
        let records = disk.read(run.unwrap()).await.unwrap();
        self.each_kind_keeps_its_promise(kills, script);
        let calls = self.tools.0.lock().unwrap().0.keys().cloned().collect();
        Trace { writes, kills, report: told(&report), records: timeless(records), calls }
    }

    /// From here on a call whose answer is in the journal must not be made.
    async fn nothing_finished_is_made_again(&self, disk: &MemoryJournal, id: RunId) {
        let Ok(records) = disk.read(id).await else { return };
        let mut made: BTreeMap<u64, String> = BTreeMap::new();
        for record in &records {
            match record {
                Record::Asked(asked) => made.extend(asked.calls.iter().map(|call| {
                    let args: Value = call.args.parse().unwrap();
                    (call.call, format!("{}-{}", call.tool.trim_start_matches("t."), args["id"]))
                })),
                Record::Answered(answered) => {
                    if let Some(times) = made.get(&answered.call).and_then(|id| {
                        self.tools.0.lock().unwrap().0.get_mut(id).map(|keys| {
                            // Marked as finished: another one after this breaks the rule.
                            if keys.last() != Some(&Some("finished".to_owned())) {
                                keys.push(Some("finished".to_owned()));
                            }
                            keys.len()
                        })
                    }) {
                        assert!(times > 0);
                    }
                }
                _ => {}
            }
        }
    }

    fn each_kind_keeps_its_promise(&self, kills: u64, script: &Generated) {
        for (id, keys) in &self.tools.0.lock().unwrap().0 {
            let finished = keys.iter().position(|key| key.as_deref() == Some("finished"));
            assert!(
                finished.is_none_or(|at| at + 1 == keys.len()),
                "{id} was made again after its answer was in the journal: {keys:?}\n{}",
                script.script
            );
            let made = &keys[..finished.unwrap_or(keys.len())];
            assert!(made.len() as u64 <= kills + 1, "{id}: {made:?}\n{}", script.script);
            if id.starts_with("put") {
                assert_eq!(made.len(), 1, "{id}\n{}", script.script);
            }
            if id.starts_with("key") {
                assert!(made.iter().all(|key| key.is_some() && key == &made[0]), "{id}: {made:?}\n{}", script.script);
            }
        }
    }
}

impl Trace {
    /// Holds a trace with cuts against one without.
    ///
    /// # Panics
    ///
    /// When they differ.
    pub(crate) fn is_like(&self, calm: &Self, script: &Generated, cuts: &Cuts) {
        let place = || format!("cut at {cuts:?}\n{}", script.script);
        if script.has_unsafe {
            return;
        }
        let extra: Vec<&String> = self.calls.difference(&calm.calls).collect();
        assert!(extra.is_empty(), "calls that the calm run does not make: {extra:?}, {}", place());
        assert_eq!(self.report["status"], calm.report["status"], "{}", place());
        // Which of two is back first may change with a crash, and what a race gives does not tell.
        for part in ["result", "text", "error"] {
            let (one, other) = (without_chance(&self.report[part]), without_chance(&calm.report[part]));
            assert_eq!(one, other, "{part}: {}", place());
        }
        assert!(matches!(self.records.last(), Some(Record::Ended(_))));
    }
}

/// Numbers between nought and one are drawn from the run's own seed.
fn without_chance(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|it| it > 0.0 && it < 1.0) => json!("chance"),
        Value::Array(list) => list.iter().map(without_chance).collect(),
        other => other.clone(),
    }
}

fn told(report: &Report) -> Value {
    serde_json::to_value(report).unwrap()
}

fn timeless(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        if let Record::Answered(answered) = record {
            answered.took_ms = 0;
            if let Outcome::Failure(failure) = &mut answered.outcome {
                failure.data = None;
            }
        }
    }
    records
}
