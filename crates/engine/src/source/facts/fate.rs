//! What becomes of the promise that a call gives.

use oxc::{
    ast::{
        AstKind,
        ast::{BindingPattern, LogicalOperator, UnaryOperator},
    },
    semantic::{NodeId, SymbolId},
    span::GetSpan,
};

use super::{Facing, Fate, tree::MOST_STEPS};

/// Functions that look into a value and would see only a promise.
const LOOK_INSIDE: [(&str, &str); 6] = [
    ("JSON", "stringify"),
    ("Object", "keys"),
    ("Object", "values"),
    ("Object", "entries"),
    ("Array", "isArray"),
    ("console", "log"),
];

/// What becomes of the promise that `call` gives.
pub(super) fn of(facing: &Facing<'_, '_>, call: NodeId) -> Fate {
    match use_of(facing, call) {
        Use::Fate(fate) => fate,
        Use::Variable(symbol) => of_variable(facing, symbol),
    }
}

/// What a value is used for.
enum Use {
    Fate(Fate),
    /// It goes to a variable.
    Variable(SymbolId),
}

fn use_of(facing: &Facing<'_, '_>, start: NodeId) -> Use {
    let tree = &facing.tree;
    let mut node = start;
    let misused = |how: String, at: NodeId| {
        Use::Fate(Fate::Misused { how, position: facing.lines.position(tree.kind(at).span().start) })
    };
    let kept = Use::Fate(Fate::Kept);
    // Whether it has become part of an object or array.
    let mut inside = false;
    for _ in 0..MOST_STEPS {
        let whole = tree.whole(node);
        let span = tree.kind(whole).span();
        let (user, kind) = tree.user(node);
        match kind {
            AstKind::ObjectProperty(property) if property.value.span() == span => {
                inside = true;
                node = tree.nodes.parent_id(user);
            }
            AstKind::ArrayExpression(_) => {
                inside = true;
                node = user;
            }
            AstKind::ReturnStatement(_) if inside && gives_the_result(facing, user) => {
                return misused("it is returned inside an object or array".into(), user);
            }
            _ if inside => return kept,
            AstKind::AwaitExpression(_) => {
                // Awaited, but by a function that nobody waits for.
                let callback = tree.nodes.ancestor_ids(user).take(MOST_STEPS).find(|id| is_function(tree.kind(*id)));
                let in_for_each = callback.is_some_and(|function| is_for_each(facing, function));
                return Use::Fate(if in_for_each { Fate::InForEach } else { Fate::Awaited });
            }
            AstKind::ReturnStatement(_) => return Use::Fate(Fate::Awaited),
            AstKind::ArrowFunctionExpression(_) => {
                return Use::Fate(if is_for_each(facing, user) { Fate::InForEach } else { Fate::Kept });
            }
            AstKind::ExpressionStatement(_) => return Use::Fate(Fate::Dropped),
            AstKind::UnaryExpression(unary) => {
                return match unary.operator {
                    UnaryOperator::Void => Use::Fate(Fate::Dropped),
                    UnaryOperator::Typeof | UnaryOperator::Delete => kept,
                    _ => misused(format!("`{}` is applied to it", unary.operator.as_str()), user),
                };
            }
            AstKind::SequenceExpression(sequence) => {
                if sequence.expressions.last().is_none_or(|last| last.span() != span) {
                    return Use::Fate(Fate::Dropped);
                }
                node = user;
            }
            AstKind::LogicalExpression(logical) => {
                let is_left = logical.left.span() == span;
                if is_left && logical.operator != LogicalOperator::Coalesce {
                    return misused(format!("`{}` always takes it for true", logical.operator.as_str()), user);
                }
                node = user;
            }
            AstKind::ConditionalExpression(conditional) => {
                if conditional.test.span() == span {
                    return misused("it is a condition, and always true".into(), user);
                }
                node = user;
            }
            AstKind::IfStatement(_) | AstKind::WhileStatement(_) | AstKind::DoWhileStatement(_) => {
                return misused("it is a condition, and always true".into(), whole);
            }
            AstKind::StaticMemberExpression(member) => {
                let name = member.property.name.as_str();
                return if matches!(name, "then" | "catch" | "finally") {
                    kept
                } else {
                    misused(format!("`.{name}` is read from it"), user)
                };
            }
            AstKind::ComputedMemberExpression(member) => {
                return if member.object.span() != span {
                    misused("it is used as a key".into(), whole)
                } else {
                    match member.static_property_name() {
                        Some(name) if matches!(name.as_str(), "then" | "catch" | "finally") => kept,
                        Some(name) => misused(format!("`[\"{name}\"]` is read from it"), user),
                        None => misused("an element is read from it".into(), user),
                    }
                };
            }
            AstKind::BinaryExpression(binary) => {
                return misused(format!("`{}` is applied to it", binary.operator.as_str()), user);
            }
            AstKind::TemplateLiteral(_) => return misused("it is put into a text".into(), whole),
            AstKind::SpreadElement(_) => return misused("it is spread".into(), user),
            AstKind::ForOfStatement(statement) => {
                return if statement.right.span() == span && !statement.r#await {
                    misused("`for … of` goes over it".into(), whole)
                } else {
                    kept
                };
            }
            AstKind::ForInStatement(_) => return misused("`for … in` goes over it".into(), whole),
            AstKind::CallExpression(call) => {
                if call.callee.span() == span {
                    return misused("it is called".into(), user);
                }
                let looks = LOOK_INSIDE
                    .iter()
                    .find(|(object, name)| call.callee.get_inner_expression().is_specific_member_access(object, name));
                return match looks {
                    Some((object, name)) => misused(format!("`{object}.{name}` looks into it"), user),
                    None => kept,
                };
            }
            AstKind::VariableDeclarator(declarator) => match &declarator.id {
                BindingPattern::BindingIdentifier(id) => {
                    return id.symbol_id.get().map_or(kept, Use::Variable);
                }
                BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_) => {
                    return misused("it is taken apart".into(), user);
                }
                BindingPattern::AssignmentPattern(_) => return kept,
            },
            _ => return kept,
        }
    }
    kept
}

