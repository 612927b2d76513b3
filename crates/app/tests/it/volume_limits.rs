//! `limits`, as a user meets it: which limit a volume has.

use crate::support::machine::{append, skip_kernel};
use crate::support::{Answer, Cgroup, Desk, Json, Loop, MIB, can_run, unwrapped, users_file};
use rustix::process::Signal;

/// Kind, whom it holds, and whether a limiter sets it, of each cap.
fn caps(document: &Json) -> Vec<(String, String, Option<bool>)> {
    let caps = document.at("caps").items();
    let of = |cap: &Json| {
        let limiter = cap.at("limiter");
        let limiter = (!limiter.is_null()).then(|| limiter.truth());
        (cap.at("kind").text(), cap.at("applies_to").text(), limiter)
    };
    caps.iter().map(of).collect()
}

#[test]
fn the_caps_of_volumes_are_named_and_those_of_a_disk_are_none() {
    let desk = Desk::new();
    let gp3 = desk.json(&["limits", "sim:ebs-gp3", "--cloud", "aws", "--price", "12"]);
    let cap = |kind: &str, of: &str| (kind.to_owned(), of.to_owned(), Some(true));
    let bytes = cap("bytes_per_s", "reads-untested-writes");
    assert_eq!(caps(&gp3), [cap("iops", "both"), bytes]);
    let [iops, bytes] = [gp3.at("caps.0"), gp3.at("caps.1")];
    for (cap, truth) in [(iops, 3_000.0), (bytes, 125.0 * 1_048_576.0)] {
        let (low, high) = (cap.at("per_s_low").number(), cap.at("per_s_high").number());
        assert!((low..=high).contains(&truth), "{low} to {high}");
    }
    assert!(
        gp3.at("names.0")
            .text()
            .starts_with("a gp3 of 3,000 IOPS and 125 MiB/s")
    );
    assert!((gp3.at("price_per_1000_iops").number() - 4.0).abs() < 0.01);
    assert!(gp3.at("may_be_burst").truth());
    assert!(gp3.at("refused").is_null() && gp3.at("control_group").is_null());
    // What is shown of its runs is the answer.
    let id = gp3.at("id").text();
    let again = desk.json(&["history", "show", &id]);
    assert_eq!(caps(&again), caps(&gp3));
    let shown = desk.run(&["history", "show", &id]).done().stdout;
    assert!(shown.contains("shared by reads and writes"), "{shown}");
    // Like a run: where it was made, and by which command.
    for words in [
        format!("Id       {id}"),
        "\nHost ".to_owned(),
        "\nCommand  stripewise limits sim:ebs-gp3".to_owned(),
    ] {
        assert!(shown.contains(&words), "{words}: {shown}");
    }
    let report = desk.run(&["report", &id, "--format", "md"]).done().stdout;
    assert!(report.contains("shared by reads and writes"), "{report}");
    let listed = desk.run(&["history"]).done().stdout;
    assert!(listed.contains(" limits "), "{listed}");
    compared_load_by_load(&desk, &gp3);
}

/// Two answers are held against each other load by load.
fn compared_load_by_load(desk: &Desk, gp3: &Json) {
    let disks = desk.json(&["limits", "sim:raid10-10k"]);
    assert!(caps(&disks).is_empty());
    let ids = [gp3, &disks].map(|one| one.at("id").text());
    let compared = desk.json(&["compare", &ids[0], &ids[1]]);
    let rows = compared.at("rows").items();
    let small = rows
        .iter()
        .find(|row| row.at("name").text() == "4K reads, 64 in flight")
        .expect("the load that shows a cap");
    assert!((small.at("a.value").number() - 3_000.0).abs() < 30.0);
    assert_eq!(small.at("a.verdict").text(), "IOPS");
    assert_eq!(small.at("b.verdict").text(), "undecided");
    // The caps lead, also those that one of both has alone; a load of the user is in no other.
    assert_eq!(rows[0].at("name").text(), "cap of IOPS");
    assert!(rows[0].at("b").is_null());
    let own = desk.json(&["limits", "sim:raid10-10k", "--block", "8K"]);
    let more = desk.run(&["compare", &ids[0], &own.at("id").text()]);
    let more = more.done().stdout;
    assert!(more.contains("Cap of IOPS: 3,000 IOPS"), "{more}");
    assert!(
        more.contains("only in A") && more.contains("only in B"),
        "{more}"
    );
    let text = desk.run(&["compare", &ids[0], &ids[1]]).done().stdout;
    let rows = unwrapped(&text);
    assert!(
        rows.contains("4K reads, 64 in flight 3,000 IOPS ") && rows.contains("A IOPS, B undecided"),
        "{text}"
    );
    let report = desk.file("compared.md");
    desk.run(&["compare", &ids[0], &ids[1], "-o", &report])
        .done();
    let page = std::fs::read_to_string(report).expect("a report");
    assert!(page.contains("| A IOPS, B undecided |"), "{page}");
    let run = desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    desk.run(&["compare", &ids[0], &run.at("runs.0.id").text()])
        .failed(2, &["is not", "hint:"]);
}

