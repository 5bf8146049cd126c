//! Arguments against input schemas, the hostile ones included.

use std::sync::Arc;

use refrain_catalog::{CallError, Functions, SharedFunctions, SourceKind, SourceSettings, Sources, Tool};
use serde_json::{Value, json};

use crate::support::{call, environment, tool};

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

#[test]
fn a_pattern_that_goes_back_and_forth_is_left_to_the_server() {
    let schema = json!({"properties": {"a": {"type": "string", "pattern": "^(?:(?=a)a|a)+[b-z]$"}}});
    assert_eq!(check(schema, json!({"a": "a".repeat(60)})), "fine");
}

#[test]
fn alternatives_one_inside_the_other_do_not_end_the_process() {
    // Each takes the validator one level further down its stack, and is gone through again for what is told of it.
    let nested = |levels: usize| {
        let mut defs: serde_json::Map<String, Value> = (0..levels)
            .map(|n| (format!("k{n}"), json!({"anyOf": [{"$ref": format!("#/$defs/k{}", n + 1)}]})))
            .collect();
        defs.insert(format!("k{levels}"), json!({"type": "integer"}));
        check(json!({"properties": {"a": {"$ref": "#/$defs/k0"}}, "$defs": defs}), json!({"a": "x"}))
    };
    let outcome = nested(200);
    assert!(outcome.contains("- `args.a`: expected integer, got \"x\""), "{outcome}");
    assert_eq!(nested(3000), "fine");
}

/// What is wrong, without the signature.
fn faults(schema: Value, args: Value) -> String {
    let outcome = check(schema, args);
    let lines: Vec<&str> = outcome.lines().filter(|line| line.starts_with("- ") || *line == "fine").collect();
    lines.join("\n")
}

#[test]
fn of_alternatives_the_nearest_is_told() {
    let tagged = json!({"properties": {"op": {"oneOf": [
        {"type": "object", "properties": {"type": {"const": "crop"}, "w": {"type": "integer"}}, "required": ["type", "w"], "additionalProperties": false},
        {"type": "object", "properties": {"type": {"const": "rotate"}, "deg": {"enum": [90, 180]}}, "required": ["type", "deg"]},
    ]}}});
    insta::assert_snapshot!(faults(tagged.clone(), json!({"op": {"type": "crop", "w": "x", "h": 1}})), @r#"
- `args.op.w`: expected integer, got "x"
- `args.op.h`: expected no such key, got 1
"#);
    insta::assert_snapshot!(faults(tagged.clone(), json!({"op": {"type": "rotate", "deg": 45}})), @r"- `args.op.deg`: expected one of `90`, `180`, got 45");
    insta::assert_snapshot!(faults(tagged.clone(), json!({"op": {"type": "blur"}})), @r#"- `args.op.type`: expected `"crop"` or `"rotate"`, got "blur""#);
    insta::assert_snapshot!(faults(tagged, json!({"op": 5})), @r"- `args.op`: expected object, got 5");
    let kinds = json!({"properties": {"a": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "number"}, {"enum": [true, null]}]}}});
    insta::assert_snapshot!(faults(kinds.clone(), json!({"a": []})), @r"- `args.a`: expected string or number or `true`, `null`, got []");
    insta::assert_snapshot!(faults(kinds, json!({"a": "x"})), @r#"- `args.a`: expected at least 3 characters, got "x""#);
    let keys = json!({"type": "object", "anyOf": [{"required": ["id"]}, {"required": ["slug"]}]});
    insta::assert_snapshot!(faults(keys, json!({"name": 1})), @r#"- `args`: expected a value for `id` or `slug`, got {"name":1}"#);
    let both = json!({"properties": {"a": {"oneOf": [{"type": "number"}, {"type": "integer"}, {"type": "string"}]}}});
    insta::assert_snapshot!(faults(both, json!({"a": 5})), @r"- `args.a`: expected a value that fits exactly one of the alternatives, and it fits 2, got 5");
    // What a tag means is in the discriminator alone.
    let mapped = json!({"properties": {"pet": {
        "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"feline": "#/$defs/Cat"}},
    }}, "$defs": {
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}, "name": {"type": "string"}}, "required": ["lives", "name"]},
        "Dog": {"type": "object", "properties": {"kind": {"type": "string"}, "good": {"type": "boolean"}}, "required": ["good"]},
    }});
    insta::assert_snapshot!(faults(mapped.clone(), json!({"pet": {"kind": "feline"}})), @r"
- `args.pet.lives`: expected a value, got nothing
- `args.pet.name`: expected a value, got nothing
");
    insta::assert_snapshot!(faults(mapped, json!({"pet": {"kind": "Dog"}})), @r"- `args.pet.good`: expected a value, got nothing");
}

