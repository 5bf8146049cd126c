//! Asks for the newest revision of the protocol without harm to servers that do not know it.
//!
//! The newest revision begins with a request, `server/discover`, that older servers have never heard of. They should answer
//! that they do not know it. Some say nothing, and some answer everything with an empty object. Both are turned into the
//! answer that they should have given, and `rmcp` goes on with `initialize`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, RoleClient,
    model::{
        ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use tokio::time::{Instant, sleep_until};

use super::message::numeric;

pub(super) struct Probe<T> {
    inner: T,
    patience: Duration,
    /// The request that is under way, and until when it may be.
    asked: Option<(RequestId, Instant)>,
    /// Set when a request was answered for the server because it said nothing.
    was_silent: Arc<AtomicBool>,
    /// A request that was answered for the server. Its own answer comes too late.
    given_up: Option<RequestId>,
}

impl<T> Probe<T> {
    /// Waits for an answer to `server/discover` as long as `patience` lasts.
    pub(super) fn new(inner: T, patience: Duration, was_silent: Arc<AtomicBool>) -> Self {
        Self { inner, patience, asked: None, was_silent, given_up: None }
    }

    fn unknown(id: RequestId) -> ServerJsonRpcMessage {
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "the server does not know `server/discover`", None);
        ServerJsonRpcMessage::error(error, Some(id))
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Probe<T> {
    type Error = T::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && let ClientRequest::DiscoverRequest(_) = &request.request
        {
            self.asked = Some((request.id.clone(), Instant::now() + self.patience));
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = match &self.asked {
                None => self.inner.receive().await?,
                Some((id, until)) => tokio::select! {
                    message = self.inner.receive() => message?,
                    () = sleep_until(*until) => {
                        let id = id.clone();
                        self.asked = None;
                        self.was_silent.store(true, Ordering::Relaxed);
                        self.given_up = Some(id.clone());
                        return Some(Self::unknown(id));
                    }
                },
            };
            let id = match &message {
                JsonRpcMessage::Response(response) => Some(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            let Some(id) = id.cloned().map(numeric) else { return Some(message) };
            if self.given_up.as_ref().is_some_and(|given_up| *given_up == id) {
                continue;
            }
            if let Some((asked, _)) = self.asked.take_if(|(asked, _)| *asked == id)
                && let JsonRpcMessage::Response(response) = &message
                && !matches!(response.result, ServerResult::DiscoverResult(_))
            {
                return Some(Self::unknown(asked));
            }
            return Some(message);
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}
