//! `sources add`.

use serde_json::json;

use crate::{
    config::{NewSource, SettingsFile},
    context::Context,
    error::CommandError,
    exit::Exit,
};

/// Add an MCP server to the settings file
///
/// The file is the `refrain.toml` of this folder or the nearest above, or a new one here. Its comments and its order stay. What
/// the server says of its tools is believed as far as what they do goes (`trust_annotations = "effect"`), and not as far as
/// repeating them.
#[derive(clap::Args, Clone, Debug)]
#[command(override_usage = "refrain sources add <NAME> [OPTIONS] -- <COMMAND>...\n       \
                            refrain sources add <NAME> --url <URL> [--header <NAME=VALUE>]...")]
pub(crate) struct AddArgs {
    /// The name, which is the first part of every path
    name: String,

    /// The server's address, if it is reached by HTTP
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,

    /// A header to send with every request, best with a reference in place of a secret: `Authorization=env:NAME`
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    header: Vec<String>,

    /// A variable for the server, best with a reference in place of a secret: `TOKEN=env:NAME`
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    env: Vec<String>,

    /// The server's program and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    command: Vec<String>,
}

/// Runs `sources add`.
pub(crate) fn add(context: &Context, args: AddArgs) -> Result<Exit, CommandError> {
    let source = NewSource {
        command: args.command,
        url: args.url,
        headers: args.header.iter().map(|text| pair("--header", text)).collect::<Result<_, _>>()?,
        env: args.env.iter().map(|text| pair("--env", text)).collect::<Result<_, _>>()?,
        folder: context.folder.clone(),
    };
    let file = SettingsFile::of(&context.places, &context.folder);
    let notes = file.add(&args.name, &source)?;
    let shown = file.shown();
    if context.ui.is_json() {
        context.ui.json(&json!({ "added": args.name, "file": shown, "notes": notes }))?;
    } else {
        for note in &notes {
            context.ui.say(&format!("note: {note}"));
        }
        context.ui.say(&format!("added `{}` to `{shown}`; `refrain doctor` checks it", args.name));
    }
    Ok(Exit::Completed)
}

/// Takes `NAME=VALUE` apart. The value is not repeated: it may be a secret.
fn pair(flag: &str, text: &str) -> Result<(String, String), CommandError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(CommandError::usage(format!("`{flag}` is given something without a name; write `{flag} NAME=VALUE`"))),
    }
}