#[test]
fn what_is_expected_is_said_for_each_keyword() {
    let schema = json!({"properties": {
        "email": {"format": "email"}, "when": {"format": "date-time"}, "path": {"format": "path"},
        "list": {"type": "array", "uniqueItems": true, "maxItems": 2, "contains": {"type": "string"}},
        "step": {"multipleOf": 5}, "no": false, "not": {"not": {"type": "string"}},
        "map": {"minProperties": 1, "propertyNames": {"pattern": "^[a-z]+$"}},
        "tuple": {"prefixItems": [{}], "items": false}, "code": {"pattern": "^[A-Z]{2}$"},
    }});
    let args = json!({"email": "me", "when": "yesterday", "path": "anything", "list": [1, 1, 1], "step": 7, "no": 1,
        "not": "x", "map": {}, "code": "abc"});
    insta::assert_snapshot!(faults(schema.clone(), args), @r#"
- `args.email`: expected a text of the format `email`, got "me"
- `args.when`: expected a text of the format `date-time`, got "yesterday"
- `args.list`: expected at most 2 items, got [1,1,1]
- `args.list`: expected items that all differ, got [1,1,1]
- `args.list`: expected an item that fits `contains`, got [1,1,1]
- `args.step`: expected a multiple of 5, got 7
- `args.no`: expected nothing here, got 1
- `args.not`: expected a value that does not fit `{"type":"string"}`, got "x"
- `args.map`: expected at least 1 key, got {}
- `args.code`: expected text that matches `^[A-Z]{2}$`, got "abc"
"#);
    insta::assert_snapshot!(faults(schema, json!({"map": {"A": 1}, "tuple": [1, 2]})), @r#"
- `args.map`: expected keys of which each is text that matches `^[a-z]+$`, got {"A":1}
- `args.tuple[1]`: expected nothing here, got 2
"#);
}

#[test]
fn other_drafts_and_dialects_mean_what_they_say() {
    let fits = |schema: &Value, value: Value| {
        let mut root = json!({"properties": {"a": schema}});
        if let Some(draft) = schema.get("$schema") {
            root["$schema"] = draft.clone();
        }
        check(root, json!({"a": value})) == "fine"
    };
    let open =
        json!({"type": "integer", "minimum": 5, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false});
    let mut draft_4 = open.clone();
    draft_4["$schema"] = json!("http://json-schema.org/draft-04/schema#");
    for schema in [&open, &draft_4] {
        assert!(!fits(schema, json!(5)) && fits(schema, json!(6)) && fits(schema, json!(9)), "{schema}");
    }
    let null = json!({"type": "string", "nullable": true, "enum": ["x"]});
    assert!(fits(&null, json!(null)) && fits(&null, json!("x")) && !fits(&null, json!("y")));
    let root =
        json!({"properties": {"a": {"$ref": "#/$defs/x", "nullable": true}}, "$defs": {"x": {"type": "integer"}}});
    assert_eq!(check(root.clone(), json!({"a": null})), "fine");
    assert!(check(root, json!({"a": "x"})).contains("expected integer or null, got"));
    // A tuple of the old kind, in a schema that does not say that it is old.
    let tuple = json!({"type": "array", "items": [{"type": "string"}, {"type": "number"}]});
    assert!(fits(&tuple, json!(["x", 1])) && !fits(&tuple, json!([1, 1])));
    // A property may be called like a keyword.
    let named = json!({"properties": {"nullable": {"type": "boolean"}}});
    assert!(fits(&named, json!({"nullable": true})) && !fits(&named, json!({"nullable": 1})));
}

/// One function that gives back its arguments.
struct Echo(Tool);

#[async_trait::async_trait]
impl Functions for Echo {
    fn tools(&self) -> Vec<Tool> {
        vec![self.0.clone()]
    }

    async fn call(&self, _: &str, args: Value) -> Result<Value, CallError> {
        Ok(args)
    }
}

/// The arguments that a tool of a source with these switches gets, and what is said about them.
async fn sent(coerce: bool, defaults: bool, schema: Value, args: Value) -> String {
    let echo = Echo(tool("s", "echo", schema, None));
    let mut source = SourceSettings::new("s", SourceKind::Functions(SharedFunctions(Arc::new(echo))));
    source.coerce_arguments = coerce;
    source.apply_defaults = defaults;
    let sources = Sources::open(vec![source], environment());
    let said = call(&sources, "s", "echo", args).await;
    sources.close().await;
    said.lines().filter(|line| !line.starts_with("signature")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn texts_are_taken_for_what_they_spell_only_where_that_is_switched_on() {
    let schema = json!({"properties": {
        "n": {"type": "integer"}, "x": {"type": ["number", "null"]}, "flag": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "integer"}},
        "deep": {"type": "object", "properties": {"n": {"type": "integer"}}}, "text": {"type": "string"},
        "either": {"anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"type": "null"}]},
    }});
    let args = json!({"n": "5", "x": "1.5", "flag": "true", "list": "[1, \"2\"]", "deep": "{\"n\": \"3\"}", "text": "5", "either": "{\"n\": 1}"});
    insta::assert_snapshot!(sent(true, false, schema.clone(), args.clone()).await, @r#"{"n":5,"x":1.5,"flag":true,"list":[1,2],"deep":{"n":3},"text":"5","either":{"n":1}} (`args.n`: the text "5" was taken as 5; `args.x`: the text "1.5" was taken as 1.5; `args.flag`: the text "true" was taken as true; `args.list`: the text "[1, \"2\"]" was taken as [1,"2"]; `args.list[1]`: the text "2" was taken as 2; `args.deep`: the text "{\"n\": \"3\"}" was taken as {"n":"3"}; `args.deep.n`: the text "3" was taken as 3; `args.either`: the text "{\"n\": 1}" was taken as {"n":1})"#);
    insta::assert_snapshot!(sent(false, false, schema.clone(), args).await, @r#"
invalid_arguments: invalid arguments for `s.echo`
- `args.n`: expected integer, got "5"
- `args.x`: expected null or number, got "1.5"
- `args.flag`: expected boolean, got "true"
- `args.list`: expected array, got "[1, \"2\"]"
- `args.deep`: expected object, got "{\"n\": \"3\"}"
- `args.either`: expected object or null, got "{\"n\": 1}"
"#);
    // Nothing is guessed: not white space, not words, not one value for a list, no number for a text.
    let args = json!({"n": " 5", "flag": "yes", "list": 1, "text": 5, "deep": "[]", "x": "1,5"});
    insta::assert_snapshot!(sent(true, false, schema.clone(), args).await, @r#"
invalid_arguments: invalid arguments for `s.echo`
- `args.n`: expected integer, got " 5"
- `args.flag`: expected boolean, got "yes"
- `args.list`: expected array, got 1
- `args.text`: expected string, got 5
- `args.deep`: expected object, got "[]"
- `args.x`: expected null or number, got "1,5"
"#);
    // What would not help stays as it came: as a number it would be too small.
    let alternatives = json!({"properties": {"a": {"anyOf": [{"type": "integer", "minimum": 10}, {"minLength": 3, "type": "string"}]}}});
    insta::assert_snapshot!(sent(true, false, alternatives, json!({"a": "5"})).await, @r#"
invalid_arguments: invalid arguments for `s.echo`
- `args.a`: expected at least 3 characters, got "5"
"#);
    insta::assert_snapshot!(sent(true, false, schema, json!("{\"n\": \"7\"}")).await, @r#"{"n":7} (`args` was a text and was taken as the object that it spells; `args.n`: the text "7" was taken as 7)"#);
}

#[tokio::test]
async fn defaults_are_sent_only_where_that_is_switched_on() {
    let schema = json!({"type": "object", "required": ["limit"], "properties": {
        "limit": {"type": "integer", "default": 10},
        "sort": {"$ref": "#/$defs/sort"},
        "wrong": {"type": "string"},
    }, "$defs": {"sort": {"type": "object", "properties": {"by": {"default": "name"}, "down": {"type": "boolean"}}}}});
    insta::assert_snapshot!(sent(false, true, schema.clone(), json!({"sort": {"down": true}})).await, @r#"{"sort":{"down":true,"by":"name"},"limit":10} (`args.limit` was left out and its default 10 was sent; `args.sort.by` was left out and its default "name" was sent)"#);
    insta::assert_snapshot!(sent(false, true, schema.clone(), json!({"limit": 5})).await, @r#"{"limit":5}"#);
    insta::assert_snapshot!(sent(false, false, schema.clone(), json!({})).await, @r"
invalid_arguments: invalid arguments for `s.echo`
- `args.limit`: expected a value, got nothing
");
    // A default that does not fit its own schema is not sent.
    let broken = json!({"properties": {"a": {"type": "string", "default": null}}});
    insta::assert_snapshot!(sent(false, true, broken, json!({})).await, @r"{}");
    insta::assert_snapshot!(sent(true, true, schema, Value::Null).await, @r#"{"limit":10} (`args.limit` was left out and its default 10 was sent)"#);
}
