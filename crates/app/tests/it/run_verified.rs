//! `run --verify`: what is measured is compared, too.

use crate::support::{
    Answer, Desk, Json, Loop, can_run, codes, long_enough, names, text, with_json,
};
use std::collections::BTreeSet;

/// A short run in this directory with its data verified.
fn verified<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", target, "--verify", "--busy-ok"];
    for [name, value] in [["--size", "16M"], ["--duration", "300ms"]] {
        if !more.contains(&name) {
            all.extend([name, value]);
        }
    }
    all.extend(more);
    all
}

/// A verified run whose window is long enough for so many operations.
fn with_operations(desk: &Desk, target: &str, more: &[&str], least: u64) -> Answer {
    let measure = |duration: &str| {
        let more = [more, &["--duration", duration, "--json"]].concat();
        desk.run(&verified(target, &more))
    };
    let has_enough = |answer: &Answer| {
        let operations = "runs.0.jobs.0.outcome.operations";
        answer.json().at(operations).count() >= least
    };
    long_enough(measure, has_enough)
}

fn classes(run: &Json) -> BTreeSet<String> {
    let faults = run.at("verification.faults").items();
    faults.iter().map(|one| one.at("class").text()).collect()
}

const LOADS: [&[&str]; 7] = [
    &[
        "--read-percent",
        "50",
        "--threads",
        "3",
        "--outstanding",
        "8",
    ],
    &[
        "--write",
        "--block",
        "4K",
        "--cache",
        "buffered",
        "--sync",
        "fdatasync:8",
    ],
    &[
        "--read-percent",
        "30",
        "--block",
        "8K:70,64K:30",
        "--threads",
        "2",
    ],
    &[
        "--read-percent",
        "50",
        "--base-offset",
        "63s",
        "--block",
        "64K",
    ],
    &[
        "--read-percent",
        "20",
        "--sequential",
        "--threads",
        "4",
        "--engine",
        "threads",
    ],
    // All on a few blocks: writes overlap.
    &[
        "--read-percent",
        "50",
        "--size",
        "64K",
        "--threads",
        "4",
        "--outstanding",
        "8",
    ],
    // What it reads was written before.
    &["--read", "--rate", "200", "--cache", "direct-sync"],
];

#[test]
fn loads_of_all_kinds_on_a_test_file_are_compared() {
    let desk = Desk::new();
    let volume = desk.volume();
    for load in LOADS {
        let document = with_operations(&desk, &volume, load, 1).done().json();
        let run = &document.at("runs").items()[0];
        assert_eq!(run.at("status").text(), "complete", "{load:?}");
        let verification = run.at("verification");
        assert_eq!(verification.at("faults").items().len(), 0, "{load:?}");
        assert_eq!(verification.at("faults_by_class").json(), "{}");
        assert!(verification.at("read_at_end").truth(), "{load:?}");
        // All of the file was read once more at the end, at least.
        let bytes = if load.contains(&"64K") && load.contains(&"--size") {
            64 << 10
        } else {
            16 << 20
        };
        assert!(
            verification.at("verified_bytes").count() >= bytes,
            "{load:?}"
        );
        let whole = verification.at("operations").count();
        assert!(
            whole > run.at("jobs.0.outcome.operations").count(),
            "{load:?}"
        );
        assert!(!codes(run).contains(&"wrong-data".to_owned()));
    }
    assert_eq!(names(&volume), Vec::<String>::new());
    // As text, and later.
    desk.run(&verified(&volume, &["--read-percent", "50"]))
        .done()
        .printed(&["Verification: no fault in"]);
    desk.run(&["history", "show", "last"])
        .done()
        .printed(&["Verification: no fault in"]);
}

#[test]
fn every_cell_of_a_grid_and_all_jobs_of_a_plan_are_compared() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let grid = [
        "--read-percent",
        "50",
        "--block",
        "4K,64K",
        "--threads",
        "1,2",
    ];
    let document = desk.json(&verified(&volume, &grid));
    assert_eq!(document.at("runs").items().len(), 4);
    for run in document.at("runs").items() {
        assert_eq!(run.at("verification.faults").items().len(), 0);
        assert!(run.at("verification.verified_bytes").count() >= 16 << 20);
    }
    // A directory would give each job a file of its own.
    let file = desk.file("shared");
    desk.run(&["prepare", &file, "--size", "16M", "--busy-ok"])
        .done();
    let plan = |caches: [&str; 2]| {
        let jobs = caches.map(|cache| {
            let block = if cache == caches[0] { "8K" } else { "64K" };
            format!(
                "[[job]]\nname = \"{block}-{cache}\"\ntarget = \"{file}\"\nread-percent = 50\nblock = \"{block}\"\ncache = \"{cache}\"\n"
            )
        });
        format!(
            "[defaults]\nduration = \"300ms\"\nsize = \"16M\"\n{}",
            jobs.join("")
        )
    };
    let at_once = desk.write("at-once.toml", &plan(["direct", "direct-sync"]));
    let planned = ["run", "--plan", &at_once, "--verify", "--busy-ok"];
    let document = desk.json(&planned);
    let run = &document.at("runs").items()[0];
    assert_eq!(run.at("jobs").items().len(), 2);
    assert_eq!(run.at("verification.faults").items().len(), 0);
    let mixed = desk.write("mixed.toml", &plan(["direct", "buffered"]));
    desk.run(&["run", "--plan", &mixed, "--verify", "--busy-ok"])
        .failed(2, &["through the page cache at once", "hint:"]);
    assert_eq!(names(&volume), Vec::<String>::new());
}

