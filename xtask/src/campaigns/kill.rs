//! Commands killed at random times: the store opens again, no finished run is lost or changed, no
//! test file is left behind, a report is complete or absent, and a partition table is the old one
//! or the new one.

use super::SeededRng;
use super::sandbox::{Runs, Sandbox, no_panic};
use crate::perf::device::Device;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use suite::shell;

/// A result of another tool to import, relative to the project's folder.
const IMPORTED: &str = "crates/compat/tests/data/diskspd-2.0.12.txt";
/// First sectors of the tables, which alternate.
const STARTS: [(&str, u64); 2] = [("63s", 63), ("1M", 2048)];

/// The command to kill.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Simulated,
    Read,
    Write,
    Bench,
    Align,
    Import,
    Delete,
    Prepare,
    Report,
    Partition,
}

const WORKS: [Work; 10] = [
    Work::Simulated,
    Work::Read,
    Work::Write,
    Work::Bench,
    Work::Align,
    Work::Import,
    Work::Delete,
    Work::Prepare,
    Work::Report,
    Work::Partition,
];

struct Campaign<'a> {
    sandbox: Sandbox,
    root: &'a Path,
    kept: PathBuf,
    device: Option<Device>,
    runs: Runs,
    round: u64,
    /// Duration of each kind of work without a kill.
    length: Vec<Duration>,
    killed: u64,
    tables: [u64; 2],
}

pub fn run(root: &Path, program: &Path, time: Duration, rng: &mut SeededRng) -> Result<()> {
    let mut campaign = Campaign::new(root, program)?;
    let end = Instant::now() + time;
    while Instant::now() < end {
        let work = WORKS[rng.below(WORKS.len() as u64) as usize];
        if work == Work::Partition && campaign.device.is_none() {
            continue;
        }
        campaign
            .attempt(work, rng)
            .with_context(|| format!("round {}, {work:?}", campaign.round))?;
    }
    println!(
        "kill: {} commands, {} killed before their end; {} finished runs, none lost or changed; \
         tables: {} old, {} new",
        campaign.round,
        campaign.killed,
        campaign.runs.len(),
        campaign.tables[0],
        campaign.tables[1]
    );
    if campaign.killed * 4 < campaign.round {
        bail!("fewer than a quarter of the commands were killed before their end");
    }
    Ok(())
}

