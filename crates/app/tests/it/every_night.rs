//! `-q`: one line on stdout with the answer, and the examples for cron and systemd that
//! docs/book/every-night.md has.

use crate::support::{Desk, can_run, long_enough, program, users_file};
use std::path::Path;
use std::process::{Command, Output};

const PAGE: &str = include_str!("../../../../docs/book/every-night.md");

/// What the page calls the program.
const INSTALLED: &str = "/usr/bin/stripewise";

/// The only line of an answer, which ended with this code. On stderr are at most warnings and
/// notes, as the machine's disk gives reason for.
#[track_caller]
fn line(desk: &Desk, code: i32, arguments: &[&str]) -> String {
    let answer = desk.run(&[arguments, &["-q"]].concat()).ended(code);
    let is_warning = |line: &str| {
        let starts = ["warning: ", "note: ", "hint: ", "  "];
        starts.iter().any(|start| line.starts_with(start))
    };
    assert!(answer.stderr.lines().all(is_warning), "{}", answer.stderr);
    let mut lines = answer.stdout.lines();
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("{arguments:?}: no line"));
    assert_eq!(lines.next(), None, "{arguments:?}");
    line.to_owned()
}

/// Starts and ends like this, with the id of what was kept last behind it.
#[track_caller]
fn is(desk: &Desk, line: &str, start: &str, end: &str) {
    assert!(line.starts_with(start), "{line}");
    let (answer, id) = line.rsplit_once(" [").expect("an id");
    assert!(answer.ends_with(end), "{line}");
    let id = id.trim_end_matches(']');
    desk.run(&["history", "show", id]).done();
}

#[test]
fn a_quiet_run_is_a_line_of_what_it_measured() {
    let desk = Desk::new();
    let run = [
        "run",
        "sim:sata-ssd",
        "--duration",
        "1s",
        "--outstanding",
        "4",
    ];
    let one = line(&desk, 0, &run);
    is(
        &desk,
        &one,
        "sim:sata-ssd: random read 8K 4 in flight: ",
        " µs",
    );
    assert!(one.contains(" IOPS, p99 "), "{one}");

    let repeated = line(&desk, 0, &[&run[..], &["--repeat", "6"]].concat());
    is(
        &desk,
        &repeated,
        "sim:sata-ssd: random read 8K 4 in flight: ",
        " µs",
    );
    assert!(repeated.contains(", median of 6 runs, p99 "), "{repeated}");

    let mixed = ["--read-percent", "70", "--block", "4K,8K"];
    let mixed = line(&desk, 0, &[&run[..], &mixed].concat());
    is(
        &desk,
        &mixed,
        "sim:sata-ssd: random 70 % read 4K 4 in flight: ",
        " ms",
    );
    assert!(
        mixed.contains("; random 70 % read 8K 4 in flight: "),
        "{mixed}"
    );
    assert!(mixed.contains(", p99 of reads "), "{mixed}");

    // Of a large grid some, and how many there are besides.
    let blocks = ["--block", "1K,2K,4K,8K,16K,32K,64K,128K,256K,512K"];
    let grid = line(&desk, 0, &[&run[..], &blocks].concat());
    is(
        &desk,
        &grid,
        "sim:sata-ssd: random read 1K 4 in flight: ",
        "; and 2 more",
    );
}

#[test]
fn what_must_be_known_first_stands_first_in_a_quiet_line() {
    let desk = Desk::new();
    let missed = [
        "run",
        "sim:sata-ssd",
        "--duration",
        "1s",
        "--require",
        "iops>=99000000",
    ];
    let missed = line(&desk, 1, &missed);
    let says = "sim:sata-ssd: missed (iops>=99000000 missed: ";
    is(&desk, &missed, says, " µs");
    assert!(
        missed.contains("); random read 8K 1 in flight: "),
        "{missed}"
    );

    let file = desk.file("zeros");
    users_file(&file, 4 << 20);
    // Too many in a row end it.
    let failing = ["run", &file, "--duration", "1h", "--busy-ok"];
    let inject = ["--inject", "fail=5@every=1 read", "-q"];
    let failed = desk.run(&[&failing[..], &inject].concat()).ended(4);
    assert_eq!(failed.stdout.lines().count(), 1, "{}", failed.stdout);
    assert!(
        failed.stdout.contains(" operations failed"),
        "{}",
        failed.stdout
    );

    let void = [
        "run",
        &file,
        "--engine",
        "null",
        "--duration",
        "100ms",
        "--busy-ok",
    ];
    let void = line(&desk, 0, &void);
    is(&desk, &void, &file, "");
    let says = ": VOID: these numbers are not the disk's (null-engine";
    assert!(void.contains(says), "{void}");
}

