//! The search on a target with a known truth: ln(share) = ln(0.01) + 8 ln(factor / truth).

use super::*;
use crate::Origin;
use stripewise_stats::{ExceedanceRun, Random, exceedance_verdict};

fn options(seed: u64, unit: f64) -> SearchOptions {
    SearchOptions {
        share: 0.01,
        run_ns: 10_000_000_000,
        confirm_ns: 120_000_000_000,
        recording_ns: 600_000_000_000,
        design: ExceedanceDesign::Independent,
        unit,
        seed,
    }
}

/// Runs the search; `lasting` is the share of the truth that the long run reaches.
fn searched(truth: f64, seed: u64, unit: f64, lasting: f64) -> Search {
    let mut search = Search::new(options(seed, unit));
    let mut random = Random::new(seed ^ 77);
    for _ in 0..500 {
        let Some(run) = search.next().cloned() else {
            break;
        };
        assert_eq!(search.next(), Some(&run), "asked twice, the same");
        let truth = match run.purpose {
            Purpose::Confirm => truth * lasting,
            _ => truth,
        };
        let operations = (500.0 * run.factor * run.length_ns as f64 / 1e9) as u64;
        let share = 0.01 * (8.0 * (run.factor / truth).ln() + 0.2 * random.normal()).exp();
        let expected = operations as f64 * share.min(1.0);
        let beyond = (expected + expected.sqrt() * random.normal()).max(0.0);
        search.completed(operations, (beyond as u64).min(operations));
    }
    assert_eq!(search.next(), None, "it ends");
    search
}

#[test]
fn the_crossing_is_covered_wherever_it_is() {
    for truth in [0.3, 1.0, 1.9, 6.0] {
        let mut covered = 0;
        for seed in 0..40 {
            let search = searched(truth, seed, 0.0, 1.0);
            let found = search.found().expect("an answer");
            assert!(!found.is_short_lived || found.high.is_some());
            let is_in = found.low.is_none_or(|low| low <= truth)
                && found.high.is_none_or(|high| truth <= high);
            covered += u32::from(is_in);
            assert!(search.runs().len() < 200);
        }
        assert!(covered >= 35, "{truth}: {covered} of 40");
    }
}

#[test]
fn what_is_never_reached_is_at_least_the_largest_factor() {
    let found = *searched(1_000.0, 1, 0.0, 1.0).found().unwrap();
    assert_eq!((found.bound, found.factor), (Bound::AtLeast, FACTORS[1]));
    let found = *searched(0.001, 1, 0.0, 1.0).found().unwrap();
    assert_eq!((found.bound, found.factor), (Bound::AtMost, FACTORS[0]));
}

#[test]
fn a_credit_that_runs_out_is_found_by_the_long_run() {
    let mut found = 0;
    for seed in 0..20 {
        let search = searched(2.0, seed, 0.0, 0.8);
        found += u32::from(search.found().unwrap().is_short_lived);
    }
    assert_eq!(found, 20);
}

#[test]
fn users_are_whole() {
    let search = searched(2.1, 3, 0.25, 1.0);
    let whole = |run: &LoadRun| (run.planned.factor * 4.0).fract().abs() < 1e-9;
    assert!(search.runs().iter().all(whole));
    // The crossing lies between eight users, who hold the limit, and nine.
    let found = search.found().unwrap();
    assert!(found.low.is_none_or(|low| low <= 2.0), "{found:?}");
    assert!(found.high.is_none_or(|high| high >= 2.0), "{found:?}");
    // Where the line crosses at 8.8 users, eight hold the limit.
    let crossing = HeadroomAnswer {
        factor: 2.2,
        low: Some(2.1),
        high: Some(2.3),
        bound: Bound::At,
        is_short_lived: false,
    };
    let found = search.in_units(crossing);
    assert_eq!(
        (found.low, found.factor, found.high),
        (Some(2.0), 2.0, Some(2.25))
    );
}

