//! One POST to an MCP server, and what comes back for it.
//!
//! `rmcp` has one of its own, which is not used, since it can neither mend an answer nor tell an odd one from a long silence. What
//! belongs to a request is known here, better than anywhere: the answer to its POST. So an answer that is none, is empty, has
//! another number or is too long fails this request at once.
//!
//! The statuses that `rmcp` acts upon (an expired session, a server that does not know the newest opening) are given to it in
//! its own words.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures_util::StreamExt as _;
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::{
    ErrorData,
    model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpPostResponse,
    },
};
use serde_json::Value;
use sse_stream::{Sse, SseStream};

use super::{
    super::{Event, Events, tail::Tail},
    gate::gated,
    http::{HttpError, MAX_MESSAGE},
    mend::Mended,
    message::{self, Number, Read, numeric},
};

const SESSION: &str = "mcp-session-id";
/// These are the protocol's.
const RESERVED: [&str; 3] = ["accept", SESSION, "last-event-id"];
/// What is read of an answer that is only quoted, or to nothing.
const MAX_QUOTED: usize = 64 << 10;

/// What is sent, and where to.
pub(super) struct Post {
    pub(super) uri: Arc<str>,
    pub(super) message: ClientJsonRpcMessage,
    pub(super) session: Option<Arc<str>>,
    pub(super) auth: Option<String>,
    pub(super) headers: HashMap<HeaderName, HeaderValue>,
}

/// Where it is told what else a server sends.
#[derive(Clone)]
pub(super) struct Ear {
    pub(super) words: Tail,
    pub(super) events: Events,
}

impl Ear {
    fn unreadable(&self, why: &str) {
        self.words.odd(&format!("(an answer that cannot be read: {why})"));
        self.events.tell(Event::Trouble(format!("it sent an answer that cannot be read: {why}")));
    }
}

/// Sends it, and returns what is there of an answer.
pub(super) async fn send(client: &Client, ear: &Ear, post: Post) -> Result<StreamableHttpPostResponse, HttpError> {
    let Post { uri, message, session, auth, headers } = post;
    let mut request = client.post(uri.as_ref()).header(ACCEPT, "text/event-stream, application/json");
    if let Some(token) = auth {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    for (name, value) in headers {
        if RESERVED.contains(&name.as_str()) {
            return Err(HttpError::ReservedHeaderConflict(name.to_string()));
        }
        request = request.header(name, value);
    }
    let had_session = session.is_some();
    if let Some(session) = session {
        request = request.header(SESSION, session.as_ref());
    }
    let response = request.json(&message).send().await?;
    let status = response.status();
    let id = match &message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        JsonRpcMessage::Response(_) | JsonRpcMessage::Notification(_) | JsonRpcMessage::Error(_) => None,
    };
    if status == StatusCode::NOT_FOUND && had_session {
        return Err(HttpError::SessionExpired);
    }
    let Some(id) = id.filter(|_| status.is_success()) else {
        return if status.is_success() {
            // Read, so that the connection can be used again; not where it may never end.
            if response.content_length().is_some_and(|length| length <= MAX_QUOTED as u64) {
                let _ = body(response, MAX_QUOTED).await;
            }
            Ok(StreamableHttpPostResponse::Accepted)
        } else {
            failed(response, &message, ear).await
        };
    };
    let given = response.headers().get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned);
    let kind = header(&response, CONTENT_TYPE);
    match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "text/event-stream" => Ok(StreamableHttpPostResponse::Sse(events(response, id.clone(), ear.clone()), given)),
        "application/json" => {
            let answer = match body(response, MAX_MESSAGE).await? {
                Some(bytes) if bytes.trim_ascii().is_empty() => return Err(nothing(status)),
                Some(bytes) => answer_in(&bytes, id, ear),
                None => message::too_long(id.clone(), MAX_MESSAGE),
            };
            Ok(StreamableHttpPostResponse::Json(answer, given))
        }
        _ if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => Err(nothing(status)),
        _ if response.content_length() == Some(0) => Err(nothing(status)),
        _ => Err(HttpError::UnexpectedContentType((!kind.is_empty()).then_some(kind))),
    }
}

