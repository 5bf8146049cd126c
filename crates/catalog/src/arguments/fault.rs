//! What is wrong with arguments, in words: where, what was expected, what came.
//!
//! Of alternatives none of which fits, the nearest is told: the one that its tag picks, else the one with the fewest faults.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::Value;

use super::{path_of, shown};
use crate::{document::decoded, name};

/// Alternatives that are listed where none is nearer than the others.
const MAX_LISTED: usize = 20;

/// One fault.
pub(super) struct Fault {
    pub(super) path: String,
    pub(super) expected: String,
    /// `None` where nothing came.
    pub(super) got: Option<String>,
    pub(super) hint: String,
}

impl Fault {
    pub(super) fn new(path: impl Into<String>, expected: impl Into<String>, got: Option<String>) -> Self {
        Self { path: path.into(), expected: expected.into(), got, hint: String::new() }
    }
}

/// Returns the faults that an error tells of. None where it only says that a pattern could not be decided: then the server
/// has the word.
pub(super) fn of(error: &ValidationError<'_>, args: &Value, schema: &Value) -> Vec<Fault> {
    let path = path_of(error.instance_path().as_str(), args);
    let value = error.instance();
    let one = |expected: String| vec![Fault::new(&path, expected, Some(shown(value)))];
    match error.kind() {
        ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. } => {
            Vec::new()
        }
        ValidationErrorKind::Required { property } => {
            let key = property.as_str().unwrap_or_default();
            vec![Fault::new(format!("{path}{}", name::access(key)), "a value", None)]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|key| {
                let value = value.get(key).unwrap_or(&Value::Null);
                let mut fault = Fault::new(format!("{path}{}", name::access(key)), "no such key", Some(shown(value)));
                fault.hint = name::did_you_mean(key, known_keys(error, schema));
                fault
            })
            .collect(),
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            nearest(error, context, args, schema)
        }
        ValidationErrorKind::OneOfMultipleValid { context } => {
            let fitting = context.iter().filter(|errors| errors.is_empty()).count();
            one(format!("a value that fits exactly one of the alternatives, and it fits {fitting}"))
        }
        _ => one(expected(error).unwrap_or_else(|| name::cut(&error.masked().to_string(), 200))),
    }
}

