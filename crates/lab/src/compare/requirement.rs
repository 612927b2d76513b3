//! Requirements: what a data sheet promises, or an application needs, as gates
//! for `check`.
//!
//! Grammar: `[NAME] METRIC OP VALUE`, blanks optional. NAME is that of a
//! job or of the part of a series (`log`, `random-read`); without one, all jobs
//! that have such a value are meant. METRIC is `iops` or `mib_per_s`, or a
//! latency: `mean`, `p50`, `p90`, `p99`, `p99.9`, `max`; each with the prefix `read_` or
//! `write_` for operations of that kind. OP is `>=` or `>` for a rate, `<=` or `<` for a latency,
//! whose VALUE has its unit: `1ms`.
//!
//! A rate required of a bench is judged by the answers of its series, with
//! their intervals ([`Requirement::judge_answers`]), a latency by that of an answer
//! ([`Requirement::judge_answer_latency`]); everything else by runs.
//! Repetitions of a job count as their median, a rate of six or more with its interval, for a
//! maximum as their largest. A rate applies to the best of
//! several loads (a device that reaches 20,000 at 32 threads has reached them), a
//! latency to each of them. An unknown value does not meet a requirement; void runs leave it
//! undecided, and so do stopped ones, unless it is certainly met or missed.

use super::cells::{Cell, cells_of};
use super::words::cell_words;
use std::fmt;
use std::str::FromStr;
use stripewise_results::{
    AnswerBound, AnswerReason, AnswerRecord, JobRow, RequirementRecord, RequirementVerdict,
    RunRecord, SeriesAnswer, SeriesRecord, Status, rate_unit,
};
use stripewise_stats::{LatencyStatistic, median, median_interval};
use stripewise_units::{
    Nanoseconds, ParseError, format_duration_beside, format_iops_beside, format_mib_per_s_beside,
    format_rate_interval_beside, nearest,
};

/// Confidence of the interval of a rate.
const LEVEL: f64 = 0.95;

const HINT: &str = "a requirement is [name] metric op value: 'read_iops>=20000', 'log p99<1ms', 'mib_per_s>500'; metrics are iops, mib_per_s, mean, p50, p90, p95, p99, p99.9, max, each also with read_ or write_ before it (in quotes, as the shell takes < and > for itself)";

/// Which operations of a job it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Read,
    Write,
}

/// The quantity it limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Iops,
    MibPerS,
    Latency(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// Why a load that was stopped decides nothing.
const STOPPED: &str = "stopped before its end";

/// The value of one load, and what it says.
struct CellVerdict<'a, 'r> {
    cell: &'a Cell<'r>,
    value: f64,
    interval: Option<[f64; 2]>,
    verdict: RequirementVerdict,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    text: String,
    name: Option<String>,
    pub(super) kind: Kind,
    pub(super) quantity: Quantity,
    pub(super) relation: Relation,
    /// IOPS, MiB/s, or nanoseconds.
    pub(super) value: f64,
}

/// Latencies by the name people type, and their names in records.
const LATENCIES: [(&str, &str); 8] = [
    ("mean", "mean"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99.9", "p999"),
    ("p999", "p999"),
    ("p99", "p99"),
    ("max", "max"),
];

/// As typed.
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Requirement {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = |problem: String| {
            ParseError::new(text, format!("is not a valid requirement: {problem}"), HINT)
        };
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| error("there is no <, <=, > or >= in it".to_owned()))?;
        let (left, right) = text.split_at(at);
        let (relation, amount) = relation(right);
        let mut words: Vec<&str> = left.split_whitespace().collect();
        let metric = words
            .pop()
            .ok_or_else(|| error("there is no metric before the comparison".to_owned()))?;
        let (kind, quantity) =
            metric_of(metric).ok_or_else(|| error(format!("`{metric}` is not a metric")))?;
        let value = value_of(quantity, amount.trim()).map_err(error)?;
        if let Some((problem, sign)) = wrong_way_round(quantity, relation) {
            let meant = format!("{}{sign}{}", left.trim(), amount.trim());
            return Err(ParseError::new(
                text,
                format!("is not a valid requirement: {problem}"),
                format!("did you mean `{meant}`?"),
            ));
        }
        Ok(Requirement {
            text: text.trim().to_owned(),
            name: (!words.is_empty()).then(|| words.join(" ")),
            kind,
            quantity,
            relation,
            value,
        })
    }
}

fn relation(right: &str) -> (Relation, &str) {
    for (sign, relation) in [
        (">=", Relation::AtLeast),
        ("<=", Relation::AtMost),
        (">", Relation::Above),
    ] {
        if let Some(rest) = right.strip_prefix(sign) {
            return (relation, rest);
        }
    }
    (Relation::Below, right.strip_prefix('<').unwrap_or(right))
}

