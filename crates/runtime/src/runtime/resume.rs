//! How a run goes on that was stopped, or that waits.

use std::{collections::BTreeSet, sync::Arc};

use refrain_catalog::{Catalog, Dialect, Status, Tool};
use refrain_engine::{Engine, Prepared, Sandbox, SourceMap, source::Facts};
use refrain_journal::{Cancelling, Flush, JournalError, Lease, Parked, Record, Restored, RunId, Seq, Started, Take};
use serde_json::{Value, json};

use super::{Attempt, Runtime, dialect_of, finished, read, start_of, stored, unusable};
use crate::{
    amend::Earlier,
    config::LimitSettings,
    error::RuntimeError,
    preflight,
    report::{Note, Report},
    run::{Run, Saved, active_ms},
    snapshot,
    waiting::{Decided, Decision, Waiting, WaitingKind},
};

/// Why a run is taken up.
enum Why {
    Resumed,
    Cancelled(Cancelling),
    Decided(Vec<Decision>),
}

/// What the journal has of a run, as far as it is needed to go on.
struct Found {
    started: Box<Started>,
    limits: LimitSettings,
    /// Where it was put away.
    restored: Option<(Saved, Sandbox)>,
    /// What came after that, or after the start.
    history: Vec<Record>,
    notes: Vec<Note>,
}

impl Runtime {
    /// Takes a run up where its journal ends. A run that is over answers with its report, and nothing runs.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] with `Held` while another process that is alive drives it.
    pub async fn resume(&self, id: RunId, take: Take) -> Result<Report, RuntimeError> {
        self.go_on(id, take, Why::Resumed).await
    }

    /// Cancels a run. A durable mark first; then every call that waits rejects with the code `cancelled`, so that `finally` runs
    /// for `cleanup_ms`, with none but the tools that are set to clean up; then the script is stopped. A run that is over
    /// answers with its report, and a clean-up that was cut short goes on at the next resume.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume).
    pub async fn cancel(&self, id: RunId, take: Take, reason: Option<String>) -> Result<Report, RuntimeError> {
        self.go_on(id, take, Why::Cancelled(Cancelling { at_ms: self.clock.now_ms(), reason })).await
    }

    /// Says what is to become of a call for which a parked run waits, and takes the run up.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume); [`RuntimeError::NotWaiting`] where the run does not wait for such a decision.
    pub async fn answer(&self, id: RunId, take: Take, decision: Decision) -> Result<Report, RuntimeError> {
        self.answer_all(id, take, vec![decision]).await
    }

    /// As [`answer`](Self::answer), of several calls at once: all of them or none.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer), for the first that cannot be decided.
    pub async fn answer_all(&self, id: RunId, take: Take, decisions: Vec<Decision>) -> Result<Report, RuntimeError> {
        self.go_on(id, take, Why::Decided(decisions)).await
    }

