use clap::{Command, CommandFactory as _};

use crate::arguments::Cli;

/// The help of every command, one after the other.
fn help(command: &mut Command, path: &str, out: &mut String) {
    if command.is_hide_set() {
        return;
    }
    let text = command.render_long_help().to_string();
    out.push_str(&format!("\n===== {path}\n\n{text}"));
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        if let Some(sub) = command.find_subcommand_mut(&name) {
            help(sub, &format!("{path} {name}"), out);
        }
    }
}

#[test]
fn the_help_says_what_it_says() {
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut text = String::new();
    help(&mut command, "refrain", &mut text);
    insta::assert_snapshot!(text);
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}
