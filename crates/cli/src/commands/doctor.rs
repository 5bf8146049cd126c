//! `doctor`.

use refrain_runtime::{SourceStatus, Status};
use serde_json::{Value, json};

use crate::{config::Need, context::Context, error::CommandError, exit::Exit, text::count, text::date::utc};

/// Check that everything answers: settings, engine, journal and every source
///
/// Ends with 1 when something does not, and says how to mend it.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct DoctorArgs {}

/// One thing that was looked at.
struct Check {
    what: String,
    /// What is well, or what is wrong and how to mend it.
    found: Result<String, String>,
}

/// Runs `doctor`.
pub(crate) async fn doctor(context: &Context, _: DoctorArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::Sources)?;
    let (engine, journal, catalog) = tokio::join!(runtime.check_engine(), runtime.check_journal(), runtime.catalog());
    let url = &runtime.settings().journal_url;
    let mut checks = vec![
        Check {
            what: "engine".into(),
            found: engine.map(|print| format!("version {print}")).map_err(|error| CommandError::from(error).whole()),
        },
        Check {
            what: "journal".into(),
            found: journal.map(|()| url.clone()).map_err(|error| CommandError::from(error).whole()),
        },
    ];
    if runtime.settings().cache.is_none() {
        let found = Err("no folder for the compiled engine can be made, so every start takes a second longer; set \
                         `XDG_CACHE_HOME` to a folder that can be written"
            .to_owned());
        checks.push(Check { what: "cache".into(), found });
    }
    checks.extend(catalog.sources().iter().map(source));
    let is_well = checks.iter().all(|check| check.found.is_ok());
    if context.ui.is_json() {
        let listed: Vec<Value> = checks.iter().map(Check::json).collect();
        context.ui.json(&json!({
            "ok": is_well,
            "checks": listed,
            "sources": catalog.sources().iter().map(super::tools::source_json).collect::<Vec<_>>(),
        }))?;
    } else {
        context.ui.data(&checks.iter().map(Check::line).collect::<String>())?;
    }
    runtime.close().await;
    Ok(if is_well { Exit::Completed } else { Exit::Failed })
}

fn source(status: &SourceStatus) -> Check {
    let reason = || status.reason.clone().unwrap_or_else(|| "no reason is known".to_owned());
    let found = match status.status {
        Status::Ready => Ok(format!("{} ({})", count(status.tools as u64, "tool"), status.r#type)),
        Status::Degraded | Status::Failed => Err(reason()),
        Status::Connecting => {
            Err(format!("it has not answered since {}; raise `connect_timeout_ms` if it is slow", utc(status.since_ms)))
        }
    };
    Check { what: format!("source `{}`", status.name), found }
}

impl Check {
    fn line(&self) -> String {
        match &self.found {
            Ok(detail) => format!("ok    {}: {detail}\n", self.what),
            Err(trouble) => format!("FAIL  {}: {trouble}\n", self.what),
        }
    }

    fn json(&self) -> Value {
        let (is_ok, detail) = match &self.found {
            Ok(detail) => (true, detail),
            Err(trouble) => (false, trouble),
        };
        json!({ "check": self.what, "ok": is_ok, "detail": detail })
    }
}
