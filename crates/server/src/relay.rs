//! Questions of tool servers, passed on to the client whose script made the call.
//!
//! It is made before the runtime, which hands it to the sources, and finds its client once that has said hello. A client that
//! cannot ask a person, or not in the way that is wanted, has declined. Deliberately not here: questions of scripts.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use refrain_runtime::{Answer, Elicit, Question};
use rmcp::{
    Peer, RoleServer,
    model::{ElicitRequestParams, ElicitationAction},
    service::ElicitationMode,
};
use serde_json::Value;

/// The way from a tool server to the person in front of the client.
#[derive(Debug, Default)]
pub struct Relay {
    client: OnceLock<Peer<RoleServer>>,
    visits: AtomicU64,
}

impl Relay {
    /// Returns a relay that has no client yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Gives it its client. One process serves one.
    pub(crate) fn connect(&self, client: Peer<RoleServer>) {
        let _ = self.client.set(client);
    }

    /// Returns the request for a question, in a mode that the client knows.
    fn request(&self, client: &Peer<RoleServer>, question: Question) -> Option<ElicitRequestParams> {
        let modes = client.supported_elicitation_modes();
        // The person has to know who asks: the client shows only that we do.
        let call = question.tool.map(|tool| format!(", in a call of `{tool}`")).unwrap_or_default();
        let message = format!("`{}` asks{call}: {}", question.source, question.message);
        match question.url {
            None if modes.contains(&ElicitationMode::Form) => {
                let requested_schema = serde_json::from_value(question.schema).ok()?;
                Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
            }
            Some(url) if modes.contains(&ElicitationMode::Url) => {
                let elicitation_id = format!("visit-{}", self.visits.fetch_add(1, Ordering::Relaxed) + 1);
                Some(ElicitRequestParams::UrlElicitationParams { meta: None, message, url, elicitation_id })
            }
            None | Some(_) => None,
        }
    }
}

#[async_trait::async_trait]
impl Elicit for Relay {
    async fn elicit(&self, question: Question) -> Answer {
        let Some(client) = self.client.get() else { return Answer::Decline };
        let Some(request) = self.request(client, question) else { return Answer::Decline };
        match client.create_elicitation(request).await {
            Ok(answered) => match answered.action {
                ElicitationAction::Accept => Answer::Accept(answered.content.unwrap_or(Value::Null)),
                ElicitationAction::Decline => Answer::Decline,
                _ => Answer::Cancel,
            },
            Err(_) => Answer::Decline, // it cannot be asked after all
        }
    }
}
