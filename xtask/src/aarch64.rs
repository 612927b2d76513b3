//! Linux on aarch64: builds the program for it and runs it under qemu-user. On simulated arrays its
//! output must match the program for this processor to the last digit; a real file is written and
//! read, and each can read the other's store.
//!
//! Not optimised, as it is not measured; linked with the static glibc of Debian's cross compiler.
//! Packages are linked with musl (`cargo xtask dist`), and installed and run under qemu-user by
//! `cargo xtask nightly`.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use suite::shell::{self, cargo};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const C_COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64-static";

/// Loads on simulated arrays with all kinds of drives.
const SIMULATED: [&[&str]; 4] = [
    &["sim:raid10-10k?offset=63s", "--outstanding", "32"],
    &["sim:raid5-7k2", "--write", "--outstanding", "8"],
    &[
        "sim:sata-ssd",
        "--read-percent",
        "70",
        "--outstanding",
        "16",
    ],
    &["sim:nvme", "--sequential", "--block", "64K"],
];

/// The program on this processor and on aarch64.
struct BothPrograms {
    here: PathBuf,
    there: PathBuf,
    folder: tempfile::TempDir,
}

pub fn run(root: &Path) -> Result<()> {
    let what = "the program for aarch64";
    for tool in [C_COMPILER, EMULATOR] {
        if !shell::has(tool) {
            return shell::skip(what, tool);
        }
    }
    if shell::has("rustup") {
        shell::run(Command::new("rustup").args(["target", "add", TARGET]))?;
    }
    // The tests' binary, if they ran before.
    shell::run(&mut build(root, &[]))?;
    shell::run(&mut build(root, &["--target", TARGET]))?;
    let target = suite::root::target_directory();
    let both = BothPrograms {
        here: target.join("debug/stripewise"),
        there: target.join(TARGET).join("debug/stripewise"),
        folder: tempfile::tempdir().context("cannot make a folder")?,
    };
    both.says_what_it_is()?;
    for load in SIMULATED {
        both.agree_on(load)?;
    }
    both.reads_and_writes()
}

fn build(root: &Path, more: &[&str]) -> Command {
    // Selects the whole workspace, as the tests do: no crate is compiled with different features.
    let words = ["build", "--workspace", "--locked", "--bin", "stripewise"];
    let mut build = cargo(root, &words);
    build.args(more);
    let key = TARGET.to_uppercase().replace('-', "_");
    build.env(format!("CARGO_TARGET_{key}_LINKER"), C_COMPILER);
    build.env(
        format!("CARGO_TARGET_{key}_RUSTFLAGS"),
        "-C target-feature=+crt-static",
    );
    build
}

impl BothPrograms {
    fn there(&self, words: &[&str]) -> Command {
        let mut command = Command::new(EMULATOR);
        command.arg(&self.there).args(words);
        self.with_store(command, "there.db")
    }

    fn here(&self, words: &[&str], store: &str) -> Command {
        let mut command = Command::new(&self.here);
        command.args(words);
        self.with_store(command, store)
    }

    fn with_store(&self, mut command: Command, store: &str) -> Command {
        command.arg("--store").arg(self.folder.path().join(store));
        command
    }

    fn says_what_it_is(&self) -> Result<()> {
        let version = document(&mut self.there(&["--version", "--json"]))?;
        if version["architecture"] != "aarch64" || version["system"] != "linux" {
            bail!("it says that it is {version}");
        }
        println!("{}", version["version"]);
        Ok(())
    }

    /// Operations, rates, every percentile and every interval.
    fn agree_on(&self, load: &[&str]) -> Result<()> {
        let words = [
            &["run"],
            load,
            &["--duration", "2s", "--seed", "7", "--json"],
        ]
        .concat();
        let outcome = |mut command: Command| -> Result<Value> {
            Ok(document(&mut command)?["runs"][0]["jobs"][0]["outcome"].take())
        };
        let here = outcome(self.here(&words, "here.db"))?;
        let there = outcome(self.there(&words))?;
        if here != there || here["operations"].as_u64() == Some(0) {
            bail!("{}: here {here}, there {there}", load.join(" "));
        }
        println!(
            "{}: {} operations on both",
            load.join(" "),
            here["operations"]
        );
        Ok(())
    }

    /// The emulator has no io_uring.
    fn reads_and_writes(&self) -> Result<()> {
        let directory = self.folder.path().join("volume");
        std::fs::create_dir(&directory)?;
        let directory = directory.to_string_lossy().into_owned();
        let load = ["--size", "16M", "--duration", "1s", "--engine", "threads"];
        let words = [
            &["run", &directory, "--read-percent", "50"][..],
            &load,
            &["--busy-ok", "--json"],
        ]
        .concat();
        let document = document(&mut self.there(&words))?;
        let outcome = &document["runs"][0]["jobs"][0]["outcome"];
        let done = |kind: &str| outcome[kind]["operations"].as_u64().unwrap_or(0);
        if done("read") == 0 || done("write") == 0 || outcome["errors"]["total"] != 0 {
            bail!("on a file: {outcome}");
        }
        if std::fs::read_dir(&directory)?.next().is_some() {
            bail!("it left something in {directory}");
        }
        let id = document["runs"][0]["id"]
            .as_str()
            .context("a run has an id")?;
        let shown = self.here(&["history", "show", id, "--json"], "there.db");
        let stored = self::document(&mut { shown })?;
        if stored["runs"][0]["jobs"][0]["outcome"] != *outcome {
            bail!("what it stored of {id} is read as {stored}");
        }
        println!(
            "on a file: {} reads, {} writes",
            done("read"),
            done("write")
        );
        Ok(())
    }
}

fn document(command: &mut Command) -> Result<Value> {
    let output = shell::read(command)?;
    serde_json::from_str(&output.stdout)
        .with_context(|| format!("`{}` printed no JSON", shell::line(command)))
}
