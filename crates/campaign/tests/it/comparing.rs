//! What is compared with what, and the conclusions: published tables, repetitions,
//! single runs, files.

use crate::support::{Desk, run_in, series_of, with};
use std::sync::OnceLock;
use stripewise_campaign::compare::{CompareQuestion, Comparison, compare};
use stripewise_campaign::{Context, Exit, Failure};
use stripewise_report::{compared_line, comparison_sheet, html, sheet_text};
use stripewise_results::{ComparisonRecord, ComparisonRow, Verdict};
use stripewise_workload::{Request, Workload};

const OFFSETS: &str = "dataset:oja-nisula-2007-offset";
const UNITS: &str = "dataset:oja-nisula-2007-allocation-unit";
const MISALIGNED: &str = "sim:raid10-10k?offset=63s";
const ALIGNED: &str = "sim:raid10-10k?offset=64K";

/// Random reads for a second with these numbers of threads.
fn reads(target: &str, threads: &[u32], outstanding: u32, repetitions: u32) -> Request {
    let load = |threads: &u32| Workload {
        threads: *threads,
        outstanding,
        duration_ns: 1_000_000_000,
        ..Workload::default()
    };
    Request {
        repetitions,
        ..with(target, threads.iter().map(load))
    }
}

fn options_for(a: &str, others: &[&str]) -> CompareQuestion {
    CompareQuestion {
        a: a.to_owned(),
        others: others.iter().map(|&other| other.to_owned()).collect(),
        ..CompareQuestion::default()
    }
}

#[track_caller]
fn compared(context: &Context, question: &CompareQuestion, exit: Exit) -> Vec<ComparisonRecord> {
    let comparison: Comparison = compare(context, question).expect("a comparison");
    assert_eq!(comparison.exit(), exit);
    comparison.records
}

#[track_caller]
fn refused(context: &Context, question: &CompareQuestion) -> Failure {
    let failure = compare(context, question).expect_err("a refusal");
    assert_eq!(failure.exit, Exit::Usage, "{failure}");
    failure
}

/// As on a terminal without colours.
fn shown(records: &[ComparisonRecord]) -> String {
    sheet_text(&comparison_sheet(records, &[], true), 100)
}

/// Two series on a misaligned and on an aligned array, and a third with other seeds.
struct StudyResult {
    store: Vec<u8>,
    misaligned: String,
    aligned: String,
    again: String,
}

/// Made once: each test uses a copy.
fn repeated() -> &'static StudyResult {
    static REPEATED: OnceLock<StudyResult> = OnceLock::new();
    REPEATED.get_or_init(|| {
        let desk = Desk::new();
        let context = desk.context();
        let stored = |request: Request| series_of(&run_in(&context, request));
        let [misaligned, aligned] =
            [MISALIGNED, ALIGNED].map(|target| stored(reads(target, &[1, 8], 4, 6)));
        let mut other = reads(ALIGNED, &[1, 8], 4, 6);
        for job in &mut other.jobs {
            job.workload.seed = 99;
        }
        let again = stored(other);
        StudyResult {
            store: desk.into_store(),
            misaligned,
            aligned,
            again,
        }
    })
}

#[test]
fn all_seventy_two_published_iops_differences_come_out_as_printed() {
    let desk = Desk::new();
    let mut rows = 0;
    for table in [OFFSETS, UNITS] {
        for record in compared(&desk.context(), &options_for(table, &[]), Exit::Done) {
            for row in &record.rows {
                let printed = row.published_difference_percent.expect("a printed number");
                assert_eq!(
                    format!("{:.2}", row.difference_percent),
                    format!("{printed:.2}")
                );
                assert_eq!(row.verdict, Verdict::Undecided);
                assert!(row.interval_percent.is_none());
                rows += u32::from(row.metric == "iops");
            }
        }
    }
    assert_eq!(rows, 72);
}

#[test]
fn five_offsets_are_held_against_the_first_or_the_one_that_is_named() {
    let desk = Desk::new();
    let context = desk.context();
    let against = |level: Option<&str>| CompareQuestion {
        baseline: level.map(str::to_owned),
        ..options_for("dataset:eva8100-2009-offset", &[])
    };
    for (level, a, others) in [
        (None, "31.5K", ["64K", "128K", "1M", "2M"]),
        (Some("1M"), "1M", ["31.5K", "64K", "128K", "2M"]),
    ] {
        let records = compared(&context, &against(level), Exit::Done);
        assert!(records.iter().all(|record| record.rows.len() == 12));
        let names = (records.iter()).map(|record| (&*record.a.name, &*record.b.name));
        let names: Vec<(&str, &str)> = names.collect();
        assert_eq!(names, others.map(|other| (a, other)));
    }
    let failure = refused(&context, &against(Some("3M")));
    let hint = failure.hint.as_deref().expect("a hint");
    let message = format!("{failure}\n{hint}");
    for words in ["has no level `3M`", "31.5K, 64K, 128K, 1M, 2M"] {
        assert!(message.contains(words), "{words}: {message}");
    }
}

