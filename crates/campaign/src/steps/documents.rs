//! Documents of runs: with summaries of their series, and requirements
//! judged. The document contains the verdicts, so that a report made from it agrees with the
//! original output.

use super::expectations::expectations;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::compare::{Requirement, required_together};
use stripewise_lab::{SeriesKind, series_of};
use stripewise_results::{
    AnswerReason, Document, JobRow, RequirementRecord, RequirementVerdict, RunRecord, SeriesRecord,
    SeriesVerdict, StepRecord,
};
use stripewise_runner::trust::Code;
use stripewise_store::{Filter, RunSummary, Store};
use stripewise_units::distinct;

/// The document of runs, with summaries of the series that they belong to.
pub fn document(runs: Vec<RunRecord>) -> Document {
    let series = series_of(&runs);
    Document {
        series,
        ..Document::new(runs)
    }
}

/// The runs that requirements apply to. Excluded are passes that only prepare the target, whose
/// speed is irrelevant, and runs at a required rate, which are judged by their
/// arrivals.
pub fn own_runs_of<'a>(runs: impl IntoIterator<Item = &'a RunRecord>) -> Vec<&'a RunRecord> {
    let runs = runs.into_iter();
    runs.filter(|run| !run.is_preparation() && !run.is_at_required_rate())
        .collect()
}

/// Refuses a requirement on something that does not exist: a mistyped name must not
/// count as missed. `names` are those of jobs and parts of series.
///
/// # Errors
/// If one names none of these.
pub fn check_names<'a>(
    required: &[Requirement],
    names: impl IntoIterator<Item = &'a str>,
) -> Outcome<()> {
    let known = distinct(names);
    let mut each = required.iter();
    each.try_for_each(|one| one.check_name(&known))
        .map_err(Failure::from)
}

/// The names of the jobs of these runs, to which requirements may refer.
pub fn names_of<'a>(
    runs: impl IntoIterator<Item = &'a RunRecord>,
) -> impl Iterator<Item = &'a str> {
    let own_runs = runs.into_iter().filter(|run| !run.is_preparation());
    own_runs.flat_map(|run| run.jobs.iter().map(|job| job.name.as_str()))
}

/// A bench with its runs, or runs and benches that are judged together.
struct JudgedPart<'a> {
    series: Cow<'a, [SeriesRecord]>,
    runs: Vec<&'a RunRecord>,
}

/// The parts that are judged separately: each of several benches, since one says nothing about
/// another, and the runs that belong to none of them.
fn judged_apart(document: &Document) -> Vec<JudgedPart<'_>> {
    let benches = distinct(document.series.iter().map(|series| series.id.as_str()));
    if benches.len() < 2 {
        return vec![JudgedPart {
            series: Cow::Borrowed(&document.series),
            runs: document.runs.iter().collect(),
        }];
    }
    let part = |bench: Option<&str>| {
        let series = document.series.iter();
        let runs = document.runs.iter().filter(|run| {
            let id = run.series.as_deref();
            id.filter(|id| benches.contains(id)) == bench
        });
        JudgedPart {
            series: series
                .filter(|series| Some(series.id.as_str()) == bench)
                .cloned()
                .collect(),
            runs: runs.collect(),
        }
    };
    let mut parts: Vec<JudgedPart<'_>> = benches.iter().map(|bench| part(Some(*bench))).collect();
    let others = part(None);
    if !others.runs.is_empty() {
        parts.push(others);
    }
    parts
}

/// Judges requirements on the runs of a document, and on each of several benches by itself.
pub fn judge(required: &[Requirement], document: &mut Document) {
    document.requirements = judged_in_parts(required, document);
}

fn judged_in_parts(required: &[Requirement], document: &Document) -> Vec<RequirementRecord> {
    let parts = judged_apart(document);
    let is_meant = |one: &Requirement, part: &JudgedPart<'_>| match (&*part.series, one.name()) {
        _ if parts.len() == 1 => true,
        ([], Some(name)) => names_of(part.runs.iter().copied()).any(|known| known == name),
        ([], None) => true,
        (series, _) => series.iter().any(|series| one.means_series(series)),
    };
    let mut all = Vec::new();
    for part in &parts {
        let meant = required.iter().filter(|one| is_meant(one, part));
        let meant: Vec<Requirement> = meant.cloned().collect();
        all.extend(judged(&meant, &part.series, &part.runs));
    }
    // Missed: none of them has such a value.
    let rest = required.iter();
    let rest = rest.filter(|one| !parts.iter().any(|part| is_meant(one, part)));
    let rest: Vec<Requirement> = rest.cloned().collect();
    let runs: Vec<&RunRecord> = document.runs.iter().collect();
    all.extend(judged(&rest, &document.series, &runs));
    all
}

