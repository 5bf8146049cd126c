//! `[[policy.rules]]`: which calls may be made.

use std::collections::BTreeSet;

use refrain_runtime::{Condition, Effect, Glob, Permission, Policy, Rule};

use super::document::Table;

const RULE: &[&str] = &["tools", "effect", "when", "outcome"];
const EFFECTS: &[(&str, Effect)] =
    &[("read", Effect::Read), ("write", Effect::Write), ("destructive", Effect::Destructive)];
const PERMISSIONS: &[(&str, Permission)] = &[
    ("allow", Permission::Allow),
    ("ask", Permission::Ask),
    ("deny", Permission::Deny),
    ("direct", Permission::Direct),
];

/// Reads what may be done with calls of a tool.
pub(crate) fn permission(table: &Table<'_>, key: &str) -> Option<Permission> {
    table.choice(key, PERMISSIONS)
}

/// Reads the rules. What is wrong goes to the faults of the file, also a rule that never decides, and one for tools of a source that
/// is not among `sources`.
pub(crate) fn read_rules(root: &Table<'_>, mut sources: BTreeSet<String>) -> Vec<Rule> {
    let Some(policy) = root.table("policy") else { return Vec::new() };
    // Those that cannot be read have faults of their own.
    sources.extend(root.tables("sources").iter().map(|source| source.name().to_owned()));
    let tables = policy.rows("rules");
    let mut rules = Vec::new();
    let mut whole = Vec::new();
    for table in &tables {
        if let Some(rule) = rule(table) {
            about_nobody(table, &rule.tools, &sources);
            rules.push(rule);
            whole.push(table);
        }
    }
    let read = Policy { rules, ..Policy::default() };
    for (at, by) in read.unreachable() {
        let told = format!(
            "is never reached, since the rule before it for `{}` ({}) decides; put it first, or remove it",
            read.rules[by].tools.as_str(),
            read.rules[by].place
        );
        whole[at].fault("", told);
    }
    read.rules
}

fn rule(table: &Table<'_>) -> Option<Rule> {
    table.known(RULE, &[]);
    let needed = |key: &str, what: &str| {
        if !table.has(key) {
            table.fault("", format!("has no `{key}`; write {what}"));
        }
    };
    needed("tools", "a pattern over paths, such as `github.*`");
    needed("outcome", "one of `allow`, `ask`, `deny`, `direct`");
    let effect = table.choice("effect", EFFECTS);
    let when = table.text("when").map(|text| Condition::new(text).map_err(|why| table.fault("when", why)));
    let (tools, outcome) = (table.text("tools"), permission(table, "outcome"));
    let when = when.transpose().ok()?;
    Some(Rule { tools: Glob::new(tools?), effect, when, outcome: outcome?, place: table.place("tools") })
}

/// Reports a pattern that begins with a source's name and a dot, where there is no such source. Whether a source has such a tool is
/// known when it has listed them.
fn about_nobody(table: &Table<'_>, tools: &Glob, sources: &BTreeSet<String>) {
    let pattern = tools.as_str();
    // Names of sources may have dots, and a pattern may stand for any part of one.
    let fits = |source: &String| {
        let start = format!("{source}.");
        let literal: String = pattern.chars().take_while(|c| !matches!(c, '*' | '?')).collect();
        literal.starts_with(&start) || start.starts_with(&literal)
    };
    if !sources.iter().any(fits) {
        let names: Vec<String> = sources.iter().map(|name| format!("`{name}`")).collect();
        table.fault("tools", format!("is for no source; there are {}", names.join(", ")));
    }
}
