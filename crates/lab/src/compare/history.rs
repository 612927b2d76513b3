//! Compares runs with the target's own history. Thirty or more stored runs of the same load
//! show how much it varies by itself: from run to run, from boot to boot and over the day.
//!
//! With fewer of them, or a target of another size, [`compare`] compares two samples.
//! Pure: the caller supplies the stored runs and the boot in which each was made.

use super::cells::{Cell, cells_for};
use super::judge::resolution;
use super::words::cell_words;
use super::{CompareOptions, Side, compare};
use crate::experiment::Metric;
use stripewise_results::{
    ComparisonGroup, ComparisonRecord, ComparisonRow, JobRow, RunRecord, Verdict,
};
use stripewise_stats::{
    Estimate, History, HistoryRun, NewRun, default_tolerance_percent, drift_percent, holm,
    level_changes, mean,
};
use stripewise_units::{format_duration_beside, format_iops_beside};

/// Stored runs.
pub struct StoredRuns<'a> {
    /// In chronological order, all from one machine.
    pub runs: &'a [RunRecord],
    /// A number shared by all runs of one boot, given a run's id.
    pub boot: &'a dyn Fn(&str) -> u64,
    /// When the baseline was set (RFC 3339); later changes are reported.
    pub baseline_at: &'a str,
}

/// The history of each load of a baseline.
pub struct OwnHistory {
    by: CompareOptions,
    loads: Vec<LoadHistory>,
}

/// The stored runs of one load.
struct LoadHistory {
    /// The runs that show its noise.
    runs: Vec<RunRecord>,
    history: History,
    /// How much these changed from the first to the last, in per cent, if they did.
    drift: Option<Estimate>,
    /// All runs on a target of that size.
    all: Vec<DatedRun>,
    size_bytes: u64,
}

/// The part of a stored run that the search for a change needs.
#[derive(Clone)]
struct DatedRun {
    run: HistoryRun,
    day: String,
    conditions: Conditions,
}

/// Conditions whose change may have changed the level.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Conditions {
    kernel: Option<String>,
    firmware: Option<String>,
    /// A change of size starts a new history.
    size_bytes: u64,
}

impl Conditions {
    fn of(row: &JobRow<'_>) -> Conditions {
        let target = &row.job.target;
        let device = target.device.as_ref();
        Conditions {
            kernel: row.run.host.kernel.clone(),
            firmware: device.and_then(|device| device.firmware.clone()),
            size_bytes: target.size_bytes,
        }
    }

    /// Which of them changed, in words.
    fn news(&self, before: &Conditions) -> Option<String> {
        let news = |name: &str, now: &Option<String>, then: &Option<String>| {
            (now != then).then(|| format!("{name} {}", now.as_deref().unwrap_or("unknown")))
        };
        news("kernel", &self.kernel, &before.kernel)
            .or_else(|| news("firmware", &self.firmware, &before.firmware))
    }
}

fn hour_of(run: &RunRecord) -> u8 {
    let hour = run.started_at.get(11..13);
    hour.and_then(|hour| hour.parse().ok()).unwrap_or(0)
}

fn day_of(run: &RunRecord) -> String {
    run.started_at.get(..10).unwrap_or("").to_owned()
}

impl OwnHistory {
    /// The history of every load of these runs; `None` if one of them has fewer than thirty stored
    /// runs on a target as large as the newest one's.
    pub fn of(
        reference: &[RunRecord],
        stored: &StoredRuns<'_>,
        by: CompareOptions,
    ) -> Option<OwnHistory> {
        let of_stored = cells_for(stored.runs, by.metric);
        let loads = cells_for(reference, by.metric);
        let loads: Option<Vec<LoadHistory>> = loads
            .iter()
            .map(|load| {
                let cell = of_stored.iter().find(|cell| cell.is_same(load))?;
                LoadHistory::of(cell, stored, by.metric)
            })
            .collect();
        loads
            .filter(|loads| !loads.is_empty())
            .map(|loads| OwnHistory { by, loads })
    }