/// Why a limit is on the side that no one requires, and the comparison that was probably meant.
fn wrong_way_round(quantity: Quantity, relation: Relation) -> Option<(&'static str, &'static str)> {
    const LATENCY: &str = "a latency has an upper limit";
    match (quantity, relation) {
        (Quantity::Latency(_), Relation::AtLeast) => Some((LATENCY, "<=")),
        (Quantity::Latency(_), Relation::Above) => Some((LATENCY, "<")),
        (Quantity::Iops | Quantity::MibPerS, Relation::AtMost | Relation::Below) => {
            Some(("a rate has a lower limit", ">="))
        }
        _ => None,
    }
}

fn metric_of(text: &str) -> Option<(Kind, Quantity)> {
    let (kind, rest) = match (text.strip_prefix("read_"), text.strip_prefix("write_")) {
        (Some(rest), _) => (Kind::Read, rest),
        (_, Some(rest)) => (Kind::Write, rest),
        _ => (Kind::Any, text),
    };
    let rest = rest.strip_prefix("latency_").unwrap_or(rest);
    let quantity = match rest {
        "iops" => Quantity::Iops,
        "mib_per_s" => Quantity::MibPerS,
        _ => {
            let known = LATENCIES.iter().find(|(typed, _)| *typed == rest)?;
            Quantity::Latency(known.1)
        }
    };
    Some((kind, quantity))
}

fn value_of(quantity: Quantity, text: &str) -> Result<f64, String> {
    let value = match quantity {
        Quantity::Latency(_) => {
            let parsed: Option<Nanoseconds> = text.parse().ok();
            // A bare number would be in seconds, which no one means for a latency.
            let limit = parsed
                .filter(|_| text.ends_with(|last: char| last.is_alphabetic()))
                .ok_or_else(|| {
                    format!("`{text}` is not a valid duration; a latency has its unit: 1ms, 500us")
                })?;
            limit.ns() as f64
        }
        Quantity::Iops | Quantity::MibPerS => {
            let bare = match quantity {
                Quantity::MibPerS => text.strip_suffix("MiB/s").unwrap_or(text).trim_end(),
                _ => text,
            };
            bare.replace([',', '_'], "")
                .parse()
                .map_err(|_| format!("`{text}` is not a number"))?
        }
    };
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(format!("`{text}` is not above 0"))
    }
}

