//! How a bench spends its time: which series, how long a step, and the deadline of
//! each series.

use crate::answer::{AnswerPlan, CROSSING_RUNS_MIN};
use crate::climb::{SeriesPlan, longest_ns};
use crate::ladder::Limits;
use crate::series::{SeriesKind, StepTime};
use stripewise_stats::Slo;

const SECOND_NS: u64 = 1_000_000_000;

/// Maximum number of operations in flight: what a production volume tolerates without
/// its users noticing much.
pub const IN_FLIGHT_MAX: u32 = 256;

/// Upper limit on a quick bench, filling included, unless a time is given.
pub const QUICK_TIME_NS: u64 = 150 * SECOND_NS;

/// Four blocks around a crossing and eight runs at a single load: with runs that scatter by 7
/// to 10 %, that gives intervals of 5 to 10 % either way. Runs of five minutes scatter
/// less, so half as many suffice.
fn answer_plan(qualify: bool) -> AnswerPlan {
    match qualify {
        false => AnswerPlan {
            blocks: 4,
            level_runs: 8,
        },
        true => AnswerPlan {
            blocks: 2,
            level_runs: 5,
        },
    }
}

/// Doubling stops once the limit's statistic exceeds this: no one runs a
/// database there, and on a slow disk each further step only wastes time.
pub fn latency_stop_ns(slo: Slo) -> u64 {
    SECOND_NS.max(slo.limit_ns.saturating_mul(2))
}

/// The user's options for a bench; `None`: the default of the mode.
#[derive(Clone, Debug)]
pub struct LadderOptions {
    /// Long steps, preconditioning, steady state.
    pub qualify: bool,
    /// Series to run; empty: all five.
    pub series: Vec<SeriesKind>,
    /// No writes.
    pub read_only: bool,
    /// Measured time of a step.
    pub step_ns: Option<u64>,
    /// Time for all steps.
    pub time_ns: Option<u64>,
    /// Block size of all series.
    pub block_size_bytes: Option<u64>,
    /// The latency limit.
    pub slo: Slo,
    /// Cores to spread threads over.
    pub cores: u32,
    /// Time of the pilot before each series that writes; 0: none.
    pub pilot_ns: u64,
    /// Seed of all streams.
    pub seed: u64,
}

/// A bench that is about to run.
#[derive(Clone, Debug)]
pub struct BenchPlan {
    /// In the order in which they run.
    pub series: Vec<SeriesPlan>,
    /// Interval length that is stored.
    pub interval_ns: u64,
    /// Time of all steps if every ladder runs to its end, without filling.
    pub longest_ns: u64,
    /// The steps' budget; at most `longest_ns`.
    pub budget_ns: u64,
    /// Time of one step of each series: with less, some series would not be measured.
    pub shortest_ns: u64,
}

/// Plans a bench.
pub fn plan_bench(options: &LadderOptions) -> BenchPlan {
    let step = step_time(options);
    let limits = Limits {
        cores: options.cores,
        in_flight_max: IN_FLIGHT_MAX,
        latency_stop_ns: latency_stop_ns(options.slo),
        slo: options.slo,
    };
    let series: Vec<SeriesPlan> = SeriesKind::ALL
        .into_iter()
        .filter(|kind| options.series.is_empty() || options.series.contains(kind))
        .filter(|kind| !(options.read_only && kind.writes()))
        .map(|kind| {
            let block_size_bytes = options
                .block_size_bytes
                .unwrap_or_else(|| kind.block_size_bytes());
            SeriesPlan {
                kind,
                workload: kind.workload(block_size_bytes, step, options.seed),
                limits,
                pilot_ns: options.pilot_ns * u64::from(kind.writes()),
                answer: answer_plan(options.qualify),
                deadline_ns: None,
                answer_deadline_ns: None,
            }
        })
        .collect();
    let longest_ns = series.iter().map(longest_ns).fold(0, u64::saturating_add);
    let step_ns = step.ramp_ns.saturating_add(step.duration_ns);
    let shortest_ns = step_ns.saturating_mul(series.len() as u64);
    let time_ns = options
        .time_ns
        .or((!options.qualify).then_some(QUICK_TIME_NS));
    let budget_ns = time_ns.map_or(longest_ns, |time_ns| time_ns.min(longest_ns));
    BenchPlan {
        series,
        interval_ns: if options.qualify {
            SECOND_NS
        } else {
            SECOND_NS / 10
        },
        longest_ns,
        budget_ns,
        shortest_ns,
    }
}

