//! `completions` and `man`: generated from the definitions of the command line.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::terminal::say;
use crate::switches::{help, small};
use clap::Command;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::{NameText, counted};

/// Prints a completion script.
pub fn completions(context: &Context, arguments: &small::Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut help::command(),
        "stripewise",
        &mut script,
    );
    let script = String::from_utf8_lossy(&script);
    if context.global.json {
        context.output.print_json(&Script {
            schema_version: SCHEMA_VERSION,
            shell: arguments.shell.to_string(),
            script: &script,
        })?;
    } else {
        context.output.print_lines(&script);
    }
    Ok(Exit::Done)
}

/// Writes a man page per command; never replaces existing files.
pub fn man(context: &Context, arguments: &small::Man) -> Outcome {
    let directory = &arguments.directory;
    // A mistyped name would put pages where no one looks for them.
    if !directory.is_dir() {
        return Err(Failure::target(
            format!("{} is not a directory", directory.as_text()),
            "name a directory that exists; `mkdir -p DIR` makes one",
        ));
    }
    let mut command = help::command();
    command.build();
    let mut pages = Vec::new();
    write_pages(&command, directory, &mut pages)?;
    if context.global.json {
        context.output.print_json(&Pages {
            schema_version: SCHEMA_VERSION,
            pages,
        })?;
    } else if !context.global.quiet {
        say!(
            context.output,
            "{} in {}",
            counted(pages.len(), "page", "pages"),
            directory.as_text()
        );
    }
    Ok(Exit::Done)
}

#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Script<'a> {
    schema_version: u32,
    shell: String,
    script: &'a str,
}

/// Paths of the written pages.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Pages {
    schema_version: u32,
    pages: Vec<String>,
}

/// A built command knows its full name: `stripewise-history-show`.
fn write_pages(command: &Command, directory: &Path, pages: &mut Vec<String>) -> Outcome<()> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    let path = directory.join(man.get_filename());
    man.render(&mut page)
        .map_err(|error| failed(&path, error))?;
    write_new(&path, &page)?;
    pages.push(path.as_text());
    for subcommand in command
        .get_subcommands()
        .filter(|subcommand| subcommand.get_name() != "help")
    {
        write_pages(subcommand, directory, pages)?;
    }
    Ok(())
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    let exit = match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => Exit::Usage,
        _ => Exit::Target,
    };
    Failure::new(
        exit,
        format!("cannot write the man page {}: {error}", path.as_text()),
        "name a directory that you can write to and that has no such pages yet",
    )
}
