//! What users read, whole: exit code, stdout and stderr of commands, each as one text
//! beside its command line. Ids, days and the folder of the test are masked.

mod answers;
mod refusals;

use crate::support::{Desk, text};

/// The words of a command, and all that comes of it.
type Case = (&'static [&'static str], &'static str);

/// Runs commands one after the other.
#[track_caller]
fn all_golden(desk: &Desk, cases: &[Case]) {
    for (arguments, expected) in cases {
        golden(desk, arguments, expected);
    }
}

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

/// `20261123-191743-tc7w` is `[ID]`, its end after `history show` and its like is `[END]`, `2026-11-23` is
/// `[DATE]`, `19:17 UTC` is `[TIME]`, and the folder is `[DESK]`.
fn masked(desk: &Desk, words: &str) -> String {
    let words = words.replace(text(desk.path()), "[DESK]");
    // Every desk names its store.
    let words = words.replace("Store  --store [DESK]/results.db\n", "");
    let mut masked = String::new();
    let mut rest = words.as_str();
    while let Some(sign) = rest.chars().next() {
        let is_inside = masked.ends_with(|before: char| before.is_ascii_digit());
        let before = ["history show ", "lab resume ", "stripewise report "];
        let is_end =
            before.iter().any(|words| masked.ends_with(words)) && !rest.starts_with("last");
        let (word, length) = match (id_length(rest), day_length(rest)) {
            (Some(length), _) => ("[ID]", length),
            (None, Some(length)) if !is_inside => ("[DATE]", length),
            _ if is_end && matches!(rest.get(4..5), Some(" " | "\n")) => ("[END]", 4),
            _ if !is_inside && is_time(rest) => ("[TIME]", 9),
            _ => (&rest[..sign.len_utf8()], sign.len_utf8()),
        };
        masked.push_str(word);
        rest = &rest[length..];
    }
    // Around midnight.
    masked.replace("[DATE] [TIME] to [DATE] [TIME]", "[DATE] [TIME]")
}

/// `19:17 UTC`.
fn is_time(text: &str) -> bool {
    text.get(2..3) == Some(":") && text.get(5..9) == Some(" UTC")
}

/// `2026-11-23`.
fn day_length(text: &str) -> Option<usize> {
    let day = text.get(..10)?;
    let is_dash = |at: usize| at == 4 || at == 7;
    let fits = day
        .bytes()
        .enumerate()
        .all(|(at, byte)| is_dash(at) == (byte == b'-') && (is_dash(at) || byte.is_ascii_digit()));
    fits.then_some(day.len())
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
sim:raid10-10k  559.4 GiB, simulated array, direct, 5 s, [DATE] [TIME]

Workload     Block  In flight  IOPS  MiB/s     Mean      p50     p99     p99.9     Max
random read     8K         16   753    5.9  21.1 ms  13.2 ms  116 ms  n<10,000  244 ms

job: 3,765 operations, 29.4 MiB in 5 s; 15.9 in flight on average; simulated

Read with care
  - no p99.9: 3,765 reads are too few  [few-for-p999]

Again  stripewise history show [END]  (--explain)
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
sim:raid10-10k  559.4 GiB, simulated array, direct, 5 s, [DATE] [TIME]

Requirement missed
  MISSED: p99<5ms: 11.9 ms (random 70 % read, 8K, 1 thread of 1; one run)

Workload                 Block In flight IOPS MiB/s    Mean     p50     p99    p99.9     Max
random 70 % read: reads     8K         1 94.4   0.7 6.55 ms 6.57 ms 11.9 ms n<10,000 12.5 ms
random 70 % read: writes    8K         1 41.2   0.3 9.24 ms 9.23 ms 13.0 ms n<10,000 13.3 ms
random 70 % read: both      8K         1  136   1.1

job: 678 operations, 5.3 MiB in 5 s; 1.0 in flight on average; simulated

Read with care
  - only 678 operations completed  [few-operations]

Again  stripewise history show [END]  (--explain)
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

Worse: 8.35 % fewer IOPS (95 % interval 7.22 to 9.82 %)

I/O   Pattern  Block  Threads  QD      1M     63s  diff %  estimate % (95 %, n 6)  Verdict
read  random      8K        1  16  742.20  680.00   -8.38  -8.35 (-9.82..-7.22)    worse

note: also different: offset: 1M on 1M, 31.5K on 63s.
note: also different: target: sim:raid10-10k?offset=1M on 1M, sim:raid10-10k?offset=63s on 63s.
note: All runs of 63s were made before those of 1M: whatever else changed in between is part of
  the difference.
",
    );
}
