//! What a run says of itself: the result, what was said beside it, and which calls happened.
//!
//! The field names are the outside contract. The same value is stored in the end record, so that a finished run answers again
//! without its script running.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use refrain_engine::{Frame, Output, Remark, SourceMap, Stop, Thrown, source};
use refrain_journal::{Cancelling, Json, RunId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    config::LimitSettings,
    run::{Divergence, End, Here, Made, Plan, Progress, Run},
    waiting::Waiting,
};

/// What a run says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The run; none when nothing was stored.
    pub run_id: Option<RunId>,
    /// How the run stands.
    pub status: ReportStatus,
    /// What the script returned, as it was written. Absent when it returned nothing.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Json>,
    /// What the script gave to `text()`, a line each.
    pub text: String,
    /// What the script gave to `image()`.
    pub images: Vec<Json>,
    /// What the script gave to `console`.
    pub logs: Vec<Log>,
    /// What is to be said beside the value.
    pub notes: Vec<Note>,
    /// Every call, in the order the script made them.
    pub calls: Vec<CallReport>,
    /// What the run used.
    pub usage: Usage,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Waiting>,
    /// What became of the calls of the run that this one corrects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amends: Option<AmendReport>,
    /// The most that the script wants to be shown of all this, in tokens. For whoever shows it; not part of the report.
    #[serde(skip)]
    pub max_output_tokens: Option<u64>,
}

/// Reads a value that is there, also when it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// How a run stands, as its report has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportStatus {
    /// The script returned.
    Completed,
    /// It did not.
    Failed,
    /// It waits for something outside.
    Parked,
    /// It was cancelled.
    Cancelled,
}

impl ReportStatus {
    /// The word that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Parked => "parked",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A line of `console`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// `log`, `info`, `warn`, `error` or `debug`.
    pub level: String,
    /// The line.
    pub text: String,
}

/// Something said beside the value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What it is about: `nothing_returned`, `not_awaited`, `unfinished`, `value_changed`, `unhandled_rejection`, `output_cut`, `tool`, `store_not_kept`,
    /// `policy`, or a finding of preflight.
    pub kind: String,
    /// The sentence.
    pub message: String,
    /// A line of the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// A tool's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

impl From<&source::Remark> for Note {
    fn from(remark: &source::Remark) -> Self {
        Self { line: Some(remark.position.line), ..Self::new(remark.kind, remark.message.clone()) }
    }
}

impl Note {
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), line: None, tool: None }
    }
}

/// One call of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallReport {
    /// Its number.
    pub call: u32,
    /// The tool's path.
    pub tool: String,
    /// The arguments as they were sent; past 1 KiB a text that begins with them and says how long they are.
    pub args: Json,
    /// What became of it.
    pub status: CallStatus,
    /// How long the source took, in milliseconds.
    pub ms: u64,
    /// Bytes of its result.
    pub bytes: u64,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It gave a value.
    Ok,
    /// It failed.
    Error,
    /// It never left.
    Refused,
    /// The process ended while it was out; nobody knows what happened.
    Interrupted,
    /// It was out when the script ended; nobody knows what happened.
    Unfinished,
    /// Answered from another run's journal.
    Reused,
    /// Not answered yet.
    Waiting,
}

/// What a corrected run took over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AmendReport {
    /// The run that was corrected.
    pub run_id: RunId,
    /// Calls that were answered from its journal.
    pub reused: u64,
    /// Calls that left.
    pub ran: u64,
    /// Calls that it has an answer of and that were made again: reads after a write of the new run.
    pub made_again: Vec<u32>,
    /// Its finished calls that the new script did not make.
    pub unmatched: Vec<UnmatchedCall>,
}

/// A finished call of a run before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnmatchedCall {
    /// That run.
    pub run_id: RunId,
    /// Its number there.
    pub call: u64,
    /// The tool's path.
    pub tool: String,
    /// Its arguments, cut as those of [`CallReport`].
    pub args: Json,
}

