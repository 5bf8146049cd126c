//! Whether a catalog has every source that a script needs, so that a run need not wait for others that are still connecting.

use refrain_catalog::{Catalog, Dialect, Status};
use refrain_engine::source::{Facts, ToolUse};

use super::tools::prefixed;

/// Returns whether no source that is still connecting matters to the script, as far as that can be seen.
#[must_use]
pub fn is_enough(script: &str, facts: &Facts, catalog: &Catalog, dialect: Option<&Dialect>) -> bool {
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
    // Where the tools are reached in a way that cannot be followed, the name of a source has to come from somewhere: most
    // likely it stands in the script. What is put together from parts, or listed, is of the sources that are there.
    let whole = facts.globals.iter().filter(|used| used.name == root).count();
    let is_followed = whole <= facts.tools.iter().filter(|used| used.root == root).count();
    let is_mentioned = |name: &str| script.contains(name) || script.contains(catalog.source_ident(name));
    if !is_followed && catalog.sources().iter().any(|source| is_connecting(&source.name) && is_mentioned(&source.name))
    {
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
