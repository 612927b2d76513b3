//! System programs: found in the system's directories, run on devices opened here. No shell, no
//! environment except a path and a language, no input.
//!
//! A program gets a device as `/proc/self/fd/N`, an inherited descriptor. It has its own process
//! group, so that Ctrl-C in a terminal does not interrupt it, and the kernel ends it with the
//! thread that started it: nothing is made after a kill.

use super::ioctl;
use crate::{Error, ErrorKind, Result};
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stripewise_units::NameText;

/// Directories of system programs; the user's own `PATH` is ignored.
const PATHS: [&str; 6] = [
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
];

/// The first of these programs that is installed.
///
/// # Errors
/// [`ErrorKind::ToolMissing`] if none is; `what` it is needed for, and the Debian package that
/// contains it.
pub(super) fn find(names: &[&str], package: &str, what: &str, target: &str) -> Result<PathBuf> {
    let candidates = PATHS.iter().flat_map(|directory| {
        names
            .iter()
            .map(move |name| Path::new(directory).join(name))
    });
    candidates
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            let missing = format!("{} is needed {what} and is not installed", names[0]);
            Error::new(ErrorKind::ToolMissing, target, missing).with_hint(format!(
                "Install the package {package} (Debian, Ubuntu; similar elsewhere)."
            ))
        })
}

/// A program, its arguments, and the devices that follow them.
pub(super) struct Call<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    /// Open devices, each with its usual path.
    pub devices: &'a [(&'a File, &'a Path)],
    /// For messages.
    pub target: &'a str,
}

impl Call<'_> {
    fn inherited(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }

    /// In a form that can be typed.
    fn line(&self) -> String {
        let devices = self.devices.iter().map(|(_, path)| path.as_text());
        let words = self.arguments.iter().cloned().chain(devices);
        format!(
            "{} {}",
            self.program.as_text(),
            words.collect::<Vec<_>>().join(" ")
        )
    }
}

/// Runs it to its end.
///
/// # Errors
/// [`ErrorKind::ToolFailed`] with its output.
pub(super) fn run(call: &Call<'_>) -> Result<()> {
    let mut command = Command::new(call.program);
    command.args(call.arguments);
    for (file, _) in call.devices {
        command.arg(Call::inherited(file));
    }
    command
        .env_clear()
        .env("PATH", PATHS.join(":"))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .process_group(0);
    let devices: Vec<RawFd> = (call.devices.iter())
        .map(|(file, _)| file.as_raw_fd())
        .collect();
    ioctl::inherits(&mut command, devices);
    ioctl::stop_with_parent(&mut command);
    let output = command.output().map_err(|os| {
        let what = format!("{} cannot be run", call.program.as_text());
        Error::new(ErrorKind::ToolFailed, call.target, what)
            .with_hint("Run it by hand to see why; nothing was written.")
            .with_os(os)
    })?;
    if output.status.success() {
        return Ok(());
    }
    let mut described = String::from_utf8_lossy(&output.stderr).into_owned();
    described.push_str(&String::from_utf8_lossy(&output.stdout));
    for (file, path) in call.devices {
        described = described.replace(&Call::inherited(file), &path.as_text());
    }
    let lines: Vec<&str> = described
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        // What follows is the tool's usage, not the error.
        .take_while(|line| !line.to_lowercase().starts_with("usage:"))
        .collect();
    let described = match lines.as_slice() {
        [] => String::new(),
        all => format!(" and says: {}", all[..all.len().min(4)].join("; ")),
    };
    Err(Error::new(
        ErrorKind::ToolFailed,
        call.target,
        format!("`{}` failed ({}){described}", call.line(), output.status),
    )
    .with_hint("What the device held may be lost anyway; fix the cause and run it again."))
}