impl AmendReport {
    fn of(run: &Run, calls: &[CallReport]) -> Option<Self> {
        let earlier = run.earlier()?;
        let unmatched = earlier.unmatched();
        Some(Self {
            run_id: earlier.run(),
            reused: calls.iter().filter(|call| call.status == CallStatus::Reused).count() as u64,
            ran: run.calls().iter().filter(|made| made.has_left()).count() as u64,
            made_again: earlier.made_again().to_vec(),
            unmatched: unmatched
                .iter()
                .map(|it| UnmatchedCall {
                    run_id: it.of.run,
                    call: it.of.call,
                    tool: it.tool.to_owned(),
                    args: cut(it.args),
                })
                .collect(),
        })
    }
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Calls that the script made.
    pub calls: u64,
    /// Bytes that the tools returned to the script.
    pub tool_bytes: u64,
    /// Bytes of what the script gives back: its result and its texts.
    pub result_bytes: u64,
    /// Active time over all attempts, in milliseconds.
    pub active_ms: u64,
    /// Units of fuel that the script computed.
    pub cpu_fuel: u64,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What happened, and what to do where that is known.
    pub message: String,
    /// The line of the text that was sent, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The lines around it, with a caret.
    pub frame: Option<String>,
    /// The script's stack, a line each: `at name (line:column)`.
    pub stack: Option<String>,
    /// The tool of an uncaught `ToolError`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
    /// Its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The limit that was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The text is no program.
    Syntax,
    /// A certain fault was found before anything ran.
    Preflight,
    /// The script threw.
    Script,
    /// A call failed and the script did not catch it.
    Tool,
    /// The script waits for nothing.
    Stalled,
    /// The time was up.
    Timeout,
    /// The memory was full.
    OutOfMemory,
    /// A recursion that was not caught.
    StackOverflow,
    /// Another limit was reached.
    Limit,
    /// The script does not do what its journal says.
    Diverged,
    /// Ours to mend.
    Internal,
}

impl ErrorKind {
    /// The word that reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Preflight => "preflight",
            Self::Script => "script",
            Self::Tool => "tool",
            Self::Stalled => "stalled",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::StackOverflow => "stack_overflow",
            Self::Limit => "limit",
            Self::Diverged => "diverged",
            Self::Internal => "internal",
        }
    }
}

/// A script and the way back from what ran to what was sent.
pub(crate) struct Script<'a> {
    pub(crate) text: &'a str,
    pub(crate) map: &'a SourceMap,
}

impl Report {
    /// The report of a text that is no program.
    pub(crate) fn syntax(text: &str, error: &source::SyntaxError) -> Self {
        Self {
            error: Some(ErrorReport {
                line: Some(error.position.line),
                column: Some(error.position.column),
                frame: Some(source::code_frame(text, error.position)),
                ..ErrorReport::new(ErrorKind::Syntax, error.message.clone())
            }),
            ..Self::empty(None, ReportStatus::Failed)
        }
    }

    /// The report of a script that does not start, since it could only fail.
    pub(crate) fn refused(error: ErrorReport, notes: Vec<Note>) -> Self {
        Self { error: Some(error), notes, ..Self::empty(None, ReportStatus::Failed) }
    }

    /// Adds what was found before the script ran, but for what it has shown by running.
    pub(crate) fn add_notes(&mut self, notes: Vec<Note>) {
        let shown = |note: &Note| self.notes.iter().any(|own| (&own.kind, own.line) == (&note.kind, note.line));
        let mut new: Vec<Note> = notes.into_iter().filter(|note| !shown(note)).collect();
        new.append(&mut self.notes);
        self.notes = new;
    }

    /// The report of a run in whose place another one was put.
    pub(crate) fn amended(id: RunId, by: RunId) -> Self {
        let note = Note::new("amended", format!("the corrected script is run {by}, which took over what was finished"));
        Self { notes: vec![note], ..Self::empty(Some(id), ReportStatus::Cancelled) }
    }

    /// The report of a run that waits for what is outside.
    pub(crate) fn parked(
        id: RunId,
        run: &Run,
        waiting: Vec<Waiting>,
        script: &Script<'_>,
        limits: &LimitSettings,
        usage: Usage,
    ) -> Self {
        let mut report = Self { waiting, ..Self::empty(Some(id), ReportStatus::Parked) };
        report.tell(run, script, limits);
        report.calls = run.calls().iter().map(|made| CallReport::of(made, false)).collect();
        report.usage = report.used(run, usage);
        report
    }

    /// The report of a run that was put down before its script ran.
    pub(crate) fn put_down(id: RunId, waiting: Waiting) -> Self {
        Self { waiting: vec![waiting], ..Self::empty(Some(id), ReportStatus::Parked) }
    }

