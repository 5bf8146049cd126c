//! Schemas that broke other systems: `tests/schemas/cases.jsonl`, each with where it was told.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    support::{catalog, tool},
    tsc,
};

#[derive(Deserialize)]
struct Case {
    id: String,
    tool: String,
    schema: Value,
    valid: Vec<Value>,
    invalid: Vec<Value>,
    #[serde(default)]
    mentions: Vec<String>,
    #[serde(default)]
    mentions_not: Vec<String>,
    bytes_at_most: Option<usize>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../schemas/cases.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_case_is_declared_and_checked() {
    let cases = cases();
    assert_eq!(cases.len(), 12);
    for case in &cases {
        let id = &case.id;
        let tool = tool("s", &case.tool, case.schema.clone(), None);
        for args in &case.valid {
            assert_eq!(tool.check_args(args).map_err(|error| error.message), Ok(()), "{id}: {args}");
        }
        for args in &case.invalid {
            assert!(tool.check_args(args).is_err(), "{id}: {args}");
        }
        let text = catalog(vec![tool]).tool_declarations();
        assert!(!text.contains("Note:"), "{id}: {text}");
        assert!(case.bytes_at_most.is_none_or(|most| text.len() <= most), "{id}: {} bytes", text.len());
        case.mentions.iter().for_each(|word| assert!(text.contains(word.as_str()), "{id}: no `{word}` in {text}"));
        // Every tool of this test gives something unknown; what is asked is about the arguments.
        let args = text.replace("Promise<unknown>", "");
        case.mentions_not.iter().for_each(|word| assert!(!args.contains(word.as_str()), "{id}: `{word}` in {text}"));
    }
    let all = cases.iter().map(|case| tool("s", &case.tool, case.schema.clone(), None)).collect();
    let wrong = tsc::check(&[("all.d.ts", &catalog(all).declarations())]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_root_that_is_no_plain_object_takes_no_neighbour_along() {
    let union = json!({"anyOf": [
        {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        {"type": "object", "properties": {"slug": {"type": "string"}}, "required": ["slug"]},
    ]});
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let all = vec![
        tool("s", "union_root", union, None),
        tool("s", "plain", plain, None),
        tool("s", "text", json!({"type": "string"}), None),
        tool("s", "nothing", json!(false), None),
        tool("s", "no_schema", json!([1]), None),
        tool("s", "takes_none", json!({"type": "object", "properties": {}}), None),
    ];
    assert!(all[0].check_args(&json!({"id": "x"})).is_ok() && all[0].check_args(&json!({})).is_err());
    assert!(all[5].check_args(&Value::Null).is_ok());
    let signatures: Vec<String> = all.iter().map(refrain_catalog::Tool::signature).collect();
    insta::assert_snapshot!(signatures.join("\n"), @r"
tools.s.union_root(args: { id: string } | { slug: string }): Promise<unknown>
tools.s.plain(args?: { a?: string }): Promise<unknown>
tools.s.text(args: string): Promise<unknown>
tools.s.nothing(args: never): Promise<unknown>
tools.s.no_schema(args?: unknown): Promise<unknown>
tools.s.takes_none(args?: Record<string, never>): Promise<unknown>
");
    assert!(tsc::check(&[("all.d.ts", &catalog(all).declarations())]).is_empty());
}

#[test]
fn a_line_has_all_it_needs_and_leaves_out_from_the_inside() {
    let node = json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "required": ["root"], "$defs": {
        "Node": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}, "at": {"$ref": "#/$defs/At"},
        }},
        "At": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }});
    insta::assert_snapshot!(tool("s", "t", node, None).signature(), @r"tools.s.t(args: { root: Node }): Promise<unknown>; type Node = { name: string; children?: Node[]; at?: string | null }");
    let wide = |depth: usize| {
        let mut schema = json!({"type": "string"});
        for _ in 0..depth {
            let properties: serde_json::Map<String, Value> =
                (0..6).map(|n| (format!("a_long_name_{n}"), schema.clone())).collect();
            schema = json!({"type": "object", "properties": properties});
        }
        schema
    };
    insta::assert_snapshot!(tool("s", "t", wide(4), None).signature(), @r"tools.s.t(args?: { a_long_name_0?: { … }; a_long_name_1?: { … }; a_long_name_2?: { … }; a_long_name_3?: { … }; a_long_name_4?: { … }; a_long_name_5?: { … } }): Promise<unknown>");
}

/// What a schema becomes, as its tool's declaration.
fn declared(schema: Value) -> String {
    let text = catalog(vec![tool("s", "t", schema, None)]).tool_declarations();
    let text = text.replace("     * @effect write\n     * @throws {ToolError}\n", "");
    text.replace("    /**\n     */\n", "").replace("declare const tools: {\n  s: {\n", "").replace("  };\n};\n", "")
}

