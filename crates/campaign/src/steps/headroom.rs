//! What is asked of `headroom`, its answer as the store keeps it, and the comparison of two.

use super::measured::json_of_file;
use super::resumable_answer::{ResumableAnswer, ResumableDocument, json_of_series};
use super::resuming::refuse_differing;
use super::subject::unlike;
use serde::{Deserialize, Serialize};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{Judgement, Sheet, format_factor, sheet_line};
use stripewise_stats::Slo;
use stripewise_studies::Origin;
use stripewise_studies::headroom::{
    Bound, GrowthDocument, HEADROOM_SCHEMA_VERSION, Headroom, HeadroomDocument,
};
use stripewise_units::{ByteSize, Nanoseconds, format_count};
use stripewise_workload::Workload;

/// Kind of its documents in the store.
pub const KIND: &str = "headroom";

/// The request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadroomRequest {
    /// As typed.
    pub target: String,
    /// A trace, a model, or the name of a profile.
    pub load: String,
    /// Columns of a trace of an unknown format.
    pub columns: Option<String>,
    /// The latency limit.
    pub slo: Slo,
    /// Rate of a profile in IOPS.
    pub rate: Option<f64>,
    /// Length of a run, unless it follows from the recording.
    pub run_ns: Option<u64>,
    /// Length of the confirming run.
    pub confirm_ns: u64,
    /// Size of the test file.
    pub size_bytes: Option<u64>,
    /// The engine.
    pub engine: String,
    /// Cache mode, data and seed.
    pub base: Workload,
    /// Label stored with the runs.
    pub label: Option<String>,
    /// The interrupted headroom to resume.
    #[serde(skip)]
    pub resume: Option<String>,
}

impl Default for HeadroomRequest {
    fn default() -> HeadroomRequest {
        HeadroomRequest {
            target: String::new(),
            load: String::new(),
            columns: None,
            slo: Slo::default(),
            rate: None,
            run_ns: None,
            confirm_ns: 120_000_000_000,
            size_bytes: None,
            engine: "auto".to_owned(),
            base: Workload {
                seed: 1,
                ..Workload::default()
            },
            label: None,
            resume: None,
        }
    }
}

impl HeadroomRequest {
    /// Refuses options that are others than before.
    ///
    /// # Errors
    /// Where one is another.
    pub fn refuse_differing(&self, before: &HeadroomRequest) -> Outcome<()> {
        let texts = |one: &HeadroomRequest| {
            // As they were typed: rounded, two of them may look the same.
            let duration = |ns: Option<u64>| ns.map(|ns| Nanoseconds(ns).to_string());
            vec![
                ("the target", Some(one.target.clone())),
                ("--load", Some(one.load.clone())),
                ("--columns", one.columns.clone()),
                ("--slo", Some(one.slo.to_string())),
                ("--rate", one.rate.map(|rate| rate.to_string())),
                ("--run", duration(one.run_ns)),
                ("--confirm", duration(Some(one.confirm_ns))),
                (
                    "--size",
                    one.size_bytes.map(|bytes| ByteSize(bytes).to_string()),
                ),
                ("--cache", Some(one.base.cache.to_string())),
                ("--engine", Some(one.engine.clone())),
                ("--seed", Some(one.base.seed.to_string())),
                ("--label", one.label.clone()),
            ]
        };
        refuse_differing(texts(before), texts(self))
    }
}

/// An answer of `headroom` in the store.
pub type StoredHeadroom = ResumableAnswer<HeadroomDocument>;

impl ResumableDocument for HeadroomDocument {
    type Study = Headroom;
    type Request = HeadroomRequest;
    const KIND: &'static str = KIND;

    fn origin(&self) -> Origin<'_> {
        Origin {
            id: &self.id,
            target: &self.target,
            started_at: &self.started_at,
            host: &self.host,
        }
    }

    fn is_open(study: &Headroom) -> bool {
        study.is_open()
    }

    fn sheet(&self, study: Option<&Headroom>) -> Sheet {
        let sheet = match study {
            Some(study) => stripewise_studies::Study::sheet(study),
            None => answers(self),
        };
        Sheet {
            subtitle: format!("on {}", self.target),
            ..sheet
        }
    }

    fn line(&self, sheet: &Sheet) -> String {
        let limit = match self.slo.parse::<Slo>() {
            Ok(slo) => slo.describe(),
            Err(_) => self.slo.clone(),
        };
        format!("{} at {limit}: {}", self.target, sheet_line(sheet))
    }

    fn csv(&self) -> String {
        let mut text = String::from("growth,factor,purpose,operations,beyond\n");
        for run in &self.runs {
            text.push_str(&format!(
                "{},{},{},{},{}\n",
                run.growth.name(),
                run.factor,
                run.purpose,
                run.operations,
                run.beyond
            ));
        }
        text
    }
}