fn nothing(status: StatusCode) -> HttpError {
    HttpError::UnexpectedServerResponse(format!("HTTP {status} and no answer").into())
}

/// Says what a status other than success means.
async fn failed(
    response: Response,
    message: &ClientJsonRpcMessage,
    ear: &Ear,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = response.status();
    match status {
        StatusCode::UNAUTHORIZED => {
            return Err(HttpError::AuthRequired(AuthRequiredError::new(header(&response, WWW_AUTHENTICATE))));
        }
        StatusCode::FORBIDDEN => {
            let challenge = header(&response, WWW_AUTHENTICATE);
            return Err(HttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)));
        }
        _ => {}
    }
    let after = Some(header(&response, RETRY_AFTER)).filter(|after| !after.is_empty());
    if is_passing(status) {
        if let Ok(Some(text)) = body(response, MAX_QUOTED).await
            && !text.trim_ascii().is_empty()
        {
            ear.words.odd(&format!("(HTTP {status}: {})", message::quoted(&text)));
        }
        return Err(HttpStatusError::new(status.as_u16(), after).into());
    }
    let is_json = header(&response, CONTENT_TYPE).to_ascii_lowercase().contains("json");
    if status.is_server_error() && !is_json {
        return Err(HttpStatusError::new(status.as_u16(), after).into());
    }
    let text = body(response, MAX_QUOTED).await.ok().flatten().unwrap_or_default();
    let said = message::read(&text).into_iter().find_map(|read| match read {
        Read::Message(message) => match *message {
            JsonRpcMessage::Error(error) => Some(error.error),
            _ => None,
        },
        Read::Unreadable { .. } | Read::Noise(_) => None,
    });
    let told = || format!("HTTP {status}: {}", message::quoted(&text));
    if let JsonRpcMessage::Request(request) = message {
        let is_opening = matches!(request.request, ClientRequest::DiscoverRequest(_)) && status.is_client_error();
        if let Some(error) = said.or_else(|| is_opening.then(|| ErrorData::invalid_request(told(), None))) {
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(error, None));
        }
    }
    if status.is_server_error() {
        return Err(HttpStatusError::new(status.as_u16(), after).into());
    }
    Err(HttpError::UnexpectedServerResponse(told().into()))
}

/// Whether a status says that the same may work later, whatever else the answer holds: whoever stands before a server gives such
/// statuses without asking it, and a server that says so in the protocol's words means the same.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 502 | 503 | 504)
}

fn header(response: &Response, name: HeaderName) -> String {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// Reads the body. None where it is longer than `most`.
async fn body(mut response: Response, most: usize) -> Result<Option<Vec<u8>>, HttpError> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await? {
        if bytes.len() + part.len() > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(Some(bytes))
}

/// Returns the answer to the request `id` in what came for it; an error where there is none.
fn answer_in(bytes: &[u8], id: &RequestId, ear: &Ear) -> ServerJsonRpcMessage {
    let mut why = None;
    for read in message::read(bytes) {
        match read {
            Read::Message(message) => match belonging(*message, id) {
                Ok(message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))) => return message,
                Ok(_) => {}
                Err(number) => why = Some(foreign(&number, bytes)),
            },
            Read::Unreadable { why: told, .. } => why = Some(told),
            Read::Noise(text) => why = Some(format!("it is no message: {text}")),
        }
    }
    let why = why.unwrap_or_else(|| format!("it is no answer: {}", message::quoted(bytes)));
    ear.unreadable(&why);
    message::unreadable(id.clone(), &why)
}

fn foreign(number: &RequestId, bytes: &[u8]) -> String {
    format!("it has the number `{number}`, which is not that of the request: {}", message::quoted(bytes))
}

