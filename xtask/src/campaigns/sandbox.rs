//! A separate folder with a store, and the program run there.

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The text of a panic on stderr. No outside input may make the program panic.
const PANIC: &str = "panicked at";

/// Runs by id, each with the digest of its line in `export`.
pub type Runs = BTreeMap<String, [u8; 32]>;

/// The folder, removed at the end.
pub struct Sandbox {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Sandbox {
    pub fn new(program: &Path) -> Result<Sandbox> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        std::fs::create_dir(folder.path().join("data"))?;
        Ok(Sandbox {
            folder,
            program: program.to_owned(),
        })
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where test files are made.
    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub fn store(&self) -> PathBuf {
        self.path("store.db")
    }

    /// The program with the folder's store, isolated from the user's settings.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(&self.program);
        self.dress(&mut command);
        command.args(self.words(arguments).iter().skip(1));
        command
    }

    /// The same, prefixed with another program's command (`strace ...`).
    pub fn command_behind<A: AsRef<OsStr>>(
        &self,
        before: &[String],
        arguments: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(&before[0]);
        self.dress(&mut command);
        command.args(&before[1..]).args(self.words(arguments));
        command
    }

    fn dress(&self, command: &mut Command) {
        command
            .env("HOME", self.folder.path())
            .env_remove("XDG_DATA_HOME")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    fn words<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Vec<std::ffi::OsString> {
        let mut words = vec![
            self.program.clone().into_os_string(),
            "--quiet".into(),
            "--store".into(),
            self.store().into_os_string(),
        ];
        words.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        words
    }

    /// Runs it to completion; it must succeed.
    pub fn must<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<String> {
        let mut command = self.command(arguments);
        let output = command.output().context("cannot start the program")?;
        no_panic(&output)?;
        if !output.status.success() {
            bail!(
                "`{}` failed ({})\n{}",
                suite::shell::line(&command),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Every finished run of the store; opening it must succeed.
    pub fn runs(&self) -> Result<Runs> {
        let lines = self.must(["export", "--format", "jsonl"])?;
        let mut runs = Runs::new();
        for line in lines.lines() {
            let record: serde_json::Value =
                serde_json::from_str(line).context("a line of `export` is not JSON")?;
            let id = record["id"].as_str().context("a run without an id")?;
            if record["status"] == "complete" {
                runs.insert(id.to_owned(), Sha256::digest(line.as_bytes()).into());
            }
        }
        Ok(runs)
    }

    /// Checks that no run of `before` is lost or changed, and returns the current runs.
    pub fn nothing_lost(&self, before: &Runs) -> Result<Runs> {
        let now = self.runs()?;
        for (id, digest) in before {
            match now.get(id) {
                None => bail!("run {id} is lost"),
                Some(found) if found != digest => bail!("run {id} has changed"),
                Some(_) => {}
            }
        }
        Ok(now)
    }

    /// SQLite's own check of the file, if its shell is installed.
    pub fn integrity(&self) -> Result<()> {
        let mut check = Command::new("sqlite3");
        check.arg(self.store()).arg("PRAGMA integrity_check");
        let Ok(output) = check.output() else {
            return Ok(());
        };
        let outcomes = String::from_utf8_lossy(&output.stdout);
        if outcomes.trim() != "ok" {
            bail!("the store is damaged: {outcomes}");
        }
        Ok(())
    }
}

/// No command may end in a panic, whatever the fault.
pub fn no_panic(output: &Output) -> Result<()> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains(PANIC) {
        bail!("a panic: {stderr}");
    }
    Ok(())
}
