//! Calls that wait for a person's agreement.

use refrain_journal::{Json, Record, RunId, RunState};
use serde::Serialize;

use crate::{date::utc, error::RuntimeError, runtime::Runtime, waiting::Waiting};

/// A call that waits for a person's agreement.
#[derive(Clone, Debug, Serialize)]
pub struct ApprovalView {
    /// `RUN/CALL`: what it is called, everywhere.
    pub id: String,
    /// The run.
    pub run_id: RunId,
    /// The number of the call in it.
    pub call: u32,
    /// The path of the tool.
    pub tool: String,
    /// What the call may do.
    pub effect: String,
    /// The arguments, as they will be sent.
    pub args: Json,
    /// What in the policy wants it.
    pub why: Option<String>,
    /// Since when it waits, in UTC.
    pub since: String,
    /// When it is too late, in UTC.
    pub due: Option<String>,
    /// The session of the run.
    pub session: Option<String>,
    /// The first line of the run's script.
    pub title: String,
}

impl Runtime {
    /// The calls that wait for a person, those of the oldest run first. A run that still does something else is not among them
    /// until that is done.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`].
    pub async fn approvals(&self) -> Result<Vec<ApprovalView>, RuntimeError> {
        let mut all = Vec::new();
        for open in self.journal().await?.open_runs().await? {
            if open.state == RunState::Parked {
                all.extend(self.approvals_of(open.run).await?);
            }
        }
        all.sort_by_key(|one: &ApprovalView| (one.run_id, one.call));
        Ok(all)
    }

    /// The calls of one run that wait for a person, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`].
    pub async fn approvals_of(&self, run: RunId) -> Result<Vec<ApprovalView>, RuntimeError> {
        let journal = self.journal().await?;
        let summary = journal.summary(run).await?;
        Ok(waiting(run, &journal.read(run).await?, summary.session, &summary.title))
    }
}

fn waiting(run_id: RunId, records: &[Record], session: Option<String>, title: &str) -> Vec<ApprovalView> {
    let Some(Record::Parked(parked)) = records.last() else { return Vec::new() };
    let waiting: Vec<Waiting> = parked.waiting.parse().unwrap_or_default();
    let effect_of = |call: u32| {
        let asked = records.iter().rev().find_map(|record| match record {
            Record::Asked(asked) => asked.calls.iter().find(|asked| asked.call == u64::from(call)),
            _ => None,
        });
        asked.map_or_else(String::new, |asked| asked.effect.clone())
    };
    let wanted = waiting.into_iter().filter(|it| it.kind.is_approval());
    wanted
        .filter_map(|it| {
            let call = it.call?;
            Some(ApprovalView {
                id: format!("{run_id}/{call}"),
                run_id,
                call,
                tool: it.tool?,
                effect: effect_of(call),
                args: it.args?,
                why: it.why,
                since: utc(parked.at_ms),
                due: it.due,
                session: session.clone(),
                title: title.to_owned(),
            })
        })
        .collect()
}
