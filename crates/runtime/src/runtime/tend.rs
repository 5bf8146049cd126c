//! Who sees to runs that nobody drives: those that a process left behind, and those whose time has come.
//!
//! # Invariants
//!
//! * A run that waits costs its number and its moment, and no more.
//! * What is due by the clock of the machine is due, however long nobody was there to see to it.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use refrain_journal::{JournalError, Restored, RunId, RunState, Take};
use tokio::{sync::Notify, task::JoinSet};

use super::{Origin, Runtime, start_of};
use crate::{error::RuntimeError, report::Report};

/// How many runs are brought on at a time.
const AT_ONCE: usize = 8;
/// How long to wait with a run whose source is not there.
const LATER: Duration = Duration::from_secs(30);
/// The machine's clock may be set, so it is looked at that often.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// When runs are due.
#[derive(Default)]
pub(super) struct Wakes {
    due: Mutex<BinaryHeap<Reverse<(i64, RunId)>>>,
    added: Notify,
}

impl Wakes {
    pub(super) fn add(&self, at_ms: i64, run: RunId) {
        self.lock().push(Reverse((at_ms, run)));
        self.added.notify_one();
    }

    /// Takes the first run that is due, or tells how long it is until one is.
    fn next(&self, now_ms: i64) -> Result<RunId, Option<Duration>> {
        let mut due = self.lock();
        match due.peek() {
            Some(Reverse((at_ms, run))) if *at_ms <= now_ms => {
                let run = *run;
                due.pop();
                Ok(run)
            }
            Some(Reverse((at_ms, _))) => {
                Err(Some(Duration::from_millis(u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or(0))))
            }
            None => Err(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Reverse<(i64, RunId)>>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of a run that was brought on.
pub type Tended = (RunId, Result<Report, RuntimeError>);

impl Runtime {
    /// The runs that can go on and that nobody drives: those that a process left behind, and those whose time has come.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`].
    pub async fn resumable(&self) -> Result<Vec<RunId>, RuntimeError> {
        let now_ms = self.clock.now_ms();
        let open = self.journal().await?.open_runs().await?;
        let is_due = |wake_ms: Option<i64>| wake_ms.is_some_and(|wake_ms| wake_ms <= now_ms);
        Ok(open
            .into_iter()
            .filter(|run| run.owner.is_none() && (run.state != RunState::Parked || is_due(run.wake_ms)))
            .map(|run| run.run)
            .collect())
    }

    /// Sees to the runs that came in by `way` under these settings, for as long as it is polled: those that a process left behind
    /// go on at once, those that wait for a moment when it comes. `told` hears what became of each.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Journal`] where the journal cannot be read.
    pub async fn tend(self: Arc<Self>, way: &str, told: impl Fn(Tended)) -> Result<(), RuntimeError> {
        let now_ms = self.clock.now_ms();
        for run in self.journal().await?.open_runs().await? {
            match (run.owner, run.state, run.wake_ms) {
                (Some(_), ..) | (None, RunState::Parked, None) => {}
                (None, RunState::Parked, Some(wake_ms)) => self.wakes.add(wake_ms, run.run),
                (None, ..) => self.wakes.add(now_ms, run.run),
            }
        }
        let mut tasks: JoinSet<Option<Tended>> = JoinSet::new();
        loop {
            let pause = self.begin_due(way, &mut tasks).unwrap_or(LOOK_EVERY).min(LOOK_EVERY);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.wakes.added.notified() => {}
                Some(done) = tasks.join_next() => match done {
                    Ok(Some((run, Err(RuntimeError::Blocked { .. })))) => {
                        let later = i64::try_from(LATER.as_millis()).unwrap_or(i64::MAX);
                        self.wakes.add(self.clock.now_ms().saturating_add(later), run);
                    }
                    // Somebody else saw to it.
                    Ok(Some((_, Err(RuntimeError::Journal(JournalError::Held { .. } | JournalError::Over { .. }))))) => {}
                    Ok(Some(tended)) => told(tended),
                    Ok(None) | Err(_) => {}
                },
            }
        }
    }

    /// Begins what is due, and tells how long it is until the next.
    fn begin_due(self: &Arc<Self>, way: &str, tasks: &mut JoinSet<Option<Tended>>) -> Option<Duration> {
        loop {
            if tasks.len() >= AT_ONCE {
                return None;
            }
            let run = match self.wakes.next(self.clock.now_ms()) {
                Ok(run) => run,
                Err(pause) => return pause,
            };
            let (runtime, way) = (Arc::clone(self), way.to_owned());
            tasks.spawn(async move {
                match runtime.is_of(run, &way).await {
                    Ok(false) => None,
                    Ok(true) => Some((run, runtime.resume(run, Take::IfFree).await)),
                    Err(error) => Some((run, Err(error))),
                }
            });
        }
    }

    /// Whether a run came in by `way` under these settings.
    async fn is_of(&self, run: RunId, way: &str) -> Result<bool, RuntimeError> {
        let journal = self.journal().await?;
        let started = match journal.snapshot(run).await? {
            Restored::Fits { start, .. } => start,
            Restored::None | Restored::Unfit { .. } => start_of(run, journal.read(run).await?.first())?,
        };
        let origin: Origin = started.origin.parse().unwrap_or_default();
        Ok(origin.way == way && origin.config == self.settings.config)
    }
}
