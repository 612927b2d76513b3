//! Simulates a busy machine: busy CPUs, constant disk writes, little memory. Each load is a
//! separate process that ends with its parent.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Processes that never wait.
const BUSY: usize = 16;
/// Memory that the memory load leaves free, in bytes.
const LEFT_BYTES: u64 = 1 << 30;
/// Memory that it allocates and frees at once, in bytes.
const STEP_BYTES: u64 = 64 << 20;
/// Bytes written repeatedly.
const WRITTEN_BYTES: u64 = 256 << 20;

/// The load, for the lifetime of this value.
pub struct Load {
    /// What each process does.
    processes: Vec<(&'static str, Child)>,
    written: PathBuf,
}

impl Load {
    pub fn start(folder: &Path) -> Result<Load> {
        std::fs::create_dir_all(folder)?;
        let mut load = Load {
            processes: Vec::new(),
            written: folder.join("written-all-the-time"),
        };
        let kinds = std::iter::repeat_n("busy", BUSY).chain(["disk", "memory"]);
        for kind in kinds {
            let process = load.process(kind)?;
            load.processes.push((kind, process));
        }
        Ok(load)
    }

    fn process(&self, kind: &str) -> Result<Child> {
        Command::new(shell::own_program()?)
            .args(["generate-load", kind])
            .arg(&self.written)
            .stdin(Stdio::piped())
            .spawn()
            .context("cannot start a process of the load")
    }

    /// Restarts exited processes: the kernel reclaims memory from this load first. A full disk is
    /// an error.
    pub fn keep_up(&mut self) -> Result<()> {
        for at in 0..self.processes.len() {
            let (kind, process) = &mut self.processes[at];
            let kind = *kind;
            match process.try_wait()? {
                None => continue,
                Some(status) if kind != "memory" => bail!("the load `{kind}` ended ({status})"),
                Some(_) => self.processes[at].1 = self.process(kind)?,
            }
        }
        Ok(())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for (_, process) in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
        let _ = std::fs::remove_file(&self.written);
    }
}

/// Runs a load process until its standard input ends.
///
/// # Errors
/// If the words are not a kind of load and a path, or the system refuses.
pub fn generate_load(words: &[String]) -> Result<()> {
    let [kind, written] = words else {
        bail!("expected a kind and a path");
    };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    match kind.as_str() {
        "busy" => loop {
            std::hint::spin_loop();
        },
        "disk" => write_again_and_again(Path::new(written)),
        "memory" => take_memory(),
        _ => bail!("no such load"),
    }
}

fn write_again_and_again(path: &Path) -> Result<()> {
    let block: Vec<u8> = (0..1 << 20).map(|at: u32| (at * 31 % 251) as u8).collect();
    let mut file = File::create(path)?;
    loop {
        file.seek(SeekFrom::Start(0))?;
        for _ in 0..WRITTEN_BYTES >> 20 {
            file.write_all(&block)?;
        }
        file.sync_data()?;
    }
}

/// Allocates memory until little is left, and frees it as other processes need it. If the kernel
/// runs out first, it kills this process.
fn take_memory() -> Result<()> {
    std::fs::write("/proc/self/oom_score_adj", "1000")?;
    let mut taken: Vec<Vec<u8>> = Vec::new();
    loop {
        let left = available_bytes()?;
        if left > LEFT_BYTES + STEP_BYTES {
            taken.push(vec![1; STEP_BYTES as usize]);
        } else if left < LEFT_BYTES && taken.pop().is_some() {
            continue;
        } else {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn available_bytes() -> Result<u64> {
    let all = std::fs::read_to_string("/proc/meminfo")?;
    let line = all
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: u64 = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .context("/proc/meminfo has no MemAvailable")?;
    Ok(kib << 10)
}