#[test]
fn repetitions_find_what_is_there_and_nothing_else() {
    let stored = repeated();
    let desk = Desk::with_store(&stored.store);
    let context = desk.context();
    let records = compared(
        &context,
        &options_for(&stored.misaligned, &[&stored.aligned]),
        Exit::Finding,
    );
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].verdict, Verdict::Better);
    assert_eq!(records[0].rows.len(), 2);
    for row in &records[0].rows {
        assert_eq!((row.verdict, row.blocks), (Verdict::Better, 6));
        assert!(row.interval_percent.expect("an interval")[0] > 0.0);
    }
    let notes = records[0].notes.join("\n");
    for side in ["offset: 31.5K on ", ", 64K on "] {
        assert!(notes.contains(side), "{notes}");
    }
    assert_eq!(records[0].a.from.len(), 12);

    let backwards = options_for(&stored.aligned, &[&stored.misaligned]);
    let backwards = compared(&context, &backwards, Exit::Finding);
    assert_eq!(backwards[0].verdict, Verdict::Worse);

    let same = compared(
        &context,
        &options_for(&stored.aligned, &[&stored.again]),
        Exit::Done,
    );
    assert_eq!(same[0].verdict, Verdict::NoDifference);
    assert!(same[0].sentences[0].contains(": no difference in IOPS larger than "));
}

#[test]
fn latencies_can_be_compared_and_less_is_better() {
    let stored = repeated();
    let desk = Desk::with_store(&stored.store);
    for name in ["latency_mean", "latency_ns_mean", "mean"] {
        let question = CompareQuestion {
            metrics: vec![name.to_owned()],
            ..options_for(&stored.misaligned, &[&stored.aligned])
        };
        let records = compared(&desk.context(), &question, Exit::Finding);
        let of_eight = |row: &&ComparisonRow| row.threads == Some(8);
        let row = records[0].rows.iter().find(of_eight).expect("a row");
        assert_eq!(row.metric, "latency_ns_mean");
        assert_eq!(row.verdict, Verdict::Better);
        assert!(row.difference_percent < 0.0);
    }
}