#[test]
fn a_quiet_bench_is_a_line_of_its_answers() {
    let desk = Desk::new();
    let bench = ["bench", "sim:raid10-10k", "--series", "random-read,log"];
    let answers = line(&desk, 0, &bench);
    is(
        &desk,
        &answers,
        "sim:raid10-10k: random read: ",
        ", over p99 < 5 ms",
    );
    assert!(answers.contains(" IOPS \u{b1}"), "{answers}");
    assert!(answers.contains(", over p99 < 5 ms; log: "), "{answers}");

    let like = ["bench", "sim:sata-ssd", "--like", "crystaldiskmark"];
    let like = line(&desk, 0, &like);
    is(
        &desk,
        &like,
        "sim:sata-ssd: sequential read 1M 8 in flight: ",
        "; warning: not-steady",
    );
    assert!(like.contains("; random write 4K 32 in flight: "), "{like}");
}

#[test]
fn other_answers_are_a_line_too() {
    let desk = Desk::new();
    let align = ["align", "sim:raid10-10k", "--read", "--threads", "8"];
    let align = line(
        &desk,
        1,
        &[&align[..], &["--step", "2s", "--blocks", "10"]].concat(),
    );
    assert!(
        align.starts_with("sim:raid10-10k: Starting at 31.5K (63 sectors) instead of 1M costs"),
        "{align}"
    );
    assert!(align.ends_with(']'), "{align}");

    let mix = [
        "--mix",
        "random-read=70,random-write=30",
        "--vary",
        "offset=63s,1M",
    ];
    let advise = ["advise", "sim:raid10-10k?offset=63s"];
    let advised = line(&desk, 1, &[&advise[..], &mix].concat());
    let start = "sim:raid10-10k?offset=63s: Choose stripe unit 64K, offset 1M";
    is(&desk, &advised, start, ".");
    let (_, id) = advised.rsplit_once(" [").expect("an id");
    let again = ["history", "show", id.trim_end_matches(']')];
    assert_eq!(line(&desk, 0, &again), advised);

    let profile = line(&desk, 0, &["profile", "sim:disk-7k2", "--places", "16"]);
    assert!(
        profile.contains("sim:disk-7k2") && profile.contains("MiB/s"),
        "{profile}"
    );

    let probe = line(&desk, 0, &["probe", "stripe", "sim:raid10-10k"]);
    assert!(
        probe.starts_with("sim:raid10-10k: stripe unit 64K "),
        "{probe}"
    );

    let plan = desk.write(
        "plan.toml",
        "target = \"sim:raid10-10k\"\nfactor = \"block\"\nlevels = [\"8K\", \"16K\"]\nblocks = 10\n\
         [defaults]\nduration = \"1s\"\n[[cell]]\nname = \"reads\"\nread = true\n",
    );
    let lab = line(&desk, 0, &["lab", "run", &plan]);
    assert!(lab.contains(" was found for random reads. ["), "{lab}");
}

#[test]
fn a_quiet_verification_is_its_verdict() {
    let desk = Desk::new();
    let volume = desk.volume();
    let verify = [
        "verify",
        &volume,
        "--size",
        "4M",
        "--duration",
        "200ms",
        "--busy-ok",
    ];
    let verdict = line(&desk, 0, &verify);
    let begins = format!("{volume}: PASSED: no fault in ");
    assert!(verdict.starts_with(&begins), "{verdict}");
    assert!(verdict.trim_end().ends_with(']'), "{verdict}");

    let run = [
        "run",
        &volume,
        "--size",
        "4M",
        "--duration",
        "200ms",
        "--busy-ok",
    ];
    let beside = ["--read-percent", "50", "--verify"];
    let beside = line(&desk, 0, &[&run[..], &beside].concat());
    assert!(beside.contains("; Verification: no fault in "), "{beside}");
}

/// The code blocks of this kind.
fn blocks(kind: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        if line.strip_prefix("```") == Some(kind) {
            let block = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(block.map(|line| format!("{line}\n")).collect());
        }
    }
    blocks
}

