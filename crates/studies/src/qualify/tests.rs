//! The study on made-up records: what it asks for next, when it ends, and what it says.

use super::*;
use crate::Origin;
use crate::product::bundled;
use stripewise_results::{
    DueRecord, DueSecondRecord, EngineFacts, JobOutcome, JobRecord, KindOutcome, Severity,
    TargetFacts, Warning,
};
use stripewise_stats::Histogram;
use stripewise_units::Hint;

const ONE: &str = r#"
name = "one"
about = "a test"
[[file]]
name = "log"
size = "64M"
state = "growing"
[[job]]
name = "log"
file = "log"
options = { write = true, sequential = true, block = "2300", cache = "buffered", sync = "fdatasync" }
[[requirement]]
name = "p99"
job = "log"
operations = "syncs"
metric = "p99"
below = "10ms"
miss = "it is slow"
"#;

fn options(design: QualifyDesign) -> QualifyOptions {
    QualifyOptions {
        design,
        placement: Placement::default(),
        processors: 4,
        seed: 1,
        ends_at_miss: false,
    }
}

fn study(text: &str, design: QualifyDesign) -> Qualify {
    Qualify::new(text, options(design)).expect("the product is sound")
}

/// Latency of operations in a piece: `bad` of 100 a second take ten times as long as others.
#[derive(Clone, Copy)]
struct Disk {
    usual_ns: u64,
    bad: u64,
}

const GOOD: Disk = Disk {
    usual_ns: 2_000_000,
    bad: 0,
};
const BAD: Disk = Disk {
    usual_ns: 2_000_000,
    bad: 5,
};

fn record(run: &Run, disk: Disk, status: Status) -> RunRecord {
    let job = |(index, job): (usize, &PlacedJob)| {
        let thresholds_ns = run.counting[index].thresholds_ns.clone();
        let slow_ns = 10 * disk.usual_ns;
        let beyond = |threshold: &u64| match *threshold {
            limit if limit < disk.usual_ns => 100,
            limit if limit < slow_ns => disk.bad,
            _ => 0,
        };
        let second = DueSecondRecord {
            due: 100,
            beyond: thresholds_ns.iter().map(beyond).collect(),
            latency_ns_sum: (100 - disk.bad) * disk.usual_ns + disk.bad * slow_ns,
        };
        let seconds = job.workload.duration_ns / SECOND_NS;
        let mut histogram = Histogram::default();
        histogram.record_n(disk.usual_ns, seconds * (100 - disk.bad));
        histogram.record_n(slow_ns, seconds * disk.bad);
        let kind = KindOutcome {
            operations: 100 * seconds,
            histogram: Some(histogram),
            ..KindOutcome::default()
        };
        let counted = (!thresholds_ns.is_empty()).then(|| DueRecord {
            thresholds_ns,
            seconds: vec![second; seconds as usize],
            own_lags: 0,
        });
        JobRecord {
            name: job.name.clone(),
            target: TargetFacts::unknown(),
            further_targets: Vec::new(),
            workload: job.workload.clone(),
            engine: EngineFacts::default(),
            outcome: JobOutcome {
                duration_ns: seconds * SECOND_NS,
                sync: Some(kind.clone()),
                write: kind,
                due: counted,
                ..JobOutcome::default()
            },
            warnings: Vec::new(),
        }
    };
    RunRecord {
        status,
        jobs: run.jobs.iter().enumerate().map(job).collect(),
        ..RunRecord::empty()
    }
}

/// Goes on to the end; how many runs and rests there were.
fn drive(study: &mut Qualify, disk: Disk) -> (u32, u32) {
    let (mut runs, mut rests) = (0, 0);
    loop {
        assert!(runs < 1_000, "it never ends");
        assert_eq!(study.next(), study.next(), "asked again it is the same");
        match study.next() {
            NextStep::Run(run) => {
                runs += 1;
                assert!(run.length_ns() <= (PIECE_S + 1) * SECOND_NS);
                study.completed(run.id, &record(&run, disk, Status::Complete));
            }
            NextStep::Rest { length_ns, .. } => {
                rests += 1;
                assert!(length_ns < 240 * SECOND_NS);
                study.rested();
            }
            NextStep::Done => return (runs, rests),
        }
    }
}