/// The verdicts on requirements on these runs, and on the series that they are of.
fn judged(
    required: &[Requirement],
    series: &[SeriesRecord],
    runs: &[&RunRecord],
) -> Vec<RequirementRecord> {
    if required.is_empty() {
        return Vec::new();
    }
    let own_runs = own_runs_of(runs.iter().copied());
    let both = judged_together(required, series, runs);
    let each = required.iter().zip(both).map(|(one, both)| {
        let is_alone = both.is_none();
        let record = both.unwrap_or_else(|| by_itself(one, series, &own_runs));
        let each = of_each(one, (&record, is_alone), series, &own_runs);
        // A latency is required of every load: of its answer, not of a single step of the climb.
        let record = match is_alone && one.is_of_latency() && each.len() > 1 {
            true => {
                let outside = own_runs.iter().copied();
                let outside = outside.filter(|run| run.series.is_none());
                let is_any = outside.clone().next().is_some();
                let outside = is_any.then(|| one.judge(outside));
                let all = each.iter().map(|(_, found)| found).chain(&outside);
                all.min_by(gravest).cloned().unwrap_or(record)
            }
            false => record,
        };
        RequirementRecord {
            series: each.into_iter().map(|(verdict, _)| verdict).collect(),
            ..record
        }
    });
    each.collect()
}

/// The worse verdict first; of equal ones the larger value, as latencies have upper limits.
fn gravest(a: &&RequirementRecord, b: &&RequirementRecord) -> std::cmp::Ordering {
    let value = |one: &RequirementRecord| one.measured.unwrap_or(f64::INFINITY);
    let verdicts = a.verdict().cmp(&b.verdict());
    verdicts.then_with(|| value(b).total_cmp(&value(a)))
}

/// The verdict of a requirement that is judged with no other.
fn by_itself(one: &Requirement, series: &[SeriesRecord], runs: &[&RunRecord]) -> RequirementRecord {
    let by_runs = || one.judge(runs.iter().copied());
    if series.is_empty() {
        return by_runs();
    }
    if one.is_of_latency() {
        let mut meant = series.iter().filter(|of| one.means_series(of));
        let only = meant.next().filter(|_| meant.next().is_none());
        let of_answer = only.and_then(|only| {
            let is_its = |run: &&RunRecord| run.series.as_deref() == Some(only.id.as_str());
            one.judge_answer_latency(only)
                .filter(|_| runs.iter().all(is_its))
        });
        let found = of_answer.unwrap_or_else(|| one.judge(at_answers(series, runs)));
        if !one.is_of_maximum() || !found.met {
            return found;
        }
        let longest = one.judge(up_to_answers(series, runs));
        return match longest.measured.is_some() && !longest.met {
            true => longest,
            false => found,
        };
    }
    let by_answer = one.judge_answers(series, longer_than(runs));
    by_answer.unwrap_or_else(by_runs)
}

/// What makes longer runs than these of a bench, which may have been thorough.
fn longer_than(runs: &[&RunRecord]) -> &'static str {
    let mut words = runs.iter().flat_map(|run| &run.command);
    // The second is the older name of the switch.
    let is_thorough = |word: &str| matches!(word.strip_prefix("--"), Some("thorough" | "qualify"));
    match words.any(|word| is_thorough(word)) {
        true => "a longer --step",
        false => "bench --thorough",
    }
}

/// The verdict of a requirement on each series: a latency is required of every one that it is
/// about, a rate of the best of them.
fn of_each(
    one: &Requirement,
    (record, is_alone): (&RequirementRecord, bool),
    series: &[SeriesRecord],
    runs: &[&RunRecord],
) -> Vec<(SeriesVerdict, RequirementRecord)> {
    let meant: Vec<&SeriesRecord> = series.iter().filter(|of| one.means_series(of)).collect();
    let verdict = |of: &&SeriesRecord| {
        let is_its = |run: &&RunRecord| run.series_part.as_deref() == Some(of.name.as_str());
        let found = match is_alone && meant.len() > 1 {
            true => {
                let its_runs: Vec<&RunRecord> = runs.iter().copied().filter(is_its).collect();
                by_itself(one, std::slice::from_ref(*of), &its_runs)
            }
            false => record.clone(),
        };
        let verdict = SeriesVerdict {
            id: of.id.clone(),
            name: of.name.clone(),
            verdict: found.verdict(),
        };
        (one.is_of_latency() || found == *record).then_some((verdict, found))
    };
    meant.iter().filter_map(verdict).collect()
}

