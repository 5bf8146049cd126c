//! A run as a pure step: records, turns and results go in, the next thing to do comes out. No I/O, no clock.
//!
//! The loop in `drive` asks [`Run::next`] what to do, does it, and tells the run what came of it: [`Run::turned`] after the sandbox
//! ran, [`Run::written`] after records became durable, [`Run::answered`] when a call came back. A resumed run is the same run,
//! with a history to replay first.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use refrain_catalog::{CallError, Catalog, Dialect, Effect, ErrorCode, Replay, Tool};
use refrain_engine::{Call, Delivery, Output, Status, Stop, Thrown, Turn};
use refrain_journal::{Answered, BlobHash, Cancelling, Failure, Flush, Json, Outcome, Record, Reused, RunId, Seq};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    amend::Earlier,
    config::{Durability, OnInterrupted},
    functions,
    policy::Gate,
    preflight::near::nearest,
    waiting::{Decision, Waiting},
};

mod asking;
mod ending;
mod judging;
mod parking;
mod replay;
mod saved;
mod settle;

pub(crate) use saved::Saved;

/// Levels of arguments that readers of JSON take; this is serde_json's own bound.
const MOST_LEVELS: usize = 127;

/// What to do next.
#[derive(Debug)]
pub(crate) enum Step {
    /// Give this to the sandbox and tell [`Run::turned`].
    Feed(Delivery),
    /// Load this from the journal and tell [`Run::loaded`].
    Load(BlobHash),
    /// Make these durable as one commit, from this number on, and tell [`Run::written`].
    Write { at: Seq, records: Vec<Record>, flush: Flush },
    /// Send these calls; each tells [`Run::answered`] when it is back.
    Send(Vec<Outgoing>),
    /// Wait for a call that is out.
    Wait,
    /// Nothing can happen until something outside does. Make the records durable, from this number on, and let the run go. There
    /// are none where it waited for the same before.
    Park { at: Seq, records: Vec<Record>, waiting: Vec<Waiting>, wake_ms: Option<i64> },
    /// The script is over. Wait for what is out and is not safe, for a bounded time, then tell [`Run::drained`].
    Drain,
    /// Nothing is left to do but to record the end.
    End,
    /// The script does not do what the journal says. Nothing may be sent or written.
    Diverged(Divergence),
}

/// A call on its way out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outgoing {
    pub(crate) call: u32,
    /// How long it waits before it leaves.
    pub(crate) after: Duration,
    pub(crate) target: Target,
}

/// Where a call goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Target {
    Tool {
        source: String,
        tool: String,
        args: Value,
        key: Option<String>,
    },
    /// `sleep()`, and what timers are made of. Goes nowhere, and is back when its time is up.
    Timer(Duration),
}

/// What came back from a source.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) outcome: Outcome,
    pub(crate) took_ms: u64,
    pub(crate) notes: Vec<String>,
    /// Set where it comes from another run.
    pub(crate) taken: Option<Taken>,
    /// Who gave it, where it was a person.
    pub(crate) by: Option<String>,
}

/// Where a script and its journal part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    pub(crate) call: u32,
    pub(crate) expected: String,
    pub(crate) actual: String,
    /// The last step at which they agreed.
    pub(crate) after: Option<String>,
}

/// How the script ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    Returned(Option<String>),
    Threw(Thrown),
    Stalled,
    Stopped(Stop, Vec<refrain_engine::Frame>),
}

/// A call that the script made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) call: u32,
    pub(crate) path: String,
    pub(crate) args: Json,
    pub(crate) plan: Plan,
    pub(crate) progress: Progress,
    pub(crate) took_ms: u64,
    /// How often it failed and was made again.
    pub(crate) attempts: u32,
    /// The turn in which it was made; the start is turn 0.
    turn: u64,
    /// When a timer is up, or a call is to be made again, in milliseconds since 1970.
    due_ms: Option<i64>,
    /// Asks what became of it, before anything else is done about it.
    probe: Option<Target>,
    /// Whether the policy has been asked about it.
    is_judged: bool,
    /// What a person has to say before it may leave.
    pub(crate) approval: Approval,
    /// What in the policy decided about it, where that is to be told.
    pub(crate) rule: Option<String>,
}

/// What a person has to say before a call may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Approval {
    /// Nothing.
    #[default]
    Needless,
    /// It waits for that.
    Wanted,
    /// It may leave.
    Given,
}

