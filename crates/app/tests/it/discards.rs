//! Discards: an operation of its own, which destroys what it hits. So every rule of writing
//! holds for it, and one more: a file that Stripewise did not make keeps its data, whatever
//! the flags say.

use crate::support::served::Served;
use crate::support::{
    Answer, Desk, Json, Loop, MIB, Mount, can_run, long_enough, read_by_another, run, users_file,
};
use std::os::unix::fs::MetadataExt;

const SHORT: [&str; 5] = ["--duration", "200ms", "--busy-ok", "--block", "4K"];

fn discarding<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", target];
    all.extend(SHORT);
    all.extend(more);
    all
}

/// A run whose window is long enough for so many operations of each of these kinds.
fn with_operations(desk: &Desk, target: &str, more: &[&str], kinds: &[&str], least: u64) -> Answer {
    let measure = |duration: &str| {
        let run = ["run", target, "--busy-ok", "--block", "4K", "--json"];
        desk.run(&[&run[..], more, &["--duration", duration]].concat())
            .done()
    };
    long_enough(measure, |answer| {
        let outcome = outcome(answer);
        let operations = |kind: &&str| count(&outcome, &format!("{kind}.operations"));
        kinds.iter().map(operations).all(|found| found >= least)
    })
}

fn outcome(answer: &Answer) -> Json {
    answer.json().at("runs.0.jobs.0.outcome")
}

fn count(outcome: &Json, path: &str) -> u64 {
    outcome.maybe(path).map_or(0, |number| number.count())
}

/// Bytes that a file takes on its file system.
fn allocated(path: &str) -> u64 {
    std::fs::metadata(path).expect("there").blocks() * 512
}

#[test]
fn discards_are_counted_apart_from_reads_and_writes() {
    let desk = Desk::new();
    let volume = desk.volume();
    for engine in ["threads", "auto"] {
        let only = ["--discard", "--size", "16M", "--engine", engine];
        let answer = with_operations(&desk, &volume, &only, &["discard"], 1);
        let outcome = outcome(&answer);
        let discards = count(&outcome, "discard.operations");
        assert_eq!(count(&outcome, "discard.bytes"), discards * 4096);
        assert!(count(&outcome, "discard.latency_ns.max") > 0);
        assert_eq!(count(&outcome, "operations"), discards);
        for none in [
            "read.operations",
            "write.operations",
            "bytes",
            "errors.total",
        ] {
            assert_eq!(count(&outcome, none), 0, "{engine}: {none}");
        }
    }
    let mix = [
        "--read-percent",
        "50",
        "--discard-percent",
        "30",
        "--size",
        "16M",
    ];
    let answer = with_operations(&desk, &volume, &mix, &["read", "write", "discard"], 500);
    let outcome = outcome(&answer);
    let kinds =
        ["read", "write", "discard"].map(|kind| count(&outcome, &format!("{kind}.operations")));
    let all = count(&outcome, "operations");
    assert_eq!(kinds.iter().sum::<u64>(), all);
    assert_eq!(count(&outcome, "bytes"), (kinds[0] + kinds[1]) * 4096);
    for (kind, percent) in kinds.into_iter().zip([50, 20, 30]) {
        let share = kind * 100 / all;
        assert!(share.abs_diff(percent) <= 5, "{share} %, not {percent}");
    }
    let intervals = outcome.at("intervals").items();
    let in_intervals = intervals.iter().map(|one| count(one, "discard_operations"));
    assert_eq!(in_intervals.sum::<u64>(), kinds[2]);
    let shown_text = ["--discard", "--size", "16M"];
    with_operations(&desk, &volume, &shown_text, &["discard"], 100);
    let text = desk.run(&["history", "show", "last", "--explain"]).done();
    for word in ["random discard", "discarded-space", "iB discarded in "] {
        assert!(text.stdout.contains(word), "{word}: {}", text.stdout);
    }
    assert!(!text.stdout.contains(", 0 B in"), "{}", text.stdout);
    let page = desk.run(&["report", "last", "--format", "md"]).done();
    let row = page
        .stdout
        .lines()
        .find(|line| line.contains("| random discard |"));
    let row = row.expect("a row of the table").replace(' ', "");
    // IOPS and MiB/s stand beside each other: 4K each, 256 to a MiB.
    assert!(!row.contains("|0.0|"), "{row}");
}

#[test]
fn a_load_without_reads_is_called_by_its_writes() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mix = ["--write", "--discard-percent", "30", "--size", "16M"];
    with_operations(&desk, &volume, &mix, &["write", "discard"], 10);
    let text = desk.run(&["history", "show", "last"]).done();
    for word in [
        "random write, 70 %",
        "random discard, 30 %",
        "random: all",
        " moved, ",
        " discarded in ",
    ] {
        assert!(text.stdout.contains(word), "{word}: {}", text.stdout);
    }
    let widest = text.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{}", text.stdout);
    let line = desk.run(&discarding(&volume, &[&mix[..], &["-q"]].concat()));
    line.done().printed(&["random 70 % write, 30 % discard"]);
    // The list folds a cell where the rate has many digits; its data are never folded.
    let listed = desk.json(&["history"]).at("history.0.jobs.0");
    assert_eq!(listed.at("read_percent").number(), 0.0);
    assert_eq!(listed.at("discard_percent").number(), 30.0);
}