    /// The report of a run that fails since its script does not do what its journal says.
    pub(crate) fn diverged(id: RunId, run: &Run, divergence: &Divergence) -> Self {
        let Divergence { call, expected, actual, after } = divergence;
        let after = after.as_deref().map(|after| format!("; the last step at which both agree: {after}"));
        let told = format!(
            "the script does not do what its journal says: at call {call} expected {expected}, got {actual}{}",
            after.unwrap_or_default()
        );
        Self {
            calls: run.calls().iter().map(|made| CallReport::of(made, true)).collect(),
            error: Some(ErrorReport { call: Some(*call), ..ErrorReport::new(ErrorKind::Diverged, told) }),
            ..Self::empty(Some(id), ReportStatus::Failed)
        }
    }

    /// The report of a run that would have completed and could not leave what it stored.
    pub(crate) fn failed(self, why: &refrain_journal::JournalError) -> Self {
        let error = Some(ErrorReport::new(ErrorKind::Script, why.to_string()));
        Self { status: ReportStatus::Failed, result: None, error, ..self }
    }

    /// The report of a run that is over.
    pub(crate) fn of(
        id: RunId,
        run: &Run,
        end: &End,
        script: &Script<'_>,
        limits: &LimitSettings,
        usage: Usage,
        is_late: bool,
    ) -> Self {
        let error = error_of(run, end, script, limits, is_late);
        let status = match (run.cancelling(), &error) {
            (Some(_), _) => ReportStatus::Cancelled,
            (None, Some(_)) => ReportStatus::Failed,
            (None, None) => ReportStatus::Completed,
        };
        let mut report = Self::empty(Some(id), status);
        match run.cancelling() {
            Some(cancelling) => report.notes.push(cancelled(cancelling, end)),
            None => report.error = error,
        }
        report.tell(run, script, limits);
        match end {
            // What it returns after the mark is no result.
            End::Returned(_) if run.cancelling().is_some() => {}
            End::Returned(Some(json)) => match Json::new(relocated(json, script.map)) {
                Ok(json) => report.result = Some(json),
                Err(_) => report
                    .notes
                    .push(Note::new("internal", "the result is not JSON and was left out; please report it")),
            },
            End::Returned(None) if report.text.is_empty() => {
                report
                    .notes
                    .push(Note::new("nothing_returned", "the script returned nothing; `return` what is needed"));
            }
            End::Returned(None) | End::Threw(_) | End::Stalled | End::Stopped(..) => {}
        }
        report.calls = run.calls().iter().map(|made| CallReport::of(made, true)).collect();
        report.amends = AmendReport::of(run, &report.calls);
        report.notes.extend(notes_of(run));
        report.usage = report.used(run, usage);
        report
    }

    fn used(&self, run: &Run, usage: Usage) -> Usage {
        Usage {
            calls: self.calls.len() as u64,
            tool_bytes: run.tool_bytes,
            result_bytes: (self.result.as_ref().map_or(0, |json| json.as_str().len()) + self.text.len()) as u64,
            ..usage
        }
    }

    /// Adds what the script said.
    fn tell(&mut self, run: &Run, script: &Script<'_>, limits: &LimitSettings) {
        let report = self;
        let mut texts = Vec::new();
        for output in &run.output {
            match output {
                Output::Log { level, text } => {
                    report.logs.push(Log { level: level.clone(), text: relocated(text, script.map) });
                }
                Output::Text(text) => texts.push(relocated(text, script.map)),
                Output::Image(block) => report.images.extend(Json::new(block.clone())),
                Output::Note(remark) => report.notes.push(remarked(run, remark, script)),
                Output::Cut { images: true } => {
                    let told = format!("images past {} KiB (`image_kb`) were dropped", limits.image_kb);
                    report.notes.push(Note::new("output_cut", told));
                }
                Output::Cut { images: false } => {
                    let told = format!("logs and texts past {} KiB (`log_kb`) were dropped", limits.log_kb);
                    report.notes.push(Note::new("output_cut", told));
                }
                // Told while the run goes on, and kept with its session.
                Output::Progress { .. } | Output::Store { .. } => {}
            }
        }
        report.text = texts.join("\n");
    }

    fn empty(run_id: Option<RunId>, status: ReportStatus) -> Self {
        Self {
            run_id,
            status,
            result: None,
            text: String::new(),
            images: Vec::new(),
            logs: Vec::new(),
            notes: Vec::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            error: None,
            waiting: Vec::new(),
            amends: None,
            max_output_tokens: None,
        }
    }
}

