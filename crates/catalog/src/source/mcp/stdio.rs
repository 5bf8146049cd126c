//! Messages over the standard streams of a child: one a line, whatever else is on the lines between.
//!
//! This is framing only; `rmcp` does the protocol. It is ours since what real servers write has to be told apart: text that is no
//! message is skipped and remembered, and an answer that cannot be read or is too long fails its own call at once. In the
//! transport that `rmcp` has, such lines vanish, and the call waits for its time-out.
//!
//! Memory is bounded: one message of [`MAX_MESSAGE`], and the ids that are without an answer.

use std::{
    collections::{HashSet, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleClient,
    model::{ClientJsonRpcMessage, ClientNotification, ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    time::timeout,
};

use super::{
    super::{Event, Events, tail::Tail},
    message::{self, GLIMPSE, Read, numeric},
    result,
};

/// One message of a server. The limit on results is lower, so that what is only somewhat too long is told with its size.
const MAX_MESSAGE: usize = 4 * result::MAX_RESULT;

/// The error code under which an answer over [`MAX_MESSAGE`] is told. JSON-RPC leaves it to implementations.
pub(super) const TOO_LONG: ErrorCode = ErrorCode(-32_098);

/// How long a server may leave its input unread. After that the rest of a message cannot be sent, so the connection is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The two streams of a child.
pub(super) struct Stdio<R, W> {
    lines: Lines<R>,
    input: Arc<tokio::sync::Mutex<Option<W>>>,
    asked: Arc<Asked>,
    ready: VecDeque<ServerJsonRpcMessage>,
    words: Tail,
    events: Events,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Stdio<R, W> {
    /// Takes what the child prints and what it reads. Noise goes to `words`.
    pub(super) fn new(output: R, input: W, words: Tail, events: Events) -> Self {
        Self {
            lines: Lines::new(output),
            input: Arc::new(tokio::sync::Mutex::new(Some(input))),
            asked: Arc::default(),
            ready: VecDeque::new(),
            words,
            events,
        }
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Whole(line) => {
                for read in message::read(&line) {
                    match read {
                        Read::Message(message) => {
                            self.asked.answered(&message);
                            self.ready.push_back(*message);
                        }
                        Read::Unreadable { id, why } => self.unreadable(id, &why, message::unreadable),
                        Read::Noise(text) => self.words.add(&text),
                    }
                }
            }
            Line::TooLong { head, tail } => {
                let why = format!("it is longer than {} MiB", MAX_MESSAGE >> 20);
                self.unreadable(message::glimpsed(&head, &tail), &why, |id, why| {
                    ServerJsonRpcMessage::error(ErrorData::new(TOO_LONG, why.to_owned(), None), Some(id))
                });
            }
        }
    }

    /// Fails the call that an answer belongs to, and lets it be seen in the source.
    fn unreadable(
        &mut self,
        id: Option<RequestId>,
        why: &str,
        error: impl Fn(RequestId, &str) -> ServerJsonRpcMessage,
    ) {
        self.words.add(&format!("(an answer that cannot be read: {why})"));
        self.events.tell(Event::Trouble(format!("it sent an answer that cannot be read: {why}")));
        if let Some(id) = self.asked.whose(id) {
            let message = error(id, why);
            self.asked.answered(&message);
            self.ready.push_back(message);
        }
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Transport<RoleClient> for Stdio<R, W> {
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.asked.sent(&message);
        let input = Arc::clone(&self.input);
        async move {
            let mut bytes = serde_json::to_vec(&message)?;
            bytes.push(b'\n');
            let mut slot = input.lock().await;
            let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the server does not read its input");
            let stream = slot.as_mut().ok_or_else(gone)?;
            let written = timeout(PATIENCE, async {
                stream.write_all(&bytes).await?;
                stream.flush().await
            });
            match written.await {
                Ok(written) => written,
                Err(_) => {
                    // Half a message may be in the pipe, and nothing that comes after it can be understood.
                    *slot = None;
                    Err(gone())
                }
            }
        }
    }

    /// May be dropped at any time without losing anything.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            match self.lines.next().await {
                Ok(Some(line)) => self.take(line),
                // An error is an end: nothing more can come.
                Ok(None) | Err(_) => {
                    let told = "its server has closed its output; the next call starts it again";
                    self.events.tell(Event::Trouble(told.to_owned()));
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // The end of its input is how a server on standard streams is told to go. Whoever is still writing goes first.
        if let Ok(mut slot) = timeout(Duration::from_millis(100), self.input.lock()).await {
            *slot = None;
        }
        Ok(())
    }
}

/// The requests that are without an answer.
#[derive(Debug, Default)]
struct Asked(Mutex<HashSet<RequestId>>);

impl Asked {
    fn sent(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => drop(self.open().insert(request.id.clone())),
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open().remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn answered(&self, message: &ServerJsonRpcMessage) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id {
            self.open().remove(&numeric(id.clone()));
        }
    }

    /// Returns the request that an answer belongs to. Where its number says nothing, the only one that is open.
    fn whose(&self, id: Option<RequestId>) -> Option<RequestId> {
        let open = self.open();
        match id.map(numeric).filter(|id| open.contains(id)) {
            Some(id) => Some(id),
            None if open.len() == 1 => open.iter().next().cloned(),
            None => None,
        }
    }

    fn open(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was between two line breaks.
#[derive(Debug, PartialEq)]
enum Line {
    Whole(Vec<u8>),
    TooLong { head: Vec<u8>, tail: Vec<u8> },
}

/// Cuts a stream into lines of bytes, so that no character is ever split.
struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Up to here there is no line break.
    scanned: usize,
    /// The first and the last bytes so far of a line that is too long.
    long: Option<(Vec<u8>, Vec<u8>)>,
    most: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(stream: R) -> Self {
        Self { stream, buffer: Vec::new(), scanned: 0, long: None, most: MAX_MESSAGE, ended: false }
    }

    async fn next(&mut self) -> io::Result<Option<Line>> {
        const CHUNK: usize = 16 << 10;
        loop {
            if let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=self.scanned + at).collect();
                line.pop();
                return Ok(Some(self.finish(line)));
            }
            self.scanned = self.buffer.len();
            if self.buffer.len() > self.most {
                let part = std::mem::take(&mut self.buffer);
                self.lengthen(&part);
            }
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                let is_empty = rest.is_empty() && self.long.is_none();
                return Ok((!is_empty).then(|| self.finish(rest)));
            }
            self.buffer.reserve(CHUNK);
            self.ended = self.stream.read_buf(&mut self.buffer).await? == 0;
        }
    }

    fn finish(&mut self, line: Vec<u8>) -> Line {
        self.scanned = 0;
        if self.long.is_some() {
            self.lengthen(&line);
        }
        match self.long.take() {
            Some((head, tail)) => Line::TooLong { head, tail },
            None => Line::Whole(line),
        }
    }

    fn lengthen(&mut self, part: &[u8]) {
        self.scanned = 0;
        let (_, tail) = self.long.get_or_insert_with(|| (part[..part.len().min(GLIMPSE)].to_vec(), Vec::new()));
        tail.extend_from_slice(&part[part.len().saturating_sub(GLIMPSE)..]);
        tail.drain(..tail.len().saturating_sub(GLIMPSE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(chunks: &[&[u8]], most: usize) -> Vec<Line> {
        let (mut writer, reader) = tokio::io::duplex(3);
        let chunks: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.to_vec()).collect();
        let writing = tokio::spawn(async move {
            for chunk in chunks {
                writer.write_all(&chunk).await.unwrap();
            }
        });
        let mut lines = Lines::new(reader);
        lines.most = most;
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        writing.await.unwrap();
        all
    }

    #[tokio::test]
    async fn lines_are_whole_however_they_arrive() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            lines(&[b"a\n\n", b"\xe6", b"\x97\xa5\r\nrest"], 100).await,
            [whole("a"), whole(""), whole("\u{65e5}\r"), whole("rest")]
        );
        assert_eq!(lines(&[], 100).await, []);
    }

    #[tokio::test]
    async fn of_a_line_that_is_too_long_both_ends_are_kept_and_the_next_line_is_whole() {
        let long = [b"x".repeat(3000), b"y".repeat(3000)].concat();
        let got = lines(&[&long, b"\nnext\n", &long], 100).await;
        let Line::TooLong { head, tail } = &got[0] else { panic!("{got:?}") };
        assert!(head.iter().all(|byte| *byte == b'x') && head.len() >= 100);
        assert_eq!(*tail, b"y".repeat(GLIMPSE));
        assert_eq!(got[1], Line::Whole(b"next".to_vec()));
        assert!(matches!(got[2], Line::TooLong { .. }), "{:?}", got[2]);
        assert_eq!(got.len(), 3);
    }
}
