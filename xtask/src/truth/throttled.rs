//! Benches of a device with a known maximum: a loop device on a file exported by a daemon at a
//! fixed rate. Nothing in the kernel limits anything, so the program finds no cap to warn about,
//! and its answer must be the cap.
//!
//! The latency limit is far above what the device needs at its cap, so that other load on the
//! machine changes which load crosses it but not the rate there.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use suite::arguments::Arguments;
use suite::shell;

/// Reads per second that pass.
const CAP: u32 = 1_000;
const FILE_BYTES: u64 = 256 << 20;
/// The daemon counts in slices of a tenth of a second; over a run of 1.5 s the rate may differ from
/// the cap by this share.
const CAP_SHARE: f64 = 0.01;
const HALF_WIDTH_MAX: f64 = 0.10;
/// Allowed intervals that miss the cap, of 20: with 5 % each, more occur once in 60 studies.
const MISSES_SHARE_MAX: f64 = 3.0 / 20.0;

/// The rate-limited file, and the device on it; both are removed on drop.
struct Throttled {
    daemon: Child,
    device: Option<PathBuf>,
    _folder: tempfile::TempDir,
}

impl Throttled {
    /// `None` without root or without FUSE.
    fn new() -> Result<Option<Throttled>> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let (disk, export) = (folder.path().join("disk"), folder.path().join("export"));
        crate::perf::device::fill(&disk, FILE_BYTES)?;
        std::fs::write(&export, "").context("cannot make the file to mount on")?;
        let daemon = Command::new("qemu-storage-daemon")
            .arg("--object")
            .arg(format!("throttle-group,id=limits,x-iops-total={CAP}"))
            .arg("--blockdev")
            .arg(format!(
                "driver=file,node-name=file,read-only=on,filename={}",
                disk.display()
            ))
            .arg("--blockdev")
            .arg("driver=throttle,node-name=held,throttle-group=limits,read-only=on,file=file")
            .arg("--export")
            .arg(format!(
                "type=fuse,id=export,node-name=held,writable=off,mountpoint={}",
                export.display()
            ))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start qemu-storage-daemon")?;
        let mut throttled = Throttled {
            daemon,
            device: None,
            _folder: folder,
        };
        let until = Instant::now() + Duration::from_secs(60);
        while std::fs::metadata(&export).map_or(0, |file| file.len()) != FILE_BYTES {
            if throttled.daemon.try_wait()?.is_some() || Instant::now() > until {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let made = Command::new("losetup")
            .args(["--find", "--show", "--read-only", "--direct-io=on"])
            .arg(&export)
            .output();
        throttled.device = made
            .ok()
            .filter(|output| output.status.success())
            .map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
        Ok(throttled.device.is_some().then_some(throttled))
    }
}

impl Drop for Throttled {
    fn drop(&mut self) {
        if let Some(device) = &self.device {
            drop(Command::new("losetup").arg("--detach").arg(device).output());
        }
        // It unmounts the file system when asked to exit.
        let number = self.daemon.id().to_string();
        drop(Command::new("kill").arg(number).status());
        drop(self.daemon.wait());
    }
}

/// A bench's answer on random reads: rate, low and high end, and the text.
fn answer(output: &[u8]) -> Result<(Option<[f64; 3]>, String)> {
    let document: Value = serde_json::from_slice(output).context("not a JSON document")?;
    let series = &document["series"][0];
    let answer = &series["answer"];
    let number = |name: &str| answer[name].as_f64();
    let numbers = number("iops").zip(number("iops_low").zip(number("iops_high")));
    let sentence = series["sentence"].as_str().unwrap_or("no sentence");
    let numbers = numbers.map(|(rate, (low, high))| [rate, low, high]);
    Ok((numbers, sentence.to_owned()))
}

fn bench(
    program: &Path,
    device: &Path,
    store: &Path,
    seed: u32,
) -> Result<(Option<[f64; 3]>, String)> {
    let output = Command::new(program)
        .arg("--store")
        .arg(store)
        .arg("bench")
        .arg(device)
        .args(["--series", "random-read", "--slo", "p99<100ms", "--json"])
        .args(["--no-report", "--busy-ok", "--seed", &seed.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if output.status.code() != Some(0) {
        bail!("bench ended with {}", output.status);
    }
    answer(&output.stdout)
}

pub fn run(mut arguments: Arguments) -> Result<()> {
    let tries: u32 = arguments.value("--tries")?.unwrap_or(5);
    let given: Option<PathBuf> = arguments.value("--binary")?;
    arguments.finish()?;
    let what = "benches of a device held to a known rate";
    if !shell::has("qemu-storage-daemon") {
        return shell::skip(
            what,
            "qemu-storage-daemon (qemu-utils or qemu-system-common)",
        );
    }
    let Some(throttled) = Throttled::new()? else {
        return shell::skip(what, "root (losetup) and /dev/fuse");
    };
    let device = throttled.device.as_deref().context("it has a device")?;
    let program = match given {
        Some(program) => program,
        None => suite::shell::release_binary(&suite::root::path())?,
    };
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let store = folder.path().join("store.db");
    let mut misses = 0;
    for number in 1..=tries {
        let (outcomes, sentence) = bench(&program, device, &store, number)?;
        let Some([rate, low, high]) = outcomes else {
            println!("try {number}: no interval: MISSED: {sentence}");
            misses += 1;
            continue;
        };
        let (cap, half) = (f64::from(CAP), (high - low) / 2.0 / rate);
        let holds = low <= cap * (1.0 + CAP_SHARE) && cap * (1.0 - CAP_SHARE) <= high;
        let missed = !holds || half > HALF_WIDTH_MAX;
        misses += u32::from(missed);
        println!(
            "try {number}: {rate:.0} IOPS ({low:.0}-{high:.0}), {:.1} % to either side, at a cap \
             of {CAP}{}",
            100.0 * half,
            if missed { ": MISSED" } else { "" }
        );
    }
    let most = (MISSES_SHARE_MAX * f64::from(tries)).max(1.0).floor();
    println!("{misses} of {tries} tries missed; at most {most} may");
    if f64::from(misses) > most {
        bail!("too many benches of a throttled device missed its cap");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_read_from_the_document_of_a_bench() {
        let document = br#"{"series": [{"sentence": "Random read.", "answer":
            {"iops": 1002.0, "iops_low": 998.0, "iops_high": 1006.0}}]}"#;
        let (numbers, sentence) = answer(document).expect("a document");
        assert_eq!(numbers, Some([1002.0, 998.0, 1006.0]));
        assert_eq!(sentence, "Random read.");
        let bound = br#"{"series": [{"answer": {"iops": 1002.0, "iops_low": 998.0}}]}"#;
        assert_eq!(answer(bound).expect("a document").0, None);
        assert!(answer(b"nothing").is_err());
    }
}
