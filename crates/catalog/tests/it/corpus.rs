//! Schemas that other people wrote, all of them through the converter and through the TypeScript compiler.
//!
//! `tests/schemas` says where they come from.

use std::fmt::Write as _;

use refrain_catalog::Tool;
use serde::Deserialize;
use serde_json::Value;

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
        tool(&row.package, &name, serde_json::json!({"type": "object"}), Some(row.schema.clone()))
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
    let mut values = format!("type T<K extends keyof (typeof tools)[{package}]> = Awaited<ReturnType<(typeof tools)[{package}][K]>>;\n");
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
    for it in &wrong {
        let (row, value) = places[it.line - 1].unwrap();
        println!("{} {} | {} | {} | {}", it.code, row.name, row.schema, value, it.message.chars().take(200).collect::<String>());
    }
    println!("{} of {}", wrong.len(), places.len());
    assert!(wrong.is_empty());
}
