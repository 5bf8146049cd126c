//! What a case may ask of a run. The words are those of the cases; one that is missing here fails the case that uses it.

use std::collections::BTreeMap;

use refrain_runtime::{CallStatus, ErrorKind, Report, ReportStatus};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::host::{texts, value};

/// How much slower than a case expects a machine may be. What is over it hangs.
const PATIENCE: u64 = 10;

/// One demand.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Check {
    Outcome(String),
    Outcomes(Vec<String>),
    Value(Value),
    ValueAtLength(BTreeMap<String, usize>),
    ValueAtIndex(BTreeMap<usize, Value>),
    ValueIncludes(Vec<String>),
    ValueExcludes(Vec<String>),
    StepValuesLast(Value),
    ThenValue(Vec<Value>),
    AnyOf(Vec<Vec<Self>>),
    Calls(Vec<(String, Value)>),
    CallsCount(BTreeMap<String, usize>),
    CallsFinished(BTreeMap<String, usize>),
    NoCallsAfterReport(bool),
    MaxInFlightAtMost(usize),
    MaxInFlightAtLeast(usize),
    ReportListsCalls(Vec<(String, Value)>),
    ErrorMentions(Vec<String>),
    ErrorLine(u32),
    OutputMentions(Vec<String>),
    DiagnosticsMention(Vec<String>),
    MinMs(u64),
    MaxMs(u64),
    HostAlive(bool),
    HostResponsiveDuringRun(bool),
    HostRssGrowthMbAtMost(u64),
    OutputBytesAtMost(usize),
    HostFileRead(bool),
    HostPrototypeClean(bool),
    HostGlobalUndefined(String),
    DeclarationsCompile(bool),
}

/// Everything that can be asked about, once the case has run.
pub(crate) struct Happened {
    /// One report a program, in order.
    pub(crate) reports: Vec<Report>,
    pub(crate) then: Vec<Report>,
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) finished: BTreeMap<String, usize>,
    pub(crate) most_in_flight: usize,
    /// Calls that reached a tool after the report.
    pub(crate) late_calls: usize,
    /// Other programs that ended while this one ran.
    pub(crate) beside: usize,
    pub(crate) rss_growth_mb: u64,
    /// What can only be read in a file of this machine.
    pub(crate) secret: Option<String>,
    /// Whether a fresh program still finds clean prototypes.
    pub(crate) clean: bool,
    /// The names that a fresh program finds among its globals.
    pub(crate) globals: Vec<String>,
    /// The declarations of the tools as they run: without types and comments. None if they are no TypeScript.
    pub(crate) declarations: Option<String>,
}

impl Happened {
    fn report(&self) -> &Report {
        self.reports.last().unwrap()
    }

    fn value(&self) -> Value {
        value(self.report()).unwrap_or(Value::Null)
    }

