//! The thread that owns the pace: it ticks the engine once per slice while runs compute, and stops those whose time is up.
//!
//! A thread of its own and no timer task: when every worker of the async runtime computes inside a guest, a timer task would
//! never be polled, and the guests would never give way.

use std::{
    collections::HashMap,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::Poll,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use refrain_engine::{Engine, Stopper};
use tokio::sync::Semaphore;

use crate::clock::Clock;

pub(crate) struct Ticker {
    shared: Arc<Shared>,
    /// As many as may compute on after their first slice, the others in a queue.
    lanes: Semaphore,
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
struct Computing<'a> {
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
        let lanes = Semaphore::new(available_parallelism().map_or(1, usize::from));
        Self { shared, lanes }
    }

    /// Runs a turn of a sandbox, to be stopped at `deadline`, beside the turns of others.
    pub(crate) async fn compute<T: Future>(&self, deadline: Option<Instant>, stopper: Stopper, turn: T) -> T::Output {
        let _computing = self.computing(deadline, stopper);
        in_slices(&self.lanes, turn).await
    }

    /// Counts a sandbox as computing.
    fn computing(&self, deadline: Option<Instant>, stopper: Stopper) -> Computing<'_> {
        let mut state = self.shared.lock();
        state.next += 1;
        let number = state.next;
        state.computing.insert(number, (deadline, stopper));
        self.shared.busy.notify_one();
        Computing { ticker: self, number }
    }
}

/// Polls `turn`, which is pending when its slice is over and at no other time. Whoever needs more than one slice queues for a lane
/// from then on, so that a short turn waits for a slice or two and not for one of each that computes.
async fn in_slices<T: Future>(lanes: &Semaphore, turn: T) -> T::Output {
    let mut turn = pin!(turn);
    let mut lane = None;
    loop {
        let polled = poll_fn(|context| Poll::Ready(turn.as_mut().poll(context))).await;
        if let Poll::Ready(output) = polled {
            return output;
        }
        // The lane is kept until the others have had their turn: given back at once, it would always be free, and nobody would queue.
        tokio::task::yield_now().await;
        drop(lane.take());
        lane = lanes.acquire().await.ok();
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// As the engine does it: ready again at once.
    async fn slice_ends() {
        let mut over = false;
        poll_fn(|context| {
            context.waker().wake_by_ref();
            if std::mem::replace(&mut over, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    #[test]
    fn a_short_turn_does_not_wait_for_a_slice_of_each_long_one() {
        const LONG: usize = 40;
        const SHORT: usize = 10;
        let slices = Arc::new(AtomicUsize::new(0));
        let lanes = Arc::new(Semaphore::new(2));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // A task: what `block_on` is given itself is looked at only now and then.
        let seen = async move |lanes: Arc<Semaphore>, slices: Arc<AtomicUsize>| {
            let mut long = tokio::task::JoinSet::new();
            for _ in 0..LONG {
                let (slices, lanes) = (Arc::clone(&slices), Arc::clone(&lanes));
                long.spawn(async move {
                    let turn = async {
                        for _ in 0..200 {
                            slices.fetch_add(1, Ordering::Relaxed);
                            slice_ends().await;
                        }
                    };
                    in_slices(&lanes, turn).await;
                });
            }
            // Each has its first slice at once.
            tokio::task::yield_now().await;
            let before = slices.load(Ordering::Relaxed);
            for _ in 0..SHORT {
                let lanes = Arc::clone(&lanes);
                tokio::spawn(async move { in_slices(&lanes, async {}).await }).await.unwrap();
            }
            let seen = slices.load(Ordering::Relaxed) - before;
            while long.join_next().await.is_some() {}
            seen
        };
        let seen = runtime.block_on(async { tokio::spawn(seen(lanes, Arc::clone(&slices))).await.unwrap() });
        assert!(seen < SHORT * LONG / 4, "{SHORT} short turns waited for {seen} slices");
        assert_eq!(slices.load(Ordering::Relaxed), LONG * 200, "nobody is left behind");
    }
}