/// Discards beside reads and writes have latencies of their own wherever those are told.
#[test]
fn the_history_the_metrics_and_heat_maps_have_the_latency_of_discards() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mix = ["--read-percent", "50", "--discard-percent", "30"];
    let more = ["--size", "16M", "--interval", "20ms"];
    let load = [&mix[..], &more].concat();
    let kinds = ["read", "write", "discard"];
    let p99 = outcome(&with_operations(&desk, &volume, &load, &kinds, 10));
    let p99 = p99.at("discard.latency_ns.p99").count();
    let served = Served::start(&desk, &[]);
    let listed = served.json("/api/runs");
    assert_eq!(listed["jobs"][0]["discard_latency_ns_p99"], p99);
    let point = format!("kind=\"discard\"}} {}", p99 as f64 / 1e9);
    let metrics = served.get("/metrics").body;
    let last = metrics
        .lines()
        .find(|line| line.contains("kind=\"discard\""));
    assert!(
        last.is_some_and(
            |line| line.starts_with("stripewise_last_latency_p99_seconds{")
                && line.ends_with(&point)
        ),
        "{point}: {metrics}"
    );
    let page = desk.run(&["report", "last", "--output=-"]).done().stdout;
    for kind in ["reads", "writes", "discards"] {
        let title = format!(": {kind}: latency over time");
        assert!(page.contains(&title), "{title}");
    }
}

#[test]
fn a_kept_file_loses_what_is_discarded_and_is_known_again() {
    let desk = Desk::new();
    let file = desk.file("kept");
    desk.run(&["prepare", &file, "--size", "16M", "--busy-ok"])
        .done();
    let before = allocated(&file);
    let cover = ["--discard", "--distribution", "covering"];
    with_operations(&desk, &file, &cover, &["discard"], 64);
    assert!(allocated(&file) < before, "nothing was discarded");
    assert_eq!(std::fs::metadata(&file).expect("there").len(), 16 * MIB);
    desk.run(&discarding(&file, &["--write"])).done();
}

/// Under the name of a file that was made here there may be another one, or more than was made.
#[test]
fn what_is_not_the_very_file_that_was_made_is_never_discarded_from() {
    let desk = Desk::new();
    let file = desk.file("kept");
    let make = ["prepare", &file, "--size", "4M", "--busy-ok"];
    desk.run(&make).done();
    let (copy, other) = (desk.file("copy"), desk.file("other"));
    run("cp", &[&file, &copy]);
    users_file(&other, 4 * MIB);
    let never = |path: &str| {
        let before = read_by_another(path);
        for permission in [&[][..], &["--overwrite"]] {
            let switches = [&["--discard"][..], permission].concat();
            desk.run(&discarding(path, &switches))
                .failed(3, &[path, "did not make", "hint:"]);
        }
        assert!(read_by_another(path) == before, "{path}");
        // A file may take some more for what is said of it.
        assert!(allocated(path) >= before.len() as u64, "{path} has holes");
    };
    never(&copy);
    // Somebody appended to it.
    let append = ["oflag=append", "conv=notrunc,fsync", "status=none"];
    let (from, to) = (format!("if={other}"), format!("of={file}"));
    run("dd", &[&append[..], &[&from, &to]].concat());
    never(&file);
    // Another file took its name.
    std::fs::rename(&other, &file).expect("renamed");
    never(&file);
}

/// What lies before and behind the part in use keeps its data, in a file and on a device.
#[test]
fn what_is_outside_of_the_part_in_use_is_not_discarded() {
    own_process!();
    let test = "what_is_outside_of_the_part_in_use_is_not_discarded";
    let desk = Desk::new();
    let file = desk.file("kept");
    desk.run(&["prepare", &file, "--size", "16M", "--busy-ok"])
        .done();
    let part = ["--discard", "--size", "4M", "--base-offset", "4M"];
    let outside = |path: &str, load: &[&str], backing: &str| {
        for engine in ["threads", "auto"] {
            for distribution in ["uniform", "covering"] {
                run("sync", &[]);
                let before = read_by_another(backing);
                let switches = ["--engine", engine, "--distribution", distribution];
                let switches = [&part[..], &switches, load].concat();
                with_operations(&desk, path, &switches, &["discard"], 64);
                run("sync", &[]);
                let after = read_by_another(backing);
                let (first, last) = (4 << 20, 8 << 20);
                assert!(before[..first] == after[..first], "{path}: before it");
                assert!(before[last..] == after[last..], "{path}: behind it");
                let sectors = after[first..last].chunks(512);
                let zeros = sectors.filter(|sector| **sector == [0_u8; 512]);
                assert!(zeros.count() > 128, "{path}: nothing was discarded");
            }
        }
    };
    outside(&file, &[], &file);
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(16 * MIB);
    let backing = device.backing.to_str().expect("UTF-8").to_owned();
    std::fs::write(&backing, vec![0xa5_u8; 16 << 20]).expect("filled");
    outside(&device.device, &["--destroy", device.name()], &backing);
}