#[test]
fn what_was_stopped_says_so_first() {
    let mut study = study(ONE, QualifyDesign::Usual);
    for status in [Status::Complete, Status::Partial] {
        let NextStep::Run(run) = study.next() else {
            panic!("a piece comes next");
        };
        study.completed(run.id, &record(&run, GOOD, status));
    }
    let stopped = "stopped after 2 m of at most 30 m of measuring";
    let (_, words) = study.sheet().verdict.expect("there is one");
    assert_eq!(words, format!("S{}, undecided so far", &stopped[1..]));
    assert_eq!(study.sheet().answer, "1 of 1 requirement");
    let line = study.line();
    assert!(
        line.starts_with(&format!("one: {stopped}, undecided so far (")),
        "{line}"
    );
    let origin = Origin::default();
    assert_eq!(QualifyDocument::of(&study, &origin).warnings[0], stopped);
    drive(&mut study, GOOD);
    assert_eq!(study.stopped(), None);
    assert!(study.line().starts_with("one: met ("), "{}", study.line());
}

#[test]
fn a_quiet_disk_is_met_at_minute_20_and_a_bad_one_missed_at_minute_3() {
    let mut good = study(ONE, QualifyDesign::Usual);
    assert_eq!(drive(&mut good, GOOD), (20, 0));
    assert_eq!((good.verdict(), good.seconds()), (Verdict::Met, 1_200));
    let judged = &good.judgements()[0];
    assert!((judged.measured.unwrap() - 2.0).abs() < 0.01, "{judged:?}");
    assert!(judged.high.unwrap() < 3.0, "{judged:?}");
    assert!(judged.low.unwrap() < 2.0, "{judged:?}");
    assert_eq!(good.time().left_ns, 0);

    let mut bad = study(ONE, QualifyDesign::Usual);
    assert_eq!(drive(&mut bad, BAD), (3, 0));
    assert_eq!(bad.verdict(), Verdict::Missed);
    let judged = &bad.judgements()[0];
    assert!((judged.measured.unwrap() - 20.0).abs() < 0.1, "{judged:?}");
    let details = bad.sheet().details;
    assert!(details[0].contains("it is slow"), "{details:?}");
}

#[test]
fn five_minutes_never_say_met_and_a_verdict_to_sign_rests_between() {
    let mut quick = study(ONE, QualifyDesign::Quick);
    assert_eq!(drive(&mut quick, GOOD), (5, 0));
    assert_eq!(quick.verdict(), Verdict::Undecided);
    assert!(!quick.is_open());
    let mut quick = study(ONE, QualifyDesign::Quick);
    drive(&mut quick, BAD);
    assert_eq!(quick.verdict(), Verdict::Missed);
    let mut signed = study(ONE, QualifyDesign::Signed);
    assert_eq!(drive(&mut signed, GOOD), (20, 20));
    assert_eq!(signed.verdict(), Verdict::Met);
}

#[test]
fn what_was_interrupted_goes_on_from_its_stored_state() {
    let mut first = study(ONE, QualifyDesign::Usual);
    for _ in 0..4 {
        let NextStep::Run(run) = first.next() else {
            panic!("it is not over");
        };
        first.completed(run.id, &record(&run, GOOD, Status::Complete));
    }
    let NextStep::Run(run) = first.next() else {
        panic!("it is not over");
    };
    let mut cut = record(&run, GOOD, Status::Partial);
    cut.jobs[0].outcome.duration_ns = 7 * SECOND_NS + SECOND_NS / 2;
    first.completed(run.id, &cut);
    assert_eq!(
        (first.seconds(), first.verdict()),
        (247, Verdict::Undecided)
    );
    let stored = first.to_json().expect("plain fields");
    let mut second = Qualify::from_json(&stored).expect("it was stored");
    assert_eq!(second.next(), first.next());
    assert!(second.is_open());
    drive(&mut second, GOOD);
    assert_eq!((second.seconds(), second.verdict()), (1_200, Verdict::Met));
    assert!(Qualify::from_json("{}").is_err());
}

#[test]
fn void_pieces_are_left_out_and_too_many_void_the_requirement() {
    let void = |run: &Run| {
        let mut record = record(run, GOOD, Status::Complete);
        record.jobs[0].warnings.push(Warning {
            code: "few-operations".to_owned(),
            severity: Severity::Void,
            message: "nothing completed".to_owned(),
            short: String::new(),
            hint: Hint::plain(""),
        });
        record
    };
    let mut study = study(ONE, QualifyDesign::Usual);
    let mut runs = 0;
    while let NextStep::Run(run) = study.next() {
        runs += 1;
        study.completed(run.id, &void(&run));
        assert!(runs < 10);
    }
    assert_eq!((runs, study.verdict()), (3, Verdict::Void));
    assert!(study.judgements()[0].reason.contains("few-operations"));
    // A state that the study made itself does not void anything.
    let mut study = self::study(ONE, QualifyDesign::Usual);
    if let NextStep::Run(run) = study.next() {
        let mut record = void(&run);
        record.jobs[0].warnings[0].code = "sparse-file".to_owned();
        study.completed(run.id, &record);
    }
    assert_eq!(study.seconds(), 60);
}

