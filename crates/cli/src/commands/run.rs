//! `run`.

use std::{io::Read as _, path::Path};

use refrain_runtime::{Dialect, Effects, Language, Origin, RunRequest};
use serde_json::{Map, Value};

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

use super::report;

/// Larger texts are no scripts.
const MOST_BYTES: u64 = 16 << 20;

/// Run a script
///
/// The script is the body of an async function, in JavaScript or TypeScript, with top-level `await` and `return`. What it
/// returns is printed to stdout; the run's id is said on stderr as soon as the run exists. Typing this counts as approval:
/// where no rule of the policy says otherwise every call is allowed, and a note says which of them could write.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RunArgs {
    /// The script, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,

    /// An argument, seen as `args.KEY`: `KEY=text`, or `KEY:=JSON`
    #[arg(long = "arg", value_name = "KEY=VALUE")]
    args: Vec<String>,

    /// The session that the run belongs to, whose store its script reads and writes
    #[arg(long, value_name = "NAME")]
    session: Option<String>,

    /// The names under which the script sees the tools, in place of `script.dialect`
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,

    /// The script's language, which is `typescript`; JavaScript is a part of it
    #[arg(long, value_name = "LANGUAGE", default_value = "typescript", hide_default_value = true)]
    lang: String,

    /// What the script's calls may do: `read`, nothing but that, or `all`
    #[arg(long, value_name = "EFFECTS", default_value = "all", hide_default_value = true, value_parser = ["read", "all"])]
    effects: String,

    /// Make a plan: reads are made, and writes are held back until you agree with `refrain approvals`
    #[arg(long, conflicts_with = "effects")]
    plan: bool,

    /// Stop after so much active time; lowers `limits.timeout_ms`, never raises it
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout_ms: Option<u64>,
}

/// Runs `run`.
pub(crate) async fn run(context: &Context, args: RunArgs) -> Result<Exit, CommandError> {
    let language = language(&args.lang)?;
    let dialect = args.dialect.as_deref().map(Dialect::find).transpose().map_err(CommandError::usage)?;
    let given = pairs(&args.args)?;
    let script = script(&args.file, &context.folder)?;
    let runtime = context.runtime(Need::Sources)?;
    let most = runtime.settings().limits.timeout_ms;
    if args.timeout_ms.is_some_and(|own| own > most) {
        context.ui.say(&format!("note: `limits.timeout_ms` is {most}, and `--timeout-ms` does not raise it"));
    }
    let request = RunRequest {
        language,
        args: given,
        session: args.session,
        timeout_ms: args.timeout_ms,
        dialect,
        effects: match (args.plan, args.effects.as_str()) {
            (true, _) => Effects::Plan,
            (false, "read") => Effects::Read,
            (false, _) => Effects::All,
        },
        ..RunRequest::new(script, origin("cli"))
    };
    let report = runtime.run(request, &|id| context.started(id)).await?;
    let exit = report::print(&context.ui, &report)?;
    context.keep_observed(&runtime);
    runtime.close().await;
    Ok(exit)
}

/// Returns where a run of ours comes from.
pub(crate) fn origin(way: &str) -> Origin {
    Origin { way: way.into(), client: Some(format!("refrain {}", env!("CARGO_PKG_VERSION"))), ..Origin::default() }
}

/// Reads `KEY=text` and `KEY:=JSON`.
///
/// # Errors
///
/// [`CommandError::Usage`].
pub(crate) fn pairs(words: &[String]) -> Result<Map<String, Value>, CommandError> {
    let mut pairs = Map::new();
    for word in words {
        let Some((key, text)) = word.split_once('=') else {
            return Err(CommandError::usage(format!("`{word}` is no argument; write `KEY=text` or `KEY:=JSON`")));
        };
        let (key, value) = match key.strip_suffix(':') {
            None => (key, Value::from(text)),
            Some(key) => match serde_json::from_str(text) {
                Ok(value) => (key, value),
                Err(error) => {
                    let message = format!("the value of `{key}` is no JSON: {error}");
                    return Err(CommandError::usage(message).with_hint(format!("for a text, write `{key}={text}`")));
                }
            },
        };
        if key.is_empty() {
            return Err(CommandError::usage(format!("`{word}` has no key; write `KEY=text` or `KEY:=JSON`")));
        }
        if pairs.insert(key.to_owned(), value).is_some() {
            return Err(CommandError::usage(format!("the argument `{key}` is given twice; give it once")));
        }
    }
    Ok(pairs)
}

pub(super) fn language(name: &str) -> Result<Language, CommandError> {
    match name {
        "typescript" | "ts" | "javascript" | "js" => Ok(Language::TypeScript),
        "python" | "py" => {
            Err(CommandError::usage("Python comes with a later release; write the script in TypeScript"))
        }
        other => Err(CommandError::usage(format!(
            "there is no language `{other}`; write `--lang typescript`, or leave it out"
        ))),
    }
}

pub(super) fn script(file: &str, folder: &Path) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let (name, read) = match file {
        "-" => ("standard input".to_owned(), std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)),
        file => {
            let opened = std::fs::File::open(folder.join(file));
            (format!("`{file}`"), opened.and_then(|opened| opened.take(MOST_BYTES + 1).read_to_end(&mut bytes)))
        }
    };
    if let Err(error) = read {
        return Err(CommandError::usage(format!("the script {name} cannot be read: {error}")));
    }
    if bytes.len() as u64 > MOST_BYTES {
        return Err(CommandError::usage(format!("the script {name} is larger than {} MiB", MOST_BYTES >> 20)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(CommandError::usage(format!("the script {name} is no UTF-8, from byte {at} on; save it as UTF-8")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_texts_and_json_where_it_is_asked_for() {
        let check = |words: &[&str]| match pairs(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()) {
            Ok(pairs) => Value::Object(pairs).to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(
            check(&["a=1", "b:=1", "c:={\"x\":[]}", "d=", "e=x=y"]),
            r#"{"a":"1","b":1,"c":{"x":[]},"d":"","e":"x=y"}"#
        );
        assert_eq!(check(&["a"]), "`a` is no argument; write `KEY=text` or `KEY:=JSON`");
        assert_eq!(check(&["=a"]), "`=a` has no key; write `KEY=text` or `KEY:=JSON`");
        assert_eq!(check(&["a=1", "a:=2"]), "the argument `a` is given twice; give it once");
        assert!(check(&["a:=x"]).starts_with("the value of `a` is no JSON"), "{}", check(&["a:=x"]));
    }
}