    /// Returns whether these runs are of the same loads on a target of the same size.
    pub fn speaks_of(&self, now: &[RunRecord]) -> bool {
        let cells = cells_for(now, self.by.metric);
        cells.len() == self.loads.len()
            && self.loads.iter().all(|load| {
                let cell = load.cell_among(&cells, self.by.metric);
                let mut rows = cell.into_iter().flat_map(|cell| &cell.rows).peekable();
                rows.peek().is_some()
                    && rows.all(|row| row.job.target.size_bytes == load.size_bytes)
            })
    }

    /// A loss up to this percentage is the target's own noise, or too small to act on.
    pub fn tolerance_percent(&self) -> f64 {
        let noise = self.loads.iter().map(|load| load.history.noise());
        default_tolerance_percent(noise.fold(0.0, f64::max))
    }

    /// Compares runs made now with the stored ones, as changes; `None` if
    /// they are not of the same loads.
    pub fn compare(&self, now: &[RunRecord], stored: &StoredRuns<'_>) -> Option<ComparisonRecord> {
        if !self.speaks_of(now) {
            return None;
        }
        let side = |name: String, runs: Vec<RunRecord>| Side { name, runs };
        let runs = self.loads.iter().map(|load| load.runs.len()).min()?;
        let then = self.loads.iter().flat_map(|load| load.runs.clone());
        let then = side(format!("its own {runs} runs"), then.collect());
        let mut table = compare(&then, &side("now".to_owned(), now.to_vec()), self.by).ok()?;
        let cells = cells_for(now, self.by.metric);
        if table.rows.len() != cells.len() {
            return None;
        }
        table.title = format!("{} now against its own {runs} runs", self.by.metric.words());
        table.sentences.clear();
        // Notes about few repetitions do not apply here.
        table.notes.clear();
        let own: Option<Vec<&Cell<'_>>> = (self.loads.iter())
            .map(|load| load.cell_among(&cells, self.by.metric))
            .collect();
        let own = own?;
        let levels = self.levels(&own, stored);
        let judged = self.loads.iter().zip(own.iter().copied()).zip(levels);
        for (((load, cell), level), row) in judged.zip(&mut table.rows) {
            row.sentence = None;
            let by = CompareOptions { level, ..self.by };
            let sentence = load.judge(cell, row, by, stored);
            row.level = (level != self.by.level).then_some(level);
            table.sentences.extend(sentence);
        }
        table.verdict = Verdict::over_all(table.rows.iter().map(|row| row.verdict));
        let counted = table.rows.iter();
        let counted = counted.filter(|row| self.by.void_counts || row.void.is_empty());
        table.groups = ComparisonGroup::of_rows(&counted.cloned().collect::<Vec<_>>());
        let holds = match self.loads.len() {
            1 => format!("an interval holds 95 of 100 runs like its {runs} stored ones"),
            loads => format!(
                "in 95 of 100 checks the intervals of all {loads} loads hold runs like its {runs} \
                 stored ones (Holm)"
            ),
        };
        table.notes.push(format!(
            "The reference is the target's own history: {holds}, with what differs between boots \
             and hours of the day."
        ));
        let drifting = self.loads.iter().zip(&own);
        let drifting = drifting.filter_map(|(load, cell)| Some((cell, load.drift?)));
        table.notes.extend(drifting.map(|(cell, drift)| {
            format!(
                "{}: those runs drifted by {:+.1} % from the first to the last ({:+.1} to {:+.1} %). A slow change is part of the reference; `stripewise compare` holds the runs of the baseline alone against these.",
                cell_words(cell),
                drift.value,
                drift.low,
                drift.high
            )
        }));
        Some(table)
    }

