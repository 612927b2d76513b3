//! A command line is a function of its words and its surroundings: its output, and
//! its exit if a stream accepts nothing.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::rc::Rc;
use stripewise_cli::{Exit, Output, Surroundings, run};

/// A stream that accepts everything, or fails from the start.
#[derive(Clone, Default)]
struct Stream {
    taken: Rc<RefCell<Vec<u8>>>,
    fails: Option<ErrorKind>,
}

impl Stream {
    fn failing(kind: ErrorKind) -> Stream {
        Stream {
            fails: Some(kind),
            ..Stream::default()
        }
    }

    fn text(&self) -> String {
        String::from_utf8(self.taken.borrow().clone()).unwrap()
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.fails {
            Some(kind) => Err(kind.into()),
            None => self.taken.borrow_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a command line with the given `stdout` and `stderr`.
fn ended(line: &str, stdout: &Stream, stderr: &Stream) -> Exit {
    let words = ["stripewise"].into_iter().chain(line.split_whitespace());
    let output = Output::new(Box::new(stdout.clone()), Box::new(stderr.clone()));
    run(
        words.map(OsString::from).collect(),
        Surroundings::default(),
        output,
    )
}

/// Runs a command line; returns the exit, stdout and stderr.
fn all_of(line: &str) -> (Exit, String, String) {
    let (stdout, stderr) = (Stream::default(), Stream::default());
    let exit = ended(line, &stdout, &stderr);
    (exit, stdout.text(), stderr.text())
}

#[test]
fn each_way_to_end_has_its_code() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("results.db");
    let simulated = format!(
        "run sim:nvme --duration 1ms -q --store {}",
        store.to_str().unwrap()
    );
    let missed = format!("{simulated} --require p50<1ns");
    let no_target = format!(
        "run dataset:oja-nisula-2007-offset --store {}",
        store.to_str().unwrap()
    );
    let cases = [
        ("sim list", Exit::Done),
        (&simulated, Exit::Done),
        (&missed, Exit::Finding),
        ("sim list --wrong", Exit::Usage),
        (&no_target, Exit::Usage),
        ("man /nowhere", Exit::Target),
        // No variable gives the location of a store.
        ("history", Exit::Store),
    ];
    for (line, exit) in cases {
        let (seen, stdout, stderr) = all_of(line);
        assert_eq!(seen, exit, "{line}\n{stdout}\n{stderr}");
    }
}

#[test]
fn a_switch_that_would_have_no_effect_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let plan = file(
        "plan.toml",
        "[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"\n",
    );
    let trace = file("trace.csv", "0,R,0,4096\n1,R,8192,4096\n");
    let columns = "--columns time=us,op=R/W,offset=bytes,size=bytes";
    let lines = [
        format!("run --plan {plan} --speed 2"),
        format!("run --plan {plan} --copies 2"),
        format!("run --plan {plan} --idle-max 20s"),
        format!("run --plan {plan} --loop open"),
        format!("run --plan {plan} {columns}"),
        "run sim:nvme --profile postgresql --speed 2".to_owned(),
        "run sim:nvme --show-request --speed 2".to_owned(),
        "run sim:nvme --in-turn".to_owned(),
        format!("run sim:nvme --trace {trace} {columns} --steady"),
        format!("observe --pid 1 {columns}"),
        format!("observe --clean {columns}"),
        "headroom sim:nvme --load postgresql --columns time=us,op,offset,size".to_owned(),
        "profile sim:nvme --full --size 1G".to_owned(),
        "profile sim:nvme --places 16 --idle 3s".to_owned(),
        "profile sim:nvme --full --destroy sda".to_owned(),
        "bench sim:nvme --like crystaldiskmark --precondition sequential".to_owned(),
        format!("verify {trace} --image --witness host:1/t"),
        format!("verify {trace} --after-cut x --sync fua"),
        "witness x --stdin --token-file y".to_owned(),
        "check --run last --threads 3".to_owned(),
        "limits sim:nvme --cloud none --table x".to_owned(),
        "qualify sim:nvme --for etcd --quick --processors 4".to_owned(),
    ];
    let store = directory.path().join("results.db");
    for line in lines {
        let (exit, stdout, stderr) = all_of(&format!("{line} --store {}", store.to_str().unwrap()));
        assert_eq!(exit, Exit::Usage, "{line}\n{stdout}\n{stderr}");
        assert!(stderr.contains("hint: "), "{line}\n{stderr}");
    }
    assert!(!store.exists(), "nothing was measured");
}

#[test]
fn the_document_is_all_that_is_on_stdout() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("results.db");
    let on = |line: &str| format!("{line} --store {}", store.to_str().unwrap());
    let (exit, ..) = all_of(&on("run sim:nvme --duration 1ms"));
    assert_eq!(exit, Exit::Done);
    let (exit, stdout, stderr) = all_of(&on("baseline set last --json"));
    assert_eq!(exit, Exit::Done);
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert!(document["baselines"].is_array(), "{stdout}");
    assert!(stderr.contains("few repetitions"), "{stderr}");
    // The next command starts afresh: its hints are worded for it, and it has no document.
    let (exit, stdout, stderr) = all_of("sim list --jsn");
    assert_eq!((exit, stdout.as_str()), (Exit::Usage, ""));
    assert!(stderr.contains("did you mean --json?"), "{stderr}");
}