#[test]
fn on_one_target_files_lie_behind_each_other_in_whole_pages() {
    let placement = Placement {
        is_one_target: true,
        sector_bytes: 4_096,
        reads_only: false,
    };
    let product = bundled("etcd").expect("it is bundled");
    let (wal, _) = placement.place(&product, 0);
    let (backend, target) = placement.place(&product, 1);
    assert_eq!((wal.block_size_bytes, wal.base_offset_bytes), (4_096, 0));
    assert_eq!((backend.base_offset_bytes, target), (1 << 30, 0));
    assert_eq!(wal.cache, stripewise_workload::CacheMode::Direct);
    assert_eq!(Placement::size_bytes(&product), (1 << 30) + (256 << 20));
}

#[test]
fn a_target_that_is_only_read_judges_reads_alone() {
    let (_, text) = crate::product::BUNDLED
        .iter()
        .find(|(name, _)| *name == "gitaly")
        .expect("it is bundled");
    let options = QualifyOptions {
        placement: Placement {
            is_one_target: true,
            sector_bytes: 4_096,
            reads_only: true,
        },
        ..options(QualifyDesign::Usual)
    };
    let mut study = Qualify::new(text, options).expect("it is bundled");
    assert!(study.loads().iter().all(|job| !job.workload.writes()));
    drive(&mut study, GOOD);
    // 100 reads a second are not 8,000; the writes were not measured.
    let verdicts: Vec<Verdict> = study.judgements().iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Missed, Verdict::Undecided]);
}

#[test]
fn every_bundled_product_comes_to_an_end() {
    for (name, text) in crate::product::BUNDLED {
        let mut study = study(text, QualifyDesign::Usual);
        let (runs, _) = drive(&mut study, GOOD);
        assert!(runs > 0, "{name}");
        let phases = study.product().phases().len() as u64;
        assert!(study.seconds() <= 1_800, "{name}: {} s", study.seconds());
        assert!(u64::from(runs) <= 30 * phases, "{name}: {runs} runs");
        for judged in study.judgements() {
            assert_ne!(judged.verdict, Verdict::Void, "{name}: {judged:?}");
        }
        let document = QualifyDocument::of(&study, &Origin::default());
        assert_eq!(
            document.requirements.len(),
            study.product().requirements.len()
        );
        assert!(!study.line().is_empty() && !study.plan().is_empty());
    }
}

#[test]
fn what_the_load_itself_rules_out_is_refused() {
    let held = |requirement: &str, rate: u32| {
        let text = ONE
            .replace(
                "sync = \"fdatasync\"",
                &format!("sync = \"fdatasync\", rate = {rate}"),
            )
            .replace("metric = \"p99\"\nbelow = \"10ms\"", requirement);
        Qualify::new(&text, options(QualifyDesign::Usual)).map(|_| ())
    };
    let rate = "metric = \"iops\"\nat-least = 5000";
    assert_eq!(held(rate, 5_000), Ok(()));
    let refused = held(rate, 2_000).unwrap_err().to_string();
    let says = "p99 requires at least 5,000 IOPS of job log, which is held to 2,000 IOPS";
    assert!(refused.contains(says), "{refused}");
    let each = format!("{rate}\nper-processor = true");
    assert_eq!(held(&each, 20_000), Ok(()));
    assert!(held(&each, 19_999).is_err());
    assert!(held("metric = \"mib-per-s\"\nat-least = 5", 2_000).is_err());
}

#[test]
fn what_has_no_limit_says_so_once() {
    let text = ONE.replace("below = \"10ms\"\n", "");
    let mut open = study(&text, QualifyDesign::Usual);
    drive(&mut open, GOOD);
    assert_eq!(open.verdict(), Verdict::NotJudged);
    let answer = open.sheet().answer;
    let says = "one has no limit to meet or miss; the table has what 5 m of measuring showed";
    assert_eq!(answer, says);
    let line = open.line();
    assert!(line.starts_with("one: not judged (p99 2.00 ms"), "{line}");
    assert_eq!(line.matches("not judged").count(), 1, "{line}");
}

