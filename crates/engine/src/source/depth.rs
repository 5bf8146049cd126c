//! Room for deep nesting: the parser and the passes after it recurse, and a native stack that overflows kills the process.
//!
//! A level of nesting takes at least one byte of text, and measured over some forty kinds of nesting (brackets, blocks, types,
//! operators, functions) the hungriest, parentheses, takes 790 bytes of stack for a byte of text. So a stack of three times that
//! for each byte holds whatever the text is. It is reserved and not touched: only a text that is nested so deep uses it.

use std::sync::{Mutex, PoisonError};

use std::cell::Cell;

use oxc::{
    ast::{AstKind, ast::Program},
    ast_visit::Visit,
    semantic::{ScopeFlags, ScopeId},
};

use super::SyntaxError;

/// Scopes inside one another. A `var` is looked up in every one of them, so without a bound a hostile text takes quadratic time.
const MAX_SCOPES: usize = 500;
/// An `await` or a label in front of another, and so on. Each is looked for in all those around it.
const MAX_PREFIXES: usize = 1000;

const STACK_PER_BYTE: usize = 2560;
/// What runs on the stack beside the recursion.
const STACK_BASE: usize = 256 << 10;
/// Up to here the caller's own stack is enough: 1.3 MB of the 2 MiB that a thread has at least.
const OWN_STACK_BYTES: usize = 512;
/// From here on one text at a time, so that many hostile ones side by side do not use up the memory.
const ALONE_BYTES: usize = 16 << 10;

/// Runs `work`, whose recursion follows the nesting of `text`.
pub(super) fn on_a_stack_for<T: Send>(
    text: &str,
    work: impl FnOnce() -> Result<T, SyntaxError> + Send,
) -> Result<T, SyntaxError> {
    static ALONE: Mutex<()> = Mutex::new(());
    if text.len() <= OWN_STACK_BYTES {
        return work();
    }
    let _alone = (text.len() > ALONE_BYTES).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner));
    std::thread::scope(|scope| {
        let stack = STACK_BASE + text.len() * STACK_PER_BYTE;
        let refused = |message: &str| Err(SyntaxError { message: message.into(), position: super::Position::START });
        match std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, work) {
            Ok(thread) => {
                thread.join().unwrap_or_else(|_| refused("bug: the parser broke on this script; please report it"))
            }
            Err(_) => refused("there is no memory to parse a script of this size; try a shorter one"),
        }
    })
}

/// What to say of a program that lies too deep in itself, in one of the ways that take quadratic time.
pub(super) fn too_deep(program: &Program<'_>) -> Option<String> {
    let mut nesting = Nesting::default();
    nesting.visit_program(program);
    let Nesting { scopes, prefixes } = nesting;
    let said = |what: &str, deepest: usize, most: usize| {
        (deepest > most).then(|| format!("{what} are nested {deepest} deep, and may be {most}"))
    };
    said("blocks and functions", scopes.deepest, MAX_SCOPES)
        .or_else(|| said("`await` and labels", prefixes.deepest, MAX_PREFIXES))
}

#[derive(Default)]
struct Nesting {
    scopes: Level,
    prefixes: Level,
}

#[derive(Default)]
struct Level {
    depth: usize,
    deepest: usize,
}

impl Level {
    fn enter(&mut self) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }
}

fn is_prefix(kind: AstKind<'_>) -> bool {
    matches!(kind, AstKind::AwaitExpression(_) | AstKind::LabeledStatement(_))
}

impl<'a> Visit<'a> for Nesting {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        if is_prefix(kind) {
            self.prefixes.enter();
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        if is_prefix(kind) {
            self.prefixes.leave();
        }
    }

    fn enter_scope(&mut self, _: ScopeFlags, _: &Cell<Option<ScopeId>>) {
        self.scopes.enter();
    }

    fn leave_scope(&mut self) {
        self.scopes.leave();
    }
}
