//! What passes from the body of a stream to whoever cuts it into events: valid text, and no event without end.

use std::{
    future::ready,
    io::{self, Cursor, ErrorKind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::{Stream, StreamExt as _, TryStreamExt as _};

type Part = Cursor<Vec<u8>>;

/// Puts U+FFFD in the place of what is no UTF-8, counting in `replaced`, and ends at an event of more than `most` bytes, with an
/// error of the kind [`ErrorKind::FileTooLarge`].
pub(super) fn gated<B: AsRef<[u8]>, E: std::error::Error + Send + Sync + 'static>(
    body: impl Stream<Item = Result<B, E>>,
    most: usize,
    replaced: Arc<AtomicU64>,
) -> impl Stream<Item = io::Result<Part>> {
    let gate = Gate { most, size: 0, was_break: false, held: Vec::new(), replaced, is_shut: false };
    body.map_err(io::Error::other).scan(gate, |gate, part| ready(gate.pass(part)))
}

struct Gate {
    most: usize,
    /// Since the last empty line, which is what ends an event.
    size: usize,
    /// Whether the last byte that is no carriage return ended a line.
    was_break: bool,
    /// The beginning of a character whose end has not come yet.
    held: Vec<u8>,
    replaced: Arc<AtomicU64>,
    is_shut: bool,
}

impl Gate {
    fn pass(&mut self, part: io::Result<impl AsRef<[u8]>>) -> Option<io::Result<Part>> {
        if self.is_shut {
            return None;
        }
        Some(part.and_then(|part| {
            let bytes = self.text(part.as_ref());
            self.is_shut = bytes.iter().any(|byte| self.is_over(*byte));
            if self.is_shut { Err(ErrorKind::FileTooLarge.into()) } else { Ok(Cursor::new(bytes)) }
        }))
    }

    fn text(&mut self, part: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(part);
        if std::str::from_utf8(&bytes).is_ok() {
            return bytes;
        }
        let mut text = String::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Err(error) = std::str::from_utf8(rest) {
            let (valid, odd) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            let Some(length) = error.error_len() else {
                self.held = odd.to_vec();
                return text.into_bytes();
            };
            text.push(char::REPLACEMENT_CHARACTER);
            self.replaced.fetch_add(1, Ordering::Relaxed);
            rest = &odd[length..];
        }
        text.push_str(&String::from_utf8_lossy(rest));
        text.into_bytes()
    }

    /// Counts a byte. Returns whether the event is over the limit with it.
    fn is_over(&mut self, byte: u8) -> bool {
        self.size += 1;
        match byte {
            b'\n' if self.was_break => self.size = 0,
            b'\n' => self.was_break = true,
            b'\r' => {}
            _ => self.was_break = false,
        }
        self.size > self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(parts: &[&[u8]], expect: &str) {
        let replaced = Arc::new(AtomicU64::new(0));
        let body = futures_util::stream::iter(parts.iter().map(|part| Ok::<_, io::Error>(*part)).collect::<Vec<_>>());
        let passed: Vec<String> = gated(body, 10, Arc::clone(&replaced))
            .map(|part| match part {
                Ok(part) => String::from_utf8(part.into_inner()).unwrap(),
                Err(error) => error.kind().to_string(),
            })
            .collect()
            .await;
        let replaced = replaced.load(Ordering::Relaxed);
        assert_eq!(format!("{} ({replaced})", passed.join("|")), expect, "{parts:?}");
    }

    #[tokio::test]
    async fn text_is_valid_however_it_is_cut_and_an_event_has_an_end() {
        check(&[b"a: \xe6\x97", b"\xa5\n\n"], "a: |\u{65e5}\n\n (0)").await;
        check(&[b"a\xffb\xe6x", b"\xc3"], "a\u{fffd}b\u{fffd}x| (2)").await;
        check(&[b"12345\n\n678", b"90\r\n\r\n12345678\n\n"], "12345\n\n678|90\r\n\r\n12345678\n\n (0)").await;
        check(&[b"12345\n", b"678\n90", b"more"], "12345\n|file too large (0)").await;
    }
}
