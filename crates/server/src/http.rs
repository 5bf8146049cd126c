//! Serves any number of clients over HTTP, at `/mcp`, until it is told to end.
//!
//! The library keeps sessions and streams of the older revisions, answers the newest without any, and checks `Host` and `Origin`.
//! Who may come in at all is decided here, before it sees a request.
//!
//! # Invariants
//!
//! * A server that can be reached from elsewhere wants a token. The caller sees to that with [`HttpSettings::is_open`].
//! * A request, a stream or a session that ends takes no run along: the work is the server's, and ends with it.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

use refrain_runtime::Runtime;

use crate::{
    error::ServeError,
    mcp::{Front, Server},
    tasks::Tasks,
};

/// How long a session of the older revisions lives without a word. A run may take long, and its client says nothing meanwhile.
const SESSION: Duration = Duration::from_secs(60 * 60);
/// Larger requests are refused. A script may be large, and its arguments.
const MOST_BYTES: usize = 16 << 20;

/// Who may come in.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// Those who may call. Without any, everybody who reaches the address.
    pub tokens: Vec<Token>,
    /// Names of this server beside those of this machine, as clients write them in `Host`.
    pub hosts: Vec<String>,
    /// Pages of browsers that may call: `https://app.example.com`.
    pub origins: Vec<String>,
}

impl HttpSettings {
    /// Returns whether anybody is let in.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tokens.is_empty()
    }
}

/// A secret that lets its holder in.
#[derive(Clone)]
pub struct Token {
    /// The secret.
    pub secret: String,
    /// What it is good for.
    pub scopes: Vec<Scope>,
}

/// The secret is shown nowhere.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Running scripts and looking at runs: everything that MCP offers.
    Run,
    /// Deciding about calls that wait.
    Approve,
    /// Everything else.
    Admin,
}

/// Serves until `ends` is done. Work that is under way then is dropped, and its runs can be resumed.
///
/// # Errors
///
/// [`ServeError::Http`].
pub async fn serve_http(
    runtime: Arc<Runtime>,
    listener: TcpListener,
    settings: HttpSettings,
    ends: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let tasks = Arc::new(Tasks::default());
    tasks.start({
        let runtime = Arc::clone(&runtime);
        async move {
            let _ = tokio::join!(runtime.catalog(), runtime.check_engine());
        }
    });
    let served = serve(&runtime, &tasks, listener, settings, ends).await;
    tasks.close().await;
    served.map_err(ServeError::Http)
}

async fn serve(
    runtime: &Arc<Runtime>,
    tasks: &Arc<Tasks>,
    listener: TcpListener,
    settings: HttpSettings,
    ends: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let own = listener.local_addr()?.ip();
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec();
    hosts.extend(settings.hosts.iter().cloned());
    if !own.is_unspecified() {
        hosts.push(own.to_string());
    }
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(settings.origins.iter().cloned())
        .enforce_origin_validation()
        .with_max_request_body_bytes(MOST_BYTES);
    let stopping = config.cancellation_token.clone();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION);
    let (weak, own_tasks) = (Arc::downgrade(runtime), Arc::clone(tasks));
    let make = move || {
        let runtime = weak.upgrade().ok_or_else(|| io::Error::other("the server is ending"))?;
        Ok(Server::new(&runtime, &own_tasks, Front::Http))
    };
    let mcp = StreamableHttpService::new(make, Arc::new(sessions), config);
    let gate = middleware::from_fn_with_state(Arc::new(settings), let_in);
    let routes = Router::new().route_service("/mcp", mcp).layer(gate);
    let ended = async move {
        ends.await;
        stopping.cancel();
    };
    axum::serve(listener, routes).with_graceful_shutdown(ended).await
}

/// Lets in whoever has a token that is good for running scripts; everybody, where there are none.
async fn let_in(State(settings): State<Arc<HttpSettings>>, request: Request, next: Next) -> Response {
    if settings.is_open() {
        return next.run(request).await;
    }
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.split_once(' ')).filter(|(kind, _)| kind.eq_ignore_ascii_case("bearer"));
    let token = given.and_then(|(_, given)| settings.tokens.iter().find(|token| is_same(&token.secret, given.trim())));
    match token {
        Some(token) if token.scopes.contains(&Scope::Run) => next.run(request).await,
        Some(_) => (StatusCode::FORBIDDEN, "this token is not good for running scripts; it lacks the scope `run`\n")
            .into_response(),
        None => {
            let wanted = [(header::WWW_AUTHENTICATE, "Bearer")];
            let told = "send a token of this server: `Authorization: Bearer …`\n";
            (StatusCode::UNAUTHORIZED, wanted, told).into_response()
        }
    }
}

/// Compares without telling by the time where the first difference is.
fn is_same(secret: &str, given: &str) -> bool {
    secret.len() == given.len() && secret.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}