/// Returns what was expected in place of the value, where that can be said of the value alone.
fn expected(error: &ValidationError<'_>) -> Option<String> {
    use ValidationErrorKind as Kind;
    Some(match error.kind() {
        Kind::Type { kind } => types(kind),
        Kind::Enum { options } => {
            let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
            let listed: Vec<String> =
                all.iter().take(MAX_LISTED).map(|option| format!("`{}`", shown(option))).collect();
            let more = all.len().saturating_sub(MAX_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("one of {}{more}", listed.join(", "))
        }
        Kind::Constant { expected_value } => format!("`{}`", shown(expected_value)),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {}", many(*limit, "character")),
        Kind::MaxLength { limit } => format!("at most {}", many(*limit, "character")),
        Kind::MinItems { limit } => format!("at least {}", many(*limit, "item")),
        Kind::MaxItems { limit } => format!("at most {}", many(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("at most {limit} items"),
        Kind::MinProperties { limit } => format!("at least {}", many(*limit, "key")),
        Kind::MaxProperties { limit } => format!("at most {}", many(*limit, "key")),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::Contains => "an item that fits `contains`".to_owned(),
        Kind::Pattern { pattern } => format!("text that matches `{}`", name::cut(pattern, 200)),
        Kind::Format { format } => format!("a text of the format `{}`", name::cut(format, 80)),
        Kind::FalseSchema => "nothing here".to_owned(),
        Kind::Not { schema } => format!("a value that does not fit `{}`", shown(schema)),
        Kind::PropertyNames { error } => {
            let inner = expected(error).unwrap_or_else(|| "other keys".to_owned());
            format!("keys of which each is {inner}")
        }
        _ => return None,
    })
}

fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How far a branch is from fitting: the later, the farther.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// Something inside is wrong.
    Inside,
    /// A tag says that another branch is meant.
    Tag,
    /// It is about another kind of value.
    Kind,
}

fn nearest(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    args: &Value,
    schema: &Value,
) -> Vec<Fault> {
    let here = error.instance_path().as_str();
    let tell = |branch: &[ValidationError<'static>]| branch.iter().flat_map(|error| of(error, args, schema)).collect();
    if let Some(branch) =
        discriminated(error, schema).and_then(|at| context.get(at)).filter(|branch| !branch.is_empty())
    {
        return tell(branch);
    }
    let distance = |branch: &Vec<ValidationError<'static>>| branch.iter().map(|it| far(it, here)).max();
    let Some((best, branch)) = context
        .iter()
        .filter_map(|branch| Some((distance(branch)?, branch)))
        .min_by_key(|(distance, branch)| (*distance, branch.len()))
    else {
        return vec![Fault::new(
            path_of(here, args),
            "a value that fits one of the alternatives",
            Some(shown(error.instance())),
        )];
    };
    match best {
        // All are equally far, so each says what it wants.
        Distance::Kind | Distance::Tag => {
            let wanted = context.iter().filter_map(|branch| branch.iter().find(|it| far(it, here) == best));
            let place = branch.iter().find(|it| far(it, here) == best).map_or(here, |it| it.instance_path().as_str());
            let mut all: Vec<String> = Vec::new();
            for wanted in wanted.filter(|it| it.instance_path().as_str() == place).filter_map(expected) {
                let wanted = wanted.trim_start_matches("one of ").to_owned();
                if !all.contains(&wanted) && all.len() < MAX_LISTED {
                    all.push(wanted);
                }
            }
            let value = args.pointer(place).map(shown);
            vec![Fault::new(path_of(place, args), all.join(" or "), value)]
        }
        Distance::Inside => match one_of_the_keys(context) {
            Some(keys) => {
                vec![Fault::new(path_of(here, args), format!("a value for {keys}"), Some(shown(error.instance())))]
            }
            None => tell(branch),
        },
    }
}

fn far(error: &ValidationError<'static>, here: &str) -> Distance {
    use ValidationErrorKind as Kind;
    let place = error.instance_path().as_str();
    if place == here {
        let is_kind = matches!(error.kind(), Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. });
        return if is_kind { Distance::Kind } else { Distance::Inside };
    }
    let is_key =
        place.strip_prefix(here).and_then(|rest| rest.strip_prefix('/')).is_some_and(|rest| !rest.contains('/'));
    match error.kind() {
        Kind::Constant { .. } if is_key => Distance::Tag,
        // The other way to write a constant.
        Kind::Enum { options } if is_key && options.as_array().is_some_and(|options| options.len() == 1) => {
            Distance::Tag
        }
        _ => Distance::Inside,
    }
}

/// Returns the keys one of which is missing, where that is all that is wrong.
fn one_of_the_keys(context: &[Vec<ValidationError<'static>>]) -> Option<String> {
    let keys = context.iter().map(|branch| match branch.as_slice() {
        [error] => match error.kind() {
            ValidationErrorKind::Required { property } => property.as_str().map(|key| format!("`{key}`")),
            _ => None,
        },
        _ => None,
    });
    let keys = keys.collect::<Option<Vec<_>>>()?;
    (keys.len() > 1).then(|| keys[..keys.len().min(MAX_LISTED)].join(" or "))
}

/// Returns the branch that an OpenAPI discriminator picks.
fn discriminated(error: &ValidationError<'_>, schema: &Value) -> Option<usize> {
    let branches = schema.pointer(error.schema_path().as_str())?.as_array()?;
    let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    let discriminator = schema.pointer(parent)?.get("discriminator")?;
    let tag = error.instance().get(discriminator.get("propertyName")?.as_str()?)?.as_str()?;
    let mapped = discriminator.get("mapping").and_then(|mapping| mapping.get(tag)).and_then(Value::as_str);
    branches.iter().position(|branch| {
        let reference = branch.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let own_name = decoded(reference.rsplit('/').next().unwrap_or_default());
        mapped.map_or(own_name == tag, |mapped| mapped == reference || mapped == own_name)
    })
}

/// Returns the keys that the object with one key too many could have.
fn known_keys<'s>(error: &ValidationError<'_>, schema: &'s Value) -> Vec<&'s str> {
    let path = error.schema_path().as_str();
    let object = path.rsplit_once('/').and_then(|(parent, _)| schema.pointer(parent));
    let properties = object.and_then(|object| object.get("properties")).and_then(Value::as_object);
    properties.into_iter().flat_map(|map| map.keys().map(String::as_str)).take(MAX_KEYS).collect()
}

/// Keys that are compared with a misspelt one.
const MAX_KEYS: usize = 1000;

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.as_str().to_owned(),
        TypeKind::Multiple(set) => {
            let names: Vec<&str> = set.iter().map(|one| one.as_str()).collect();
            names.join(" or ")
        }
    }
}
