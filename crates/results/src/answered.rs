//! A series' answer and the runs it is based on: computed only here, so that a sentence, a card, a
//! page and a log line never mix two sets of runs.

use crate::{AnswerBound, AnswerPlace, AnswerRecord, LatencySummary, SeriesRecord, StepRecord};
use stripewise_stats::{LatencyStatistic, Slo, may_rise};
use stripewise_units::format_three_digits;

/// Why this load was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerReason {
    /// The only load: the log is a single step.
    Only,
    /// The highest rate within the latency limit.
    Within,
    /// Where more load stops paying off; nothing meets the limit.
    Knee,
    /// The highest rate overall; nothing meets the limit and no knee was found.
    Highest,
}

/// A series' answer, and the runs it is based on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesAnswer {
    /// Why this load was chosen.
    pub reason: AnswerReason,
    /// Rate, load and latency, all from one set of runs. A single run has no interval.
    pub record: AnswerRecord,
    /// Whether those runs meet the latency limit; always true for a crossing.
    pub is_within: bool,
    /// Index into `steps` of the climb's step at that load, or of the last one within the limit.
    pub step: usize,
}

/// The highest rate of a ladder: its fastest step, or the answer if no step was faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighestRate {
    /// Operations a second.
    pub iops: f64,
    /// MiB a second.
    pub mib_per_s: f64,
    /// Operations in flight there.
    pub in_flight: u32,
    /// Present where it is only a bound.
    pub bound: Option<AnswerBound>,
    /// It is the rate of the answer.
    pub is_answer: bool,
}

impl HighestRate {
    /// In MiB/s if `in_bytes`, else in operations per second.
    pub fn rate(&self, in_bytes: bool) -> f64 {
        match in_bytes {
            true => self.mib_per_s,
            false => self.iops,
        }
    }
}

impl SeriesRecord {
    /// Whether its throughput is given in MiB/s rather than IOPS.
    pub fn is_in_bytes(&self) -> bool {
        self.name.starts_with("sequential")
    }

    /// Whether its load only reads.
    pub fn only_reads(&self) -> bool {
        self.name.ends_with("read")
    }

    /// The limited statistic; p99 if the limit cannot be parsed.
    pub fn judged(&self) -> LatencyStatistic {
        let limit = self.slo.parse::<Slo>();
        limit.map_or(LatencyStatistic::P99, |slo| slo.percentile)
    }

    /// The answer: from the runs made for it if there were enough of them, otherwise from a single
    /// step. `None` if nothing was measured, or no step counts.
    pub fn answered(&self) -> Option<SeriesAnswer> {
        if self.no_answer.is_some() {
            return None;
        }
        let (reason, step) = self.answering_step()?;
        let record = self.answer.unwrap_or_else(|| self.of_step(reason, step));
        Some(SeriesAnswer {
            reason,
            record,
            is_within: self.is_within(reason, &record),
            step,
        })
    }

    /// The highest step of a climb, if it adds to the answer: a single run that is no faster than
    /// the answer does not, and one at the answer's own load was only luckier than the runs made
    /// for it.
    pub fn ceiling_above(&self) -> Option<&StepRecord> {
        if self.steps.len() < 2 {
            return None;
        }
        let of_runs = self.answer.is_some();
        let answer = self.answered()?.record;
        let is_there = |step: &StepRecord| f64::from(step.in_flight()) == answer.in_flight.round();
        let counting = self.steps.iter().filter(|step| step.counts());
        let above = counting.filter(|step| match of_runs {
            true => step.iops > answer.iops && !is_there(step),
            false => step.iops >= answer.iops,
        });
        above.max_by(|a, b| a.iops.total_cmp(&b.iops))
    }

    /// The smallest load that counts, and its limited latency in nanoseconds: from the runs made
    /// for the answer if they are at that load.
    pub fn least_load(&self) -> Option<(u32, Option<f64>)> {
        let counting = self.steps.iter().filter(|step| step.counts());
        let least = counting.min_by_key(|step| step.in_flight())?;
        let load = least.in_flight();
        let of_answer = self.answer.filter(|answer| {
            answer.latency_ns > 0 && answer.latency.is_some() && answer.in_flight == f64::from(load)
        });
        let judged = match of_answer {
            Some(answer) => Some(answer.latency_ns as f64),
            None => least
                .latency_ns
                .and_then(|one| one.statistic(self.judged())),
        };
        Some((load, judged))
    }

    /// Whether more in flight than the steps that count had may give more.
    pub fn bound_of_ceiling(&self) -> Option<AnswerBound> {
        let counting = self.steps.iter().filter(|step| step.counts());
        let rates: Vec<f64> = counting.map(|step| step.iops).collect();
        may_rise(&rates).then_some(AnswerBound::AtLeast)
    }

    /// There is only one load, so there is no highest rate among several.
    pub fn has_one_load(&self) -> bool {
        self.steps.iter().filter(|step| step.counts()).count() < 2
    }