    async fn go_on(&self, id: RunId, take: Take, why: Why) -> Result<Report, RuntimeError> {
        let journal = self.journal().await?;
        let over = async || finished(id, &journal.read(id).await?);
        if journal.summary(id).await?.state.is_over()
            && let Some(report) = over().await?
        {
            // An answer that nobody waits for any more must not look as if it had been taken.
            if let Why::Decided(decisions) = &why
                && let Some(Decision { call, .. }) = decisions.first()
            {
                return Err(RuntimeError::NotWaiting { run: id, call: *call, what: "it is over".to_owned() });
            }
            return Ok(report);
        }
        let lease = match journal.acquire(id, take, self.clock.now_ms()).await {
            Ok(lease) => lease,
            // It ended between the look and the try.
            Err(JournalError::Over { .. }) => {
                return over().await?.ok_or_else(|| unusable(id, "it is over and has no end record"));
            }
            Err(error) => return Err(error.into()),
        };
        if matches!(why, Why::Resumed) && lease.restarts() >= self.settings.max_restarts {
            return self.give_up(&lease).await;
        }
        let (engine, _) = self.engine().await?;
        let Found { started, limits, restored, mut history, mut notes } = self.found(&lease, engine).await?;
        let mut chain = Vec::new();
        for older in &started.amends {
            chain.push((*older, journal.read(*older).await?));
        }
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
        let mut is_cancelled = history.iter().any(|record| matches!(record, Record::Cancelling(_)));
        let mut decisions = Vec::new();
        match why {
            Why::Cancelled(mark) if !is_cancelled => {
                let mark = Record::Cancelling(mark);
                let at = Seq(journal.summary(id).await?.records);
                journal.append(&lease, at, std::slice::from_ref(&mark), Flush::Disk).await?;
                history.push(mark);
                is_cancelled = true;
            }
            Why::Decided(all) => decisions = all,
            Why::Resumed | Why::Cancelled(_) => {}
        }
        let mut run = Run::new(id, Arc::new(catalog), self.rules(&started, &limits), dialect, started.started_ms);
        run = run.guarded(self.gate(&started));
        let mut sandbox = None;
        if let Some((saved, waiting)) = restored {
            run = run.restored(saved);
            sandbox = Some(waiting);
        }
        let run = run.resumed(Arc::clone(&present), history).correcting(Earlier::new(chain));
        for decision in &decisions {
            may_decide(id, &run, decision)?;
        }
        if !is_cancelled {
            let facts = read.as_ref().ok().map(|read| &read.facts);
            blocked(id, &needed(&run, facts, dialect), &present)?;
        }
        let prepared = Prepared {
            javascript: started.javascript.clone(),
            map: started.source_map.as_deref().map(SourceMap::from_json).unwrap_or_default(),
        };
        if let Ok(read) = &read {
            notes.extend(self.remarks(engine, read, run.catalog(), dialect).await?.notes());
        }
        let (lease, run, started, prepared) = (&lease, run.deciding(decisions), &*started, &prepared);
        self.drive(Attempt { lease, run, started, prepared, limits, notes, restored: sandbox }).await
    }

    /// Reads where a run stands: from where it was put away, if that fits, or from its start.
    async fn found(&self, lease: &Lease, engine: &Engine) -> Result<Found, RuntimeError> {
        let (journal, id) = (self.journal().await?, lease.run());
        let limits = |started: &Started| {
            let limits = started.limits.parse::<LimitSettings>();
            limits.map_err(|error| unusable(id, &format!("its limits: {error}")))
        };
        let why = match journal.snapshot(id).await? {
            Restored::None => None,
            Restored::Unfit { why } => Some(why),
            Restored::Fits { start, bytes, after, .. } => {
                let limits = limits(&start)?;
                match snapshot::bring_back(&bytes, engine, limits.engine()) {
                    Ok(restored) => {
                        let (restored, notes) = (Some(restored), Vec::new());
                        return Ok(Found { started: start, limits, restored, history: after, notes });
                    }
                    Err(why) => Some(why),
                }
            }
        };
        let told = |why| Note::new("snapshot_not_used", format!("the run was replayed from its journal: {why}"));
        let mut records = journal.read(id).await?;
        let started = start_of(id, records.first())?;
        let (limits, history) = (limits(&started)?, records.split_off(1));
        Ok(Found { started, limits, restored: None, history, notes: why.map(told).into_iter().collect() })
    }

    /// Parks a run of which too many processes died. The next one that a person starts counts from nought again.
    async fn give_up(&self, lease: &Lease) -> Result<Report, RuntimeError> {
        let (journal, id) = (self.journal().await?, lease.run());
        let waiting = Waiting::restarts(id, lease.restarts());
        let records = journal.read(id).await?;
        let (at, active_ms) = (Seq(records.len() as u64), active_ms(&records).unwrap_or(0));
        let parked = Parked { at_ms: self.clock.now_ms(), active_ms, wake_ms: None, waiting: stored(&[&waiting])? };
        journal.append(lease, at, &[Record::Parked(parked)], Flush::Disk).await?;
        Ok(Report::put_down(id, waiting))
    }
}