#[test]
fn users_of_whom_so_many_are_beyond_are_fewer() {
    // One of four users meets the limit, two do not.
    let found = *searched(0.4, 3, 0.25, 1.0).found().unwrap();
    assert!(found.low.is_some_and(|low| low <= 0.4), "{found:?}");
    // Even one is too many.
    let found = *searched(0.1, 3, 0.25, 1.0).found().unwrap();
    assert_eq!((found.bound, found.factor), (Bound::AtMost, 0.0));
    let open = |high| found::of_ends(None, Some(high)).unwrap();
    let search = Search::new(options(3, 0.25));
    let most = |found| search.in_units(found).factor;
    // Four were beyond; the line crosses between four and five.
    assert!((most(open(1.0)) - 0.75).abs() < 1e-9);
    assert!((most(open(1.1)) - 1.0).abs() < 1e-9);
    let short_lived = HeadroomAnswer {
        is_short_lived: true,
        ..open(1.1)
    };
    // The long run had the four that are below 4.4.
    assert!((most(short_lived) - 0.75).abs() < 1e-9);
}

#[test]
fn the_state_survives_being_stored() {
    let mut search = Search::new(options(5, 0.0));
    for k in 0..9 {
        search.completed(5_000, k * 12);
    }
    let text = serde_json::to_string(&search).unwrap();
    let mut again: Search = serde_json::from_str(&text).unwrap();
    search.completed(5_000, 50);
    again.completed(5_000, 50);
    assert_eq!(search, again);
}

#[test]
fn only_a_cap_that_is_known_to_be_a_limiters_bounds_what_was_measured() {
    let cap = |nature| KnownCap {
        unit: "IOPS".to_owned(),
        applies_to: AppliesTo::Both,
        per_s: 300.0,
        factor: 3.0,
        low: 2.9,
        high: 3.1,
        nature,
        series: String::new(),
    };
    let found = |low, high| found::of_ends(low, high).unwrap();
    let above = found(Some(3.5), Some(4.5));
    for (nature, bounds) in [
        (CapNature::BehindBurst, true),
        (CapNature::Limiter, true),
        (CapNature::Undecided, false),
    ] {
        assert_eq!(cap(nature).bounds(&above), bounds, "{nature:?}");
    }
    assert!(!cap(CapNature::Limiter).bounds(&found(Some(3.0), Some(4.5))));
    assert!(!cap(CapNature::Limiter).bounds(&found(None, Some(4.5))));
}

/// A study of a recording of 250 IOPS whose first question has this search.
fn study(search: Search, cap: Option<KnownCap>) -> Headroom {
    let options = HeadroomOptions {
        slo: "p99<5ms".parse().unwrap(),
        load: HeadroomLoad::Recorded(Box::default()),
        facts: LoadFacts {
            name: "load.csv".to_owned(),
            operations: Some(150_000),
            duration_ns: Some(600_000_000_000),
            iops: Some(250.0),
            waiting_users: None,
            waits: false,
            closedness: "no".to_owned(),
            design: ExceedanceDesign::Independent,
            timeline: None,
            cap,
        },
        run_ns: 10_000_000_000,
        confirm_ns: 120_000_000_000,
        seed: 1,
    };
    let mut study = Headroom::new(options).unwrap();
    study.questions.truncate(1);
    study.questions[0].search = search;
    study
}

#[test]
fn after_a_replay_that_was_another_load_nothing_more_is_measured() {
    let mut study = study(searched(2.0, 1, 0.0, 1.0), None);
    let mut second = study.questions[0].clone();
    second.growth = Growth::Faster;
    second.search = Search::new(options(2, 0.0));
    study.questions.push(second);
    assert!(study.is_open());
    study.fidelity = Some(FidelityRecord {
        score: 2.0,
        low: 1.8,
        high: 2.2,
        worst_feature: "runs".to_owned(),
        ..FidelityRecord::default()
    });
    assert_eq!(study.next(), NextStep::Done);
    assert!(!study.is_open() && study.time().left_ns == 0);
    let sheet = study.sheet();
    assert_eq!(sheet.verdict.unwrap().1, "No answer");
    assert!(
        !sheet.details.iter().any(|one| one.contains("Held for")),
        "{:?}",
        sheet.details
    );
}

