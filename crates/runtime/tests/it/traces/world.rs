//! Tools outside of any process that count what they did, and a run that is cut and taken up until it is over.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use refrain_journal::{
    Fate, Flush, MemoryJournal, Outcome, Page, Record,
    testing::{Cut, PowerCut},
};
use refrain_runtime::{
    CallError, Clock, Effect, Environment, ErrorCode, Functions, Journal, Origin, Replay, RunId, RunRequest, Runtime,
    Settings, SharedFunctions, SourceKind, SourceSettings, SystemClock, Take, Tool,
};
use serde_json::{Value, json};

use super::generator::{Dice, Generated};

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

/// One to four cuts in a row.
pub(crate) fn cuts(dice: &mut Dice, writes: u64) -> Cuts {
    (0..=dice.roll(4)).map(|_| (dice.roll(writes), if dice.roll(2) == 0 { Cut::Before } else { Cut::After })).collect()
}

/// What came of a trace.
pub(crate) struct Trace {
    pub(crate) writes: u64,
    pub(crate) kills: u64,
    report: Value,
    records: Vec<Record>,
    catalog: Vec<u8>,
    /// The calls that reached a tool.
    made: BTreeSet<String>,
}

/// What a journal has of one call, whatever its number: calls in parallel are numbered as their answers come.
#[derive(Debug, PartialEq)]
struct Call {
    replay: String,
    effect: String,
    has_key: bool,
    due_ms: Option<i64>,
    outcome: Option<Outcome>,
    notes: Vec<String>,
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

    /// Runs a script with these cuts, and then without one until it is over; and holds it against the same run, with its number
    /// and its chance, that nothing cuts.
    ///
    /// # Panics
    ///
    /// When a rule is broken, with what repeats the trace.
    pub(crate) async fn trace(&self, script: &Generated, cuts: &Cuts) -> Trace {
        let place = place(script, cuts);
        let trace = self.to_its_end(script, MemoryJournal::new(), None, cuts, &place).await;
        if !cuts.is_empty() {
            let run = trace.run();
            let Some(Record::Started(start)) = trace.records.first() else { panic!("no start: {place}") };
            let blank = MemoryJournal::new();
            let _ = blank.create(run, start, std::slice::from_ref(&trace.catalog), Flush::Process).await.unwrap();
            let calm = self.to_its_end(script, blank.reopen(Fate::Dead), Some(run), &Vec::new(), &place).await;
            trace.is_like(&calm, script, &place);
        }
        trace
    }

    async fn to_its_end(
        &self,
        script: &Generated,
        mut disk: MemoryJournal,
        mut run: Option<RunId>,
        cuts: &Cuts,
        place: &str,
    ) -> Trace {
        self.tools.0.lock().unwrap().0.clear();
        let (mut kills, mut writes) = (0, 0);
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
                outcome => panic!("neither cut nor over: {outcome:?}\n{place}"),
            }
            disk = disk.reopen(Fate::Dead);
            if let Some(id) = run {
                self.nothing_finished_is_made_again(&disk, id).await;
            }
        }
        let report = done.unwrap_or_else(|| panic!("it is not over\n{place}"));
        let records = disk.read(run.unwrap()).await.unwrap();
        self.each_kind_keeps_its_promise(kills, place);
        let Some(Record::Started(start)) = records.first() else { panic!("no start record\n{place}") };
        let catalog = disk.blob(start.catalog).await.unwrap();
        let made = self.tools.0.lock().unwrap().0.keys().cloned().collect();
        Trace { writes, kills, report: serde_json::to_value(&report).unwrap(), records, catalog, made }
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

    fn each_kind_keeps_its_promise(&self, kills: u64, place: &str) {
        for (id, keys) in &self.tools.0.lock().unwrap().0 {
            let finished = keys.iter().position(|key| key.as_deref() == Some("finished"));
            assert!(
                finished.is_none_or(|at| at + 1 == keys.len()),
                "{id} was made again after its answer was in the journal: {keys:?}\n{place}"
            );
            let made = &keys[..finished.unwrap_or(keys.len())];
            assert!(made.len() as u64 <= kills + 1, "{id}: {made:?}\n{place}");
            if id.starts_with("put") {
                assert_eq!(made.len(), 1, "{id}\n{place}");
            }
            if id.starts_with("key") {
                assert!(made.iter().all(|key| key.is_some() && key == &made[0]), "{id}: {made:?}\n{place}");
            }
        }
    }
}

impl Trace {
    fn run(&self) -> RunId {
        self.report["run_id"].as_str().and_then(|id| id.parse().ok()).unwrap()
    }

