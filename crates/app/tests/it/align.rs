//! `align` as a user meets it, and nothing written without leave. Verdicts on arrays whose
//! truth is known are tested as functions in `campaign`.

use crate::support::{
    Answer, Desk, Json, Loop, Mount, can_run, names, run, skip, text, unwrapped, users_file,
};

const MIB: u64 = 1 << 20;

/// `align` with a row or two, quickly.
fn align(desk: &Desk, target: &str, more: &[&str]) -> Answer {
    let mut all = vec!["align", target];
    all.extend(more);
    desk.run(&all)
}

#[test]
fn the_document_has_the_plan_its_blocks_and_a_table_for_each_level() {
    let desk = Desk::new();
    let more = [
        "--threads",
        "1,2",
        "--offsets",
        "63s,64K,1M",
        "--step",
        "100ms",
        "--blocks",
        "10",
    ];
    let answer = align(&desk, "sim:nvme", &[&more[..], &["--json"]].concat());
    let document = answer.json();
    assert_eq!(document.at("schema_version").count(), 1);
    assert_eq!(document.at("experiment.plan.levels").items().len(), 3);
    assert_eq!(document.at("experiment.finished_blocks").items().len(), 10);
    let tables = document.at("comparisons").items();
    assert_eq!(tables.len(), 2);
    for table in &tables {
        assert_eq!(table.at("rows").items().len(), 4);
        assert_eq!(table.at("a.name").text(), "31.5K");
    }
    let id = document.at("experiment.id").text();
    assert_eq!(document.at("experiment.status").text(), "complete");
    let listed = desk.json(&["history"]);
    assert_eq!(listed.at("history.0.series").text(), id);
}

#[test]
fn the_plan_says_rows_hypothesis_and_time_before_anything_runs() {
    let desk = Desk::new();
    let answer = align(
        &desk,
        "sim:raid10-10k",
        &["--threads", "1", "--step", "100ms"],
    );
    for words in [
        "It starts at 1M of the simulated array now.",
        "2 rows: 2 levels of partition offset",
        "Primary hypothesis: ",
        "a verdict needs ",
        "simulated",
    ] {
        assert!(answer.stderr.contains(words), "{words}: {}", answer.stderr);
    }
    assert!(
        answer
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100)
    );
    assert!(answer.stdout.contains("Again  stripewise lab resume "));
}

/// At 3,000 IOPS the offsets of a burst would be compared, and 300 last.
#[test]
fn a_burst_credit_is_spent_before_offsets_are_compared() {
    let desk = Desk::new();
    let align = ["align", "sim:ebs-gp2-100", "--write", "--threads", "8"];
    let shown = desk.run(&align).stdout;
    assert!(shown.contains(" 300.00 "), "{shown}");
    assert!(!shown.contains("3,000"), "{shown}");
    let flat = unwrapped(&shown);
    let note = "The burst credit of this volume is spent before the runs";
    assert!(flat.contains(note), "{flat}");
}

#[test]
fn what_cannot_be_answered_is_refused_with_a_hint() {
    let desk = Desk::new();
    let file = desk.file("small");
    users_file(&file, MIB);
    let cases: [(&[&str], i32, &str); 7] = [
        (&["sim:nvme", "--engine", "null"], 2, "null"),
        (&["sim:nvme", "--offsets", "1M,1M"], 2, "given twice"),
        (&["sim:nvme", "--offsets", "100"], 2, "cannot be reached"),
        (&["sim:nvme", "--blocks", "5"], 2, "at least"),
        (&["dataset:oja-nisula-2007-offset"], 2, "published table"),
        (&["/nowhere/at/all"], 3, "does not exist"),
        (&[&file, "--read", "--busy-ok"], 2, "too little"),
    ];
    for (arguments, code, words) in cases {
        desk.run(&[&["align"], arguments].concat())
            .failed(code, &[words]);
    }
    assert!(
        desk.json(&["lab", "plans"])
            .at("experiments")
            .items()
            .is_empty()
    );
}

#[test]
fn a_directory_gets_a_test_file_that_is_gone_afterwards() {
    let desk = Desk::new();
    let volume = desk.volume();
    let more = [
        "--size",
        "16M",
        "--threads",
        "1",
        "--step",
        "10ms",
        "--time",
        "1s",
        "--busy-ok",
        "--json",
    ];
    let answer = align(&desk, &volume, &more);
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    let document = answer.json();
    assert_eq!(
        document.at("comparisons.0.rows").items().len(),
        2,
        "reads and writes"
    );
    assert!(names(&volume).is_empty());
    let bases: Vec<u64> = document
        .at("experiment.plan.levels")
        .items()
        .iter()
        .map(|level| level.at("base_offset_bytes").count())
        .collect();
    // Where the file system tells where the file lies, writes stay on its blocks.
    if document
        .maybe("experiment.place.start_bytes")
        .is_some_and(|start| start.count() % 4096 == 0)
    {
        assert!(bases.iter().all(|base| base % 4096 == 0), "{bases:?}");
    }
    // Runs without a level, which looked for caches, do not hide the answer.
    desk.run(&["history", "show", "last"])
        .done()
        .printed(&["partition offset on "]);
}

