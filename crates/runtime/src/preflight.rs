//! What is wrong with a script, found before it runs and without running anything.
//!
//! One pure function, [`check`], from the facts that the parser found and the catalog to findings. A finding is
//! [`Certainty::Certain`] only if the script fails whatever happens: then it does not start, and no call is made in vain.
//! Everything else is [`Certainty::Suspected`]: the run goes on, and the finding is told beside its result.
//!
//! # What is certain
//!
//! A fault is certain when it lies on the way that every run to the end takes ([`Reach::Sure`](refrain_engine::source::Reach::Sure): no branch, no loop, no `try`,
//! no function that is not surely called and awaited, nothing behind a `return`, no use of `exit` anywhere), and
//!
//! * it is the use of a name that nothing defines, that the script neither assigns nor looks at with `typeof`, in a script
//!   that cannot make globals unseen; or
//! * it is a call, awaited or returned on the spot, of a tool that does not exist while its source is ready, or with an
//!   argument that the tool's schema refuses whatever the unknown parts of it turn out to be.
//!
//! # Deliberately not here
//!
//! Types of results: a learned or declared output schema says what came so far, and a guess would only be noise.

mod arguments;
mod globals;
pub(crate) mod near;
mod needs;
mod promises;
#[cfg(test)]
mod tests;
mod tools;

use refrain_catalog::{Catalog, Dialect};
use refrain_engine::{
    Engine, Limits, Status,
    source::{Facts, Position, Roots, code_frame},
};

use crate::{
    error::RuntimeError,
    report::{ErrorKind, ErrorReport, Note},
};

pub use needs::is_enough;

/// Whether a finding stops the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// The script fails whatever happens, so it does not start.
    Certain,
    /// It may be meant so, or may never be reached.
    Suspected,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name that nothing defines.
    UnknownGlobal,
    /// A tool or source that does not exist.
    UnknownTool,
    /// A source that has no tools at the moment.
    SourceDown,
    /// An argument that the tool refuses, or ignores.
    InvalidArguments,
    /// A call that nobody waits for.
    NotAwaited,
    /// A function that looks like the program and is never called.
    NeverCalled,
}

impl Kind {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownGlobal => "unknown_global",
            Self::UnknownTool => "unknown_tool",
            Self::SourceDown => "source_down",
            Self::InvalidArguments => "invalid_arguments",
            Self::NotAwaited => "not_awaited",
            Self::NeverCalled => "never_called",
        }
    }
}

/// Something wrong, or likely to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether it stops the run.
    pub certainty: Certainty,
    /// What it is about.
    pub kind: Kind,
    /// What is wrong, and what to write instead where that is known.
    pub message: String,
    /// Where, in the text that was sent.
    pub position: Position,
    /// The tool's path, as far as it is known.
    pub tool: Option<String>,
}

/// Everything that a script can name: see [`check`].
struct Scene<'s> {
    facts: &'s Facts,
    catalog: &'s Catalog,
    globals: &'s [String],
    dialect: Option<&'s Dialect>,
}

impl Scene<'_> {
    /// The global that holds the tools.
    fn root(&self) -> &str {
        self.dialect.map_or("tools", |dialect| dialect.root)
    }

    fn is_flat(&self) -> bool {
        self.dialect.is_some_and(|dialect| dialect.flat)
    }

    /// The expression that reaches a tool.
    fn call_of(&self, tool: &refrain_catalog::Tool) -> String {
        self.catalog.call_in(tool, self.dialect)
    }
}

/// What to look for when a script of `dialect` is read.
#[must_use]
pub fn roots(dialect: Option<&Dialect>) -> Roots {
    match dialect {
        None => Roots::default(),
        Some(dialect) if dialect.flat => Roots { nested: vec![].into(), flat: vec![dialect.root.into()].into() },
        Some(dialect) => Roots { nested: vec![dialect.root.into()].into(), flat: vec![].into() },
    }
}

/// Returns what is wrong with a script, the certain first and each kind by position.
///
/// `globals` are the names that the sandbox defines without a dialect: see [`globals_of`]. At most one finding is made of each
/// name and of each call.
#[must_use]
pub fn check(facts: &Facts, catalog: &Catalog, globals: &[String], dialect: Option<&Dialect>) -> Vec<Finding> {
    let scene = Scene { facts, catalog, globals, dialect };
    let mut findings = globals::check(&scene);
    tools::check(&scene, &mut findings);
    findings.extend(never_called(facts));
    findings.sort_by_key(|finding| (finding.certainty, finding.position));
    findings
}

/// Names that models give to the function that is the whole program.
const PROGRAMS: [&str; 7] = ["main", "run", "execute", "handler", "script", "program", "task"];

/// Functions that look like the program and are never called. Other functions may be left over and harm nobody.
fn never_called(facts: &Facts) -> impl Iterator<Item = Finding> {
    facts.uncalled.iter().filter(|it| PROGRAMS.contains(&it.name.as_str())).map(|it| Finding {
        certainty: Certainty::Suspected,
        kind: Kind::NeverCalled,
        message: format!("`{0}` is declared and never called; end the script with `return {0}()`", it.name),
        position: it.position,
        tool: None,
    })
}

/// Asks the sandbox which globals it defines. A list kept by hand would sooner or later stop a script that is right.
///
/// # Errors
///
/// [`RuntimeError::Engine`], and [`RuntimeError::Bug`] if the sandbox does not answer.
pub async fn globals_of(engine: &Engine) -> Result<Vec<String>, RuntimeError> {
    const ASK: &str = "(async () => Object.getOwnPropertyNames(globalThis))";
    let start =
        refrain_engine::Start { clock_ms: 0, seed: 0, facts: r#"{"args":{},"tools":{},"store":{}}"#.to_owned() };
    let answer = engine.sandbox(Limits::default())?.start(ASK, &start).await.status;
    let names = match &answer {
        Status::Returned(Some(json)) => serde_json::from_str(json).ok(),
        _ => None,
    };
    names.ok_or_else(|| RuntimeError::Bug { what: format!("the sandbox does not name its globals: {answer:?}") })
}

/// The error of a script that does not start, if a finding is certain. It names all that are.
#[must_use]
pub fn refusal(text: &str, findings: &[Finding]) -> Option<ErrorReport> {
    let mut certain = findings.iter().filter(|finding| finding.certainty == Certainty::Certain);
    let first = certain.next()?;
    let mut message = first.message.clone();
    for finding in certain {
        message.push_str(&format!("\nline {}: {}", finding.position.line, finding.message));
    }
    message.push_str("\nnothing has run; correct the script and send it again");
    Some(ErrorReport {
        kind: ErrorKind::Preflight,
        message,
        line: Some(first.position.line),
        column: Some(first.position.column),
        frame: Some(code_frame(text, first.position)),
        stack: None,
        tool: first.tool.clone(),
        call: None,
        code: None,
        setting: None,
    })
}

impl From<&Finding> for Note {
    fn from(finding: &Finding) -> Self {
        Self {
            kind: finding.kind.as_str().to_owned(),
            message: finding.message.clone(),
            line: Some(finding.position.line),
            tool: finding.tool.clone(),
        }
    }
}