/// Gives an answer the number of its request, where it has the same in other words, or is an error without any.
fn belonging(mut message: ServerJsonRpcMessage, id: &RequestId) -> Result<ServerJsonRpcMessage, RequestId> {
    let number = match &mut message {
        JsonRpcMessage::Response(response) => &mut response.id,
        JsonRpcMessage::Error(error) => error.id.get_or_insert_with(|| id.clone()),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return Ok(message),
    };
    if numeric(number.clone()) != *id {
        return Err(number.clone());
    }
    *number = id.clone();
    Ok(message)
}

/// The events of a stream that answers the request `id`.
fn events(
    response: Response,
    id: RequestId,
    ear: Ear,
) -> futures_util::stream::BoxStream<'static, Result<Sse, SseError>> {
    let replaced = Arc::new(AtomicU64::new(0));
    let body = gated(response.bytes_stream(), MAX_MESSAGE, Arc::clone(&replaced));
    let events = SseStream::from_bytes_stream(body.boxed());
    events
        .map(move |event| match event {
            Ok(event) => Ok(read_event(event, Some(&id), replaced.load(Ordering::Relaxed), &ear)),
            Err(SseError::Body(error)) if is_too_long(error.as_ref()) => {
                Ok(event_of(Sse::default(), &message::too_long(id.clone(), MAX_MESSAGE)))
            }
            Err(error) => Err(error),
        })
        .boxed()
}

fn is_too_long(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::FileTooLarge)
}

/// Sets right what an event holds, and makes an error of an answer that cannot be read. `id` is that of the request that the
/// stream answers, and `replaced` how many places of the stream were no UTF-8.
pub(super) fn read_event(event: Sse, id: Option<&RequestId>, replaced: u64, ear: &Ear) -> Sse {
    let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
    let Some(data) = event.data.as_deref().filter(|data| is_message && !data.trim().is_empty()) else { return event };
    if replaced == 0 && serde_json::from_str(data).is_ok_and(|message| is_sound(&message, id)) {
        return event;
    }
    let data = data.to_owned();
    let mut found = None;
    for read in message::read(data.as_bytes()) {
        match (read, id) {
            (Read::Message(message), Some(id)) => match belonging(*message, id) {
                Ok(message) => found = found.or(Some(message)),
                Err(number) => {
                    let why = foreign(&number, data.as_bytes());
                    ear.unreadable(&why);
                    found = found.or_else(|| Some(message::unreadable(id.clone(), &why)));
                }
            },
            (Read::Message(message), None) => found = found.or(Some(*message)),
            (Read::Unreadable { number, why }, id) => {
                ear.unreadable(&why);
                let number = match (id, number) {
                    (Some(id), _) => Some(id.clone()),
                    (None, Number::Sure(number) | Number::Likely(number)) => Some(number),
                    (None, Number::Unknown) => None,
                };
                found = found.or_else(|| number.map(|number| message::unreadable(number, &why)));
            }
            (Read::Noise(text), _) => ear.words.odd(&text),
        }
    }
    let Some(message) = found else { return event };
    if replaced > 0 && matches!(message, JsonRpcMessage::Response(_)) {
        return event_of(event, &noted(message, replaced));
    }
    event_of(event, &message)
}

fn is_sound(message: &ServerJsonRpcMessage, id: Option<&RequestId>) -> bool {
    let number = match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return true,
    };
    id.is_none() || number == id
}

fn noted(message: ServerJsonRpcMessage, replaced: u64) -> Value {
    let mut value = serde_json::to_value(message).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        let before = map.get_mut("result").and_then(Value::as_object_mut).and_then(Mended::of);
        let mut mended = before.unwrap_or_default();
        mended.bytes = mended.bytes.saturating_add(replaced);
        mended.ride(map);
    }
    value
}

fn event_of(mut event: Sse, message: &impl serde::Serialize) -> Sse {
    if let Ok(text) = serde_json::to_string(message) {
        event.data = Some(text);
    }
    event
}
