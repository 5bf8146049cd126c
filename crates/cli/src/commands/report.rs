//! Prints the report of a run: what `run`, `tools call` and `runs resume` end with.

use refrain_runtime::{ErrorKind, Report, ReportStatus};

use crate::{error::CommandError, exit::Exit, text, ui::Ui};

/// Prints a report and says how the program ends.
///
/// # Errors
///
/// As [`Ui::data`].
pub(crate) fn print(ui: &Ui, report: &Report) -> Result<Exit, CommandError> {
    if ui.is_json() {
        ui.json(report)?;
    } else {
        ui.say(&text::report::logs(report));
        let data = text::report::data(report);
        if !data.is_empty() {
            ui.data(&data)?;
        }
        ui.say(&text::report::talk(report));
    }
    Ok(exit(report))
}

/// How the program ends after a run that ended so.
pub(crate) fn exit(report: &Report) -> Exit {
    match (report.status, &report.error) {
        (ReportStatus::Completed, _) => Exit::Completed,
        (ReportStatus::Parked, _) => Exit::Parked,
        (ReportStatus::Failed, Some(error)) if error.kind == ErrorKind::Internal => Exit::Bug,
        (ReportStatus::Failed | ReportStatus::Cancelled, _) => Exit::Failed,
    }
}