#[test]
fn torn_writes_are_named_in_the_record_and_end_with_1() {
    let desk = Desk::new();
    let volume = desk.volume();
    let load = [
        "--read-percent",
        "50",
        "--block",
        "8K",
        "--duration",
        "1h",
        "--inject",
        "torn=4096@every=20 write",
    ];
    let answer = desk.run(&with_json(&verified(&volume, &load))).ended(1);
    let document = answer.json();
    let run = &document.at("runs").items()[0];
    let found = classes(run);
    assert!(found.contains("torn"), "{found:?}");
    let allowed = ["torn", "lost-write"];
    assert!(
        found.iter().all(|class| allowed.contains(&class.as_str())),
        "{found:?}"
    );
    for fault in run.at("verification.faults").items() {
        assert_eq!(fault.at("length_bytes").count() % 512, 0);
        for field in ["target_name", "expected.what", "found.what", "message"] {
            assert!(!fault.at(field).text().is_empty(), "{field}");
        }
    }
    assert!(run.at("verification.faults_by_class.torn").count() > 0);
    assert!(
        codes(run).contains(&"wrong-data".to_owned()),
        "{:?}",
        codes(run)
    );
    // Whatever read it first has ended the run.
    let because = run.at("partial_because").text();
    assert!(because.contains("wrong data"), "{because}");
    // A grid goes no further.
    let grid = [&load[..], &["--threads", "1,2"]].concat();
    let answer = desk.run(&with_json(&verified(&volume, &grid))).ended(1);
    assert_eq!(answer.json().at("runs").items().len(), 1);
    // Text, and what is kept of it.
    desk.run(&verified(&volume, &load)).ended(1).printed(&[
        "FAULTS: ",
        "torn",
        "only part of a write arrived",
        "wrong-data",
    ]);
    desk.run(&["history", "show", "last"])
        .printed(&["FAULTS: "]);
}

#[test]
fn failed_writes_of_a_run_are_no_faults() {
    let desk = Desk::new();
    let volume = desk.volume();
    for inject in ["fail=5@every=7 write", "short=512@every=50 write"] {
        let load = ["--read-percent", "50", "--threads", "2", "--inject", inject];
        let answer = with_operations(&desk, &volume, &load, 200).ended(4);
        let run = &answer.json().at("runs").items()[0];
        assert_eq!(run.at("verification.faults").items().len(), 0, "{inject}");
        assert!(run.at("verification.read_at_end").truth());
    }
}

#[test]
fn a_device_is_compared_where_the_run_wrote() {
    own_process!();
    if !can_run("a_device_is_compared_where_the_run_wrote", &["losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(24 << 20, &[]);
    let path = text(device.path()).to_owned();
    desk.run(&verified(&path, &["--write"]))
        .failed(3, &["--destroy"]);
    let load = ["--read-percent", "50", "--destroy", device.name()];
    let document = desk.json(&verified(&path, &load));
    let verification = document.at("runs.0.verification");
    assert_eq!(verification.at("faults").items().len(), 0);
    assert!(verification.at("verified_bytes").count() > 0);
    // It only reads what was there before.
    desk.run(&verified(&path, &["--read", "--destroy", device.name()]))
        .failed(2, &["nothing of this run would be compared", "hint:"]);
}

#[test]
fn what_a_run_cannot_verify_is_refused_before_anything_is_made() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let cases: [(&[&str], &str); 4] = [
        (&["sim:nvme", "--write"], "no data"),
        (&[&volume, "--write", "--engine", "null"], "null engine"),
        (
            &[&volume, "--write", "--compressible", "50"],
            "cannot be compressible",
        ),
        (&[&volume, "--write", "--dedupable", "50"], "or repeat"),
    ];
    for (more, says) in cases {
        let all = [&["run", "--verify", "--busy-ok"], more].concat();
        desk.run(&all).failed(2, &[says, "hint:"]);
    }
    let theirs = desk.write("theirs.txt", &"somebody's work\n".repeat(4096));
    desk.run(&["run", &theirs, "--verify", "--busy-ok", "--write"])
        .failed(3, &["--overwrite"]);
    assert_eq!(names(&volume), Vec::<String>::new());
}

/// It is a part of what was asked for, so that a request that is kept or printed has it.
#[test]
fn a_request_says_that_its_data_is_verified() {
    let desk = Desk::new();
    let volume = desk.volume();
    let requested = [
        "run",
        &volume,
        "--verify",
        "--write",
        "--size",
        "16M",
        "--duration",
        "200ms",
    ];
    let printed = desk
        .run(&[&requested[..], &["--show-request"]].concat())
        .done();
    assert!(printed.json().at("verify").truth());
    let file = desk.write("request.json", &printed.stdout);
    let document = desk.json(&["run", "--request", &file, "--busy-ok"]);
    assert!(document.at("runs.0.request.verify").truth());
    assert!(document.at("runs.0.verification.verified_bytes").count() >= 16 << 20);
    // A check measures without it, and would compare the two.
    desk.run(&["baseline", "set", "last"])
        .failed(2, &["made with its data verified", "hint:"]);
    assert_eq!(names(&volume), Vec::<String>::new());
}