#[test]
fn answers_are_found_by_their_label_too() {
    let desk = Desk::new();
    for label in ["before", "after"] {
        desk.json(&["limits", "sim:raid10-10k", "--label", label]);
    }
    let compared = desk.json(&["compare", "before", "after"]);
    assert!(!compared.at("rows").items().is_empty());
}

/// Their raw runs are never compared, no switch is ignored, and what does not exist is named.
#[test]
fn answers_are_compared_two_at_a_time_by_a_table_of_their_own() {
    let desk = Desk::new();
    let id = desk.json(&["limits", "sim:ebs-gp3"]).at("id").text();
    let each = format!("`stripewise compare {id} last`");
    desk.run(&["compare", &id, "last", &id])
        .failed(2, &["are compared two at a time", &each]);
    desk.run(&["compare", &id, "last", "--metric", "latency_p99"])
        .failed(2, &["--metric does not apply to answers of `limits`"]);
    let missing = desk.run(&["compare", &id, "nope"]);
    let missing = missing.failed(2, &["no run matches `nope`", "`stripewise history` lists"]);
    assert!(!missing.stderr.contains("is not"), "{}", missing.stderr);
}

#[test]
fn a_burst_is_driven_to_its_end() {
    let desk = Desk::new();
    let bucket = "sim:ebs-gp2-100?limit.burst_operations=1000000";
    let found = desk.json(&["limits", bucket, "--burst", "--cloud", "aws"]);
    assert!(found.maybe("may_be_burst").is_none());
    // A gp3 does not burst.
    let names = found.at("names").items();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(
        names[0]
            .text()
            .starts_with("a gp2 of 100 GiB while it bursts"),
        "{names:?}"
    );
    let burst = found.at("burst");
    let near = |value: f64, truth: f64| (value / truth - 1.0).abs() < 0.05;
    assert!(near(burst.at("burst_per_s").number(), 3_000.0));
    assert!(near(burst.at("sustained_per_s").number(), 300.0));
    assert!(near(burst.at("refill_per_s").number(), 300.0));
    assert!(near(burst.at("bucket").number(), 1_000_000.0));
    assert_eq!(burst.at("bucket_unit").text(), "operations");
}

/// A read at a random place costs an st1 as much as one of 1 MiB.
#[test]
fn a_volume_that_caps_bytes_is_no_type_that_caps_operations() {
    let desk = Desk::new();
    let found = desk.json(&["limits", "sim:ebs-st1", "--cloud", "aws"]);
    let names = found.at("names").items();
    let names: Vec<String> = names.iter().map(Json::text).collect();
    assert!(names[0].starts_with("an st1 of 250 MiB/s"), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("gp")), "{names:?}");
    // Reads alone do not show whether it is a limiter: the rate levels off.
    let reads = desk.json(&["limits", "sim:ebs-st1", "--read-only"]);
    assert!(reads.at("caps.0.limiter").is_null());
    let listed = desk.run(&["history"]).done().stdout;
    assert!(listed.contains(" cap "), "{listed}");
    assert!(listed.contains(" level "), "{listed}");
}

