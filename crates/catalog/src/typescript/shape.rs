//! Types as a tree, before they are text.
//!
//! Every function here keeps one promise: what it returns takes at least the values that its parts do. A type may be wider
//! than the schema, and never narrower.

/// A TypeScript type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Unknown,
    Never,
    Keyword(&'static str),
    /// As it is written: `"a"`, `5`, `true`.
    Literal(String),
    /// A definition, by its place in the list beside the type.
    Named(usize),
    Array(Box<Type>),
    Tuple {
        required: Vec<Type>,
        optional: Vec<Type>,
        rest: Option<Box<Type>>,
    },
    Object(Object),
    Union(Vec<Type>),
    Intersection(Vec<Type>),
}

/// An object type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object {
    pub(super) properties: Vec<Property>,
    pub(super) rest: Rest,
}

/// What an object may hold beside its properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Rest {
    /// Nobody says. By the letter of JSON Schema that is anything; by intent, `properties` lists what there is.
    #[default]
    Unsaid,
    Closed,
    Open(Box<Type>),
}

/// One key of an object type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) ty: Type,
    pub(super) docs: Vec<String>,
}

/// A type with a name.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// What the schema calls it. Not unique, and not always an identifier.
    pub(super) hint: String,
    pub(super) ty: Type,
    pub(super) docs: Vec<String>,
}

/// An index type made of more than this says nothing any more.
const MAX_INDEX: usize = 6;

impl Object {
    /// Returns the type of the keys that are not listed, where there may be some.
    ///
    /// TypeScript wants every property to fit it, so it takes in the properties' types.
    pub(super) fn index(&self) -> Option<Type> {
        match &self.rest {
            Rest::Closed => None,
            Rest::Unsaid => self.properties.is_empty().then_some(Type::Unknown),
            Rest::Open(ty) => {
                let mut parts = vec![(**ty).clone()];
                parts.extend(self.properties.iter().map(|property| property.ty.clone()));
                if self.properties.iter().any(|property| !property.required) {
                    parts.push(Type::Keyword("undefined"));
                }
                let ty = union(parts);
                let is_short =
                    self.properties.is_empty() || !matches!(&ty, Type::Union(parts) if parts.len() > MAX_INDEX);
                Some(if is_short { ty } else { Type::Unknown })
            }
        }
    }

    /// Returns whether it says no more than "an object".
    pub(super) fn is_plain(&self) -> bool {
        self.properties.is_empty()
            && match &self.rest {
                Rest::Unsaid => true,
                Rest::Closed => false,
                Rest::Open(ty) => **ty == Type::Unknown,
            }
    }
}

impl Type {
    pub(super) fn object() -> Self {
        Self::Object(Object::default())
    }

    /// Returns the types that it is directly made of.
    pub(super) fn parts(&self) -> Vec<&Type> {
        match self {
            Self::Unknown | Self::Never | Self::Keyword(_) | Self::Literal(_) | Self::Named(_) => Vec::new(),
            Self::Array(item) => vec![item],
            Self::Tuple { required, optional, rest } => {
                required.iter().chain(optional).chain(rest.as_deref()).collect()
            }
            Self::Object(object) => {
                let rest = if let Rest::Open(ty) = &object.rest { Some(&**ty) } else { None };
                object.properties.iter().map(|property| &property.ty).chain(rest).collect()
            }
            Self::Union(parts) | Self::Intersection(parts) => parts.iter().collect(),
        }
    }

    /// Returns the items of a tuple, with what stands before and after each.
    pub(super) fn items(&self) -> Vec<(&'static str, &Type, &'static str)> {
        let Self::Tuple { required, optional, rest } = self else { return Vec::new() };
        let required = required.iter().map(|item| ("", item, ""));
        let optional = optional.iter().map(|item| ("", item, "?"));
        required.chain(optional).chain(rest.iter().map(|item| ("...", &**item, "[]"))).collect()
    }

    /// Returns the type with `change` made to each type that it is directly made of.
    pub(super) fn map(self, change: &mut impl FnMut(Type) -> Type) -> Self {
        let mut all = |types: Vec<Type>| types.into_iter().map(&mut *change).collect::<Vec<_>>();
        match self {
            Self::Unknown | Self::Never | Self::Keyword(_) | Self::Literal(_) | Self::Named(_) => self,
            Self::Array(item) => Self::Array(Box::new(change(*item))),
            Self::Tuple { required, optional, rest } => Self::Tuple {
                required: all(required),
                optional: all(optional),
                rest: rest.map(|rest| Box::new(change(*rest))),
            },
            Self::Object(Object { properties, rest }) => {
                let properties =
                    properties.into_iter().map(|property| Property { ty: change(property.ty), ..property }).collect();
                let rest = match rest {
                    Rest::Open(ty) => Rest::Open(Box::new(change(*ty))),
                    Rest::Unsaid | Rest::Closed => rest,
                };
                Self::Object(Object { properties, rest })
            }
            Self::Union(parts) => union(all(parts)),
            Self::Intersection(parts) => all(parts).into_iter().fold(Self::Unknown, super::merge::both),
        }
    }
}

/// Returns the type of what fits any of `types`.
pub(super) fn union(types: Vec<Type>) -> Type {
    let mut parts: Vec<Type> = Vec::new();
    for ty in types {
        let flat = match ty {
            Type::Unknown => return Type::Unknown,
            Type::Union(inner) => inner,
            other => vec![other],
        };
        for part in flat {
            if part != Type::Never && !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    let at = |text: &str| parts.iter().position(|part| matches!(part, Type::Literal(literal) if literal == text));
    if let (Some(yes), Some(no)) = (at("true"), at("false")) {
        parts[yes.min(no)] = Type::Keyword("boolean");
        parts.remove(yes.max(no));
    }
    match parts.len() {
        0 => Type::Never,
        1 => parts.remove(0),
        _ => Type::Union(parts),
    }
}
