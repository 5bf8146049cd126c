//! Whether a catalog has every source that a script needs, so that a run need not wait for others that are still connecting.

use refrain_catalog::{Catalog, Dialect, Status};
use refrain_engine::source::{Facts, ToolUse};

use super::tools::prefixed;

/// Returns whether no source that is still connecting matters to the script, as far as that can be seen.
#[must_use]
pub fn is_enough(facts: &Facts, catalog: &Catalog, dialect: Option<&Dialect>) -> bool {
    let status = |name: &str| {
        let mut sources = catalog.sources().iter();
        let named = sources.find(|source| source.name == name || catalog.source_ident(&source.name) == name);
        named.map(|source| source.status)
    };
    let is_connecting = |name: &str| status(name) == Some(Status::Connecting);
    if catalog.sources().iter().all(|source| source.status != Status::Connecting) {
        return true;
    }
    let root = dialect.map_or("tools", |dialect| dialect.root);
    // Where the tools are reached in a way that cannot be followed, any source may be meant.
    let whole = facts.globals.iter().filter(|used| used.name == root).count();
    if whole > facts.tools.iter().filter(|used| used.root == root).count() {
        return false;
    }
    facts.tools.iter().all(|used: &ToolUse| match &used.names[..] {
        [source, _] => match prefixed(catalog, source) {
            Some((source, _)) => !is_connecting(source),
            None => !is_connecting(source),
        },
        [name] => match (prefixed(catalog, name), status(name)) {
            (Some((source, _)), _) => !is_connecting(source),
            // A source whose tool is named at run time.
            (None, Some(status)) => status != Status::Connecting,
            // A flat name: whose it is can be seen once it is there.
            (None, None) => catalog.flat(name).is_some(),
        },
        _ => true,
    })
}
