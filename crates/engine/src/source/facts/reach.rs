//! Whether a place in a script is reached whenever the script runs to its end.
//!
//! The answer goes upwards from the place. A way that leads through anything conditional is `Maybe`. A function is reached
//! where it is called by its own name, or on the spot, in a place that is itself reached and that awaits or returns its value;
//! only then does what goes wrong inside end the run.
//!
//! A `throw` before the place does not matter: the run fails then too. A `return` before it does.

use std::collections::HashMap;

use oxc::{
    ast::AstKind,
    semantic::{NodeId, SymbolId},
    span::{GetSpan, Span},
};

use super::{
    Reach,
    tree::{MOST_STEPS, Tree},
};

/// Answers for one script, remembered by function.
pub(super) struct Reaches {
    /// The first `return` of each function, and of the program.
    returns: HashMap<NodeId, Span>,
    /// Whether a function is surely run. None while that is being found out: it calls itself.
    functions: HashMap<NodeId, Option<bool>>,
    nothing_is_sure: bool,
}

impl Reaches {
    pub(super) fn of(tree: &Tree<'_, '_>) -> Self {
        let mut returns: HashMap<NodeId, Span> = HashMap::new();
        for node in tree.nodes.iter() {
            let AstKind::ReturnStatement(statement) = node.kind() else { continue };
            let own = tree.nodes.ancestor_ids(node.id()).take(MOST_STEPS).find(|id| is_frame(tree.kind(*id)));
            // One that lies too deep to be assigned counts for the program, where it can only make things less sure.
            let owner = own.unwrap_or_else(|| tree.nodes.program().node_id.get());
            let first = returns.entry(owner).or_insert(statement.span);
            if statement.span.start < first.start {
                *first = statement.span;
            }
        }
        Self { returns, functions: HashMap::new(), nothing_is_sure: false }
    }

    pub(super) fn nothing_is_sure(&mut self) {
        self.nothing_is_sure = true;
    }

    pub(super) fn of_node(&mut self, tree: &Tree<'_, '_>, node: NodeId) -> Reach {
        if !self.nothing_is_sure && self.is_sure(tree, node, 0) { Reach::Sure } else { Reach::Maybe }
    }

    fn is_sure(&mut self, tree: &Tree<'_, '_>, start: NodeId, depth: usize) -> bool {
        let place = tree.kind(start).span();
        let mut node = start;
        for _ in 0..MOST_STEPS {
            let parent = tree.nodes.parent_id(node);
            let kind = tree.kind(parent);
            let span = tree.kind(node).span();
            let passes = match kind {
                AstKind::Program(_) => return self.before_return(parent, place),
                AstKind::ArrowFunctionExpression(_) | AstKind::Function(_) => {
                    return self.before_return(parent, place) && self.is_run(tree, parent, depth);
                }
                AstKind::IfStatement(it) => it.test.span() == span,
                AstKind::ConditionalExpression(it) => it.test.span() == span,
                AstKind::LogicalExpression(it) => it.left.span() == span,
                AstKind::AssignmentExpression(it) => !it.operator.is_logical() || it.right.span() != span,
                AstKind::ForOfStatement(it) => it.right.span() == span,
                AstKind::ForInStatement(it) => it.right.span() == span,
                AstKind::WhileStatement(it) => it.test.span() == span,
                AstKind::SwitchStatement(it) => it.discriminant.span() == span,
                AstKind::FormalParameters(_) | AstKind::Class(_) => false,
                AstKind::ForStatement(_)
                | AstKind::DoWhileStatement(_)
                | AstKind::TryStatement(_)
                | AstKind::LabeledStatement(_)
                | AstKind::SwitchCase(_)
                | AstKind::ChainExpression(_)
                | AstKind::AssignmentPattern(_)
                | AstKind::AssignmentTargetWithDefault(_)
                | AstKind::CatchClause(_)
                | AstKind::TSNamespaceDeclaration(_)
                | AstKind::TSEnumDeclaration(_) => false,
                _ => true,
            };
            if !passes {
                return false;
            }
            node = parent;
        }
        false
    }

    /// Whether no `return` of `function` may come before `place`. One that contains the place does not.
    fn before_return(&self, function: NodeId, place: Span) -> bool {
        self.returns.get(&function).is_none_or(|first| first.start > place.start || first.end >= place.end)
    }

    /// Whether a function is surely called, and what it throws goes on.
    fn is_run(&mut self, tree: &Tree<'_, '_>, function: NodeId, depth: usize) -> bool {
        if let Some(known) = self.functions.get(&function) {
            return known.unwrap_or(false);
        }
        if depth > 16 {
            return false;
        }
        self.functions.insert(function, None);
        let sure = self.find_call(tree, function, depth);
        self.functions.insert(function, Some(sure));
        sure
    }

    fn find_call(&mut self, tree: &Tree<'_, '_>, function: NodeId, depth: usize) -> bool {
        let symbol: Option<SymbolId> = match tree.kind(function) {
            AstKind::Function(it) if it.generator => return false,
            AstKind::Function(it) if it.is_declaration() => it.id.as_ref().and_then(|id| id.symbol_id.get()),
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) => match tree.user(function) {
                (call, AstKind::CallExpression(it)) if tree.is_callee(it, function) => {
                    return self.is_awaited_call(tree, call, depth);
                }
                (_, AstKind::VariableDeclarator(it)) => {
                    it.id.get_binding_identifier().and_then(|id| id.symbol_id.get())
                }
                _ => None,
            },
            _ => None,
        };
        let Some(symbol) = symbol.filter(|symbol| !tree.scoping.symbol_is_mutated(*symbol)) else { return false };
        let uses: Vec<NodeId> =
            tree.scoping.get_resolved_references(symbol).take(16).map(|reference| reference.node_id()).collect();
        uses.into_iter().any(|node| match tree.user(node) {
            (call, AstKind::CallExpression(it)) if tree.is_callee(it, node) => self.is_awaited_call(tree, call, depth),
            _ => false,
        })
    }

    fn is_awaited_call(&mut self, tree: &Tree<'_, '_>, call: NodeId, depth: usize) -> bool {
        matches!(tree.user(call).1, AstKind::AwaitExpression(_) | AstKind::ReturnStatement(_))
            && self.is_sure(tree, call, depth + 1)
    }
}

fn is_frame(kind: AstKind<'_>) -> bool {
    matches!(kind, AstKind::ArrowFunctionExpression(_) | AstKind::Function(_) | AstKind::Program(_))
}
