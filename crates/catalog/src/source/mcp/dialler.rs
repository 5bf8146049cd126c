//! How a connection is made.
//!
//! The newest revision is tried first, then the ones that begin with `initialize`. Most older servers answer the first question
//! with an error and go on; one that ends or closes instead is started a second time, and asked in the old way. One that says
//! nothing is asked in the old way soon, since most such servers only ignore what they do not know; where it then refuses, it may
//! have been slow to start and know nothing but the newest, and is asked once more with more patience.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
    transport::{DynamicTransportError, IntoTransport},
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout_at},
};

use super::{
    super::{Down, Events, command, tail::Tail},
    client::Client,
    connection::{Connection, Process, end_of, with_words},
    http, message,
    post::Ear,
    probe::Probe,
    stdio::Stdio,
};
use crate::{
    name,
    process::Children,
    settings::{Environment, McpHttpSettings, McpSettings},
};

/// How long a child may think about a question that it most likely does not know.
const PROBING: Duration = Duration::from_millis(500);

/// How a server is reached.
#[derive(Debug)]
pub(crate) enum Reach {
    Child(McpSettings),
    Http(McpHttpSettings),
}

/// How a connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// With the newest revision, and where that is not known or not answered soon with `initialize`.
    Newest,
    /// As `Newest`, and waits for the answer.
    NewestPatiently,
    /// With `initialize`.
    Initialize,
}

impl Opening {
    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Newest | Self::NewestPatiently => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Self::Initialize => ClientLifecycleMode::Initialize,
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) down: Down,
    /// Whether the other opening may do better.
    pub(super) may_be_the_opening: bool,
    /// Whether the server said nothing to the first question, and no to `initialize`.
    pub(super) may_be_slow: bool,
}

impl Refused {
    fn for_good(reason: String) -> Self {
        Self { down: reason.into(), may_be_the_opening: false, may_be_slow: false }
    }

    /// It stays so until somebody changes the settings.
    fn by_settings(reason: String) -> Self {
        let refused = Self::for_good(reason);
        Self { down: Down { stays: true, ..refused.down }, ..refused }
    }
}

/// What every attempt needs.
pub(super) struct Dialler<'a> {
    pub(super) source: &'a str,
    pub(super) reach: &'a Reach,
    pub(super) environment: &'a Environment,
    pub(super) children: &'a Arc<Children>,
    pub(super) events: &'a Events,
    pub(super) connect_timeout: Duration,
}

