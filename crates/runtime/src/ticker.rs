//! The thread that owns the pace: it ticks the engine once per slice while runs compute, and stops those whose time is up.
//!
//! A thread of its own and no timer task: when every worker of the async runtime computes inside a guest, a timer task would
//! never be polled, and the guests would never give way.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use refrain_engine::{Engine, Stopper};

use crate::clock::Clock;

pub(crate) struct Ticker {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Told when there is something to do again.
    busy: Condvar,
}

#[derive(Default)]
struct State {
    computing: HashMap<u64, (Option<Instant>, Stopper)>,
    next: u64,
    closed: bool,
}

/// A sandbox is computing as long as this lives.
pub(crate) struct Computing<'a> {
    ticker: &'a Ticker,
    number: u64,
}

impl Ticker {
    pub(crate) fn start(engine: Engine, slice: Duration, clock: Arc<dyn Clock>) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), busy: Condvar::new() });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("refrain-ticker".into())
            .spawn(move || theirs.tick(&engine, slice.max(Duration::from_millis(1)), &*clock))
            .expect("a process that can start has room for one more thread");
        Self { shared }
    }

    /// Counts a sandbox as computing, to be stopped at `deadline`.
    pub(crate) fn computing(&self, deadline: Option<Instant>, stopper: Stopper) -> Computing<'_> {
        let mut state = self.shared.lock();
        state.next += 1;
        let number = state.next;
        state.computing.insert(number, (deadline, stopper));
        self.shared.busy.notify_one();
        Computing { ticker: self, number }
    }
}

impl Drop for Computing<'_> {
    fn drop(&mut self) {
        self.ticker.shared.lock().computing.remove(&self.number);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.busy.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self, engine: &Engine, slice: Duration, clock: &dyn Clock) {
        loop {
            {
                let mut state = self.lock();
                while state.computing.is_empty() && !state.closed {
                    state = self.busy.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                if state.closed {
                    return;
                }
            }
            std::thread::sleep(slice);
            let now = clock.instant();
            for (deadline, stopper) in self.lock().computing.values() {
                if deadline.is_some_and(|deadline| deadline <= now) {
                    stopper.stop();
                }
            }
            engine.tick();
        }
    }
}
