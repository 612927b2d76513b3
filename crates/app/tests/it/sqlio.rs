//! `sqlio` as an old batch file calls it, `import` of what it printed, and
//! `convert` of the batch file itself.

use crate::support::machine::{Loop, can_run, text};
use crate::support::*;
use std::path::Path;
use std::process::Command;

/// A place with a drive L: and a store of its own.
struct Drive {
    directory: tempfile::TempDir,
}

impl Drive {
    fn new() -> Drive {
        let directory = tempfile::Builder::new()
            .prefix("stripewise-sqlio-")
            .tempdir()
            .unwrap();
        std::fs::create_dir(directory.path().join("l")).unwrap();
        Drive { directory }
    }

    fn path(&self, name: &str) -> String {
        text(&self.directory.path().join(name)).to_owned()
    }

    /// Runs the program under `name`; exit code, stdout, stderr.
    fn call(&self, program: &Path, words: &[&str]) -> (i32, String, String) {
        // With it, what is stored is shown in a line.
        let quiet = (words.first() != Some(&"history")).then_some("--quiet");
        let mut command = Command::new(program);
        command
            .current_dir(self.directory.path())
            .env("STRIPEWISE_DRIVE_L", self.path("l"))
            .args(words)
            .args(["--store", &self.path("store.db")])
            .args(quiet);
        let answer = Answer::of(&mut command);
        (answer.code.unwrap_or(-1), answer.stdout, answer.stderr)
    }

    fn stripewise(&self, words: &[&str]) -> (i32, String, String) {
        self.call(Path::new(crate::support::program()), words)
    }

    fn sqlio(&self, words: &str) -> (i32, String, String) {
        let words: Vec<&str> = words.split_whitespace().collect();
        // Other tests may keep the device busy.
        self.stripewise(&[&["sqlio", "--busy-ok"], words.as_slice()].concat())
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

#[test]
fn a_file_is_made_run_and_told_as_sqlio_told_it() {
    own_process!();
    let drive = Drive::new();
    drive.file(
        "param.txt",
        "# the test file\r\nl:\\testfile.dat 2 0x0 8\r\n",
    );
    let (code, out, err) = drive.sqlio("-kW -s1 -frandom -o2 -b8 -BH -LS -Fparam.txt");
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    let begin = [
        "sqlio v1.5.SG",
        "using system counter for latency timings, 1000000000 counts per second",
        "parameter file used: param.txt",
        "\tfile l:\\testfile.dat with 2 threads (0-1) using mask 0x0 (0)",
        "2 threads writing for 1 secs to file l:\\testfile.dat",
        "\tusing 8KB random IOs",
        "\tenabling multiple I/Os per thread with 2 outstanding",
        "\tbuffering set to use hardware disk cache (but not file cache)",
        "size of file l:\\testfile.dat needs to be: 8388608 bytes",
        "current file size:\t0 bytes",
        "need to expand by:\t8388608 bytes",
        "expanding l:\\testfile.dat ... done.",
        "using specified size: 8 MB for file: l:\\testfile.dat",
        "initialization done",
        "CUMULATIVE DATA:",
        "throughput metrics:",
    ];
    assert_eq!(lines[..begin.len()], begin);
    assert!(lines.last().unwrap().starts_with("%:"));
    let made = std::fs::read(drive.path("l/testfile.dat")).unwrap();
    assert_eq!(made.len(), 8 << 20);
    let mut blocks = made.chunks(4096);
    assert!(blocks.all(|block| block.iter().any(|byte| *byte != 0)));

    // It is kept, and a file of ours: the next call writes to it and expands it.
    drive.file("param.txt", "l:\\testfile.dat 1 0x0 9\n");
    let (code, out, err) = drive.sqlio("-kW -s1 -fsequential -b64 -Fparam.txt");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("need to expand by:\t1048576 bytes\n"), "{out}");
    assert!(out.contains("1 thread writing for 1 secs"), "{out}");
    let (code, out, err) = drive.sqlio("-kR -s1 -frandom -b64 -dL testfile.dat");
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("using current size: 9 MB for file: L:testfile.dat"),
        "{out}"
    );

    // Each run is a record of ours, too.
    let (_, out, _) = drive.stripewise(&["history", "--json"]);
    assert_eq!(out.matches("\"started_at\"").count(), 3, "{out}");

