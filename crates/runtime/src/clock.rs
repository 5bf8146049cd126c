//! The only place that reads time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Where a runtime gets its time from. Tests bring their own.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970, UTC. May jump in either direction, as clocks of machines do.
    fn now_ms(&self) -> i64;

    /// A clock that never goes back, for measuring.
    fn instant(&self) -> Instant;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads time")]
impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(_) => 0,
        }
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }
}