/// What becomes of a promise in a variable: the worst of its uses, unless one of them may wait for it.
fn of_variable(facing: &Facing<'_, '_>, symbol: SymbolId) -> Fate {
    let mut worst = Fate::Dropped;
    for reference in facing.scoping.get_resolved_references(symbol).take(100) {
        if reference.is_write() {
            return Fate::Kept;
        }
        match use_of(facing, reference.node_id()) {
            Use::Fate(Fate::Misused { how, position }) => match &worst {
                Fate::Misused { position: first, .. } if *first <= position => {}
                _ => worst = Fate::Misused { how, position },
            },
            // `q;` alone waits for nothing.
            Use::Fate(Fate::Dropped) => {}
            Use::Fate(Fate::Awaited | Fate::Kept | Fate::InForEach) | Use::Variable(_) => return Fate::Kept,
        }
    }
    worst
}

fn is_function(kind: AstKind<'_>) -> bool {
    matches!(kind, AstKind::ArrowFunctionExpression(_) | AstKind::Function(_))
}

/// Whether a `return` is that of the script.
fn gives_the_result(facing: &Facing<'_, '_>, statement: NodeId) -> bool {
    let tree = &facing.tree;
    let frame = |node| {
        let is_frame = |id: &NodeId| is_function(tree.kind(*id)) || matches!(tree.kind(*id), AstKind::Program(_));
        tree.nodes.ancestor_ids(node).take(MOST_STEPS).find(is_frame)
    };
    let Some(function) = frame(statement) else { return false };
    if matches!(tree.kind(function), AstKind::Program(_)) {
        return true;
    }
    // The whole program is one function, which is called and returned.
    let (call, kind) = tree.user(function);
    let (caller, user) = tree.user(call);
    matches!(kind, AstKind::CallExpression(it) if tree.is_callee(it, function))
        && matches!(user, AstKind::ReturnStatement(_))
        && frame(caller).is_some_and(|frame| matches!(tree.kind(frame), AstKind::Program(_)))
}

/// Whether a function is handed to `forEach`.
fn is_for_each(facing: &Facing<'_, '_>, function: NodeId) -> bool {
    match facing.tree.user(function).1 {
        AstKind::CallExpression(call) if !facing.tree.is_callee(call, function) => call
            .callee
            .get_inner_expression()
            .get_member_expr()
            .and_then(|member| member.static_property_name())
            .is_some_and(|name| name == "forEach"),
        _ => false,
    }
}