    /// The level of each load's interval, so that the odds of any false verdict among all loads are at
    /// most 1 less the level of them together (Holm): an interval excludes exactly the runs that the
    /// correction rejects.
    fn levels(&self, cells: &[&Cell<'_>], stored: &StoredRuns<'_>) -> Vec<f64> {
        let each = self.loads.iter().zip(cells);
        let p_values: Vec<f64> = each
            .map(|(load, cell)| load.p_value(cell, self.by, stored))
            .collect();
        let odds = 1.0 - self.by.level;
        let adjusted = holm(&p_values).into_iter().zip(&p_values);
        let level = |(adjusted, p_value): (f64, &f64)| match adjusted > 0.0 && adjusted <= odds {
            true => 1.0 - odds * p_value / adjusted,
            // It is not rejected, or is too small for a number.
            false => 1.0 - odds / p_values.len() as f64,
        };
        adjusted.map(level).collect()
    }
}

impl LoadHistory {
    fn of(cell: &Cell<'_>, stored: &StoredRuns<'_>, metric: Metric) -> Option<LoadHistory> {
        let size_bytes = cell.rows.last()?.job.target.size_bytes;
        let known = cell.rows.iter().filter_map(|row| {
            let value = metric.of(row).filter(|value| *value > 0.0)?;
            let is_void = !row.run.void_codes_of(row.job).is_empty();
            let is_alike = !is_void && row.job.target.size_bytes == size_bytes;
            is_alike.then(|| {
                let dated = DatedRun {
                    run: HistoryRun {
                        value,
                        boot: (stored.boot)(&row.run.id),
                        hour: hour_of(row.run),
                    },
                    day: day_of(row.run),
                    conditions: Conditions::of(row),
                };
                (dated, row.run)
            })
        });
        let (all, runs): (Vec<DatedRun>, Vec<&RunRecord>) = known.unzip();
        let values: Vec<HistoryRun> = all.iter().map(|dated| dated.run).collect();
        // Changes after the baseline was set are the findings, not noise; changes
        // before it were accepted with it.
        let is_before = |index: &usize| runs[*index].started_at.as_str() <= stored.baseline_at;
        let (before, after): (Vec<usize>, Vec<usize>) =
            level_changes(&values).into_iter().partition(is_before);
        let from = before.last().copied().unwrap_or(0);
        let to = after.first().copied().unwrap_or(runs.len());
        let history = History::of(&values[from..to])?;
        let drift = drifted(&values[from..to]);
        let runs = runs[from..to].iter().map(|run| (*run).clone()).collect();
        Some(LoadHistory {
            runs,
            history,
            drift,
            all,
            size_bytes,
        })
    }

    /// The cell of this load.
    fn cell_among<'a, 'r>(&self, cells: &'a [Cell<'r>], metric: Metric) -> Option<&'a Cell<'r>> {
        let own = cells_for(&self.runs[..1], metric);
        let is_own = |cell: &&Cell<'_>| own.iter().any(|own| own.is_same(cell));
        cells.iter().find(is_own)
    }

    /// Two-sided p-value of the runs made now.
    fn p_value(&self, cell: &Cell<'_>, by: CompareOptions, stored: &StoredRuns<'_>) -> f64 {
        let Some((value, new)) = observed(cell, by, stored) else {
            return 1.0;
        };
        let expected = self.history.predict(new, by.level).value;
        match (value / expected - 1.0).abs() <= reach(cell, by) {
            true => 1.0,
            false => self.history.p_value(value, new),
        }
    }

    /// Writes the verdict into the row, and returns a sentence if there is one.
    fn judge(
        &self,
        cell: &Cell<'_>,
        row: &mut ComparisonRow,
        by: CompareOptions,
        stored: &StoredRuns<'_>,
    ) -> Option<String> {
        let (value, new) = observed(cell, by, stored)?;
        let expected = self.history.predict(new, by.level);
        // Equal runs, as on simulated arrays, do not show what another start would have given.
        let reach = reach(cell, by);
        let expected = Estimate {
            low: expected.low.min(expected.value * (1.0 - reach)),
            high: expected.high.max(expected.value * (1.0 + reach)),
            ..expected
        };
        let percent = |of: f64| 100.0 * (value / of - 1.0);
        let interval = [percent(expected.high), percent(expected.low)];
        // The columns, the estimate and the sentence are of the same two numbers.
        (row.a, row.b) = (expected.value, value);
        row.difference_percent = percent(expected.value);
        row.estimate_percent = Some(percent(expected.value));
        row.interval_percent = Some(interval);
        row.p_value = None;
        row.blocks = u32::try_from(new.runs).unwrap_or(u32::MAX);
        row.difference_percent_max = None;
        if !row.void.is_empty() && !by.void_counts {
            row.verdict = Verdict::Undecided;
            return None;
        }
        let is_more = value > expected.high;
        row.verdict = match (
            value < expected.low || is_more,
            is_more == by.metric.more_is_better(),
        ) {
            (false, _) => Verdict::NoDifference,
            (true, true) => Verdict::Better,
            (true, false) => Verdict::Worse,
        };
        if row.verdict == Verdict::NoDifference {
            let most = interval[0].abs().max(interval[1].abs());
            row.difference_percent_max = Some(most);
        }
        Some(self.sentence(cell, (value, new.runs), expected, row.verdict, by.metric))
    }

