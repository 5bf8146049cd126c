//! From arguments of a call to arguments of a program.
//!
//! # Rules
//!
//! * `{name}` stands for an argument; `{{` and `}}` are braces. Text goes in as it is, numbers and truth values as JSON
//!   writes them, anything else as JSON.
//! * **An element with a placeholder that has no value is left out**, whole. So an optional flag with its value is one
//!   element: `--author={author}`. A lone `--author` before `{author}` would stay behind.
//! * `{idempotency_key}` stands for the key of the call, unless `input` declares an argument of that name. A call without a key
//!   leaves its element out.
//! * An element that is one placeholder and whose value is a list becomes one element for each item.
//! * **A value never becomes an option.** An element that begins with a placeholder must not come out with a `-` at its
//!   front, unless the template has a `--` before it.
//! * The program itself has no placeholders. A NUL is refused everywhere.

use serde_json::{Map, Value};

use crate::{
    error::{CallError, ErrorCode, SettingsError},
    name,
};

/// A checked command line.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    program: String,
    arguments: Vec<Element>,
    stdin: Option<Element>,
}

/// What a call runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) stdin: Option<String>,
}

type Element = Vec<Piece>;

/// What stands for the key of a call.
const KEY: &str = "idempotency_key";

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(String),
    /// The key of the call, which is the same each time that it is made.
    Key,
}

impl Template {
    pub(crate) fn parse(command: &[String], stdin: Option<&str>, known: &[&str]) -> Result<Self, Vec<SettingsError>> {
        let mut faults = Vec::new();
        let mut parse = |key: &str, text: &str| match pieces(text, known) {
            Ok(element) => element,
            Err(message) => {
                faults.push(SettingsError::new(key, message));
                Element::new()
            }
        };
        let arguments = command.iter().skip(1).map(|text| parse("command", text)).collect();
        let stdin = stdin.map(|text| parse("stdin", text));
        let program = command.first().cloned().unwrap_or_default();
        if program.is_empty() {
            faults.push(SettingsError::new("command", "is empty; write the program and its arguments as a list"));
        }
        if !matches!(pieces(&program, known), Ok(element) if element.iter().all(|p| matches!(p, Piece::Text(_)))) {
            faults.push(SettingsError::new("command", "has a placeholder in the program's name; write the name out"));
        }
        if faults.is_empty() { Ok(Self { program, arguments, stdin }) } else { Err(faults) }
    }

    /// Returns the program, which no argument changes.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Fills in `args`, and the key of the call where it has one.
    ///
    /// # Errors
    ///
    /// `invalid_arguments`, when a value has a NUL or would become an option.
    pub(crate) fn fill(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        call: Option<&str>,
    ) -> Result<Invocation, CallError> {
        let mut arguments = Vec::new();
        let mut options_ended = false;
        for element in &self.arguments {
            if let [Piece::Value(key)] = element.as_slice()
                && let Some(Value::Array(items)) = args.get(key)
            {
                for item in items.iter().filter(|item| !item.is_null()) {
                    let text = text(item);
                    check(tool, key, &text, !options_ended)?;
                    arguments.push(text);
                }
                continue;
            }
            let Some(text) = render(element, args, call) else { continue };
            match element.first() {
                Some(Piece::Value(key)) => check(tool, key, &text, !options_ended)?,
                Some(Piece::Text(_) | Piece::Key) | None => check(tool, keys(element), &text, false)?,
            }
            options_ended |= matches!(element.as_slice(), [Piece::Text(text)] if text == "--");
            arguments.push(text);
        }
        let stdin = self.stdin.as_ref().and_then(|element| render(element, args, call));
        Ok(Invocation { program: self.program.clone(), arguments, stdin })
    }
}

fn keys(element: &Element) -> &str {
    element
        .iter()
        .find_map(|piece| match piece {
            Piece::Value(key) => Some(key.as_str()),
            Piece::Text(_) | Piece::Key => None,
        })
        .unwrap_or_default()
}

fn check(tool: &str, key: &str, text: &str, may_be_option: bool) -> Result<(), CallError> {
    let fault = if text.contains('\0') {
        "has a NUL character, which no program argument can have"
    } else if may_be_option && text.starts_with('-') {
        "begins with `-` and would be read as an option"
    } else {
        return Ok(());
    };
    let message = format!("invalid arguments for `{tool}`\n- `args{}`: {fault}", name::access(key));
    Err(CallError::new(ErrorCode::InvalidArguments, message))
}

