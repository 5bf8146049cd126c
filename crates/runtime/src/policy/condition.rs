//! Conditions of rules, in CEL (the Common Expression Language).
//!
//! The library has no checker of types, so what can be known before is looked for here: that a condition parses, and names only
//! variables and functions that exist. What is left fails when it is asked, and then nothing is allowed.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use cel::{
    Context, Program, Value as Cel,
    common::ast::{EntryExpr, Expr, IdedEntryExpr},
};
use serde_json::{Value, json};

use super::Subject;

/// What a condition can be about.
const VARIABLES: [&str; 4] = ["args", "caller", "run", "session"];
/// What it can call, beside operators.
const FUNCTIONS: [&str; 12] = [
    "bool",
    "bytes",
    "contains",
    "double",
    "endsWith",
    "has",
    "int",
    "matches",
    "size",
    "startsWith",
    "string",
    "uint",
];

/// A condition over a call.
#[derive(Clone)]
pub struct Condition {
    text: String,
    program: Arc<Program>,
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Condition").field(&self.text).finish()
    }
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    ///
    /// What is wrong with it: the parser's complaint, or names that nothing has.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let program = Program::compile(&text).map_err(|errors| {
            let told: Vec<String> = errors.errors.iter().map(|error| error.msg.trim().to_owned()).collect();
            format!("is no CEL expression: {}", told.join("; "))
        })?;
        let mut unknown = BTreeSet::new();
        look(&program.expression().expr, &mut VARIABLES.to_vec(), &mut unknown);
        if !unknown.is_empty() {
            return Err(format!(
                "names the unknown {}; there are the variables `{}` and the functions `{}`",
                unknown.into_iter().collect::<Vec<_>>().join(", "),
                VARIABLES.join("`, `"),
                FUNCTIONS.join("`, `")
            ));
        }
        Ok(Self { program: Arc::new(program), text })
    }

    /// Asks whether it holds.
    ///
    /// # Errors
    ///
    /// Why that cannot be told.
    pub(super) fn holds(&self, variables: &Variables) -> Result<bool, String> {
        let mut context = Context::default();
        for (name, value) in &variables.0 {
            context.add_variable_from_value(*name, value.clone());
        }
        match self.program.execute(&context) {
            Ok(Cel::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it gave {other:?}, and not true or false")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Finds names that nothing has. `known` are the variables here, with those of the lists around.
fn look<'a>(expression: &'a Expr, known: &mut Vec<&'a str>, unknown: &mut BTreeSet<String>) {
    let is_operator = |name: &str| name.contains(|c: char| !c.is_ascii_alphanumeric());
    match expression {
        Expr::Ident(name) if name.starts_with('@') || known.contains(&name.as_str()) => {}
        Expr::Ident(name) => drop(unknown.insert(format!("variable `{name}`"))),
        Expr::Call(call) => {
            if !is_operator(&call.func_name) && !FUNCTIONS.contains(&call.func_name.as_str()) {
                unknown.insert(format!("function `{}`", call.func_name));
            }
            call.target.iter().for_each(|target| look(&target.expr, known, unknown));
            call.args.iter().for_each(|argument| look(&argument.expr, known, unknown));
        }
        Expr::Comprehension(each) => {
            look(&each.iter_range.expr, known, unknown);
            look(&each.accu_init.expr, known, unknown);
            let outer = known.len();
            known.push(&each.iter_var);
            known.extend(each.iter_var2.as_deref());
            known.push(&each.accu_var);
            for part in [&each.loop_cond, &each.loop_step, &each.result] {
                look(&part.expr, known, unknown);
            }
            known.truncate(outer);
        }
        Expr::List(list) => list.elements.iter().for_each(|element| look(&element.expr, known, unknown)),
        Expr::Select(select) => look(&select.operand.expr, known, unknown),
        Expr::Map(map) => entries(&map.entries, known, unknown),
        Expr::Struct(it) => entries(&it.entries, known, unknown),
        Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn entries<'a>(entries: &'a [IdedEntryExpr], known: &mut Vec<&'a str>, unknown: &mut BTreeSet<String>) {
    for entry in entries {
        match &entry.expr {
            EntryExpr::StructField(field) => look(&field.value.expr, known, unknown),
            EntryExpr::MapEntry(pair) => {
                look(&pair.key.expr, known, unknown);
                look(&pair.value.expr, known, unknown);
            }
        }
    }
}

/// What the conditions of rules can see of a call.
pub(super) struct Variables([(&'static str, Cel); 4]);

impl Variables {
    pub(super) fn new(subject: &Subject<'_>) -> Self {
        let caller = json!({ "way": subject.origin.way, "client": subject.origin.client });
        let run = json!({ "id": subject.run.map(|run| run.to_string()), "calls": subject.calls });
        Self([
            ("args", cel_of(subject.args)),
            ("caller", cel_of(&caller)),
            ("run", cel_of(&run)),
            ("session", cel_of(&json!(subject.session))),
        ])
    }
}

/// Whole numbers are `int` as far as that goes, whatever their spelling: a script has one kind of number.
fn cel_of(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cel::Int(whole),
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range")]
            (None, Some(float)) if float.fract() == 0.0 && float.abs() < 9.0e15 => Cel::Int(float as i64),
            (None, float) => Cel::Float(float.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::from(text.as_str()),
        Value::Array(list) => Cel::from(list.iter().map(cel_of).collect::<Vec<_>>()),
        Value::Object(map) => {
            Cel::from(map.iter().map(|(key, value)| (key.clone(), cel_of(value))).collect::<HashMap<_, _>>())
        }
    }
}