#[test]
fn limits_per_processor_are_multiplied_and_a_maximum_is_never_plainly_met() {
    let text = |name: &str| {
        let all = crate::product::BUNDLED.iter();
        all.clone()
            .find(|(known, _)| *known == name)
            .map_or("", |one| one.1)
    };
    let study = study(text("cockroachdb"), QualifyDesign::Usual);
    assert_eq!(study.limit_value(&study.product().requirements[0]), 2_000.0);
    let mut study = self::study(text("exchange"), QualifyDesign::Usual);
    drive(&mut study, GOOD);
    let maximum = &study.judgements()[1];
    assert_eq!(maximum.verdict, Verdict::Met);
    assert!(maximum.reason.contains("more cannot be said of a maximum"));
    let details = study.sheet().details.join("\n");
    assert!(details.contains("so it is rarer than once in"), "{details}");
}

/// A disk that misses, in pieces of which `held` have a warning about the processor.
fn missed_beside(text: &str, code: &str, held: u32) -> Judgement {
    let mut study = study(text, QualifyDesign::Usual);
    let mut pieces = 0;
    while let NextStep::Run(run) = study.next() {
        let mut record = record(&run, BAD, Status::Complete);
        if pieces < held {
            record.jobs[0].warnings.push(Warning {
                code: code.to_owned(),
                severity: Severity::Warning,
                message: String::new(),
                short: "a quota of 0.10 processors".to_owned(),
                hint: Hint::default(),
            });
        }
        study.completed(run.id, &record);
        pieces += 1;
    }
    study.judgements()[0].clone()
}

#[test]
fn what_the_processor_held_back_is_not_missed_by_the_disk() {
    let rate = ONE
        .replace("p99\"\nbelow = \"10ms\"", "iops\"\nat-least = \"500\"")
        .replace("operations = \"syncs\"\n", "");
    for (text, code, held, verdict) in [
        (ONE, "cpu-quota", 0, Verdict::Missed),
        (ONE, "cpu-quota", u32::MAX, Verdict::Void),
        (ONE, "cpu-bound", u32::MAX, Verdict::Missed),
        (&rate, "cpu-bound", u32::MAX, Verdict::Void),
        // One minute of ten is too little to blame.
        (&rate, "cpu-quota", 1, Verdict::Missed),
    ] {
        let judged = missed_beside(text, code, held);
        assert_eq!(judged.verdict, verdict, "{code} {held}: {}", judged.reason);
        if verdict == Verdict::Void {
            for words in ["held the program back", "a quota of 0.10 processors"] {
                assert!(judged.reason.contains(words), "{}", judged.reason);
            }
        }
    }
}

/// A warning says of which load it is and in how many of its minutes, and has its name; that
/// one minute has few operations is said of none.
#[test]
fn warnings_of_minutes_name_their_load() {
    let mut study = study(ONE, QualifyDesign::Quick);
    while let NextStep::Run(run) = study.next() {
        let mut record = record(&run, GOOD, Status::Complete);
        let of = |code: &str, severity| Warning {
            code: code.to_owned(),
            severity,
            message: "as it is".to_owned(),
            short: String::new(),
            hint: Hint::default(),
        };
        record.jobs[0].warnings = vec![
            of("other-load", Severity::Warning),
            of("few-for-p999", Severity::Note),
        ];
        study.completed(run.id, &record);
    }
    let cautions = study.sheet().cautions;
    let found = cautions.iter().filter(|one| !one.code.is_empty());
    let found: Vec<(&str, &str)> = found.map(|one| (&*one.code, &*one.of)).collect();
    let job = &study.product().jobs[0].name;
    let of = format!("in 5 minutes of load {job}");
    assert_eq!(found, [("other-load", of.as_str())], "{cautions:?}");
}

#[test]
fn the_reason_of_a_rate_names_what_is_required() {
    let (_, text) = crate::product::BUNDLED
        .iter()
        .find(|(name, _)| *name == "tikv")
        .expect("it is bundled");
    let mut tikv = study(text, QualifyDesign::Usual);
    drive(&mut tikv, GOOD);
    assert_eq!(
        tikv.judgements()[0].reason,
        "over 10 m the mean is 100 IOPS (100 IOPS to 100 IOPS), and at least 40,000 IOPS are \
         required"
    );
    let document = QualifyDocument::of(&tikv, &Origin::default());
    let relation = serde_json::to_value(&document.requirements[0]).expect("plain fields");
    assert_eq!(relation["relation"], "at-least");
}
