//! What a tool gave, against what it declares; and the look at it, where it declares nothing.
//!
//! A result of many megabytes takes long to check, so that is done away from the threads that serve everything else.

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
    output: CallOutput,
    on_mismatch: OnMismatch,
    observer: Option<&Observer>,
) -> Result<CallOutput, CallError> {
    if output.value.get().len() < LARGE {
        return check(tool, output, on_mismatch, observer);
    }
    let (tool, observer) = (tool.clone(), observer.cloned());
    match tokio::task::spawn_blocking(move || check(&tool, output, on_mismatch, observer.as_ref())).await {
        Ok(checked) => checked,
        Err(error) => Err(CallError::new(ErrorCode::Internal, format!("bug: a result could not be checked: {error}"))),
    }
}

fn check(
    tool: &Tool,
    mut output: CallOutput,
    on_mismatch: OnMismatch,
    observer: Option<&Observer>,
) -> Result<CallOutput, CallError> {
    if tool.output_schema.is_none() {
        if let Some(observer) = observer {
            observer.look(&tool.source, &tool.name, &output.value);
        }
        return Ok(output);
    }
    let Some(message) = mismatch(tool, &output.value) else { return Ok(output) };
    match on_mismatch {
        OnMismatch::Note => {
            output.notes.push(message);
            Ok(output)
        }
        OnMismatch::Reject => Err(CallError::new(ErrorCode::OutputMismatch, format!("{message}; the call has run"))),
    }
}

/// Says how a value contradicts what its tool declares, if it does.
fn mismatch(tool: &Tool, value: &RawValue) -> Option<String> {
    let checker = tool.output_validator()?;
    // A value that is no `Value`, a number out of range say, is nothing that a schema speaks of.
    let value: Value = serde_json::from_str(value.get()).ok()?;
    let faults = arguments::faults_of_result(checker, &value, MAX_FAULTS);
    let told = || format!("the result of `{}` does not fit its output schema: {}", tool.path(), faults.join("; "));
    (!faults.is_empty()).then(told)
}
