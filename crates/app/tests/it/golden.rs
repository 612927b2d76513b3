//! What users read, whole: exit code, stdout and stderr of commands, each as one text
//! beside its command line. Ids and the folder of the test are masked.

use crate::support::{Desk, text};

/// Runs a command and holds all that came of it against what stands here.
#[track_caller]
fn golden(desk: &Desk, arguments: &[&str], expected: &str) {
    let answer = desk.run(arguments);
    let code = answer
        .code
        .map_or("none".to_owned(), |code| code.to_string());
    let mut seen = format!("exit {code}\n");
    for (stream, words) in [("stdout", &answer.stdout), ("stderr", &answer.stderr)] {
        if !words.is_empty() {
            seen.push_str(&format!("--- {stream}\n{}", masked(desk, words)));
        }
    }
    assert!(
        seen.trim_end() == expected.trim(),
        "{arguments:?}: expected\n{}\nbut saw\n{seen}",
        expected.trim()
    );
}

/// `20261123-191743-tc7w` is `[ID]`, and the folder is `[DESK]`.
fn masked(desk: &Desk, words: &str) -> String {
    let words = words.replace(text(desk.path()), "[DESK]");
    let mut masked = String::new();
    let mut rest = words.as_str();
    while let Some(sign) = rest.chars().next() {
        let length = match id_length(rest) {
            Some(length) => {
                masked.push_str("[ID]");
                length
            }
            None => {
                masked.push(sign);
                sign.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    masked
}

/// Eight digits, six digits, four signs.
fn id_length(text: &str) -> Option<usize> {
    let id = text.get(..20)?;
    let mut parts = id.split('-');
    let has = |part: Option<&str>, length: usize, is: fn(&u8) -> bool| {
        part.is_some_and(|part| part.len() == length && part.as_bytes().iter().all(is))
    };
    let fits = has(parts.next(), 8, u8::is_ascii_digit)
        && has(parts.next(), 6, u8::is_ascii_digit)
        && has(parts.next(), 4, u8::is_ascii_alphanumeric);
    fits.then_some(id.len())
}

#[test]
fn a_run_prints_its_table_what_to_know_and_where_it_is_kept() {
    let run = ["run", "sim:raid10-10k", "--outstanding", "16"];
    golden(
        &Desk::new(),
        &[&run[..], &["--duration", "5s"]].concat(),
        r"
exit 0
--- stdout
Workload     Block  Thr  Out  IOPS  MiB/s     Mean      p50     p99     p99.9     Max
-------------------------------------------------------------------------------------
random read     8K    1   16   753    5.9  21.1 ms  13.2 ms  116 ms  n<10,000  244 ms

job: 3,765 operations, 29.4 MiB in 5 s; 15.9 outstanding on average; simulated
note[few-for-p999]: p99.9 is not shown: it needs 10,000 operations, there were 3,765 reads
--explain shows what to do about each.
Kept as [ID]; `stripewise history show [ID]` shows it again.
",
    );
}

#[test]
fn a_requirement_that_is_missed_is_named_below_the_table() {
    let run = ["run", "sim:raid10-10k", "--read-percent", "70"];
    golden(
        &Desk::new(),
        &[&run[..], &["--duration", "5s", "--require", "p99<5ms"]].concat(),
        r"
exit 1
--- stdout
Workload                  Block  Thr  Out  IOPS  MiB/s     Mean      p50      p99     p99.9      Max
----------------------------------------------------------------------------------------------------
random 70 % read: reads      8K    1    1  94.4    0.7  6.55 ms  6.57 ms  11.9 ms  n<10,000  12.5 ms
random 70 % read: writes     8K    1    1  41.2    0.3  9.24 ms  9.23 ms  13.0 ms  n<10,000  13.3 ms
random 70 % read: both       8K    1    1   136    1.1

job: 678 operations, 5.3 MiB in 5 s; 1.0 outstanding on average; simulated
MISSED: p99<5ms: 11.9 ms (random 70 % read, 8K, 1 thread of 1; one run)
note[few-operations]: 678 operations: p99 rests on fewer than ten of them
--explain shows what to do about each.
Kept as [ID]; `stripewise history show [ID]` shows it again.
",
    );
}

#[test]
fn labels_are_compared_side_by_side_and_pair_by_pair() {
    let desk = Desk::new();
    for offset in ["63s", "1M"] {
        let array = format!("sim:raid10-10k?offset={offset}");
        let run = ["run", &array, "--outstanding", "16", "--duration", "5s"];
        let how = ["--repeat", "6", "--label", offset, "-q"];
        desk.run(&[&run[..], &how].concat()).done();
    }
    golden(
        &desk,
        &["compare", "1M", "63s"],
        r"
exit 1
--- stdout
IOPS of 63s against 1M

Operation  Pattern  Block  Threads  Out      1M     63s  diff %  estimate % (95 %, n 6)  Verdict
------------------------------------------------------------------------------------------------
read       random      8K        1   16  742.20  680.00   -8.38  -8.35 (-9.82..-7.22)    worse

Average difference, random read, IOPS: -8.38 % over 1 row.
63s: 8.35 % (7.22 to 9.82 %) fewer IOPS (random read, 8K, 1 thread of 16): worse.
note: also different: offset: 1M on A, 31.5K on B.
note: also different: target: sim:raid10-10k?offset=1M on A, sim:raid10-10k?offset=63s on B.
note: All runs of B were made before those of A: whatever else changed in between is part of the
  difference.
",
    );
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let desk = Desk::new();
    for (arguments, expected) in [
        (
            &["history"][..],
            r"
exit 5
--- stderr
error: there is no store at [DESK]/results.db
hint: check the name given with --store FILE; `stripewise run TARGET` with it makes a store there
",
        ),
        (
            &["run", "nowhere"],
            r"
exit 3
--- stderr
error: nowhere: does not exist
hint: Give a directory to have a test file made in it; `stripewise prepare PATH` makes one that stays.
",
        ),
        (
            &["run", "sim:nvme", "--block", "0"],
            r"
exit 2
--- stderr
error: --block 0 is outside of 512 bytes to 64 MiB
hint: 8K is what most databases read and write
",
        ),
        (
            &["run", "sim:nvme", "--duration", "x"],
            r"
exit 2
--- stderr
error: invalid value 'x' for '--duration <TIME>': `x` is not a time
hint: a time is a number with ns, us, ms, s, m (minutes) or h; seconds without: 10s, 1.5s, 500ms, 20us, 2m, 1h, 1m30s
",
        ),
        (
            &["bench", "sim:nvme", "--thread", "4"],
            r"
exit 2
--- stderr
error: unexpected argument '--thread' found

Usage: stripewise bench --read-only <TARGET>
hint: did you mean --threads? use `stripewise run`: it has --threads, `stripewise bench` does not
",
        ),
    ] {
        golden(&desk, arguments, expected);
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_what_can() {
    let desk = Desk::new();
    // With a store that has a run.
    desk.run(&["run", "sim:nvme", "--duration", "1ms", "-q"])
        .done();
    for (arguments, expected) in [
        (
            &["check"][..],
            r"
exit 2
--- stderr
error: there is no baseline to compare with
hint: keep one first: `stripewise run ... --repeat 6`, then `stripewise baseline set ID`; or state what is required: --require 'read_iops>=20000'
",
        ),
        (
            &["align", "sim:nvme", "--engine", "null"],
            r"
exit 2
--- stderr
error: --engine null measures no storage, and offsets mean nothing to it
hint: leave it out, or name uring or threads
",
        ),
        (
            &["partition", "/dev/null", "--align", "1M"],
            r"
exit 3
--- stderr
error: /dev/null: is not a block device
hint: `lsblk` lists them; an image becomes one with `losetup --find --show FILE`.
",
        ),
        (
            &["lab", "plans"],
            r"
exit 0
--- stdout
No experiment is kept yet; `stripewise align TARGET` or `stripewise lab run PLAN.toml` makes one.
",
        ),
        (
            &["wrong"],
            r"
exit 2
--- stderr
error: unrecognized subcommand 'wrong'

Usage: stripewise [OPTIONS] <COMMAND>
hint: `stripewise --help` lists the commands
",
        ),
    ] {
        golden(&desk, arguments, expected);
    }
}