    pub(crate) fn holds(&self, check: &Check) -> bool {
        match check {
            Check::Outcome(outcome) => self.reports.iter().all(|report| ended_as(report, outcome)),
            Check::Outcomes(outcomes) => {
                outcomes.len() == self.reports.len()
                    && self.reports.iter().zip(outcomes).all(|(report, outcome)| ended_as(report, outcome))
            }
            Check::Value(expected) => self.reports.iter().all(|report| same(value(report).as_ref(), expected)),
            Check::StepValuesLast(expected) => same(value(self.report()).as_ref(), expected),
            Check::ValueAtLength(lengths) => {
                let value = self.value();
                lengths.iter().all(|(key, length)| value[key].as_array().is_some_and(|array| array.len() == *length))
            }
            Check::ValueAtIndex(values) => {
                let value = self.value();
                values.iter().all(|(index, expected)| &value[index] == expected)
            }
            Check::ValueIncludes(names) => names.iter().all(|name| self.lists(name)),
            Check::ValueExcludes(names) => !names.iter().any(|name| self.lists(name)),
            Check::ThenValue(values) => {
                self.then.len() == values.len()
                    && self.then.iter().zip(values).all(|(report, expected)| same(value(report).as_ref(), expected))
            }
            Check::AnyOf(groups) => groups.iter().any(|group| group.iter().all(|check| self.holds(check))),
            Check::Calls(calls) => &self.calls == calls,
            Check::CallsCount(counts) => counts
                .iter()
                .all(|(name, count)| self.calls.iter().filter(|(called, _)| called == name).count() == *count),
            Check::CallsFinished(counts) => {
                counts.iter().all(|(name, count)| self.finished.get(name).copied().unwrap_or(0) == *count)
            }
            Check::NoCallsAfterReport(none) => (self.late_calls == 0) == *none,
            Check::MaxInFlightAtMost(most) => self.most_in_flight <= *most,
            Check::MaxInFlightAtLeast(least) => self.most_in_flight >= *least,
            Check::ReportListsCalls(calls) => {
                let listed: Vec<(String, Value)> = self
                    .report()
                    .calls
                    .iter()
                    .filter(|call| call.status == CallStatus::Ok)
                    .map(|call| (own_name(&call.tool), call.args.parse().unwrap()))
                    .collect();
                &listed == calls
            }
            Check::ErrorMentions(words) => self.reports.iter().all(|report| mentions(&texts(&report.error), words)),
            Check::ErrorLine(line) => self.report().error.as_ref().and_then(|error| error.line) == Some(*line),
            Check::OutputMentions(words) => self.reports.iter().all(|report| mentions(&texts(report), words)),
            // The ledger is no diagnosis: it lists every call of every run.
            Check::DiagnosticsMention(words) => self
                .reports
                .iter()
                .all(|report| mentions(&texts(&json!([report.notes, report.logs, report.error])), words)),
            Check::MinMs(least) => self.report().usage.active_ms >= *least,
            Check::MaxMs(most) => {
                self.reports.iter().all(|report| report.usage.active_ms <= most.saturating_mul(PATIENCE))
            }
            // This process answers, or there would be no reports; and so does the runtime.
            Check::HostAlive(alive) => *alive && self.clean,
            // A run that was over before anything else could start shows nothing.
            Check::HostResponsiveDuringRun(responsive) => {
                let long = self.reports.iter().any(|report| ended_as(report, "timeout"));
                !long || (self.beside > 0) == *responsive
            }
            Check::HostRssGrowthMbAtMost(most) => self.rss_growth_mb <= most + neighbours_mb(),
            Check::OutputBytesAtMost(most) => {
                self.reports.iter().all(|report| serde_json::to_string(report).unwrap().len() <= *most)
            }
            Check::HostFileRead(read) => {
                let told = self.reports.iter().map(texts).collect::<String>();
                self.secret.as_ref().is_some_and(|secret| told.contains(secret)) == *read
            }
            Check::HostPrototypeClean(clean) => self.clean == *clean,
            Check::HostGlobalUndefined(name) => {
                !self.globals.contains(name) && self.declarations.as_ref().is_none_or(|code| !code.contains(name))
            }
            Check::DeclarationsCompile(compile) => self.declarations.is_some() == *compile,
        }
    }

    fn lists(&self, name: &str) -> bool {
        self.value().as_array().is_some_and(|items| items.iter().any(|item| item == name))
    }
}

/// Memory that tests beside this one may take meanwhile.
fn neighbours_mb() -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    (128 * threads).min(512)
}

fn same(value: Option<&Value>, expected: &Value) -> bool {
    value.is_some_and(|value| value == expected)
}

fn mentions(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| word.to_lowercase().split(" || ").any(|either| text.contains(either)))
}

fn own_name(path: &str) -> String {
    path.split_once('.').map_or(path, |(_, name)| name).to_owned()
}

/// Whether a run ended as the cases call it.
fn ended_as(report: &Report, outcome: &str) -> bool {
    let kind = report.error.as_ref().map(|error| error.kind);
    // A stack overflow is an exception that was not caught.
    let stopped = matches!(kind, Some(ErrorKind::Timeout | ErrorKind::OutOfMemory | ErrorKind::Limit));
    // Ours to mend, so nobody may expect it.
    let bug = matches!(kind, Some(ErrorKind::Internal));
    match outcome {
        "ok" => report.status == ReportStatus::Completed,
        "error" => kind.is_some() && !stopped && !bug,
        "syntax_error" => kind == Some(ErrorKind::Syntax),
        "timeout" => kind == Some(ErrorKind::Timeout),
        "out_of_memory" => kind == Some(ErrorKind::OutOfMemory),
        "killed" => stopped,
        "ok_or_error" => !stopped && !bug,
        "any" => !bug,
        other => panic!("no outcome is called `{other}`"),
    }
}