/// What is to happen with a call.
#[derive(Debug)]
pub(crate) enum Plan {
    Send {
        target: Target,
        effect: Effect,
        replay: Replay,
    },
    /// It never leaves: what it asks for is known here, or it is refused.
    Here(Here),
    /// It is for a person to answer.
    Ask,
    /// It is over, and this run was put away since.
    Past(Past),
}

/// What is known of a call that was over when its run was put away.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Past {
    pub(crate) effect: Effect,
    pub(crate) replay: Replay,
    pub(crate) had_left: bool,
    pub(crate) is_timer: bool,
}

/// An answer that is known here.
#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) outcome: Outcome,
    /// Said beside it, in the notes of the run.
    pub(crate) notes: Vec<String>,
    /// Where it comes from, if the run that this one corrects had it.
    pub(crate) taken: Option<Taken>,
}

/// Whose answer was taken over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) of: Reused,
    /// Its place among the answers of its run. What came first there comes first here.
    pub(crate) at: usize,
    pub(crate) clock_ms: i64,
    /// What the call did when it was made.
    pub(crate) effect: Effect,
}

impl From<CallError> for Here {
    fn from(error: CallError) -> Self {
        Self { outcome: failure(&error), notes: Vec::new(), taken: None }
    }
}

#[derive(Debug)]
pub(crate) enum Progress {
    /// Made by the script, and no more.
    Made,
    /// May leave, or is refused and being answered.
    Cleared,
    /// At the source, or on its way there.
    Out,
    /// For a person to answer.
    Outside,
    /// Back.
    Answered(Answer),
}

/// What came of a call, as far as the report tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) bytes: u64,
    /// `ToolError.code` of a failure.
    pub(crate) code: Option<String>,
}

/// What the settings say about the steps of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) durability: Durability,
    pub(crate) on_interrupted: OnInterrupted,
    pub(crate) park_after_ms: u64,
    /// When the run has to be over, in milliseconds since 1970.
    pub(crate) deadline_ms: Option<i64>,
}

/// A run and everything that decides its next step.
pub(crate) struct Run {
    id: RunId,
    catalog: Arc<Catalog>,
    /// The catalog of this attempt, for what a tool's replay policy is now. None on the first attempt.
    present: Option<Arc<Catalog>>,
    rules: Rules,
    /// Judges the calls.
    gate: Gate,
    dialect: Option<&'static Dialect>,
    /// What people said about calls for which the run waits.
    decisions: Vec<Decision>,
    /// Records that are to be written before anything else is done.
    first: Vec<Record>,
    /// What the run waited for when it was last put down, if nothing has happened since.
    parked: Option<Json>,
    /// The run that this one corrects.
    earlier: Option<Earlier>,
    history: VecDeque<Record>,
    settled_history: bool,
    next_seq: u64,
    turn: u64,
    calls: Vec<Made>,
    /// The calls that are not answered.
    open: BTreeSet<u32>,
    /// How many of `calls` are in the journal.
    asked: usize,
    /// Results that are not in the journal yet.
    arrived: VecDeque<(u32, Reply)>,
    /// Results in the journal that the script has not seen.
    due: VecDeque<Answered>,
    /// The answer that is being loaded.
    unloaded: Option<Answered>,
    to_send: Vec<u32>,
    end: Option<End>,
    /// The journal has the mark that the run is to be cancelled.
    cancelling: Option<Cancelling>,
    /// How many calls the script had made by then. The later ones are its clean-up.
    made_before: usize,
    /// The first call that was out when the script was stopped from outside.
    stopped_in: Option<u32>,
    drained: bool,
    diverged: Option<Divergence>,
    /// The last step of the history that the script made again.
    agreed: Option<(u32, &'static str)>,
    clock_ms: i64,
    active_ms: u64,
    pub(crate) output: Vec<Output>,
    pub(crate) tool_notes: Vec<(String, String)>,
    pub(crate) tool_bytes: u64,
}

impl Run {
    /// A run with its start record written and nothing else.
    pub(crate) fn new(
        id: RunId,
        catalog: Arc<Catalog>,
        rules: Rules,
        dialect: Option<&'static Dialect>,
        started_ms: i64,
    ) -> Self {
        Self {
            id,
            catalog,
            present: None,
            rules,
            gate: Gate::default(),
            dialect,
            decisions: Vec::new(),
            first: Vec::new(),
            parked: None,
            earlier: None,
            history: VecDeque::new(),
            settled_history: false,
            next_seq: 1,
            turn: 0,
            calls: Vec::new(),
            open: BTreeSet::new(),
            asked: 0,
            arrived: VecDeque::new(),
            due: VecDeque::new(),
            unloaded: None,
            to_send: Vec::new(),
            end: None,
            cancelling: None,
            made_before: 0,
            stopped_in: None,
            drained: false,
            diverged: None,
            agreed: None,
            clock_ms: started_ms,
            active_ms: 0,
            output: Vec::new(),
            tool_notes: Vec::new(),
            tool_bytes: 0,
        }
    }