#[test]
fn an_existing_file_is_only_read_without_leave() {
    own_process!();
    let desk = Desk::new();
    let file = desk.file("theirs");
    let content = users_file(&file, 16 * MIB);
    let more = [
        "--threads",
        "1",
        "--step",
        "10ms",
        "--time",
        "500ms",
        "--busy-ok",
        "--json",
    ];
    let answer = align(&desk, &file, &more);
    assert!(
        answer.stderr.contains("only reads are measured"),
        "{}",
        answer.stderr
    );
    let rows = answer.json().at("comparisons.0.rows").items();
    assert!(rows.iter().all(|row| row.at("operation").text() == "read"));
    align(&desk, &file, &["--write", "--busy-ok"]).failed(3, &["--overwrite"]);
    assert_eq!(std::fs::read(&file).expect("the file"), content);
}

#[test]
fn writes_off_the_blocks_of_the_file_system_are_warned_of() {
    let desk = Desk::new();
    let file = desk.file("theirs");
    users_file(&file, 16 * MIB);
    let more = [
        "--write",
        "--overwrite",
        "--offsets",
        "63s,1M",
        "--threads",
        "1",
        "--step",
        "10ms",
        "--time",
        "500ms",
        "--busy-ok",
        "--json",
    ];
    let answer = align(&desk, &file, &more);
    let document = answer.json();
    if document.maybe("experiment.place.start_bytes").is_none() {
        let test = "writes_off_the_blocks_of_the_file_system_are_warned_of";
        return skip(
            test,
            "a temporary directory whose place on its disk is known",
        );
    }
    let notes = document.at("comparisons.0.notes").items();
    let shown_text = |note: &Json| {
        note.text()
            .contains("the file system's numbers, not the disk's")
    };
    assert!(notes.iter().any(shown_text), "{}", answer.stdout);
}

#[test]
fn a_device_is_only_read_without_leave_and_its_sector_is_respected() {
    own_process!();
    const NAME: &str = "a_device_is_only_read_without_leave_and_its_sector_is_respected";
    if !can_run(NAME, &["losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(16 * MIB, &["--direct-io=on"]);
    let short = [
        "--threads",
        "1",
        "--step",
        "10ms",
        "--time",
        "500ms",
        "--busy-ok",
        "--json",
    ];
    let answer = align(&desk, &device.device, &short);
    assert!(answer.stderr.contains("--destroy"), "{}", answer.stderr);
    let rows = answer.json().at("comparisons.0.rows").items();
    assert_eq!(rows.len(), 1);
    align(&desk, &device.device, &["--both"]).failed(3, &["--destroy"]);
    drop(device);
    let large = Loop::with(16 * MIB, &["--sector-size", "4096"]);
    let refused = align(&desk, &large.device, &["--busy-ok"]);
    refused.failed(2, &["31.5K cannot be reached", "4096 bytes", "36K,1M"]);
}

#[test]
fn numbers_of_a_cache_end_in_no_verdict() {
    own_process!();
    const NAME: &str = "numbers_of_a_cache_end_in_no_verdict";
    if !can_run(NAME, &["losetup", "mkfs.ext4"]) {
        return;
    }
    let desk = Desk::new();
    // On a volume of its own: what other tests read from the disk says nothing of it.
    let volume = Loop::new(64 * MIB);
    run("mkfs.ext4", &["-q", &volume.device]);
    let mount = Mount::new(&[&volume.device]);
    let backing = mount.path.join("backing");
    users_file(text(&backing), 16 * MIB);
    let device = Loop::stacked(&backing);
    let short = [
        "--threads",
        "1",
        "--step",
        "50ms",
        "--time",
        "2s",
        "--busy-ok",
        "--json",
    ];
    // Where other work leaves a step few operations, too little is known to call it a cache.
    let mut tries = (0..5).map(|_| align(&desk, &device.device, &short).ended(1).json());
    let undecided = |document: &Json| document.at("comparisons.0.verdict").text() == "undecided";
    let document = tries.find(undecided).expect("called a cache");
    let first = document.at("comparisons.0.sentences").items()[0].text();
    assert!(
        first.starts_with("No verdict about this storage"),
        "{first}"
    );
}