/// Why requirements of one series do not say of which.
const UNCLEAR: &str =
    "it is not clear which series is to keep both the rate and the latency: name it in both";

/// The verdict of each requirement that is judged with others: a rate and a latency
/// of one series. `None` for one judged by itself.
fn judged_together(
    required: &[Requirement],
    all: &[SeriesRecord],
    runs: &[&RunRecord],
) -> Vec<Option<RequirementRecord>> {
    let kinds = all
        .iter()
        .filter_map(|one| SeriesKind::from_name(&one.name));
    let kinds: Vec<SeriesKind> = distinct(kinds);
    let together = match required_together(required, &kinds) {
        Ok(together) => together,
        Err(unclear) => {
            let of_unclear = |one: &Requirement| {
                let text = one.to_string();
                let is_unclear = unclear.texts.contains(&text);
                is_unclear.then(|| undecided(&text, UNCLEAR))
            };
            return required.iter().map(of_unclear).collect();
        }
    };
    let of_one = |one: &Requirement| {
        let both = together.iter().filter(|both| both.has(one));
        let judged = both.flat_map(|both| {
            let of_kind = all.iter();
            let of_kind = of_kind.filter(|series| series.name == both.kind.name());
            of_kind.flat_map(|series| both.judge(series, runs))
        });
        let of_this = judged.filter(|(other, _)| std::ptr::eq(*other, one));
        of_this
            .map(|(_, record)| record)
            .max_by_key(|one| Reverse(one.verdict()))
    };
    required.iter().map(of_one).collect()
}

/// A requirement of which nothing can be said, with the reason.
fn undecided(requirement: &str, why: &str) -> RequirementRecord {
    RequirementRecord {
        requirement: requirement.to_owned(),
        measured_words: why.to_owned(),
        undecided: true,
        ..RequirementRecord::default()
    }
}

/// Repeats the judgement of the requirements in the runs' requests, of each bench by its own, and
/// against the benches in the store that they are held to. Does nothing if these differ, as for
/// separate runs.
pub fn judge_as_requested(store: Option<&Store>, document: &mut Document) {
    let parts = judged_apart(document).into_iter();
    let all = parts.flat_map(|part| {
        let (required, mut all) = requested_of(&part.runs);
        all.extend(judged(&required, &part.series, &part.runs));
        if let Some(store) = store {
            all.extend(as_expected(store, &part));
        }
        all
    });
    let all: Vec<RequirementRecord> = all.collect();
    if !all.is_empty() {
        document.requirements = all;
    }
}

/// The verdicts on a bench against that of the array that it is held to; none where that is not in
/// the store.
fn as_expected(store: &Store, part: &JudgedPart<'_>) -> Vec<RequirementRecord> {
    let runs = part.runs.iter();
    let benches = runs.filter_map(|run| run.request.as_ref()?.expected_bench.as_deref());
    let benches = distinct(benches);
    let [bench] = benches[..] else {
        return Vec::new();
    };
    let Some(array) = stored_series(store, bench) else {
        return Vec::new();
    };
    let request = array.runs.first().and_then(|run| run.request.as_ref());
    let job = request.and_then(|request| request.jobs.first());
    let name = job.and_then(|job| job.targets.first());
    let name = name.map_or("", String::as_str);
    expectations(name, &array.series, &part.series)
}

/// The document of the runs of a series; `None` if it cannot be read.
fn stored_series(store: &Store, series: &str) -> Option<Document> {
    let found = store.list_readable(&Filter::of_series(series)).ok()?;
    let runs = found.runs.iter().rev();
    let records = runs.filter_map(|run| store.load(&run.id).ok());
    Some(document(records.collect()))
}