/// The sheet from the document alone.
fn answers(document: &HeadroomDocument) -> Sheet {
    let mut findings = vec![
        ("load".to_owned(), document.load.name.clone()),
        ("limit".to_owned(), document.slo.clone()),
    ];
    for (name, growth) in [
        ("more users", &document.more_users),
        ("the same users, faster", &document.faster),
    ] {
        let Some(growth) = growth else { continue };
        let [low, high] = [growth.low, growth.high].map(|end| end.map(format_factor));
        let text = match (low, high) {
            (Some(low), Some(high)) => {
                format!("{} ({low}-{high})", format_factor(growth.factor))
            }
            (Some(low), None) => format!("at least {low}"),
            (None, Some(high)) => format!("at most {high}"),
            (None, None) => "open".to_owned(),
        };
        let ends = match growth.is_short_lived {
            true => ", for a short time",
            false => "",
        };
        findings.push((name.to_owned(), format!("{text} times the load{ends}")));
    }
    let refused = document.refused.as_ref();
    Sheet {
        title: format!("Headroom of {}", document.load.name),
        answer: refused.map_or_else(String::new, |why| why.clone()),
        verdict: refused.map(|_| (Judgement::Open, "No answer".to_owned())),
        findings,
        notes: vec![
            "An earlier version stored it, without what its tables and pictures show.".to_owned(),
        ],
        ..Sheet::default()
    }
}

/// Two headrooms of one load: B against A.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HeadroomComparison {
    /// Of this document.
    pub schema_version: u32,
    /// The reference.
    pub a: HeadroomSide,
    /// What is held against it.
    pub b: HeadroomSide,
    /// The load of both.
    pub load: String,
    /// The limit of both.
    pub slo: String,
    /// A row for each way to grow that both have.
    pub rows: Vec<ComparedGrowth>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HeadroomSide {
    /// The series.
    pub id: String,
    /// As typed.
    pub target: String,
}

/// What B carries of what A does.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ComparedGrowth {
    /// `more users`, `the same users, faster` or `users who wait`.
    pub growth: String,
    /// Factor of A, or users; an open answer's known end.
    pub a: f64,
    /// Of B.
    pub b: f64,
    /// B carries so many times what A does; null where an answer is open.
    pub times: Option<f64>,
    /// Lower end of the 95 % interval; null where nothing bounds it.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether `a` is known, or one end of it.
    pub a_bound: Bound,
    /// Of B.
    pub b_bound: Bound,
}

/// A factor with its interval.
#[derive(Clone, Copy)]
struct Answer {
    factor: f64,
    low: Option<f64>,
    high: Option<f64>,
    bound: Bound,
}

impl Answer {
    /// Open ends are left out.
    fn new(factor: f64, [low, high]: [Option<f64>; 2], bound: Bound) -> Answer {
        Answer {
            factor,
            low: low.filter(|_| bound != Bound::AtMost),
            high: high.filter(|_| bound != Bound::AtLeast),
            bound,
        }
    }

    fn of(growth: &GrowthDocument) -> Answer {
        Answer::new(growth.factor, [growth.low, growth.high], growth.bound)
    }
}

/// Compares two headrooms, by their ids in the store or as files from `--json`. `None`
/// if neither is one.
///
/// # Errors
/// If only one of them is a headroom, or they have different loads or limits.
pub fn compare_headrooms(
    context: &Context,
    a: &str,
    b: &str,
) -> Outcome<Option<HeadroomComparison>> {
    // Files can be compared without a store.
    let there = context.store_is_there()?;
    let store = there
        .then(|| context.open_store_to_read())
        .and_then(Result::ok);
    let read = |name: &str| -> Outcome<Option<HeadroomDocument>> {
        let stored = store
            .as_ref()
            .map(|store| json_of_series(store, KIND, name))
            .transpose()?;
        let json = stored.flatten().or_else(|| json_of_file(name));
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    };
    match (read(a)?, read(b)?) {
        (None, None) => Ok(None),
        (Some(a), Some(b)) => compared(&a, &b).map(Some),
        (one, _) => {
            let (headroom, other) = if one.is_some() { (a, b) } else { (b, a) };
            Err(unlike(
                context,
                other,
                format!("{headroom} is a headroom, and {other} is not"),
                "name two, by the series that `headroom` printed or as files of --json",
            ))
        }
    }
}

