//! `bench --like crystaldiskmark`, and warnings below an answer, as a user sees them.

use crate::support::Desk;

#[test]
fn the_four_lines_of_crystaldiskmark_come_from_one_command() {
    let desk = Desk::new();
    let bench = [
        "bench",
        "sim:nvme",
        "--like",
        "crystaldiskmark",
        "--no-report",
    ];
    let shown = desk.run(&bench).done().stdout;
    let at = |line: &str| {
        shown
            .find(line)
            .unwrap_or_else(|| panic!("{line}: {shown}"))
    };
    assert!(at("SEQ1M Q8T1") < at("SEQ1M Q1T1"));
    assert!(at("SEQ1M Q1T1") < at("RND4K Q32T1"));
    assert!(at("RND4K Q32T1") < at("RND4K Q1T1"));
    assert!(
        shown.contains("Read MB/s") && shown.contains("Write MB/s"),
        "{shown}"
    );
    let runs = desk.json(&["history", "show", "last"]).at("runs").items();
    assert_eq!(runs.len(), 8);
    // It is found again as what it was, with the same table.
    desk.run(&["history"])
        .done()
        .printed(&["bench", "crystaldiskmark SEQ1M Q8T1 read", " MB/s"]);
    let again = desk.run(&["history", "show", "last"]).done().stdout;
    let (table, _) = shown.split_once("\n\n").expect("a table");
    assert!(again.contains(table), "{again}");
    let reads = [&bench[..], &["--read-only"]].concat();
    desk.run(&reads).done();
    let runs = desk.json(&["history", "show", "last"]).at("runs").items();
    assert_eq!(runs.len(), 4);
    let both = [&bench[..], &["--series", "log"]].concat();
    desk.run(&both).failed(2, &["--like", "--series"]);
}

#[test]
fn a_target_that_may_not_be_written_is_read_in_all_four_lines() {
    let desk = Desk::new();
    let target = desk.write("t.dat", &"somebody's words\n".repeat(1 << 17));
    let size = [
        "--size",
        "1M",
        "--busy-ok",
        "--no-report",
        "--engine",
        "threads",
    ];
    let bench = ["bench", &target, "--like", "crystaldiskmark"];
    let before = std::fs::read(&target).unwrap();
    let answer = desk.run(&[&bench[..], &size].concat());
    assert!(
        answer.stderr.contains("only reads are measured"),
        "{}",
        answer.stderr
    );
    assert_eq!(std::fs::read(&target).unwrap(), before);
}

#[test]
fn warnings_are_five_lines_below_the_answer_and_explained_on_request() {
    let desk = Desk::new();
    let volume = desk.volume();
    let run = [
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "8M",
        "--duration",
        "100ms",
        "--outstanding",
        "1,8",
    ];
    let shown = desk.run(&run).done().stdout;
    let is_warning = |line: &&str| {
        ["warning[", "note[", "VOID["]
            .iter()
            .any(|start| line.starts_with(start))
    };
    assert_eq!(shown.lines().filter(is_warning).count(), 0, "{shown}");
    let is_short = |line: &&str| {
        ["  ! ", "  - ", "  X "]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    assert!(
        (1..=5).contains(&shown.lines().filter(is_short).count()),
        "{shown}"
    );
    assert!(
        !shown.contains("hint: ") && !shown.contains("..."),
        "{shown}"
    );
    assert!(shown.contains("--explain"), "{shown}");
    let explained = desk
        .run(&["history", "show", "last", "--explain"])
        .done()
        .stdout;
    assert!(explained.contains("hint: "), "{explained}");
    assert!(explained.lines().filter(is_warning).count() > 0);
}