/// Runs a command as cron does: by `sh`, with next to nothing in its environment.
fn as_cron(home: &Path, command: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env_clear();
    shell.env("HOME", home).env("PATH", "/usr/bin:/bin");
    shell.output().expect("a shell")
}

/// The page's command, with the program of this build, a small file as the volume, and a
/// short time.
fn here(command: &str, volume: &str, duration: &str) -> String {
    assert!(command.contains(INSTALLED), "{command}");
    let command = command.replace(INSTALLED, &format!("'{}'", program()));
    let small = format!("{volume} --size 1M --busy-ok");
    command
        .replace("/srv/data", &small)
        .replace("30s", duration)
}

#[test]
fn the_lines_for_cron_do_what_the_page_says() {
    let desk = Desk::new();
    let (home, volume) = (desk.path(), desk.volume());
    let store = home.join(".local/share/stripewise/stripewise.db");
    let log = home.join("stripewise.log");
    std::fs::create_dir_all(store.parent().expect("a folder")).expect("made");
    let with_store = |arguments: &[&str]| {
        let mut command = Command::new(program());
        command.args(arguments).arg("--store").arg(&store);
        assert!(command.output().expect("the program").status.success());
    };
    let baseline = ["run", "sim:nvme", "--duration", "20ms", "--repeat", "6"];
    with_store(&baseline);
    with_store(&["baseline", "set", "last"]);

    let block = blocks("cron").concat();
    let jobs: Vec<&str> = block.lines().collect();
    assert_eq!(jobs.len(), 2, "{block}");
    for job in jobs {
        // Five fields of time, then the command; cron ends it at a percent sign.
        let fields: Vec<&str> = job.splitn(6, ' ').collect();
        let is_time = |field: &&str| {
            field
                .chars()
                .all(|sign| sign == '*' || sign.is_ascii_digit())
        };
        assert!(fields[..5].iter().all(is_time), "{job}");
        assert!(!job.contains('%'), "{job}");
        let run = |duration: &str| {
            let output = as_cron(home, &here(fields[5].trim(), &volume, duration));
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.stdout.is_empty() && output.stderr.is_empty(),
                "{message}"
            );
            let logged = std::fs::read_to_string(&log).unwrap_or_default();
            // A run may be void: of too few operations, or for what lies below temporary files.
            let is_void = logged
                .lines()
                .last()
                .is_some_and(|line| line.contains("VOID"));
            assert_eq!(
                output.status.code(),
                Some(i32::from(is_void)),
                "{job}: {logged}"
            );
            logged
        };
        // A run of few operations is void; the check prints nothing.
        let last = |log: &String| log.lines().next_back().map(ToOwned::to_owned);
        long_enough(run, |log| {
            last(log).is_none_or(|line| !line.contains("few-operations"))
        });
    }
    let log = std::fs::read_to_string(&log).expect("the log");
    let last = log.lines().next_back().expect("a line");
    // That it is void is said first.
    let words = format!("{volume}: random read 8K 1 in flight: ");
    assert!(
        last.starts_with(&words) || last.contains(&format!("; {words}")),
        "{log}"
    );
}

#[test]
fn the_units_for_systemd_are_valid_and_start_a_check() {
    let desk = Desk::new();
    let mut paths = Vec::new();
    let mut start = String::new();
    for unit in blocks("ini") {
        let name = unit.lines().next().and_then(|line| line.rsplit_once('/'));
        let (_, name) = name.expect("the name of the unit");
        // Systemd looks whether the program is there.
        let unit = unit.replace(INSTALLED, program());
        if let Some(command) = unit
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="))
        {
            command.clone_into(&mut start);
        }
        paths.push(desk.write(name, &unit));
    }
    assert_eq!(paths.len(), 2);

    // What it starts, which has no baseline here.
    let output = as_cron(desk.path(), &start);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("baseline"));

    if !can_run("the_units_for_systemd_are_valid", &["systemd-analyze"]) {
        return;
    }
    let verified = Command::new("systemd-analyze")
        .arg("verify")
        .args(&paths)
        .output();
    let verified = verified.expect("systemd-analyze");
    let message = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success(), "{message}");
    assert!(!message.contains("stripewise-check"), "{message}");
}