fn compared(a: &HeadroomDocument, b: &HeadroomDocument) -> Outcome<HeadroomComparison> {
    if a.load != b.load || a.slo != b.slo {
        return Err(Failure::usage(
            format!(
                "{} is of {} until {}, {} of {} until {}",
                a.id, a.load.name, a.slo, b.id, b.load.name, b.slo
            ),
            "find the headroom of one load on both targets, with one --slo",
        ));
    }
    if let Some(refused) = [a, b].into_iter().find(|one| one.refused.is_some()) {
        return Err(Failure::usage(
            format!("{} has no answer", refused.id),
            "`stripewise history show` says why; find it again",
        ));
    }
    let grown = |name: &str, of: fn(&HeadroomDocument) -> Option<Answer>| {
        let (a, b) = of(a).zip(of(b))?;
        Some(row(name, a, b))
    };
    let rows = [
        grown("more users", |one| one.more_users.as_ref().map(Answer::of)),
        grown("the same users, faster", |one| {
            one.faster.as_ref().map(Answer::of)
        }),
        grown("users who wait", |one| {
            let closed = one.closed.as_ref()?;
            let ends = [closed.low, closed.high];
            Some(Answer::new(closed.users?, ends, closed.bound?))
        }),
    ];
    let side = |one: &HeadroomDocument| HeadroomSide {
        id: one.id.clone(),
        target: one.target.clone(),
    };
    Ok(HeadroomComparison {
        schema_version: HEADROOM_SCHEMA_VERSION,
        a: side(a),
        b: side(b),
        load: a.load.name.clone(),
        slo: a.slo.clone(),
        rows: rows.into_iter().flatten().collect(),
    })
}

/// The ratio of two independent answers: distances to the ends add up as squares, on the
/// logarithmic scale on which they were found. For open answers, only the ends are divided.
fn row(growth: &str, a: Answer, b: Answer) -> ComparedGrowth {
    let ends = |one: Answer| one.low.zip(one.high);
    let (times, low, high) = match (ends(a), ends(b)) {
        (Some((a_low, a_high)), Some((b_low, b_high))) => {
            let times = b.factor / a.factor;
            let down = (b.factor / b_low).ln().hypot((a_high / a.factor).ln());
            let up = (b_high / b.factor).ln().hypot((a.factor / a_low).ln());
            let low = times * (-down).exp();
            (Some(times), Some(low), Some(times * up.exp()))
        }
        _ => {
            let ratio = |b: Option<f64>, a: Option<f64>| {
                let both = b.zip(a).filter(|(b, a)| *a > 0.0 && *b > 0.0);
                both.map(|(b, a)| b / a)
            };
            (None, ratio(b.low, a.high), ratio(b.high, a.low))
        }
    };
    ComparedGrowth {
        growth: growth.to_owned(),
        a: a.factor,
        b: b.factor,
        times,
        low,
        high,
        a_bound: a.bound,
        b_bound: b.bound,
    }
}

/// `2.63`; of what two decimals cannot tell from nothing `1/2,000`.
fn format_ratio(ratio: f64) -> String {
    match ratio < 0.01 {
        true => format!("1/{}", format_count((1.0 / ratio).round() as u64)),
        false => format_factor(ratio),
    }
}

impl HeadroomComparison {
    /// Text for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!("{} until {}\n", self.load, self.slo);
        for (letter, side) in [("A", &self.a), ("B", &self.b)] {
            text += &format!("{letter}  {} on {}\n", side.id, side.target);
        }
        if self.rows.is_empty() {
            text += "They have no answer in common.\n";
        }
        for row in &self.rows {
            text += &format!("  {}: {}\n", row.growth, row.sentence());
        }
        text
    }
}