#[test]
fn a_reader_that_went_away_is_no_failure_and_a_full_disk_is_one() {
    let cases = [
        (ErrorKind::BrokenPipe, Exit::Done, ""),
        (
            ErrorKind::StorageFull,
            Exit::Target,
            "cannot write to stdout",
        ),
    ];
    for (kind, exit, says) in cases {
        let stderr = Stream::default();
        assert_eq!(ended("sim list", &Stream::failing(kind), &stderr), exit);
        assert!(stderr.text().contains(says), "{}", stderr.text());
        assert_eq!(stderr.text().is_empty(), says.is_empty());
    }
}

#[test]
fn what_stderr_does_not_take_is_said_on_stdout_unless_a_document_is_there() {
    let full = Stream::failing(ErrorKind::StorageFull);
    let stdout = Stream::default();
    assert_eq!(ended("sim show nowhere", &stdout, &full), Exit::Usage);
    let text = stdout.text();
    assert!(text.contains("error: "), "{text}");
    assert!(text.contains("messages are missing"), "{text}");
    let stdout = Stream::default();
    ended("sim show nowhere --json", &stdout, &full);
    assert_eq!(stdout.text(), "");
}

/// Mistyped command lines, and the expected answers.
const NEARLY_RIGHT: &[(&str, &str)] = &[
    // Commands.
    ("bnech", "did you mean bench?"),
    ("BENCH", "did you mean bench?"),
    ("histroy", "did you mean history?"),
    ("chekc", "did you mean check?"),
    ("disk", "did you mean disks?"),
    ("reprot", "did you mean report?"),
    ("qualfy", "did you mean qualify?"),
    ("observer", "did you mean observe?"),
    // Words of other programs and of habit.
    ("version", "`stripewise --version` prints"),
    ("list", "`stripewise history` lists"),
    ("ls", "`stripewise history` lists"),
    ("lsblk", "`stripewise disks` shows"),
    ("cdm", "--like crystaldiskmark` measures"),
    ("fio", "`stripewise convert --from TOOL"),
    ("diskspd -b8K", "`stripewise convert --from TOOL"),
    ("show last", "did you mean `stripewise history show last`?"),
    ("show", "`stripewise history` lists"),
    ("test", "`stripewise bench TARGET` measures"),
    // Products and targets in place of a command.
    ("etcd", "`stripewise qualify TARGET --for etcd`"),
    ("etdc", "`stripewise qualify TARGET --for etcd`"),
    ("sqlserver", "`stripewise qualify TARGET --for sqlserver`"),
    ("postgres", "`stripewise qualify TARGET --for postgresql`"),
    ("sim:nvme", "`stripewise bench sim:nvme` measures it"),
    ("/mnt/data", "`stripewise bench /mnt/data` measures it"),
    // Nothing is similar.
    ("frobnicate", "`stripewise --help` lists the commands"),
    // Subcommands.
    ("history shwo", "did you mean show?"),
    (
        "history g7aw",
        "did you mean `stripewise history show g7aw`?",
    ),
    (
        "baseline ab12",
        "did you mean `stripewise baseline set ab12`?",
    ),
    (
        "lab raid.toml",
        "did you mean `stripewise lab run raid.toml`?",
    ),
    (
        "baseline rm rare",
        "did you mean `stripewise baseline remove`?",
    ),
    (
        "baseline delete rare",
        "did you mean `stripewise baseline remove`?",
    ),
    ("lab list", "did you mean `stripewise lab plans`?"),
    ("history list", "did you mean `stripewise history`?"),
    // Values.
    ("export last --format fio-jsn", "did you mean fio-json?"),
    (
        "lab run study:oja-2007",
        "did you mean study:oja-nisula-2007?",
    ),
    ("run sim:raid10-10k?offset=63", "63 sectors are 63s"),
    ("align sim:raid10-10k --offsets 63,1M", "63 sectors are 63s"),
    (
        "advise sim:raid10-10k --for postgresql --vary offset=63",
        "63 sectors are 63s",
    ),
    (
        "advise sim:raid10-10k --for postgresql --vary raid=raid7",
        "`raid7` is not a RAID level",
    ),
    ("qualify sim:nvme --for etdc", "did you mean etcd?"),
    (
        "run sim:nvme --profile oltp",
        "did you mean `sqlserver-oltp`?",
    ),
    (
        "advise sim:nvme --for postgres",
        "did you mean `postgresql`?",
    ),
    ("bench sim:raid10k", "did you mean `raid10-10k`?"),
    ("run sim:raid10-10k?ofsett=1M", "did you mean `offset`?"),
    ("run sim:nvme --time 10s", "here that is --duration"),
    ("run sim:nvme --sync=dsync", "--cache direct-sync here"),
    ("run sim:nvme --fsync=1", "has --sync fsync:N for that"),
    (
        "run sim:nvme -o rare.md",
        "`stripewise report last -o rare.md` writes",
    ),
    ("convert --name=a --rw=randread", "reads a file"),
    ("convert --form fio a.fio", "did you mean --from?"),
    ("run sim:nvme --cache drect", "did you mean direct?"),
    (
        "bench sim:nvme --series randomread",
        "did you mean random-read?",
    ),
    (
        "bench sim:nvme --like crystal",
        "--help` explains every switch",
    ),
    (
        "compare dataset:mssqltips dataset:eva8100-2009-ofset",
        "did you mean dataset:",
    ),
];

#[test]
fn words_that_are_nearly_right_are_answered_with_the_right_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("results.db");
    for (line, hint) in NEARLY_RIGHT {
        let (exit, stdout, stderr) = all_of(&format!("{line} --store {}", store.to_str().unwrap()));
        assert_eq!(
            (exit, stdout.as_str()),
            (Exit::Usage, ""),
            "{line}\n{stderr}"
        );
        assert!(stderr.contains(hint), "{line}\n{stderr}");
    }
}
