//! Checked settings. The command line reads them from files; a program that embeds the runtime builds them.

use std::{path::PathBuf, sync::Arc, time::Duration};

use refrain_catalog::{Dialect, Environment, SourceSettings};
use serde::{Deserialize, Serialize};

use crate::policy::Policy;

/// Everything a runtime is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where tools come from.
    pub sources: Vec<SourceSettings>,
    /// Which calls may be made.
    pub policy: Arc<Policy>,
    /// What child processes get, and who ends them.
    pub environment: Environment,
    /// The journal's address, `sqlite:PATH` or `memory:`.
    pub journal_url: String,
    /// What these settings are called, to know their runs again: the path of their file.
    pub config: Option<String>,
    /// What survives what.
    pub durability: Durability,
    /// Bounds of a run.
    pub limits: LimitSettings,
    /// The names under which scripts see the tools; none for our own.
    pub dialect: Option<&'static Dialect>,
    /// Whether the shapes of results are kept, for tools that declare none. A source may say no for itself.
    pub learn_types: bool,
    /// A folder for the compiled engine. Without one every start compiles it anew, which takes about a second.
    pub cache: Option<PathBuf>,
    /// How long calls that are not `safe` may go on after the script's end.
    pub drain: Duration,
    /// How long a run that is being cancelled may clean up.
    pub cleanup: Duration,
    /// What happens with a call that is not safe to repeat and was out when its process ended.
    pub on_interrupted: OnInterrupted,
    /// What happens with a run that does not do what its journal says.
    pub on_divergence: OnDivergence,
    /// How many processes may die of a run, one after the other and without any progress, before it parks.
    pub max_restarts: u32,
    /// The shortest sleep that a run does not stay in memory for.
    pub park_after: Duration,
    /// After how many results a run's memory is written beside the journal. Zero for never; at a park it always is.
    pub snapshot_every: u32,
    /// How long a run may compute before others get a turn.
    pub slice: Duration,
    /// What the description of `run_code` may take, in tokens of four bytes.
    pub prompt_tokens: usize,
    /// What becomes of a run whose client takes its request back.
    pub on_client_cancel: OnClientCancel,
}

impl Settings {
    /// All defaults, with no sources and a journal that keeps nothing.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            sources: Vec::new(),
            policy: Arc::default(),
            environment,
            journal_url: "memory:".into(),
            config: None,
            durability: Durability::default(),
            limits: LimitSettings::default(),
            dialect: None,
            learn_types: true,
            cache: None,
            drain: Duration::from_secs(5),
            cleanup: Duration::from_secs(5),
            on_interrupted: OnInterrupted::default(),
            on_divergence: OnDivergence::default(),
            max_restarts: 3,
            park_after: Duration::from_secs(30),
            snapshot_every: 500,
            slice: Duration::from_millis(10),
            prompt_tokens: 3_000,
            on_client_cancel: OnClientCancel::default(),
        }
    }
}

/// What becomes of a run whose client takes its request back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnClientCancel {
    /// It goes on, and its report is there afterwards.
    #[default]
    Detach,
    /// It is cancelled, with its clean-up.
    Cancel,
}

/// What happens with a call that is not safe to repeat and was out when its process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInterrupted {
    /// It rejects with the code `interrupted`, and the script goes on.
    #[default]
    Error,
    /// The run parks for a person who knows what happened.
    Ask,
}

/// What happens with a run that does not do what its journal says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDivergence {
    /// It parks, and a person decides.
    #[default]
    Park,
    /// It fails.
    Fail,
}

/// What survives what. A crash of the process loses nothing under any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// What could make something happen twice reaches the disk; a power cut can only make safe calls run again.
    #[default]
    Effects,
    /// Every batch reaches the disk.
    Power,
    /// Nothing is flushed. A power cut may lose the last moments, and a call that is not safe may run twice.
    Process,
}

/// Bounds of a run. Kept in the start record, so that a resumed run has the bounds it began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Active time over all attempts, in milliseconds.
    pub timeout_ms: u64,
    /// Time from the start to the end, in milliseconds, however much of it the run was active. None without an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// Computing, in units of fuel.
    pub cpu_fuel: u64,
    /// Memory of the sandbox, in MiB.
    pub memory_mb: u64,
    /// Calls of a run.
    pub calls: u32,
    /// Arguments of one call, in KiB.
    pub argument_kb: u64,
    /// The value of one result, in KiB.
    pub result_kb: u64,
    /// Logs and texts of a run together, in KiB.
    pub log_kb: u64,
    /// Images of a run together, in KiB.
    pub image_kb: u64,
    /// The value that the script returns, in KiB.
    pub return_kb: u64,
    /// One value of the session's store, in KiB. All together may have four times as much.
    pub store_kb: u64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            timeout_ms: 60_000,
            deadline_ms: None,
            cpu_fuel: 250_000_000_000,
            memory_mb: 128,
            calls: 1_000,
            argument_kb: 4_096,
            result_kb: 16_384,
            log_kb: 1_024,
            image_kb: 32_768,
            return_kb: 32_768,
            store_kb: 256,
        }
    }
}

impl LimitSettings {
    pub(crate) fn engine(&self) -> refrain_engine::Limits {
        let bytes = |units: u64, unit: u64| usize::try_from(units.saturating_mul(unit)).unwrap_or(usize::MAX);
        refrain_engine::Limits {
            memory_bytes: bytes(self.memory_mb, 1 << 20),
            fuel: self.cpu_fuel,
            calls: self.calls,
            argument_bytes: bytes(self.argument_kb, 1 << 10),
            output_bytes: bytes(self.log_kb, 1 << 10),
            image_bytes: bytes(self.image_kb, 1 << 10),
            result_bytes: bytes(self.return_kb, 1 << 10),
        }
    }

    /// The setting behind a limit of the engine, with its value as the operator wrote it.
    pub(crate) fn setting_of(&self, engine_field: &str) -> (&'static str, u64) {
        match engine_field {
            "calls" => ("calls", self.calls.into()),
            "argument_bytes" => ("argument_kb", self.argument_kb),
            "output_bytes" => ("log_kb", self.log_kb),
            "result_bytes" => ("return_kb", self.return_kb),
            _ => ("cpu_fuel", self.cpu_fuel),
        }
    }
}
