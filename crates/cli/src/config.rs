//! Settings: found, read, layered and checked, each value with its origin.
//!
//! Defaults, then the file, then the environment, then flags; the later wins. A file is checked whole, and every fault is
//! told with its line. What comes out is `refrain_runtime::Settings`, which nobody below checks again.
//!
//! # Which sources there are
//!
//! Those of `refrain.toml` and of every `--mcp-config` file. Where a name is in more than one, the last named file has it,
//! and a note says so. With no source at all there is the built-in `demo`; beside others it is there when a section with
//! `type = "demo"` asks for it.
//!
//! # Which paths are relative to what
//!
//! A path in a file is relative to the folder of that file, and so are the programs of its sources: a source does the same
//! from wherever `refrain` is called, also when a run is resumed elsewhere. A path on the command line or in the environment is
//! relative to the current folder.
//!
//! # Deliberately not here
//!
//! Secrets are read only for commands that use sources, and are never printed.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use refrain_runtime::{Clock as _, Environment, Settings, SystemClock, demo};
use refrain_server::HttpSettings;

use crate::arguments::Places;

mod address;
mod document;
mod edit;
mod fault;
mod mcp_servers;
mod policy;
mod row;
mod scalar;
mod secret;
mod serve;
mod source;
mod tool;
mod variables;

use document::Document;
pub(crate) use edit::{NewSource, SettingsFile};
pub(crate) use fault::Fault;
use fault::Faults;
pub(crate) use row::Row;
use secret::Secrets;
pub(crate) use variables::Variables;

/// The word with which the program is called to be the guard of its children.
pub(crate) const GUARD: &str = "__guard";

const FILE: &str = "refrain.toml";
/// Larger files are not settings.
const MOST_BYTES: u64 = 4 << 20;
/// A year. Longer times overflow clocks somewhere.
const MOST_MS: u64 = 366 * 24 * 60 * 60 * 1000;

/// What a command needs of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Sources, with their secrets.
    Sources,
    /// As `Sources`, and the tokens of clients that come by HTTP.
    Http,
    /// Everything else. Sources are checked, and no secret is read.
    NoSources,
}

/// Settings that were checked.
#[derive(Debug)]
pub(crate) struct Config {
    /// What the runtime is told.
    pub(crate) settings: Settings,
    /// Who may come in by HTTP.
    pub(crate) http: HttpSettings,
    /// Each value with its origin.
    pub(crate) rows: Vec<Row>,
    /// What should be said beside them.
    pub(crate) notes: Vec<String>,
}

/// Reads all layers.
///
/// # Errors
///
/// Every fault, those of one file in the order of its lines.
pub(crate) fn load(places: &Places, folder: &Path, variables: &Variables, need: Need) -> Result<Config, Vec<Fault>> {
    let faults = Faults::new(folder);
    let path = places.config.as_ref().map(|path| folder.join(path)).or_else(|| find(folder));
    let name = path.as_ref().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string());
    let document = path.and_then(|path| Document::open(&path, &faults));
    let base = document.as_ref().map_or(folder, |document| document.folder());

    let mut settings = Settings::new(environment(variables, need, &faults));
    settings.cache = cache(variables);
    if let Some(url) = scalar::sqlite_in(base, Path::new(".refrain/journal.db"), &faults) {
        settings.journal_url = url;
    }
    let mut scalars = scalar::Scalars::defaults();
    let mut notes = Vec::new();
    let mut rows = Vec::new();
    let mut secrets = Secrets::new(variables, need);
    let mut http = HttpSettings::default();
    if let Some(document) = &document {
        settings.config = name;
        let root = document.root(&faults);
        root.known(scalar::SECTIONS, scalar::LATER_SECTIONS);
        scalars.read(&root, &mut settings);
        for source in source::read_all(&root, folder, &mut secrets) {
            settings.sources.push(source);
        }
        http = serve::read(&root, &secrets);
        row::sources(document, &mut rows);
        row::rules(document, &mut rows);
    }
    scalars.environment(variables, folder, &mut settings, &faults);
    if let Some(url) = &places.journal {
        scalars.journal_flag(url, folder, &mut settings, &faults);
    }
    for path in &places.mcp_config {
        let servers = mcp_servers::read(&folder.join(path), variables, need, &faults);
        for (source, more) in servers {
            let same = settings.sources.iter().position(|other| other.name == source.name);
            if let Some(same) = same {
                notes.push(format!(
                    "source `{}` is taken from `{}`, which replaces the one before",
                    source.name,
                    path.display()
                ));
                settings.sources.remove(same);
                row::forget(&mut rows, &source.name);
            }
            settings.sources.push(source);
            rows.extend(more);
        }
    }
    if settings.sources.is_empty() {
        settings.sources.push(demo::source(folder.to_path_buf()));
        rows.push(Row::new(&["sources", demo::NAME, "type"], "demo".into(), "default"));
    }
    if let Some(document) = &document {
        let names = settings.sources.iter().map(|source| source.name.clone());
        Arc::make_mut(&mut settings.policy).rules = policy::read_rules(&document.root(&faults), names.collect());
    }
    let faults = faults.into_sorted();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut all = scalars.rows(&settings);
    all.extend(rows);
    Ok(Config { settings, http, rows: all, notes })
}

/// Returns the settings file of this folder or the nearest above.
fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file())
}

/// How many of us have started one another, up to this one.
const DEPTH: &str = "REFRAIN_DEPTH";
/// One behind another is useful; more is a file that names us as one of our own sources, which would go on without end.
const MOST_DEPTH: u32 = 3;

fn environment(variables: &Variables, need: Need, faults: &Faults) -> Environment {
    let clock = SystemClock;
    let depth: u32 = variables.text(DEPTH).ok().flatten().and_then(|text| text.parse().ok()).unwrap_or(0);
    if depth >= MOST_DEPTH && need != Need::NoSources {
        let message = format!(
            "is {depth}: Refrain was started by Refrain so often that the settings must lead back to themselves; take \
             `refrain` out of the sources that it is given"
        );
        faults.push(format!("environment variable `{DEPTH}`"), None, message);
    }
    let mut environment = Environment::new(|name| variables.get(name).map(ToOwned::to_owned), move || clock.now_ms());
    // Without a path to ourselves there is no guard: children are then ended at an orderly close only.
    environment.variables.push((DEPTH.into(), (depth + 1).to_string().into()));
    environment.guard = std::env::current_exe().ok().map(|program| vec![program.into(), GUARD.into()]);
    environment
}

/// The folder of the compiled engine. Where it cannot be made the engine is compiled at each start.
fn cache(variables: &Variables) -> Option<PathBuf> {
    let path = |name| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The specification of base folders says that a relative one is to be ignored.
    let base = path("XDG_CACHE_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| path("HOME").map(|home| home.join(".cache")))?;
    let folder = base.join("refrain");
    std::fs::create_dir_all(&folder).ok().map(|()| folder)
}

#[cfg(test)]
mod tests;