    // And what was printed is imported, once.
    let log = drive
        .sqlio("-kR -s1 -frandom -b8 -o2 -LS -dL testfile.dat")
        .1;
    let log = drive.file("log.txt", &log);
    let (code, out, err) = drive.stripewise(&["import", &log]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("1 result saved;"), "{out}");
    let (_, out, _) = drive.stripewise(&["import", &log]);
    assert!(
        out.contains("0 results saved; 1 was already there"),
        "{out}"
    );
    let (_, json, _) = drive.stripewise(&["import", &log, "--json"]);
    let id = json.split("\"already_there\": [\n    \"").nth(1).unwrap();
    let id = id.split('"').next().unwrap();
    let (_, again, _) = drive.stripewise(&["sqlio", "--show", id]);
    assert_eq!(again, std::fs::read_to_string(&log).unwrap());
    let (code, shown, _) = drive.stripewise(&["history", "show", id]);
    assert_eq!(code, 0);
    assert!(
        shown.contains("Source  ") && !shown.contains("p99"),
        "{shown}"
    );
}

#[test]
fn the_name_of_the_program_is_enough() {
    let drive = Drive::new();
    for name in ["sqlio", "SQLIO.EXE"] {
        let link = drive.directory.path().join(name);
        std::os::unix::fs::symlink(crate::support::program(), &link).unwrap();
        let words = [
            "-kR",
            "-t4",
            "-s5",
            "-frandom",
            "-o8",
            "-b8",
            "-LS",
            "-dS",
            "x.dat",
            "--drive",
            "S=sim:disk-7k2",
        ];
        let (code, out, err) = drive.call(&link, &words);
        assert_eq!(code, 0, "{err}");
        assert!(out.starts_with("sqlio v1.5.SG\n"), "{out}");
        assert!(out.contains("4 threads reading for 5 secs from file S:x.dat\n"));
    }
}

#[test]
fn what_the_safety_rules_refuse_names_the_flag_to_add() {
    own_process!();
    let drive = Drive::new();
    let user = drive.path("l/user.dat");
    users_file(&user, 4 << 20);
    let before = std::fs::read(&user).unwrap();
    // Writing to it, and making it larger.
    for words in [
        "-kW -s1 -frandom -b8 -dL user.dat",
        "-kR -s1 -f64 -i64 -b8 -dL user.dat",
    ] {
        let (code, _, err) = drive.sqlio(words);
        assert_eq!(code, 3, "{words}: {err}");
        assert!(
            err.contains("hint: add --overwrite to this line of the batch file"),
            "{err}"
        );
        assert_eq!(std::fs::read(&user).unwrap(), before, "{words}");
    }
    // Our switches may stand at the end of the line.
    let (code, out, err) = drive.sqlio("-kW -s1 -f64 -i64 -b8 -dL user.dat --overwrite");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("need to expand by:\t29360128 bytes"), "{out}");
    assert_eq!(std::fs::metadata(&user).unwrap().len(), 32 << 20);
}

#[test]
fn raw_targets_go_by_the_rules_of_devices() {
    own_process!();
    if !can_run(
        "raw_targets_go_by_the_rules_of_devices",
        &["root", "losetup"],
    ) {
        return;
    }
    let drive = Drive::new();
    let device = Loop::new(16 << 20);
    let name = device.device.rsplit('/').next().unwrap();
    drive.file("raw.txt", "1: 1 0x0 16\n");
    let mapping = format!("1={}", device.device);
    let (code, _, err) = drive.sqlio(&format!("-kW -s1 -frandom -b8 -Fraw.txt --drive {mapping}"));
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("add --destroy NAME"), "{err}");
    let words = format!("-kW -s1 -frandom -b8 -Fraw.txt --drive {mapping} --destroy {name}");
    let (code, out, err) = drive.sqlio(&words);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("using specified size: 16 MB for file: 1:"),
        "{out}"
    );
    let (code, out, err) = drive.sqlio(&format!("-kR -s1 -R1 -f16 -i8 -b8 --drive {mapping}"));
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("1 thread reading for 1 secs from file 1:"),
        "{out}"
    );
}

#[test]
fn mistakes_are_usage_errors_with_hints() {
    let drive = Drive::new();
    for (words, message) in [
        ("-kR -mC4 a.dat", "several buffers"),
        ("-kR -dQ a.dat", "--drive Q=/mnt/data"),
        ("-kR -Fnone.txt", "cannot read none.txt"),
        ("-kR --drive L a.dat", "maps nothing"),
        ("-kR -frandom L:a.dat sim:disk-7k2", "different clocks"),
    ] {
        let (code, _, err) = drive.sqlio(words);
        assert_eq!(code, 2, "{words}: {err}");
        assert!(
            err.contains(message) && err.contains("hint: "),
            "{words}: {err}"
        );
    }
    let (code, out, _) = drive.sqlio("-?");
    assert!(code == 0 && out.starts_with("Usage: sqlio"), "{out}");
}

