//! How a run goes on that was stopped.

use std::{collections::BTreeSet, sync::Arc};

use refrain_catalog::{Catalog, Dialect, Status};
use refrain_engine::{Prepared, SourceMap, source::Facts};
use refrain_journal::{Cancelling, Flush, JournalError, Record, RunId, Seq, Take};

use super::{Runtime, dialect_of, finished, read, start_of, unusable};
use crate::{amend::Earlier, config::LimitSettings, error::RuntimeError, preflight, report::Report, run::Run};

impl Runtime {
    /// Takes a run up where its journal ends. A run that is over answers with its report, and nothing runs.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] with `Held` while another process that is alive drives it.
    pub async fn resume(&self, id: RunId, take: Take) -> Result<Report, RuntimeError> {
        self.go_on(id, take, None).await
    }

    /// Cancels a run. A durable mark first; then every call that waits rejects with the code `cancelled`, so that `finally` runs
    /// for `cleanup_ms`, with none but the tools that are set to clean up; then the script is stopped. A run that is over
    /// answers with its report, and a clean-up that was cut short goes on at the next resume.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume).
    pub async fn cancel(&self, id: RunId, take: Take, reason: Option<String>) -> Result<Report, RuntimeError> {
        self.go_on(id, take, Some(Cancelling { at_ms: self.clock.now_ms(), reason })).await
    }

    async fn go_on(&self, id: RunId, take: Take, cancel: Option<Cancelling>) -> Result<Report, RuntimeError> {
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
        let mut records = journal.read(id).await?;
        let started = start_of(id, records.first())?;
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
        let is_marked = records.iter().any(|record| matches!(record, Record::Cancelling(_)));
        let is_cancelled = is_marked || cancel.is_some();
        if let Some(mark) = cancel.filter(|_| !is_marked) {
            let mark = Record::Cancelling(mark);
            journal.append(&lease, Seq(records.len() as u64), std::slice::from_ref(&mark), Flush::Disk).await?;
            records.push(mark);
        }
        let facts = read.as_ref().ok().map(|read| &read.facts);
        if !is_cancelled {
            blocked(id, &needed(&catalog, &records, facts, dialect), &present)?;
        }
        let history = records.split_off(1);
        let durability = self.settings.durability;
        let run = Run::new(id, Arc::new(catalog), Some(present), durability, dialect, started.started_ms, history)
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
}

/// The sources that a run needs: those whose tools it has called, and those that its script names.
fn needed(kept: &Catalog, records: &[Record], facts: Option<&Facts>, dialect: Option<&Dialect>) -> BTreeSet<String> {
    let asked = records.iter().filter_map(|record| match record {
        Record::Asked(asked) => Some(asked.calls.iter().map(|call| call.tool.as_str())),
        _ => None,
    });
    let asked: BTreeSet<&str> = asked.flatten().collect();
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
