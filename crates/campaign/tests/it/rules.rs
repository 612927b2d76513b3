//! What commands refuse, and the remedy that they name: functions, not processes.

use crate::support::{Desk, request};
use stripewise_campaign::baseline::{BaselineOptions, SetBaseline, remove, set};
use stripewise_campaign::check::{CheckLoad, CheckOptions, check};
use stripewise_campaign::compare::{CompareQuestion, compare};
use stripewise_campaign::run::{RunExtras, run};
use stripewise_campaign::{Context, Exit, Failure, Permissions};

const OFFSETS: &str = "dataset:oja-nisula-2007-offset";
const TABLE: &str = "dataset:mssqltips-2127";
const TARGET: &str = "sim:raid10-10k";

/// Stored repetitions of one load; returns the id of their series.
fn series(context: &Context) -> String {
    let mut store = context.open_store().expect("a store");
    let request = stripewise_workload::Request {
        repetitions: 4,
        ..request(TARGET, &[2])
    };
    let ran = run(
        context,
        &mut store,
        request,
        &Permissions::default(),
        RunExtras::default(),
    )
    .expect("runs");
    let first = ran.records.first().expect("a run");
    first.series.clone().unwrap_or_else(|| first.id.clone())
}

fn refused(failure: &Failure, assert_mentions: &[&str]) {
    assert_eq!(failure.exit, Exit::Usage, "{failure}");
    let hint = failure.hint.as_deref().expect("a hint");
    let all = format!("{failure}\n{hint}");
    for words in assert_mentions {
        assert!(all.contains(words), "{words}: {all}");
    }
}

#[test]
fn what_is_not_there_or_cannot_stand_alone_is_not_compared() {
    let desk = Desk::new();
    let context = desk.context();
    let id = &*series(&context);
    let cases: [(&str, Option<&str>, &str, &[&str]); 9] = [
        (
            "dataset:nope",
            None,
            "iops",
            &["no published table `nope`", TABLE],
        ),
        (
            TABLE,
            None,
            "iops",
            &["has no levels to compare", "`stripewise compare A B`"],
        ),
        (
            OFFSETS,
            Some("dataset:oja-nisula-2007-offset:1M"),
            "iops",
            &["no column `1M`", "31.5K, 64K"],
        ),
        (id, None, "iops", &["has no levels to compare"]),
        (TARGET, Some(id), "iops", &["is a target", "stripewise run"]),
        (
            "20200101-000000-nope",
            Some(id),
            "iops",
            &["20200101-000000-nope"],
        ),
        (
            "./nothing.json",
            Some(id),
            "iops",
            &["cannot read ./nothing.json"],
        ),
        (
            id,
            Some(id),
            "speed",
            &["`speed` is not a metric", "latency_p99"],
        ),
        (
            TABLE,
            Some(id),
            "iops",
            &["no workload in common", "measure one side again"],
        ),
    ];
    for (a, b, metric, assert_mentions) in cases {
        let question = CompareQuestion {
            a: a.to_owned(),
            others: b.map(str::to_owned).into_iter().collect(),
            metrics: vec![metric.to_owned()],
            baseline: None,
        };
        refused(&compare(&context, &question).expect_err(a), assert_mentions);
    }
    // The misprint in a table that cannot be shown alone is reported anyway.
    let event_log = desk.event_log.0.borrow();
    let misprint = "20.54 for 488.68 IOPS x 64K = 30.54";
    assert!(
        event_log
            .iter()
            .any(|event| event.to_string().contains(misprint))
    );
}

fn checked(context: &Context, options: &CheckOptions) -> Failure {
    check(context, options, &Permissions::default()).expect_err("refused")
}

fn stored(context: &Context, name: &str, id: &str) -> Result<SetBaseline, Failure> {
    let options = BaselineOptions {
        id: id.to_owned(),
        name: name.to_owned(),
        // Four short runs.
        anyway: true,
        ..BaselineOptions::default()
    };
    set(context, &options, &Permissions::default())
}

#[test]
fn a_check_needs_something_to_hold_runs_against() {
    let empty = Desk::new();
    let context = empty.context();
    let nothing = checked(&context, &CheckOptions::default());
    refused(&nothing, &["there is no baseline", "baseline set"]);
    let required = CheckOptions {
        require: vec!["iops>1".parse().expect("a requirement")],
        ..CheckOptions::default()
    };
    refused(&checked(&context, &required), &["no target is named"]);
}

#[test]
fn a_check_is_refused_before_it_runs() {
    let desk = Desk::new();
    let context = desk.context();
    let id = series(&context);
    refused(
        &stored(&context, "published", TABLE).expect_err("no baseline"),
        &["to be run again"],
    );
    let SetBaseline::Stored { replaced, .. } = stored(&context, "baseline", &id).expect("kept")
    else {
        panic!("nothing was repeated");
    };
    assert!(replaced.is_none());
    let options = |change: fn(&mut CheckOptions)| {
        let mut options = CheckOptions {
            repeat: Some(2),
            ..CheckOptions::default()
        };
        change(&mut options);
        options
    };
    let cases: [(CheckOptions, &str); 5] = [
        (
            options(|options_for| options_for.baseline = Some("nope".to_owned())),
            "no baseline `nope`",
        ),
        (
            options(|options_for| {
                options_for.load = CheckLoad {
                    block_size_bytes: Some(65_536),
                    ..CheckLoad::default()
                };
            }),
            "--baseline none",
        ),
        (
            options(|options_for| options_for.tolerate = Some(-1.0)),
            "--tolerate -1",
        ),
        (
            options(|options_for| {
                options_for.target = Some(TARGET.to_owned());
                options_for.baseline = Some("none".to_owned());
            }),
            "there is no baseline",
        ),
        (
            options(|options_for| {
                options_for.target = Some(TARGET.to_owned());
                options_for.baseline = Some("none".to_owned());
                options_for.require = vec!["web iops>1".parse().expect("a requirement")];
            }),
            "no such job",
        ),
    ];
    for (options_for, assert_mentions) in &cases {
        refused(&checked(&context, options_for), &[assert_mentions]);
    }
    refused(
        &remove(&context, "nope").expect_err("not there"),
        &["no baseline `nope`"],
    );
    for name in ["second", "third"] {
        stored(&context, name, &id).expect("kept");
    }
    remove(&context, "baseline").expect("removed");
    refused(
        &checked(&context, &CheckOptions::default()),
        &["several baselines", "second", "third"],
    );
}