    /// Whether a step gave the answer's rate: a rate in its interval, or one that looks the same.
    fn has_step_of(&self, answer: &AnswerRecord) -> bool {
        let least = answer.iops_low.unwrap_or(answer.iops);
        let shown = format_three_digits(answer.iops);
        let mut counting = self.steps.iter().filter(|step| step.counts());
        counting.any(|step| step.iops >= least || format_three_digits(step.iops) == shown)
    }

    /// The highest rate at any latency; none where there is one load only, or where no step was
    /// as fast as the answer, so that the ladder tells nothing of its ceiling.
    pub fn highest(&self) -> Option<HighestRate> {
        if self.has_one_load() {
            return None;
        }
        let answer = self.answered()?.record;
        let is_bound = answer.bound.or(self.ceiling_bound).is_some();
        if !is_bound && !self.has_step_of(&answer) {
            return None;
        }
        let highest = match self.ceiling_above() {
            Some(step) => HighestRate {
                iops: step.iops,
                mib_per_s: step.mib_per_s,
                in_flight: step.in_flight(),
                bound: self.ceiling_bound,
                is_answer: step.iops == answer.iops,
            },
            None => HighestRate {
                iops: answer.iops,
                mib_per_s: answer.mib_per_s,
                in_flight: answer.in_flight.round() as u32,
                bound: self.ceiling_bound.or(answer.bound),
                is_answer: true,
            },
        };
        Some(highest)
    }

    fn answering_step(&self) -> Option<(AnswerReason, usize)> {
        if self.steps.len() == 1 {
            return self.steps[0].counts().then_some((AnswerReason::Only, 0));
        }
        let counts = |index: &usize| self.steps.get(*index).is_some_and(StepRecord::counts);
        let at_load = |load: u32| {
            let mut steps = self.steps.iter();
            steps.position(|step| step.in_flight() == load)
        };
        let knee = || at_load(self.knee.as_ref()?.kneedle_in_flight).filter(counts);
        let ceiling = self.ceiling.filter(counts);
        let nearest = |load: u32| at_load(load).filter(counts).or(ceiling);
        // Runs made for the answer decide whether anything meets the limit.
        let Some(answer) = &self.answer else {
            let within = self.within_limit.filter(counts);
            return within
                .map(|step| (AnswerReason::Within, step))
                .or_else(|| knee().map(|step| (AnswerReason::Knee, step)))
                .or_else(|| ceiling.map(|step| (AnswerReason::Highest, step)));
        };
        let load = answer.in_flight.round() as u32;
        match answer.at {
            AnswerPlace::Limit | AnswerPlace::Plateau => {
                let step = self.within_limit.filter(counts).or(nearest(load))?;
                Some((AnswerReason::Within, step))
            }
            AnswerPlace::Knee => Some((AnswerReason::Knee, nearest(load)?)),
            AnswerPlace::Highest => Some((AnswerReason::Highest, nearest(load)?)),
            AnswerPlace::Only => Some((AnswerReason::Only, nearest(load)?)),
        }
    }

    /// One step as an answer: its rate and latencies, without an interval.
    fn of_step(&self, reason: AnswerReason, index: usize) -> AnswerRecord {
        let step = &self.steps[index];
        let latency = step.latency_ns;
        let judged = latency.and_then(|latency| latency.statistic(self.judged()));
        AnswerRecord {
            at: match reason {
                AnswerReason::Only => AnswerPlace::Only,
                AnswerReason::Within => AnswerPlace::Plateau,
                AnswerReason::Knee => AnswerPlace::Knee,
                AnswerReason::Highest => AnswerPlace::Highest,
            },
            in_flight: f64::from(step.in_flight()),
            bound: None,
            iops: step.iops,
            iops_low: None,
            iops_high: None,
            mib_per_s: step.mib_per_s,
            mib_per_s_low: None,
            mib_per_s_high: None,
            level: 0.0,
            latency_ns: judged.map_or(0, |ns| ns.round().max(0.0) as u64),
            latency,
            runs: 1,
            runs_left_out: 0,
            in_full: None,
        }
    }

    fn is_within(&self, reason: AnswerReason, record: &AnswerRecord) -> bool {
        match reason {
            AnswerReason::Knee | AnswerReason::Highest => false,
            // An upper bound means that its own load no longer meets the limit: a smaller one may.
            AnswerReason::Within if record.bound == Some(AnswerBound::AtMost) => {
                let least = self.least_load();
                let has_smaller = least.is_none_or(|(load, _)| record.in_flight > f64::from(load));
                self.within_limit.is_some() && has_smaller
            }
            AnswerReason::Within => true,
            AnswerReason::Only if record.latency_ns > 0 => {
                let limit = self.slo.parse::<Slo>();
                limit.is_ok_and(|slo| slo.is_met_by(record.latency_ns))
            }
            AnswerReason::Only => self.within_limit.is_some(),
        }
    }
}

impl StepRecord {
    /// Operations in flight: threads times outstanding.
    pub fn in_flight(&self) -> u32 {
        self.threads.saturating_mul(self.outstanding)
    }
}