impl Requirement {
    /// The job or part of a series that it names, if any.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Refuses, before anything is measured, a name that is not in `measured`: jobs and parts of
    /// series. A requirement without a name applies to all.
    ///
    /// # Errors
    /// If the name is none of these; the hint lists them.
    pub fn check_name(&self, measured: &[&str]) -> Result<(), ParseError> {
        match &self.name {
            Some(name) if !measured.contains(&name.as_str()) => {
                let names = measured.join(", ");
                let near = nearest(name, measured.iter().copied());
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                Err(ParseError::new(
                    &self.text,
                    format!(
                        "is not a requirement of what is measured: nothing here is called `{name}`"
                    ),
                    format!("{near}name one of {names}; or none, and all of them are meant"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// It limits a latency, not a rate.
    pub fn is_of_latency(&self) -> bool {
        matches!(self.quantity, Quantity::Latency(_))
    }

    /// It limits the longest latency, which a single excess misses.
    pub fn is_of_maximum(&self) -> bool {
        self.quantity == Quantity::Latency("max")
    }

    /// It applies to writes only.
    pub fn is_of_writes(&self) -> bool {
        self.kind == Kind::Write
    }

    /// Judges runs by it: undecided if some are void, missed if none has such a value, or none
    /// completed. A load that was stopped leaves it undecided, unless what was measured is certain:
    /// a rate that another load reached, or a latency that was too long.
    pub fn judge<'a>(&self, runs: impl IntoIterator<Item = &'a RunRecord>) -> RequirementRecord {
        let (whole, partial): (Vec<&RunRecord>, Vec<&RunRecord>) = runs
            .into_iter()
            .partition(|run| run.status == Status::Complete);
        let of_whole = cells_of(whole.iter().copied());
        let of_partial = cells_of(partial.iter().copied());
        let is_stopped = of_partial
            .iter()
            .any(|cell| self.means(cell) && !of_whole.iter().any(|one| one.is_same(cell)));
        let cells = match whole.is_empty() {
            true => &of_partial,
            false => &of_whole,
        };
        let meant: Vec<&Cell<'_>> = cells.iter().filter(|cell| self.means(cell)).collect();
        if !meant
            .iter()
            .all(|cell| cell.rows.iter().all(JobRow::is_valid))
        {
            return self.undecided("its runs are void: see the warnings");
        }
        let verdicts = meant.into_iter().filter_map(|cell| self.judge_cell(cell));
        let Some(decides) = self.deciding(verdicts) else {
            return match is_stopped {
                true => self.undecided(STOPPED),
                false => self.unknown("no run here has this value"),
            };
        };
        let CellVerdict {
            cell,
            value,
            interval,
            verdict,
        } = decides;
        let is_certain = match verdict {
            RequirementVerdict::Met => !self.is_of_latency() && !whole.is_empty(),
            RequirementVerdict::Missed => {
                self.is_of_maximum() || self.is_of_latency() && !whole.is_empty()
            }
            RequirementVerdict::Undecided => false,
        };
        if is_stopped && !is_certain {
            return self.undecided(STOPPED);
        }
        let (of, repetitions) = self.basis(cell, value);
        RequirementRecord {
            requirement: self.text.clone(),
            measured: Some(value),
            measured_words: self.words_with(value, interval),
            of,
            repetitions,
            met: verdict == RequirementVerdict::Met,
            interval,
            undecided: verdict == RequirementVerdict::Undecided,
            series: Vec::new(),
        }
    }

    /// The value and verdict of one load; `None` if it has no such value.
    fn judge_cell<'a, 'r>(&self, cell: &'a Cell<'r>) -> Option<CellVerdict<'a, 'r>> {
        let (value, interval) = (self.of_cell(cell)?, self.interval_of(cell));
        Some(CellVerdict {
            cell,
            value,
            interval,
            verdict: self.verdict_on(value, interval),
        })
    }

    /// The best load decides about a rate, the worst about a latency.
    fn deciding<'a, 'r>(
        &self,
        all: impl Iterator<Item = CellVerdict<'a, 'r>>,
    ) -> Option<CellVerdict<'a, 'r>> {
        match self.is_of_latency() {
            true => all.max_by(|a, b| a.value.total_cmp(&b.value)),
            false => all.min_by(|a, b| {
                let verdicts = b.verdict.cmp(&a.verdict);
                verdicts.then(b.value.total_cmp(&a.value))
            }),
        }
    }

    /// Judges the answers of a bench's series by a required rate: the best of
    /// those that it applies to. Met if the whole interval meets it, missed if none of
    /// it does, else undecided, as the rate of a single run always is. A series that misses
    /// its latency limit meets no rate: its rate at the knee is not what was required.
    /// `None` for a latency, or if no series that it applies to has an answer. `longer`: what
    /// makes longer runs than these, which an undecided one names.
    pub fn judge_answers(&self, all: &[SeriesRecord], longer: &str) -> Option<RequirementRecord> {
        let in_bytes = match self.quantity {
            Quantity::Latency(_) => return None,
            quantity => quantity == Quantity::MibPerS,
        };
        let rate = |answer: &AnswerRecord| match in_bytes {
            true => answer.mib_per_s,
            false => answer.iops,
        };
        let meant = all.iter().filter(|one| self.means_series(one));
        let answers = meant.filter_map(|series| Some((series, series.answered()?)));
        let is_missed = |answer: &SeriesAnswer| {
            matches!(answer.reason, AnswerReason::Knee | AnswerReason::Highest)
        };
        let (series, answer) = answers.max_by(|(_, a), (_, b)| {
            let within = is_missed(b).cmp(&is_missed(a));
            within.then(rate(&a.record).total_cmp(&rate(&b.record)))
        })?;
        let record = answer.record;
        let [low, high] = match in_bytes {
            true => [record.mib_per_s_low, record.mib_per_s_high],
            false => [record.iops_low, record.iops_high],
        };
        let is_certain = |end: Option<f64>| end.is_some_and(|end| self.is_met_by(end));
        // Which of them is the storage's in the long run is not known.
        let full = record.in_full.map(|full| {
            let (rate, ends) = full.rate(in_bytes);
            ends.unwrap_or([rate, rate])
        });
        let least = low.map(|low| full.map_or(low, |[end, _]| low.min(end)));
        let most = high.map(|high| full.map_or(high, |[_, end]| high.max(end)));
        let is_over = is_missed(&answer);
        let met = is_certain(least) && !is_over;
        let missed = is_over || most.is_some() && !is_certain(most);
        let place = match answer.reason {
            AnswerReason::Within => format!(" at {}", series.slo),
            AnswerReason::Knee => format!(" at the knee: no load is within {}", series.slo),
            AnswerReason::Highest => {
                format!(" at the highest rate: no load is within {}", series.slo)
            }
            AnswerReason::Only => String::new(),
        };
        let runs = record.runs_words();
        let next = match met || missed {
            true => String::new(),
            false => format!("; longer runs would tell: {longer}"),
        };
        Some(RequirementRecord {
            requirement: self.text.clone(),
            measured: Some(rate(&record)),
            measured_words: record.words_beside(in_bytes, self.value),
            of: format!("{}{place}; {runs}{next}", series.name.replace('-', " ")),
            repetitions: 0,
            met,
            interval: low.zip(high).map(|(low, high)| [low, high]),
            undecided: !met && !missed,
            series: Vec::new(),
        })
    }

    /// Judges the answer of a series by a required latency: that of all operations of its runs, as
    /// the answer shows it. `None` for a rate, and where the answer has no such latency: at a
    /// crossing between two loads, or where no load is within the limit.
    pub fn judge_answer_latency(&self, series: &SeriesRecord) -> Option<RequirementRecord> {
        let answer = series.answered()?;
        let record = answer.record;
        let place = match answer.reason {
            AnswerReason::Only => String::new(),
            AnswerReason::Within if record.bound != Some(AnswerBound::AtMost) => {
                format!(" at {}", series.slo)
            }
            _ => return None,
        };
        let value = record.latency?.statistic(self.statistic()?)?;
        let name = series.name.replace('-', " ");
        Some(RequirementRecord {
            requirement: self.text.clone(),
            measured: Some(value),
            measured_words: self.words(value),
            of: format!("{name}{place}; {}", record.runs_words()),
            repetitions: 0,
            met: self.is_met_by(value),
            interval: None,
            undecided: false,
            series: Vec::new(),
        })
    }

    /// The statistic that a required latency is about.
    pub(super) fn statistic(&self) -> Option<LatencyStatistic> {
        match self.quantity {
            // Records write it without the point.
            Quantity::Latency("p999") => Some(LatencyStatistic::P999),
            Quantity::Latency(name) => LatencyStatistic::from_name(name),
            Quantity::Iops | Quantity::MibPerS => None,
        }
    }

    /// Whether it is about this series.
    pub fn means_series(&self, series: &SeriesRecord) -> bool {
        let named = self.name.as_ref().is_none_or(|name| *name == series.name);
        named
            && match self.kind {
                Kind::Any => true,
                Kind::Read => series.only_reads(),
                Kind::Write => !series.only_reads(),
            }
    }

    fn undecided(&self, why: &str) -> RequirementRecord {
        RequirementRecord {
            undecided: true,
            ..self.unknown(why)
        }
    }

    fn unknown(&self, why: &str) -> RequirementRecord {
        RequirementRecord {
            requirement: self.text.clone(),
            measured_words: why.to_owned(),
            of: self.name.clone().unwrap_or_default(),
            ..RequirementRecord::default()
        }
    }

    fn is_met_by(&self, value: f64) -> bool {
        match self.relation {
            Relation::AtLeast => value >= self.value,
            Relation::Above => value > self.value,
            Relation::AtMost => value <= self.value,
            Relation::Below => value < self.value,
        }
    }

    /// By its whole interval, if it has one.
    fn verdict_on(&self, value: f64, interval: Option<[f64; 2]>) -> RequirementVerdict {
        let ends = interval.unwrap_or([value, value]);
        match ends.map(|end| self.is_met_by(end)) {
            [true, true] => RequirementVerdict::Met,
            [false, false] => RequirementVerdict::Missed,
            _ => RequirementVerdict::Undecided,
        }
    }

    fn words_with(&self, value: f64, interval: Option<[f64; 2]>) -> String {
        match interval {
            Some(ends) => {
                let unit = rate_unit(self.quantity == Quantity::MibPerS);
                format_rate_interval_beside(value, ends, unit, self.value)
            }
            None => self.words(value),
        }
    }

    fn words(&self, value: f64) -> String {
        match self.quantity {
            Quantity::Iops => format!("{} IOPS", format_iops_beside(value, self.value)),
            Quantity::MibPerS => format_mib_per_s_beside(value, self.value),
            Quantity::Latency(_) => {
                format_duration_beside(value.round() as u64, self.value.round() as u64)
            }
        }
    }

    /// The interval of the rate of a load, if there are enough repetitions.
    fn interval_of(&self, cell: &Cell<'_>) -> Option<[f64; 2]> {
        if self.is_of_latency() {
            return None;
        }
        let rates: Vec<f64> = cell.rows.iter().filter_map(|row| self.of(row)).collect();
        median_interval(&rates, LEVEL)
    }

    /// The value of all repetitions of a load.
    fn of_cell(&self, cell: &Cell<'_>) -> Option<f64> {
        let rows = cell.rows.iter();
        match self.is_of_maximum() {
            true => rows.filter_map(|row| self.longest(row)).reduce(f64::max),
            false => median(&rows.filter_map(|row| self.of(row)).collect::<Vec<f64>>()),
        }
    }

    /// What that value is of, and the number of repetitions whose median it is.
    fn basis(&self, cell: &Cell<'_>, value: f64) -> (String, usize) {
        let (of, runs) = (cell_words(cell), cell.rows.len());
        if !self.is_of_maximum() {
            return (of, runs);
        }
        let mut in_windows = cell.rows.iter().filter_map(|row| self.of(row));
        let place = match in_windows.all(|longest| longest < value) {
            true => "; in flight at the stop",
            false => "",
        };
        match runs {
            1 => (format!("{of}{place}"), 1),
            runs => (format!("{of}{place}; largest of {runs} runs"), 0),
        }
    }

    /// The longest latency of one job, with what was in flight at the stop: a stall at the end is
    /// one, too.
    fn longest(&self, row: &JobRow<'_>) -> Option<f64> {
        let in_window = self.of(row)?;
        let at_stop = row.job.outcome.drain.latency_ns_max as f64;
        let is_of_kind = self.kind == Kind::Any || !row.is_mixed();
        // Syncs take longer, and are not among the latencies that are required.
        Some(match is_of_kind && row.job.workload.sync.is_none() {
            true => in_window.max(at_stop),
            // The record does not say of which kind it is.
            false => in_window,
        })
    }

    fn means(&self, cell: &Cell<'_>) -> bool {
        let Some(name) = &self.name else { return true };
        cell.rows.iter().any(|row| {
            row.job.name == *name || row.run.series_part.as_deref() == Some(name.as_str())
        })
    }

    /// The value of one job; `None` if it has none, or is of the other kind.
    fn of(&self, row: &JobRow<'_>) -> Option<f64> {
        let reads = row.job.workload.read_percent;
        let only = match self.kind {
            Kind::Any => true,
            Kind::Read => reads == 100,
            Kind::Write => reads == 0 && !row.job.workload.discards(),
        };
        row.operation()?;
        match self.quantity {
            Quantity::Iops if only => row.iops(),
            Quantity::MibPerS if only => row.mib_per_s(),
            Quantity::Latency(name) if self.kind == Kind::Any || only => row.latency(name),
            quantity => self.of_one_kind(row, quantity),
        }
    }

    /// The value for reads or writes of a job that also does other operations.
    fn of_one_kind(&self, row: &JobRow<'_>, quantity: Quantity) -> Option<f64> {
        let reads = row.job.workload.read_percent;
        let outcome = match self.kind {
            Kind::Read if reads > 0 => &row.job.outcome.read,
            Kind::Write if row.job.workload.writes() => &row.job.outcome.write,
            _ => return None,
        };
        // Mixed results of other tools may lack either kind; they are not split.
        if row.run.imported.is_some() {
            return None;
        }
        let seconds = row.duration_ns().filter(|ns| *ns > 0)? as f64 / 1e9;
        match quantity {
            Quantity::Iops => Some(outcome.operations as f64 / seconds),
            Quantity::MibPerS => Some(outcome.bytes as f64 / 1_048_576.0 / seconds),
            Quantity::Latency(name) => {
                let latencies = outcome.latency_ns?;
                Some(match name {
                    "mean" => latencies.mean,
                    "p50" => latencies.p50 as f64,
                    "p90" => latencies.p90 as f64,
                    "p95" => latencies.p95? as f64,
                    "p99" => latencies.p99 as f64,
                    "p999" => latencies.p999? as f64,
                    _ => latencies.max as f64,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{run, void};
    use super::*;
    use stripewise_results::{AnswerPlace, InFullRecord, KindOutcome, LatencySummary, StepRecord};
    use stripewise_workload::SyncPolicy;

    const LONGER: &str = "bench --thorough";

    #[test]
    fn a_name_of_nothing_that_is_measured_is_an_error() {
        let measured = ["random-read", "log"];
        for (text, fits) in [
            ("random-read iops>=5", true),
            ("iops>=5", true),
            ("log p99<1ms", true),
            ("random-raed iops>=5", false),
            ("random-write iops>=5", false),
            ("Log p99<1ms", false),
        ] {
            let checked = parsed(text).check_name(&measured);
            assert_eq!(checked.is_ok(), fits, "{text}");
            if let Err(error) = checked {
                assert!(error.hint().contains("random-read, log"), "{error}");
                let near = "did you mean `random-read`? ";
                let is_near = text.starts_with("random-raed");
                assert_eq!(error.hint().contains(near), is_near, "{error}");
            }
        }
    }

    #[test]
    fn a_value_never_looks_to_be_on_the_other_side_of_what_is_required() {
        for (text, value, words) in [
            ("iops>=777", 774.0, "774 IOPS"),
            ("iops>=777", 776.8, "776.8 IOPS"),
            ("iops>=777", 777.0, "777 IOPS"),
            ("mib_per_s>=238.4", 238.37, "238.37 MiB/s"),
            ("p99<10ms", 9_996_000.0, "9.996 ms"),
            ("p99<10ms", 10_000_000.0, "10 ms"),
            ("p99<10ms", 12_004_000.0, "12.0 ms"),
        ] {
            assert_eq!(parsed(text).words(value), words, "{text}");
        }
    }

    fn parsed(text: &str) -> Requirement {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn requirements_are_read_as_people_type_them() {
        for (text, name, kind, quantity, relation, value) in [
            (
                "read_iops>=20000",
                None,
                Kind::Read,
                Quantity::Iops,
                Relation::AtLeast,
                20_000.0,
            ),
            (
                "log p99<1ms",
                Some("log"),
                Kind::Any,
                Quantity::Latency("p99"),
                Relation::Below,
                1e6,
            ),
            (
                " iops > 20,000 ",
                None,
                Kind::Any,
                Quantity::Iops,
                Relation::Above,
                20_000.0,
            ),
            (
                "sequential-read mib_per_s >= 500 MiB/s",
                Some("sequential-read"),
                Kind::Any,
                Quantity::MibPerS,
                Relation::AtLeast,
                500.0,
            ),
            (
                "write_p99.9<=250us",
                None,
                Kind::Write,
                Quantity::Latency("p999"),
                Relation::AtMost,
                250e3,
            ),
            (
                "read_latency_mean<5ms",
                None,
                Kind::Read,
                Quantity::Latency("mean"),
                Relation::Below,
                5e6,
            ),
        ] {
            let seen = parsed(text);
            assert_eq!(
                (
                    seen.name(),
                    seen.kind,
                    seen.quantity,
                    seen.relation,
                    seen.value
                ),
                (name, kind, quantity, relation, value),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_requirement_is_refused_with_a_hint() {
        for (text, problem) in [
            ("", "nothing was given"),
            ("iops=5", "there is no <, <=, > or >= in it"),
            (">=5", "there is no metric before the comparison"),
            ("speed>5", "`speed` is not a metric"),
            ("p99<5", "`5` is not a valid duration"),
            ("iops>=fast", "`fast` is not a number"),
            ("iops>=-1", "`-1` is not above 0"),
            ("iops>=0", "`0` is not above 0"),
        ] {
            let error = text.parse::<Requirement>().unwrap_err();
            assert!(error.to_string().contains(problem), "{text}: {error}");
            assert!(error.hint().contains("'read_iops>=20000'"));
        }
    }

    #[test]
    fn a_limit_on_the_wrong_side_is_refused_with_what_was_meant() {
        for (text, meant) in [
            ("random-read p99>5ms", "`random-read p99<5ms`"),
            ("max >= 5ms", "`max<=5ms`"),
            ("read_iops<800", "`read_iops>=800`"),
            ("mib_per_s <= 500 MiB/s", "`mib_per_s>=500 MiB/s`"),
        ] {
            let error = text.parse::<Requirement>().unwrap_err();
            assert_eq!(error.hint(), format!("did you mean {meant}?"), "{text}");
        }
    }

    #[test]
    fn a_rate_is_required_of_the_best_load_and_a_latency_of_each() {
        let mut runs = vec![run(1, 1, 5_000.0), run(2, 8, 21_000.0), run(3, 8, 23_000.0)];
        for (run, p99) in runs.iter_mut().zip([500_000, 4_000_000, 6_000_000]) {
            run.jobs[0].outcome.read.latency_ns = Some(LatencySummary {
                p99,
                ..LatencySummary::default()
            });
        }
        for (text, met, measured) in [
            ("read_iops>=22000", true, Some(22_000.0)),
            ("iops>22000", false, Some(22_000.0)),
            ("p99<5ms", false, Some(5e6)),
            ("p99<=5ms", true, Some(5e6)),
            ("write_iops>=1", false, None),
            ("p99.9<1s", false, None),
            ("log iops>=1", false, None),
            ("job iops>=1", true, Some(22_000.0)),
        ] {
            let outcome = parsed(text).judge(&runs);
            assert_eq!((outcome.met, outcome.measured), (met, measured), "{text}");
        }
    }

    #[test]
    fn what_is_required_of_void_runs_is_undecided() {
        let mut runs = vec![run(1, 8, 5_000.0), void(run(2, 8, 5_000.0))];
        runs[0].jobs[0].outcome.read.latency_ns = Some(LatencySummary::default());
        for text in ["iops>=1", "iops>=9000", "p99<1ms", "write_iops>=1"] {
            let found = parsed(text).judge(&runs);
            assert_eq!((found.met, found.undecided), (false, true), "{text}");
            assert_eq!(found.measured, None, "{text}");
            assert!(found.measured_words.contains("its runs are void"));
        }
        let valid = parsed("iops>=9000").judge(&runs[..1]);
        assert_eq!((valid.met, valid.undecided), (false, false));
    }

    /// It may have gone either way in the rest of its time. Only an excess stays one.
    #[test]
    fn what_is_required_of_stopped_runs_is_undecided_unless_it_is_certain() {
        use RequirementVerdict::{Met, Missed, Undecided};
        let with_latency = |mut run: RunRecord, ns: u64| {
            run.jobs[0].outcome.read.latency_ns = Some(LatencySummary {
                p99: ns,
                max: ns,
                ..LatencySummary::default()
            });
            run
        };
        let stopped = |run: RunRecord| RunRecord {
            status: Status::Partial,
            ..run
        };
        let alone = [stopped(with_latency(run(1, 8, 5_000.0), 9_000_000))];
        // The same load ran to its end before.
        let again = [
            with_latency(run(1, 8, 5_000.0), 9_000_000),
            stopped(run(2, 8, 100.0)),
        ];
        let other = [
            with_latency(run(1, 1, 5_000.0), 9_000_000),
            stopped(run(2, 8, 100.0)),
        ];
        let judged = |text: &str, runs: &[RunRecord]| parsed(text).judge(runs).verdict();
        for (text, verdicts) in [
            ("iops>=5000", [Undecided, Met, Met]),
            ("iops>=6000", [Undecided, Missed, Undecided]),
            ("p99<10ms", [Undecided, Met, Undecided]),
            ("p99<5ms", [Undecided, Missed, Missed]),
            ("max<10ms", [Undecided, Met, Undecided]),
            ("max<5ms", [Missed, Missed, Missed]),
            ("write_iops>=1", [Undecided, Missed, Undecided]),
        ] {
            let found = [&alone[..], &again, &other].map(|runs| judged(text, runs));
            assert_eq!(found, verdicts, "{text}");
        }
    }

    #[test]
    fn a_rate_of_six_runs_is_met_missed_or_undecided_by_its_interval() {
        let rates = [200.0, 199.5, 141.0, 200.0, 200.0, 199.8];
        let runs = rates.into_iter().zip(1..);
        let runs: Vec<RunRecord> = runs.map(|(iops, number)| run(number, 8, iops)).collect();
        for (text, met, undecided) in [
            ("iops>=141", true, false),
            ("iops>=199", false, true),
            ("iops>200", false, false),
        ] {
            let found = parsed(text).judge(&runs);
            assert_eq!((found.met, found.undecided), (met, undecided), "{text}");
            assert_eq!(found.interval, Some([141.0, 200.0]), "{text}");
            assert!(found.measured_words.contains("141-200)"), "{found:?}");
        }
        // Five have none.
        let five = parsed("iops>=199").judge(&runs[..5]);
        assert_eq!((five.met, five.interval), (true, None));
        // A load that is certain decides, not one that may be faster.
        let mut two = runs;
        two.extend((11..17).map(|number| run(number, 4, 150.0)));
        let found = parsed("iops>=145").judge(&two);
        assert_eq!((found.met, found.measured), (true, Some(150.0)));
    }

    /// A single excess misses it, however few of the runs have one.
    #[test]
    fn a_maximum_over_repetitions_is_the_largest() {
        let mut runs = vec![run(1, 8, 5_000.0), run(2, 8, 5_000.0), run(3, 8, 5_000.0)];
        for (run, max) in runs.iter_mut().zip([490_000, 900_000_000, 480_000]) {
            run.jobs[0].outcome.read.latency_ns = Some(LatencySummary {
                max,
                ..LatencySummary::default()
            });
        }
        for (text, met) in [("max<100ms", false), ("max<1s", true)] {
            let found = parsed(text).judge(&runs);
            assert_eq!((found.met, found.measured), (met, Some(9e8)), "{text}");
            assert!(found.of.ends_with("; largest of 3 runs"), "{}", found.of);
            assert_eq!(found.repetitions, 0);
        }
        let one = parsed("max<100ms").judge(&runs[..1]);
        assert_eq!((one.met, one.repetitions), (true, 1));
        // So does what was still in flight at the stop.
        runs[0].jobs[0].outcome.drain.latency_ns_max = 700_000_000;
        let one = parsed("max<100ms").judge(&runs[..1]);
        assert_eq!((one.met, one.measured), (false, Some(7e8)));
        assert!(one.of.ends_with("; in flight at the stop"), "{}", one.of);
        // But that may have been a sync.
        runs[0].jobs[0].workload.sync = Some(SyncPolicy::fdatasync(1));
        assert!(parsed("max<100ms").judge(&runs[..1]).met);
    }

    #[test]
    fn what_is_required_of_writes_is_not_met_by_discards() {
        let mut runs = vec![run(1, 1, 5_000.0)];
        let job = &mut runs[0].jobs[0];
        let latency_ns = Some(LatencySummary {
            p99: 1_000_000,
            ..LatencySummary::default()
        });
        (job.workload.read_percent, job.workload.discard_percent) = (0, 100);
        job.outcome.duration_ns = 1_000_000_000;
        job.outcome.discard = Some(KindOutcome {
            operations: 5_000,
            latency_ns,
            ..KindOutcome::default()
        });
        let judged = |runs: &[RunRecord], text: &str| {
            let outcome = parsed(text).judge(runs);
            (outcome.met, outcome.measured)
        };
        for (text, expected) in [
            ("iops>=5000", (true, Some(5_000.0))),
            ("p99<2ms", (true, Some(1e6))),
            ("write_iops>=1", (false, None)),
            ("write_p99<2ms", (false, None)),
            ("read_iops>=1", (false, None)),
        ] {
            assert_eq!(judged(&runs, text), expected, "{text}");
        }
        // Nor do they count next to writes.
        let job = &mut runs[0].jobs[0];
        job.workload.discard_percent = 80;
        job.outcome.write = KindOutcome {
            operations: 1_000,
            latency_ns,
            ..KindOutcome::default()
        };
        let found = judged(&runs, "write_iops>=5000");
        assert_eq!(found, (false, Some(1_000.0)));
    }

    fn answer() -> AnswerRecord {
        AnswerRecord {
            at: AnswerPlace::Limit,
            in_flight: 12.0,
            bound: None,
            iops: 20_000.0,
            iops_low: Some(19_000.0),
            iops_high: Some(21_000.0),
            mib_per_s: 156.2,
            mib_per_s_low: Some(148.4),
            mib_per_s_high: Some(164.0),
            level: 0.95,
            latency_ns: 5_000_000,
            latency: None,
            runs: 20,
            runs_left_out: 0,
            in_full: None,
        }
    }

    fn series(name: &str, answer: Option<AnswerRecord>) -> SeriesRecord {
        let step = |outstanding: u32, iops: f64| StepRecord {
            run: outstanding.to_string(),
            threads: 1,
            outstanding,
            iops,
            mib_per_s: iops / 128.0,
            ..StepRecord::default()
        };
        SeriesRecord {
            name: name.to_owned(),
            slo: "p99<5ms".to_owned(),
            steps: vec![step(1, 9_000.0), step(12, 20_000.0)],
            ceiling: Some(1),
            answer,
            ..SeriesRecord::default()
        }
    }

    #[test]
    fn a_rate_of_a_bench_is_met_missed_or_undecided_by_its_interval() {
        let answer = answer();
        let all = [
            series("random-read", Some(answer)),
            series("random-write", None),
        ];
        let judged = |text: &str| parsed(text).judge_answers(&all, LONGER);
        for (text, met, undecided) in [
            ("random-read iops>=19000", true, false),
            ("read_iops>=20500", false, true),
            ("random-read iops>21000", false, false),
            ("read_mib_per_s>=150", false, true),
        ] {
            let found = judged(text).expect("an answer");
            assert_eq!((found.met, found.undecided), (met, undecided), "{text}");
            assert!(found.of.contains("at p99<5ms; 20 runs"), "{}", found.of);
            assert_eq!(found.of.contains(LONGER), undecided, "{}", found.of);
        }
        // With the stalls that some runs met it is less than the interval.
        let stalled = AnswerRecord {
            in_full: Some(InFullRecord {
                iops: 18_000.0,
                iops_low: Some(17_000.0),
                iops_high: Some(18_500.0),
                mib_per_s: 140.6,
                mib_per_s_low: Some(132.8),
                mib_per_s_high: Some(144.5),
                runs_apart: 3,
                difference_percent: -60.0,
                runs: 20,
            }),
            ..answer
        };
        for (text, met, undecided) in [
            ("iops>=17000", true, false),
            ("iops>=18000", false, true),
            ("iops>=19000", false, true),
            ("iops>21000", false, false),
        ] {
            let found = parsed(text).judge_answers(&[series("random-read", Some(stalled))], LONGER);
            let found = found.expect("an answer");
            assert_eq!((found.met, found.undecided), (met, undecided), "{text}");
        }
        // None is named, or a latency is required.
        for text in ["log iops>=1", "random-read p99<5ms"] {
            assert_eq!(judged(text), None, "{text}");
        }
    }

    #[test]
    fn without_an_interval_a_rate_of_a_bench_is_missed_or_undecided() {
        let all = [series("random-write", None)];
        let judged = |text: &str| parsed(text).judge_answers(&all, LONGER);
        let answer = answer();
        // A single run has no interval, and no load is within the limit.
        let found = judged("random-write iops>=1").expect("an answer");
        assert!(!found.met && !found.undecided, "{found:?}");
        assert!(
            found.of.contains("no load is within p99<5ms"),
            "{}",
            found.of
        );
        let mut single = series("random-read", None);
        single.within_limit = Some(1);
        let found = parsed("random-read iops>=1").judge_answers(&[single], LONGER);
        let found = found.expect("an answer");
        assert!(!found.met && found.undecided, "{found:?}");
        // The knee's rate is not within the limit, however high it is.
        let knee = AnswerRecord {
            at: AnswerPlace::Knee,
            ..answer
        };
        let found = parsed("iops>=1").judge_answers(&[series("random-read", Some(knee))], LONGER);
        let found = found.expect("an answer");
        assert!(!found.met && !found.undecided, "{found:?}");
        // A bound decides in one direction only.
        let bound = AnswerRecord {
            bound: Some(AnswerBound::AtLeast),
            iops: 19_000.0,
            iops_high: None,
            ..answer
        };
        let all = [series("random-read", Some(bound))];
        let judged = |text: &str| {
            let found = parsed(text).judge_answers(&all, LONGER).expect("an answer");
            (found.met, found.undecided)
        };
        assert_eq!(judged("iops>=19000"), (true, false));
        assert_eq!(judged("iops>=30000"), (false, true));
    }
}
