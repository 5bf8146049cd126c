//! One connection to a server: what it is, how it is found to be, how it ends.

use std::{sync::Arc, time::Duration};

use rmcp::{
    Peer, RoleClient,
    model::{ClientRequest, PingRequest, ProtocolVersion, ServerNotification, ServerPeerInfo, SubscriptionFilter},
    service::{RunningService, ServiceError},
};
use tokio::{
    process::Child,
    sync::Mutex,
    time::{Instant, timeout},
};

use super::{
    super::{Event, Events, Server, tail::Tail},
    client::{Calls, Client},
};
use crate::{name, process::Group};

/// How long a server may take to end after its input did, and again after it was asked to.
const FAREWELL: Duration = Duration::from_millis(300);

/// How long an answer to `ping` is waited for.
const PING: Duration = Duration::from_secs(5);

/// A connection that was opened.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) client: Client,
    pub(super) words: Tail,
    service: Mutex<Option<RunningService<RoleClient, Client>>>,
    process: Option<Process>,
}

/// Why there is no answer to `ping`.
#[derive(Debug)]
pub(super) enum Unanswered {
    Late(Duration),
    Failed(ServiceError),
}

/// The server, where it is our child.
pub(super) struct Process {
    pub(super) program: String,
    pub(super) child: Mutex<Child>,
    pub(super) group: Group,
}

impl Connection {
    pub(super) fn new(
        service: RunningService<RoleClient, Client>,
        client: Client,
        words: Tail,
        process: Option<Process>,
    ) -> Self {
        Self { peer: service.peer().clone(), client, words, service: Mutex::new(Some(service)), process }
    }

    /// Returns whether nothing can be asked any more.
    pub(super) fn is_over(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub(super) fn calls(&self) -> &Arc<Calls> {
        self.client.calls()
    }

    pub(super) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.peer.peer_info()
    }

    /// Returns whether the server begins with `initialize`.
    pub(super) fn is_old(&self) -> bool {
        self.info().is_none_or(|info| info.protocol_version.has_initialize())
    }

    /// Says what is odd about the revision that the server wants to speak, if something is.
    pub(super) fn odd_revision(&self) -> Option<String> {
        let info = self.info().filter(|info| !ProtocolVersion::KNOWN_VERSIONS.contains(&info.protocol_version))?;
        let version = name::cut(info.protocol_version.as_str(), 30);
        Some(format!(
            "it speaks revision `{version}` of the protocol, which is not known here; what it means may be misread"
        ))
    }

    /// Servers of the newest revision say that their list has changed only to who asked to hear it.
    pub(super) fn listen(&self, events: &Events) {
        let has_news = self
            .info()
            .is_some_and(|info| info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true)));
        if self.is_old() || !has_news {
            return;
        }
        let (peer, events) = (self.peer.clone(), events.clone());
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that does not let us listen is asked again at the next start. The task ends with the connection.
            let Ok(mut news) = peer.listen(filter).await else { return };
            while let Ok(Some(news)) = news.next().await {
                if let ServerNotification::ToolListChangedNotification(_) = news {
                    events.tell(Event::ListChanged);
                }
            }
        });
    }

    /// Returns how long a round trip takes. Whatever the answer is, the server lives.
    pub(super) async fn ping(&self) -> Result<Duration, Unanswered> {
        let began = Instant::now();
        let ping = self.peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        match timeout(PING, ping).await {
            Ok(Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse)) => Ok(began.elapsed()),
            Ok(Err(error)) => Err(Unanswered::Failed(error)),
            Err(_) => Err(Unanswered::Late(PING)),
        }
    }

    /// Says how it was lost in mid-call.
    pub(super) async fn lost(&self) -> String {
        let Some(process) = &self.process else { return "the connection was lost".to_owned() };
        let end = end_of(&mut *process.child.lock().await).await;
        let what = match end {
            Some(status) => format!("`{}` ended with {status}", process.program),
            None => format!("`{}` closed its output", process.program),
        };
        with_words(what, &self.words).await
    }

    /// Says who is at the other end.
    pub(super) fn server(&self) -> Server {
        let info = self.info();
        let who = info.as_ref().and_then(|info| info.server_info.as_ref());
        Server {
            name: who.map_or_else(String::new, |who| name::cut(&who.name, 100)),
            version: who.map_or_else(String::new, |who| name::cut(&who.version, 100)),
            protocol: info.map_or_else(String::new, |info| name::cut(info.protocol_version.as_str(), 30)),
        }
    }

    /// Ends it, in good order as far as the server takes part.
    pub(super) async fn close(&self) {
        // The end of its input is how a server on standard streams is told to go.
        if let Some(service) = self.service.lock().await.take() {
            let _ = timeout(FAREWELL, service.cancel()).await;
        }
        let Some(process) = &self.process else { return };
        let mut child = process.child.lock().await;
        if timeout(FAREWELL, child.wait()).await.is_err() {
            process.group.terminate();
            let _ = timeout(FAREWELL, child.wait()).await;
        }
        // What is still there ends with the group, which goes with the connection.
    }
}

/// Returns how a child ended, giving it a moment to be seen: its output ends a little before it does.
pub(super) async fn end_of(child: &mut Child) -> Option<std::process::ExitStatus> {
    timeout(FAREWELL, child.wait()).await.ok().and_then(Result::ok)
}

pub(super) async fn with_words(what: String, words: &Tail) -> String {
    let words = words.last_words().await;
    if words.is_empty() { what } else { format!("{what}; its last words: {words}") }
}
