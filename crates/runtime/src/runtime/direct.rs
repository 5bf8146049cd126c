//! One call by itself, without a script: a run like any other, so that everything that makes a call of a script durable and judges it
//! is for this one as well.

use refrain_catalog::{Catalog, Tool};
use serde_json::{Map, Value};

use super::{Origin, RunRequest, Runtime, start::OnStart};
use crate::{error::RuntimeError, report::Report};

impl Runtime {
    /// Calls `tool` of `catalog`. `on_start` hears the number of its run.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn call(
        &self,
        catalog: &Catalog,
        tool: &Tool,
        args: Map<String, Value>,
        origin: Origin,
        on_start: OnStart<'_>,
    ) -> Result<Report, RuntimeError> {
        let script = format!("return await {}(args);", catalog.call_in(tool, self.settings.dialect));
        let request = RunRequest { args, ..RunRequest::new(script, Origin { direct: true, ..origin }) };
        let mut report = self.run(request, on_start).await?;
        if let Some(error) = &mut report.error {
            // Places in a script that nobody wrote help nobody.
            (error.line, error.column, error.frame, error.stack) = (None, None, None, None);
        }
        Ok(report)
    }
}