#[test]
fn a_picture_has_the_notes_and_the_chart_both_caps() {
    let desk = Desk::new();
    let drawn = desk.file("limits.svg");
    let limits = ["limits", "sim:ebs-gp3", "--read-only", "-o", &drawn];
    // What was written is named, as of every command.
    desk.run(&limits).done().printed(&["Report: "]);
    let svg = std::fs::read_to_string(&drawn).expect("a picture");
    let note = ">Nothing was written: whether writes share the caps was not tested.<";
    assert!(svg.contains(note), "{svg}");
    let chart = ["report", "last", "--chart", "roofline", "--format", "svg"];
    let chart = desk.run(&chart).done().stdout;
    for unit in [" IOPS (2,9", " MiB/s (12"] {
        let label = |line: &str| line.ends_with(")</text>") && line.contains(unit);
        assert!(chart.lines().any(label), "{unit}: {chart}");
    }
}

#[test]
fn a_volume_that_counts_in_units_is_told_from_one_whose_bandwidth_is_capped() {
    let desk = Desk::new();
    let counted = desk.json(&["limits", "sim:ebs-gp3?limit.unit=32K&limit.bandwidth=1G"]);
    assert_eq!(counted.at("counted_unit_bytes").count(), 32 << 10);
    let capped = desk.json(&["limits", "sim:ebs-gp3?limit.bandwidth=96000K"]);
    assert!(capped.maybe("counted_unit_bytes").is_none());
}

#[test]
fn a_burst_that_ends_while_writes_are_measured_is_named_and_no_cap_is() {
    let desk = Desk::new();
    // In the mix, and in the writes.
    for (operations, seed) in [(140_000, 1), (165_000, 3)] {
        let bucket = format!("sim:ebs-gp2-100?limit.burst_operations={operations}");
        let found = desk
            .run(&["limits", &bucket, "--seed", &seed.to_string(), "--json"])
            .ended(1)
            .json();
        assert!(caps(&found).is_empty(), "{found:?}");
        let refused = found.at("refused").text();
        let why = "4K reads fell by 90 % while writes were measured, and stayed there";
        assert!(refused.starts_with(why), "{bucket}, {seed}: {refused}");
    }
}

#[test]
fn a_burst_without_an_end_is_in_the_answer_and_the_document() {
    let desk = Desk::new();
    let all = ["limits", "sim:ebs-gp3", "--burst", "5m"];
    let found = desk.json(&all);
    assert!(found.at("burst").is_null());
    let search = found.at("burst_search");
    assert_eq!(search.at("result").text(), "not-ended");
    assert!((search.at("per_s").number() - 3_000.0).abs() < 10.0);
    assert!((search.at("driven_s").number() - 300.0).abs() < 1.0);
    let line = desk.run(&[&all[..], &["-q"]].concat()).done().stdout;
    assert!(
        line.contains("No burst ended within 5 min at 3,000 IOPS;"),
        "{line}"
    );
}

#[test]
fn a_drive_whose_reads_are_faster_behind_writes_keeps_its_cap() {
    let desk = Desk::new();
    let found = desk.json(&["limits", "sim:nvme", "--step", "100ms"]);
    assert!(found.at("refused").is_null(), "{found:?}");
    let kinds: Vec<_> = caps(&found)
        .into_iter()
        .map(|(kind, _, limiter)| (kind, limiter))
        .collect();
    assert_eq!(kinds, [("bytes_per_s".to_owned(), None)]);
}