    /// Goes on where an attempt before this one ended, with the catalog of today. `history` is what it wrote after the point at
    /// which this run stands. Before the first turn.
    pub(crate) fn resumed(self, present: Arc<Catalog>, history: Vec<Record>) -> Self {
        let next_seq = self.next_seq + history.len() as u64;
        let active_ms = active_ms(&history).unwrap_or(self.active_ms);
        Self { present: Some(present), history: history.into(), next_seq, active_ms, ..self }
    }

    /// Judges the calls that are not in the journal yet. Before the first turn.
    pub(crate) fn guarded(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    /// Answers calls from the runs that this one corrects. Before the first turn.
    pub(crate) fn correcting(self, earlier: Option<Earlier>) -> Self {
        Self { earlier, ..self }
    }

    /// Does what people decided about calls for which the run waits. Before the first turn.
    pub(crate) fn deciding(self, decisions: Vec<Decision>) -> Self {
        Self { decisions, ..self }
    }

    /// Whether the policy has rules.
    pub(crate) fn has_rules(&self) -> bool {
        !self.gate.policy.rules.is_empty()
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn calls(&self) -> &[Made] {
        &self.calls
    }

    pub(crate) fn earlier(&self) -> Option<&Earlier> {
        self.earlier.as_ref()
    }

    /// The call that the script waited for when it was stopped from outside; what came of it since is another matter.
    pub(crate) fn stopped_in(&self) -> Option<&Made> {
        self.made(self.stopped_in?)
    }

    /// Why the run is to be cancelled, if it is. Known once the history is read.
    pub(crate) fn cancelling(&self) -> Option<&Cancelling> {
        self.cancelling.as_ref().or_else(|| {
            self.history.iter().find_map(|record| match record {
                Record::Cancelling(cancelling) => Some(cancelling),
                _ => None,
            })
        })
    }

    pub(crate) fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// What the run waits for, where it is parked and has not gone on.
    pub(crate) fn waits_for(&self) -> Option<&Json> {
        match self.history.back() {
            Some(Record::Parked(parked)) => Some(&parked.waiting),
            Some(_) => None,
            None => self.parked.as_ref(),
        }
    }

    /// The paths of the tools that the run called, as far as is known before its first turn.
    pub(crate) fn called(&self) -> impl Iterator<Item = &str> {
        let asked = self.history.iter().filter_map(|record| match record {
            Record::Asked(asked) => Some(asked.calls.iter().map(|call| call.tool.as_str())),
            _ => None,
        });
        self.calls.iter().map(|made| made.path.as_str()).chain(asked.flatten())
    }

    pub(crate) fn next_seq(&self) -> Seq {
        Seq(self.next_seq)
    }

    /// Active milliseconds of the attempts before this one, as far as the journal knows.
    pub(crate) fn active_before_ms(&self) -> u64 {
        self.active_ms
    }

    /// Whether what the script does next is held against what it did before. Of a mark that it is cancelled, and the like, nothing
    /// follows for a script.
    pub(crate) fn is_replaying(&self) -> bool {
        self.history.iter().any(|record| matches!(record, Record::Asked(_) | Record::Answered(_)))
    }

    /// The flush that a commit of this kind needs.
    pub(crate) fn flush(&self, decisive: bool) -> Flush {
        match self.rules.durability {
            Durability::Power => Flush::Disk,
            Durability::Process => Flush::Process,
            Durability::Effects if decisive => Flush::Disk,
            Durability::Effects => Flush::Process,
        }
    }

    /// Takes in a turn of the sandbox. The first one is the start.
    pub(crate) fn turned(&mut self, turn: Turn) {
        for call in turn.calls {
            let (path, plan) = match &call.target {
                refrain_engine::Target::Function(name) => {
                    (name.clone(), functions::plan(&self.catalog, self.dialect, name, &call.args))
                }
                refrain_engine::Target::Tool { source, tool } => self.plan(&call, source, tool),
            };
            let plan = match &mut self.earlier {
                Some(earlier) => earlier.plan(call.call, &path, &call.args, plan),
                None => plan,
            };
            let plan = if self.cancelling.is_some() { self.while_cancelling(&path, plan) } else { plan };
            self.open.insert(call.call);
            self.calls.push(Made {
                call: call.call,
                path,
                args: Json::new(call.args).unwrap_or_else(|_| Json::from_value(&Value::Null)),
                plan,
                progress: Progress::Made,
                took_ms: 0,
                attempts: 0,
                turn: self.turn,
                due_ms: None,
                probe: None,
                is_judged: false,
                approval: Approval::Needless,
                rule: None,
            });
        }
        self.output.extend(turn.output);
        self.turn += 1;
        self.end = match turn.status {
            Status::Waiting => None,
            Status::Stalled => Some(End::Stalled),
            Status::Returned(value) => Some(End::Returned(value)),
            Status::Threw(thrown) => Some(End::Threw(thrown)),
            Status::Stopped(stop, frames) => Some(End::Stopped(stop, frames)),
        };
    }

    /// What is to happen with a call of a tool, and the tool's path.
    fn plan(&self, call: &Call, source: &str, tool: &str) -> (String, Plan) {
        let resolved = self.resolve(source, tool);
        let path = match &resolved {
            Ok(tool) => tool.path(),
            Err(_) => format!("{source}.{tool}"),
        };
        let plan = resolved.and_then(|tool| {
            let args = serde_json::from_str::<Value>(&call.args).map_err(|error| {
                // The guest writes valid JSON; what most readers of it refuse is depth.
                let told = if error.to_string().starts_with("recursion limit") {
                    format!("the arguments of `{path}` are nested deeper than {MOST_LEVELS} levels, which cannot be sent; flatten them")
                } else {
                    format!("the arguments of `{path}` are not plain JSON: {error}")
                };
                CallError::new(ErrorCode::InvalidArguments, told)
            })?;
            tool.check_args(&args)?;
            // Who is asked later what became of a call has to know which.
            let has_key = tool.replay == Replay::Keyed || tool.reconcile.is_some();
            let key = has_key.then(|| format!("{}/{}", self.id, call.call));
            let target = Target::Tool { source: tool.source.clone(), tool: tool.name.clone(), args, key };
            Ok(Plan::Send { target, effect: tool.effect, replay: tool.replay })
        });
        (path, plan.unwrap_or_else(|error| Plan::Here(error.into())))
    }

    /// The tool that a call names: by source and name, or by a flat name of the global that holds all tools.
    fn resolve(&self, source: &str, name: &str) -> Result<&Tool, CallError> {
        let root = self.dialect.map_or("tools", |dialect| dialect.root);
        let is_source = self.catalog.sources().iter().any(|status| status.name == source);
        if source != root || is_source {
            return Ok(self.catalog.resolve(source, name)?);
        }
        if let Some(tool) = self.catalog.flat(name) {
            return self.catalog.resolve(&tool.source, &tool.name).map_err(CallError::from);
        }
        let named: Vec<&Tool> =
            self.catalog.tools().iter().filter(|tool| tool.name == name || tool.ident == name).collect();
        let hint = match named[..] {
            [] => nearest(name, self.catalog.flat_names().map(|(name, _)| name))
                .map(|near| format!("; did you mean `{root}.{near}`?"))
                .unwrap_or_default(),
            _ => {
                let calls: Vec<String> =
                    named.iter().map(|tool| format!("`{}`", self.catalog.call_in(tool, self.dialect))).collect();
                format!("; several sources have it: {}", calls.join(", "))
            }
        };
        Err(CallError::new(ErrorCode::UnknownTool, format!("unknown tool `{root}.{name}`{hint}")))
    }

    /// Whether the run had to be over by now.
    pub(crate) fn is_late(&self, now_ms: i64) -> bool {
        self.rules.deadline_ms.is_some_and(|deadline_ms| deadline_ms <= now_ms)
    }

    /// Ends the waiting script from outside.
    pub(crate) fn stop(&mut self, stop: Stop) {
        if self.end.is_none() {
            self.stopped_in = self
                .open
                .iter()
                .copied()
                .find(|call| self.made(*call).is_some_and(|it| matches!(it.progress, Progress::Out)));
            self.end = Some(End::Stopped(stop, Vec::new()));
        }
    }

    /// Takes in what came back from a call that was out.
    pub(crate) fn answered(&mut self, call: u32, reply: Reply) {
        match self.made_mut(call) {
            Some(made) if matches!(made.progress, Progress::Out) => match made.probe.take() {
                Some(_) => self.probed(call, reply),
                None => self.arrived.push_back((call, reply)),
            },
            _ => {}
        }
    }

    /// The records of the last [`Step::Write`] are durable.
    pub(crate) fn written(&mut self, records: Vec<Record>) {
        self.next_seq += records.len() as u64;
        for record in records {
            match record {
                Record::Asked(asked) => self.asked += asked.calls.len(),
                Record::Answered(answered) => self.due.push_back(answered),
                Record::Cancelling(cancelling) => self.cancel(cancelling),
                Record::Attempted(attempted) => self.to_send.extend(u32::try_from(attempted.call)),
                Record::Parked(parked) => self.parked = Some(parked.waiting),
                Record::Decided(_) | Record::Started(_) | Record::Ended(_) => {}
            }
        }
    }

    /// What was out and not safe had its time.
    pub(crate) fn drained(&mut self) {
        self.drained = true;
    }

    /// Decides the next step. `now_ms` is the clock and `active_ms` the active time so far, for records written now.
    pub(crate) fn next(&mut self, now_ms: i64, active_ms: u64) -> Step {
        if let Some(divergence) = &self.diverged {
            return Step::Diverged(divergence.clone());
        }
        if let Some(answered) = self.unloaded.take() {
            return self.feed(answered);
        }
        if let Some(step) = self.replay() {
            return step;
        }
        self.settle_history(now_ms);
        if !self.first.is_empty() {
            self.parked = None;
            let records = std::mem::take(&mut self.first);
            return Step::Write { at: self.next_seq(), records, flush: self.flush(true) };
        }
        if self.end.is_some() {
            return self.wind_up(now_ms);
        }
        if let Some(answered) = self.due.pop_front() {
            return self.feed(answered);
        }
        if let Some(step) = self.ask(now_ms, false) {
            return step;
        }
        if !self.to_send.is_empty() {
            return Step::Send(self.take_outgoing(now_ms));
        }
        if !self.arrived.is_empty() {
            return self.write_arrived(now_ms, active_ms);
        }
        if self.expire(now_ms) {
            return self.write_arrived(now_ms, active_ms);
        }
        self.park(now_ms, active_ms).unwrap_or(Step::Wait)
    }

    /// Gives a durable answer to the sandbox. One that the journal keeps apart is loaded first.
    fn feed(&mut self, answered: Answered) -> Step {
        let call = u32::try_from(answered.call).unwrap_or(u32::MAX);
        let path = self.made(call).map_or("", |made| &made.path);
        let outcome = match &answered.outcome {
            Outcome::Blob { hash, .. } => {
                let hash = *hash;
                self.unloaded = Some(answered);
                return Step::Load(hash);
            }
            Outcome::Value(json) => refrain_engine::Outcome::Value(json.as_str().to_owned()),
            Outcome::Failure(failure) => refrain_engine::Outcome::Failure(tool_error(call, path, failure)),
        };
        self.clock_ms = self.clock_ms.max(answered.clock_ms);
        let answer = answer(&answered.outcome);
        self.tool_bytes += answer.bytes;
        self.open.remove(&call);
        let path = self.made_mut(call).map(|made| {
            made.progress = Progress::Answered(answer);
            made.took_ms = answered.took_ms;
            made.path.clone()
        });
        if let Some(path) = path {
            self.tool_notes.extend(answered.notes.into_iter().map(|note| (path.clone(), note)));
        }
        Step::Feed(Delivery { call, clock_ms: self.clock_ms, outcome })
    }

    /// Takes in what the last [`Step::Load`] asked for.
    pub(crate) fn loaded(&mut self, value: Json) {
        if let Some(answered) = &mut self.unloaded {
            answered.outcome = Outcome::Value(value);
        }
    }

    fn made(&self, call: u32) -> Option<&Made> {
        self.calls.get((call as usize).checked_sub(1)?)
    }

    fn made_mut(&mut self, call: u32) -> Option<&mut Made> {
        self.calls.get_mut((call as usize).checked_sub(1)?)
    }
}

impl Made {
    /// Whether it was sent anywhere.
    pub(crate) fn has_left(&self) -> bool {
        match &self.plan {
            Plan::Send { .. } if self.approval == Approval::Wanted => false,
            Plan::Send { .. } => matches!(self.progress, Progress::Out | Progress::Outside | Progress::Answered(_)),
            Plan::Here(_) | Plan::Ask => false,
            Plan::Past(past) => past.had_left,
        }
    }

    /// Whether making it again does no harm. What is answered here never leaves.
    pub(crate) fn is_safe(&self) -> bool {
        match &self.plan {
            Plan::Send { replay, .. } => *replay == Replay::Safe,
            Plan::Here(_) | Plan::Ask => true,
            Plan::Past(past) => past.replay == Replay::Safe,
        }
    }

    /// What it does to the world, where it leaves.
    pub(crate) fn effect(&self) -> Effect {
        match &self.plan {
            Plan::Send { effect, .. } => *effect,
            // What is taken over was done, and a later correction has to know a write from a read.
            Plan::Here(here) => here.taken.map_or(Effect::Read, |taken| taken.effect),
            Plan::Ask => Effect::Read,
            Plan::Past(past) => past.effect,
        }
    }

    pub(crate) fn is_timer(&self) -> bool {
        match &self.plan {
            Plan::Send { target, .. } => matches!(target, Target::Timer(_)),
            Plan::Past(past) => past.is_timer,
            Plan::Here(_) | Plan::Ask => false,
        }
    }
}

impl Reply {
    fn here(answer: &Here) -> Self {
        let (notes, taken) = (answer.notes.clone(), answer.taken);
        Self { outcome: answer.outcome.clone(), took_ms: 0, notes, taken, by: None }
    }

    pub(crate) fn failure(error: &CallError) -> Self {
        Self::new(failure(error))
    }

    pub(crate) fn new(outcome: Outcome) -> Self {
        Self { outcome, took_ms: 0, notes: Vec::new(), taken: None, by: None }
    }
}

fn failure(error: &CallError) -> Outcome {
    Outcome::Failure(Failure {
        code: error.code.as_str().into(),
        message: error.message.clone(),
        retryable: error.retryable,
        retry_after_ms: error.retry_after_ms,
        data: error.data.as_ref().map(Json::from_value),
    })
}

/// The active time of a run as its last records have it.
pub(crate) fn active_ms(records: &[Record]) -> Option<u64> {
    records.iter().rev().find_map(|record| match record {
        Record::Answered(answered) => Some(answered.active_ms),
        Record::Parked(parked) => Some(parked.active_ms),
        Record::Attempted(attempted) => Some(attempted.active_ms),
        _ => None,
    })
}

/// What the report is told of an outcome.
fn answer(outcome: &Outcome) -> Answer {
    match outcome {
        Outcome::Value(json) => Answer { bytes: json.as_str().len() as u64, code: None },
        Outcome::Blob { bytes, .. } => Answer { bytes: *bytes, code: None },
        Outcome::Failure(failure) => {
            // What else is said of a failure is ours, and came from no tool.
            let from_tool = failure.code == ErrorCode::ToolError.as_str();
            let bytes = if from_tool { failure.message.len() as u64 } else { 0 };
            Answer { bytes, code: Some(failure.code.clone()) }
        }
    }
}

/// The fields of the `ToolError` that a failure is to the script.
fn tool_error(call: u32, path: &str, failure: &Failure) -> String {
    let mut fields = json!({
        "message": failure.message,
        "code": failure.code,
        "tool": path,
        "call": call,
        "retryable": failure.retryable,
    });
    if let Some(after) = failure.retry_after_ms {
        fields["retryAfterMs"] = after.into();
    }
    let mut text = fields.to_string();
    if let Some(data) = &failure.data {
        // Spliced in as text: the data is kept byte for byte.
        text.pop();
        text.push_str(&format!(",\"data\":{data}}}"));
    }
    text
}

fn described(tool: &str, args: &Json) -> String {
    let mut text = format!("{tool}({args})");
    if text.len() > 300 {
        text.truncate(text.floor_char_boundary(300));
        text.push('…');
    }
    text
}