impl ErrorReport {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            line: None,
            column: None,
            frame: None,
            stack: None,
            tool: None,
            call: None,
            code: None,
            setting: None,
        }
    }

    /// Adds the place, from frames of the JavaScript that ran.
    fn at(mut self, frames: &[Frame], script: &Script<'_>) -> Self {
        let mut lines = Vec::new();
        for frame in frames {
            let Some(place) = script.map.original(frame) else { continue };
            if self.line.is_none() {
                self.line = Some(place.line);
                self.column = Some(place.column);
                self.frame = Some(source::code_frame(script.text, place));
            }
            lines.push(match &frame.function {
                Some(name) => format!("at {name} ({}:{})", place.line, place.column),
                None => format!("at {}:{}", place.line, place.column),
            });
        }
        self.stack = (!lines.is_empty()).then(|| lines.join("\n"));
        self
    }

    /// Puts what was called in front of the engine's bare `not a function`, as the script has it.
    fn with_name(mut self, script: &Script<'_>) -> Self {
        const BARE: &str = "TypeError: not a function";
        if let (true, Some(line), Some(column)) = (self.message.starts_with(BARE), self.line, self.column) {
            let line: Vec<char> = script.text.lines().nth(line as usize - 1).unwrap_or_default().chars().collect();
            let at = (column as usize - 1).min(line.len());
            let is_name = |c: &&char| c.is_alphanumeric() || matches!(c, '_' | '$');
            let is_path = |c: &&char| is_name(c) || **c == '.';
            let before = line[..at].iter().rev().take_while(is_path).count().min(80);
            let after = line[at..].iter().take_while(is_name).count().min(80);
            let name: String = line[at - before..at + after].iter().collect();
            let name = name.trim_start_matches('.');
            if !name.is_empty() {
                self.message = format!("TypeError: `{name}` is {}", &self.message["TypeError: ".len()..]);
                if name == "tools" || name.strip_prefix("tools.").is_some_and(|rest| !rest.contains('.')) {
                    self.message.push_str("; a tool is called as `tools.<source>.<tool>(args)`");
                }
            }
        }
        self
    }

    fn with_setting(mut self, setting: &str) -> Self {
        self.setting = Some(setting.into());
        self
    }
}

impl CallReport {
    fn of(made: &Made, over: bool) -> Self {
        let (status, bytes) = match &made.progress {
            Progress::Answered(answer) => {
                let status = match (&answer.code, &made.plan) {
                    (None, Plan::Here(Here { taken: Some(_), .. })) => CallStatus::Reused,
                    (None, _) => CallStatus::Ok,
                    (Some(code), _) if code == "interrupted" => CallStatus::Interrupted,
                    // Nobody agreed to it.
                    (Some(_), Plan::Send { .. }) if !made.has_left() => CallStatus::Refused,
                    (Some(_), Plan::Here(_) | Plan::Ask) => CallStatus::Refused,
                    (Some(_), Plan::Past(past)) if !past.had_left => CallStatus::Refused,
                    (Some(code), _) if code == "cancelled" => CallStatus::Interrupted,
                    (Some(_), _) => CallStatus::Error,
                };
                (status, answer.bytes)
            }
            Progress::Outside if over && made.waits_for_approval() => (CallStatus::Refused, 0),
            Progress::Out | Progress::Outside if over => (CallStatus::Unfinished, 0),
            Progress::Out | Progress::Outside => (CallStatus::Waiting, 0),
            Progress::Made | Progress::Cleared if over => (CallStatus::Refused, 0),
            Progress::Made | Progress::Cleared => (CallStatus::Waiting, 0),
        };
        Self { call: made.call, tool: made.path.clone(), args: cut(&made.args), status, ms: made.took_ms, bytes }
    }
}

/// Arguments for the ledger: whole, or a text that begins with them.
pub(crate) fn cut(args: &Json) -> Json {
    const MOST: usize = 1024;
    let text = args.as_str();
    if text.len() <= MOST {
        return args.clone();
    }
    let shown = &text[..text.floor_char_boundary(MOST)];
    Json::from_value(&format!("{shown}… (cut: {} bytes in all)", text.len()).into())
}

