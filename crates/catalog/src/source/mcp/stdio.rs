//! Messages over the standard streams of a child: one a line, whatever else is on the lines between.
//!
//! This is framing only; `rmcp` does the protocol. It is ours since what real servers write has to be told apart: text that is no
//! message is skipped and remembered, and an answer that cannot be read or is too long fails its own call at once: the one whose
//! number it has, or the only one that is out. In the transport that `rmcp` has, such lines vanish, and the call waits for its
//! time-out. Half a line at the end of the stream is no answer: its server died in writing it.
//!
//! Memory is bounded: one message of [`MAX_MESSAGE`], and the ids that are without an answer.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    time::timeout,
};

use super::{
    super::{Event, Events, tail::Tail},
    asked::Asked,
    lines::{Line, Lines},
    message::{self, Number, Read},
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
            lines: Lines::new(output, MAX_MESSAGE),
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
        // Nobody waits: a line of some log.
        if self.asked.is_idle() {
            return false;
        }
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