#[test]
fn a_reference_is_found_by_pointer_anchor_and_address() {
    insta::assert_snapshot!(declared(json!({
        "$id": "http://example.org/top/schema.json",
        "properties": {
            "pointer": {"$ref": "#/$defs/a~1b"},
            "encoded": {"$ref": "#/$defs/Map%3Cstring%3E"},
            "anchor": {"$ref": "#named"},
            "dynamic": {"$dynamicRef": "#dynamic"},
            "address": {"$ref": "other.json"},
            "inside": {"$ref": "other.json#/properties/deep"},
            "absolute": {"$ref": "http://example.org/top/other.json"},
            "gone": {"$ref": "#/$defs/gone"},
            "outside": {"$ref": "http://example.org/elsewhere.json"},
        },
        "$defs": {
            "a/b": {"properties": {"x": {"type": "number"}}, "required": ["x"]},
            "Map<string>": {"additionalProperties": {"type": "string"}},
            "named": {"$anchor": "named", "enum": ["n"]},
            "dynamic": {"$dynamicAnchor": "dynamic", "enum": ["d"]},
            "other": {"$id": "other.json", "properties": {"deep": {"enum": [1]}, "own": {"$ref": "#/properties/deep"}}},
        },
    })), @r#"
type S_AB = { x: number };
type S_MapString = { [key: string]: string };
type S_Named = "n";
type S_Dynamic = "d";
type S_OtherJson = { deep?: 1; own?: S_Deep };
type S_Deep = 1;

    /**
     * Note: `#/$defs/gone` leads nowhere in the schema
     * Note: `http://example.org/elsewhere.json` leads outside the schema and is not fetched
     */
    t(args?: {
      pointer?: S_AB;
      encoded?: S_MapString;
      anchor?: S_Named;
      dynamic?: S_Dynamic;
      address?: S_OtherJson;
      inside?: S_Deep;
      absolute?: S_OtherJson;
      gone?: unknown;
      outside?: unknown;
    }): Promise<unknown>;
"#);
}

#[test]
fn what_holds_together_is_merged() {
    insta::assert_snapshot!(declared(json!({
        "type": "object",
        "properties": {
            "merged": {"allOf": [
                {"properties": {"a": {"type": ["string", "null"]}, "b": {"type": "number"}}, "required": ["b"]},
                {"properties": {"a": {"type": "string"}, "c": {}}, "required": ["a"], "additionalProperties": false},
            ], "required": ["c"]},
            "beside": {"$ref": "#/$defs/base", "required": ["id"], "properties": {"more": {"type": "boolean"}}},
            "either": {
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "oneOf": [{"required": ["channel"], "properties": {"channel": {"type": "string"}}}, {"required": ["user"]}],
            },
            "narrowed": {"type": "string", "anyOf": [{"minLength": 3}, {"format": "uri"}]},
            "picked": {"enum": ["a", "b", 3], "type": "string"},
            "both": {"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]},
            "never": {"allOf": [{"type": "string"}, {"type": "number"}]},
            "list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "listOfBoth": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/base"}, {"required": ["x"]}]}},
            "flag": {"enum": [true, false]},
            "map": {"propertyNames": {"enum": ["x", "y"]}, "additionalProperties": {"type": "number"}},
        },
        "$defs": {"base": {"type": "object", "properties": {"id": {"type": "integer"}}}},
    })), @r#"
type S_Base = { id?: number };

    t(args?: {
      merged?: { c: unknown; a: string; b: number };
      beside?: S_Base & { more?: boolean; id: unknown };
      either?: { text: string } & ({ channel: string } | { user: unknown });
      narrowed?: string;
      picked?: "a" | "b";
      both?: "b";
      never?: never;
      list?: (string | null)[];
      listOfBoth?: (S_Base & { x: unknown })[];
      flag?: boolean;
      map?: { x?: number; y?: number };
    }): Promise<unknown>;
"#);
}

#[test]
fn a_discriminator_tells_the_variants_apart() {
    let schema = json!({"type": "object", "properties": {"pet": {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}, {"$ref": "#/components/schemas/Cow"}],
        "discriminator": {"propertyName": "kind", "mapping": {
            "cat": "#/components/schemas/Cat", "tom": "#/components/schemas/Cat", "dog": "Dog",
        }},
    }}, "components": {"schemas": {
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}, "required": ["kind"]},
        "Dog": {"allOf": [{"type": "object", "properties": {"kind": {"type": "string"}}}, {"required": ["good"]}]},
        "Cow": {"type": "object", "properties": {"kind": {"const": "moo"}}, "required": ["kind"]},
    }}});
    insta::assert_snapshot!(declared(schema), @r#"
type S_Cat = { kind: string; lives?: number };
type S_Dog = { kind?: string; good: unknown };
type S_Cow = { kind: "moo" };

    t(args?: {
      /** @discriminator "kind" */
      pet?: (S_Cat & { kind: "cat" | "tom" }) | (S_Dog & { kind: "dog" }) | S_Cow;
    }): Promise<unknown>;
"#);
}

