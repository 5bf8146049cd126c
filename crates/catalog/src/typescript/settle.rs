//! What can only be said once all definitions are there.
//!
//! A definition that is nothing but a keyword or another name gives way to it. A type may contain itself and must not *be*
//! itself: `type A = A | string` is an error that would take the whole file along. Nor may names stand for names without
//! end, since the compiler follows them. And an intersection of unions multiplies: past some width TypeScript gives up, so
//! that only the first of them stays.

use std::collections::HashSet;

use super::{
    merge::both,
    shape::{Definition, Type, union},
};

/// Members that an intersection of unions may come to. TypeScript's own bound is 100,000.
const MAX_WIDTH: usize = 5_000;

/// How often definitions give way to what others became. What is left is right, and longer than it has to be.
const MAX_ROUNDS: usize = 5;
/// Names that may be combinations of names, one behind the other.
const MAX_NAMES: usize = 100;

/// Puts `definitions` in order, and the types that refer to them. Returns whether some only lead around in a circle, which
/// says nothing.
pub(super) fn settle(definitions: &mut [Definition], types: &mut [&mut Type]) -> bool {
    let has_circle = give_way(definitions, types);
    break_circles(definitions);
    // What had to become `unknown` gives way as well, and with it what is a union with it.
    for _ in 0..MAX_ROUNDS {
        let before = plain(definitions);
        give_way(definitions, types);
        if plain(definitions) == before {
            break;
        }
    }
    narrow(definitions, types);
    has_circle
}

/// Returns how many definitions have no need of a name.
fn plain(definitions: &[Definition]) -> usize {
    definitions
        .iter()
        .filter(|it| matches!(it.ty, Type::Unknown | Type::Never | Type::Keyword(_) | Type::Named(_)))
        .count()
}

/// Returns the definitions that `types` need, in the order in which they are met.
pub(super) fn reachable(definitions: &[Definition], types: &[&Type]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    types.iter().for_each(|ty| mentioned(ty, &mut names));
    let mut open: Vec<usize> = names.into_iter().rev().collect();
    while let Some(place) = open.pop() {
        if seen.insert(place) {
            found.push(place);
            let mut names = Vec::new();
            mentioned(&definitions[place].ty, &mut names);
            open.extend(names.into_iter().rev());
        }
    }
    found
}

/// Returns, for each definition, whether it leads back to itself. Among very many each counts as if it did.
pub(super) fn recursive(definitions: &[Definition]) -> Vec<bool> {
    const MAX_FOLLOWED: usize = 300;
    if definitions.len() > MAX_FOLLOWED {
        return vec![true; definitions.len()];
    }
    (0..definitions.len()).map(|place| reachable(definitions, &[&definitions[place].ty]).contains(&place)).collect()
}

/// Collects every name in a type.
fn mentioned(ty: &Type, found: &mut Vec<usize>) {
    if let Type::Named(place) = ty {
        found.push(*place);
    }
    ty.parts().into_iter().for_each(|part| mentioned(part, found));
}

/// Collects the names that a type is, or is a combination of: not those inside its objects and lists.
fn bare(ty: &Type, found: &mut Vec<usize>) {
    match ty {
        Type::Named(place) => found.push(*place),
        Type::Union(parts) | Type::Intersection(parts) => parts.iter().for_each(|part| bare(part, found)),
        Type::Unknown
        | Type::Never
        | Type::Keyword(_)
        | Type::Literal(_)
        | Type::Array(_)
        | Type::Tuple { .. }
        | Type::Object(_) => {}
    }
}

fn give_way(definitions: &mut [Definition], types: &mut [&mut Type]) -> bool {
    let mut has_circle = false;
    let meant = meanings(definitions, &mut has_circle);
    // What a definition says that gives way is not lost where a property is nothing but it.
    let docs: Vec<Vec<String>> = definitions.iter().map(|definition| definition.docs.clone()).collect();
    for definition in definitions {
        replace(&mut definition.ty, &meant, &docs);
    }
    for ty in types {
        replace(ty, &meant, &docs);
    }
    has_circle
}

/// Returns what stands for each definition, where that is shorter than its name.
fn meanings(definitions: &[Definition], has_circle: &mut bool) -> Vec<Option<Type>> {
    let mut ends: Vec<Option<Type>> = vec![None; definitions.len()];
    for start in 0..definitions.len() {
        // Names for names are followed to what is known, or to what is more than a name.
        let mut path = HashSet::new();
        let mut at = start;
        let end = loop {
            if let Some(end) = &ends[at] {
                break end.clone();
            }
            // Names that lead around in a circle say nothing.
            if !path.insert(at) {
                *has_circle = true;
                break Type::Unknown;
            }
            match &definitions[at].ty {
                Type::Named(next) => at = *next,
                ty @ (Type::Unknown | Type::Never | Type::Keyword(_)) => break ty.clone(),
                _ => break Type::Named(at),
            }
        };
        path.into_iter().for_each(|place| ends[place] = Some(end.clone()));
    }
    ends.into_iter().enumerate().map(|(place, end)| end.filter(|end| *end != Type::Named(place))).collect()
}