    fn sentence(
        &self,
        cell: &Cell<'_>,
        (value, runs): (f64, usize),
        expected: Estimate,
        verdict: Verdict,
        metric: Metric,
    ) -> String {
        let is_in = match verdict {
            Verdict::NoDifference => "within",
            _ => "outside",
        };
        // Print the unit once.
        let low = amount(expected.low, value, metric);
        let low = low.trim_end_matches(metric.words()).trim_end();
        let is_near_low = (value - expected.low).abs() < (value - expected.high).abs();
        let nearest = match is_near_low {
            true => expected.low,
            false => expected.high,
        };
        // Means scatter less than runs.
        let (mean, means) = match runs {
            1 => (String::new(), ""),
            runs => (format!(", the mean of {runs} runs,"), " of such means"),
        };
        let sentence_text = format!(
            "{}: {}{mean} is {is_in} {}{means} of its own {} runs ({} to {})",
            cell_words(cell),
            amount(value, nearest, metric),
            share(expected.level),
            self.history.runs,
            low,
            amount(expected.high, value, metric),
        );
        match verdict {
            Verdict::NoDifference => format!("{sentence_text}."),
            _ => format!("{sentence_text}; {}.", self.since(value)),
        }
    }

    /// Since when runs have been like `value`, and what changed then.
    fn since(&self, value: f64) -> String {
        let runs: Vec<HistoryRun> = self.all.iter().map(|one| one.run).collect();
        let usual = self.history.mean;
        let at = level_changes(&runs).pop().filter(|&index| {
            let after: Vec<f64> = runs[index..].iter().map(|run| run.value).collect();
            mean(&after).is_some_and(|after| (after > usual) == (value > usual))
        });
        let Some(index) = at else {
            return "no stored run before it shows that".to_owned();
        };
        let first = &self.all[index];
        let before = index
            .checked_sub(1)
            .map(|before| &self.all[before].conditions);
        match before.and_then(|before| first.conditions.news(before)) {
            Some(news) => format!("it began on {} with {news}", first.day),
            None => format!("it began on {}", first.day),
        }
    }
}

/// How much runs changed from the first to the last, in per cent; `None` if by less than 1 %, or if
/// that may be chance at 99 %. Runs of one boot are alike, so with several boots these are the
/// values, and two or three do not show a trend.
fn drifted(runs: &[HistoryRun]) -> Option<Estimate> {
    const LEVEL: f64 = 0.99;
    const LEAST_PERCENT: f64 = 1.0;
    const BOOTS_MIN: usize = 4;
    let boots: Vec<&[HistoryRun]> = runs.chunk_by(|a, b| a.boot == b.boot).collect();
    let logs = |runs: &[HistoryRun]| -> Vec<f64> {
        let each = runs.iter().map(|run| libm::log(run.value));
        each.collect()
    };
    let values: Vec<f64> = match boots.len() {
        1 => logs(runs),
        BOOTS_MIN.. => boots.iter().filter_map(|boot| mean(&logs(boot))).collect(),
        _ => return None,
    };
    let change = drift_percent(&values, LEVEL)?;
    (!change.contains(0.0) && change.value.abs() >= LEAST_PERCENT).then_some(change)
}

/// The geometric mean of the runs made now, and their conditions; `None` if there are none, or one
/// is not above 0.
fn observed(cell: &Cell<'_>, by: CompareOptions, stored: &StoredRuns<'_>) -> Option<(f64, NewRun)> {
    let values = cell.rows.iter().filter_map(|row| by.metric.of(row));
    let values: Vec<f64> = values.collect();
    let first = cell.rows.first()?.run;
    if values.is_empty() || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    let new = NewRun {
        boot: (stored.boot)(&first.id),
        hour: hour_of(first),
        runs: values.len(),
    };
    Some((libm::exp(mean(&logarithms)?), new))
}

