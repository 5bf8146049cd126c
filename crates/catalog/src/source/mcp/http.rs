//! An MCP server that is reached by HTTP: how requests are sent, and what a failure means for a call.
//!
//! `rmcp` does the protocol: sessions (one that has expired is begun anew and the call repeated once), streams (one that breaks
//! is taken up where it broke, if the server numbers its events), both forms of answers. What is decided here:
//!
//! * **Headers go to one origin.** A redirect is followed within the origin of the address in the settings and nowhere else, so
//!   that neither a token nor a call ends up elsewhere, and no server can point us at a private address.
//! * **Proxies come from the environment** that the program around us lends, as for other programs; loopback is always direct.
//! * **An answer that cannot be read fails its call**, also in a stream that goes on: [`post`].
//!
//! Cookies are not kept and compressed answers not asked for.

use std::{collections::HashMap, error::Error as _, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream::BoxStream};
use reqwest::{
    Client, NoProxy, Proxy, Url,
    header::{HeaderName, HeaderValue},
    redirect::Policy,
};
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::{
        DynamicTransportError, StreamableHttpClientTransport,
        common::client_side_sse::ExponentialBackoff,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
            StreamableHttpPostResponse,
        },
    },
};
use sse_stream::Sse;

use super::{
    super::Down,
    post::{self, Ear, Post},
    result, retry_after,
};
use crate::{
    error::ErrorCode,
    name,
    settings::{McpHttpSettings, Proxies},
};

pub(super) type HttpError = StreamableHttpError<reqwest::Error>;

/// One message. The limit on results is lower, so that what is only somewhat too long is told with its size.
pub(super) const MAX_MESSAGE: usize = 4 * result::MAX_RESULT;
const MAX_REDIRECTS: usize = 5;