/// The requirements in the requests of runs, if all have the same, and those that earlier versions
/// took and that cannot be judged, with the reason.
fn requested_of(runs: &[&RunRecord]) -> (Vec<Requirement>, Vec<RequirementRecord>) {
    let texts = runs.iter().map(|run| match &run.request {
        Some(request) => request.requirements.as_slice(),
        None => &[],
    });
    let texts = distinct(texts);
    let (mut required, mut not_judged) = (Vec::new(), Vec::new());
    let [texts] = texts.as_slice() else {
        return (required, not_judged);
    };
    for text in texts.iter() {
        match text.parse::<Requirement>() {
            Ok(one) => required.push(one),
            Err(error) => {
                let why = format!("it {}; {}", error.problem(), error.hint());
                not_judged.push(undecided(text, &why));
            }
        }
    }
    (required, not_judged)
}

/// What became of what was required of a run, or of the runs of a series, when they were
/// made; none where nothing was.
pub fn verdict_as_requested(store: &Store, run: &RunSummary) -> Option<RequirementVerdict> {
    if !store.has_requirements(&run.id) {
        return None;
    }
    let mut document = match &run.series {
        None => document(store.load(&run.id).ok().into_iter().collect()),
        Some(series) => stored_series(store, series)?,
    };
    judge_as_requested(Some(store), &mut document);
    RequirementVerdict::of_all(&document.requirements)
}

/// The same of each of several runs, as a word: of those of one series that of the series.
pub fn verdicts_as_requested<'a>(
    store: &Store,
    runs: impl IntoIterator<Item = &'a RunSummary>,
) -> Vec<Option<&'static str>> {
    let mut of_series: BTreeMap<&str, Option<&'static str>> = BTreeMap::new();
    let word = |run: &RunSummary| verdict_as_requested(store, run).map(RequirementVerdict::word);
    let runs = runs.into_iter().map(|run| match run.series.as_deref() {
        None => word(run),
        Some(series) => *of_series.entry(series).or_insert_with(|| word(run)),
    });
    runs.collect()
}

/// Runs at which latencies are judged if an answer does not have them: of a ladder only the step
/// that is its answer, as the steps beyond show what too much load costs; without one within the
/// limit, the step with the least load. Runs of no ladder all count.
fn at_answers<'a>(series: &[SeriesRecord], runs: &[&'a RunRecord]) -> Vec<&'a RunRecord> {
    let answers: Vec<&str> = series.iter().flat_map(answers).collect();
    let is_step = |id: &str| {
        let of = |series: &SeriesRecord| {
            let mut steps = series.steps.iter().chain(&series.answer_runs);
            steps.any(|step| step.run == id)
        };
        series.iter().any(of)
    };
    let runs = runs.iter().copied();
    runs.filter(|run| answers.contains(&run.id.as_str()) || !is_step(&run.id))
        .collect()
}

/// The runs of a ladder's answer: those made for it if there is a single load; for a
/// ladder, the step within its limit; its first step if no step is valid, so that a
/// requirement on void values stays undecided.
fn answers(series: &SeriesRecord) -> Vec<&str> {
    if series.steps.len() == 1 {
        let runs = series.steps.iter().chain(&series.answer_runs);
        return runs.map(|step| step.run.as_str()).collect();
    }
    let within = series
        .within_limit
        .and_then(|index| series.steps.get(index));
    let least = || series.steps.iter().find(|step| step.counts());
    let step = within.or_else(least).or(series.steps.first());
    step.map(|step| step.run.as_str()).into_iter().collect()
}

/// Runs whose longest latency counts against a maximum: those of an answer, and of the climb to
/// it.
fn up_to_answers<'a>(series: &[SeriesRecord], runs: &[&'a RunRecord]) -> Vec<&'a RunRecord> {
    let counting: Vec<&str> = series.iter().flat_map(up_to_answer).collect();
    let runs = runs.iter().copied();
    runs.filter(|run| counting.contains(&run.id.as_str()))
        .collect()
}

/// The runs of a ladder that count, at loads up to that of its answer.
fn up_to_answer(series: &SeriesRecord) -> Vec<&str> {
    let own = answers(series);
    let steps = series.steps.iter().chain(&series.answer_runs);
    let counting: Vec<&StepRecord> = steps.filter(|step| step.counts()).collect();
    let in_flight = |step: &StepRecord| f64::from(step.in_flight());
    let is_met = |reason: AnswerReason| matches!(reason, AnswerReason::Within | AnswerReason::Only);
    let answer = series.answered().filter(|answer| is_met(answer.reason));
    let most = match answer {
        Some(answer) => answer.record.in_flight,
        None => {
            let is_own = |step: &&StepRecord| own.contains(&step.run.as_str());
            let loads = counting.iter().copied().filter(is_own).map(in_flight);
            loads.fold(0.0, f64::max)
        }
    };
    let counting = counting.into_iter();
    let up_to = counting.filter(|step| in_flight(step) <= most);
    up_to.map(|step| step.run.as_str()).collect()
}

