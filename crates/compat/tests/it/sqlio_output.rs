//! Results of SQLIO: read, kept as records, printed again.

use stripewise_compat::sqlio::report_of;
use stripewise_compat::{Format, ImportedFile, import};
use stripewise_results::{JobRow, RunRecord, Status};

pub const PLAIN: &str = include_str!("../data/sqlio-plain.txt");
pub const GROW: &str = include_str!("../data/sqlio-grow.txt");
pub const ONE_THREAD: &str = include_str!("../data/sqlio-one-thread.txt");
pub const SEVERAL: &str = include_str!("../data/sqlio-several-files.txt");
pub const BATCH: &str = include_str!("../data/sqlio-batch-log.txt");

fn read(text: &str) -> ImportedFile {
    import(text.as_bytes(), "results.txt").unwrap_or_else(|error| panic!("{error}"))
}

/// The record as it comes back from the store.
fn retained(record: &RunRecord) -> RunRecord {
    let json = serde_json::to_string(record).unwrap();
    let back: RunRecord = serde_json::from_str(&json).unwrap();
    assert_eq!(&back, record);
    back
}

fn printed(record: &RunRecord) -> String {
    report_of(&retained(record)).unwrap().to_string()
}

#[test]
fn a_result_is_printed_back_byte_for_byte_from_its_record() {
    for text in [PLAIN, GROW, ONE_THREAD, SEVERAL] {
        let file = read(text);
        assert_eq!((file.format, file.runs.len()), (Format::Sqlio, 1));
        let silent = |note: &stripewise_compat::Note| note.message.contains("do not mention");
        assert!(file.notes.iter().all(silent), "{:?}", file.notes);
        assert_eq!(printed(&file.runs[0]), text);
    }
}

#[test]
fn lost_white_space_other_line_ends_and_encodings_change_nothing() {
    let wide = |text: &str, little: bool| -> Vec<u8> {
        let mark: u16 = 0xfeff;
        let numbers = std::iter::once(mark).chain(text.encode_utf16());
        let bytes = |number: u16| {
            if little {
                number.to_le_bytes()
            } else {
                number.to_be_bytes()
            }
        };
        numbers.flat_map(bytes).collect()
    };
    let squeezed: String = PLAIN
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
        .collect();
    let spread = PLAIN.replace(' ', "\u{a0} ").replace('\n', "\n\n");
    let windows = PLAIN.replace('\n', "\r\n");
    let variants = [
        squeezed.into_bytes(),
        spread.into_bytes(),
        windows.clone().into_bytes(),
        wide(&windows, true),
        wide(&windows, false),
        ["\u{feff}", &windows].concat().into_bytes(),
    ];
    let expected = read(PLAIN).runs.remove(0);
    for bytes in variants {
        let file = import(&bytes, "results.txt").unwrap();
        assert_eq!(
            file.runs[0].id, expected.id,
            "the same result has the same id"
        );
        assert_eq!(printed(&file.runs[0]), PLAIN);
    }
}

#[test]
fn many_results_in_a_log_keep_their_command_lines() {
    let file = read(BATCH);
    let expected = [
        (PLAIN, "sqlio -kR -s60"),
        (GROW, "sqlio -kW -s10"),
        (ONE_THREAD, "sqlio -dL -BH"),
    ];
    assert_eq!(file.runs.len(), expected.len());
    for (run, (text, command)) in file.runs.iter().zip(expected) {
        assert_eq!(printed(run), text);
        assert!(
            run.command.join(" ").starts_with(command),
            "{:?}",
            run.command
        );
    }
    let line = |run: &RunRecord| run.imported.as_ref().unwrap().line.unwrap();
    let nth = |text: &str| BATCH.lines().position(|line| line == text).unwrap() as u64 + 1;
    assert_eq!(line(&file.runs[0]), nth("sqlio v1.5.SG"));
    assert!(
        file.notes
            .iter()
            .any(|note| note.message.contains("timeout"))
    );
}

