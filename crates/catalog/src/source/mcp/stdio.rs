//! Messages over the standard streams of a child: one a line, whatever else is on the lines between.
//!
//! This is framing only; `rmcp` does the protocol. It is ours since what real servers write has to be told apart: text that is no
//! message is skipped and remembered, and an answer that cannot be read or is too long fails its own call at once: the one whose
//! number it has, or the only one that is out. In the transport that `rmcp` has, such lines vanish, and the call waits for its
//! time-out. Half a line at the end of the stream is no answer: its server died in writing it.
//!
//! Memory is bounded: one message of [`MAX_MESSAGE`], and the ids that are without an answer.

use std::{
    collections::{HashSet, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, NumberOrString, RequestId,
        ServerJsonRpcMessage,
    },
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    time::timeout,
};

use super::{
    super::{Event, Events, tail::Tail},
    message::{self, GLIMPSE, Number, Read, numeric},
    result,
};

/// One message of a server. The limit on results is lower, so that what is only somewhat too long is told with its size.
const MAX_MESSAGE: usize = 4 * result::MAX_RESULT;

/// How long a server may leave its input unread. After that the rest of a message cannot be sent, so the connection is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The two streams of a child.
pub(super) struct Stdio<R, W> {
    lines: Lines<R>,
    input: Arc<tokio::sync::Mutex<Option<W>>>,
    asked: Arc<Asked>,
    ready: VecDeque<ServerJsonRpcMessage>,
    /// Whether the line under way is too long, and a call has failed for it.
    has_failed: bool,
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
            has_failed: false,
            words,
            events,
        }
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Whole(line) => {
                for read in message::read(&line) {
                    match read {
                        Read::Message(message) => self.message(*message, &line),
                        Read::Unreadable { number, why } => {
                            self.unreadable(&number, &why, |id| message::unreadable(id, &why));
                        }
                        Read::Noise(text) => self.words.odd(&text),
                    }
                }
            }
            Line::Unended(line) => {
                for read in message::read(&line) {
                    match read {
                        Read::Message(message) => self.message(*message, &line),
                        Read::Unreadable { why: text, .. } | Read::Noise(text) => self.words.odd(&text),
                    }
                }
            }
            Line::Long { head } => {
                let number = message::glimpsed(&head, &[]).map_or(Number::Unknown, Number::Likely);
                self.has_failed = self.too_long(&number);
            }
            Line::TooLong { head, tail } if !std::mem::take(&mut self.has_failed) => {
                let number = message::glimpsed(&head, &tail).map_or(Number::Unknown, Number::Likely);
                self.too_long(&number);
            }
            Line::TooLong { .. } => {}
        }
    }

    fn message(&mut self, message: ServerJsonRpcMessage, line: &[u8]) {
        let message = match message {
            // An error without a number is about the only call that is out, if there is one only.
            JsonRpcMessage::Error(mut error) if error.id.is_none() => {
                error.id = self.asked.only();
                if error.id.is_none() {
                    let why = format!("an error that belongs to no call: {}", message::quoted(line));
                    self.words.odd(&why);
                    self.events.tell(Event::Trouble(format!("it sent {why}")));
                    return;
                }
                JsonRpcMessage::Error(error)
            }
            message => message,
        };
        if !self.asked.answered(&message) {
            self.words.odd(&format!("an answer to nobody: {}", message::quoted(line)));
        }
        self.ready.push_back(message);
    }

    fn too_long(&mut self, number: &Number) -> bool {
        let why = format!("it is longer than {} MiB", MAX_MESSAGE >> 20);
        self.unreadable(number, &why, |id| message::too_long(id, MAX_MESSAGE))
    }

    /// Fails the call that an answer belongs to, and lets it be seen in the source. Returns whether there is such a call.
    fn unreadable(&mut self, number: &Number, why: &str, error: impl Fn(RequestId) -> ServerJsonRpcMessage) -> bool {
        self.words.odd(&format!("(an answer that cannot be read: {why})"));
        self.events.tell(Event::Trouble(format!("it sent an answer that cannot be read: {why}")));
        let Some(id) = self.asked.whose(number) else { return false };
        let message = error(id);
        self.asked.answered(&message);
        self.ready.push_back(message);
        true
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
struct Asked(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    open: HashSet<RequestId>,
    /// The greatest number so far.
    last: Option<i64>,
}

impl Asked {
    fn sent(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut requests = self.requests();
                if let NumberOrString::Number(number) = request.id {
                    requests.last = requests.last.max(Some(number));
                }
                // Whoever listens waits for no answer.
                if !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
                    requests.open.insert(request.id.clone());
                }
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.requests().open.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Returns whether a message is none that answers what was never asked. One that comes too late is not of that kind.
    fn answered(&self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let Some(id) = id.cloned().map(numeric) else { return true };
        let mut requests = self.requests();
        requests.open.remove(&id) || matches!(id, NumberOrString::Number(number) if Some(number) <= requests.last)
    }

    /// Returns the request that an answer belongs to. Where no number is sure, that may be the only one that is open.
    fn whose(&self, number: &Number) -> Option<RequestId> {
        let (Number::Sure(id) | Number::Likely(id)) = number else { return self.only() };
        let id = numeric(id.clone());
        if self.requests().open.contains(&id) {
            return Some(id);
        }
        if matches!(number, Number::Sure(_)) { None } else { self.only() }
    }

    fn only(&self) -> Option<RequestId> {
        let requests = self.requests();
        (requests.open.len() == 1).then(|| requests.open.iter().next().cloned()).flatten()
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was between two line breaks.
#[derive(Debug, PartialEq)]
enum Line {
    Whole(Vec<u8>),
    /// The last one, without a line break.
    Unended(Vec<u8>),
    /// One that is over the limit, and goes on.
    Long {
        head: Vec<u8>,
    },
    /// The same one, at its end.
    TooLong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
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
                let is_news = self.long.is_none();
                self.lengthen(&part);
                if let Some((head, _)) = self.long.as_ref().filter(|_| is_news) {
                    return Ok(Some(Line::Long { head: head.clone() }));
                }
            }
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                self.scanned = 0;
                let is_over = rest.is_empty() || self.long.take().is_some();
                return Ok((!is_over).then_some(Line::Unended(rest)));
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
            [whole("a"), whole(""), whole("\u{65e5}\r"), Line::Unended(b"rest".to_vec())]
        );
        assert_eq!(lines(&[], 100).await, []);
    }

    #[tokio::test]
    async fn of_a_line_that_is_too_long_both_ends_are_kept_and_the_next_line_is_whole() {
        let long = [b"x".repeat(3000), b"y".repeat(3000)].concat();
        let got = lines(&[&long, b"\nnext\n", &long], 100).await;
        let Line::Long { head } = &got[0] else { panic!("{got:?}") };
        assert!(head.iter().all(|byte| *byte == b'x') && head.len() >= 100);
        assert_eq!(got[1], Line::TooLong { head: head.clone(), tail: b"y".repeat(GLIMPSE) });
        assert_eq!(got[2], Line::Whole(b"next".to_vec()));
        // Of the last one nobody knows the end.
        assert_eq!(got[3..], [Line::Long { head: head.clone() }]);
    }
}
