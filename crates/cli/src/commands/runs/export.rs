//! `runs export`.

use std::{fs::OpenOptions, io::Write as _, path::PathBuf};

use crate::{config::Need, context::Context, error::CommandError, exit::Exit};

/// Write a run into one file: its script, its journal, its tools
///
/// `refrain runs import` takes it in elsewhere, to be looked at or to go on. What is in it is not masked: arguments and results are there
/// as they are.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ExportArgs {
    /// The run, by its id or the start of it
    #[arg(value_name = "ID")]
    run: String,

    /// Where to; standard output otherwise
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long, requires = "out")]
    force: bool,
}

/// Runs `runs export`.
pub(crate) async fn export(context: &Context, args: ExportArgs) -> Result<Exit, CommandError> {
    let runtime = context.runtime(Need::NoSources)?;
    let id = runtime.find_run(&args.run).await?;
    let file = runtime.export(id).await?;
    let Some(path) = args.out else {
        // Every part of it is text.
        context.ui.data(&String::from_utf8_lossy(&file))?;
        return Ok(Exit::Completed);
    };
    let path = context.folder.join(path);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!args.force);
    let written = options.open(&path).and_then(|mut out| out.write_all(&file).and_then(|()| out.sync_all()));
    written.map_err(|error| {
        let failed = CommandError::failed(format!("`{}` cannot be written: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => failed.with_hint("add `--force` to write over it"),
            std::io::ErrorKind::NotFound => failed.with_hint("make its folder first, or correct `--out`"),
            _ => failed,
        }
    })?;
    context.ui.say(&format!("run {id} is in `{}`", path.display()));
    Ok(Exit::Completed)
}