#[test]
fn what_was_interrupted_goes_on_as_it_was_asked() {
    let desk = Desk::new();
    let volume = desk.volume();
    let interrupted = |arguments: &[&str]| {
        let arguments = [&["limits"], arguments, &["--busy-ok", "--json"]].concat();
        let mut running = desk.start(&arguments);
        running.until("Measuring");
        running.signal(Signal::INT);
        running.wait().ended(130).json()
    };
    let first = interrupted(&[&volume, "--size", "256M", "--read-only", "--seed", "7"]);
    assert!(first.at("partial").truth());
    let id = first.at("id").text();
    let shown = desk.run(&["history", "show", &id]).done().stdout;
    assert!(shown.contains("stripewise limits --resume "), "{shown}");
    let stored = desk.json(&["history", "show", &id]);
    assert!(stored.maybe("study").is_none() && stored.maybe("asked").is_none());
    for (differing, message) in [
        (["--seed", "8"], "--seed was 7 and is 8"),
        (["--size", "512M"], "--size was 256M and is 512M"),
    ] {
        desk.run(&[&["limits", "--resume", &id], &differing[..]].concat())
            .failed(2, &[message, "hint:"]);
    }
    desk.run(&["limits", "sim:ebs-gp3", "--resume", &id])
        .failed(2, &["and is sim:ebs-gp3"]);
    // Whatever was measured since.
    desk.run(&["run", "sim:nvme", "--duration", "10ms"]).done();
    let again = interrupted(&["--resume", "last"]);
    assert_eq!((again.at("id").text(), again.at("seed").count()), (id, 7));
    assert!(again.at("duration_ns").count() >= first.at("duration_ns").count());
    let whole = desk.json(&["limits", "sim:ebs-gp3"]).at("id").text();
    desk.run(&["limits", "--resume", &whole])
        .failed(2, &["is finished"]);
    desk.run(&["limits", "--resume", "x"])
        .failed(2, &["no `limits` of id x that can go on", "or last"]);
    // A hint does not propose what was given.
    let none = desk.run(&["headroom", "--resume", "last"]);
    let none = none.failed(2, &["there is no `headroom` that can go on", "hint:"]);
    assert!(!none.stderr.contains("or last"), "{}", none.stderr);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_is() {
    let desk = Desk::new();
    for (arguments, word) in [
        (&["--size", "1M"][..], "256 MiB"),
        (&["--block", "3K"], "4K to 4M"),
        (&["--outstanding", "1000"], "1 to 128"),
        (&["--step", "1ms"], "100 ms"),
        (&["--table", "missing.toml"], "missing.toml"),
        (&["--price", "0"], "not a price"),
        (&["--price", "nan"], "is not a number"),
        (&["--burst", "1ms"], "1 m to 7 d"),
        (&["--burst", "400d"], "1 m to 7 d"),
    ] {
        let mut all = vec!["limits", "sim:ebs-gp3"];
        all.extend(arguments);
        desk.run(&all).failed(2, &[word, "hint:"]);
    }
    let small = desk.run(&["limits", "sim:ebs-gp3?size=64M"]);
    let small = small.failed(3, &["64 MiB", "256 MiB", "hint:"]);
    assert!(
        !small.stderr.contains("at random places"),
        "{}",
        small.stderr
    );
    let table = desk.write("table.toml", "as_of = 1\n");
    desk.run(&["limits", "sim:ebs-gp3", "--table", &table])
        .failed(2, &["not a table of volume types", "hint:"]);
    let file = desk.file("data");
    users_file(&file, 64 << 10);
    let small = desk.run(&["limits", &file, "--busy-ok"]);
    let small = small.failed(3, &["256 MiB", "hint:"]);
    assert!(
        !small.stderr.contains("at random places"),
        "{}",
        small.stderr
    );
}

#[test]
fn a_picture_of_a_long_target_says_what_was_measured() {
    let desk = Desk::new();
    let file = desk.file("long.svg");
    let target = "sim:ebs-gp3?limit.iops=3000&limit.bandwidth=125M";
    desk.run(&["limits", target, "-o", &file]).done();
    let picture = std::fs::read_to_string(file).expect("written");
    assert!(picture.contains("of runs at random places"), "{picture}");
}

#[test]
fn the_answer_is_written_as_a_page_a_picture_and_a_document() {
    let desk = Desk::new();
    let files = ["a.html", "a.md", "a.svg", "a.png", "a.json"].map(|name| desk.file(name));
    let mut all = vec!["limits", "sim:ebs-gp3"];
    all.extend(files.iter().flat_map(|file| ["-o", file.as_str()]));
    desk.run(&all).ended(0);
    let bytes = files.map(|file| std::fs::read(file).expect("written"));
    for text in &bytes[..3] {
        let text = String::from_utf8_lossy(text).replace('\u{a0}', " ");
        assert!(text.contains("3,000 IOPS (2,970"), "{text}");
    }
    assert!(bytes[3].starts_with(b"\x89PNG"));
    assert!(String::from_utf8_lossy(&bytes[4]).contains("\"caps\""));
    desk.run(&["limits", "sim:ebs-gp3", "-o", "a.csv"])
        .failed(2, &["a.csv", "hint:"]);
    desk.run(&["limits", "sim:ebs-gp3", "-o", "a.txt"])
        .failed(2, &["a.txt", "hint:"]);
}

#[test]
fn the_files_of_a_control_group_may_be_hidden() {
    own_process!();
    let test = "the_files_of_a_control_group_may_be_hidden";
    if !can_run(test, &["root", "losetup", "unshare"]) {
        return;
    }
    let Some(group) = Cgroup::new("blkio") else {
        return skip_kernel(test, "control groups of version 1");
    };
    let device = Loop::dense(256 * MIB, &[]);
    let file = "blkio.throttle.read_iops_device";
    if !group.set(file, &format!("{} 300", device.number())) {
        return skip_kernel(test, "limits of control groups on loop devices");
    }
    let desk = Desk::new();
    let command = [
        "limits",
        &device.device,
        "--busy-ok",
        "--json",
        "--step",
        "100ms",
    ];
    let mut hidden = std::process::Command::new("unshare");
    hidden.args([
        "-m",
        "sh",
        "-c",
        "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"",
        "sh",
    ]);
    append(&mut hidden, &desk.command(&command));
    let found = Answer::of(&mut group.wrap(&hidden)).json();
    // How near to the limit this machine comes depends on what else it does, so no rate has a
    // lower bound here; that nothing is far above the limit does not, and a cap lies where the
    // loads lie that show it. The kernel hands out by slices, so short runs may have a little more.
    assert!(found.at("control_group").is_null());
    for cell in found.at("cells").items() {
        assert!(cell.at("iops").number() < 600.0, "{cell:?}");
    }
    let cells = found.at("cells").items();
    let showing = cells.iter().filter(|cell| {
        cell.at("kind").text() == "reads"
            && cell.at("block_size_bytes").count() <= 16 << 10
            && cell.at("outstanding").count() >= 32
    });
    let rates: Vec<f64> = showing.map(|cell| cell.at("iops").number()).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    for cap in found.at("caps").items() {
        if cap.at("kind").text() == "iops" {
            let (low, high) = (cap.at("per_s_low").number(), cap.at("per_s_high").number());
            assert!(low <= most && high >= least, "{cap:?} of {rates:?}");
        }
    }
}

#[test]
fn a_control_group_that_limits_the_device_is_named_itself() {
    own_process!();
    let test = "a_control_group_that_limits_the_device_is_named_itself";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let Some(group) = Cgroup::new("blkio") else {
        return skip_kernel(test, "control groups of version 1");
    };
    let device = Loop::dense(256 * MIB, &[]);
    let limits = [
        ("blkio.throttle.read_iops_device", 1_500),
        ("blkio.throttle.read_bps_device", 50 * MIB),
    ];
    for (file, limit) in limits {
        if !group.set(file, &format!("{} {limit}", device.number())) {
            return skip_kernel(test, "limits of control groups on loop devices");
        }
    }
    let desk = Desk::new();
    let command = [
        "limits",
        &device.device,
        "--busy-ok",
        "--json",
        "--step",
        "200ms",
    ];
    let answer = Answer::of(&mut group.wrap(&desk.command(&command)));
    let found = answer.json();
    let group = found.at("control_group");
    assert_eq!(group.at("read_iops").count(), 1_500);
    assert_eq!(group.at("read_bytes_per_s").count(), 50 * MIB);
    // Other work may keep a run below it, never above; no cap is the volume's own.
    assert!(
        caps(&found).iter().all(|(_, _, limiter)| limiter.is_none()),
        "{found:?}"
    );
    let applies = found.at("applies").items();
    let held = |one: &Json| one.at("limits.0").text() == "control-group";
    assert_eq!(applies.iter().any(held), group.at("reached").truth());
}
