//! Windows: builds the program and the test suites of crates for it and runs them under Wine;
//! checks the program's documents against the schemas.
//!
//! Not optimised, as it is not measured: build time matters. Wine's Windows folder is created in
//! parallel, and the program runs, mostly waiting, while the suites are built.
//!
//! Without mingw-w64 only crates without C are type-checked, without Wine everything is only built;
//! the rest is a named skip.

use crate::schema;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use suite::shell::TOOL_MISSING;
use suite::shell::{self, cargo};

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const WINDOWS_C_COMPILER: &str = "x86_64-w64-mingw32-gcc";
const WINE: &str = "/usr/lib/wine/wine64";
/// The runner for the suites.
const RUNNER: &str = "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER";

/// Crates whose suites run under Wine for every change: those that make system calls.
const SUITES: [&str; 4] = [
    "stripewise-disk-inspect",
    "stripewise-io-engine",
    "stripewise-machine",
    "stripewise-targets",
];

/// Crates whose numbers must be the same everywhere: nightly.
const FURTHER_SUITES: [&str; 7] = [
    "stripewise-array-sim",
    "stripewise-disk-formats",
    "stripewise-results",
    "stripewise-runner",
    "stripewise-stats",
    "stripewise-units",
    "stripewise-workload",
];

/// The crate with the most computation in its suite: slightly optimised it is built and done sooner
/// (35 s without, 60 s of compiling for all suites that compute).
const OPTIMISED: &str = "profile.dev.package.stripewise-array-sim.opt-level=1";

/// Definitions in the schema of runs are for these; see [`schema_of`].
const DOCUMENT: &str = "document";
const DISKS: &str = "disks";

pub fn run(root: &Path) -> Result<()> {
    add_target(root)?;
    if !shell::has(WINDOWS_C_COMPILER) {
        type_check(root)?;
        return shell::skip("the program for Windows", WINDOWS_C_COMPILER);
    }
    let has_wine = Path::new(WINE).exists() || shell::has("wine64");
    // This program contains every crate that users build.
    let programs = ["--bin", "stripewise", "--test", "it"];
    std::thread::scope(|scope| {
        let windows = has_wine.then(|| scope.spawn(|| make_windows(root)));
        shell::run(build(root, "build", &SUITES).args(programs))?;
        match windows {
            Some(windows) => windows.join().expect("no panic"),
            None => shell::skip("the program for Windows under Wine", "wine64"),
        }
    })?;
    if !has_wine {
        return Ok(());
    }
    // Not in parallel with another build: both lock the folder.
    let linux_program = suite::shell::release_binary(root)?;
    std::thread::scope(|scope| {
        let program = scope.spawn(|| program(root, &linux_program));
        let suites = suites(root, &SUITES);
        let program = program.join().expect("no panic");
        let script = judge_program(root, program?);
        suites.and(script)
    })
}

/// The suites skipped for normal changes, and whether xtask is built for Windows.
pub fn further_suites(root: &Path) -> Result<()> {
    add_target(root)?;
    for tool in [WINDOWS_C_COMPILER, WINE] {
        if !shell::has(tool) {
            return shell::skip("further suites under Wine", tool);
        }
    }
    shell::run(build(root, "check", &FURTHER_SUITES).args(["--package", "xtask"]))?;
    make_windows(root)?;
    suites(root, &FURTHER_SUITES)
}

/// Builds everything this needs. A single package selection for all builds: another one has other
/// features, and recompiles crates.
fn build(root: &Path, command: &str, suites: &[&str]) -> Command {
    let mut build = cargo(root, &[command, "--locked", "--target", WINDOWS]);
    for package in suites.iter().chain(&["stripewise-app"]) {
        build.args(["--package", package]);
    }
    for profile in ["DEV", "TEST"] {
        build.env(format!("CARGO_PROFILE_{profile}_OPT_LEVEL"), "0");
        build.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "none");
    }
    build.args(["--config", OPTIMISED]);
    build
}

/// Creates the Wine folder, which takes a while.
fn make_windows(root: &Path) -> Result<()> {
    let mut make = Command::new(root.join("tests/wine/run-exe"));
    shell::run(make.env("WINEPREFIX", prefix()))
}

/// The program as a user runs it. Its output is kept for later, as the suites print in the
/// meantime.
fn program(root: &Path, linux_program: &Path) -> Result<Output> {
    Command::new(root.join("tests/wine/run"))
        .env("WINE_WORK", work())
        .env("EXE", windows_folder().join("stripewise.exe"))
        .env("WINEPREFIX", prefix())
        .env("STRIPEWISE", linux_program)
        .output()
        .context("cannot start tests/wine/run")
}

/// Its result, and its documents with their schemas.
fn judge_program(root: &Path, output: Output) -> Result<()> {
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => documents(root, &work().join("json")),
        Some(TOOL_MISSING) => shell::skip("tests/wine/run", "what it named above"),
        _ => bail!("tests/wine/run failed ({})", output.status),
    }
}

fn work() -> PathBuf {
    suite::root::target_directory().join("wine-work")
}

fn windows_folder() -> PathBuf {
    suite::root::target_directory().join(WINDOWS).join("debug")
}

fn prefix() -> PathBuf {
    suite::root::target_directory().join("wine")
}

/// Validates each document against the schema for its file name.
fn documents(root: &Path, folder: &Path) -> Result<()> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).context("tests/wine/run left no documents")? {
        let path = entry?.path();
        let document = std::fs::read_to_string(&path)?;
        let schema = schema_of(root, &path)?;
        if let Some(fault) = schema::faults_of(&document, &schema).first() {
            bail!("{} does not hold to the schema: {fault}", path.display());
        }
        count += 1;
    }
    println!("{count} documents made on Windows hold to their schemas");
    Ok(())
}

/// The schema of `document.mixed.json` is that of runs, that of `disks.json` its own, that of
/// `import.json` the definition `import` in that of commands.
fn schema_of(root: &Path, path: &Path) -> Result<String> {
    let read = |name: &str| {
        let path = root.join(format!("docs/schema/{name}-1.schema.json"));
        std::fs::read_to_string(path).context("cannot read the schema")
    };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let name = file.split('.').next().unwrap_or_default();
    match name {
        DOCUMENT | DISKS => read(name),
        _ => schema::definition(&read("commands")?, name)
            .with_context(|| format!("no schema has a definition of {name}")),
    }
}

/// The suites. Wine accepts misaligned unbuffered operations and has no signals, so these two
/// conformance cases are skips there.
fn suites(root: &Path, suites: &[&str]) -> Result<()> {
    let mut test = build(root, "test", suites);
    test.args(["--lib", "--test", "it"]);
    test.env(RUNNER, root.join("tests/wine/run-exe"));
    test.env("WINEPREFIX", prefix());
    test.env_remove("STRIPEWISE_REQUIRE_TOOLS");
    // All of them share one Wine server process.
    test.env("RUST_TEST_THREADS", "2");
    shell::run(&mut test)
}

/// Only the store contains C (SQLite): without a C compiler for Windows, everything that does not
/// need the store is still checked.
fn type_check(root: &Path) -> Result<()> {
    let check = ["check", "--workspace", "--locked", "--target", WINDOWS];
    let without = ["stripewise-store", "stripewise-app"];
    let without = without.iter().flat_map(|package| ["--exclude", package]);
    shell::run(cargo(root, &check).args(without))
}

/// Installs the standard library for Windows with rustup; without rustup it must be present, or the
/// check reports that it is missing.
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
