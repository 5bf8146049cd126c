//! Ways up the syntax tree. Every climb is bounded: a hostile text nests deep and has many leaves.

use oxc::{
    ast::{
        AstKind,
        ast::{CallExpression, UnaryOperator},
    },
    semantic::{AstNodes, NodeId, Scoping},
    span::GetSpan,
};

/// The longest climb.
pub(super) const MOST_STEPS: usize = 256;

/// A syntax tree with the names in it.
pub(super) struct Tree<'s, 'a> {
    pub(super) nodes: &'s AstNodes<'a>,
    pub(super) scoping: &'s Scoping,
}

impl<'a> Tree<'_, 'a> {
    pub(super) fn kind(&self, node: NodeId) -> AstKind<'a> {
        self.nodes.kind(node)
    }

    /// The outermost expression that has the same value: parentheses, types and the edge of an optional chain add nothing.
    pub(super) fn whole(&self, mut node: NodeId) -> NodeId {
        for _ in 0..MOST_STEPS {
            let parent = self.nodes.parent_id(node);
            match self.kind(parent) {
                AstKind::ParenthesizedExpression(_)
                | AstKind::TSAsExpression(_)
                | AstKind::TSSatisfiesExpression(_)
                | AstKind::TSNonNullExpression(_)
                | AstKind::TSTypeAssertion(_)
                | AstKind::TSInstantiationExpression(_)
                | AstKind::ChainExpression(_) => node = parent,
                _ => break,
            }
        }
        node
    }

    /// What uses the value of `node`.
    pub(super) fn user(&self, node: NodeId) -> (NodeId, AstKind<'a>) {
        let parent = self.nodes.parent_id(self.whole(node));
        (parent, self.kind(parent))
    }

    /// Whether `node` is what `call` calls, and not one of its arguments.
    pub(super) fn is_callee(&self, call: &CallExpression<'a>, node: NodeId) -> bool {
        call.callee.span() == self.kind(self.whole(node)).span()
    }

    pub(super) fn is_under_typeof(&self, node: NodeId) -> bool {
        matches!(self.user(node).1, AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof)
    }

    /// Whether a `this` is that of the script itself.
    pub(super) fn is_own_this(&self, node: NodeId) -> bool {
        for kind in self.nodes.ancestor_kinds(node).take(MOST_STEPS) {
            match kind {
                AstKind::Function(_) | AstKind::Class(_) => return false,
                AstKind::Program(_) => return true,
                _ => {}
            }
        }
        true
    }
}