impl LatencySummary {
    /// One value in nanoseconds; a percentile that the number of operations does not support is
    /// unknown.
    pub fn statistic(&self, statistic: LatencyStatistic) -> Option<f64> {
        Some(match statistic {
            LatencyStatistic::Mean => self.mean,
            LatencyStatistic::P50 => self.p50 as f64,
            LatencyStatistic::P90 => self.p90 as f64,
            LatencyStatistic::P95 => self.p95? as f64,
            LatencyStatistic::P99 => self.p99 as f64,
            LatencyStatistic::P999 => self.p999? as f64,
            LatencyStatistic::Max => self.max as f64,
        })
    }

    /// The value that a limit is compared with, in nanoseconds: a larger one where there are too few
    /// operations for the percentile, which errs on the safe side.
    pub fn limited(&self, statistic: LatencyStatistic) -> u64 {
        let larger = match statistic {
            LatencyStatistic::P95 => self.p99,
            _ => self.max,
        };
        let known = self.statistic(statistic);
        known.map_or(larger, |value| value.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(outstanding: u32, iops: f64, p99_ns: u64) -> StepRecord {
        StepRecord {
            run: outstanding.to_string(),
            threads: 1,
            outstanding,
            iops,
            mib_per_s: iops / 128.0,
            latency_ns: Some(LatencySummary {
                p99: p99_ns,
                ..LatencySummary::default()
            }),
            ..StepRecord::default()
        }
    }

    fn series(steps: Vec<StepRecord>, answer: Option<AnswerRecord>) -> SeriesRecord {
        SeriesRecord {
            name: "random-read".to_owned(),
            slo: "p99<5ms".to_owned(),
            ceiling: Some(steps.len() - 1),
            steps,
            answer,
            ..SeriesRecord::default()
        }
    }

    fn of_runs(at: AnswerPlace, in_flight: f64, iops: f64, latency_ns: u64) -> AnswerRecord {
        AnswerRecord {
            at,
            in_flight,
            bound: None,
            iops,
            iops_low: Some(iops * 0.9),
            iops_high: Some(iops * 1.1),
            mib_per_s: iops / 128.0,
            mib_per_s_low: None,
            mib_per_s_high: None,
            level: 0.95,
            latency_ns,
            latency: None,
            runs: 8,
            runs_left_out: 0,
            in_full: None,
        }
    }

    #[test]
    fn the_runs_made_for_an_answer_are_the_only_ones_in_it() {
        let log = vec![step(1, 899.0, 7_000_000)];
        let alone = series(log.clone(), None).answered().expect("one step");
        assert_eq!((alone.record.iops, alone.record.runs), (899.0, 1));
        assert_eq!(alone.record.latency_ns, 7_000_000);
        assert!(!alone.is_within);
        // The fresh runs are within the limit, and the first step is irrelevant.
        let runs = of_runs(AnswerPlace::Only, 1.0, 700.0, 4_000_000);
        let together = series(log, Some(runs)).answered().expect("runs");
        assert_eq!(together.record, runs);
        assert!(together.is_within);
    }

    #[test]
    fn no_ceiling_is_below_an_answer_or_a_lucky_step_at_its_load() {
        let steps = || {
            vec![
                step(8, 8_317.0, 9),
                step(16, 29_749.0, 9),
                step(32, 10_453.0, 9),
            ]
        };
        let ceiling = |answer: Option<AnswerRecord>| {
            let series = series(steps(), answer);
            series.ceiling_above().map(StepRecord::in_flight)
        };
        let knee = |iops: f64| Some(of_runs(AnswerPlace::Knee, 16.0, iops, 9));
        assert_eq!(ceiling(knee(12_700.0)), None);
        assert_eq!(ceiling(knee(9_000.0)), Some(32));
        let other_place = of_runs(AnswerPlace::Limit, 12.3, 12_700.0, 9);
        assert_eq!(ceiling(Some(other_place)), Some(16));
    }

    /// Steps that met a stall are all slower than runs of which most met none.
    #[test]
    fn the_ceiling_is_the_answer_s_only_where_a_step_was_as_fast() {
        let steps = |most: f64| {
            vec![
                step(8, 27_137.0, 9),
                step(16, most, 9),
                step(32, 27_150.0, 9),
            ]
        };
        let highest = |most: f64, bound: Option<AnswerBound>| {
            let answer = AnswerRecord {
                iops_low: Some(33_700.0),
                ..of_runs(AnswerPlace::Plateau, 32.0, 33_846.0, 9)
            };
            let series = SeriesRecord {
                ceiling_bound: bound,
                ..series(steps(most), Some(answer))
            };
            assert!(!series.has_one_load());
            series.highest().map(|found| (found.iops, found.bound))
        };
        assert_eq!(highest(27_155.0, None), None);
        for most in [33_700.0, 33_790.0] {
            assert_eq!(highest(most, None), Some((33_846.0, None)), "{most}");
        }
        assert_eq!(highest(34_000.0, None), Some((34_000.0, None)));
        let rising = Some(AnswerBound::AtLeast);
        assert_eq!(highest(27_155.0, rising), Some((33_846.0, rising)));
        assert_eq!(series(vec![step(1, 9.0, 9)], None).highest(), None);
    }
}
