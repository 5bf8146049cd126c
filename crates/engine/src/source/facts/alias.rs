//! From a root to the tools that are reached through it, also under other names:
//! `const { github } = tools; const list = github.list_issues; await list()`.
//!
//! Only names that are given once are followed. What goes through a parameter, a field or an assignment is lost, and with it
//! every finding about it.

use oxc::{
    ast::{
        AstKind,
        ast::{BindingPattern, Expression, PropertyKey, UnaryOperator},
    },
    semantic::{NodeId, SymbolId},
    span::GetSpan,
};

use super::{Facing, Found, MOST};

/// Collects the uses of tools through `node`, which is a root. A tool is `depth` names away from it.
pub(super) fn follow(facing: &Facing<'_, '_>, root: &str, depth: usize, node: NodeId, found: &mut Vec<Found>) {
    let mut walk = Walk { facing, root, depth, found, open: vec![(node, Vec::new())], seen: Vec::new() };
    while let Some((node, names)) = walk.open.pop() {
        if walk.found.len() >= MOST {
            return;
        }
        walk.step(node, names);
    }
}

struct Walk<'w, 's, 'a> {
    facing: &'w Facing<'s, 'a>,
    root: &'w str,
    depth: usize,
    found: &'w mut Vec<Found>,
    /// Expressions, and the names between the root and them.
    open: Vec<(NodeId, Vec<String>)>,
    seen: Vec<SymbolId>,
}

impl Walk<'_, '_, '_> {
    /// Follows the value of `node` as far as it goes.
    fn step(&mut self, mut node: NodeId, mut names: Vec<String>) {
        let tree = &self.facing.tree;
        while names.len() < self.depth {
            let whole = tree.whole(node);
            let (user, kind) = tree.user(node);
            match kind {
                AstKind::StaticMemberExpression(member) => names.push(member.property.name.to_string()),
                AstKind::ComputedMemberExpression(member) if member.object.span() == tree.kind(whole).span() => {
                    let Some(name) = member.static_property_name() else { return };
                    names.push(name.to_string());
                }
                AstKind::CallExpression(call) if !names.is_empty() && tree.is_callee(call, node) => break,
                // Whether it is there, a script may ask.
                AstKind::IfStatement(_) | AstKind::LogicalExpression(_) if !names.is_empty() => break,
                AstKind::ConditionalExpression(choice)
                    if !names.is_empty() && choice.test.span() == tree.kind(whole).span() =>
                {
                    break;
                }
                AstKind::UnaryExpression(unary) if !names.is_empty() && unary.operator == UnaryOperator::LogicalNot => {
                    break;
                }
                AstKind::VariableDeclarator(declarator) => {
                    self.bind(&declarator.id, names);
                    return;
                }
                _ => return,
            }
            node = user;
        }
        if let (_, AstKind::VariableDeclarator(declarator)) = tree.user(node) {
            self.bind(&declarator.id, names);
            return;
        }
        self.found.push(Found { root: self.root.to_owned(), names, node });
    }

    fn bind(&mut self, pattern: &BindingPattern<'_>, names: Vec<String>) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                let Some(symbol) = id.symbol_id.get() else { return };
                let scoping = self.facing.scoping;
                if self.seen.contains(&symbol) || self.seen.len() >= 64 || scoping.symbol_is_mutated(symbol) {
                    return;
                }
                self.seen.push(symbol);
                let uses = scoping.get_resolved_references(symbol).filter(|reference| reference.is_value());
                self.open.extend(uses.take(MOST).map(|reference| (reference.node_id(), names.clone())));
            }
            BindingPattern::ObjectPattern(object) if names.len() < self.depth => {
                for property in &object.properties {
                    let Some(key) = key_of(&property.key, property.computed) else { continue };
                    let mut names = names.clone();
                    names.push(key);
                    self.bind(&property.value, names);
                }
            }
            // With a default it may be something else.
            BindingPattern::ObjectPattern(_)
            | BindingPattern::ArrayPattern(_)
            | BindingPattern::AssignmentPattern(_) => {}
        }
    }
}

/// A property's name, where the text shows it.
pub(super) fn key_of(key: &PropertyKey<'_>, computed: bool) -> Option<String> {
    match key {
        PropertyKey::StaticIdentifier(name) if !computed => Some(name.name.to_string()),
        PropertyKey::PrivateIdentifier(_) => None,
        key => match key.as_expression()? {
            Expression::StringLiteral(text) if !text.lone_surrogates => Some(text.value.to_string()),
            Expression::TemplateLiteral(text) if text.quasis.iter().all(|quasi| !quasi.lone_surrogates) => {
                text.single_quasi().map(|text| text.to_string())
            }
            Expression::NumericLiteral(_) => key.static_name().map(|name| name.into_owned()),
            _ => None,
        },
    }
}
