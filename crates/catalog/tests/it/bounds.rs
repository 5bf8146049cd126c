//! Schemas that are too much, and schemas made at random: none breaks its neighbours, and all of it compiles.

use refrain_catalog::{ArgumentRules, Tool};
use serde_json::{Map, Value, json};

use crate::{
    support::{catalog, tool},
    tsc,
};

/// Schemas that would be long, deep or wide without a bound, each with a name.
fn too_much() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    let numbered = |count: usize, make: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        (0..count).map(|n| (format!("k{n}"), make(n))).collect()
    };
    // Each level refers to the next one twice: 2^40 types where references are written out.
    let doubling = numbered(40, &|n| {
        let next = json!({"$ref": format!("#/$defs/k{}", n + 1)});
        json!({"properties": {"a": next, "b": next}})
    });
    all.push(("doubling", json!({"$ref": "#/$defs/k0", "$defs": doubling})));
    all.push((
        "chain",
        json!({"$ref": "#/$defs/k0", "$defs": numbered(20_000, &|n| json!({"$ref": format!("#/$defs/k{}", n + 1)}))}),
    ));
    let unions = |count: usize| {
        numbered(count, &|n| json!({"anyOf": [{"$ref": format!("#/$defs/k{}", (n + 1) % count)}, {"const": n}]}))
    };
    all.push(("unions", json!({"$ref": "#/$defs/k0", "$defs": unions(20_000)})));
    // As many as are still checked: each alternative is tried inside the one before.
    all.push(("alternatives in one another", json!({"$ref": "#/$defs/k0", "$defs": unions(1500)})));
    all.push((
        "names",
        json!({"properties": numbered(20_000, &|n| json!({"$ref": format!("#/$defs/k{n}")})),
        "$defs": numbered(20_000, &|n| json!({"properties": {"next": {"$ref": format!("#/$defs/k{}", n + 1)}}}))}),
    ));
    all.push(("properties", json!({"properties": numbered(50_000, &|_| json!({"type": "string"}))})));
    all.push(("required", json!({"required": (0..100_000).map(|n| format!("k{n}")).collect::<Vec<_>>()})));
    all.push((
        "enum",
        json!({"properties": {"a": {"enum": (0..100_000).map(|n| format!("v{n}")).collect::<Vec<_>>()}}}),
    ));
    all.push((
        "alternatives",
        json!({"anyOf": (0..10_000).map(|n| json!({"required": [format!("k{n}")]})).collect::<Vec<_>>()}),
    ));
    all.push(("tuple", json!({"properties": {"a": {"prefixItems": vec![json!({"type": "string"}); 100_000]}}})));
    all.push((
        "conditions",
        json!({"allOf": vec![json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}); 10_000]}),
    ));
    let long = "x*/".repeat(400_000);
    all.push((
        "texts",
        json!({"properties": {
        &long: {}, "a": {"description": long, "pattern": long, "default": long, "const": long},
    }, "description": long}),
    ));
    // A union of so many members in each of three parts that hold together.
    let wide = |key: &str| {
        let variants: Vec<Value> =
            (0..90).map(|n| json!({"properties": {key: {"const": n}}, "required": [key]})).collect();
        json!({"anyOf": variants})
    };
    all.push(("product", json!({"type": "object", "allOf": [wide("a"), wide("b"), wide("c"), wide("d")]})));
    all.push((
        "named product",
        json!({
            "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}, {"$ref": "#/$defs/c"}],
            "$defs": {"a": wide("a"), "b": wide("b"), "c": wide("c")},
        }),
    ));
    let mut deep = json!({"type": "string"});
    let mut deep_not = json!({});
    for _ in 0..10_000 {
        deep = Map::from_iter([("properties".to_owned(), Map::from_iter([("a".to_owned(), deep)]).into())]).into();
        deep_not = Map::from_iter([("not".to_owned(), deep_not)]).into();
    }
    all.push(("deep", deep));
    all.push((
        "deep not",
        Map::from_iter([("properties".to_owned(), Map::from_iter([("a".to_owned(), deep_not)]).into())]).into(),
    ));
    all
}