#[test]
fn an_answer_says_for_how_long_it_was_seen_to_hold() {
    let mut study = study(searched(2.0, 1, 0.0, 1.0), None);
    let sheet = study.sheet();
    assert!(
        sheet
            .answer
            .contains("the load, the lower end held for 2 m"),
        "{}",
        sheet.answer
    );
    assert!(sheet.details.iter().any(|one| one.contains("burst credit")));
    let note = "The factor is where a line through the short runs near it crosses 1.0 %, and the interval is \
        that of the line: no single row is an end of it.";
    assert_eq!(sheet.tables[0].note, note);
    let document = HeadroomDocument::of(&study, &Origin::default());
    assert_eq!(document.more_users.unwrap().held_for_s, Some(120.0));
    assert!(!document.resumable && study.is_carried() == Some(true));
    // What was given is not proposed.
    let has = |sheet: &Sheet, text: &str| sheet.details.iter().any(|one| one.contains(text));
    assert!(has(&sheet, "(--confirm 10m looks further)"));
    // No run may have met them, and the line knows nothing of them.
    let runs = study.questions[0].search.runs().iter();
    let runs = runs.filter(|run| run.planned.purpose != Purpose::Climb);
    let all_s = runs.map(|run| run.planned.length_ns).sum::<u64>() / 1_000_000_000;
    let each = stripewise_units::format_duration(all_s / 3 * 1_000_000_000);
    assert!(has(
        &sheet,
        &format!("stalls rarer than one in {each} may be")
    ));
    study.options.confirm_ns = 600_000_000_000;
    assert!(has(&study.sheet(), "(a longer --confirm looks further)"));
}

#[test]
fn the_limit_is_of_reads_and_writes_together() {
    let mut study = study(searched(2.0, 1, 0.0, 1.0), None);
    let kind = |operations, beyond| KindBeyond { operations, beyond };
    study.questions[0].kinds = [kind(1_000, 5), kind(100, 5)];
    let words =
        "; the limit is of all operations together, and writes exceed it more often than reads";
    let answer = study.sheet().answer;
    assert!(answer.contains(words), "{answer}");
    // Where all are of one kind there is nothing to say.
    study.questions[0].kinds = [kind(1_000, 5), kind(0, 0)];
    let answer = study.sheet().answer;
    assert!(!answer.contains("together"), "{answer}");
}

#[test]
fn a_load_that_is_not_carried_at_any_factor_has_no_headroom() {
    let none = study(searched(0.001, 1, 0.0, 1.0), None);
    let sheet = none.sheet();
    let says = "More users: none, the limit is exceeded even at 0.05 times the load";
    assert!(sheet.answer.starts_with(says), "{}", sheet.answer);
    assert_eq!(sheet.verdict.unwrap().1, "The load is not carried");
    assert!(sheet.tables[0].note.starts_with("Each known end is a row:"));
    assert_eq!(none.is_carried(), Some(false));
    let is_carried = |truth| study(searched(truth, 1, 0.0, 1.0), None).is_carried();
    assert_eq!(is_carried(0.6), Some(false));
    assert_ne!(is_carried(1.0), Some(false));
}

#[test]
fn at_most_more_than_the_load_says_nothing_of_the_load_itself() {
    // A credit was spent at the lower end, far above the load.
    let study = study(searched(2.0, 1, 0.0, 0.8), None);
    assert_eq!(study.is_carried(), None);
    let sheet = study.sheet();
    let says = "Whether it carries the load as it is (1) is not known.";
    assert!(sheet.answer.ends_with(says), "{}", sheet.answer);
    assert!(sheet.verdict.is_none());
}

#[test]
fn stalls_that_are_rare_at_any_load_show_over_all_runs_together() {
    // One run of three has a tenth beyond the limit, whatever the load is.
    let run = |number: u32, block: u32| ExceedanceRun {
        factor: 1.0 - 0.01 * f64::from(number / 4),
        operations: 1_000,
        beyond: if number.is_multiple_of(3) { 100 } else { 0 },
        seconds: 10.0,
        block,
    };
    let verdict =
        |runs: Vec<ExceedanceRun>| exceedance_verdict(&found::by_block(runs.into_iter()), 0.01);
    assert_eq!(verdict((0..4).map(|one| run(one, one)).collect()), 0);
    assert_eq!(verdict((0..36).map(|one| run(one, one)).collect()), 1);
    // All of one part of the recording are one.
    assert_eq!(verdict((0..36).map(|one| run(one, one / 12)).collect()), 0);
}

