//! Calls that nobody waits for.

use refrain_engine::source::{Fate, ToolUse};

use super::{Certainty, Finding, Kind};

/// What is wrong with the fate of a call's promise. `call` is how it is written, without arguments.
pub(super) fn check(used: &ToolUse, path: &str, call: &str) -> Option<Finding> {
    let message = match &used.call.as_ref()?.fate {
        Fate::Awaited | Fate::Kept => return None,
        Fate::Dropped => format!(
            "the call of `{path}` is not awaited, so its result and its errors are lost and it may be cut off; write \
             `await {call}(…)`"
        ),
        Fate::InForEach => format!(
            "the call of `{path}` lies in a callback of `forEach`, which waits for nothing; write \
             `for (const x of list) await {call}(…)`, or `await Promise.all(list.map((x) => {call}(…)))`"
        ),
        Fate::Misused { how, position } => {
            let place =
                if position.line == used.position.line { String::new() } else { format!(" on line {}", position.line) };
            format!(
                "the call of `{path}` gives a promise that is not awaited, and {how}{place}; write `await {call}(…)`"
            )
        }
    };
    Some(Finding {
        certainty: Certainty::Suspected,
        kind: Kind::NotAwaited,
        message,
        position: used.position,
        tool: Some(path.to_owned()),
    })
}