#[test]
fn a_schema_that_is_too_much_is_cut_and_says_so() {
    // Only to make such values, and to drop them, takes more stack than a test has.
    std::thread::Builder::new().stack_size(64 << 20).spawn(cut_and_say_so).unwrap().join().unwrap();
}

fn cut_and_say_so() {
    let all = too_much();
    // The others come to little.
    let noted = [
        "doubling",
        "chain",
        "unions",
        "names",
        "properties",
        "required",
        "enum",
        "alternatives",
        "tuple",
        "conditions",
        "texts",
        "deep",
        "deep not",
    ];
    for (name, schema) in &all {
        let tool = tool("s", name, schema.clone(), Some(schema.clone()));
        let signature = tool.signature();
        assert!(signature.len() <= 1010, "{name}: {} bytes", signature.len());
        // Whatever comes out is fine; that it comes out is the point.
        let _ = tool.check_args(&json!({}));
        let text = catalog(vec![tool]).tool_declarations();
        assert!(text.len() < 1_000_000, "{name}: {} bytes", text.len());
        assert_eq!(text.contains("Note: "), noted.contains(name), "{name}");
    }
    let tools = all.iter().map(|(name, schema)| tool("s", name, schema.clone(), None)).collect();
    let wrong = tsc::check(&[("all.d.ts", &catalog(tools).declarations())]);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A small generator of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

const NAMES: [&str; 14] =
    ["a", "b", "id", "class", "new", "then", "__proto__", "*/", "a b", "", "名前", "$x", "line\nbreak", "\"quoted\\"];
const TYPES: [&str; 8] = ["string", "number", "integer", "boolean", "null", "array", "object", "banana"];
const WORDS: [&str; 24] = [
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "enum",
    "const",
    "not",
    "if",
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "minItems",
    "description",
    "nullable",
    "propertyNames",
    "default",
    "discriminator",
    "maxItems",
    "additionalItems",
];

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => (dice.below(2) == 0).into(),
        2 => (i64::try_from(dice.below(100)).unwrap() - 50).into(),
        3 => json!(1e300),
        4 | 5 => dice.of(&NAMES).into(),
        6 => (0..dice.below(3)).map(|_| value(dice, depth - 1)).collect(),
        _ => (0..dice.below(3))
            .map(|_| (dice.of(&NAMES).to_owned(), value(dice, depth - 1)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

fn schemas(dice: &mut Dice, depth: usize) -> Value {
    (0..=dice.below(3)).map(|_| schema(dice, depth)).collect()
}

fn named_schemas(dice: &mut Dice, depth: usize) -> Value {
    (0..dice.below(4)).map(|_| (dice.of(&NAMES).to_owned(), schema(dice, depth))).collect::<Map<_, _>>().into()
}

fn schema(dice: &mut Dice, depth: usize) -> Value {
    if depth == 0 {
        return if dice.below(4) == 0 { Value::Bool(dice.below(2) == 0) } else { json!({"type": dice.of(&TYPES)}) };
    }
    let mut map = Map::new();
    for _ in 0..=dice.below(4) {
        let word = dice.of(&WORDS);
        let content = match word {
            // Now and then a keyword has what does not belong there.
            _ if dice.below(12) == 0 => value(dice, 2),
            "type" if dice.below(3) == 0 => json!([dice.of(&TYPES), dice.of(&TYPES)]),
            "type" => dice.of(&TYPES).into(),
            "properties" | "patternProperties" => named_schemas(dice, depth - 1),
            "required" => json!([dice.of(&NAMES), dice.of(&NAMES)]),
            "prefixItems" | "anyOf" | "oneOf" | "allOf" => schemas(dice, depth - 1),
            "items" if dice.below(4) == 0 => schemas(dice, depth - 1),
            "$ref" => dice
                .of(&["#", "#/$defs/a", "#/$defs/b", "#/$defs/名前", "#/$defs/gone", "#/properties/a", "x.json", "#b"])
                .into(),
            "enum" => (0..dice.below(4)).map(|_| value(dice, 2)).collect(),
            "const" | "default" => value(dice, 2),
            "minItems" | "maxItems" => dice.below(4).into(),
            "description" => format!("{} {}", dice.of(&NAMES), dice.of(&["*/", "/**", "@tag", "\u{2028}"])).into(),
            "nullable" => (dice.below(2) == 0).into(),
            "discriminator" => json!({"propertyName": dice.of(&NAMES), "mapping": {"m": "#/$defs/a"}}),
            _ => schema(dice, depth - 1),
        };
        map.insert(word.to_owned(), content);
    }
    map.into()
}

#[test]
fn schemas_made_at_random_compile_and_check_without_harm() {
    let mut tools = Vec::new();
    for seed in 1..=1500_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut made = schema(&mut dice, 4);
        if let Value::Object(map) = &mut made {
            map.insert(
                "$defs".into(),
                json!({"a": schema(&mut dice, 3), "b": schema(&mut dice, 3), "名前": schema(&mut dice, 2)}),
            );
        }
        let mut tool = tool("s", &format!("t{seed}"), made.clone(), Some(made));
        tool.rules = refrain_catalog::ArgumentRules { coerce: seed % 2 == 0, defaults: seed % 3 == 0 };
        assert!(!tool.signature().is_empty());
        for _ in 0..3 {
            // Whatever comes out is fine; that it comes out is the point.
            let _ = tool.check_args(&value(&mut dice, 3));
        }
        tools.push(tool);
    }
    let text = catalog(tools.clone()).declarations();
    assert_eq!(text, catalog(tools).declarations(), "the same tools give the same text");
    let lines: Vec<&str> = text.lines().collect();
    let wrong = tsc::check(&[("all.d.ts", &text)]);
    let shown: Vec<String> =
        wrong.iter().take(10).map(|it| format!("{}: {}\n  {}", it.code, it.message, lines[it.line - 1])).collect();
    assert!(wrong.is_empty(), "{} errors\n{}", wrong.len(), shown.join("\n"));
}

/// A few kilobytes without a cycle, against which one value would be held 2^40 or 10^30 times. Nothing can stop such a check, so
/// none is begun, and the tool says so.
#[test]
fn schemas_that_multiply_are_not_checked_and_say_so() {
    for (keyword, fan, levels) in [("allOf", 2, 40), ("anyOf", 10, 30), ("oneOf", 3, 30)] {
        let mut definitions: serde_json::Map<String, Value> = (0..levels)
            .map(|n| (format!("d{n}"), json!({keyword: vec![json!({"$ref": format!("#/$defs/d{}", n + 1)}); fan]})))
            .collect();
        definitions.insert(format!("d{levels}"), json!({"type": "string"}));
        let schema = json!({"type": "object", "$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}});
        let mut tool = Tool::new("s", "t");
        tool.input_schema = std::sync::Arc::new(schema);
        assert!(tool.check_args(&json!({"x": 5})).is_ok(), "{keyword}");
    }
    // What repeats with each level of the value multiplies as well, once the value is deep.
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!({"a": inner}));
    let again = json!({"properties": {"a": {"$ref": "#"}}});
    let mut tool = Tool::new("s", "t");
    tool.input_schema = std::sync::Arc::new(json!({"anyOf": [again, again], "type": "object"}));
    assert!(tool.check_args(&nested(3)).is_err() && tool.check_args(&nested(60)).is_ok());
    // A value that only comes of mending is counted as well: the default and the text spell sixty levels.
    for rules in [ArgumentRules { coerce: true, defaults: false }, ArgumentRules { coerce: false, defaults: true }] {
        let mut tool = Tool::new("s", "t");
        tool.rules = rules;
        let part = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/part"}}});
        let part = json!({"anyOf": [part, part]});
        let given = json!({"$ref": "#/$defs/part", "type": "object", "default": nested(60)});
        tool.input_schema = std::sync::Arc::new(json!({"properties": {"x": given}, "$defs": {"part": part}}));
        assert!(tool.check_args(&json!({})).is_ok());
        assert!(tool.check_args(&json!({"x": nested(60).to_string()})).is_err());
    }
    // As many alternatives as there are in earnest are checked.
    let many: Vec<Value> = (0..2_000).map(|n| json!({"const": n})).collect();
    let mut tool = Tool::new("s", "t");
    tool.input_schema = std::sync::Arc::new(json!({"properties": {"x": {"anyOf": many}}}));
    assert!(tool.check_args(&json!({"x": 1_999})).is_ok() && tool.check_args(&json!({"x": 2_000})).is_err());
}