#[test]
fn a_users_file_is_never_discarded_from() {
    own_process!();
    let desk = Desk::new();
    let file = desk.file("precious");
    let data = users_file(&file, 4 * MIB);
    let mixes: [&[&str]; 3] = [
        &["--discard"],
        &["--discard-percent", "1"],
        &["--write", "--discard-percent", "1"],
    ];
    for mix in mixes {
        for permission in [&[][..], &["--overwrite"]] {
            let switches = [mix, permission].concat();
            desk.run(&discarding(&file, &switches))
                .failed(3, &[&file, "did not make", "hint:"]);
        }
    }
    let found = std::fs::read(&file).expect("there");
    assert!(found == data, "it was changed");
    assert_eq!(allocated(&file), 4 * MIB, "it has holes");
}

#[test]
fn a_device_is_discarded_from_only_where_it_is_named() {
    own_process!();
    let test = "a_device_is_discarded_from_only_where_it_is_named";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let device = Loop::new(32 * MIB);
    let backing = device.backing.to_str().expect("UTF-8").to_owned();
    let filled = vec![0xa5_u8; 32 << 20];
    std::fs::write(&backing, &filled).expect("filled");
    run("sync", &[]);
    let path = device.device.clone();
    let desk = Desk::new();
    for wrong in [&[][..], &["--destroy", "sda99"], &["--overwrite"]] {
        let switches = [&["--discard"][..], wrong].concat();
        let answer = desk.run(&discarding(&path, &switches));
        answer.failed(3, &["--destroy", "hint:"]);
    }
    assert!(
        std::fs::read(&backing).expect("there") == filled,
        "it was changed"
    );
    let before = allocated(&backing);
    for engine in ["threads", "auto"] {
        let named = ["--discard", "--destroy", device.name(), "--engine", engine];
        let answer = with_operations(&desk, &path, &named, &["discard"], 64);
        assert_eq!(
            count(&outcome(&answer), "errors.total"),
            0,
            "{engine}: {}",
            answer.stdout
        );
    }
    assert!(allocated(&backing) < before, "nothing was discarded");
}

#[test]
fn a_mounted_device_is_never_discarded_from() {
    own_process!();
    let test = "a_mounted_device_is_never_discarded_from";
    if !can_run(test, &["root", "losetup", "mount", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(32 * MIB);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let file = format!("{}/precious", mount.text());
    let data = users_file(&file, MIB);
    run("sync", &[]);
    let before = std::fs::read(&device.backing).expect("there");
    let desk = Desk::new();
    for engine in ["threads", "auto"] {
        let named = [
            "--discard",
            "--destroy",
            device.name(),
            "--overwrite",
            "--engine",
            engine,
        ];
        desk.run(&discarding(&device.device, &named))
            .failed(3, &["mounted", "hint:"]);
    }
    assert_eq!(std::fs::read(&file).expect("there"), data);
    drop(mount);
    let after = std::fs::read(&device.backing).expect("there");
    assert_eq!(after.len(), before.len());
    let lost = before
        .iter()
        .zip(&after)
        .filter(|(was, is)| **was != 0 && **is == 0);
    // Unmounting writes a few words of the file system's own.
    assert!(lost.count() < 4096, "it has holes");
}

#[test]
fn discards_that_cannot_be_are_refused_with_the_reason() {
    let desk = Desk::new();
    let volume = desk.volume();
    let usage: [(&[&str], &str); 6] = [
        (
            &["--discard", "--read-percent", "50"],
            "cannot be used with",
        ),
        (&["--discard", "--discard-percent", "50"], "--discard"),
        (
            &["--read-percent", "80", "--discard-percent", "30"],
            "more than all",
        ),
        (&["--discard", "--sync", "fdatasync"], "no writes to sync"),
        (&["--discard", "--poll"], "cannot be combined with discards"),
        (&["--discard", "--verify"], "nothing to verify"),
    ];
    for (switches, message) in usage {
        let switches = [switches, &["--size", "16M"]].concat();
        desk.run(&discarding(&volume, &switches))
            .failed(2, &[message, "hint:"]);
    }
    let shown_text = |answer: Answer, message: &str| answer.failed(3, &[message, "hint:"]);
    let simulated = ["run", "sim:nvme", "--duration", "10ms", "--discard"];
    shown_text(desk.run(&simulated), "no discards");
    let small = [
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "16M",
        "--duration",
        "100ms",
        "--discard",
    ];
    let small = [&small[..], &["--block", "512", "--cache", "buffered"]].concat();
    let answer = desk.run(&small);
    assert!(!answer.stderr.contains("Filling"), "{}", answer.stderr);
    shown_text(answer, "whole units");
    assert_eq!(desk.ids().len(), 0, "nothing was measured");
}
