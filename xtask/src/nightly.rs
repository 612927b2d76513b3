//! Checks that take too long for every change: property tests with many cases, parsers under the
//! address sanitizer, experiments with a known answer, agreement with fio, the kernel's counters
//! against ours, several kernels end to end, attacks on the store and on paths, and the download
//! archives.

use crate::perf::device::Device;
use crate::perf::{agree, programs};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use suite::arguments::Arguments;
use suite::shell::{self, cargo};

/// Allowed relative difference between the kernel's sectors and ours.
const SECTORS_SHARE_MAX: f64 = 0.005;

/// Debian 11's kernel, this Debian's, Debian 13's, and Debian's newest.
const FURTHER_KERNELS: [&str; 9] = [
    "--kernel",
    "5.10",
    "--kernel",
    "default",
    "--kernel",
    "6.12",
    "--kernel",
    "newest",
    "mapper-all",
];
/// Rate-limited disks, side by side; an interval that other load made too wide to decide is
/// reported as such.
const RATES: [&str; 3] = ["rates-raid10", "rates-raid5-read", "rates-raid5-write"];

/// Every fault of the table, with every command.
fn faults(root: &Path) -> Result<()> {
    println!("== every fault of the table, with every command");
    let faults = [
        "test",
        "--locked",
        "--package",
        "stripewise-app",
        "--test",
        "it",
    ];
    let mut faults = cargo(root, &faults);
    faults.args(["--", "fault_table"]);
    shell::run(faults.env("STRIPEWISE_FAULTS", "all"))
}

/// The long tests of `verify`.
fn verification(root: &Path) -> Result<()> {
    println!("== ten thousand faults of each sort, a million crashes, a hundred hours of burn-in");
    let verify = [
        "test",
        "--release",
        "--locked",
        "--package",
        "stripewise-verify",
        "--test",
        "it",
        "--",
        "--ignored",
    ];
    shell::run(&mut cargo(root, &verify))
}

pub fn run(root: &Path) -> Result<()> {
    println!("== property tests, many cases");
    let mut properties = cargo(root, &["test", "--workspace", "--locked"]);
    shell::run(properties.env("PROPTEST_CASES", "4096"))?;
    println!("== all tests in random order, under load");
    let loaded = ["--quiet", "0", "--loaded", "1", "--processes", "0"];
    shell::run(cargo(root, &["xtask", "steady-tests"]).args(loaded))?;
    verification(root)?;
    faults(root)?;
    println!("== parsers, under the address sanitizer");
    crate::fuzz::in_nightly(root)?;
    println!("== benches, small");
    shell::run(&mut cargo(
        root,
        &[
            "bench",
            "--workspace",
            "--locked",
            "--benches",
            "--",
            "--test",
        ],
    ))?;
    println!("== processor time and memory against size");
    crate::perf::scale::run(None)?;
    println!("== experiments whose answer is known");
    let truth = [
        "run",
        "--release",
        "--locked",
        "--package",
        "xtask",
        "--",
        "truth",
    ];
    shell::run(&mut cargo(root, &truth))?;
    println!("== benches of a device held to a known rate");
    let throttled = [truth.as_slice(), &["--throttled"]].concat();
    shell::run(&mut cargo(root, &throttled))?;
    println!("== the oldest Rust, tests and examples too");
    crate::ci::oldest_rust_for_all(root)?;
    println!("== Windows, under Wine: suites of what only computes");
    crate::wine::further_suites(root)?;
    println!("== licences, sources and known faults of dependencies");
    dependencies(root)?;
    println!("== device mapper, md's metadata, stalls and pauses on a real kernel");
    crate::ci::scenarios_in_vm(root, &["layers", "pauses"])?;
    layouts(root)?;
    println!("== power cuts, disks that lie, and arrays that do not fit");
    crate::ci::scenarios_in_vm(root, &["power", "keeps", "logged"])?;
    println!("== mapped devices and arrays on older and newer kernels");
    crate::ci::scenarios_in_vm(root, &FURTHER_KERNELS)?;
    newer_ways(root)?;
    println!("== rates on arrays, beside fio");
    crate::ci::scenarios_in_vm(root, &RATES)?;
    println!("== sectors as the kernel counts them");
    sectors(root)?;
    println!("== agreement with fio");
    agree::run(Arguments::new(std::iter::empty()))?;
    println!("== kills, failing system calls, paths that change");
    #[cfg(unix)]
    {
        crate::campaigns::in_nightly(root)?;
        println!("== four hosts by ssh");
        crate::campaigns::by_ssh(root)?;
    }
    downloads(root)
}

/// Packed, then installed, used and removed; the aarch64 archive under qemu-user.
fn downloads(root: &Path) -> Result<()> {
    println!("== what users download");
    crate::dist::run(Arguments::new(std::iter::empty()))?;
    println!("== what users download: installed, used, removed");
    shell::run(&mut Command::new(root.join("tests/packages/run")))
}

