//! Our side of the protocol: what a server may ask of us and tell us.
//!
//! * `ping` is answered. `roots/list` gets an empty list: a server gets its folders in its settings.
//! * `sampling/createMessage` is refused: no model is called from here.
//! * A question to a person (`elicitation/create`) goes to whoever runs the script. Where nobody can be asked this is not
//!   offered to the server, and a server that asks all the same is declined at once.
//! * Progress restarts the time that a call may be silent; log messages are kept with the last words; lists that change are
//!   listed again.
#![expect(deprecated, reason = "servers of older revisions still ask for samples and roots, and send log messages")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, FormElicitationCapability, Implementation,
        InputRequest, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
        ProtocolVersion, UrlElicitationCapability,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::sync::{broadcast, watch};

use super::super::{
    Event, Events,
    question::{Answer, Elicit, Question},
    tail::Tail,
};
use crate::name;

/// Longer log messages are cut.
const MAX_LOG: usize = 500;

/// What all handlers of one connection share.
#[derive(Clone)]
pub(super) struct Client {
    source: String,
    words: Tail,
    events: Events,
    elicit: Option<Arc<dyn Elicit>>,
    calls: Arc<Calls>,
}

impl Client {
    pub(super) fn new(source: &str, words: Tail, events: Events, elicit: Option<Arc<dyn Elicit>>) -> Self {
        Self { source: source.to_owned(), words, events, elicit, calls: Arc::default() }
    }

    pub(super) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// Answers what a server of the newest revision asks in place of a result.
    ///
    /// # Errors
    ///
    /// What to tell whoever waits for the result.
    pub(super) async fn answer(&self, request: InputRequest) -> Result<Value, String> {
        let answer = match request {
            InputRequest::Elicitation(request) => serde_json::to_value(self.ask(request.params).await),
            InputRequest::ListRoots(_) => serde_json::to_value(ListRootsResult::default()),
            _ => return Err(NO_SAMPLING.to_owned()),
        };
        answer.map_err(|error| error.to_string())
    }

    async fn ask(&self, asked: ElicitRequestParams) -> ElicitResult {
        let Some(elicit) = &self.elicit else { return ElicitResult::new(ElicitationAction::Decline) };
        let (message, schema, url) = match asked {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                (message, serde_json::to_value(requested_schema).unwrap_or_default(), None)
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => (message, Value::Null, Some(url)),
            _ => return ElicitResult::new(ElicitationAction::Decline),
        };
        let question = Question { source: self.source.clone(), tool: self.calls.only(), message, schema, url };
        let _asking = self.calls.asking();
        match elicit.elicit(question).await {
            Answer::Accept(Value::Null) => ElicitResult::new(ElicitationAction::Accept),
            Answer::Accept(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            Answer::Decline => ElicitResult::new(ElicitationAction::Decline),
            Answer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

const NO_SAMPLING: &str = "sampling is not offered: this client calls no model";

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.elicit.is_some() {
            let form = ElicitationCapability::new().with_form(FormElicitationCapability::default());
            capabilities.elicitation = Some(form.with_url(UrlElicitationCapability::default()));
        }
        ClientConfig::new(capabilities, Implementation::new("refrain", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, NO_SAMPLING, None))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tokio::select! {
            answer = self.ask(asked) => Ok(answer),
            // The server has changed its mind.
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        // Nobody listening is no failure.
        let _ = self.calls.progress.send(params.progress_token);
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let level = serde_json::to_value(params.level).ok().and_then(|level| level.as_str().map(str::to_owned));
        let text = match params.data {
            Value::String(text) => text,
            other => other.to_string(),
        };
        self.words.add(&format!("[{}] {}", level.unwrap_or_default(), name::cut(&text, MAX_LOG)));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.events.tell(Event::ListChanged);
    }
}

/// The calls of one connection that are under way.
#[derive(Debug)]
pub(super) struct Calls {
    progress: broadcast::Sender<ProgressToken>,
    /// How many questions wait for a person.
    questions: watch::Sender<usize>,
    tools: Mutex<Vec<String>>,
}

impl Default for Calls {
    fn default() -> Self {
        Self { progress: broadcast::Sender::new(64), questions: watch::Sender::new(0), tools: Mutex::default() }
    }
}

impl Calls {
    /// Hears of all progress from now on.
    pub(super) fn progress(&self) -> broadcast::Receiver<ProgressToken> {
        self.progress.subscribe()
    }

    /// Sees how many questions wait for a person: that time is not the server's.
    pub(super) fn questions(&self) -> watch::Receiver<usize> {
        self.questions.subscribe()
    }

    /// Remembers a call until the guard goes.
    pub(super) fn begin(self: &Arc<Self>, tool: &str) -> impl Drop + use<> {
        self.tools().push(tool.to_owned());
        let tool = tool.to_owned();
        Guard::new(Arc::clone(self), move |calls: &Self| {
            let mut tools = calls.tools();
            if let Some(at) = tools.iter().position(|other| *other == tool) {
                tools.swap_remove(at);
            }
        })
    }

    fn asking(self: &Arc<Self>) -> impl Drop + use<> {
        self.questions.send_modify(|count| *count += 1);
        Guard::new(Arc::clone(self), |calls: &Self| calls.questions.send_modify(|count| *count -= 1))
    }

    fn only(&self) -> Option<String> {
        match self.tools().as_slice() {
            [tool] => Some(tool.clone()),
            _ => None,
        }
    }

    fn tools(&self) -> MutexGuard<'_, Vec<String>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something when it goes.
struct Guard<F: FnOnce(&Calls)>(Arc<Calls>, Option<F>);

impl<F: FnOnce(&Calls)> Guard<F> {
    fn new(calls: Arc<Calls>, end: F) -> Self {
        Self(calls, Some(end))
    }
}

impl<F: FnOnce(&Calls)> Drop for Guard<F> {
    fn drop(&mut self) {
        if let Some(end) = self.1.take() {
            end(&self.0);
        }
    }
}