#[test]
fn a_simulated_drive_needs_no_waiting_and_gives_json() {
    let drive = Drive::new();
    let words = "-kR -t8 -s60 -fsequential -o4 -b64 -BH -LS -dL test.dat --drive L=sim:mssqltips-2127 --json";
    let (code, out, err) = drive.sqlio(words);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with('{') && out.contains("\"schema_version\""));
    assert!(out.contains("\"cursor\": \"shared\""));
}

#[test]
fn initiation_latencies_are_whole_microseconds_before_the_others() {
    let drive = Drive::new();
    let first = |out: &str| {
        let (_, rest) = out.split_once("latency metrics:\n").expect("latencies");
        let names = rest.lines().take(6).map(|line| {
            let (name, number) = line.split_once(": ").expect("a number");
            (name.to_owned(), number.parse::<u64>().expect("whole"))
        });
        names.collect::<Vec<_>>()
    };
    let words = "-kR -t2 -s1 -frandom -o4 -b8 -BH -LSi -dL t.dat";
    let (code, out, err) = drive.sqlio(words);
    assert_eq!(code, 0, "{err}");
    let numbers = first(&out);
    let names: Vec<&str> = numbers.iter().map(|(name, _)| name.as_str()).collect();
    let kinds = ["Init_Latency(us)", "Latency(ms)"];
    let expected: Vec<String> = kinds
        .iter()
        .flat_map(|kind| ["Min", "Avg", "Max"].map(|which| format!("{which}_{kind}")))
        .collect();
    assert_eq!(names, expected);
    let (min, avg, max) = (numbers[0].1, numbers[1].1, numbers[2].1);
    assert!(min <= avg && avg <= max && max > 0, "{numbers:?}");
    let (_, json, _) = drive.stripewise(&["history", "show", "last", "--json"]);
    assert!(json.contains("\"initiation_latency_ns\""), "{json}");
    // Nobody else pays for it, and a simulated array takes operations at once.
    let (_, out, _) = drive.sqlio("-kR -s1 -frandom -LS -dL t.dat");
    assert!(!out.contains("Init_Latency"), "{out}");
    let (_, json, _) = drive.stripewise(&["history", "show", "last", "--json"]);
    assert!(!json.contains("initiation_latency_ns"), "{json}");
    let (_, out, _) = drive.sqlio("-kR -s1 -frandom -LSi S:t.dat --drive S=sim:disk-7k2");
    assert!(first(&out)[..3].iter().all(|(_, number)| *number == 0));
}

#[test]
fn an_interrupted_run_prints_its_report_and_is_kept() {
    let desk = Desk::new();
    let volume = desk.volume();
    let drive = format!("L={volume}");
    let words = "sqlio -kR -t2 -s3600 -frandom -o2 -b8 -BH -LS -dL t.dat --busy-ok --drive";
    let words: Vec<&str> = words.split(' ').chain([drive.as_str()]).collect();
    let mut running = desk.start(&words);
    until_measured(&desk, &mut running, 1);
    running.signal(rustix::process::Signal::INT);
    let answer = running.wait().ended(130);
    let (_, results) = answer
        .stdout
        .split_once("initialization done\nCUMULATIVE DATA:\n")
        .expect("a report");
    let rate = results.lines().nth(1).expect("a rate");
    assert!(
        rate.starts_with("IOs/sec: ") && !rate.ends_with(" 0.00"),
        "{rate}"
    );
    assert!(answer.stdout.lines().last().unwrap().starts_with("%:"));
    assert!(answer.stderr.contains("partial: "), "{}", answer.stderr);
    let kept = desk.json(&["history", "show", "last"]);
    assert_eq!(kept.at("runs.0.status").text(), "partial");
    let seconds = kept.at("runs.0.jobs.0.outcome.duration_ns").number() / 1e9;
    let operations = kept.at("runs.0.jobs.0.outcome.operations").number();
    // The rate is over the time that passed, not over what was asked for.
    let printed: f64 = rate["IOs/sec:".len()..].trim().parse().unwrap();
    assert!((printed - operations / seconds).abs() <= 0.02, "{rate}");
}

