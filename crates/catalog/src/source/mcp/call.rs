//! One request with its limits of time.
//!
//! The clock is ours and not `rmcp`'s: there, a time-out first waits until the server has read that it is cancelled, which a
//! server that hangs never does. Time in which a person is being asked does not count.

use std::time::Duration;

use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientRequest, InputRequiredResult, InputResponses,
        RequestId, RequestMetaObject, ServerResult,
    },
    service::PeerRequestOptions,
};
use tokio::{
    sync::broadcast,
    time::{Instant, sleep},
};

use super::connection::Connection;

/// A server that asks again and again is given up here.
const MAX_ROUNDS: u32 = 10;

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Without a sign of life; progress starts it anew.
    pub(super) idle: Option<Duration>,
    pub(super) total: Duration,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    Service(ServiceError),
    /// Nothing was heard for so long.
    Silent(Duration),
    /// It was not done after so long.
    Late(Duration),
    /// The server wants something that nobody here can give.
    Asks(String),
}

/// Sends a request, and answers what the server asks in place of a result. Dropped, it tells the server that nobody waits.
pub(super) async fn request(
    connection: &Connection,
    meta: Option<RequestMetaObject>,
    limits: Limits,
    make: impl Fn(Option<InputResponses>, Option<String>) -> ClientRequest,
) -> Result<ServerResult, Failure> {
    let mut left = limits.total;
    let (mut responses, mut state) = (None, None);
    for _ in 0..MAX_ROUNDS {
        let answer = round(connection, make(responses, state), meta.clone(), limits, &mut left).await?;
        let ServerResult::InputRequiredResult(asked) = answer else { return Ok(answer) };
        (responses, state) = answers(connection, asked).await?;
    }
    Err(Failure::Asks(format!("it asked for more {MAX_ROUNDS} times and gave no result")))
}

async fn answers(
    connection: &Connection,
    asked: InputRequiredResult,
) -> Result<(Option<InputResponses>, Option<String>), Failure> {
    let requests = asked.input_requests.unwrap_or_default();
    if requests.is_empty() {
        // It only wants to be asked again, with what it remembers; not at once.
        sleep(Duration::from_millis(100)).await;
    }
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        responses.insert(key, connection.client.answer(request).await.map_err(Failure::Asks)?);
    }
    Ok(((!responses.is_empty()).then_some(responses), asked.request_state))
}

async fn round(
    connection: &Connection,
    request: ClientRequest,
    meta: Option<RequestMetaObject>,
    limits: Limits,
    left: &mut Duration,
) -> Result<ServerResult, Failure> {
    let mut progress = connection.calls().progress();
    let mut questions = connection.calls().questions();
    let mut options = PeerRequestOptions::no_options();
    options.meta = meta;
    let mut handle = connection.peer.send_cancellable_request(request, options).await.map_err(Failure::Service)?;
    let mut abandoned = CancelOnDrop { peer: &connection.peer, id: Some(handle.id.clone()) };
    let mut silent = Duration::ZERO;
    loop {
        let is_counted = *questions.borrow_and_update() == 0;
        let until_silent = limits.idle.map(|idle| idle.saturating_sub(silent));
        let next = until_silent.map_or(*left, |idle| idle.min(*left));
        let began = Instant::now();
        let mut was_heard = false;
        tokio::select! {
            biased;
            answer = &mut handle.rx => {
                abandoned.id = None;
                return answer.unwrap_or(Err(ServiceError::TransportClosed)).map_err(Failure::Service);
            }
            heard = progress.recv() => was_heard = match heard {
                Ok(token) => token == handle.progress_token,
                // So much was heard that some is lost: the server lives.
                Err(broadcast::error::RecvError::Lagged(_)) => true,
                // We hold the sender ourselves.
                Err(broadcast::error::RecvError::Closed) => false,
            },
            _ = questions.changed() => {}
            () = sleep(next), if is_counted => {}
        }
        if !is_counted {
            continue;
        }
        let passed = began.elapsed();
        *left = left.saturating_sub(passed);
        silent = if was_heard { Duration::ZERO } else { silent.saturating_add(passed) };
        if left.is_zero() {
            return Err(Failure::Late(limits.total));
        }
        if let Some(idle) = limits.idle.filter(|idle| silent >= *idle) {
            return Err(Failure::Silent(idle));
        }
    }
}

/// Tells the server that nobody waits for an answer any more.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("the caller has stopped waiting".to_owned()));
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}
