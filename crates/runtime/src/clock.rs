//! The only place that reads time, and where chance comes from.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::error::RuntimeError;

/// Where a runtime gets its time and its chance from. Tests bring their own.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since 1970, UTC. May jump in either direction, as clocks of machines do.
    fn now_ms(&self) -> i64;

    /// A clock that never goes back, for measuring.
    fn instant(&self) -> Instant;

    /// Fills `bytes` by chance, for the id and the seed of a run. A test that brings the same bytes twice gets the same run twice.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Bug`] where the system has none.
    fn random(&self, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        let told = |error| RuntimeError::Bug { what: format!("the system gives no random bytes: {error}") };
        getrandom::fill(bytes).map_err(told)
    }
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
