//! Whatever stdout and stderr lead to, what was asked for is done and kept, and
//! the exit code is that of the command, or 3 where its answer was lost.

use crate::support::streams::{Stream, answer};
use crate::support::{Answer, Desk};

/// Commands that measure; `NEW` is a name that is free.
const MEASURING: &[&str] = &[
    "run sim:nvme --duration 10ms",
    "run sim:nvme --duration 10ms --json",
    "run sim:nvme --duration 10ms --threads 1,2,3,4 --quiet",
    "run FILE --busy-ok --duration 20ms",
    "run FILE --busy-ok --duration 20ms --json",
    "bench sim:raid10-10k --series log --step 1s",
    "bench sim:raid10-10k --series log --step 1s --json",
    "align sim:nvme --step 10ms --blocks 10 --read --threads 1",
    "align sim:nvme --step 10ms --blocks 10 --read --threads 1 --json",
    "check --repeat 2",
    "check --repeat 2 --json",
    "sqlio -kR -s1 -b8 X:test.dat --drive X=sim:nvme",
];

/// Commands that do something else, and do it.
const OTHERS: &[&str] = &[
    "prepare NEW --size 1M --busy-ok",
    "prepare NEW --size 1M --busy-ok --json",
    "compare last-run last-run~1",
    "report last --format md",
    "report last --format json",
    "report --all --format csv",
    "report last -o NEW.html",
    "report last -o NEW.html --json",
    "import IMPORT",
    "export",
    "export --json",
    "export -o NEW.csv",
    "convert --from fio JOBS",
    "convert --from fio JOBS -o NEW",
    "history",
    "history --json",
    "history show last",
    "baseline",
    "baseline set last --replace",
    "lab init NEW.toml",
    "lab plans",
    "disks IMAGE",
    "sim list",
    "sim show nvme",
    "doctor",
    "completions bash",
    "man NEW",
    "--help",
    "run --help",
    "--version",
];

/// What fails before it began.
const FAILING: &[&str] = &[
    "run /nowhere/at/all",
    "run /nowhere/at/all --json",
    "run sim:nvme --nonsense",
    "history show nothing",
    "compare nothing",
];

/// Where stdout and stderr lead: one or both to the same trouble.
const STREAMS: &[(Stream, Stream)] = &[
    (Stream::Read, Stream::Full),
    (Stream::Read, Stream::Gone),
    (Stream::Read, Stream::Closed),
    (Stream::Full, Stream::Read),
    (Stream::Gone, Stream::Read),
    (Stream::Closed, Stream::Read),
    (Stream::Full, Stream::Full),
    (Stream::Gone, Stream::Gone),
    (Stream::Closed, Stream::Closed),
];

/// A desk with what the commands name: runs, a baseline, files.
fn furnished() -> Desk {
    let desk = Desk::new();
    let run = [
        "run",
        "sim:nvme",
        "--duration",
        "10ms",
        "--repeat",
        "2",
        "--quiet",
    ];
    // A series is done when its process is, and `last` is what is done.
    desk.process(&run).done();
    desk.run(&["baseline", "set", "last"]).done();
    crate::support::users_file(&desk.file("FILE"), 1 << 20);
    desk.write(
        "JOBS",
        "[reads]\nfilename=/data/x\nrw=randread\nbs=8k\nsize=1g\nruntime=5\ntime_based\ndirect=1\n",
    );
    let fixture = "/../compat/tests/data/diskspd-2.2.txt";
    let result = std::fs::read_to_string(format!("{}{fixture}", env!("CARGO_MANIFEST_DIR")));
    desk.write("IMPORT", &result.expect("a fixture"));
    desk.write("IMAGE", &"\0".repeat(1 << 20));
    desk
}

/// Rows of all kinds of runs that the store has.
fn kept(desk: &Desk) -> i64 {
    let store = rusqlite::Connection::open(desk.store()).expect("a store");
    let count = "SELECT count(*) FROM runs WHERE status = 'complete'";
    store.query_row(count, [], |row| row.get(0)).expect("runs")
}

/// A desk, and how many names of it are taken.
struct Bench {
    desk: Desk,
    names: usize,
}

impl Bench {
    /// Runs a command; what came of it, and how many runs it kept.
    fn run(&mut self, line: &str, stdout: Stream, stderr: Stream) -> (Answer, i64) {
        self.names += 1;
        let line = line.replace("NEW", &format!("new{}", self.names));
        let words: Vec<&str> = line.split(' ').collect();
        if let ["man", directory] = words[..] {
            std::fs::create_dir(self.desk.file(directory)).expect("a directory");
        }
        let before = kept(&self.desk);
        let answer = answer(&self.desk.command(&words), stdout, stderr);
        let more = kept(&self.desk) - before;
        (answer, more)
    }
}