/// Features that an old kernel refuses and a new one supports.
fn newer_ways(root: &Path) -> Result<()> {
    println!(
        "== commands past the block layer, polling, atomic, uncached and durable operations, discards, cores"
    );
    let suite = [
        "build",
        "--release",
        "--locked",
        "--package",
        "stripewise-io-engine",
        "--features",
        "conformance",
        "--example",
        "conformance",
    ];
    shell::run(&mut cargo(root, &suite))?;
    let kernels = ["--kernel", "default", "--kernel", "newest"];
    crate::ci::scenarios_in_vm(
        root,
        &[
            &kernels[..],
            &["nvme", "atomic", "discards", "durable", "cores"],
        ]
        .concat(),
    )
}

fn layouts(root: &Path) -> Result<()> {
    println!("== layouts made on real disks: killed, and the power lost");
    let killed = [
        "layouts",
        "layouts-slots",
        "layouts-killed",
        "layouts-power",
    ];
    crate::ci::scenarios_in_vm(root, &killed)?;
    // Runs alone: its rates are judged.
    println!("== layouts made on real disks: held against the laws");
    crate::ci::scenarios_in_vm(root, &["layouts-laws"])
}

/// Licences and sources must pass; the list of known vulnerabilities is checked if the network is
/// available.
fn dependencies(root: &Path) -> Result<()> {
    if !shell::has("cargo-deny") {
        return shell::skip("licences of dependencies", "cargo-deny");
    }
    let deny = |checks: &[&str]| {
        let mut command = Command::new("cargo-deny");
        command.current_dir(root).args(["check"]).args(checks);
        shell::run(&mut command)
    };
    deny(&["licenses", "bans", "sources"])?;
    let mut fetch = Command::new("cargo-deny");
    if let Err(error) = shell::run(fetch.current_dir(root).arg("fetch")) {
        println!("known faults: not looked for, as their list could not be had: {error}");
        return Ok(());
    }
    deny(&["advisories"])
}

/// Measures on a device of our own and compares with `/proc/diskstats`.
fn sectors(root: &Path) -> Result<()> {
    let stripewise = suite::shell::release_binary(root)?;
    let Some(device) = Device::loop_device(512 << 20)? else {
        return shell::skip("sectors as the kernel counts them", "root (losetup)");
    };
    for block_size_bytes in [4 << 10, 64 << 10] {
        // Sectors counted by the kernel, and by us.
        let look = |seconds| -> Result<(u64, u64)> {
            let before = sectors_read(device.path())?;
            let load = programs::Load {
                block_size_bytes,
                outstanding: 32,
                seconds,
                ..programs::Load::default()
            };
            let run = programs::stripewise(&stripewise, device.path(), load)?.read()?;
            let counted = sectors_read(device.path())? - before;
            Ok((counted, run.operations_in_all * block_size_bytes / 512))
        };
        // The content sampling before a run is the same for a short and a long one; on a slow or
        // busy machine it would be a significant share.
        let (counted_short, ours_short) = look(1)?;
        let (counted_long, ours_long) = look(4)?;
        let counted = counted_long.saturating_sub(counted_short);
        let ours = ours_long.saturating_sub(ours_short);
        if ours == 0 {
            bail!("four seconds did no more operations than one");
        }
        let share = (counted as f64 - ours as f64).abs() / ours as f64;
        println!(
            "{} KiB: we say {ours} sectors, the kernel {counted} ({:.3} % apart)",
            block_size_bytes >> 10,
            share * 100.0
        );
        if share > SECTORS_SHARE_MAX {
            bail!("more than {} % apart", SECTORS_SHARE_MAX * 100.0);
        }
    }
    Ok(())
}

/// Sectors of 512 bytes read from a device since it appeared.
fn sectors_read(device: &Path) -> Result<u64> {
    let name = device
        .file_name()
        .context("a device has a name")?
        .to_string_lossy();
    let stats = std::fs::read_to_string("/proc/diskstats")?;
    parse_sectors_read(&stats, &name).with_context(|| format!("{name} is not in /proc/diskstats"))
}

/// Field 6 of the device's line: sectors read.
fn parse_sectors_read(stats: &str, name: &str) -> Option<u64> {
    stats
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|fields| fields.get(2) == Some(&name))
        .and_then(|fields| fields.get(5)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_read_are_the_sixth_field_of_the_devices_line() {
        let stats = "   7       0 loop0 11 0 22 33 0 0\n   7       1 loop1 44 0 55 66 0 0\n";
        assert_eq!(parse_sectors_read(stats, "loop1"), Some(55));
        assert_eq!(parse_sectors_read(stats, "loop"), None);
    }
}
