//! Schemas that other people wrote, all of them through the converter and through the TypeScript compiler.
//!
//! `tests/schemas` says where they come from.

use std::fmt::Write as _;

use refrain_catalog::Tool;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    support::{catalog, tool},
    tsc,
};

#[derive(Deserialize)]
struct Row {
    package: String,
    version: String,
    licence: String,
    /// Which of a tool's schemas it is.
    #[serde(default)]
    kind: String,
    /// The test, or the component.
    #[serde(default)]
    name: String,
    schema: Value,
    /// Values that fit.
    #[serde(default)]
    valid: Vec<Value>,
}

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/tests/schemas/{file}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a tool that takes or gives what the row says. Its name is `t` and the number of the row.
fn tool_of(row: &Row, number: usize) -> Tool {
    let name = format!("t{number}");
    if row.kind == "input" {
        tool(&row.package, &name, row.schema.clone(), None)
    } else {
        tool(&row.package, &name, json!({"type": "object"}), Some(row.schema.clone()))
    }
}

/// Returns the declarations of all rows. Each package is a source, so that its tools share what they define.
fn declarations(rows: &[Row]) -> String {
    catalog(rows.iter().enumerate().map(|(number, row)| tool_of(row, number)).collect()).declarations()
}

fn compiles(file: &str, at_least: usize) {
    let rows = rows(file);
    assert!(rows.len() >= at_least, "{} schemas", rows.len());
    for row in &rows {
        assert!(!row.version.is_empty() && ["MIT", "Apache-2.0"].contains(&row.licence.as_str()), "{}", row.package);
    }
    let text = declarations(&rows);
    let wrong = tsc::check(&[("all.d.ts", &text)]);
    let lines: Vec<&str> = text.lines().collect();
    let shown: Vec<String> =
        wrong.iter().take(10).map(|it| format!("{}: {}\n  {}", it.code, it.message, lines[it.line - 1])).collect();
    assert!(wrong.is_empty(), "{} errors\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn the_schemas_of_mcp_servers_compile() {
    compiles("mcp-servers", 600);
}

#[test]
fn the_test_suite_of_json_schema_compiles() {
    compiles("json-schema-test-suite", 700);
}

#[test]
fn the_components_of_an_openapi_document_compile() {
    compiles("openapi", 150);
}

#[test]
fn a_value_that_fits_the_schema_fits_the_type() {
    let rows = rows("json-schema-test-suite");
    let declarations = declarations(&rows);
    let package = Value::from(rows[0].package.as_str());
    let mut values = format!(
        "type T<K extends keyof (typeof tools)[{package}]> = Awaited<ReturnType<(typeof tools)[{package}][K]>>;\n"
    );
    let mut places = vec![None];
    for (number, row) in rows.iter().enumerate() {
        for value in &row.valid {
            // JSON is a type as it stands: that of the one value. As a type it is not checked for keys too many.
            writeln!(values, "{{ const it: T<\"t{number}\"> = null! as {value}; }}").unwrap();
            places.push(Some((row, value)));
        }
    }
    let wrong = tsc::check(&[("tools.d.ts", &declarations), ("values.ts", &values)]);
    assert!(wrong.iter().all(|it| it.file == "values.ts"), "{wrong:#?}");
    let unexplained: Vec<String> = wrong
        .iter()
        .map(|it| (it, places[it.line - 1].unwrap()))
        .filter(|(_, (row, value))| jsonschema::is_valid(&believed(&row.schema), value))
        // In TypeScript, every object has a `toString`, and it is a function.
        .filter(|(_, (row, _))| !row.name.contains("Javascript object property names"))
        .map(|(it, (row, value))| format!("{}: {value} of {}\n  {}", row.name, row.schema, it.message))
        .collect();
    assert!(unexplained.is_empty(), "{}\n{}", unexplained.len(), unexplained.join("\n"));
    let fit = places.len() - 1 - wrong.len();
    assert!(fit >= 1400, "{fit} of {} values fit", places.len() - 1);
}

/// Returns the schema with what the converter believes of its author beyond the letter: a schema without `type` is of the type
/// that its keywords are about. And with what TypeScript believes: who passes an object has at least one of its keys.
fn believed(schema: &Value) -> Value {
    const KINDS: [(&str, &[&str]); 4] = [
        ("object", &["roperties", "required", "propertyNames", "dependentRequired"]),
        ("array", &["tems", "contains"]),
        ("string", &["Length", "pattern", "content"]),
        ("number", &["imum", "multipleOf"]),
    ];
    let Value::Object(map) = schema else { return schema.clone() };
    let mut map: Map<String, Value> = map
        .iter()
        .map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("enum" | "const" | "default" | "examples" | "required", _) => value.clone(),
                (_, Value::Array(parts)) => parts.iter().map(believed).collect(),
                (
                    "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                    Value::Object(parts),
                ) => parts.iter().map(|(name, part)| (name.clone(), believed(part))).collect::<Map<_, _>>().into(),
                _ => believed(value),
            };
            (key.clone(), value)
        })
        .collect();
    let mut all = vec![];
    if !map.contains_key("type") && !map.contains_key("enum") && !map.contains_key("const") {
        let is_about = |words: &[&str]| {
            map.keys()
                .any(|key| words.iter().any(|word| key.contains(word) && (*word != "pattern" || key == "pattern")))
        };
        let kinds: Vec<&str> = KINDS.iter().filter(|(_, words)| is_about(words)).map(|(kind, _)| *kind).collect();
        if !kinds.is_empty() {
            all.push(json!({"type": kinds}));
        }
    }
    let only_optional =
        ["required", "additionalProperties", "patternProperties"].iter().all(|key| !map.contains_key(*key));
    if let (Some(Value::Object(properties)), true) = (map.get("properties"), only_optional) {
        let one_of_them = properties.keys().map(|key| json!({"required": [key]}));
        all.push(json!({"anyOf": one_of_them.chain([json!({"maxProperties": 0})]).collect::<Vec<_>>()}));
    }
    if !all.is_empty() {
        let own = map.remove("allOf").and_then(|own| own.as_array().cloned()).unwrap_or_default();
        map.insert("allOf".into(), own.into_iter().chain(all).collect());
    }
    map.into()
}