/// Returns a transport to the server of `settings`.
///
/// # Errors
///
/// What is wrong with the settings, with the fix.
pub(super) fn transport(
    settings: &McpHttpSettings,
    proxies: &Proxies,
    connect_timeout: Duration,
    ear: Ear,
) -> Result<StreamableHttpClientTransport<Http>, String> {
    // The address is not repeated: it may hold a token.
    let url = Url::parse(&settings.url).map_err(|error| format!("`url` is no address: {error}; write `https://…`"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("`url` is no web address; write `https://…`".to_owned());
    }
    let mut headers = HashMap::new();
    for (name, value) in &settings.headers {
        let name =
            HeaderName::try_from(name.as_str()).map_err(|_| format!("`headers.{name}` is no name of a header"))?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| {
            format!("the value of `headers.{name}` cannot be sent: it has a line break or the like in it")
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MAX_MESSAGE)
        // Whoever waits for an answer does not wait in a second queue: `max_in_flight` is the limit.
        .max_concurrent_requests(10_000);
    // Together some two seconds, after which a call whose stream is gone is told as interrupted.
    let mut again = ExponentialBackoff::default();
    (again.max_times, again.base_duration) = (Some(3), Duration::from_millis(250));
    config.retry_config = Arc::new(again);
    let client = client(&url, proxies, connect_timeout)?;
    Ok(StreamableHttpClientTransport::with_client(Http { client, ear }, config))
}

fn client(url: &Url, proxies: &Proxies, connect_timeout: Duration) -> Result<Client, String> {
    // Whoever embeds us may have chosen one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let origin = url.origin();
    let redirects = Policy::custom(move |attempt| {
        if attempt.url().origin() != origin {
            let told = format!("it sends us on to `{}`", attempt.url().origin().ascii_serialization());
            return attempt
                .error(format!("{told}, which is another origin; write that address in `url` if you trust it"));
        }
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error("it sends us around in circles");
        }
        attempt.follow()
    });
    let mut builder = Client::builder()
        .user_agent(concat!("refrain/", env!("CARGO_PKG_VERSION")))
        .redirect(redirects)
        .referer(false)
        .connect_timeout(connect_timeout)
        .no_proxy();
    let direct = || {
        let listed = proxies.no_proxy.as_deref().unwrap_or_default();
        NoProxy::from_string(&format!("localhost,127.0.0.0/8,::1,{listed}"))
    };
    let wrong = |name: &str| format!("the proxy that `{name}` names cannot be used; correct the variable");
    if let Some(proxy) = &proxies.https {
        builder = builder.proxy(Proxy::https(proxy).map_err(|_| wrong("HTTPS_PROXY"))?.no_proxy(direct()));
    }
    if let Some(proxy) = &proxies.http {
        builder = builder.proxy(Proxy::http(proxy).map_err(|_| wrong("http_proxy"))?.no_proxy(direct()));
    }
    builder.build().map_err(|error| format!("no HTTP client can be made: {}", chain(&error)))
}

/// What a failure of the transport means.
#[derive(Debug, PartialEq)]
pub(super) struct Trouble {
    pub(super) code: ErrorCode,
    /// What happened and the fix, without the name of the tool or source.
    pub(super) what: String,
    pub(super) retry_after_ms: Option<u64>,
    /// Whether the same may do better later.
    pub(super) retryable: bool,
    /// Whether the request may have been heard all the same.
    pub(super) may_have_run: bool,
}

impl Trouble {
    /// Returns whether another request may fare better: it was understood as a request, and not liked.
    pub(super) fn is_about_the_request(&self) -> bool {
        // Whoever names a time to come back wants no other request before it.
        matches!(self.code, ErrorCode::Protocol | ErrorCode::Interrupted) && self.retry_after_ms.is_none()
    }
}

impl From<Trouble> for Down {
    fn from(trouble: Trouble) -> Self {
        let rest = trouble.retry_after_ms.map(Duration::from_millis);
        Self { reason: trouble.what, rest, stays: !trouble.retryable }
    }
}

/// Says what a failure of this transport means; none when it is another's.
pub(super) fn trouble(error: &DynamicTransportError, now_ms: i64) -> Option<Trouble> {
    let error: &HttpError = error.error.downcast_ref()?;
    let of = |code: ErrorCode, what: String| {
        let may_have_run = code == ErrorCode::Interrupted;
        Trouble { code, what, retry_after_ms: None, retryable: code.is_retryable(), may_have_run }
    };
    let stays = |trouble: Trouble| Trouble { retryable: false, ..trouble };
    let credentials = || {
        let told = "the server answers 401: it wants credentials, or does not accept those it got";
        stays(of(ErrorCode::SourceDown, format!("{told}; set or correct `headers.Authorization` of the source")))
    };
    let forbidden = || {
        let told = "the server answers 403: these credentials may not do this";
        of(ErrorCode::Denied, format!("{told}; set others in `headers` of the source"))
    };
    Some(match error {
        HttpError::AuthRequired(_) => credentials(),
        HttpError::InsufficientScope(_) => forbidden(),
        HttpError::UnexpectedServerResponse(said) if said.starts_with("HTTP 404") => {
            let said = said.trim_start_matches(|c| c != ':').trim_start_matches([':', ' ']);
            let said = if said.is_empty() { String::new() } else { format!(" ({})", name::cut(said, 200)) };
            let what = "the server answers 404: there is nothing at this address";
            of(ErrorCode::Protocol, format!("{what}{said}; is `url` the address of its MCP endpoint?"))
        }
        HttpError::UnexpectedServerResponse(said) => {
            let what = format!("the server answers what it should not: {}", name::cut(said, 300));
            Trouble { may_have_run: said.starts_with("HTTP 2"), ..of(ErrorCode::Protocol, what) }
        }
        HttpError::HttpStatus(status) => {
            let retry_after_ms = status.retry_after.as_deref().and_then(|text| retry_after::milliseconds(text, now_ms));
            let (code, what) = match status.status {
                429 => (ErrorCode::RateLimited, "the server answers 429: too many calls"),
                503 => (ErrorCode::SourceDown, "the server answers 503: it is not available"),
                408 => (ErrorCode::SourceDown, "the server answers 408: it did not get the request in time"),
                425 => (ErrorCode::SourceDown, "the server answers 425: it takes no request so early"),
                _ => (ErrorCode::Interrupted, ""),
            };
            let mut what = match what {
                "" => format!("the server answers {}", status.status),
                what => what.to_owned(),
            };
            if let Some(after) = retry_after_ms {
                what.push_str(&format!("; try again in {} s", after.div_ceil(1000)));
            }
            Trouble { retry_after_ms, ..of(code, what) }
        }
        HttpError::Client(error) if error.is_connect() => {
            let what = format!("the server cannot be reached: {}; check `url`", root(error));
            of(ErrorCode::SourceDown, what)
        }
        HttpError::Client(error) if error.is_redirect() => of(ErrorCode::Protocol, root(error)),
        HttpError::Client(error) => of(ErrorCode::Interrupted, format!("the connection broke: {}", root(error))),
        HttpError::UnexpectedContentType(kind) => {
            let kind = kind.as_deref().map_or("none".to_owned(), |kind| format!("`{}`", name::cut(kind, 100)));
            let what = "the server answers with a content type that is neither JSON nor an event stream";
            of(ErrorCode::Protocol, format!("{what}: {kind}; is `url` the address of its MCP endpoint?"))
        }
        HttpError::SessionExpired | HttpError::ReinitializationFailed(_) => {
            of(ErrorCode::SourceDown, format!("the server has ended the session and begins no other: {error}"))
        }
        HttpError::ReservedHeaderConflict(header) => {
            stays(of(ErrorCode::SourceDown, format!("`headers.{header}` is set by the protocol; remove it")))
        }
        other => of(ErrorCode::Interrupted, format!("the connection broke: {}", chain(other))),
    })
}

/// The innermost cause, which is what a person can do something about. Without the address, which may hold a token.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    if error.source().is_none() { "no reason is known".to_owned() } else { name::cut(&cause.to_string(), 300) }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    name::cut(&cause.to_string(), 300)
}

/// `rmcp`'s use of [`Client`], with answers mended or failed as on standard streams.
#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    ear: Ear,
}

type Headers = HashMap<HeaderName, HeaderValue>;
type EventStream = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        post::send(&self.client, &self.ear, Post { uri, message, session, auth, headers }).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.client.delete_session(uri, session, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<EventStream, HttpError> {
        self.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, MAX_MESSAGE).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<EventStream, HttpError> {
        let events = self.client.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, most).await?;
        let ear = self.ear.clone();
        Ok(events.map(move |event| event.map(|event| post::read_event(event, None, 0, &ear))).boxed())
    }
}