fn replace(ty: &mut Type, meant: &[Option<Type>], docs: &[Vec<String>]) {
    if let Type::Object(object) = ty {
        for property in &mut object.properties {
            if let Type::Named(place) = property.ty
                && property.docs.is_empty()
                && meant[place].is_some()
            {
                property.docs.clone_from(&docs[place]);
            }
        }
    }
    let old = std::mem::replace(ty, Type::Unknown);
    *ty = match old {
        Type::Named(place) => meant[place].clone().unwrap_or(Type::Named(place)),
        other => other.map(&mut |mut part| {
            replace(&mut part, meant, docs);
            part
        }),
    };
}

fn break_circles(definitions: &mut [Definition]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; definitions.len()];
    let mut heights = vec![0; definitions.len()];
    for start in 0..definitions.len() {
        let mut open = vec![start];
        while let Some(&place) = open.last() {
            if seen[place] == Seen::Done {
                open.pop();
                continue;
            }
            seen[place] = Seen::Open;
            // A name that is open leads back to here.
            let back = |other: usize| other == place || seen[other] == Seen::Open;
            if let Some(ty) = without(&definitions[place].ty, place, &back) {
                definitions[place].ty = ty;
            }
            let mut names = Vec::new();
            bare(&definitions[place].ty, &mut names);
            match names.into_iter().find(|name| seen[*name] == Seen::No) {
                Some(next) => open.push(next),
                None => {
                    // The compiler goes down along these names, and its stack ends as well.
                    let mut names = Vec::new();
                    bare(&definitions[place].ty, &mut names);
                    heights[place] = names.into_iter().map(|name| heights[name] + 1).max().unwrap_or(0);
                    if heights[place] > MAX_NAMES {
                        definitions[place].ty = Type::Unknown;
                        heights[place] = 0;
                    }
                    seen[place] = Seen::Done;
                    open.pop();
                }
            }
        }
    }
}

/// Returns the type without the bare names that `drop` picks, or nothing where it picks none. `itself` is left out, which
/// says the same, and any other becomes `unknown`.
fn without(ty: &Type, itself: usize, drop: &impl Fn(usize) -> bool) -> Option<Type> {
    let mut found = Vec::new();
    bare(ty, &mut found);
    if !found.into_iter().any(drop) {
        return None;
    }
    let keep = |parts: &[Type]| -> Vec<Type> {
        parts
            .iter()
            .filter(|part| **part != Type::Named(itself))
            .map(|part| without(part, itself, drop).unwrap_or_else(|| part.clone()))
            .collect()
    };
    Some(match ty {
        Type::Union(parts) => union(keep(parts)),
        Type::Intersection(parts) => keep(parts).into_iter().fold(Type::Unknown, both),
        _ => Type::Unknown,
    })
}

/// Cuts intersections that would become too wide.
fn narrow(definitions: &mut [Definition], types: &mut [&mut Type]) {
    let mut widths = vec![None; definitions.len()];
    for place in 0..definitions.len() {
        width(&Type::Named(place), definitions, &mut widths, MAX_NAMES);
    }
    let widths: Vec<usize> = widths.into_iter().map(|width| width.unwrap_or(1)).collect();
    for definition in definitions {
        cut(&mut definition.ty, &widths);
    }
    for ty in types {
        cut(ty, &widths);
    }
}

/// Returns how many members a type has as a union. Past so many names for names it counts as wide.
fn width(ty: &Type, definitions: &[Definition], known: &mut [Option<usize>], names: usize) -> usize {
    match ty {
        Type::Named(place) => known[*place].unwrap_or_else(|| {
            let Some(names) = names.checked_sub(1) else { return MAX_WIDTH };
            // There are no circles of bare names any more, so nobody meets this.
            known[*place] = Some(1);
            let width = width(&definitions[*place].ty, definitions, known, names).min(MAX_WIDTH);
            known[*place] = Some(width);
            width
        }),
        Type::Union(parts) => {
            parts.iter().fold(0, |sum, part| sum.saturating_add(width(part, definitions, known, names)))
        }
        Type::Intersection(parts) => {
            let widths = parts.iter().map(|part| width(part, definitions, known, names));
            widths.fold(1, usize::saturating_mul).min(MAX_WIDTH)
        }
        _ => 1,
    }
}

fn cut(ty: &mut Type, widths: &[usize]) {
    fn known(ty: &Type, widths: &[usize]) -> usize {
        match ty {
            Type::Named(place) => widths[*place],
            Type::Union(parts) => parts.iter().fold(0, |sum, part| sum.saturating_add(known(part, widths))),
            Type::Intersection(parts) => parts.iter().map(|part| known(part, widths)).fold(1, usize::saturating_mul),
            _ => 1,
        }
    }
    let old = std::mem::replace(ty, Type::Unknown);
    *ty = match old {
        Type::Intersection(parts) => {
            let mut all = 1;
            let fits = |part: &Type| {
                let wide = usize::saturating_mul(all, known(part, widths));
                let fits = wide <= MAX_WIDTH || all == 1;
                all = if fits { wide } else { all };
                fits
            };
            let mut kept: Vec<Type> = parts.into_iter().filter(fits).collect();
            kept.iter_mut().for_each(|part| cut(part, widths));
            if kept.len() == 1 { kept.remove(0) } else { Type::Intersection(kept) }
        }
        other => other.map(&mut |mut part| {
            cut(&mut part, widths);
            part
        }),
    };
}
