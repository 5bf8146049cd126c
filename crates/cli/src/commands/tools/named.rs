//! Which sources a path names, so that no other has to be connected.

use refrain_runtime::{Catalog, SourceSettings, SourceStatus, Status};

/// Leaves those of `sources` that `path` names, as a name, an identifier or the beginning of a call, and those that their
/// `reconcile` names. A path that names none may be of any: then all are left.
pub(crate) fn keep(sources: &mut Vec<SourceSettings>, path: &str) {
    let all: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let mut named = named(&all, path);
    if !named.is_empty() {
        let kept = sources.iter().filter(|source| named.contains(&source.name));
        let more: Vec<String> =
            kept.flat_map(SourceSettings::reconcilers).flat_map(|path| self::named(&all, path)).collect();
        named.extend(more);
        sources.retain(|source| named.contains(&source.name));
    }
}

/// Returns the sources that `path` names. There may be several, since names may have dots.
fn named(all: &[&str], path: &str) -> Vec<String> {
    let everyone = of(all);
    let begins = |start: &str| path.strip_prefix(start).is_some_and(|rest| rest.starts_with(['.', '[']));
    let is_named = |name: &str| {
        let ident = everyone.source_ident(name);
        [name, ident, &format!("tools.{name}"), &format!("tools.{ident}"), &everyone.source_call(name)]
            .into_iter()
            .any(begins)
    };
    let named: Vec<&str> = all.iter().copied().filter(|name| is_named(name)).collect();
    // An identifier may be what it is because of another source.
    let alone = of(&named);
    let is_same = named.iter().all(|name| alone.source_ident(name) == everyone.source_ident(name));
    if is_same { named.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// Returns a catalog that knows these sources by name.
fn of(names: &[&str]) -> Catalog {
    let status = |name: &&str| SourceStatus {
        name: (*name).to_owned(),
        r#type: String::new(),
        status: Status::Connecting,
        reason: None,
        since_ms: 0,
        tools: 0,
    };
    Catalog::new(Vec::new(), names.iter().map(status).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_source_in_every_spelling() {
        let all = ["a", "a.b", "my-src", "x-y", "x_y", "then"];
        let check = |path: &str, expect: &[&str]| assert_eq!(named(&all, path), expect, "{path}");
        check("a.t", &["a"]);
        check("a.*", &["a"]);
        check("a.b.t", &["a", "a.b"]);
        check("tools.a[\"t-u\"]", &["a"]);
        check("my-src.t", &["my-src"]);
        check("my_src.t", &["my-src"]);
        check("tools[\"my-src\"].t", &["my-src"]);
        check("then.t", &["then"]);
        // Bare names, patterns over sources, and what nobody is called.
        for path in ["t", "a", "*.t", "a*.t", "ab.t", "tools.t"] {
            check(path, &[]);
        }
        // `x_y_2` is called so because of `x_y`.
        check("x_y_2.t", &[]);
        check("x_y.t", &["x_y"]);
    }
}
