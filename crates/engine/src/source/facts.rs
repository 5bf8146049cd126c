//! What is known of a script before it runs, as plain data: the names it needs and the tool calls it makes.
//!
//! # Invariants
//!
//! * [`Reach::Sure`] is claimed only of what runs whenever the script runs to its end. Whatever lies in a branch, a loop, a
//!   `try`, a function that is not surely called and awaited, or behind a `return`, is [`Reach::Maybe`].
//! * What cannot be known is [`Literal::Unknown`], [`Fate::Kept`] or absent. Nothing is guessed.
//! * The amount is bounded: [`MOST`] uses of names, as many uses of tools, literals [`literal::MOST_DEPTH`] deep.
//!
//! # Deliberately not here
//!
//! Which tools and globals exist, and whether a fact is a fault.

use std::borrow::Cow;

use oxc::{
    ast::{AstKind, ast::Expression},
    semantic::{AstNodes, ReferenceId, Scoping, SymbolFlags, SymbolId},
    span::GetSpan,
};

mod alias;
mod fate;
mod literal;
mod reach;
mod tree;

pub use literal::{Field, Literal};

use super::position::{Lines, Position};
use reach::Reaches;
use tree::Tree;

/// As many uses of names and of tools are collected. A script that a model wrote has a few dozen.
const MOST: usize = 1000;

/// The globals through which tools are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Called as `root.<source>.<tool>(args)`.
    pub nested: Cow<'static, [Cow<'static, str>]>,
    /// Called as `root.<tool>(args)`.
    pub flat: Cow<'static, [Cow<'static, str>]>,
}

impl Default for Roots {
    fn default() -> Self {
        Self { nested: Cow::Borrowed(&[Cow::Borrowed("tools")]), flat: Cow::Borrowed(&[]) }
    }
}

impl Roots {
    /// How many names follow the root.
    fn depth(&self, name: &str) -> Option<usize> {
        if self.nested.iter().any(|root| root == name) {
            Some(2)
        } else {
            self.flat.iter().any(|root| root == name).then_some(1)
        }
    }
}

/// What is known of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Uses of names that the script does not declare, by position. Without those under `typeof`.
    pub globals: Vec<GlobalUse>,
    /// Uses of tools, by position.
    pub tools: Vec<ToolUse>,
    /// Names that the script does declare, sorted: what a misspelt one may have meant. Empty where every name is known.
    pub declared: Vec<String>,
    /// Functions of the script's own scope that are never named again, by position.
    pub uncalled: Vec<Uncalled>,
    /// Whether the script may make globals that cannot be seen: it uses `globalThis`, `Function`, `eval` or its own `this`.
    pub makes_globals: bool,
}

/// A function that is never named again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncalled {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub position: Position,
}

/// A use of a name that the script does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalUse {
    /// The name.
    pub name: String,
    /// Where.
    pub position: Position,
    /// Whether the use is sure to happen.
    pub reach: Reach,
    /// Whether it is assigned here.
    pub assigned: bool,
    /// Whether the script looks at `typeof` this name, or assigns it, anywhere.
    pub guarded: bool,
}

/// Whether something happens whenever the script runs to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Yes, and an error there is not caught.
    Sure,
    /// It may not happen, or an error may be caught.
    Maybe,
}

/// A use of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The global through which it is reached.
    pub root: String,
    /// The names after it: source and tool, or one name alone where no second follows.
    pub names: Vec<String>,
    /// Where its name stands.
    pub position: Position,
    /// Whether it is sure to happen.
    pub reach: Reach,
    /// The call, where it is called on the spot.
    pub call: Option<ToolCall>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// What it is given.
    pub argument: Argument,
    /// What becomes of its promise.
    pub fate: Fate,
}

/// What a call is given. A tool takes one argument; the others are ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Where the first argument begins, or the call.
    pub position: Position,
    /// As far as it is known. [`Literal::Undefined`] where there is none.
    pub value: Literal,
    /// How many more there are.
    pub ignored: usize,
}

/// What becomes of a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Awaited or returned on the spot, so that a rejection goes on.
    Awaited,
    /// Kept, passed on or chained: somebody may wait for it.
    Kept,
    /// Nobody can wait for it: it is a statement, or goes to a variable that is not used again.
    Dropped,
    /// It lies in a callback of `forEach`, which waits for nothing.
    InForEach,
    /// It is used as if it were the value that it promises, and nothing waits for it.
    Misused {
        /// What is done to it, like "`.length` is read from it".
        how: String,
        /// Where.
        position: Position,
    },
}

/// Everything that a collector looks at.
struct Facing<'s, 'a> {
    tree: Tree<'s, 'a>,
    scoping: &'s Scoping,
    lines: Lines<'s>,
}

/// A use of a tool that was found and not yet looked at.
struct Found {
    root: String,
    names: Vec<String>,
    /// The member expression or identifier that is the tool.
    node: oxc::semantic::NodeId,
}

