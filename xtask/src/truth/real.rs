//! A/A on a real loop device through the program itself: repeats two offsets of equal effect. Takes
//! as long as the runs: 20 tries of two minutes.

use crate::perf::device::Device;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use suite::arguments::Arguments;
use suite::shell;

/// Allowed false alarms of 20: with 5 % each, more occur once in 60 studies.
const ALARMS_SHARE_MAX: f64 = 3.0 / 20.0;

pub fn run(mut arguments: Arguments) -> Result<()> {
    let tries: u32 = arguments.value("--tries")?.unwrap_or(20);
    let seconds: u32 = arguments.value("--seconds")?.unwrap_or(120);
    let given: Option<PathBuf> = arguments.value("--binary")?;
    arguments.finish()?;
    let program = match given {
        Some(program) => program,
        None => suite::shell::release_binary(&suite::root::path())?,
    };
    let Some(device) = Device::loop_device(512 << 20)? else {
        return shell::skip("A/A on a real device", "root (losetup)");
    };
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let mut alarms = 0;
    for number in 1..=tries {
        let output = Command::new(&program)
            .args(["--store"])
            .arg(folder.path().join("store.db"))
            .arg("align")
            .arg(device.path())
            .args(["--read", "--offsets", "1M,2M", "--threads", "1,4"])
            .args(["--outstanding", "4", "--step", "500ms"])
            .args([
                "--time",
                &format!("{seconds}s"),
                "--seed",
                &number.to_string(),
            ])
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("cannot run {}", program.display()))?;
        match output.status.code() {
            Some(0) => println!("try {number}: nothing found"),
            Some(1) => {
                alarms += 1;
                println!(
                    "try {number}: ALARM\n{}",
                    String::from_utf8_lossy(&output.stdout)
                );
            }
            other => bail!("align ended with {other:?}"),
        }
    }
    let most = (ALARMS_SHARE_MAX * f64::from(tries)).max(1.0).floor();
    println!("{alarms} of {tries} tries of {seconds} s alarmed; at most {most} may");
    if f64::from(alarms) > most {
        bail!("too many alarms");
    }
    Ok(())
}
