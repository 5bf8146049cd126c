//! `tools call`.

use refrain_runtime::{Tool, rounded_numbers};
use serde_json::{Map, Value};

use super::named;
use crate::{
    commands::{
        report,
        run::{origin, pairs},
    },
    config::Need,
    context::Context,
    error::CommandError,
    exit::Exit,
};

/// Call one tool, without a script
///
/// The call is kept as a run of its own and reported like one.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct CallArgs {
    /// The tool, as `source.name` or by its name alone where only one source has it
    #[arg(value_name = "PATH")]
    path: String,

    /// Arguments: `KEY=value`, read as the tool's input schema has it, or `KEY:=JSON`
    #[arg(value_name = "KEY=VALUE")]
    args: Vec<String>,
}

/// Runs `tools call`.
pub(crate) async fn call(context: &Context, args: CallArgs) -> Result<Exit, CommandError> {
    let mut given = pairs(&args.args)?;
    let runtime = context.runtime_with(Need::Sources, |settings| named::keep(&mut settings.sources, &args.path))?;
    let catalog = context.catalog(&runtime).await;
    let tool = super::find(&catalog, &args.path)?;
    for word in &args.args {
        if let Some((key, text)) = word.split_once('=').filter(|(key, _)| !key.ends_with(':')) {
            read_as_declared(tool, key, text, &mut given);
        }
    }
    if let Some(rounded) = rounded_numbers(&Value::Object(given.clone()).to_string()) {
        let error = CommandError::usage(format!("an argument would be sent rounded: {rounded}"));
        return Err(error.with_hint("send it as text, `\"…\"`, if the tool takes one"));
    }
    let report = runtime.call(&catalog, tool, given, origin("direct"), &|id| context.started(id)).await?;
    let exit = report::print(&context.ui, &report)?;
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}

/// Reads a text as JSON where the tool declares that it takes something of that type and no text: `3` for a number stays a
/// number, `007` for a text stays a text.
fn read_as_declared(tool: &Tool, key: &str, text: &str, given: &mut Map<String, Value>) {
    let schema = &tool.input_schema["properties"][key];
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let value = match &schema["type"] {
        Value::String(one) => is_taken(&value, &[one]).then_some(value),
        Value::Array(all) => {
            let types: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
            is_taken(&value, &types).then_some(value)
        }
        // What a schema without a type says of values are the values themselves.
        _ => listed(schema, &value, text),
    };
    if let Some(value) = value {
        given.insert(key.to_owned(), value);
    }
}

/// Returns whether a value that is no text is of one of the types, none of which is the text's own.
fn is_taken(value: &Value, types: &[&str]) -> bool {
    let is_one = match value {
        Value::Null => types.contains(&"null"),
        Value::Bool(_) => types.contains(&"boolean"),
        Value::Number(number) => {
            types.contains(&"number") || types.contains(&"integer") && (number.is_i64() || number.is_u64())
        }
        Value::Array(_) => types.contains(&"array"),
        Value::Object(_) => types.contains(&"object"),
        Value::String(_) => false,
    };
    is_one && !types.contains(&"string")
}

/// Returns the value of an `enum` or `const` that is meant, unless the text itself is one of them.
fn listed(schema: &Value, value: &Value, text: &str) -> Option<Value> {
    let listed = schema["enum"].as_array().map_or_else(|| schema.get("const").into_iter().collect(), Vec::from_iter);
    if listed.iter().any(|one| one.as_str() == Some(text)) {
        return None;
    }
    let is_meant = |one: &&Value| *one == value || value.is_number() && one.as_f64() == value.as_f64();
    listed.into_iter().filter(|one| !one.is_string()).find(is_meant).cloned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    /// Case cli-config-01.
    #[test]
    fn values_are_read_as_the_schema_has_them() {
        let mut tool = Tool::new("acme", "set_layout");
        tool.input_schema = Arc::new(json!({"type": "object", "properties": {
            "board": {"type": "string"}, "spec": {"type": "object"}, "count": {"type": "integer"}, "code": {"type": "string"},
            "either": {"type": ["string", "number"]}, "flag": {"type": ["boolean", "null"]}, "any": {},
            "size": {"enum": [1, 2, "3", null, true]}, "one": {"const": 1}, "same": {"enum": [1, "1"]},
        }}));
        let check = |key: &str, text: &str, expect: Value| {
            let mut given = pairs(&[format!("{key}={text}")]).unwrap();
            read_as_declared(&tool, key, text, &mut given);
            assert_eq!(given[key], expect, "{key}={text}");
        };
        check("board", "b-1", json!("b-1"));
        check(
            "spec",
            r#"{"mode":"grid","text":"a: b=c","n":[1,2]}"#,
            json!({"mode": "grid", "text": "a: b=c", "n": [1, 2]}),
        );
        check("spec", "{not json", json!("{not json"));
        check("count", "3", json!(3));
        check("count", "3.5", json!("3.5"));
        check("code", "007", json!("007"));
        check("code", "7", json!("7"));
        check("either", "7", json!("7"));
        check("flag", "null", Value::Null);
        check("any", "7", json!("7"));
        check("size", "1", json!(1));
        check("size", "3", json!("3"));
        check("size", "4", json!("4"));
        check("size", "null", Value::Null);
        check("size", "true", json!(true));
        check("one", "1.0", json!(1));
        check("same", "1", json!("1"));
        check("unknown", "7", json!("7"));
    }
}
