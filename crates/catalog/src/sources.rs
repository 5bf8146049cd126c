//! Live connections to all sources.
//!
//! Each source has its own task, its own state and its own places for calls; nothing here ever waits for one source on
//! behalf of another. A source is connected when it is first needed and stays connected until [`close`](Sources::close).
//! One that cannot be listed is left alone for a while, longer each time. One that says that its list has changed is listed
//! again; until that is done, and if it fails, its tools are those it had.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::join_all, stream::FuturesUnordered};
use serde_json::{Value, value::RawValue};
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    catalog::{Catalog, SourceStatus},
    error::{CallError, ErrorCode},
    name,
    observed::{Observed, Observer},
    process::Children,
    settings::{Environment, SourceSettings},
    source::Server,
};

mod entry;

use entry::Entry;

/// One call to a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// The name of the source.
    pub source: String,
    /// The tool's own name, or its identifier.
    pub tool: String,
    /// An object, or `null` for none.
    pub args: Value,
    /// The idempotency key. The source sees it as far as its protocol has a place for it.
    pub key: Option<String>,
    /// A limit for this call. Shortens what the settings allow, and never lengthens it.
    pub timeout: Option<Duration>,
}

/// What a call gave.
#[derive(Clone, Debug)]
pub struct CallOutput {
    /// The value as JSON text. Where the source sent JSON as text, byte for byte what it sent.
    pub value: Box<RawValue>,
    /// What should be said beside the value.
    pub notes: Vec<String>,
}

/// A source as somebody sees it who came to find out what is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// How it is doing.
    pub status: SourceStatus,
    /// Who answered; none where nobody did, and for sources that are no servers.
    pub server: Option<Server>,
    /// How long a round trip takes.
    pub latency: Option<Duration>,
    /// What is odd and does no harm.
    pub notes: Vec<String>,
    /// The last lines that it wrote beside the protocol, without secrets.
    pub log: Vec<String>,
}

/// Settings without effect that a diagnosis tells of one source.
const MOST_VAIN: usize = 10;

/// All sources.
#[derive(Debug)]
pub struct Sources {
    entries: BTreeMap<String, Arc<Entry>>,
    observer: Observer,
    children: Arc<Children>,
}

impl Sources {
    /// Takes the settings. Nothing is started yet. Of two sources with one name the later counts.
    #[must_use]
    pub fn open(settings: Vec<SourceSettings>, environment: Environment) -> Self {
        let children = Children::new(environment.guard.clone());
        let observer = Observer::default();
        let entries = settings
            .into_iter()
            .map(|settings| {
                let name = settings.name.clone();
                let entry = Arc::new_cyclic(|entry| Entry::new(settings, &environment, &children, &observer, entry));
                (name, entry)
            })
            .collect();
        Self { entries, observer, children }
    }

    /// Returns what all sources offer now.
    ///
    /// Sources that were never asked are connected, all at once, and waited for up to `wait`. Those that failed before are
    /// tried again in the background, so they cost this caller nothing and may be there for the next. Must run within
    /// tokio, with I/O and time enabled.
    pub async fn catalog(&self, wait: Duration) -> Arc<Catalog> {
        self.catalog_until(wait, wait, |_| true).await
    }

    /// As [`catalog`](Self::catalog), but waits only up to `grace` once `is_enough` says so of what is there. It is asked again
    /// each time that a source has settled.
    pub async fn catalog_until(
        &self,
        wait: Duration,
        grace: Duration,
        is_enough: impl Fn(&Catalog) -> bool,
    ) -> Arc<Catalog> {
        let first: Vec<&Arc<Entry>> = self.entries.values().filter(|entry| entry.begin()).collect();
        let mut settling: FuturesUnordered<_> = first.into_iter().map(|entry| entry.settled()).collect();
        let (graceful, last) = (Instant::now() + grace, Instant::now() + wait.max(grace));
        // Time-outs are no errors: what is not there yet is listed as connecting.
        while let Ok(Some(())) = timeout_at(graceful, settling.next()).await {}
        let mut catalog = self.snapshot();
        while !settling.is_empty() && !is_enough(&catalog) {
            let Ok(Some(())) = timeout_at(last, settling.next()).await else { break };
            catalog = self.snapshot();
        }
        Arc::new(catalog)
    }

    /// What all sources offer, as far as it is known.
    fn snapshot(&self) -> Catalog {
        let mut tools = Vec::new();
        let mut sources = Vec::new();
        for entry in self.entries.values() {
            let state = entry.state();
            tools.extend(state.tools.iter().cloned());
            sources.push(entry.status(&state));
        }
        Catalog::new(tools, sources)
    }

    /// Connects every source, all at once, waits for each as long as its settings say, and tells what it found. In the order of
    /// their names.
    pub async fn diagnose(&self) -> Vec<Diagnosis> {
        let mut found = join_all(self.entries.values().map(async |entry| {
            entry.begin();
            // The listing has a limit of its own, and a little more for the reason of a failure.
            let _ = timeout(entry.settings.connect_timeout + Duration::from_secs(2), entry.settled()).await;
            let facts = timeout(entry.settings.connect_timeout, entry.source.facts()).await.unwrap_or_default();
            entry.diagnosis(facts)
        }))
        .await;
        let catalog = self.snapshot();
        for diagnosis in &mut found {
            let tools = catalog.of_source(&diagnosis.status.name).iter();
            let vain = tools.flat_map(|tool| {
                catalog.vain_settings(tool).into_iter().map(|told| format!("`{}`: {told}", name::readable(&tool.name)))
            });
            diagnosis.notes.extend(vain.take(MOST_VAIN));
        }
        found
    }

    /// Makes a call, once. Connects first where needed, and waits for a free place.
    ///
    /// # Errors
    ///
    /// [`CallError`]. `source_down`, `unknown_tool` and `invalid_arguments` mean that nothing was sent; after
    /// `interrupted` and `timeout` nobody knows.
    pub async fn call(&self, request: CallRequest) -> Result<CallOutput, CallError> {
        let entry = self.entries.get(&request.source).ok_or_else(|| {
            let near = name::did_you_mean(&request.source, self.entries.keys().map(String::as_str));
            CallError::new(ErrorCode::UnknownTool, format!("no source `{}`{near}", request.source))
        })?;
        entry.call(request).await
    }

    /// Returns what was seen of results since this was last asked, for whoever keeps it.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.observer.take()
    }

    /// Ends all connections, and with them every child.
    pub async fn close(mut self) {
        let entries = std::mem::take(&mut self.entries);
        join_all(entries.into_values().map(async |entry| {
            // A source that is still connecting would keep its connection from being ended.
            if let Some(listing) = entry.abort() {
                let _ = listing.await;
            }
            entry.source.close().await;
        }))
        .await;
        self.children.close();
    }
}

impl Drop for Sources {
    /// Without [`close`](Self::close) children are killed instead of asked to go.
    fn drop(&mut self) {
        for entry in self.entries.values() {
            entry.abort();
        }
    }
}