#[test]
fn a_published_table_against_ones_own_claims_nothing() {
    let stored = repeated();
    let desk = Desk::with_store(&stored.store);
    let context = desk.context();
    // A table for each of its columns, and one for a named column.
    let of_all = compared(
        &context,
        &options_for(OFFSETS, &[&stored.aligned]),
        Exit::Done,
    );
    assert_eq!(of_all.len(), 2);
    let column = options_for("dataset:oja-nisula-2007-offset:64K", &[&stored.aligned]);
    let one = compared(&context, &column, Exit::Done);
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].rows[0].a, 589.11);
    assert!(one[0].rows[0].interval_percent.is_none());
    let notes = one[0].notes.join("\n");
    for words in [
        "Only in dataset:oja-nisula-2007-offset:64K: 34 of 36 cells (",
        "78.46",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn several_are_compared_by_label_and_by_several_metrics() {
    let desk = Desk::new();
    let context = desk.context();
    for (label, target) in [
        ("aligned", "sim:raid10-10k?offset=1M"),
        ("63 sectors", MISALIGNED),
        ("half", "sim:raid10-10k?offset=32K"),
    ] {
        run_in(
            &context,
            Request {
                label: Some(label.to_owned()),
                ..reads(target, &[1], 16, 6)
            },
        );
    }
    let question = |others: &[&str], metrics: &[&str]| CompareQuestion {
        metrics: metrics.iter().map(|&name| name.to_owned()).collect(),
        ..options_for("aligned", others)
    };
    let both = question(&["63 sectors", "half"], &["iops", "latency_p99"]);
    let records = compared(&context, &both, Exit::Finding);
    let message = records.iter().map(|record| {
        let metric = &*record.rows[0].metric;
        (&*record.a.name, &*record.b.name, metric)
    });
    let expected = [
        ("aligned", "63 sectors", "iops"),
        ("aligned", "63 sectors", "latency_ns_p99"),
        ("aligned", "half", "iops"),
        ("aligned", "half", "latency_ns_p99"),
    ];
    assert_eq!(message.collect::<Vec<_>>(), expected);
    assert_eq!(records[0].rows[0].verdict, Verdict::Worse);
    let text = shown(&records);
    // All of them side by side first, then each pair with its interval.
    let heading = text.find("IOPS of each against aligned\n").expect(&text);
    // The findings first, each sentence with its subject; then all side by side.
    let found = text.find("half: no difference in p99 latency larger than ");
    assert!(found.expect(&text) < heading, "{text}");
    let mut rows = text[heading..].lines();
    let row = rows.find(|line| line.contains("63 sectors"));
    let row = row.expect(&text);
    assert!(row.contains("..") && row.ends_with("worse"), "{row}");
    let is_narrow = |line: &str| line.chars().count() <= 100;
    assert!(text.lines().all(is_narrow), "{text}");
    // An unused label is a usage error.
    let nothing = refused(&context, &question(&["nothing"], &[]));
    assert!(nothing.to_string().contains("nothing"), "{nothing}");
    let typed = refused(&context, &question(&["halv"], &[]));
    let hint = typed.hint.as_deref().expect("a hint");
    assert!(hint.contains("did you mean the label `half`?"), "{hint}");
    let speed = refused(&context, &question(&["half"], &["iops", "speed"]));
    assert!(
        speed.to_string().contains("`speed` is not a metric"),
        "{speed}"
    );
}

#[test]
fn two_runs_under_other_loads_are_told_to_be_so() {
    let desk = Desk::new();
    let context = desk.context();
    for threads in [2, 4] {
        run_in(&context, crate::support::request("sim:nvme", &[threads]));
    }
    let records = compared(&context, &options_for("last~1", &["last"]), Exit::Done);
    let notes = records[0].notes.join("\n");
    assert!(notes.contains("the loads differ"), "{notes}");
}

#[test]
fn single_runs_have_a_difference_and_nobody_can_say_more() {
    let desk = Desk::new();
    let context = desk.context();
    for target in [MISALIGNED, ALIGNED] {
        run_in(&context, reads(target, &[8], 1, 1));
    }
    let records = compared(&context, &options_for("last~1", &["last"]), Exit::Done);
    let text = shown(&records);
    assert!(
        text.contains("One run on each side: this may be chance."),
        "{text}"
    );
    assert!(!text.contains("estimate"), "{text}");
    // In a line, too: which sides, and how much of a difference it is that may be chance.
    let line = compared_line(&records);
    for words in [
        &*records[0].a.name,
        &*records[0].b.name,
        "Undecided: ",
        " IOPS (no interval: too few runs)",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
    // What to do about it is in the whole answer.
    assert!(
        line.lines().count() == 1 && !line.contains("Repeat both"),
        "{line}"
    );
}

#[test]
fn page_one_says_by_how_much_two_labelled_sides_differ() {
    let desk = Desk::new();
    let context = desk.context();
    let of = |target: &str, label: &str, seconds: u64, repetitions: u32| {
        let mut request = reads(target, &[1], 1, repetitions);
        request.jobs[0].workload.duration_ns = seconds * 1_000_000_000;
        request.label = Some(label.to_owned());
        run_in(&context, request).remove(0)
    };
    let before = of(MISALIGNED, "before", 5, 6).series.expect("a series");
    let after = of(ALIGNED, "after", 5, 6).series.expect("a series");
    let single = |label: &str| of("sim:raid10-10k", label, 1, 1).id;
    let (one, other) = (single("before"), single("after"));
    let lead = |a: &str, b: &str| {
        let comparison = compare(&context, &options_for(a, &[b])).expect("a comparison");
        let (text, exit) = (shown(&comparison.records), comparison.exit());
        let page = html(&comparison.material());
        let lead = page.lines().find(|line| line.contains("class=\"lead\""));
        let lead = lead.expect("a lead").to_owned();
        (text, exit, page, lead)
    };
    let (text, exit, page, words) = lead(&before, &after);
    assert_eq!(exit, Exit::Finding);
    assert!(text.starts_with("IOPS of after against before\n"), "{text}");
    assert!(page.contains("<h1>after against before</h1>"));
    assert!(
        words.contains("\u{a0}% more IOPS (95\u{a0}% interval "),
        "{words}"
    );
    let (_, exit, _, words) = lead(&one, &other);
    assert_eq!(exit, Exit::Done);
    for part in ["Undecided:</span> ", "(no interval: too few runs)"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // Equal labels distinguish nothing.
    let third = single("before");
    let (text, _, _, _) = lead(&one, &third);
    assert!(text.contains(&format!("{third} against {one}")), "{text}");
}
