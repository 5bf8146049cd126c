//! What every command is given.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use refrain_runtime::{Catalog, RunId, Runtime, Settings, Status};

use crate::{
    arguments::Places,
    config::{self, Config, Need, Variables},
    error::CommandError,
    observed,
    ui::Ui,
};

/// What every command is given.
#[derive(Debug)]
pub(crate) struct Context {
    /// Where things are printed.
    pub(crate) ui: Ui,
    /// Where settings come from, as the command line says.
    pub(crate) places: Places,
    /// The environment.
    pub(crate) variables: Variables,
    /// The current folder.
    pub(crate) folder: PathBuf,
    /// The run that is under way, for whoever stops us.
    pub(crate) run: OnceLock<RunId>,
}

impl Context {
    /// Reads the settings, and says what should be said beside them.
    ///
    /// # Errors
    ///
    /// [`CommandError::Settings`] with every fault.
    pub(crate) fn config(&self, need: Need) -> Result<Config, CommandError> {
        let config = config::load(&self.places, &self.folder, &self.variables, need).map_err(CommandError::Settings)?;
        for note in &config.notes {
            self.ui.say(&format!("note: {note}"));
        }
        Ok(config)
    }

    /// Returns a runtime over the settings.
    ///
    /// # Errors
    ///
    /// As [`config`](Self::config).
    pub(crate) fn runtime(&self, need: Need) -> Result<Runtime, CommandError> {
        self.runtime_with(need, |_| ())
    }

    /// As [`runtime`](Self::runtime), with something changed in the settings.
    ///
    /// # Errors
    ///
    /// As [`config`](Self::config).
    pub(crate) fn runtime_with(&self, need: Need, change: impl FnOnce(&mut Settings)) -> Result<Runtime, CommandError> {
        let mut settings = self.config(need)?.settings;
        if settings.learn_types
            && let Some(path) = observed::path(&settings.journal_url)
        {
            settings.environment.observed = Arc::new(observed::load(&path));
        }
        change(&mut settings);
        Ok(Runtime::new(settings))
    }

    /// Returns what all sources offer. Each is waited for as long as its settings say; which ones is said after a moment.
    pub(crate) async fn catalog(&self, runtime: &Runtime) -> Arc<Catalog> {
        const MOMENT: Duration = Duration::from_secs(1);
        let catalog = runtime.catalog_within(MOMENT).await;
        let late = catalog.sources().iter().filter(|source| source.status == Status::Connecting);
        let limits = &runtime.settings().sources;
        let late: Vec<(&str, Duration)> = late
            .filter_map(|source| limits.iter().find(|limit| limit.name == source.name))
            .map(|limit| (limit.name.as_str(), limit.connect_timeout))
            .collect();
        let Some(longest) = late.iter().map(|(_, limit)| *limit).max() else { return catalog };
        let each = late.iter().map(|(name, limit)| format!("`{name}` (`connect_timeout_ms` {})", limit.as_millis()));
        self.ui.say(&format!("waiting for {}", each.collect::<Vec<_>>().join(", ")));
        // A listing ends by itself, a little after its limit where it failed.
        runtime.catalog_within(longest + MOMENT).await
    }

    /// Keeps what a runtime has seen of results, for the next start.
    pub(crate) fn keep_observed(&self, runtime: &Runtime) {
        let seen = runtime.observed();
        if seen.is_empty() {
            return;
        }
        if let Some(path) = observed::path(&runtime.settings().journal_url)
            && let Err(error) = observed::add(&path, seen)
        {
            self.ui.say(&format!("note: what results looked like cannot be kept in `{}`: {error}", path.display()));
        }
    }

    /// Remembers a run and says its id, as soon as it exists.
    pub(crate) fn started(&self, run: RunId) {
        // A command drives one run.
        let _ = self.run.set(run);
        self.ui.say(&format!("run {run}"));
    }
}
