//! Windows: the workspace type-checks for it, the program is built, and the
//! program and the suites of crates run under Wine.
//!
//! Without Wine or mingw-w64 only the type-check is done, and the rest is a skip
//! with a name.

use crate::ci::TOOL_MISSING;
use crate::schema;
use crate::shell::{self, cargo};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const WINDOWS_C_COMPILER: &str = "x86_64-w64-mingw32-gcc";
const WINE: &str = "/usr/lib/wine/wine64";
/// What the suites run through.
const RUNNER: &str = "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER";

/// Crates whose suites run under Wine: those that touch the system, and those
/// whose numbers must be the same everywhere.
const SUITES: [&str; 4] = [
    "stripewise-io-engine",
    "stripewise-runner",
    "stripewise-stats",
    "stripewise-target",
];

pub fn run(root: &Path) -> Result<()> {
    if !shell::has(WINDOWS_C_COMPILER) {
        type_check(root)?;
        return shell::skip("the program for Windows", WINDOWS_C_COMPILER);
    }
    add_target(root)?;
    let build = ["build", "--workspace", "--locked", "--target", WINDOWS];
    shell::run(&mut cargo(root, &build))?;
    if !Path::new(WINE).exists() && !shell::has("wine64") {
        return shell::skip("the program for Windows under Wine", "wine64");
    }
    program(root)?;
    suites(root)
}

/// The program as a user runs it, and its documents beside the schema.
fn program(root: &Path) -> Result<()> {
    let work = crate::root::target_directory().join("wine-work");
    let mut script = Command::new(root.join("tests/wine/run"));
    script.env("WINE_WORK", &work);
    script.env("EXE", windows_folder().join("stripewise.exe"));
    script.env("WINEPREFIX", prefix());
    script.env("STRIPEWISE", crate::ci::release_binary(root)?);
    let status = script.status().context("cannot start tests/wine/run")?;
    match status.code() {
        Some(0) => documents(root, &work.join("json")),
        Some(TOOL_MISSING) => shell::skip("tests/wine/run", "what it named above"),
        _ => bail!("tests/wine/run failed ({status})"),
    }
}

fn windows_folder() -> PathBuf {
    crate::root::target_directory().join(WINDOWS).join("debug")
}

fn prefix() -> PathBuf {
    crate::root::target_directory().join("wine")
}

/// Holds each document of runs to the schema.
fn documents(root: &Path, folder: &Path) -> Result<()> {
    let schema = root.join("docs/schema/document-1.schema.json");
    let schema = std::fs::read_to_string(schema).context("cannot read the schema")?;
    let mut count = 0;
    for entry in std::fs::read_dir(folder).context("tests/wine/run left no documents")? {
        let path = entry?.path();
        let document = std::fs::read_to_string(&path)?;
        if let Some(fault) = schema::faults_of(&document, &schema).first() {
            bail!("{} does not hold to the schema: {fault}", path.display());
        }
        count += 1;
    }
    println!("{count} documents made on Windows hold to the schema");
    Ok(())
}

/// The suites. Wine lets misaligned unbuffered operations pass and has no
/// signals, so these two of the conformance cases are skips there.
fn suites(root: &Path) -> Result<()> {
    let mut test = cargo(root, &["test", "--locked", "--target", WINDOWS]);
    for suite in SUITES {
        test.args(["--package", suite]);
    }
    test.args(["--lib", "--test", "*"]);
    test.env(RUNNER, root.join("tests/wine/run-exe"));
    test.env("WINEPREFIX", prefix());
    test.env_remove("STRIPEWISE_REQUIRE_TOOLS");
    shell::run(&mut test)
}

/// What continuous integration has time for. Only the store has C in it (SQLite):
/// without a C compiler for Windows, everything that does not need the store is
/// checked all the same.
pub fn type_check(root: &Path) -> Result<()> {
    add_target(root)?;
    let mut check = cargo(
        root,
        &["check", "--workspace", "--locked", "--target", WINDOWS],
    );
    if !shell::has(WINDOWS_C_COMPILER) {
        shell::skip(
            "the type-check of the store for Windows",
            WINDOWS_C_COMPILER,
        )?;
        for package in ["stripewise-store", "stripewise-app"] {
            check.args(["--exclude", package]);
        }
    }
    shell::run(&mut check)
}

/// The standard library for Windows, by rustup; without rustup it is there or
/// the check says that it is not.
fn add_target(root: &Path) -> Result<()> {
    let installed = shell::read(Command::new("rustup").current_dir(root).args([
        "target",
        "list",
        "--installed",
    ]));
    match installed {
        Ok(list) if !list.stdout.lines().any(|target| target == WINDOWS) => shell::run(
            Command::new("rustup")
                .current_dir(root)
                .args(["target", "add", WINDOWS]),
        ),
        _ => Ok(()),
    }
}