/// Void, and not by request: `--engine null` measures the program.
fn is_void(row: &JobRow<'_>) -> bool {
    let asked_for = [Code::NullEngine.as_str(), Code::FaultsInjected.as_str()];
    let codes = row.void_codes();
    codes.iter().any(|code| !asked_for.contains(code))
}

/// Turns success into a finding if a requirement is missed or undecided, or a
/// result is void: a script that only checks the code must not take void values for the
/// disk's. Void steps of a ladder are left out of its answer, which counts then.
pub fn exit(document: &Document, exit: Exit) -> Exit {
    let missed = document.requirements.iter().any(|one| !one.met);
    let is_void = match document.series.is_empty() {
        true => {
            let runs = own_runs_of(&document.runs).into_iter();
            let mut rows = runs.flat_map(|run| JobRow::of(std::slice::from_ref(run)));
            rows.any(|row| is_void(&row))
        }
        false => (document.series.iter()).any(|series| series.no_answer.is_some()),
    };
    if (missed || is_void) && exit == Exit::Done {
        Exit::Finding
    } else {
        exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{JobOutcome, JobRecord, LatencySummary};

    fn run(part: &str, iops: f64, p99_ns: u64) -> RunRecord {
        let mut outcome = JobOutcome {
            operations: 1_000,
            iops,
            ..JobOutcome::default()
        };
        outcome.write.operations = 1_000;
        outcome.write.latency_ns = Some(LatencySummary {
            p99: p99_ns,
            ..LatencySummary::default()
        });
        RunRecord {
            id: format!("run-{part}"),
            series: Some("bench".to_owned()),
            series_part: Some(part.to_owned()),
            latency_limit: Some("p99<5ms".to_owned()),
            jobs: vec![JobRecord {
                name: part.to_owned(),
                workload: stripewise_workload::Workload {
                    read_percent: 0,
                    ..Default::default()
                },
                outcome,
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        }
    }

    #[test]
    fn a_pass_that_prepares_the_target_neither_meets_nor_misses_a_requirement() {
        let runs = vec![
            run("precondition", 90_000.0, 138_000_000),
            run("log", 3_800.0, 1_900_000),
        ];
        // Individually: together they are judged by a run at that rate.
        let judged = |text: &str| {
            let mut document = document(runs.clone());
            judge(&[text.parse().expect("a requirement")], &mut document);
            document.requirements.remove(0)
        };
        let latency = judged("p99<5ms");
        assert!(latency.met, "{latency:?}");
        assert_eq!(latency.measured, Some(1_900_000.0));
        let rate = judged("iops>=50000");
        assert!(!rate.met, "{rate:?}");
    }

    /// What was given already is not recommended.
    #[test]
    fn an_undecided_rate_names_what_makes_longer_runs() {
        let next = |command: &str| {
            let single = RunRecord {
                command: command.split(' ').map(str::to_owned).collect(),
                ..run("log", 3_800.0, 1_900_000)
            };
            let mut document = document(vec![single]);
            judge(&["log iops>=1".parse().expect("a rate")], &mut document);
            let judged = document.requirements.remove(0);
            assert!(judged.undecided, "{judged:?}");
            judged.of
        };
        let quick = next("stripewise bench sim:nvme");
        assert!(quick.ends_with("would tell: bench --thorough"), "{quick}");
        let thorough = next("stripewise bench sim:nvme --thorough");
        assert!(
            thorough.ends_with("would tell: a longer --step"),
            "{thorough}"
        );
    }

    /// It is the value that the table shows, however far apart its runs are.
    #[test]
    fn a_latency_required_of_a_single_load_is_that_of_its_answer() {
        let runs = [1, 9, 1, 9, 1].into_iter().enumerate().map(|(index, ms)| {
            let number = u32::try_from(index).expect("a few");
            RunRecord {
                id: format!("run-{index}"),
                answer_block: (index > 0).then_some(number),
                ..run("log", 3_800.0, ms * 1_000_000)
            }
        });
        let mut document = document(runs.collect());
        judge(&["log p99<5ms".parse().expect("a latency")], &mut document);
        let answer = document.series[0].answer.expect("five runs");
        let latency = answer.latency.expect("latencies").p99;
        assert!((1_000_001..9_000_000).contains(&latency), "{answer:?}");
        let required = &document.requirements[0];
        assert_eq!(required.measured, Some(latency as f64));
        assert!(required.of.ends_with("5 runs"), "{required:?}");
    }

    /// A stall says the same at a smaller load; beyond the answer it may be the load's.
    #[test]
    fn a_maximum_is_missed_by_an_excess_on_the_climb_to_the_answer() {
        let is_met = |stalled: u32| {
            let steps = [1, 2, 4].map(|outstanding: u32| {
                let p99_ns = if outstanding > 2 {
                    9_000_000
                } else {
                    1_000_000
                };
                let mut step = run("random-write", f64::from(outstanding) * 1_000.0, p99_ns);
                step.id = format!("run-{outstanding}");
                let job = &mut step.jobs[0];
                job.workload.outstanding = outstanding;
                let latencies = job.outcome.write.latency_ns.as_mut().expect("latencies");
                latencies.max = if outstanding == stalled {
                    300_000_000
                } else {
                    20_000_000
                };
                step
            });
            let mut document = document(Vec::from(steps));
            judge(
                &["random-write max<100ms".parse().expect("a maximum")],
                &mut document,
            );
            document.requirements[0].met
        };
        assert_eq!([1, 2, 4].map(is_met), [false, false, true]);
    }

    /// A latency is required of each series, a rate of the best of them; of several benches each
    /// is held to what was required of it.
    #[test]
    fn a_requirement_has_a_verdict_on_each_series_and_each_bench() {
        let of_bench = |id: &str, part: &str, p99_ns: u64, required: &[&str]| RunRecord {
            id: format!("{id}-{part}"),
            series: Some(id.to_owned()),
            request: Some(Box::new(stripewise_workload::Request {
                requirements: required.iter().map(|one| (*one).to_owned()).collect(),
                ..Default::default()
            })),
            ..run(part, 1_000_000.0 / p99_ns as f64, p99_ns)
        };
        let verdicts = |document: &Document| -> Vec<Vec<(String, &'static str)>> {
            let all = document.requirements.iter();
            let words = all.map(|one| {
                let each = one.series.iter();
                let each = each.map(|of| (format!("{} {}", of.id, of.name), of.verdict.word()));
                each.collect()
            });
            words.collect()
        };
        let named = |name: &str, word: &'static str| (name.to_owned(), word);
        let slow = 9_000_000;
        let mut one = document(vec![
            of_bench("a", "random-write", slow, &["p99<5ms"]),
            of_bench("a", "log", 1_900_000, &["p99<5ms"]),
        ]);
        judge_as_requested(None, &mut one);
        assert!(!one.requirements[0].met);
        let expected = vec![named("a random-write", "missed"), named("a log", "met")];
        assert_eq!(verdicts(&one), [expected]);
        let of_two = |first: &[&str], second: &[&str]| {
            let mut both = document(vec![
                of_bench("a", "log", slow, first),
                of_bench("b", "log", 1_900_000, second),
            ]);
            judge_as_requested(None, &mut both);
            verdicts(&both)
        };
        let (met, missed) = (vec![named("b log", "met")], vec![named("a log", "missed")]);
        let both = of_two(&["log p99<5ms"], &["log p99<5ms"]);
        assert_eq!(both, [missed.clone(), met.clone()]);
        assert_eq!(of_two(&["log p99<5ms"], &[]), [missed]);
        assert_eq!(of_two(&[], &["log p99<8ms"]), [met]);
    }

    /// Earlier versions took limits on the side that no one requires.
    #[test]
    fn a_stored_requirement_that_is_no_longer_taken_is_named_with_the_reason() {
        let required = ["p99>15ms", "iops<800", "p99<15ms"];
        let mut one = document(vec![RunRecord {
            request: Some(Box::new(stripewise_workload::Request {
                requirements: required.map(str::to_owned).to_vec(),
                ..Default::default()
            })),
            ..run("log", 3_800.0, 1_000_000)
        }]);
        judge_as_requested(None, &mut one);
        let [latency, rate, read] = one.requirements.as_slice() else {
            panic!("{:?}", one.requirements);
        };
        assert_eq!(latency.verdict(), RequirementVerdict::Undecided);
        assert_eq!(rate.verdict(), RequirementVerdict::Undecided);
        assert_eq!(read.requirement, "p99<15ms");
        let why = &latency.measured_words;
        assert!(why.contains("did you mean `p99<15ms`?"), "{why}");
    }
}