/// The text with the places of a stack, `(script:3:7)`, as those of the script that was sent.
fn relocated(text: &str, map: &SourceMap) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("(script:") {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let end = found.find(')').map_or(found.len(), |end| end + 1);
        let place = Frame::parse_all(&found[..end]).first().and_then(|frame| map.original(frame));
        match place {
            Some(place) => out.push_str(&format!("(script:{}:{})", place.line, place.column)),
            None => out.push_str(&found[..end]),
        }
        rest = &found[end..];
    }
    out + rest
}

/// A remark of the engine, with its line and the names that it lacks.
fn remarked(run: &Run, remark: &Remark, script: &Script<'_>) -> Note {
    let made = remark.call.and_then(|call| run.calls().iter().find(|made| made.call == call));
    let line = remark.frames.iter().find_map(|frame| script.map.original(frame)).map(|place| place.line);
    let said = remark.message.as_deref().and_then(|message| message.lines().next()).unwrap_or_default();
    let message = match (remark.kind.as_str(), made) {
        ("not_awaited", Some(made)) => {
            let became = match &made.progress {
                Progress::Answered(answer) if answer.code.is_some() => format!("; it failed, and nobody saw: {said}"),
                Progress::Answered(_) => "; its value was not used".into(),
                Progress::Made | Progress::Cleared | Progress::Out | Progress::Outside => String::new(),
            };
            format!("call {} of `{}` was not awaited{became}", made.call, made.path)
        }
        ("unhandled_rejection", _) => format!("a promise was rejected and nobody looked: {said}"),
        _ => said.to_owned(),
    };
    Note { kind: remark.kind.clone(), message, line, tool: made.map(|made| made.path.clone()) }
}

/// How a cancelled run ended.
fn cancelled(cancelling: &Cancelling, end: &End) -> Note {
    let reason = cancelling.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let ended = match end {
        End::Stopped(..) => "; its clean-up did not end within `cleanup_ms`, and was stopped",
        End::Threw(thrown) if thrown.tool.as_ref().and_then(|tool| tool.code.as_deref()) != Some("cancelled") => {
            "; its clean-up failed"
        }
        End::Returned(_) | End::Threw(_) | End::Stalled => "",
    };
    Note::new("cancelled", format!("the run was cancelled{reason}{ended}"))
}

fn error_of(run: &Run, end: &End, script: &Script<'_>, limits: &LimitSettings, is_late: bool) -> Option<ErrorReport> {
    Some(match end {
        End::Returned(_) => return None,
        End::Threw(thrown) => threw(thrown).at(&thrown.frames, script).with_name(script),
        End::Stalled => ErrorReport::new(
            ErrorKind::Stalled,
            "the script waits for something and no call, timer or question is pending",
        ),
        End::Stopped(stop, frames) => stopped(run, stop, limits, is_late).at(frames, script),
    })
}

fn threw(thrown: &Thrown) -> ErrorReport {
    let kind = match (&thrown.tool, thrown.overflow) {
        (Some(_), _) => ErrorKind::Tool,
        (None, true) => ErrorKind::StackOverflow,
        (None, false) => ErrorKind::Script,
    };
    let message = match thrown.name.as_deref() {
        None => format!("the script threw {}, which is no Error", thrown.message),
        Some("Error" | "ToolError" | "") => thrown.message.clone(),
        Some(name) => format!("{name}: {}", thrown.message),
    };
    let mut error = ErrorReport::new(kind, message);
    if let Some(tool) = &thrown.tool {
        error.tool = tool.tool.clone();
        error.call = tool.call;
        error.code = tool.code.clone();
    }
    error
}

fn stopped(run: &Run, stop: &Stop, limits: &LimitSettings, is_late: bool) -> ErrorReport {
    match stop {
        Stop::Asked => {
            let doing = run
                .stopped_in()
                .map_or(String::from("computed"), |made| format!("waited for call {}, `{}`", made.call, made.path));
            let (ms, setting) = match limits.deadline_ms {
                Some(deadline_ms) if is_late => (deadline_ms, "deadline_ms"),
                _ => (limits.timeout_ms, "timeout_ms"),
            };
            let told = format!("the run was stopped after its {ms} ms (`{setting}`), while it {doing}");
            ErrorReport::new(ErrorKind::Timeout, told).with_setting(setting)
        }
        Stop::Memory => {
            let told = format!("the script used up its memory of {} MiB (`memory_mb`)", limits.memory_mb);
            ErrorReport::new(ErrorKind::OutOfMemory, told).with_setting("memory_mb")
        }
        Stop::Stack => ErrorReport::new(ErrorKind::StackOverflow, "the script used up its stack"),
        Stop::Limit { setting, .. } => {
            let (setting, value) = limits.setting_of(setting);
            ErrorReport::new(ErrorKind::Limit, format!("the run reached its limit `{setting}` of {value}"))
                .with_setting(setting)
        }
        Stop::Fault(what) => {
            ErrorReport::new(ErrorKind::Internal, format!("bug in the engine: {what}; please report it"))
        }
        other => ErrorReport::new(ErrorKind::Internal, format!("bug: the unknown stop {other:?}; please report it")),
    }
}

