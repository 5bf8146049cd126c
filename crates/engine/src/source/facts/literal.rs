//! Values, as far as the text shows them.

use oxc::{
    ast::ast::{ArrayExpressionElement, Expression, ObjectPropertyKind, PropertyKind, UnaryOperator},
    span::GetSpan,
};

use super::{Position, alias::key_of};
use crate::source::position::Lines;

/// Deeper values are unknown.
pub(super) const MOST_DEPTH: usize = 16;

/// A value, as far as the text shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// Anything.
    Unknown,
    /// `undefined`, or something that JSON leaves out like it, such as a function.
    Undefined,
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A BigInt, which JSON does not have.
    BigInt,
    /// A text.
    Text(String),
    /// A text that is put together when the script runs.
    SomeText,
    /// An array.
    Array {
        /// Its elements. Where `open`, they may stand elsewhere and others may be there.
        items: Vec<Literal>,
        /// Whether something is spread into it.
        open: bool,
    },
    /// An object.
    Object {
        /// Its fields, each name once.
        fields: Vec<Field>,
        /// Whether it may have other fields.
        open: bool,
    },
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Literal,
    /// Where its name stands.
    pub position: Position,
}

/// The value of an argument. A spread one is unknown.
pub(super) fn of(lines: &Lines<'_>, argument: Option<&Expression<'_>>) -> Literal {
    argument.map_or(Literal::Unknown, |value| of_value(lines, value, MOST_DEPTH))
}

fn of_value(lines: &Lines<'_>, value: &Expression<'_>, depth: usize) -> Literal {
    let Some(depth) = depth.checked_sub(1) else { return Literal::Unknown };
    match value.get_inner_expression() {
        Expression::NullLiteral(_) => Literal::Null,
        Expression::BooleanLiteral(it) => Literal::Bool(it.value),
        Expression::NumericLiteral(it) => Literal::Number(it.value),
        Expression::BigIntLiteral(_) => Literal::BigInt,
        Expression::StringLiteral(it) if it.lone_surrogates => Literal::SomeText,
        Expression::StringLiteral(it) => Literal::Text(it.value.to_string()),
        Expression::TemplateLiteral(it) => match it.single_quasi() {
            Some(text) if it.quasis.iter().all(|quasi| !quasi.lone_surrogates) => Literal::Text(text.to_string()),
            _ => Literal::SomeText,
        },
        Expression::Identifier(it) if it.name == "undefined" => Literal::Undefined,
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) | Expression::ClassExpression(_) => {
            Literal::Undefined
        }
        Expression::UnaryExpression(it) => match (it.operator, of_value(lines, &it.argument, depth)) {
            (UnaryOperator::UnaryNegation, Literal::Number(number)) => Literal::Number(-number),
            (UnaryOperator::Void, _) => Literal::Undefined,
            (UnaryOperator::Typeof, _) => Literal::SomeText,
            _ => Literal::Unknown,
        },
        Expression::ArrayExpression(array) => {
            let mut items = Vec::new();
            let mut open = false;
            for element in &array.elements {
                match element {
                    ArrayExpressionElement::SpreadElement(_) => open = true,
                    // JSON has `null` in its place.
                    ArrayExpressionElement::Elision(_) => items.push(Literal::Null),
                    element => items.push(match element.as_expression() {
                        Some(value) => match of_value(lines, value, depth) {
                            Literal::Undefined => Literal::Null,
                            value => value,
                        },
                        None => Literal::Unknown,
                    }),
                }
            }
            Literal::Array { items, open }
        }
        Expression::ObjectExpression(object) => object_of(lines, &object.properties, depth),
        _ => Literal::Unknown,
    }
}

fn object_of(lines: &Lines<'_>, properties: &[ObjectPropertyKind<'_>], depth: usize) -> Literal {
    let mut fields: Vec<Field> = Vec::new();
    let mut open = false;
    for property in properties {
        let known = match property {
            ObjectPropertyKind::SpreadProperty(_) => None,
            ObjectPropertyKind::ObjectProperty(it) => key_of(&it.key, it.computed).map(|name| (it, name)),
        };
        let Some((it, name)) = known else {
            // What is spread later wins.
            fields.iter_mut().for_each(|field| field.value = Literal::Unknown);
            open = true;
            continue;
        };
        if name == "__proto__" && !it.computed && !it.shorthand && !it.method {
            // Sets the prototype, whose `toJSON` may make anything of the object.
            return Literal::Unknown;
        }
        if name == "toJSON" {
            return Literal::Unknown;
        }
        let value = match it.kind {
            PropertyKind::Init => of_value(lines, &it.value, depth),
            PropertyKind::Get | PropertyKind::Set => Literal::Unknown,
        };
        let field = Field { name, value, position: lines.position(it.key.span().start) };
        // A long list of fields is data; looking each name up would take quadratic time.
        match fields.iter_mut().rev().take(200).find(|known| known.name == field.name) {
            Some(known) => *known = field,
            None => fields.push(field),
        }
    }
    Literal::Object { fields, open }
}
