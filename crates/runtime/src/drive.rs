//! The loop around the pure step: it runs the sandbox, writes, sends, waits, and tells the run what came of it.
//!
//! It decides nothing. Dropped at any point, it leaves a run that can be resumed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use refrain_catalog::{CallError, CallOutput, CallRequest, ErrorCode, Sources};
use refrain_engine::{Sandbox, Start, Stop};
use refrain_journal::{Flush, Journal, JournalError, Json, Lease, Outcome, Seq};
use tokio::task::JoinSet;

use crate::{
    clock::Clock,
    error::RuntimeError,
    rounded,
    run::{Divergence, Outgoing, Reply, Run, Step, Target},
    snapshot,
    ticker::Ticker,
    waiting::Waiting,
};

#[cfg(test)]
mod tests;

/// Fuel after which it pays to keep what was computed: some seconds of it.
const FUEL_BETWEEN: u64 = 10_000_000_000;

/// How often a run that waits looks whether it is still its own.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Levels that the sandbox has stack for when it builds a result.
const MAX_LEVELS: usize = 1000;

/// Where calls go. The sources; in tests, something that counts.
#[async_trait]
pub(crate) trait Tools: Send + Sync {
    async fn call(&self, request: CallRequest) -> Result<CallOutput, CallError>;
}

#[async_trait]
impl Tools for Sources {
    async fn call(&self, request: CallRequest) -> Result<CallOutput, CallError> {
        Sources::call(self, request).await
    }
}

/// What the loop works with.
pub(crate) struct Drive<'a> {
    pub(crate) journal: &'a dyn Journal,
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) ticker: &'a Ticker,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) lease: &'a Lease,
    /// The active time that this attempt has left.
    pub(crate) time_left: Duration,
    pub(crate) drain: Duration,
    pub(crate) result_bytes: usize,
    /// After how many results the run is put away beside the journal; zero for never.
    pub(crate) snapshot_every: u32,
}

/// What a sandbox begins with.
pub(crate) enum Begin<'a> {
    /// A script.
    Script { javascript: &'a str, start: &'a Start },
    /// It has begun before, and was put away where it waited.
    Restored,
}

/// How the loop ended.
pub(crate) enum Driven {
    /// The script is over, and what is to be recorded is in the run.
    Over,
    /// It waits for this, and nobody drives it meanwhile.
    Parked {
        waiting: Vec<Waiting>,
        wake_ms: Option<i64>,
    },
    Diverged(Divergence),
}

type Replies = JoinSet<(u32, Reply)>;
type Joined = Result<(u32, Reply), tokio::task::JoinError>;

impl Drive<'_> {
    /// Drives `run` in `sandbox` to its end.
    pub(crate) async fn run(
        &self,
        run: &mut Run,
        sandbox: &mut Sandbox,
        begin: Begin<'_>,
    ) -> Result<Driven, RuntimeError> {
        let began = self.clock.instant();
        let deadline = began.checked_add(self.time_left);
        let before = run.active_before_ms();
        let stopper = sandbox.stopper();
        if let Begin::Script { javascript, start } = begin {
            let until = deadline.filter(|_| !run.is_replaying());
            let first = self.ticker.compute(until, stopper.clone(), sandbox.start(javascript, start)).await;
            run.turned(first);
        }
        let mut results = 0;
        let mut fuel = sandbox.fuel_used();
        // Dropped with this future, and with it every call that is out.
        let mut out = Replies::new();
        let mut drain_until = None;
        loop {
            while let Some(joined) = out.try_join_next() {
                take(run, joined)?;
            }
            let now = self.clock.instant();
            if run.end().is_none() && !run.is_replaying() && deadline.is_some_and(|deadline| deadline <= now) {
                run.stop(Stop::Asked);
            }
            let active = before.saturating_add(milliseconds(now.saturating_duration_since(began)));
            match run.next(self.clock.now_ms(), active) {
                Step::Feed(mut delivery) => {
                    if delivery.outcome.is_large() {
                        let outcome = delivery.outcome;
                        delivery.outcome = tokio::task::spawn_blocking(move || outcome.packed())
                            .await
                            .map_err(|error| RuntimeError::Bug { what: format!("packing a result broke: {error}") })?;
                    }
                    // What was done before took its time then; stopped on the way, it would seem to be another script.
                    let until = deadline.filter(|_| !run.is_replaying());
                    let turn = self.ticker.compute(until, stopper.clone(), sandbox.feed(&delivery)).await;
                    run.turned(turn);
                    results += 1;
                }
                Step::Load(hash) => run.loaded(text(self.journal.blob(hash).await?)?),
                Step::Write { at, records, flush } => {
                    self.journal.append(self.lease, at, &records, flush).await?;
                    run.written(records);
                }
                Step::Send(calls) => {
                    for call in calls {
                        self.send(&mut out, call);
                    }
                }
                Step::Wait => {
                    let is_due = results >= self.snapshot_every || sandbox.fuel_used() - fuel >= FUEL_BETWEEN;
                    if self.snapshot_every > 0 && is_due {
                        (results, fuel) = (0, sandbox.fuel_used());
                        if let Some(bytes) = snapshot::put_away(run, sandbox).await? {
                            self.journal.put_away(self.lease, run.next_seq(), &[], bytes, Flush::Process).await?;
                        }
                    }
                    match self.wait(deadline, &mut out, run.next_seq()).await? {
                        Some(Some(joined)) => take(run, joined)?,
                        Some(None) => return Err(bug("the run waits and no call is out")),
                        None => {}
                    }
                }
                Step::Drain => {
                    let until_then = *drain_until.get_or_insert_with(|| now.checked_add(self.drain));
                    match until(until_then, out.join_next()).await {
                        Some(Some(joined)) => take(run, joined)?,
                        Some(None) | None => run.drained(),
                    }
                }
                Step::Park { records, waiting, wake_ms, .. } if records.is_empty() => {
                    return Ok(Driven::Parked { waiting, wake_ms });
                }
                Step::Park { at, records, waiting, wake_ms } => {
                    let flush = run.flush(true);
                    // As it is once the records are there.
                    run.written(records.clone());
                    let bytes = snapshot::put_away(run, sandbox).await?;
                    match bytes {
                        Some(bytes) => self.journal.put_away(self.lease, at, &records, bytes, flush).await?,
                        None => self.journal.append(self.lease, at, &records, flush).await?,
                    }
                    return Ok(Driven::Parked { waiting, wake_ms });
                }
                Step::End => return Ok(Driven::Over),
                Step::Diverged(divergence) => return Ok(Driven::Diverged(divergence)),
            }
        }
    }

    /// Waits for a call that is out. A run that somebody else took meanwhile is over for this process, and its calls end with it,
    /// however long they would have been out.
    async fn wait(
        &self,
        deadline: Option<Instant>,
        out: &mut Replies,
        at: Seq,
    ) -> Result<Option<Option<Joined>>, RuntimeError> {
        loop {
            tokio::select! {
                joined = until(deadline, out.join_next()) => return Ok(joined),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if !self.journal.holds(self.lease).await? {
                return Err(JournalError::Conflict { run: self.lease.run(), at }.into());
            }
        }
    }

    fn send(&self, out: &mut Replies, outgoing: Outgoing) {
        let tools = Arc::clone(&self.tools);
        let clock = Arc::clone(self.clock);
        let most = self.result_bytes;
        // A task of its own, so that it makes progress while the guest computes.
        out.spawn(async move {
            let call = outgoing.call;
            if !outgoing.after.is_zero() {
                tokio::time::sleep(outgoing.after).await;
            }
            let began = clock.instant();
            let reply = match outgoing.target {
                Target::Tool { source, tool, args, key } => {
                    make(&*tools, CallRequest { source, tool, args, key, timeout: None }, most).await
                }
                Target::Timer(_) => Reply::new(Outcome::Value(Json::from_value(&serde_json::Value::Null))),
            };
            let took_ms = milliseconds(clock.instant().saturating_duration_since(began));
            (call, Reply { took_ms, ..reply })
        });
    }
}