impl ComparedGrowth {
    fn sentence(&self) -> String {
        let is_different = self.low > Some(1.0) || self.high.is_some_and(|high| high < 1.0);
        let ends = [self.times, self.low, self.high];
        match ends.map(|end| end.map(format_ratio)) {
            [Some(times), Some(low), Some(high)] => {
                let word = match is_different {
                    false => "; not told apart",
                    true => "",
                };
                format!("B carries {times} times ({low}-{high}) what A does{word}")
            }
            [_, Some(low), None] => format!("B carries at least {low} times what A does"),
            [_, None, Some(high)] => format!("B carries at most {high} times what A does"),
            [_, Some(low), Some(high)] => format!("B carries {low} to {high} times what A does"),
            [_, None, None] => {
                let side = |factor: f64, bound: Bound| {
                    let word = match bound {
                        Bound::At => "about",
                        Bound::AtLeast => "at least",
                        Bound::AtMost => "at most",
                    };
                    format!("{word} {}", format_factor(factor))
                };
                format!(
                    "cannot be compared: A carries {}, B {}",
                    side(self.a, self.a_bound),
                    side(self.b, self.b_bound)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(low: Option<f64>, factor: f64, high: Option<f64>) -> Answer {
        let bound = match (low, high) {
            (Some(_), None) => Bound::AtLeast,
            (None, _) => Bound::AtMost,
            _ => Bound::At,
        };
        Answer::new(factor, [low, high], bound)
    }

    #[test]
    fn a_ratio_has_the_errors_of_both() {
        let (a, b) = (
            answer(Some(1.9), 2.0, Some(2.1)),
            answer(Some(5.0), 6.0, Some(7.0)),
        );
        let found = row("more users", a, b);
        assert_eq!(found.times, Some(3.0));
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        // Wider than B's own interval over 2, but narrower than the ends divided.
        assert!(low < 2.5 && low > 5.0 / 2.1, "{low}");
        assert!(high > 3.5 && high < 7.0 / 1.9, "{high}");
        assert!(found.sentence().starts_with("B carries 3.00 times"));
        let same = row("more users", a, a);
        assert!(same.sentence().ends_with("not told apart"));
    }

    #[test]
    fn one_that_was_stored_without_its_study_says_its_answers() {
        let json = r#"{"schema_version": 1, "id": "20261126-0200-abcd", "target": "/data",
            "load": {"name": "oltp", "operations": null, "duration_s": null, "iops": null},
            "slo": "p99 < 1ms", "more_users": {"factor": 2.0, "low": 1.9, "high": 2.1,
            "bound": "at", "limited_by": "reads", "is_short_lived": false}, "faster": null, "closed": null,
            "fidelity": null, "closedness": "no", "refused": null, "runs": []}"#;
        let old = StoredHeadroom::of_stored(json).unwrap();
        let sheet = old.sheet();
        assert_eq!(sheet.title, "Headroom of oltp");
        let text = "2.00 (1.90-2.10) times the load";
        assert!(
            sheet
                .findings
                .contains(&("more users".to_owned(), text.to_owned()))
        );
        assert!(sheet.notes[0].contains("earlier version"));
        // Of another format.
        let other = json.replacen('{', r#"{"study": {"options": 1}, "#, 1);
        assert_eq!(StoredHeadroom::of_stored(&other).unwrap().study, None);
    }

    #[test]
    fn what_is_asked_otherwise_is_named_with_both_values() {
        let before = HeadroomRequest {
            load: "load.csv".to_owned(),
            ..HeadroomRequest::default()
        };
        let stored = serde_json::to_string(&before).expect("plain fields");
        let again: HeadroomRequest = serde_json::from_str(&stored).expect("the same");
        assert!(again.refuse_differing(&before).is_ok());
        let other = HeadroomRequest {
            slo: "p99<9ms".parse().expect("a limit"),
            size_bytes: Some(1 << 30),
            confirm_ns: before.confirm_ns + 1_000_000,
            // Goes on with the one that was asked.
            resume: Some("id".to_owned()),
            ..again
        };
        let refused = other.refuse_differing(&before).expect_err("three options");
        assert_eq!(
            refused.error.to_string(),
            "it cannot go on with different options: --slo was p99<5ms and is p99<9ms; \
             --confirm was 2m and is 120.001s; --size was not given and is 1G"
        );
    }

    #[test]
    fn an_open_answer_gives_one_end() {
        let (a, b) = (
            answer(Some(1.9), 2.0, Some(2.0)),
            answer(Some(20.0), 20.0, None),
        );
        let found = row("faster", a, b);
        assert_eq!(
            (found.times, found.low, found.high),
            (None, Some(10.0), None)
        );
        assert_eq!(
            found.sentence(),
            "B carries at least 10.00 times what A does"
        );
        assert_eq!(
            row("faster", b, a).sentence(),
            "B carries at most 0.10 times what A does"
        );
        assert_eq!(
            row("faster", b, b).sentence(),
            "cannot be compared: A carries at least 20.00, B at least 20.00"
        );
        // An upper end of a lower bound is none, and no ratio is rounded to nothing.
        let capped = Answer::new(20.0, [Some(20.0), Some(40.0)], Bound::AtLeast);
        assert_eq!(row("faster", a, capped).high, None);
        let none = answer(None, 0.01, Some(0.01));
        assert_eq!(
            row("faster", b, none).sentence(),
            "B carries at most 1/2,000 times what A does"
        );
        let nothing = answer(None, 0.0, Some(0.0));
        assert!(
            row("faster", b, nothing)
                .sentence()
                .starts_with("cannot be compared")
        );
    }
}
