//! Arguments against input schemas, the hostile ones included.

use serde_json::{Value, json};

use crate::support::tool;

fn check(schema: Value, args: Value) -> String {
    match tool("s", "t", schema, None).check_args(&args) {
        Ok(()) => "fine".to_owned(),
        Err(error) => error.message,
    }
}

#[test]
fn every_fault_is_told_with_its_place_and_what_was_expected() {
    let schema = json!({
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "minimum": 1},
            "state": {"enum": ["open", "closed"]},
            "items": {"type": "array", "items": {"type": "object", "properties": {"my-id": {"type": ["string", "null"]}}}},
            "who": {"type": "string"},
        },
        "required": ["who"],
        "additionalProperties": false,
    });
    insta::assert_snapshot!(
        check(schema.clone(), json!({"limit": "many", "stat": 1, "state": "opened", "items": [{"my-id": 5}]})),
        @r#"
invalid arguments for `s.t`
- `args.limit`: expected integer, got "many"
- `args.state`: expected one of `"open"`, `"closed"`, got "opened"
- `args.items[0]["my-id"]`: expected null or string, got 5
- `args.stat`: expected no such key, got 1; did you mean `state`?
- `args.who`: expected a value, got nothing
signature: tools.s.t(args: { limit?: number; state?: "open" | "closed"; items?: { "my-id"?: string | null }[]; who: string }): Promise<unknown>
"#
    );
    insta::assert_snapshot!(check(schema.clone(), json!({"limit": 0, "who": 5})), @r#"
invalid arguments for `s.t`
- `args.limit`: expected at least 1, got 0
- `args.who`: expected string, got 5
signature: tools.s.t(args: { limit?: number; state?: "open" | "closed"; items?: { "my-id"?: string | null }[]; who: string }): Promise<unknown>
"#);
    insta::assert_snapshot!(check(schema.clone(), json!([1])), @r#"
invalid arguments for `s.t`
- `args`: expected an object, got [1]
signature: tools.s.t(args: { limit?: number; state?: "open" | "closed"; items?: { "my-id"?: string | null }[]; who: string }): Promise<unknown>
"#);
    assert_eq!(check(schema, json!({"who": "me", "items": [{"my-id": null}]})), "fine");
    assert_eq!(check(json!({"type": "object"}), Value::Null), "fine");
}

#[test]
fn faults_are_data_for_programs_too_and_their_number_is_bounded() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let args: Value =
        (0..50).map(|n| (format!("k{n}"), json!("x".repeat(1000)))).collect::<serde_json::Map<_, _>>().into();
    let error = tool("s", "t", schema, None).check_args(&args).unwrap_err();
    assert_eq!(error.data.unwrap()["faults"].as_array().unwrap().len(), 10);
    assert!(error.message.contains("and 40 more"), "{}", error.message);
    assert!(error.message.len() < 3000);
}

#[test]
fn a_schema_that_cannot_be_used_takes_any_object_and_no_schema_hangs_or_panics() {
    let mut deep = json!({"type": "integer"});
    for _ in 0..100 {
        deep = json!({"properties": {"a": deep}});
    }
    let hostile = [
        json!({"type": "banana"}),
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]}),
        json!({"$ref": "http://127.0.0.1:1/schema.json"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$schema": "http://example.org/unknown"}),
        json!({"$id": "::::", "$ref": "#x"}),
        json!({"properties": {"a": {"pattern": "("}}}),
        json!({"properties": 5}),
        json!({"required": "a"}),
        json!({"$dynamicRef": "#"}),
        json!({"$recursiveRef": "#", "$schema": "https://json-schema.org/draft/2019-09/schema"}),
        json!({"if": {"$ref": "#"}, "then": {"$ref": "#"}}),
        json!({"$ref": "#/properties/%zz"}),
        deep,
    ];
    for schema in hostile {
        let shown = schema.to_string();
        let outcome = check(schema, json!({"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}));
        assert!(outcome == "fine" || outcome.starts_with("invalid arguments"), "{shown}: {outcome}");
    }
}

#[test]
fn an_evil_pattern_ends() {
    let schema = json!({"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}});
    let outcome = check(schema, json!({"a": format!("{}!", "a".repeat(100_000))}));
    assert!(outcome.starts_with("invalid arguments"), "{outcome}");
}
