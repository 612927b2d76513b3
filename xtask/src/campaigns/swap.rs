//! Paths that change during use: whatever a name pointed to when it was checked, only the checked
//! object may be written.

use super::sandbox::{Sandbox, no_panic};
use crate::perf::device::Device;
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use suite::shell;

/// Size of each file and device here.
const SIZE_BYTES: u64 = 8 << 20;

/// Results of a race.
#[derive(Default, Debug)]
struct Counts {
    swaps: u64,
    runs: u64,
    written: u64,
    refused: u64,
}

pub fn run(program: &Path, time: Duration) -> Result<()> {
    let files = files(program, time / 2).context("files")?;
    report("a kept file and a user's file behind one name", &files)?;
    match devices(program, time / 2).context("devices")? {
        Some(devices) => report(
            "the device of --destroy and another behind one name",
            &devices,
        ),
        None => shell::skip("campaign swap: devices", "root (losetup)"),
    }
}

fn report(what: &str, counts: &Counts) -> Result<()> {
    println!(
        "swap: {what}: {} swaps, {} runs, {} wrote, {} refused; the victim is unchanged",
        counts.swaps, counts.runs, counts.written, counts.refused
    );
    if counts.written == 0 || counts.refused == 0 {
        bail!("only one side was ever met: the campaign shows nothing");
    }
    Ok(())
}

/// The name alternates between a kept test file, which may be written, and a link to a file of the
/// user's, which may not.
fn files(program: &Path, time: Duration) -> Result<Counts> {
    let sandbox = Sandbox::new(program)?;
    let kept = sandbox.path("kept");
    let victim = sandbox.path("victim");
    let prepare: [OsString; 5] = [
        "prepare".into(),
        kept.clone().into(),
        "--size".into(),
        SIZE_BYTES.to_string().into(),
        "--busy-ok".into(),
    ];
    sandbox.must(&prepare)?;
    std::fs::write(&victim, pattern())?;
    let name = sandbox.path("name");
    let run = arguments(&name, None);
    race(&sandbox, [&kept, &victim], &name, &run, &victim, time)
}

/// The name alternates between the device named with `--destroy` and another one.
fn devices(program: &Path, time: Duration) -> Result<Option<Counts>> {
    let (Some(named), Some(victim)) = (
        Device::loop_device(SIZE_BYTES)?,
        Device::loop_device(SIZE_BYTES)?,
    ) else {
        return Ok(None);
    };
    let sandbox = Sandbox::new(program)?;
    let name = sandbox.path("name");
    let destroy = named.path().file_name().context("a device has a name")?;
    let run = arguments(&name, Some(destroy.to_owned()));
    let ends = [named.path(), victim.path()];
    race(&sandbox, ends, &name, &run, victim.path(), time).map(Some)
}

fn arguments(name: &Path, destroy: Option<OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["run".into(), name.into(), "--write".into()];
    words.extend(["--duration", "20ms", "--busy-ok"].map(OsString::from));
    if let Some(device) = destroy {
        words.extend(["--destroy".into(), device]);
    }
    words
}

/// Runs the program while the name alternates between `ends` as fast as possible.
fn race(
    sandbox: &Sandbox,
    ends: [&Path; 2],
    name: &Path,
    run: &[OsString],
    victim: &Path,
    time: Duration,
) -> Result<Counts> {
    let before = digest(victim)?;
    let links: [PathBuf; 2] = [sandbox.path("link-0"), sandbox.path("link-1")];
    std::os::unix::fs::symlink(ends[0], name)?;
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let counts = std::thread::scope(|scope| {
        let swapper = scope.spawn(|| -> Result<()> {
            while !stop.load(Ordering::Relaxed) {
                for (end, link) in ends.iter().zip(&links) {
                    std::os::unix::fs::symlink(end, link)?;
                    std::fs::rename(link, name)?;
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        });
        let counts = attempts(sandbox, run, victim, &before, time);
        stop.store(true, Ordering::Relaxed);
        swapper.join().expect("no panic")?;
        counts
    })?;
    Ok(Counts {
        swaps: swaps.into_inner(),
        ..counts
    })
}

fn attempts(
    sandbox: &Sandbox,
    run: &[OsString],
    victim: &Path,
    before: &[u8; 32],
    time: Duration,
) -> Result<Counts> {
    let end = Instant::now() + time;
    let mut counts = Counts::default();
    while Instant::now() < end {
        let output = sandbox.command(run).output()?;
        no_panic(&output)?;
        counts.runs += 1;
        match output.status.code() {
            Some(0) => counts.written += 1,
            Some(2..=6) => counts.refused += 1,
            _ => bail!(
                "it ended by {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ),
        }
        if digest(victim)? != *before {
            bail!("the victim was written in run {}", counts.runs);
        }
    }
    Ok(counts)
}

fn digest(path: &Path) -> Result<[u8; 32]> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Sha256::digest(bytes).into())
}

/// A user's data: text that the program would never write.
fn pattern() -> Vec<u8> {
    b"The user's own words, which nobody may write over.\n"
        .iter()
        .copied()
        .cycle()
        .take(SIZE_BYTES as usize)
        .collect()
}