#[test]
fn a_record_has_what_the_result_says_and_nothing_else() {
    let file = read(PLAIN);
    let row = JobRow {
        run: &file.runs[0],
        job: &file.runs[0].jobs[0],
    };
    assert_eq!((row.iops(), row.mib_per_s()), (Some(1543.27), Some(12.05)));
    assert_eq!(row.operation().as_deref(), Some("read"));
    assert_eq!(
        (row.pattern(), row.block_size_bytes()),
        (Some("random"), Some(8192))
    );
    assert_eq!((row.threads(), row.outstanding()), (Some(16), Some(4)));
    assert_eq!(row.latency("mean"), Some(40e6));
    assert_eq!(row.latency("max"), Some(611e6));
    for percentile in ["p50", "p90", "p99", "p999"] {
        assert_eq!(row.latency(percentile), None, "{percentile}");
    }
    assert_eq!((row.operations(), row.duration_ns()), (None, None));
    assert_eq!(
        (row.run.started_at.as_str(), row.offset_bytes()),
        ("", None)
    );
    let json = serde_json::to_value(&file.runs[0]).unwrap();
    assert!(json["jobs"][0]["workload"].get("seed").is_none());
    assert!(json.get("host").is_none() && json["jobs"][0].get("warnings").is_none());
    // No -L, no latencies.
    let file = read(GROW);
    let job = &file.runs[0].jobs[0];
    let row = JobRow {
        run: &file.runs[0],
        job,
    };
    assert_eq!(row.latency("mean"), None);
    assert_eq!(row.outstanding(), Some(1), "without -o every thread waits");
    assert_eq!(job.target.size_bytes, 200 << 20);
}

#[test]
fn copies_of_a_result_are_one_result_in_one_file_and_in_several() {
    let file = read(&[PLAIN, GROW, PLAIN, PLAIN].concat());
    assert_eq!(file.runs.len(), 2);
    assert_eq!(file.runs[0].id, read(PLAIN).runs[0].id);
    let note = &file.notes.last().unwrap().message;
    assert!(note.starts_with("2 results are copies"), "{note}");
    let longer = read(&[PLAIN, GROW].concat());
    assert_eq!(
        longer.runs[0].id, file.runs[0].id,
        "more behind it changes nothing"
    );
}