/// Refuses a decision for which the run does not wait, and an answer that is none to its question.
fn may_decide(run_id: RunId, run: &Run, decision: &Decision) -> Result<(), RuntimeError> {
    let refused = |what: String| RuntimeError::NotWaiting { run: run_id, call: decision.call, what };
    let waiting = run.waits_for().and_then(|json| json.parse::<Vec<Waiting>>().ok()).unwrap_or_default();
    let Some(asked) = waiting.iter().find(|it| it.call == Some(decision.call)) else {
        let open: Vec<String> = waiting.iter().map(|it| format!("{} `{}`", it.kind.as_str(), it.id)).collect();
        return Err(refused(match open.is_empty() {
            true => "it waits for nothing; `refrain runs resume` brings it on".to_owned(),
            false => format!("it waits for {}", open.join(", ")),
        }));
    };
    match (asked.kind, &decision.what) {
        (WaitingKind::Question, Decided::Value(value)) => {
            let schema = asked.args.as_ref().and_then(|args| args.parse::<Value>().ok());
            let schema = schema.and_then(|mut args| args.get_mut("schema").map(Value::take)).unwrap_or(json!({}));
            let mut tool = Tool::new("ask", "answer");
            tool.input_schema =
                Arc::new(json!({ "type": "object", "properties": { "answer": schema }, "required": ["answer"] }));
            let value: Value = value.parse().map_err(|error| refused(format!("the answer cannot be read: {error}")))?;
            tool.check_args(&json!({ "answer": value })).map_err(|error| refused(error.message))
        }
        (kind, Decided::Approve | Decided::Reject(_)) if kind.is_approval() => Ok(()),
        (kind, _) if kind.is_approval() => {
            Err(refused("it is approved or rejected, see `refrain approvals`".to_owned()))
        }
        (_, Decided::Approve | Decided::Reject(_)) => {
            Err(refused(format!("it waits for a {}, which nobody approves", asked.kind.as_str())))
        }
        (WaitingKind::Question, Decided::Unknown) | (WaitingKind::Interrupted, _) => Ok(()),
        (WaitingKind::Question, Decided::Again) => Err(refused("it is a question: give it a value".to_owned())),
        (kind, _) => Err(refused(format!("it waits for a {}, of which nobody decides", kind.as_str()))),
    }
}

/// The sources that a run needs: those whose tools it has called, and those that its script names.
fn needed(run: &Run, facts: Option<&Facts>, dialect: Option<&Dialect>) -> BTreeSet<String> {
    let (kept, asked) = (run.catalog(), run.called().collect::<BTreeSet<&str>>());
    let is_named = |source: &str| {
        facts.into_iter().flat_map(|facts| &facts.tools).any(|used| match (&used.names[..], dialect) {
            ([name], Some(dialect)) if dialect.flat => kept.flat(name).is_some_and(|tool| tool.source == source),
            ([name, ..], _) => name == source || name == kept.source_ident(source),
            ([], _) => false,
        })
    };
    let had_tools = kept.sources().iter().filter(|status| status.tools > 0).map(|status| status.name.clone());
    had_tools
        .filter(|source| {
            is_named(source)
                || kept.tools().iter().any(|tool| tool.source == *source && asked.contains(tool.path().as_str()))
        })
        .collect()
}

/// Says why a run cannot go on now, where a source that it needs is not there. Its calls would fail for good: what fails is
/// journaled as what works is.
fn blocked(run: RunId, needed: &BTreeSet<String>, present: &Catalog) -> Result<(), RuntimeError> {
    for source in needed {
        let status = present.sources().iter().find(|status| status.name == *source);
        let why = match status.map(|status| (status.status, &status.reason)) {
            Some((Status::Ready | Status::Degraded, _)) => continue,
            Some((Status::Connecting | Status::Failed, reason)) => {
                reason.clone().unwrap_or_else(|| "it is down".to_owned())
            }
            None => "the settings do not have it any more".to_owned(),
        };
        return Err(RuntimeError::Blocked { run, source_name: source.clone(), why });
    }
    Ok(())
}
