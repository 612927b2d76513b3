//! Running other programs.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A command as it would be typed.
pub fn line(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs it with our own output; fails unless it succeeds.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs it and forwards its output immediately; fails unless it succeeds. Returns its last line.
pub fn pass_on(command: &mut Command) -> Result<String> {
    let what = line(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{what}`"))?;
    let stdout = child.stdout.take().context("no output to read")?;
    let mut last = String::new();
    for line in BufReader::new(stdout).split(b'\n') {
        last = String::from_utf8_lossy(&line?).into_owned();
        println!("{last}");
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{what}` failed ({status})");
    }
    Ok(last)
}

/// Output of a command.
pub struct Output {
    /// On standard output.
    pub stdout: String,
    /// On standard error.
    pub stderr: String,
}

/// Runs it and returns its output; fails, with its errors, unless it succeeds.
pub fn read(command: &mut Command) -> Result<Output> {
    read_ended(command, &[0])
}

/// The same for a program that measures: if the target is not a disk, its numbers are void, and its
/// exit code is 1.
pub fn read_measured(command: &mut Command) -> Result<Output> {
    read_ended(command, &[0, 1])
}

fn read_ended(command: &mut Command, codes: &[i32]) -> Result<Output> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !(output.status.code()).is_some_and(|code| codes.contains(&code)) {
        bail!(
            "`{}` failed ({})\n{stderr}{stdout}",
            line(command),
            output.status
        );
    }
    Ok(Output { stdout, stderr })
}

/// Whether the program is installed and starts.
pub fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Reports a skip for lack of a tool; a failure where all tools are required
/// (`STRIPEWISE_REQUIRE_TOOLS=1`, as in continuous integration).
pub fn skip(what: &str, needs: &str) -> Result<()> {
    if std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_some_and(|value| value == "1") {
        bail!("{what} needs {needs}");
    }
    eprintln!("skipped: {what}: needs {needs}");
    Ok(())
}

/// The running program. On Linux from the kernel: the tests may have replaced the file of the same
/// name by now.
pub fn own_program() -> Result<PathBuf> {
    let known = Path::new("/proc/self/exe");
    match known.exists() {
        true => Ok(known.to_owned()),
        false => Ok(std::env::current_exe()?),
    }
}

/// A cargo command in `root`.
pub fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    command
}

/// The exit code of `tests/vm/run` after it has named a missing tool.
pub const TOOL_MISSING: i32 = 77;

/// The binary as users build it.
pub fn release_binary(root: &Path) -> Result<PathBuf> {
    binary(root, "release", "release")
}

/// The binary with the tests' profile: built sooner, for checking output and not for measuring.
pub fn debug_binary(root: &Path) -> Result<PathBuf> {
    binary(root, "dev", "debug")
}

/// Builds with a profile, which puts the binary in this folder.
fn binary(root: &Path, profile: &str, folder: &str) -> Result<PathBuf> {
    let arguments = ["build", "--locked", "--package", "stripewise-app"];
    run(cargo(root, &arguments).args(["--profile", profile]))?;
    let binary = crate::root::target_directory()
        .join(folder)
        .join("stripewise")
        .with_extension(std::env::consts::EXE_EXTENSION);
    if !binary.exists() {
        bail!("the build left no {}", binary.display());
    }
    Ok(binary)
}
