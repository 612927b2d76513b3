//! Builds of the fuzz targets: by the stable compiler, with LLVM's own coverage and no sanitizer;
//! or by a nightly compiler with the address sanitizer, which also checks the memory use of the
//! libraries below us.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use suite::shell::{self, cargo};

/// Memory checks while targets run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Only the checks of the language.
    None,
    /// LLVM's address sanitizer; needs a nightly compiler.
    Address,
}

impl FromStr for Sanitizer {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "none" => Ok(Sanitizer::None),
            "address" => Ok(Sanitizer::Address),
            _ => Err(()),
        }
    }
}

impl Sanitizer {
    /// Missing prerequisites on this machine.
    pub fn lacks(self) -> Option<&'static str> {
        let nightly = ["run", "nightly", "rustc", "--version"];
        let is_there = || {
            let mut ask = Command::new("rustup");
            shell::read(ask.args(nightly)).is_ok()
        };
        match self {
            Sanitizer::Address if !is_there() => {
                Some("a nightly compiler (`rustup toolchain install nightly`)")
            }
            _ => None,
        }
    }

    /// Memory limit of a process, above which it is a finding: bounded parsers stay far below.
    /// Includes the sanitizer's shadow memory and quarantine.
    pub fn memory_mib_max(self) -> u32 {
        match self {
            Sanitizer::None => 768,
            Sanitizer::Address => 2048,
        }
    }

    /// A command of its compiler, with a separate build folder.
    fn cargo(self, folder: &Path, arguments: &[&str]) -> (Command, PathBuf) {
        let directory = suite::root::target_directory();
        match self {
            Sanitizer::None => (cargo(folder, arguments), directory),
            Sanitizer::Address => {
                let mut nightly = Command::new("rustup");
                nightly
                    .current_dir(folder)
                    .args(["run", "nightly", "cargo"])
                    .args(arguments)
                    // Variables of the compiler that runs us.
                    .env_remove("CARGO")
                    .env_remove("RUSTC");
                (nightly, directory.join("fuzz-address"))
            }
        }
    }
}

/// Builds all targets with coverage; returns the folder of the binaries.
pub fn build(root: &Path, sanitizer: Sanitizer) -> Result<PathBuf> {
    let version = shell::read(Command::new("rustc").current_dir(root).arg("-vV"))?.stdout;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("`rustc -vV` names no host")?;
    // The flags of cargo-fuzz. With a target named, these apply to the targets and not to build
    // scripts, which would fail to link.
    let mut flags = vec!["--cfg=fuzzing"];
    if sanitizer == Sanitizer::Address {
        flags.push("-Zsanitizer=address");
    }
    flags.extend([
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-level=4",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
        "-Cllvm-args=-sanitizer-coverage-pc-table",
        "-Cllvm-args=-sanitizer-coverage-trace-compares",
    ]);
    // Not `--locked`: this is a separate workspace, whose lock file changes when a crate of the
    // main one gets a dependency.
    let arguments = ["build", "--release", "--target", host];
    let (mut build, directory) = sanitizer.cargo(&root.join("fuzz"), &arguments);
    build
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .arg("--target-dir")
        .arg(&directory);
    shell::run(&mut build)?;
    Ok(directory.join(host).join("release"))
}
