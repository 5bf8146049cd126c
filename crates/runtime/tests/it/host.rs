//! A runtime over fake tools, and how its reports are read.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use refrain_runtime::{Environment, ErrorReport, Note, Origin, Report, RunRequest, Runtime, Settings, SourceSettings};
use serde_json::Value;

use crate::fake::{Fake, Fakes, Seen};

/// Long enough for any machine. No test waits for it unless a run does not end.
const HANG: Duration = Duration::from_secs(120);

/// A runtime and what reached its tools.
pub(crate) struct Host {
    pub(crate) runtime: Runtime,
    seen: Arc<Mutex<Seen>>,
}

impl Host {
    /// One source, `fake`, in our own dialect.
    pub(crate) fn new(tools: Vec<Fake>) -> Self {
        Self::with([("fake", tools)], |_| {})
    }

    pub(crate) fn with<'a>(
        sources: impl IntoIterator<Item = (&'a str, Vec<Fake>)>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let seen = Arc::default();
        let mut settings = settings();
        settings.sources =
            sources.into_iter().map(|(name, tools)| SourceSettings::new(name, Fakes::source(tools, &seen))).collect();
        change(&mut settings);
        Self { runtime: Runtime::new(settings), seen }
    }

    pub(crate) async fn run(&self, script: &str) -> Report {
        self.request(RunRequest::new(script, Origin::default())).await
    }

    pub(crate) async fn request(&self, request: RunRequest) -> Report {
        let script = request.script.clone();
        match tokio::time::timeout(HANG, self.runtime.run(request, &|_| {})).await {
            Ok(report) => report.unwrap(),
            Err(_) => panic!("the run did not end: {script:.400}"),
        }
    }

    /// Runs a script that must succeed, and gives its value.
    pub(crate) async fn value(&self, script: &str) -> Value {
        let report = self.run(script).await;
        value(&report).unwrap_or_else(|| panic!("{script}\nreturned nothing: {:?} {:?}", report.error, report.notes))
    }

    /// Runs a script that must fail, and gives the report and its error.
    pub(crate) async fn failure(&self, script: &str) -> (Report, ErrorReport) {
        let report = self.run(script).await;
        match report.error.clone() {
            Some(error) => (report, error),
            None => panic!("{script}\ndid not fail: {report:?}"),
        }
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }
}

/// Settings without sources.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::new(Environment::new(|_| None, || 0));
    // Compiling the engine takes a second or more, and every test needs it.
    settings.cache = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine"));
    settings
}

/// What the script returned.
pub(crate) fn value(report: &Report) -> Option<Value> {
    report.result.as_ref().map(|json| json.parse().unwrap())
}

/// Every text in `value`, a line each.
pub(crate) fn texts(value: &impl serde::Serialize) -> String {
    fn collect(value: &Value, out: &mut String) {
        match value {
            Value::String(text) => {
                out.push_str(text);
                out.push('\n');
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
            Value::Object(map) => map.iter().for_each(|(key, item)| {
                out.push_str(key);
                out.push('\n');
                collect(item, out);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut out = String::new();
    collect(&serde_json::to_value(value).unwrap(), &mut out);
    out
}

/// The notes of one kind.
pub(crate) fn notes<'a>(report: &'a Report, kind: &str) -> Vec<&'a Note> {
    report.notes.iter().filter(|note| note.kind == kind).collect()
}

/// The statuses of the calls, in order.
pub(crate) fn statuses(report: &Report) -> Vec<String> {
    report
        .calls
        .iter()
        .map(|call| format!("{} {}", call.tool, serde_json::to_value(call.status).unwrap().as_str().unwrap()))
        .collect()
}