async fn make(tools: &dyn Tools, request: CallRequest, most: usize) -> Reply {
    let path = format!("{}.{}", request.source, request.tool);
    let answer = tools.call(request).await;
    let levels = answer.as_ref().map_or(0, |output| levels(output.value.get()));
    match answer {
        Ok(output) if output.value.get().len() > most => {
            let told = format!(
                "`{path}` returned {} bytes, more than `result_kb` allows; ask it for less, by page or by field",
                output.value.get().len()
            );
            Reply::failure(&CallError::new(ErrorCode::ResultTooLarge, told))
        }
        Ok(_) if levels > MAX_LEVELS => {
            let told =
                format!("`{path}` returned JSON of {levels} levels, and a script takes {MAX_LEVELS}; ask it for less");
            Reply::failure(&CallError::new(ErrorCode::ResultTooLarge, told))
        }
        Ok(output) => match Json::new(output.value.get()) {
            Ok(json) => {
                let mut notes = output.notes;
                notes.extend(rounded::note(&format!("the result of `{path}`"), output.value.get()));
                Reply { notes, ..Reply::new(Outcome::Value(json)) }
            }
            Err(error) => {
                let told = format!("`{path}` returned something that is not JSON: {error}");
                Reply::failure(&CallError::new(ErrorCode::Protocol, told))
            }
        },
        Err(error) => Reply::failure(&error),
    }
}

/// Returns how deep the lists and objects of a JSON text go.
fn levels(json: &str) -> usize {
    let (mut level, mut most) = (0_usize, 0);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                level += 1;
                most = most.max(level);
            }
            b']' | b'}' => level = level.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
                    if byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            _ => {}
        }
    }
    most
}

fn take(run: &mut Run, joined: Result<(u32, Reply), tokio::task::JoinError>) -> Result<(), RuntimeError> {
    match joined {
        Ok((call, reply)) => {
            run.answered(call, reply);
            Ok(())
        }
        // The run can be resumed, and its call is then settled as one that was out at a crash.
        Err(error) => Err(bug(&format!("a call broke: {error}"))),
    }
}

/// A result that the journal kept apart.
fn text(blob: Vec<u8>) -> Result<Json, RuntimeError> {
    let text = String::from_utf8(blob).map_err(|_| bug("a result that was kept apart is no text"))?;
    Ok(Json::new(text)?)
}

/// Waits for `future` until `deadline`.
async fn until<T>(deadline: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline.into(), future).await.ok(),
        None => Some(future.await),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn bug(what: &str) -> RuntimeError {
    RuntimeError::Bug { what: what.to_owned() }
}
