//! Which requests are without an answer, so that it can be told whose an answer is that does not say so.
//!
//! Bounded by what is asked: a request goes when it is answered or given up.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, NumberOrString, RequestId,
    ServerJsonRpcMessage,
};

use super::message::{Number, numeric};

/// The requests that are without an answer.
#[derive(Debug, Default)]
pub(super) struct Asked(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    open: HashSet<RequestId>,
    /// The greatest number so far.
    last: Option<i64>,
}

impl Asked {
    /// Takes in what is sent.
    pub(super) fn sent(&self, message: &ClientJsonRpcMessage) {
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
    pub(super) fn answered(&self, message: &ServerJsonRpcMessage) -> bool {
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
    pub(super) fn whose(&self, number: &Number) -> Option<RequestId> {
        let (Number::Sure(id) | Number::Likely(id)) = number else { return self.only() };
        let id = numeric(id.clone());
        if self.requests().open.contains(&id) {
            return Some(id);
        }
        if matches!(number, Number::Sure(_)) { None } else { self.only() }
    }

    /// Returns the only request that is open, if there is one only.
    pub(super) fn only(&self) -> Option<RequestId> {
        let requests = self.requests();
        (requests.open.len() == 1).then(|| requests.open.iter().next().cloned()).flatten()
    }

    /// Returns whether no request is open.
    pub(super) fn is_idle(&self) -> bool {
        self.requests().open.is_empty()
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