impl<'a> Campaign<'a> {
    fn new(root: &'a Path, program: &Path) -> Result<Campaign<'a>> {
        let sandbox = Sandbox::new(program)?;
        let kept = sandbox.path("kept");
        sandbox.must(["prepare", path(&kept), "--size", "8M", "--busy-ok"])?;
        for _ in 0..5 {
            sandbox.must(["run", "sim:raid10-10k", "--duration", "2s"])?;
        }
        let device = Device::loop_device(64 << 20)?;
        if device.is_none() {
            shell::skip("campaign kill: partition", "root (losetup)")?;
        }
        let mut campaign = Campaign {
            runs: sandbox.runs()?,
            sandbox,
            root,
            kept,
            device,
            round: 0,
            length: Vec::new(),
            killed: 0,
            tables: [0; 2],
        };
        for work in WORKS {
            let length = campaign.length_of(work)?;
            campaign.length.push(length);
        }
        campaign.round = 0;
        campaign.runs = campaign.sandbox.runs()?;
        Ok(campaign)
    }

    /// Runs it once without killing it.
    fn length_of(&mut self, work: Work) -> Result<Duration> {
        if work == Work::Partition && self.device.is_none() {
            return Ok(Duration::ZERO);
        }
        self.round += 1;
        let mut command = self.command(work)?;
        let begun = Instant::now();
        let output = command.output()?;
        no_panic(&output)?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!(
                "`{}` failed ({})\n{}",
                shell::line(&command),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let length = begun.elapsed();
        self.clean(work)?;
        Ok(length)
    }

    fn command(&self, work: Work) -> Result<Command> {
        let data = self.sandbox.data();
        let data = path(&data);
        let kept = path(&self.kept);
        let short = ["--duration", "300ms", "--interval", "20ms", "--busy-ok"];
        let words: Vec<String> = match work {
            Work::Simulated => words(&["run", "sim:raid10-10k", "--duration", "20s"], &[]),
            Work::Read => words(&["run", kept], &short),
            Work::Write => words(&["run", data, "--write", "--size", "8M"], &short),
            Work::Bench => words(&["bench", "sim:raid10-10k"], &[]),
            // Small, or the store would contain thousands of runs before the end.
            Work::Align => words(
                &["align", "sim:raid10-10k?offset=63s", "--read"],
                &["--threads", "4", "--offsets", "63s,64K", "--blocks", "10"],
            ),
            Work::Import => words(&["import", path(&self.root.join(IMPORTED))], &[]),
            Work::Delete => words(&["history", "delete", &self.sacrifice()?], &[]),
            Work::Prepare => words(
                &[
                    "prepare",
                    path(&self.prepared()),
                    "--size",
                    "16M",
                    "--busy-ok",
                ],
                &[],
            ),
            Work::Report => words(
                &["report", &self.sacrifice()?, "-o", path(&self.page())],
                &[],
            ),
            Work::Partition => return Ok(self.partition()),
        };
        Ok(self.sandbox.command(words))
    }

    /// A run that may be deleted.
    fn sacrifice(&self) -> Result<String> {
        let before = self.sandbox.runs()?;
        self.sandbox
            .must(["run", "sim:nvme", "--duration", "10ms"])?;
        let now = self.sandbox.runs()?;
        let new = now.keys().find(|id| !before.contains_key(*id));
        new.cloned().context("a run that was not kept")
    }

    fn prepared(&self) -> PathBuf {
        self.sandbox.path(&format!("prepared-{}", self.round))
    }

    fn page(&self) -> PathBuf {
        self.sandbox.path(&format!("page-{}.html", self.round))
    }

    /// The other of the two tables, so that each command makes a change.
    fn partition(&self) -> Command {
        let device = self.device.as_ref().expect("asked before").path();
        let name = device.file_name().expect("a device has a name");
        let align = STARTS[(self.round % 2) as usize].0;
        self.sandbox.command([
            "partition".as_ref(),
            device.as_os_str(),
            "--align".as_ref(),
            align.as_ref(),
            "--table".as_ref(),
            "mbr".as_ref(),
            "--yes".as_ref(),
            "--destroy".as_ref(),
            name,
        ])
    }

    fn attempt(&mut self, work: Work, rng: &mut SeededRng) -> Result<()> {
        self.round += 1;
        let place = WORKS
            .iter()
            .position(|known| *known == work)
            .expect("known");
        // Slightly beyond the usual end, so that the last steps are hit as well.
        let longest_us = self.length[place].as_micros() as u64 * 11 / 10;
        let table_before = self.table()?;
        let mut command = self.command(work)?;
        // Counted once the command is known: it may have created a run to delete.
        let mut runs = self.sandbox.nothing_lost(&self.runs)?;
        let mut child = command.spawn()?;
        std::thread::sleep(Duration::from_micros(rng.below(longest_us)));
        child.kill()?;
        let output = child.wait_with_output()?;
        no_panic(&output)?;
        if output.status.code().is_none() {
            self.killed += 1;
        }
        if work == Work::Delete {
            let id = shell::line(&command);
            let id = id.rsplit(' ').next().expect("a command has words");
            runs.remove(id);
        }
        self.runs = self.sandbox.nothing_lost(&runs)?;
        if self.round.is_multiple_of(5) {
            self.sandbox.integrity()?;
        }
        self.judge(work, table_before)?;
        self.clean(work)
    }

    fn judge(&mut self, work: Work, table_before: Option<u64>) -> Result<()> {
        let left: Vec<_> = std::fs::read_dir(self.sandbox.data())?.collect();
        if !left.is_empty() {
            bail!("a test file was left behind: {left:?}");
        }
        match work {
            Work::Report if self.page().exists() => {
                let page = std::fs::read_to_string(self.page())?;
                if !page.trim_end().ends_with("</html>") {
                    bail!("a report was left half written");
                }
            }
            Work::Prepare if self.prepared().exists() => {
                // It has its name, so the program must recognise it: writable without --overwrite.
                let file = self.prepared();
                let short = ["--duration", "50ms", "--busy-ok"];
                self.sandbox
                    .must(words(&["run", path(&file), "--write"], &short))?;
                self.runs = self.sandbox.nothing_lost(&self.runs)?;
            }
            Work::Partition => {
                let new = STARTS[(self.round % 2) as usize].1;
                match self.table()? {
                    Some(start) if start == new => self.tables[1] += 1,
                    start if start == table_before => self.tables[0] += 1,
                    start => bail!("the table was {table_before:?}, is {start:?}, not {new}"),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The first sector of the first partition, from sfdisk.
    fn table(&self) -> Result<Option<u64>> {
        let Some(device) = &self.device else {
            return Ok(None);
        };
        let mut sfdisk = Command::new("sfdisk");
        let output = sfdisk.arg("--json").arg(device.path()).output();
        let output = output.context("cannot start sfdisk")?;
        if !output.status.success() {
            return Ok(None);
        }
        let table: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        Ok(table["partitiontable"]["partitions"][0]["start"].as_u64())
    }

    fn clean(&self, work: Work) -> Result<()> {
        let made = match work {
            Work::Prepare => self.prepared(),
            Work::Report => self.page(),
            _ => return Ok(()),
        };
        match std::fs::remove_file(made) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

fn words(first: &[&str], more: &[&str]) -> Vec<String> {
    first
        .iter()
        .chain(more)
        .map(|word| (*word).to_owned())
        .collect()
}

/// Names in the sandbox are text.
fn path(path: &Path) -> &str {
    path.to_str()
        .expect("a temporary folder has a name in UTF-8")
}
