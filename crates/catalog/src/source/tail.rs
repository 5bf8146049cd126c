//! The last words of a server: the end of what it wrote beside the protocol, for the reason of a failure.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::watch,
    time::{Instant, timeout},
};

use crate::name;

/// Earlier bytes are forgotten. Bounds memory, whatever a child writes and however long it lives.
const MAX: usize = 4096;

/// How long the rest of a stream is waited for, once its writer is known to be gone.
const REST: Duration = Duration::from_millis(200);

/// The end of a stream. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<VecDeque<u8>>,
    /// The last thing that does not belong where it came, and when that was.
    odd: Mutex<Option<(Instant, String)>>,
    ended: watch::Sender<bool>,
}

impl Tail {
    /// Reads `stream` until it ends. It must be read even if nobody asks: a full pipe would stop the child.
    pub(super) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let mut kept = self.kept();
            kept.extend(&buffer[..read]);
            let over = kept.len().saturating_sub(MAX);
            kept.drain(..over);
        }
        self.0.ended.send_replace(true);
    }

    /// Adds a line of our own or of the server's, from elsewhere than the stream.
    pub(super) fn add(&self, line: &str) {
        let mut kept = self.kept();
        if kept.back().is_some_and(|last| *last != b'\n') {
            kept.push_back(b'\n');
        }
        kept.extend(line.bytes().take(MAX / 4));
        kept.push_back(b'\n');
        let over = kept.len().saturating_sub(MAX);
        kept.drain(..over);
    }

    /// Adds a line that came in place of a message.
    pub(super) fn odd(&self, line: &str) {
        self.add(line);
        *self.last_odd() = Some((Instant::now(), name::cut(line, MAX / 16)));
    }

    /// Returns the last such line since then.
    pub(super) fn odd_since(&self, then: Instant) -> Option<String> {
        self.last_odd().as_ref().filter(|(at, _)| *at >= then).map(|(_, line)| line.clone())
    }

    fn last_odd(&self) -> MutexGuard<'_, Option<(Instant, String)>> {
        self.0.odd.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is no stream: nothing has to be waited for.
    pub(super) fn without_stream() -> Self {
        let tail = Self::default();
        tail.0.ended.send_replace(true);
        tail
    }

    /// Returns the end of the stream as text, after what is still under way has arrived.
    pub(super) async fn last_words(&self) -> String {
        let _ = timeout(REST, self.0.ended.subscribe().wait_for(|ended| *ended)).await;
        self.text()
    }

    /// Returns the end of the stream as text.
    pub(super) fn text(&self) -> String {
        let mut kept = self.kept();
        let full = kept.len() == MAX;
        let text = String::from_utf8_lossy(kept.make_contiguous()).into_owned();
        // The first line of a full buffer is most likely half a line.
        let text = match text.split_once('\n') {
            Some((_, rest)) if full => rest,
            _ => &text,
        };
        text.trim().replace(|c: char| c.is_control() && c != '\n' && c != '\t', " ")
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