impl BenchPlan {
    /// Deadline of series `index` if it starts at `elapsed_ns` and the whole bench
    /// ends at `end_ns`. The remaining series share the remaining time in
    /// proportion to the time that each can take. Time that one
    /// does not use goes to those after it.
    pub fn deadline_ns(&self, index: usize, elapsed_ns: u64, end_ns: u64) -> u64 {
        let longest = |plan: &SeriesPlan| u128::from(longest_ns(plan));
        let left: u128 = self.series[index..].iter().map(longest).sum();
        let mine = longest(&self.series[index]);
        let share = u128::from(end_ns.saturating_sub(elapsed_ns)) * mine / left.max(1);
        elapsed_ns.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// Deadline for the minimum number of runs of series `index`, given its own
    /// deadline `deadline_ns`: extended by the time those runs take, but so that each
    /// series after it keeps the time for its own.
    pub fn answer_deadline_ns(&self, index: usize, deadline_ns: u64, end_ns: u64) -> u64 {
        let fewest_ns = |plan: &SeriesPlan| {
            let fewest = CROSSING_RUNS_MIN as u64;
            plan.workload.length_ns().saturating_mul(fewest)
        };
        let later = self.series[index + 1..].iter().map(fewest_ns);
        let latest = end_ns.saturating_sub(later.fold(0, u64::saturating_add));
        let wanted = deadline_ns.saturating_add(fewest_ns(&self.series[index]));
        wanted.min(latest).max(deadline_ns)
    }
}

fn step_time(options: &LadderOptions) -> StepTime {
    let duration_ns = options.step_ns.unwrap_or(if options.qualify {
        300 * SECOND_NS
    } else {
        3 * SECOND_NS / 2
    });
    // The first operations of a step find empty queues; a tenth of a second, or
    // a tenth of a very short step, is excluded.
    StepTime {
        ramp_ns: (SECOND_NS / 10).min(duration_ns / 10),
        duration_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> LadderOptions {
        LadderOptions {
            qualify: false,
            series: Vec::new(),
            read_only: false,
            step_ns: None,
            time_ns: None,
            block_size_bytes: None,
            slo: "p99<5ms".parse().expect("a limit"),
            cores: 4,
            pilot_ns: 0,
            seed: 1,
        }
    }

    #[test]
    fn reads_come_before_writes_and_the_log_last() {
        let plan = plan_bench(&options());
        let names: Vec<&str> = plan
            .series
            .iter()
            .map(|series| series.kind.name())
            .collect();
        assert_eq!(
            names,
            [
                "random-read",
                "sequential-read",
                "random-write",
                "sequential-write",
                "log"
            ]
        );
        let only_reads = plan_bench(&LadderOptions {
            read_only: true,
            ..options()
        });
        assert!(only_reads.series.iter().all(|series| !series.kind.writes()));
        assert_eq!(only_reads.series.len(), 2);
    }

    #[test]
    fn a_quick_bench_fits_into_two_minutes_and_a_half() {
        let plan = plan_bench(&options());
        // 9 doublings to 256 each; 20 runs around a crossing, 8 on a plateau, 8 of the log.
        assert_eq!(
            plan.longest_ns,
            (2 * (9 + 20) + 2 * (9 + 8) + 8) * 1_600_000_000
        );
        assert_eq!(plan.shortest_ns, 5 * 1_600_000_000);
        assert_eq!(plan.budget_ns, 150 * SECOND_NS);
        let hours = plan_bench(&LadderOptions {
            qualify: true,
            ..options()
        });
        assert_eq!(hours.budget_ns, hours.longest_ns);
    }

    #[test]
    fn time_left_is_shared_in_proportion_to_the_runs_left() {
        let plan = plan_bench(&LadderOptions {
            time_ns: Some(100 * SECOND_NS),
            ..options()
        });
        assert_eq!(plan.deadline_ns(0, 0, plan.budget_ns), 29 * SECOND_NS);
        assert_eq!(
            plan.deadline_ns(4, 90 * SECOND_NS, plan.budget_ns),
            100 * SECOND_NS
        );
        // Ten runs of 1.6 s more, if the four series after it can still have as many.
        let later = |index, deadline_s: u64, end_s: u64| {
            plan.answer_deadline_ns(index, deadline_s * SECOND_NS, end_s * SECOND_NS) / SECOND_NS
        };
        assert_eq!(later(0, 29, 150), 45);
        assert_eq!(later(0, 29, 100), 36);
        assert_eq!(later(0, 29, 60), 29);
        assert_eq!(later(4, 100, 100), 100);
    }
}
