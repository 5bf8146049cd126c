//! The work behind calls, apart from the requests that asked for it.
//!
//! A request may be cancelled and its answer thrown away; the work goes on, since a client never decides about a run. Work
//! that panics ends alone and leaves an answer. When the client has left, all of it is dropped together.

use std::sync::{Mutex, PoisonError};

use tokio::{sync::oneshot, task::JoinSet};

/// What is under way for one client.
pub(crate) struct Tasks(Mutex<Option<JoinSet<()>>>);

/// The work ended without a value: it panicked, or the client has left.
#[derive(Debug)]
pub(crate) struct BrokenOff;

impl Default for Tasks {
    fn default() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }
}

impl Tasks {
    /// Does `work` and returns its value. Dropping this future does not stop the work.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, BrokenOff> {
        let (done, value) = oneshot::channel();
        self.start(async move {
            // Nobody may be waiting any more.
            let _ = done.send(work.await);
        });
        value.await.map_err(|_| BrokenOff)
    }

    /// Begins `work`. After [`close`](Self::close) it is dropped at once.
    pub(crate) fn start(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // What is finished would otherwise pile up for as long as the client stays.
            while tasks.try_join_next().is_some() {}
            tasks.spawn(work);
        }
    }

    /// Drops everything, and returns once nothing is left.
    pub(crate) async fn close(&self) {
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut tasks) = tasks {
            tasks.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn work_goes_on_when_nobody_waits_for_it() {
        let (tasks, go, done) = (Tasks::default(), Arc::new(Notify::new()), Arc::new(Notify::new()));
        let work = {
            let (go, done) = (Arc::clone(&go), Arc::clone(&done));
            async move {
                go.notified().await;
                done.notify_one();
            }
        };
        tokio::select! {
            biased;
            _ = tasks.run(work) => panic!("the work was to wait"),
            () = tokio::task::yield_now() => {}
        }
        go.notify_one();
        done.notified().await;
    }

    #[tokio::test]
    async fn work_that_panics_ends_alone() {
        let tasks = Tasks::default();
        assert!(tasks.run(async { panic!("on purpose") }).await.is_err());
        assert_eq!(tasks.run(async { 7 }).await.ok(), Some(7));
    }

    #[tokio::test]
    async fn after_the_close_nothing_is_held() {
        let (tasks, held) = (Tasks::default(), Arc::new(()));
        let kept = Arc::clone(&held);
        tasks.start(async move {
            std::future::pending::<()>().await;
            drop(kept);
        });
        tasks.close().await;
        assert_eq!(Arc::strong_count(&held), 1);
        assert!(tasks.run(async {}).await.is_err());
    }
}
