//! What a tool gave, against what it declares; and the look at it, where it declares nothing.
//!
//! This is done before the answer is journaled, since what is found is part of what is journaled: a run that is taken up again
//! must not find something else because the schema has changed. So it may neither fail nor take long: a check has a budget,
//! one that panics is a note, and a large result is looked at away from the threads that serve everything else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, value::RawValue};

use crate::{
    arguments,
    error::{CallError, ErrorCode},
    observed::Observer,
    settings::OnMismatch,
    sources::CallOutput,
    tool::Tool,
};

/// Faults that are told.
const MAX_FAULTS: usize = 3;
/// From here on a result is checked on a thread of its own.
const LARGE: usize = 256 << 10;

/// Takes in a result of `tool`. `observer` is none where results are not looked at.
///
/// # Errors
///
/// `output_mismatch`, where that is asked for.
pub(crate) async fn received(
    tool: &Tool,
    mut output: CallOutput,
    on_mismatch: OnMismatch,
    observer: Option<&Observer>,
) -> Result<CallOutput, CallError> {
    let found = if output.value.get().len() < LARGE {
        look(tool, &output.value, observer)
    } else {
        let (tool, value, observer) = (tool.clone(), output.value.clone(), observer.cloned());
        let looked = tokio::task::spawn_blocking(move || look(&tool, &value, observer.as_ref()));
        looked.await.unwrap_or_else(|error| Found::Unknown(error.to_string()))
    };
    match (found, on_mismatch) {
        (Found::Fine, _) => {}
        (Found::Unknown(why), _) => {
            output.notes.push(format!("the result of `{}` was not checked: {why}", tool.path()));
        }
        (Found::Mismatch(what), OnMismatch::Note) => output.notes.push(what),
        (Found::Mismatch(what), OnMismatch::Reject) => {
            return Err(CallError::new(ErrorCode::OutputMismatch, format!("{what}; the call has run")));
        }
    }
    Ok(output)
}

/// What a look at a result found.
enum Found {
    Fine,
    /// How it contradicts what its tool declares.
    Mismatch(String),
    /// Why that cannot be told.
    Unknown(String),
}

fn look(tool: &Tool, value: &RawValue, observer: Option<&Observer>) -> Found {
    let looked = catch_unwind(AssertUnwindSafe(|| {
        let Some(checker) = tool.output_validator() else {
            if let Some(observer) = observer {
                observer.look(&tool.source, &tool.name, value);
            }
            return Found::Fine;
        };
        let checker = match checker {
            Ok(checker) => checker,
            Err(why) => return Found::Unknown(format!("its output schema is not valid: {why}")),
        };
        // A value that is no `Value`, a number out of range say, is nothing that a schema speaks of.
        let Ok(value) = serde_json::from_str::<Value>(value.get()) else { return Found::Fine };
        match arguments::faults_of_result(checker, &value, MAX_FAULTS) {
            Ok(faults) if faults.is_empty() => Found::Fine,
            Ok(faults) => {
                let faults = faults.join("; ");
                Found::Mismatch(format!("the result of `{}` does not fit its output schema: {faults}", tool.path()))
            }
            Err(why) => Found::Unknown(why.to_owned()),
        }
    }));
    looked.unwrap_or_else(|_| Found::Unknown("bug: the check broke; please report it".to_owned()))
}
