//! `doctor`.

use refrain_runtime::{Diagnosis, Status, date::utc};
use serde_json::{Value, json};

use crate::{
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
    text::{count, visible::on_one_line},
};

/// As many of the last lines of a server are shown.
const MOST_LINES: usize = 10;

/// Check that everything answers: settings, engine, journal and every source
///
/// Ends with 1 when something does not, and says how to mend it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct DoctorArgs {}

/// One thing that was looked at.
struct Check {
    what: String,
    found: Found,
    /// The last lines of whoever is not well.
    log: Vec<String>,
}

/// What was found, as a sentence; with the fix where one is needed.
enum Found {
    Well(String),
    /// It works, and something is wrong all the same.
    Odd(String),
    Down(String),
}

/// Runs `doctor`.
pub(crate) async fn doctor(context: &Context, _: DoctorArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let (engine, journal, sources) = tokio::join!(runtime.check_engine(), runtime.check_journal(), runtime.diagnose());
    let url = runtime.settings().journal_url.clone();
    let told = |found: Result<String, CommandError>| found.map_or_else(|error| Found::Down(error.whole()), Found::Well);
    let mut checks = vec![
        Check::new("engine", told(engine.map(|print| format!("version {print}")).map_err(CommandError::from))),
        Check::new("journal", told(journal.map(|()| url).map_err(CommandError::from))),
    ];
    if runtime.settings().cache.is_none() {
        let found = "no folder for the compiled engine can be made, so every start takes a second longer; set \
                     `XDG_CACHE_HOME` to a folder that can be written";
        checks.push(Check::new("cache", Found::Down(found.to_owned())));
    }
    checks.extend(sources.iter().map(source));
    let is_well = checks.iter().all(|check| !matches!(check.found, Found::Down(_)));
    if context.ui.is_json() {
        let listed: Vec<Value> = checks.iter().map(Check::json).collect();
        context.ui.json(&json!({
            "ok": is_well,
            "checks": listed,
            "sources": sources.iter().map(source_json).collect::<Vec<_>>(),
        }))?;
    } else {
        context.ui.listing(&checks.iter().map(Check::lines).collect::<String>())?;
    }
    runtime.close().await;
    Ok(if is_well { Exit::Completed } else { Exit::Failed })
}

fn source(diagnosis: &Diagnosis) -> Check {
    let status = &diagnosis.status;
    let reason = || status.reason.clone().unwrap_or_else(|| "no reason is known".to_owned());
    let found = match status.status {
        Status::Ready if diagnosis.notes.is_empty() => Found::Well(summary(diagnosis)),
        Status::Ready => Found::Odd(format!("{}; {}", summary(diagnosis), diagnosis.notes.join("; "))),
        Status::Degraded => Found::Odd(format!("{}; {}", summary(diagnosis), reason())),
        Status::Failed => Found::Down(reason()),
        Status::Connecting => {
            let since = utc(status.since_ms);
            Found::Down(format!("it has not answered since {since}; raise `connect_timeout_ms` if it is slow"))
        }
    };
    let mut check = Check::new(&format!("source `{}`", status.name), found);
    if !matches!(check.found, Found::Well(_)) {
        let mut log = diagnosis.log.clone();
        // Those that the reason has are not said twice.
        log.retain(|line| !status.reason.as_ref().is_some_and(|reason| reason.contains(line.as_str())));
        check.log = log.split_off(log.len().saturating_sub(MOST_LINES));
    }
    check
}

/// Returns what a source is: its tools, and who is behind them.
fn summary(diagnosis: &Diagnosis) -> String {
    let mut about = vec![diagnosis.status.r#type.clone()];
    if let Some(server) = &diagnosis.server {
        about.push(format!("{} {}", server.name, server.version).trim().to_owned());
        about.push(format!("protocol {}", server.protocol));
    }
    if let Some(latency) = diagnosis.latency {
        about.push(format!("{} ms", latency.as_millis()));
    }
    about.retain(|part| !part.is_empty());
    format!("{} ({})", count(diagnosis.status.tools as u64, "tool"), about.join(", "))
}

fn source_json(diagnosis: &Diagnosis) -> Value {
    let mut value = super::tools::source_json(&diagnosis.status);
    if let Some(server) = &diagnosis.server {
        value["server"] = json!({ "name": server.name, "version": server.version, "protocol": server.protocol });
    }
    if let Some(latency) = diagnosis.latency {
        value["latency_ms"] = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX).into();
    }
    value["notes"] = json!(diagnosis.notes);
    value["log"] = json!(diagnosis.log);
    value
}

impl Check {
    fn new(what: &str, found: Found) -> Self {
        Self { what: what.to_owned(), found, log: Vec::new() }
    }

    fn lines(&self) -> String {
        let (word, detail) = match &self.found {
            Found::Well(detail) => ("ok  ", detail),
            Found::Odd(detail) => ("odd ", detail),
            Found::Down(detail) => ("FAIL", detail),
        };
        let log: String = self.log.iter().map(|line| format!("      | {line}\n")).collect();
        format!("{word}  {}: {detail}\n{log}", on_one_line(&self.what))
    }

    fn json(&self) -> Value {
        let (is_ok, detail) = match &self.found {
            Found::Well(detail) | Found::Odd(detail) => (true, detail),
            Found::Down(detail) => (false, detail),
        };
        json!({ "check": self.what, "ok": is_ok, "detail": detail })
    }
}
