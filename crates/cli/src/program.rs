//! From the words on the command line to the exit code.

use std::{
    any::Any,
    ffi::OsString,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    process::ExitCode,
    sync::{Arc, OnceLock},
};

use clap::Parser as _;
use refrain_runtime::RunId;

use crate::{
    arguments::Cli,
    commands,
    config::Variables,
    context::Context,
    error::CommandError,
    exit::Exit,
    stop::Stop,
    ui::{self, Format, Ui},
};

/// Runs the command to its end.
pub(crate) fn start(words: Vec<OsString>) -> ExitCode {
    panic::set_hook(Box::new(tell_bug));
    let exit = panic::catch_unwind(AssertUnwindSafe(|| parse(&words))).unwrap_or_else(|thrown| {
        let error = CommandError::Bug { what: what(&*thrown) };
        if wants_json(&words) {
            let _ = Ui::new(Format::Json).json(&error.json(None));
        }
        Exit::Bug
    });
    exit.into()
}

fn parse(words: &[OsString]) -> Exit {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        // Help and version are data.
        Err(error) if !error.use_stderr() => {
            return match Ui::new(Format::Text).data(&error.to_string()) {
                Ok(()) => Exit::Completed,
                Err(error) => error.exit(),
            };
        }
        Err(error) => {
            ui::say(&error.to_string());
            if wants_json(words) {
                let message = error.to_string();
                let message = message.trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned();
                let _ = Ui::new(Format::Json).json(&CommandError::usage(message).json(None));
            }
            return Exit::Usage;
        }
    };
    let ui = Ui::new(cli.output);
    let folder = match std::env::current_dir() {
        Ok(folder) => folder,
        Err(error) => {
            return finish(&ui, None, Err(CommandError::failed(format!("the current folder cannot be told: {error}"))));
        }
    };
    let context =
        Arc::new(Context { ui, places: cli.places, variables: Variables::of_process(), folder, run: OnceLock::new() });
    if cli.output == Format::Jsonl {
        let error = CommandError::usage("`--output jsonl` comes with a later release; use `--output json`");
        return finish(&context.ui, None, Err(error));
    }
    let outcome = drive(&context, cli.command);
    finish(&context.ui, context.run.get().copied(), outcome)
}

/// Runs the command in a task of its own, so that neither a script that computes nor a reader that does not read keeps a
/// signal from being heard.
fn drive(context: &Arc<Context>, command: commands::Command) -> Result<Exit, CommandError> {
    // One more than may compute at a time, so that one is left to hear clients and sources; and each looks for them after every
    // slice, where tokio would do so after some sixty.
    let computing = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(computing + 1)
        .event_interval(1)
        .enable_all()
        .build();
    let threads = threads.map_err(|error| CommandError::failed(format!("threads cannot be started: {error}")))?;
    let outcome = threads.block_on(async {
        let stop = Stop::listen();
        let task = tokio::spawn(commands::run(Arc::clone(context), command));
        tokio::select! {
            done = task => match done {
                Ok(outcome) => outcome,
                Err(error) => Err(CommandError::Bug { what: match error.try_into_panic() {
                    Ok(thrown) => what(&*thrown),
                    Err(error) => error.to_string(),
                } }),
            },
            () = stop.asked() => Err(CommandError::Stopped),
        }
    });
    // Nothing is waited for: what is durable is durable, and the guard ends the children.
    threads.shutdown_background();
    outcome
}

/// Says what went wrong. `run` is the one that was under way.
fn finish(ui: &Ui, run: Option<RunId>, outcome: Result<Exit, CommandError>) -> Exit {
    let error = match outcome {
        Ok(exit) => return exit,
        Err(error) => error,
    };
    ui.say(&error.text(run));
    match error {
        CommandError::Closed => {}
        _ if ui.is_json() && !ui.has_begun() => {
            if let Err(CommandError::Closed) = ui.json(&error.json(run)) {
                return Exit::Completed;
            }
        }
        _ => {}
    }
    error.exit()
}

/// Whether the words ask for JSON, where they cannot be parsed.
fn wants_json(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "--output=json")
        || words.windows(2).any(|two| two[0] == "--output" && two[1] == "json")
}

/// Says a panic in one line that can be reported.
fn tell_bug(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |place| format!(" ({place})"));
    ui::say(&format!(
        "bug in refrain {}: {}{place}; please report this line",
        env!("CARGO_PKG_VERSION"),
        what(info.payload())
    ));
}

fn what(thrown: &(dyn Any + Send)) -> String {
    match (thrown.downcast_ref::<&str>(), thrown.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without words".to_owned(),
    }
}