/// What a tool says of each call alike is one note, in the place of the first, with its number.
fn told_by_tools(told: &[(String, String)]) -> Vec<Note> {
    let mut times: HashMap<&(String, String), u32> = HashMap::new();
    let mut firsts = Vec::new();
    for one in told {
        let number = times.entry(one).or_default();
        *number += 1;
        if *number == 1 {
            firsts.push(one);
        }
    }
    let note = |one: &(String, String)| {
        let (tool, message) = one;
        let message = match times.get(one) {
            None | Some(1) => message.clone(),
            Some(times) => format!("{message} ({times} times)"),
        };
        Note { tool: Some(tool.clone()), ..Note::new("tool", message) }
    };
    firsts.into_iter().map(note).collect()
}

fn notes_of(run: &Run) -> Vec<Note> {
    let mut notes = told_by_tools(&run.tool_notes);
    let mut writers: Vec<&str> = Vec::new();
    let mut let_through: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for made in run.calls() {
        if made.has_left() && made.effect() != refrain_catalog::Effect::Read {
            match &made.rule {
                Some(rule) => drop(let_through.entry(rule).or_default().insert(&made.path)),
                None => writers.push(&made.path),
            }
        }
        if made.attempts > 0 {
            let times = made.attempts + 1;
            let told = format!("call {} of `{}` was made {times} times, since it failed before", made.call, made.path);
            notes.push(Note { tool: Some(made.path.clone()), ..Note::new("retried", told) });
        }
        if made.is_timer() {
            continue; // a timer that nobody waits for is dropped everywhere
        }
        let message = match (&made.progress, made.is_safe()) {
            (Progress::Outside, _) if matches!(made.plan, Plan::Ask) => {
                format!("question {} was not answered: the script had ended", made.call)
            }
            _ if made.waits_for_approval() => {
                format!(
                    "call {} of `{}` was not made: the script ended before anybody agreed to it",
                    made.call, made.path
                )
            }
            (Progress::Out | Progress::Outside, true) => format!(
                "call {} of `{}` was out when the script ended; it is safe, and was dropped",
                made.call, made.path
            ),
            (Progress::Out | Progress::Outside, false) => format!(
                "call {} of `{}` was out when the script ended, and its outcome is unknown",
                made.call, made.path
            ),
            (Progress::Made | Progress::Cleared, _) => {
                format!("call {} of `{}` was not sent: the script had ended", made.call, made.path)
            }
            (Progress::Answered(_), _) => continue,
        };
        notes.push(Note { tool: Some(made.path.clone()), ..Note::new("unfinished", message) });
    }
    writers.sort_unstable();
    writers.dedup();
    if !writers.is_empty() {
        let names = writers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let why = if run.has_rules() { "no policy rule is about these writes" } else { "there are no policy rules" };
        let what = if run.has_rules() { "so they were allowed" } else { "so writes were allowed" };
        notes.push(Note::new("policy", format!("{why}, {what}: {names}")));
    }
    for (rule, tools) in let_through {
        let names = tools.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        notes.push(Note::new("policy", format!("{rule} let writes through: {names}")));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tool_says_of_many_calls_is_said_once() {
        let told = [("s.t", "odd"), ("s.t", "rare"), ("s.t", "odd"), ("s.u", "odd"), ("s.t", "odd")];
        let notes = told_by_tools(&told.map(|(tool, message)| (tool.to_owned(), message.to_owned())));
        let said: Vec<String> = notes
            .iter()
            .map(|note| format!("{}: {}", note.tool.as_deref().unwrap_or_default(), note.message))
            .collect();
        assert_eq!(said, ["s.t: odd (3 times)", "s.t: rare", "s.u: odd"]);
    }
}
