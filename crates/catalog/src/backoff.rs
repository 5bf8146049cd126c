//! How long something that failed is left alone: longer each time, so that what crashes in a loop does not spin.
//!
//! There is no jitter. Every source has its own count, and one process does not make a herd.

use std::time::Duration;

use tokio::time::Instant;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The failures in a row, and the rest after them.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// As many failures are followed by no rest at all.
    forgiven: u32,
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    /// The first `forgiven` failures in a row cost nothing.
    pub(crate) fn forgiving(forgiven: u32) -> Self {
        Self { forgiven, ..Self::default() }
    }

    /// It failed.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let until = self.failures.checked_sub(self.forgiven + 1).map(|doublings| {
            let longer = 2u32.checked_pow(doublings).and_then(|times| FIRST.checked_mul(times));
            now + longer.map_or(LONGEST, |rest| rest.min(LONGEST))
        });
        // What was asked for stays asked for.
        self.until = self.until.max(until);
    }

    /// It asks to be left alone for that long.
    pub(crate) fn rest_for(&mut self, rest: Duration, now: Instant) {
        self.until = self.until.max(Some(now + rest));
    }

    /// It worked.
    pub(crate) fn worked(&mut self) {
        self.failures = 0;
        self.until = None;
    }

    /// Returns how long it is still to be left alone.
    pub(crate) fn rest(&self, now: Instant) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_doubles_up_to_a_minute_and_ends_with_the_first_success() {
        let now = Instant::now();
        let rests = |mut backoff: Backoff, failures: usize| -> Vec<u64> {
            let each = |_| {
                backoff.failed(now);
                backoff.rest(now).as_secs()
            };
            (0..failures).map(each).collect()
        };
        assert_eq!(rests(Backoff::forgiving(0), 9), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(rests(Backoff::forgiving(1), 4), [0, 1, 2, 4]);
        assert_eq!(rests(Backoff::forgiving(0), 100).last(), Some(&60));
        let mut backoff = Backoff::forgiving(0);
        backoff.failed(now);
        assert_eq!(backoff.rest(now + FIRST), Duration::ZERO);
        backoff.worked();
        assert_eq!(backoff.rest(now), Duration::ZERO);
    }

    #[test]
    fn what_was_asked_for_is_not_shortened_by_a_failure_and_ends_with_a_success() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        backoff.failed(now);
        backoff.rest_for(Duration::from_secs(40), now);
        backoff.failed(now);
        assert_eq!(backoff.rest(now).as_secs(), 40);
        backoff.rest_for(Duration::from_secs(5), now);
        assert_eq!(backoff.rest(now).as_secs(), 40);
        backoff.worked();
        assert_eq!(backoff.rest(now), Duration::ZERO);
    }
}
