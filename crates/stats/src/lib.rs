//! Histograms, percentiles, intervals, steady state, knee, comparison. Independent of disks.
//!
//! Pure functions of numbers: no clock, no file, no entropy. Elementary functions come from `libm`,
//! random numbers from seeds, so the same input gives the same bits everywhere. If a sample is too
//! small for an answer, the result is `None`, never a made-up zero.
#![forbid(unsafe_code)]

mod at_limit;
mod best;
mod bootstrap;
mod cell_pilot;
mod comparison;
mod contrasts;
mod distribution;
mod headroom;
mod histogram;
mod history;
mod hodges_lehmann;
mod holm;
mod in_full;
mod isotonic;
mod knee;
mod ladder;
mod limits;
mod needed;
mod qualification;
mod random;
mod rank_sum;
mod ratio;
mod robust;
mod sample;
mod samples;
mod slo;
mod steady;
mod step_down;
mod steps;
mod sustained;
mod trend;
mod v2;
mod whole_loads;
mod wilcoxon;

pub use at_limit::{AtLimit, LoadRun, crossing_in_full, rate_at_limit};
pub use best::{BEST_RESAMPLES, BestSet, Passes};
pub use bootstrap::Bootstrap;
pub use cell_pilot::{CellPilot, CellStep};
pub use comparison::{Comparison, Pair, compare_blocks, difference_percent, log_ratios};
pub use contrasts::{Contrast, contrast, least_squares_weights};
pub use distribution::{
    incomplete_beta, incomplete_gamma, normal_cdf, normal_quantile, student_quantile,
    student_two_sided,
};
pub use headroom::{
    Crossing, EXCEEDANCE_SATURATED, ExceedanceDesign, ExceedanceLine, ExceedanceRun,
    exceedance_crossing, exceedance_is_within, exceedance_line, exceedance_quiet_s,
    exceedance_verdict,
};
pub use histogram::{Bucket, Histogram, VALUE_MAX};
pub use history::{HISTORY_RUNS_MIN, History, HistoryRun, NewRun, level_changes};
pub use hodges_lehmann::hodges_lehmann;
pub use holm::holm;
pub use in_full::{InFull, in_full};
pub use isotonic::{CrossingAt, isotonic, isotonic_crossing};
pub use knee::{
    CurvePoint, Knee, KneeBrackets, LadderStep, LoadBracket, PLATEAU_SHARE, knee, knee_brackets,
};
pub use ladder::{bracketed, may_rise};
pub use limits::{
    Binding, BindingRates, BoundBy, BurstUse, Cap, Caps, Corners, Counting, Drift, LimitCell,
    LimitRates, Nature, NatureFound, REPETITIONS_MAX, REPETITIONS_MIN, RateStep, Refill,
    SCATTER_MAX, STEP_SECONDS, Sharing, TokenBucket, binding, find_step, fit_bucket, fit_refill,
    is_lasting, rest_after_s, seconds_after_step,
};
pub use needed::{
    DETECTION_CHANCE, default_tolerance_percent, repetitions_needed, scatter, smallest_loss_percent,
};
pub use qualification::{
    ClosedLadder, Design, DueSecond, LatencyFinding, LatencyJudgement, LatencyLimit, LatencySecond,
    Look, MaxJudgement, MeanJudgement, MinutesDiffer, OpenLoop, Qualification, QualifyOutcome,
    QualifyStep, QualifyVerdict, RATE_MARGIN, RateJudgement, STALL_S, ShareJudgement, ShareRule,
    closed_ladder, earliest_met, judge_latency, judge_max, judge_mean, judge_rate, judge_share,
    minutes_differ,
};
pub use random::Random;
pub use rank_sum::{EXACT_VALUES_MAX, RankSum, rank_sum, rank_sum_interval, shift};
pub use ratio::{Ratio, ratio};
pub use robust::robust_mean_interval;
pub use sample::{
    Estimate, Quantile, coefficient_of_variation, mean, mean_interval, median, median_interval,
    quantile, quantile_sorted, standard_deviation, variance,
};
pub use samples::{SamplesComparison, SamplesMethod, compare_samples};
pub use slo::{LatencyStatistic, Slo};
pub use steady::{ROUND_NS_MIN, Settling, Steadiness, SteadyRule};
pub use step_down::{StepDown, step_down};
pub use steps::{ChangePoint, ChangePointRule, change_points};
pub use sustained::{
    Absorbed, BurstCredit, CACHE_TIMES, Claim, LoadInterval, Mark, Need, NotReached, Pilot,
    PilotPlan, PilotStep, Sustained,
};
pub use trend::{drift_percent, linear_trend};
pub use v2::V2Error;
pub use whole_loads::{AtWholeLoad, loads_in_full, rate_at_whole_load};
pub use wilcoxon::{
    EXACT_COUNT_MAX, SignedRank, signed_rank, signed_rank_count_min, signed_rank_interval,
};