pub(super) fn collect(text: &str, scoping: &Scoping, nodes: &AstNodes<'_>, roots: &Roots) -> Facts {
    let facing = Facing { tree: Tree { nodes, scoping }, scoping, lines: Lines::of(text) };
    let mut reaches = Reaches::of(&facing.tree);
    let mut facts = Facts { makes_globals: makes_globals(&facing), uncalled: uncalled(&facing), ..Facts::default() };
    let mut found: Vec<Found> = Vec::new();
    // Names, and whether the script looks at them before it uses them.
    let mut unresolved: Vec<(&str, &[ReferenceId])> =
        scoping.root_unresolved_references().iter().map(|(name, ids)| (name.as_str(), &ids[..])).collect();
    // `declare const x` makes a symbol and no variable.
    unresolved.extend(
        scoping
            .symbol_ids()
            .filter(|id| is_ambient(scoping, *id))
            .map(|id| (scoping.symbol_name(id), scoping.get_resolved_reference_ids(id))),
    );
    unresolved.sort_unstable_by_key(|(name, _)| *name);
    for (name, references) in unresolved {
        if name == "arguments" {
            continue;
        }
        let references: Vec<&oxc::semantic::Reference> = references
            .iter()
            .map(|id| scoping.get_reference(*id))
            .filter(|reference| reference.is_value() && !reference.flags().is_value_as_type())
            .collect();
        if let Some(depth) = roots.depth(name) {
            for reference in references.iter().take(MOST) {
                alias::follow(&facing, name, depth, reference.node_id(), &mut found);
            }
        }
        let is_typeof = |reference: &&&oxc::semantic::Reference| facing.tree.is_under_typeof(reference.node_id());
        let guarded = references.iter().any(|reference| reference.is_write() || is_typeof(&reference));
        for reference in references.iter().filter(|reference| !is_typeof(reference)) {
            if facts.globals.len() == MOST {
                break;
            }
            facts.globals.push(GlobalUse {
                name: name.to_owned(),
                position: facing.lines.position(nodes.kind(reference.node_id()).span().start),
                reach: reaches.of_node(&facing.tree, reference.node_id()),
                assigned: reference.is_write(),
                guarded,
            });
        }
    }
    facts.globals.sort_by_key(|used| used.position);
    // A script that calls `exit` somewhere may be over before anything that follows.
    if facts.globals.iter().any(|used| used.name == "exit") || facts.makes_globals {
        facts.globals.iter_mut().for_each(|used| used.reach = Reach::Maybe);
        reaches.nothing_is_sure();
    }
    for found in found {
        facts.tools.push(tool_use(&facing, &mut reaches, found));
    }
    facts.tools.sort_by_key(|used| used.position);
    if !facts.globals.is_empty() {
        facts.declared = scoping.symbol_names().take(MOST).map(str::to_owned).collect();
        facts.declared.sort_unstable();
        facts.declared.dedup();
    }
    facts
}

fn tool_use(facing: &Facing<'_, '_>, reaches: &mut Reaches, found: Found) -> ToolUse {
    let Found { root, names, node } = found;
    let name_at = match facing.tree.kind(node) {
        AstKind::StaticMemberExpression(member) => member.property.span.start,
        AstKind::ComputedMemberExpression(member) => member.expression.span().start,
        other => other.span().start,
    };
    let call = match facing.tree.user(node) {
        (id, AstKind::CallExpression(call)) if facing.tree.is_callee(call, node) => {
            let first = call.arguments.first();
            let value =
                first.map_or(Literal::Undefined, |argument| literal::of(&facing.lines, argument.as_expression()));
            let at = first.map_or(name_at, |argument| argument.span().start);
            let argument = Argument {
                position: facing.lines.position(at),
                value,
                ignored: call.arguments.len().saturating_sub(1),
            };
            Some(ToolCall { argument, fate: fate::of(facing, id) })
        }
        _ => None,
    };
    ToolUse { root, names, position: facing.lines.position(name_at), reach: reaches.of_node(&facing.tree, node), call }
}

fn is_ambient(scoping: &Scoping, id: SymbolId) -> bool {
    let flags = scoping.symbol_flags(id);
    flags.contains(SymbolFlags::Ambient) && !flags.intersects(SymbolFlags::Interface | SymbolFlags::TypeAlias)
}

/// Functions of the script's own scope that nothing refers to.
fn uncalled(facing: &Facing<'_, '_>) -> Vec<Uncalled> {
    let scoping = facing.scoping;
    let is_function = |id: SymbolId| match facing.tree.kind(scoping.symbol_declaration(id)) {
        AstKind::Function(function) => function.body.is_some(),
        AstKind::VariableDeclarator(declarator) => declarator.init.as_ref().is_some_and(|init| {
            matches!(
                init.get_inner_expression(),
                Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
            )
        }),
        _ => false,
    };
    let own = scoping.symbol_ids().filter(|id| scoping.symbol_scope_id(*id) == scoping.root_scope_id());
    own.filter(|id| scoping.get_resolved_reference_ids(*id).is_empty() && is_function(*id))
        .take(MOST)
        .map(|id| Uncalled {
            name: scoping.symbol_name(id).to_owned(),
            position: facing.lines.position(scoping.symbol_span(id).start),
        })
        .collect()
}

/// Whether names may come into being that no declaration shows.
fn makes_globals(facing: &Facing<'_, '_>) -> bool {
    let unresolved = facing.scoping.root_unresolved_references();
    let named = |name: &str| unresolved.iter().any(|(unresolved, _)| unresolved.as_str() == name);
    if ["globalThis", "Function", "eval"].into_iter().any(named) {
        return true;
    }
    let mut own = facing.tree.nodes.iter().filter(|node| matches!(node.kind(), AstKind::ThisExpression(_)));
    own.by_ref().take(100).any(|node| facing.tree.is_own_this(node.id())) || own.next().is_some()
}