/// What equal runs leave open, as a share: both sides have the resolution of a run.
fn reach(cell: &Cell<'_>, by: CompareOptions) -> f64 {
    2.0 * resolution(cell, by)
}

/// `95 %`, `98.3 %`.
fn share(level: f64) -> String {
    let text = format!("{:.1}", 100.0 * level);
    format!("{} %", text.trim_end_matches(".0"))
}

/// With as many digits as it takes to show on which side of the bound it lies: no 436 is outside of 436
/// to 460.
fn amount(value: f64, bound: f64, metric: Metric) -> String {
    match metric.latency_name() {
        // A float-to-integer cast saturates.
        Some(_) => format_duration_beside(value.round() as u64, bound.round() as u64),
        None => format!("{} {}", format_iops_beside(value, bound), metric.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{JobOutcome, JobRecord};
    use stripewise_stats::Random;
    use stripewise_workload::Workload;

    /// Hourly runs from 1 October on of a disk that gives 10,000 IOPS, with noise of 1 %
    /// from run to run and as much from boot to boot, with a boot every two days.
    fn run(number: usize, iops: f64, kernel: &str) -> RunRecord {
        let mut record = RunRecord::empty();
        record.id = format!("run{number}");
        record.started_at = format!("2026-10-{:02}T{:02}:00:00Z", 1 + number / 24, number % 24);
        record.host.kernel = Some(kernel.to_owned());
        record.jobs.push(JobRecord {
            name: "job".to_owned(),
            workload: Workload {
                seed: number as u64,
                ..Workload::default()
            },
            outcome: JobOutcome {
                iops,
                operations: 10_000,
                ..JobOutcome::default()
            },
            ..JobRecord::default()
        });
        record
    }

    fn boot_of(id: &str) -> u64 {
        id[3..].parse::<u64>().expect("a number") / 48
    }

    fn stored(count: usize, seed: u64) -> Vec<RunRecord> {
        let mut random = Random::new(seed);
        let boots: Vec<f64> = (0..20).map(|_| 0.01 * random.normal()).collect();
        let each = (0..count).map(|number| {
            let log = boots[number / 48] + 0.01 * random.normal();
            run(number, 10_000.0 * libm::exp(log), "6.12.8")
        });
        each.collect()
    }

    fn stored_runs(runs: &[RunRecord]) -> StoredRuns<'_> {
        StoredRuns {
            runs,
            boot: &boot_of,
            baseline_at: "2026-10-02T00:00:00Z",
        }
    }

    fn compared(runs: &[RunRecord], now: &[RunRecord]) -> Option<ComparisonRecord> {
        let stored = stored_runs(runs);
        let by = CompareOptions::default();
        OwnHistory::of(&runs[..1], &stored, by)?.compare(now, &stored)
    }

    #[test]
    fn a_new_run_is_held_against_the_noise_of_its_own_history() {
        let runs = stored(214, 1);
        let table = |iops| compared(&runs, &[run(214, iops, "6.12.8")]).expect("a table");
        let usual = table(10_050.0);
        assert_eq!(usual.verdict, Verdict::NoDifference);
        assert!(
            usual.sentences[0].contains("within 95 % of its own 214 runs"),
            "{usual:?}"
        );
        let lower = table(9_000.0);
        assert_eq!(lower.verdict, Verdict::Worse);
        let sentence_text = &lower.sentences[0];
        assert!(
            sentence_text.contains("outside 95 % of its own 214 runs"),
            "{sentence_text}"
        );
        assert!(
            sentence_text.ends_with("no stored run before it shows that."),
            "{sentence_text}"
        );
        let [low, high] = lower.rows[0].interval_percent.expect("an interval");
        assert!(low < -10.0 && high < -5.0, "{low} {high}");
        assert_eq!(table(11_000.0).verdict, Verdict::Better);
    }

    #[test]
    fn one_operation_more_or_less_is_no_difference() {
        let equal: Vec<RunRecord> = (0..40).map(|number| run(number, 10_000.0, "6")).collect();
        let verdict = |iops| {
            let table = compared(&equal, &[run(40, iops, "6")]).expect("a table");
            table.verdict
        };
        // Of 10,000 operations.
        assert_eq!(verdict(9_999.0), Verdict::NoDifference);
        assert_eq!(verdict(10_001.0), Verdict::NoDifference);
        assert_eq!(verdict(9_990.0), Verdict::Worse);
    }

    /// A mean is not called a run, and the table shows the numbers of the sentence.
    #[test]
    fn several_runs_are_judged_by_their_mean_which_the_table_shows() {
        let runs = stored(214, 1);
        let now: Vec<RunRecord> = (0..3)
            .map(|number| run(214 + number, 9_000.0 + 100.0 * number as f64, "6.12.8"))
            .collect();
        let table = compared(&runs, &now).expect("a table");
        let row = &table.rows[0];
        assert!((row.b - 9_099.6).abs() < 0.1, "{}", row.b);
        let estimate = row.estimate_percent.expect("an estimate");
        assert!((row.difference_percent - estimate).abs() < 1e-9);
        assert!((100.0 * (row.b / row.a - 1.0) - estimate).abs() < 1e-9);
        let sentence_text = &table.sentences[0];
        let words =
            "9,100 IOPS, the mean of 3 runs, is outside 95 % of such means of its own 214 runs";
        assert!(sentence_text.contains(words), "{sentence_text}");
    }

    #[test]
    fn an_amount_shows_on_which_side_of_the_interval_it_lies() {
        let metric = CompareOptions::default().metric;
        assert_eq!(amount(435.8, 436.2, metric), "435.8 IOPS");
        assert_eq!(amount(436.2, 435.8, metric), "436.2 IOPS");
        assert_eq!(amount(459.8, 435.8, metric), "460 IOPS");
    }

    /// Runs of one boot, or means of several: two or three boots show no trend.
    #[test]
    fn a_slow_change_of_the_history_is_a_drift_and_noise_is_none() {
        let drift = |runs: usize, per_boot: usize, boots: f64, total: f64, seed: u64| {
            let mut random = Random::new(seed);
            let mut boot = (0, 0.0);
            let mut one = |number: usize| {
                if number.is_multiple_of(per_boot) {
                    boot = (number / per_boot, boots * random.normal());
                }
                let log = total * number as f64 / (runs - 1) as f64;
                HistoryRun {
                    value: 10_000.0 * libm::exp(log + boot.1 + 0.005 * random.normal()),
                    boot: boot.0 as u64,
                    hour: 0,
                }
            };
            let runs: Vec<HistoryRun> = (0..runs).map(&mut one).collect();
            drifted(&runs)
        };
        let found = drift(40, 40, 0.0, -0.04, 1).expect("a drift");
        assert!(found.contains(100.0 * libm::expm1(-0.04)), "{found:?}");
        assert!(drift(90, 30, 0.01, -0.04, 1).is_none());
        assert!(drift(200, 20, 0.002, -0.04, 1).is_some());
        let count = |boots: f64, per_boot: usize| {
            let seeds = 0..40;
            seeds
                .filter(|&seed| drift(200, per_boot, boots, 0.0, seed).is_some())
                .count()
        };
        assert!(count(0.0, 200) <= 2 && count(0.01, 20) <= 2);
        // Less than 1 % is no drift.
        assert!(drift(400, 400, 0.0, -0.004, 1).is_none());
    }

    #[test]
    fn few_runs_or_another_size_are_no_history() {
        let runs = stored(60, 1);
        assert!(compared(&runs[..29], &[run(60, 9_000.0, "6.12.8")]).is_none());
        let mut larger = run(60, 9_000.0, "6.12.8");
        larger.jobs[0].target.size_bytes += 4_096;
        assert!(compared(&runs, &[larger]).is_none());
        assert!(compared(&runs, &[run(60, 9_000.0, "6.12.8")]).is_some());
    }

    #[test]
    fn a_loss_since_the_baseline_is_no_noise_and_has_a_day() {
        // From 12 October on, with another kernel, 10 % less.
        let mut runs = stored(500, 3);
        for run in runs.iter_mut().skip(24 * 11) {
            run.jobs[0].outcome.iops *= 0.9;
            run.host.kernel = Some("6.12.9".to_owned());
        }
        let sentence_text = |runs: &[RunRecord]| {
            let table = compared(runs, &[run(500, 9_000.0, "6.12.9")]).expect("a table");
            assert_eq!(table.verdict, Verdict::Worse);
            table.sentences[0].clone()
        };
        let words = sentence_text(&runs);
        assert!(words.contains("of its own 264 runs"), "{words}");
        assert!(
            words.contains("it began on 2026-10-12 with kernel 6.12.9"),
            "{words}"
        );
        for run in &mut runs {
            run.host.kernel = Some("6.12.9".to_owned());
        }
        assert!(sentence_text(&runs).ends_with("it began on 2026-10-12."));
    }

    /// Without a correction one load of five is outside of its interval in every fourth check.
    #[test]
    fn several_loads_are_judged_together() {
        let loads: [u64; 5] = [4_096, 8_192, 16_384, 32_768, 65_536];
        let of = |number: usize, random: &mut Random| -> Vec<RunRecord> {
            let each = loads.iter().map(|block_size_bytes| {
                let iops = 10_000.0 * libm::exp(0.01 * random.normal());
                let mut run = run(number, iops, "6.12.8");
                run.jobs[0].workload.block_size_bytes = *block_size_bytes;
                run
            });
            each.collect()
        };
        let mut alarms = 0;
        for seed in 0..10 {
            let mut random = Random::new(seed);
            let history = (0..47).flat_map(|number| of(number, &mut random));
            let runs: Vec<RunRecord> = history.collect();
            let stored = stored_runs(&runs);
            let by = CompareOptions::default();
            // Chance may make a step of the level.
            let Some(own) = OwnHistory::of(&runs[..5], &stored, by) else {
                continue;
            };
            // In the boot of the stored runs.
            for _ in 0..20 {
                let table = own.compare(&of(47, &mut random), &stored);
                let table = table.expect("a table");
                assert_eq!(table.rows.len(), 5);
                alarms += usize::from(table.verdict != Verdict::NoDifference);
            }
        }
        // 10 are expected, 45 without the correction.
        assert!(alarms <= 25, "{alarms} of 200");
        // A loss of a tenth in one of them is found, and said at its level.
        let mut random = Random::new(100);
        let history = (0..47).flat_map(|number| of(number, &mut random));
        let runs: Vec<RunRecord> = history.collect();
        let stored = stored_runs(&runs);
        let own = OwnHistory::of(&runs[..5], &stored, CompareOptions::default());
        let mut now = runs[..5].to_vec();
        now[2].jobs[0].outcome.iops = 9_000.0;
        let table = own.and_then(|own| own.compare(&now, &stored));
        let table = table.expect("a table");
        assert_eq!(table.rows[2].verdict, Verdict::Worse);
        assert!((table.level_of(&table.rows[2]) - 0.99).abs() < 1e-9);
        let sentence_text = &table.sentences[2];
        assert!(
            sentence_text.contains("9,000 IOPS is outside 99 % of its own 47 runs"),
            "{sentence_text}"
        );
    }

    /// An outlier is followed by six more runs: an alarm needs both. Here each of 96 is in a boot
    /// of its own, which shifts all of its runs.
    #[test]
    fn an_unchanged_disk_hardly_ever_raises_an_alarm() {
        let mut alarms = 0;
        for seed in 0..4 {
            let runs = stored(24 * 10, seed);
            let stored = stored_runs(&runs);
            let by = CompareOptions::default();
            let own = OwnHistory::of(&runs[..1], &stored, by).expect("a history");
            let mut random = Random::new(seed + 100);
            for hour in 0..24 {
                let number = 24 * 20 + hour;
                let boot = libm::exp(0.01 * random.normal());
                let mut fresh = |count: usize| -> Vec<RunRecord> {
                    let one = |_| 10_000.0 * boot * libm::exp(0.01 * random.normal());
                    let values: Vec<f64> = (0..count).map(one).collect();
                    let each = values.into_iter().enumerate();
                    each.map(|(index, iops)| run(number + 1_000 * (1 + index), iops, "6.12.8"))
                        .collect()
                };
                let is_worse = |now: &[RunRecord]| {
                    let table = own.compare(now, &stored).expect("a table");
                    table.verdict == Verdict::Worse
                };
                alarms += usize::from(is_worse(&fresh(1)) && is_worse(&fresh(6)));
            }
        }
        // 2.5 % would be 2.4.
        assert!(alarms <= 4, "{alarms} of 96");
    }
}