    /// What the journal has of each call, by the call's own identity.
    fn calls(&self) -> BTreeMap<String, Call> {
        let mut names = BTreeMap::new();
        let mut calls = BTreeMap::new();
        for record in &self.records {
            match record {
                Record::Asked(asked) => {
                    for call in &asked.calls {
                        let args: Value = call.args.parse().unwrap();
                        // Sleeps have no identity of their own; they are told apart by their order.
                        let name = match args["id"].as_u64() {
                            Some(id) => format!("{}-{id}", call.tool.trim_start_matches("t.")),
                            None => format!("{}-{}", call.tool, call.call),
                        };
                        if let Some(key) = &call.key {
                            assert_eq!(*key, format!("{}/{}", self.run(), call.call));
                        }
                        names.insert(call.call, name.clone());
                        let (replay, effect, has_key) = (call.replay.clone(), call.effect.clone(), call.key.is_some());
                        let due_ms = call.due_ms;
                        let call = Call { replay, effect, has_key, due_ms, outcome: None, notes: Vec::new() };
                        assert!(calls.insert(name, call).is_none(), "a call is asked for twice");
                    }
                }
                Record::Answered(answered) => {
                    let call = calls.get_mut(&names[&answered.call]).unwrap();
                    assert!(call.outcome.is_none(), "a call is answered twice");
                    (call.outcome, call.notes) = (Some(answered.outcome.clone()), answered.notes.clone());
                }
                _ => {}
            }
        }
        calls
    }

    /// Holds a trace with cuts against one without.
    ///
    /// # Panics
    ///
    /// When they differ.
    fn is_like(&self, calm: &Self, script: &Generated, place: &str) {
        let extra: Vec<&String> = self.made.difference(&calm.made).collect();
        assert!(extra.is_empty(), "calls that the calm run does not make: {extra:?}\n{place}");
        let (mine, theirs) = (self.calls(), calm.calls());
        for name in mine.keys().chain(theirs.keys()) {
            let id = name.rsplit('-').next().and_then(|id| id.parse().ok()).unwrap_or(0);
            if name.starts_with("sleep") || script.loose.contains(&id) {
                // Nobody waits for it, so it is a matter of luck whether it was asked for, or answered, before the end.
                let both = mine.get(name).zip(theirs.get(name));
                let of = |call: &Call| (call.replay.clone(), call.effect.clone(), call.has_key);
                assert!(both.is_none_or(|(one, other)| of(one) == of(other)), "{name}\n{place}");
                continue;
            }
            let (Some(one), Some(other)) = (mine.get(name), theirs.get(name)) else {
                panic!("{name} is in one of the journals only\n{place}");
            };
            let is_doubtful = name.starts_with("put") && is_interrupted(one);
            assert!(one == other || is_doubtful, "{name}: {one:?}, and calm {other:?}\n{place}");
        }
        let ends = [self, calm].map(|trace| match trace.records.last() {
            Some(Record::Ended(ended)) => (ended.state, ended.stored.clone()),
            other => panic!("the last record is {other:?}\n{place}"),
        });
        if script.has_unsafe {
            return;
        }
        assert_eq!(ends[0], ends[1], "{place}");
        for part in ["status", "result", "text", "logs", "images", "error"] {
            assert_eq!(self.report[part], calm.report[part], "{part}: {place}");
        }
        if script.loose.is_empty() {
            for part in ["notes", "calls"] {
                assert_eq!(sorted(&self.report[part]), sorted(&calm.report[part]), "{part}: {place}");
            }
            for part in ["calls", "tool_bytes", "result_bytes"] {
                assert_eq!(self.report["usage"][part], calm.report["usage"][part], "usage.{part}: {place}");
            }
        }
    }
}

fn is_interrupted(call: &Call) -> bool {
    matches!(&call.outcome, Some(Outcome::Failure(failure)) if failure.code == ErrorCode::Interrupted.as_str())
}

/// The entries of a list without what calls in parallel may change: their order, and with it their numbers.
fn sorted(list: &Value) -> Vec<String> {
    let mut all: Vec<Value> = list.as_array().unwrap().clone();
    for one in &mut all {
        if let Some(map) = one.as_object_mut() {
            map.remove("call");
        }
    }
    let mut all: Vec<String> = all.iter().map(Value::to_string).collect();
    all.sort();
    all
}

/// A trace in words, and what repeats it.
fn place(script: &Generated, cuts: &Cuts) -> String {
    let cuts: Vec<String> =
        cuts.iter().map(|(nth, side)| format!("{nth}{}", if *side == Cut::Before { 'b' } else { 'a' })).collect();
    let cuts = cuts.join(" ");
    format!(
        "script {}, cut at {cuts}; the same again: cargo run -p refrain-runtime --example traces -- 1 {} {cuts}\n{}",
        script.seed, script.seed, script.script
    )
}
