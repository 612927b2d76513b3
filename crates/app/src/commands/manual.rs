//! `completions` and `man`: made from the same definitions as the command line.

use crate::cli::{Cli, small};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::document::print_text;
use clap::{Command, CommandFactory};
use std::path::Path;

/// Prints a completion script.
pub fn completions(arguments: &small::Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Cli::command(),
        "stripewise",
        &mut script,
    );
    print_text(&String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}

/// Writes a man page per command; existing files are never replaced.
pub fn man(arguments: &small::Man) -> Outcome {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, error))?;
    let mut command = Cli::command();
    command.build();
    write_pages(&command, directory)?;
    Ok(Exit::Done)
}

/// A built command knows its name as a whole: `stripewise-history-show`.
fn write_pages(command: &Command, directory: &Path) -> Outcome<()> {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    let path = directory.join(man.get_filename());
    man.render(&mut page)
        .map_err(|error| failed(&path, error))?;
    write_new(&path, &page)?;
    for subcommand in command
        .get_subcommands()
        .filter(|subcommand| subcommand.get_name() != "help")
    {
        write_pages(subcommand, directory)?;
    }
    Ok(())
}

fn failed(path: &Path, error: std::io::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("cannot write the man page {}: {error}", path.display()),
        "name a directory that you may write to and that has no such pages yet",
    )
}