/// A document goes to stdout, and never words as well.
fn prints_document(line: &str) -> bool {
    let commands = ["export", "report", "convert", "sqlio", "completions"];
    let first = line.split(' ').next().unwrap_or_default();
    line.contains("--json") || commands.contains(&first)
}

/// `codes` are those of a command whose streams are read.
fn check_streams(commands: &[&str], codes: &[i32]) {
    let mut bench = Bench {
        desk: furnished(),
        names: 0,
    };
    // What is imported twice is kept once.
    bench.run("import IMPORT", Stream::Read, Stream::Read);
    for line in commands {
        let (plain, kept) = bench.run(line, Stream::Read, Stream::Read);
        let known = plain.code.is_some_and(|code| codes.contains(&code));
        assert!(known, "{line}: {:?}\n{}", plain.code, plain.stderr);
        for &(stdout, stderr) in STREAMS {
            let (answer, now_kept) = bench.run(line, stdout, stderr);
            let lost = stdout == Stream::Full && !plain.stdout.is_empty();
            // What few operations on a file come to is void or not, time by time.
            let may_be_void = line.starts_with("run FILE");
            let code = match plain.code {
                Some(1) if may_be_void && answer.code != Some(1) => Some(0),
                other => other,
            };
            let code = match code {
                Some(0) if may_be_void && answer.code == Some(1) => Some(1),
                Some(0) if lost => Some(3),
                other => other,
            };
            let Answer { line: what, .. } = &answer;
            assert_eq!(
                answer.code, code,
                "{what}\n{}{}",
                answer.stdout, answer.stderr
            );
            assert_eq!(now_kept, kept, "{what}");
            check_words(line, &plain, &answer, (stdout, stderr));
            check_loss(&answer, kept > 0);
        }
    }
}

/// What can be heard is whole, and what was lost is mentioned where that can be.
fn check_words(line: &str, plain: &Answer, answer: &Answer, streams: (Stream, Stream)) {
    let what = &answer.line;
    match streams {
        (Stream::Full, Stream::Read) if !plain.stdout.is_empty() => {
            let message = "error: cannot write to ";
            assert!(answer.stderr.contains("No space left"), "{what}");
            assert!(answer.stderr.contains("hint: "), "{what}");
            let other = answer.stderr.contains("cannot write the export");
            assert!(
                other || answer.stderr.contains(message),
                "{what}\n{}",
                answer.stderr
            );
        }
        (Stream::Read, _) if prints_document(line) => {
            assert_eq!(answer.stdout.is_empty(), plain.stdout.is_empty(), "{what}");
            if line.contains("--json") && !plain.stdout.is_empty() {
                answer.json();
            }
            assert!(!answer.stdout.contains("messages are missing"), "{what}");
        }
        (Stream::Read, Stream::Full) if !plain.stderr.is_empty() => {
            let end = "note: messages are missing: cannot write to stderr: No space left";
            assert!(answer.stdout.contains(end), "{what}\n{}", answer.stdout);
            let failed = plain.stderr.contains("error: ");
            assert_eq!(answer.stdout.contains("error: "), failed, "{what}");
            assert_eq!(
                answer.stdout.contains("hint: "),
                failed || plain.stdout.contains("hint: "),
                "{what}"
            );
        }
        _ => {}
    }
}

/// That nothing which was measured is lost is said where something was measured.
fn check_loss(answer: &Answer, measured: bool) {
    if answer.stderr.contains("error: cannot write to stdout") {
        let message = answer.stderr.contains("nothing that was measured is lost");
        assert_eq!(message, measured, "{}\n{}", answer.line, answer.stderr);
    }
}

#[test]
fn runs_are_made_and_kept_whatever_the_streams_lead_to() {
    check_streams(MEASURING, &[0, 1]);
}

#[test]
fn answers_from_the_store_are_whole_or_reported_as_lost() {
    check_streams(OTHERS, &[0, 1]);
}

#[test]
fn failures_are_heard_on_the_stream_that_is_left() {
    check_streams(FAILING, &[2, 3]);
}

#[test]
fn a_run_goes_on_when_the_reader_of_both_streams_leaves_after_two_lines() {
    let desk = furnished();
    let before = kept(&desk);
    let file = desk.file("FILE");
    let mut shell = std::process::Command::new("bash");
    shell.args([
        "-c",
        "\"$@\" 2>&1 | head -n 2; exit ${PIPESTATUS[0]}",
        "bash",
    ]);
    let run = ["run", &file, "--busy-ok", "--duration", "100ms"];
    crate::support::machine::append(&mut shell, &desk.command(&run));
    let answer = Answer::of(&mut shell).done();
    assert_eq!(answer.stdout.lines().count(), 2, "{}", answer.stdout);
    assert_eq!(kept(&desk), before + 1);
}