/// Returns the text of an element, or nothing where a value is missing.
fn render(element: &Element, args: &Map<String, Value>, call: Option<&str>) -> Option<String> {
    let mut out = String::new();
    for piece in element {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Value(key) => out.push_str(&text(args.get(key).filter(|value| !value.is_null())?)),
            Piece::Key => out.push_str(call?),
        }
    }
    Some(out)
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        // A script has one kind of number: 5 may arrive as 5.0, and programs do not take that.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 => {
                format!("{float:.0}")
            }
            _ => number.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn pieces(template: &str, known: &[&str]) -> Result<Element, String> {
    let mut element = Element::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            literal.push_str(brace);
            rest = after;
            continue;
        }
        let Some(end) = rest.find('}').filter(|_| brace == "{") else {
            return Err(format!("has a lone `{brace}` in `{template}`; write `{brace}{brace}` for a brace"));
        };
        let key = &rest[..end];
        let piece = if known.contains(&key) {
            Piece::Value(key.to_owned())
        } else if key == KEY {
            Piece::Key
        } else {
            let near = name::did_you_mean(key, known.iter().copied().chain([KEY]));
            return Err(format!("uses `{{{key}}}`, which `input` does not declare{near}"));
        };
        if !literal.is_empty() {
            element.push(Piece::Text(std::mem::take(&mut literal)));
        }
        element.push(piece);
        rest = &rest[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() || element.is_empty() {
        element.push(Piece::Text(literal));
    }
    Ok(element)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(command: &[&str], args: Value) -> Result<Vec<String>, String> {
        let command: Vec<String> = std::iter::once("prog").chain(command.iter().copied()).map(String::from).collect();
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let template = Template::parse(&command, None, &["a", "b"]).unwrap();
        template.fill("s.t", &args, None).map(|filled| filled.arguments).map_err(|error| error.message)
    }

    #[test]
    fn values_fill_elements_and_missing_ones_leave_the_element_out() {
        let check = |command: &[&str], args: Value, expect: &[&str]| {
            assert_eq!(fill(command, args.clone()).unwrap(), expect, "{command:?} {args}");
        };
        check(&["-n", "{a}"], json!({"a": 5}), &["-n", "5"]);
        check(&["-n", "{a}"], json!({"a": 5.0}), &["-n", "5"]);
        check(&["{a}"], json!({"a": 1.5}), &["1.5"]);
        check(&["--x={a}", "y"], json!({}), &["y"]);
        check(&["--x={a}", "y"], json!({"a": null}), &["y"]);
        check(&["--x={a}-{b}"], json!({"a": "1"}), &[]);
        check(&["{a}"], json!({"a": ["p", "q", 3]}), &["p", "q", "3"]);
        check(&["--x={a}"], json!({"a": ["p"]}), &["--x=[\"p\"]"]);
        check(&["{{{a}}}", "{{}}", ""], json!({"a": "v"}), &["{v}", "{}", ""]);
        check(&["{a}"], json!({"a": ""}), &[""]);
        check(&["{a}"], json!({"a": "{b}"}), &["{b}"]);
    }

    #[test]
    fn a_hostile_value_stays_one_argument_and_never_becomes_an_option() {
        for hostile in ["; rm -rf /", "$(id)", "`id`", "a b\nc", "\"'", "*", "| cat", "é\u{202e}"] {
            assert_eq!(fill(&["--x={a}", "{a}"], json!({"a": hostile})).unwrap(), [&format!("--x={hostile}"), hostile]);
        }
        let refused = |command: &[&str], args: Value| {
            assert!(fill(command, args.clone()).is_err(), "{command:?} {args}");
        };
        refused(&["{a}"], json!({"a": "-o"}));
        refused(&["{a}"], json!({"a": "--output=/tmp/x"}));
        refused(&["{a}"], json!({"a": -1}));
        refused(&["{a}"], json!({"a": ["fine", "-o"]}));
        refused(&["{a}{b}"], json!({"a": "", "b": "-o"}));
        refused(&["{a}-o"], json!({"a": ""}));
        refused(&["{a}"], json!({"a": "x\0y"}));
        refused(&["--x={a}"], json!({"a": "x\0y"}));
        // A `--` that came in as a value ends no options.
        refused(&["{a}", "{b}"], json!({"a": "--", "b": "x"}));
        assert_eq!(fill(&["--", "{a}"], json!({"a": "-o"})).unwrap(), ["--", "-o"]);
        assert_eq!(fill(&["--x={a}"], json!({"a": "-o"})).unwrap(), ["--x=-o"]);
    }

    #[test]
    fn the_key_of_a_call_goes_where_it_is_wanted_and_leaves_its_element_out_without_one() {
        let command = ["prog", "--key={idempotency_key}", "{idempotency_key}", "-"].map(String::from);
        let template = Template::parse(&command, Some("key {idempotency_key}"), &[]).unwrap();
        let args = Map::new();
        let with = template.fill("s.t", &args, Some("run/1")).unwrap();
        assert_eq!(with.arguments, ["--key=run/1", "run/1", "-"]);
        assert_eq!(with.stdin.as_deref(), Some("key run/1"));
        let without = template.fill("s.t", &args, None).unwrap();
        assert_eq!((without.arguments, without.stdin), (vec!["-".to_owned()], None));
        // An argument of that name is the caller's own.
        let own = Template::parse(&command, None, &["idempotency_key"]).unwrap();
        let Value::Object(args) = json!({ "idempotency_key": "mine" }) else { unreachable!() };
        assert_eq!(own.fill("s.t", &args, Some("run/1")).unwrap().arguments, ["--key=mine", "mine", "-"]);
    }

    #[test]
    fn a_wrong_template_says_which_key_and_what_instead() {
        let check = |command: &[&str], expect: &str| {
            let command: Vec<String> = command.iter().map(|text| (*text).to_owned()).collect();
            let faults = Template::parse(&command, None, &["limit"]).unwrap_err();
            assert_eq!(faults[0].to_string(), expect);
        };
        check(&[], "`command` is empty; write the program and its arguments as a list");
        check(&["{limit}"], "`command` has a placeholder in the program's name; write the name out");
        check(&["x", "{limt}"], "`command` uses `{limt}`, which `input` does not declare; did you mean `limit`?");
        check(&["x", "a{"], "`command` has a lone `{` in `a{`; write `{{` for a brace");
        check(&["x", "a}"], "`command` has a lone `}` in `a}`; write `}}` for a brace");
    }
}