impl Dialler<'_> {
    /// Connects, up to the deadline.
    pub(super) async fn dial(&self, opening: Opening, deadline: Instant) -> Result<Connection, Refused> {
        match self.reach {
            Reach::Child(settings) => self.start(settings, opening, deadline).await,
            Reach::Http(settings) => self.call_up(settings, opening, deadline).await,
        }
    }

    async fn start(&self, settings: &McpSettings, opening: Opening, deadline: Instant) -> Result<Connection, Refused> {
        let Some((program, args)) = settings.command.split_first() else {
            let told = "`command` is empty; write the server's program and its arguments as a list";
            return Err(Refused::for_good(told.to_owned()));
        };
        let mut command = command(program, self.environment, &settings.env, settings.cwd.as_ref());
        command.args(args);
        let (mut child, group) = self.children.spawn(&mut command).map_err(Refused::for_good)?;
        let words = Tail::default();
        if let Some(stderr) = child.stderr.take() {
            let words = words.clone();
            tokio::spawn(async move { words.follow(stderr).await });
        }
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(Refused::for_good(format!("bug: the streams of `{program}` are not there; please report it")));
        };
        let transport = Stdio::new(stdout, stdin, words.clone(), self.events.clone());
        let patience = match opening {
            Opening::Newest | Opening::Initialize => PROBING.min(self.connect_timeout / 2),
            Opening::NewestPatiently => self.connect_timeout,
        };
        let was_silent = Arc::new(AtomicBool::new(false));
        let transport = Probe::new(transport, patience, Arc::clone(&was_silent));
        let client = self.client(&words);
        let opened = self.open(client.clone(), transport, opening, deadline).await;
        let service = match opened {
            Ok(service) => service,
            Err(None) => return Err(Refused::for_good(with_words(self.too_late(program), &words).await)),
            Err(Some(error)) => {
                let said = refusal(&error);
                let may_be_slow = said.is_some() && was_silent.load(Ordering::Relaxed);
                let what = match (said, end_of(&mut child).await) {
                    (Some(said), _) => format!("`{program}` refuses to connect: {said}"),
                    (None, Some(status)) => format!("`{program}` ended with {status} before it answered `initialize`"),
                    (None, None) => format!("`{program}` is no MCP server: {}", no_answer(&error)),
                };
                let down = with_words(what, &words).await.into();
                return Err(Refused { down, may_be_the_opening: true, may_be_slow });
            }
        };
        let server = Process { program: program.clone(), child: Mutex::new(child), group };
        Ok(Connection::new(service, client, words, Some(server)))
    }

    async fn call_up(
        &self,
        settings: &McpHttpSettings,
        opening: Opening,
        deadline: Instant,
    ) -> Result<Connection, Refused> {
        let words = Tail::without_stream();
        let ear = Ear { words: words.clone(), events: self.events.clone() };
        let transport = http::transport(settings, &self.environment.proxies, self.connect_timeout, ear);
        let transport =
            Probe::new(transport.map_err(Refused::by_settings)?.into_transport(), self.connect_timeout, Arc::default());
        let client = self.client(&words);
        // A server may never answer a request that it does not know, so that the other opening needs its share of the time.
        let now = Instant::now();
        let until = match opening {
            Opening::Newest | Opening::NewestPatiently => now + deadline.saturating_duration_since(now) / 2,
            Opening::Initialize => deadline,
        };
        match self.open(client.clone(), transport, opening, until).await {
            Ok(service) => Ok(Connection::new(service, client, words, None)),
            Err(None) => {
                Err(Refused { down: self.too_late("the server").into(), may_be_the_opening: true, may_be_slow: false })
            }
            Err(Some(error)) => {
                let now_ms = (self.environment.clock)();
                let trouble = transport_error(&error).and_then(|error| http::trouble(error, now_ms));
                let (down, may_be_the_opening) = match (trouble, refusal(&error)) {
                    (Some(trouble), _) => {
                        let about = trouble.is_about_the_request();
                        (trouble.into(), about)
                    }
                    (None, Some(said)) => (format!("the server refuses to connect: {said}").into(), true),
                    (None, None) => {
                        let why = no_answer(&error);
                        let what = format!("there is no MCP server: {why}; is `url` the address of its MCP endpoint?");
                        (what.into(), true)
                    }
                };
                Err(Refused { down, may_be_the_opening, may_be_slow: false })
            }
        }
    }

    fn client(&self, words: &Tail) -> Client {
        Client::new(self.source, words.clone(), self.events.clone(), self.environment.elicit.clone())
    }

    /// Opens a transport. No error is no answer in time.
    async fn open<T, E, A>(
        &self,
        client: Client,
        transport: T,
        opening: Opening,
        deadline: Instant,
    ) -> Result<RunningService<RoleClient, Client>, Option<ClientInitializeError>>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let opened = serve_client_with_lifecycle(client, transport, opening.lifecycle());
        match timeout_at(deadline, opened).await {
            Ok(Ok(service)) => Ok(service),
            Ok(Err(error)) => Err(Some(error)),
            Err(_) => Err(None),
        }
    }

    fn too_late(&self, who: &str) -> String {
        let who = if matches!(self.reach, Reach::Child(_)) { format!("`{who}`") } else { who.to_owned() };
        format!("{who} did not answer within {} ms; see `connect_timeout_ms`", self.connect_timeout.as_millis())
    }
}

/// Returns what the server itself said against a connection.
fn refusal(error: &ClientInitializeError) -> Option<String> {
    match error {
        // These words are ours.
        ClientInitializeError::JsonRpcError(error) if message::is_ours(error) => None,
        ClientInitializeError::JsonRpcError(error) => Some(name::cut(&error.message, 300)),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal(fallback),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<String> = server_supported.iter().map(|version| format!("`{version}`")).collect();
            Some(format!(
                "it speaks no revision of the protocol that we do, only {}",
                name::cut(&versions.join(", "), 200)
            ))
        }
        ClientInitializeError::ExpectedInitResult(_) => Some("its answer to `initialize` is no such answer".to_owned()),
        _ => None,
    }
}

/// Returns what is wrong with an answer that is none.
fn no_answer(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => name::cut(&error.message, 300),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => no_answer(fallback),
        error => name::cut(&error.to_string(), 300),
    }
}

fn transport_error(error: &ClientInitializeError) -> Option<&DynamicTransportError> {
    match error {
        ClientInitializeError::TransportError { error, .. } => Some(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => transport_error(fallback),
        _ => None,
    }
}
