//! `cargo xtask`: runs the tests itself, and everything else through the crate `xtask`, which takes
//! longer to build.
#![forbid(unsafe_code)]

use anyhow::Result;
use std::process::{Command, ExitCode};
use suite::arguments::Arguments;
use suite::{SteadyOptions, root, shell};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let root = root::path();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut arguments = Arguments::new(words.iter().cloned());
    match arguments.command().as_deref() {
        Some("test") if arguments.flag("--unsteady") => {
            arguments.finish()?;
            suite::unsteady_tests(&root)?;
        }
        Some("test") if arguments.flag("--long") => suite::run_long(&root, &arguments.words()?)?,
        Some("test") => suite::run(&root, &arguments.words()?)?,
        Some("steady-tests") => suite::steady_tests(&root, &SteadyOptions::parse(arguments)?)?,
        // Load processes for tests under `steady-tests`.
        Some("generate-load") => suite::generate_load(&arguments.words()?)?,
        _ => return the_rest(&words),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a command of the crate `xtask`.
fn the_rest(words: &[String]) -> Result<ExitCode> {
    let mut rest: Command = shell::cargo(&root::path(), &["run", "--quiet", "--package", "xtask"]);
    let status = rest.arg("--").args(words).status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
