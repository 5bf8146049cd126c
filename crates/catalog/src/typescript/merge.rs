//! Types that hold at the same time: `allOf`, and keywords beside each other.
//!
//! Two objects become one. An object beside a union stays an intersection, which is shorter than the object in each branch.
//! What surely contradicts is left out. Where TypeScript's own `&` says it well, it stays.

use std::collections::HashMap;

use super::shape::{Object, Rest, Type, union};

/// Returns the type of what fits both.
pub(super) fn both(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Unknown, other) | (other, Type::Unknown) => other,
        (Type::Never, _) | (_, Type::Never) => Type::Never,
        (a, b) if a == b => a,
        (a, b) if contradict(&a, &b) => Type::Never,
        (Type::Union(parts), other) => within(parts, other, false),
        (other, Type::Union(parts)) => within(parts, other, true),
        (Type::Object(a), Type::Object(b)) => Type::Object(merged(a, b)),
        (Type::Intersection(parts), other) => join(parts, other, false),
        (other, Type::Intersection(parts)) => join(parts, other, true),
        (Type::Array(a), Type::Array(b)) => Type::Array(Box::new(both(*a, *b))),
        (tuple @ Type::Tuple { .. }, Type::Array(_) | Type::Tuple { .. })
        | (Type::Array(_), tuple @ Type::Tuple { .. }) => tuple,
        (literal @ Type::Literal(_), Type::Keyword(_)) | (Type::Keyword(_), literal @ Type::Literal(_)) => literal,
        // Beside a name, "an object" or "a text" only repeats what the name stands for.
        (named @ Type::Named(_), other) | (other, named @ Type::Named(_)) if says_little(&other) => named,
        (a, b) => Type::Intersection(vec![a, b]),
    }
}

/// Returns what fits `other` and one of `parts`.
fn within(parts: Vec<Type>, other: Type, other_first: bool) -> Type {
    let mut parts: Vec<Type> = parts.into_iter().filter(|part| !contradict(part, &other)).collect();
    if parts.len() < 2 {
        return parts.pop().map_or(Type::Never, |part| if other_first { both(other, part) } else { both(part, other) });
    }
    match other {
        Type::Keyword(_) | Type::Literal(_) => union(parts.into_iter().map(|part| both(part, other.clone())).collect()),
        Type::Union(others) if parts.iter().chain(&others).all(is_scalar) => {
            union(parts.into_iter().map(|part| within(others.clone(), part, false)).collect())
        }
        Type::Union(others) => {
            let others: Vec<Type> =
                others.into_iter().filter(|other| !parts.iter().all(|part| contradict(part, other))).collect();
            pair(union(parts), union(others))
        }
        other if says_little(&other) => union(parts),
        // One branch takes every object, so the union adds nothing.
        Type::Object(object) if parts.iter().any(|part| matches!(part, Type::Object(part) if part.is_plain())) => {
            Type::Object(object)
        }
        other if other_first => pair(other, union(parts)),
        other => pair(union(parts), other),
    }
}

fn pair(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Never, _) | (_, Type::Never) => Type::Never,
        (Type::Intersection(mut parts), other) => {
            parts.push(other);
            Type::Intersection(parts)
        }
        (other, Type::Intersection(mut parts)) => {
            parts.insert(0, other);
            Type::Intersection(parts)
        }
        (a, b) => Type::Intersection(vec![a, b]),
    }
}

/// Adds `other` to an intersection.
fn join(mut parts: Vec<Type>, other: Type, other_first: bool) -> Type {
    if parts.contains(&other) || says_little(&other) {
        return Type::Intersection(parts);
    }
    if parts.iter().any(|part| contradict(part, &other)) {
        return Type::Never;
    }
    match other {
        Type::Intersection(others) => others.into_iter().fold(Type::Intersection(parts), both),
        Type::Object(object) => {
            let own = parts.iter_mut().find_map(|part| if let Type::Object(own) = part { Some(own) } else { None });
            match own {
                Some(own) => *own = merged(std::mem::take(own), object),
                None => parts.insert(if other_first { 0 } else { parts.len() }, Type::Object(object)),
            }
            Type::Intersection(parts)
        }
        other => {
            parts.insert(if other_first { 0 } else { parts.len() }, other);
            Type::Intersection(parts)
        }
    }
}

/// Unites the properties. What both have has to fit both, and what one requires is required.
fn merged(mut a: Object, b: Object) -> Object {
    let mut places: HashMap<String, usize> =
        a.properties.iter().enumerate().map(|(at, property)| (property.name.clone(), at)).collect();
    for property in b.properties {
        let Some(at) = places.get(&property.name) else {
            places.insert(property.name.clone(), a.properties.len());
            a.properties.push(property);
            continue;
        };
        let own = &mut a.properties[*at];
        own.required |= property.required;
        own.ty = both(std::mem::replace(&mut own.ty, Type::Unknown), property.ty);
        for line in property.docs {
            if !own.docs.contains(&line) {
                own.docs.push(line);
            }
        }
    }
    a.rest = match (a.rest, b.rest) {
        (Rest::Closed, _) | (_, Rest::Closed) => Rest::Closed,
        (Rest::Unsaid, other) | (other, Rest::Unsaid) => other,
        (Rest::Open(a), Rest::Open(b)) => Rest::Open(Box::new(both(*a, *b))),
    };
    a
}

/// Returns whether no value fits both, as far as that is plain to see.
fn contradict(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Literal(a), Type::Literal(b)) => a != b,
        _ => kind(a).zip(kind(b)).is_some_and(|(a, b)| a != b),
    }
}

/// Returns the kind of JSON value that a type is, where that is one.
fn kind(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Keyword(word) => word,
        Type::Literal(text) => match text.as_bytes().first() {
            Some(b'"') => "string",
            Some(b't' | b'f') => "boolean",
            _ => "number",
        },
        Type::Array(_) | Type::Tuple { .. } => "array",
        Type::Object(_) => "object",
        Type::Unknown | Type::Never | Type::Named(_) | Type::Union(_) | Type::Intersection(_) => return None,
    })
}

fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Keyword(_) | Type::Literal(_))
}

fn says_little(ty: &Type) -> bool {
    match ty {
        Type::Keyword(_) => true,
        Type::Object(object) => object.is_plain(),
        Type::Array(item) => **item == Type::Unknown,
        _ => false,
    }
}