#[test]
fn lines_that_cannot_be_read_are_named_and_nothing_is_taken() {
    let line_of = |text: &str, begin: &str| {
        let at = text
            .lines()
            .position(|line| line.trim_start().starts_with(begin));
        at.unwrap_or_else(|| panic!("no {begin}")) as u64 + 1
    };
    let cases = [
        ("IOs/sec:  1543.27", "IOs/sec: n/a", "IOs/sec:", "no number"),
        (
            "Avg_Latency(ms): 40",
            "Avg_Latency(ms): -4",
            "Avg_Latency",
            "whole number",
        ),
        (
            "Min_Latency(ms): 1\n",
            "",
            "sqlio v1.5",
            "only some of its latencies",
        ),
        ("%:  0", "%: 101", "%:", "25 whole percents"),
        (
            "16 threads reading",
            "many threads reading",
            "many threads",
            "N threads reading",
        ),
        ("IOs/sec:  1543.27\n", "", "sqlio v1.5", "no `IOs/sec:`"),
        (
            "with 4 outstanding",
            "with x outstanding",
            "enabling",
            "outstanding",
        ),
        ("16 threads", "66000 threads", "sqlio v1.5", "66000 threads"),
        ("8192 MB", "eight MB", "using current size", "N MB for file"),
    ];
    for (from, to, at, reason) in cases {
        assert!(PLAIN.contains(from), "{from}");
        let broken = PLAIN.replacen(from, to, 1);
        let text = [ONE_THREAD, &broken, GROW].concat();
        let error = import(text.as_bytes(), "results.txt").unwrap_err();
        let problem = &error.lines()[0];
        let expected = ONE_THREAD.lines().count() as u64 + line_of(&broken, at);
        assert_eq!(problem.line, expected, "{to}: {error}");
        assert!(problem.reason.contains(reason), "{error}");
        assert!(error.to_string().contains(&format!("line {expected}")));
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn unknown_lines_inside_of_a_result_are_kept() {
    let text = PLAIN.replace(
        "initialization done\n",
        "initialization done\nsomething new: 7\n",
    );
    let file = read(&text);
    assert!(file.notes[0].message.contains("something new: 7"));
    assert!(printed(&file.runs[0]).contains("something new: 7\n"));
}

#[test]
fn what_nobody_wrote_is_refused() {
    for text in ["", "hello\nworld\n", "<html><body>sqlio</body></html>"] {
        let error = import(text.as_bytes(), "x.txt").unwrap_err();
        assert!(!error.hint().is_empty(), "{text}");
    }
}

#[test]
fn a_result_that_contradicts_itself_is_refused_with_what_contradicts_it() {
    let cases = [
        (
            "MBs/sec:    12.05",
            "MBs/sec:   999.99",
            "reports MBs/sec: 999.99",
        ),
        // Cut off in the middle of a number.
        ("MBs/sec:    12.05", "MBs/sec:    1", "are 12.05"),
        ("MBs/sec:    12.05", "MBs/sec:    12.0", "are 12.05"),
        (
            "Min_Latency(ms): 1\n",
            "Min_Latency(ms): 500\n",
            "not in order",
        ),
        ("Max_Latency(ms): 611", "Max_Latency(ms): 6", "not in order"),
        ("16 threads reading", "0 threads reading", "0 threads"),
        ("using 8KB", "using 0KB", "0 KB"),
        ("2 57\n", "2  7\n", "add up to 49"),
    ];
    for (from, to, reason) in cases {
        assert!(PLAIN.contains(from), "{from}");
        let broken = PLAIN.replacen(from, to, 1);
        let error = import(broken.as_bytes(), "results.txt").unwrap_err();
        assert_eq!(error.lines()[0].line, 1, "{to}: {error}");
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
    // Two hundredths are what cutting, rounding and lost zeros make.
    for rate in ["12.05", "12.06", "12.03"] {
        read(&PLAIN.replace("12.05", rate));
    }
}

#[test]
fn latencies_and_the_histogram_of_a_result_must_agree() {
    let with = |name: &str, ms: &str| {
        let line = PLAIN.lines().find(|line| line.starts_with(name)).unwrap();
        PLAIN.replace(line, &format!("{name} {ms}"))
    };
    let bins = |shares: &[(usize, u32)]| {
        let line = PLAIN.lines().find(|line| line.starts_with("%:")).unwrap();
        let mut all = [0; 25];
        for (bin, share) in shares {
            all[*bin] = *share;
        }
        let all: Vec<String> = all.iter().map(|share| format!("{share:2}")).collect();
        PLAIN.replace(line, &format!("%: {}", all.join(" ")))
    };
    for (text, expected_text) in [
        (
            with("Max_Latency(ms):", "9").replace(": 40", ": 4"),
            "Max_Latency(ms): 9",
        ),
        (with("Min_Latency(ms):", "30"), "Min_Latency(ms): 30"),
        (with("Avg_Latency(ms):", "4"), "Avg_Latency(ms): 4"),
        (bins(&[(0, 100)]), "Avg_Latency(ms): 40"),
    ] {
        let error = import(text.as_bytes(), "x").unwrap_err().to_string();
        assert!(
            error.contains(expected_text) && error.contains("histogram"),
            "{error}"
        );
    }
}

#[test]
fn a_result_that_announces_latencies_has_all_of_them_wherever_it_was_cut() {
    let end = PLAIN.trim_end().len();
    let whole = PLAIN.find("MBs/sec").unwrap();
    for length in whole..end {
        let cut = &PLAIN[..length];
        let refused = import(cut.as_bytes(), "results.txt");
        // A last share that lost a digit is still seen by the sum of all.
        assert!(
            refused.is_err(),
            "taken as complete: ...{:?}",
            &cut[whole..]
        );
    }
    // Without -L nothing announces them.
    let end = GROW.trim_end().len();
    assert_eq!(read(&GROW[..end]).runs.len(), 1);
    assert!(import(&GROW.as_bytes()[..end - 1], "results.txt").is_err());
}

#[test]
fn a_result_without_any_operation_is_kept_as_partial_and_noted() {
    let text = GROW.replace("903.50", "0.00").replace("56.46", "0.00");
    let file = read(&text);
    assert_eq!(file.runs[0].status, Status::Partial);
    assert!(file.notes[0].message.contains("no operation completed"));
}