/// The search where short runs have no slow operation, and long ones this many per mille.
fn quiet(share: f64, slow_per_mille: u64) -> Search {
    let mut search = Search::new(SearchOptions {
        share,
        ..options(1, 0.0)
    });
    while let Some(run) = search.next().cloned() {
        let operations = (500.0 * run.factor * run.length_ns as f64 / 1e9) as u64;
        let beyond = match run.purpose {
            Purpose::Confirm => operations * slow_per_mille / 1_000,
            Purpose::Climb | Purpose::Fit => 0,
        };
        search.completed(operations, beyond);
    }
    search
}

#[test]
fn a_load_holds_only_once_enough_was_seen_of_it() {
    let long = |search: &Search| search.of_purpose(Purpose::Confirm).count();
    // Four short runs and one long one are 160 s, and 4/160 is more than 1 %.
    let search = quiet(0.01, 0);
    assert_eq!((long(&search), search.unproven()), (3, None));
    assert_eq!(search.found().unwrap().bound, Bound::AtLeast);
    assert_eq!(search.unseen_stalls_s(), None);
    // Stalls that short runs missed: 0.8 % in ten minutes may be more another time.
    let search = quiet(0.01, 8);
    let all_ns = 5 * 120_000_000_000;
    assert_eq!((long(&search), search.found()), (5, None));
    assert_eq!(search.unproven(), Some((FACTORS[1], all_ns)));
    // Of p99.9, that would take longer than is offered.
    let rare = quiet(0.001, 0);
    assert_eq!((long(&rare), rare.found()), (1, None));
    assert_eq!(rare.unproven(), Some((FACTORS[1], 120_000_000_000)));
    let study = study(rare, None);
    let sheet = study.sheet();
    let says = "More users: undecided; 20.00 times held for 2 m, too short to exclude rare stalls.";
    assert!(sheet.answer.starts_with(says), "{}", sheet.answer);
    assert!(
        sheet
            .details
            .iter()
            .any(|one| one.contains("6 m 32 s without")),
        "{:?}",
        sheet.details
    );
}

#[test]
fn a_cap_is_the_answer_where_short_runs_spent_the_credit() {
    let cap = KnownCap {
        unit: "IOPS".to_owned(),
        applies_to: AppliesTo::Reads,
        per_s: 300.0,
        factor: 1.2,
        low: 1.19,
        high: 1.21,
        nature: CapNature::Limiter,
        series: String::new(),
    };
    let search = searched(2.0, 1, 0.0, 0.8);
    assert!(search.found().unwrap().is_short_lived);
    let study = study(search, Some(cap));
    let answer = study.answer(&study.questions[0]).unwrap();
    assert_eq!((answer.bound, answer.factor), (Bound::AtMost, 1.21));
    assert!(
        study
            .sheet()
            .answer
            .contains("at most 1.21 times the load, which is the known cap")
    );
    let findings = study.sheet().findings;
    let known = findings.iter().find(|(name, _)| name == "known cap");
    assert!(
        known
            .unwrap()
            .1
            .starts_with("300 IOPS of reads: 1.20 times")
    );
    // No row is where that comes from.
    assert_eq!(study.sheet().tables[0].note, "");
    let document = HeadroomDocument::of(&study, &Origin::default());
    assert_eq!(
        document.more_users.unwrap().limited_by.as_deref(),
        Some("cap")
    );
}

#[test]
fn what_was_interrupted_says_what_is_certain_so_far() {
    let mut search = Search::new(options(5, 0.0));
    let begun = study(search.clone(), None);
    assert_eq!(begun.sheet().answer, "More users: not begun.");
    // Far below the limit at 1, far above it at 2.
    while search.so_far().is_none() {
        let run = search.next().expect("it goes on").clone();
        let share = 0.01 * (30.0 * (run.factor / 1.5).ln()).exp();
        search.completed(5_000, (5_000.0 * share.min(1.0)) as u64);
    }
    assert!(search.next().is_some());
    let study = study(search, None);
    let document = HeadroomDocument::of(&study, &Origin::default());
    let found = document.more_users.unwrap();
    // Quiet for so short a time, the load below is not certain to hold.
    assert!(
        found.low.is_none() && found.high.unwrap() > 1.5,
        "{found:?}"
    );
    assert_eq!((document.resumable, found.held_for_s), (true, None));
    assert!(
        study.sheet().answer.contains("certain so far"),
        "{}",
        study.sheet().answer
    );
}
