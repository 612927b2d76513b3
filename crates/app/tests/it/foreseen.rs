//! What is known before anything is made or measured is said before it.

use crate::support::{Desk, Loop, MIB, can_run, codes, names, run, skip, users_file};

/// A directory in memory; `None` where there is none.
fn memory(test: &str) -> Option<tempfile::TempDir> {
    let made = tempfile::Builder::new()
        .prefix("stripewise-app-")
        .tempdir_in("/dev/shm");
    made.map_err(|_| skip(test, "/dev/shm")).ok()
}

#[test]
fn switches_out_of_range_are_refused_before_a_file_is_filled() {
    let desk = Desk::new();
    let volume = desk.volume();
    for (line, says) in [
        (vec!["bench", "--block", "0"], "--block 0"),
        (vec!["bench", "--block", "1000"], "--block 1000"),
        (vec!["bench", "--block", "128M"], "--block 128M"),
        (vec!["bench", "--block", "8M", "--size", "4M"], "--block 8M"),
        (vec!["bench", "--step", "0s"], "--step 0"),
        (vec!["align", "--block", "0"], "--block 0"),
        (vec!["align", "--threads", "0"], "--threads 0"),
        (vec!["align", "--outstanding", "0"], "--outstanding 0"),
        (vec!["align", "--step", "0s"], "--step 0"),
        (vec!["run", "--block", "0"], "--block 0"),
        (vec!["run", "--threads", "0"], "--threads 0"),
        (vec!["run", "--outstanding", "0"], "--outstanding 0"),
        (vec!["run", "--duration", "0s"], "--duration 0"),
        (vec!["run", "--block", "64K", "--size", "4K"], "--block 64K"),
    ] {
        let (command, switches) = line.split_at(1);
        let mut all = vec![command[0], &volume, "--busy-ok"];
        all.extend(switches);
        let answer = desk.run(&all).failed(2, &[says]);
        for begun in ["Target: ", "Filling", "Measuring"] {
            assert!(
                !answer.stderr.contains(begun),
                "{line:?}: {}",
                answer.stderr
            );
        }
        assert_eq!(answer.stderr.matches("hint:").count(), 1, "{line:?}");
    }
    assert!(names(&volume).is_empty());
}

#[test]
fn memory_is_reported_before_a_file_is_filled() {
    let Some(memory) = memory("memory_is_reported_before_a_file_is_filled") else {
        return;
    };
    let desk = Desk::new();
    let place = crate::support::text(memory.path());
    let answer = desk
        .run(&[
            "run",
            place,
            "--busy-ok",
            "--size",
            "4M",
            "--duration",
            "100ms",
        ])
        .done();
    let position = |word: &str| {
        let found = answer.stderr.find(word);
        found.unwrap_or_else(|| panic!("no `{word}` in {}", answer.stderr))
    };
    assert!(position("results will be void (in-memory)") < position("Filling"));
    // An experiment is not begun.
    let refused = desk
        .run(&[
            "align",
            place,
            "--busy-ok",
            "--size",
            "16M",
            "--step",
            "50ms",
        ])
        .failed(3, &["would be void", "--anyway"]);
    assert!(!refused.stderr.contains("Measuring"), "{}", refused.stderr);
    assert_eq!(desk.ids().len(), 1);
}

#[test]
fn zeros_and_holes_are_reported_before_the_first_operation() {
    let desk = Desk::new();
    let sparse = desk.file("sparse");
    run("truncate", &["--size", "16M", &sparse]);
    let answer = desk
        .run(&["run", &sparse, "--busy-ok", "--duration", "100ms", "--json"])
        .done();
    let job = crate::support::only_job(&answer.json());
    let void = codes(&job);
    let shown_text = answer.stderr.find("results will be void (");
    let shown_text = shown_text.unwrap_or_else(|| panic!("{}", answer.stderr));
    assert!(shown_text < answer.stderr.find("Measuring").expect("progress"));
    assert!(
        void.iter()
            .any(|code| code == "sparse-file" || code == "zero-data"),
        "{void:?}"
    );
    // Writes do not read what is there.
    let writes = desk
        .run(&[
            "run",
            &sparse,
            "--busy-ok",
            "--duration",
            "100ms",
            "--write",
            "--overwrite",
        ])
        .done();
    assert!(!writes.stderr.contains("will be void"), "{}", writes.stderr);
    let full = desk.file("full");
    users_file(&full, 16 * MIB);
    let dense = desk
        .run(&["run", &full, "--busy-ok", "--duration", "100ms"])
        .done();
    assert!(!dense.stderr.contains("will be void"), "{}", dense.stderr);
}

#[test]
fn align_does_not_spend_minutes_on_a_device_of_zeros() {
    own_process!();
    if !can_run(
        "align_does_not_spend_minutes_on_a_device_of_zeros",
        &["losetup"],
    ) {
        return;
    }
    let desk = Desk::new();
    let dense = Loop::dense(64 * MIB, &[]);
    let zeros = vec![0u8; 64 << 20];
    std::fs::write(&dense.device, zeros).expect("the device is ours");
    let line = ["align", &dense.device, "--busy-ok", "--step", "50ms"];
    let refused = desk.run(&line).failed(3, &["zeros", "would be void"]);
    assert!(
        !refused.stderr.contains("directory instead of the file"),
        "{}",
        refused.stderr
    );
    assert!(desk.ids().is_empty());
}
