//! Whether a catalog has every source that a script needs, so that a run need not wait for others that are still connecting.

use refrain_catalog::{Catalog, Dialect, Status};
use refrain_engine::source::{Facts, ToolUse};

use super::tools::prefixed;

/// Returns whether no source that is still connecting matters to the script, as far as that can be seen.
#[must_use]
pub fn is_enough(facts: &Facts, catalog: &Catalog, dialect: Option<&Dialect>) -> bool {
    let is_connecting = |name: &str| {
        let mut named = catalog.sources().iter();
        named.any(|source| {
            source.status == Status::Connecting && (source.name == name || catalog.source_ident(&source.name) == name)
        })
    };
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
        // A flat name: whose it is can be seen once it is there.
        [name] => match prefixed(catalog, name) {
            Some((source, _)) => !is_connecting(source),
            None => catalog.flat(name).is_some(),
        },
        _ => true,
    })
}