#[test]
fn an_index_signature_never_contradicts_the_properties() {
    insta::assert_snapshot!(declared(json!({"type": "object", "properties": {
        "one": {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}},
        "required": {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": {"type": "number"}},
        "patterns": {"patternProperties": {"^x-": {"type": "string"}, "^n": {"type": "number"}}, "additionalProperties": false},
        "openPatterns": {"patternProperties": {"^x-": {"type": "string"}}},
        "any": {"patternProperties": {"^.*$": {"type": "string"}}},
        "unevaluated": {"properties": {"a": {}}, "unevaluatedProperties": false},
        "unevaluatedBeside": {"allOf": [{"$ref": "#/properties/one"}], "unevaluatedProperties": {"type": "string"}},
        "tuple": {"prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 1, "items": false},
        "oldTuple": {"type": "array", "items": [{"type": "string"}], "minItems": 1, "additionalItems": {"type": ["number", "null"]}},
        "shortTuple": {"prefixItems": [{"type": "string"}], "maxItems": 1},
        "empty": {"type": "array", "items": false},
    }})), @r#"
type S_One = { a?: string; [key: string]: number | string | undefined };

    t(args?: {
      one?: { a?: string; [key: string]: number | string | undefined };
      required?: { a: string; [key: string]: number | string };
      /**
       * @patternProperties "^x-"
       * @patternProperties "^n"
       */
      patterns?: { [key: string]: string | number };
      /** @patternProperties "^x-" */
      openPatterns?: { [key: string]: unknown };
      /** @patternProperties "^.*$" */
      any?: { [key: string]: string };
      unevaluated?: { a?: unknown };
      unevaluatedBeside?: S_One;
      /** @minItems 1 */
      tuple?: [string, number?];
      /** @minItems 1 */
      oldTuple?: [string, ...(number | null)[]];
      /** @maxItems 1 */
      shortTuple?: [string?];
      empty?: [];
    }): Promise<unknown>;
"#);
}

#[test]
fn what_a_type_cannot_say_is_a_tag() {
    insta::assert_snapshot!(declared(json!({
        "type": "object",
        "description": "All of it. */ not the end",
        "dependentRequired": {"a": ["b"]},
        "minProperties": 1,
        "allOf": [{"if": {"required": ["a"]}, "then": {"required": ["b"]}}],
        "properties": {
            "a": {"type": "integer", "minimum": 5, "exclusiveMinimum": true, "maximum": 10, "exclusiveMaximum": false, "default": 7},
            "b": {"type": "string", "pattern": "^a*/b$", "format": "uri", "examples": ["x", "y"], "deprecated": true},
            "c": {"type": "string", "nullable": true, "readOnly": true, "example": "one\ntwo"},
            "d": {"not": {"type": "string"}, "title": "Only a title"},
            "e": {"type": "array", "uniqueItems": true, "minItems": 1, "contains": {"type": "string"}, "items": {}},
            "f": {"enum": (0..150).collect::<Vec<_>>()},
            "g": {"type": "string", "description": "Two\nlines", "minLength": 1, "contentEncoding": "base64", "writeOnly": true},
        },
    })), @r#"
/**
 * Note: an enum of 150 values is shown as its type
 * @param args All of it. *\/ not the end
 * @minProperties 1
 * @dependentRequired {"a":["b"]}
 * @if {"required":["a"]} @then {"required":["b"]}
 */
t(args?: {
  /**
   * @default 7
   * @exclusiveMinimum 5
   * @maximum 10
   * @integer
   */
  a?: number;
  /**
   * @deprecated
   * @format uri
   * @pattern ^a*\/b$
   * @example "x"
   * @example "y"
   */
  b?: string;
  /**
   * @readOnly
   * @example "one\ntwo"
   */
  c?: string | null;
  /**
   * Only a title
   * @not {"type":"string"}
   */
  d?: unknown;
  /**
   * @minItems 1
   * @contains {"type":"string"}
   * @uniqueItems
   */
  e?: unknown[];
  /** @enum 150 values: 0, 1, 2, 3, 4, … */
  f?: number;
  /**
   * Two
   * lines
   * @writeOnly
   * @minLength 1
   * @contentEncoding base64
   */
  g?: string;
}): Promise<unknown>;
"#);
}

#[test]
fn tools_of_a_source_share_what_they_define_alike() {
    let schema = |title: &str| {
        json!({"type": "object", "properties": {"issue": {"$ref": "#/$defs/Issue"}}, "$defs": {
            "Issue": {"type": "object", "properties": {"title": {"type": title}, "user": {"$ref": "#/$defs/User"}}},
            "User": {"type": "object", "properties": {"name": {"type": "string"}}},
        }})
    };
    let tools = vec![
        tool("hub", "close", schema("string"), Some(schema("string"))),
        tool("hub", "open", schema("string"), None),
        tool("hub", "rename", schema("number"), None),
        tool("other", "open", schema("string"), None),
    ];
    let text = catalog(tools).tool_declarations();
    let named: Vec<&str> = text.lines().filter(|line| line.starts_with("type ")).collect();
    insta::assert_snapshot!(named.join("\n"), @r"
type Hub_Issue = { title?: string; user?: Hub_User };
type Hub_User = { name?: string };
type Hub_Rename_Issue = { title?: number; user?: Hub_User };
type Other_Issue = { title?: string; user?: Other_User };
type Other_User = { name?: string };
");
    assert!(tsc::check(&[("all.d.ts", &text.replace("ToolError", "Error"))]).is_empty());
}