#[test]
fn a_parameter_file_is_found_on_its_drive_and_q_is_quiet() {
    let drive = Drive::new();
    drive.file("l/param.txt", "L:\\t.dat 2 0x0 4\r\n");
    let store = drive.path("store.db");
    let output = Command::new(crate::support::program())
        .env("STRIPEWISE_DRIVE_L", drive.path("l"))
        .args([
            "sqlio",
            "-kR",
            "-s1",
            "-frandom",
            "-b8",
            "-q",
            "-FL:\\PARAM.txt",
        ])
        .args(["--busy-ok", "--store", &store])
        .output()
        .expect("the program runs");
    let out = String::from_utf8_lossy(&output.stdout);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(!message.contains("Saved as"), "{message}");
    assert!(out.contains("parameter file used: L:\\PARAM.txt"), "{out}");
    assert!(out.contains("with 2 threads"), "{out}");
}

#[test]
fn a_command_of_a_link_named_sqlio_is_kept_as_one_that_runs() {
    own_process!();
    let drive = Drive::new();
    let link = drive.directory.path().join("sqlio");
    std::os::unix::fs::symlink(crate::support::program(), &link).unwrap();
    drive.file("l/t.dat", &"x".repeat(1 << 20));
    let words = [
        "--json",
        "--busy-ok",
        "-kR",
        "-s1",
        "-frandom",
        "-b8",
        "-dL",
        "t.dat",
    ];
    let (code, out, message) = drive.call(&link, &words);
    assert_eq!(code, 0, "{message}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let command = json["runs"][0]["command"].as_array().unwrap();
    let command: Vec<&str> = command.iter().filter_map(|word| word.as_str()).collect();
    assert_eq!(command[..2], ["stripewise", "sqlio"]);
    let program = Path::new(crate::support::program());
    let again = Command::new(program)
        .env("STRIPEWISE_DRIVE_L", drive.path("l"))
        .args(&command[1..])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(0), "{message}");
}

#[test]
fn what_is_refused_prints_no_head_of_a_result() {
    let drive = Drive::new();
    drive.file("l/t.dat", &"x".repeat(1 << 20));
    let (code, out, message) = drive.sqlio("-kW -s1 -frandom -b8 -dL t.dat");
    assert_eq!((code, out.as_str()), (3, ""), "{message}");
    assert!(message.contains("--overwrite"), "{message}");
    // A database's directory counts as busy.
    drive.file("l/master.mdf", "");
    let words = ["sqlio", "-kR", "-s1", "-frandom", "-b8", "-dL", "new.dat"];
    let (code, out, message) = drive.stripewise(&words);
    assert_eq!((code, out.as_str()), (6, ""), "{message}");
    assert!(message.contains("--busy-ok") && !Path::new(&drive.path("l/new.dat")).exists());
    let (code, _, message) = drive.sqlio("-kX -dL t.dat");
    assert!(
        code == 2 && message.contains("-kX has no value that SQLIO knows"),
        "{message}"
    );
}

#[test]
fn no_note_tells_of_a_percentile_that_sqlio_never_prints() {
    let drive = Drive::new();
    let words = [
        "--drive",
        "L=sim:raid10-10k",
        "-kR",
        "-s4",
        "-frandom",
        "-b8",
        "-o8",
        "-LS",
    ];
    let words = [&["sqlio"], &words[..], &["-dL", "t.dat"]].concat();
    let (code, out, message) = drive.stripewise(&words);
    assert_eq!(code, 0, "{message}");
    assert!(out.contains("histogram:"), "{out}");
    assert!(!message.contains("few-for-p999"), "{message}");
    // The record has it, for whoever looks at its percentiles.
    let (_, out, _) = drive.stripewise(&["history", "show", "last"]);
    assert!(out.contains("few-for-p999"), "{out}");
}

#[test]
fn a_file_that_grew_is_removed_from_any_directory() {
    own_process!();
    let drive = Drive::new();
    for megabytes in [8, 9] {
        drive.file("param.txt", &format!("t.dat 1 0x0 {megabytes}\n"));
        let (code, _, err) = drive.sqlio("-kR -s1 -frandom -b64 -Fparam.txt");
        assert_eq!(code, 0, "{err}");
    }
    let mut clean = Command::new(crate::support::program());
    clean
        .current_dir(drive.path("l"))
        .args(["lab", "clean", "--yes", "--store"])
        .arg(drive.path("store.db"));
    Answer::of(&mut clean).done();
    assert!(!Path::new(&drive.path("t.dat")).exists());
}
