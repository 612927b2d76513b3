//! The claims about experiments, and the number of trials for each.

use super::answers::answers;
use super::arrays::{DISKS, FLASH, array, faster};
use super::few::few;
use super::headroom::headroom;
use super::layouts::layouts;
use super::limits::limits;
use super::observed::{closedness, culprits};
use super::parallel::trials;
use super::patterns::{fills, patterns, surfaces};
use super::qualify::qualify;
use super::simulated::measure;
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use super::trial::{Trial, TrialRow, trial};
use super::volumes::volumes;
use anyhow::{Context, Result};
use stripewise_array_sim::ArraySpec;
use stripewise_lab::experiment::{Cell, ExperimentPlan, Level};
use stripewise_stats::median;
use stripewise_workload::Workload;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// The effects that intervals must cover.
pub const EFFECTS_PERCENT: [f64; 5] = [0.0, 1.0, 2.0, 5.0, 12.5];

/// One of the claims.
pub type Study = fn(u64, Size, &mut Table) -> Result<()>;

/// All studies, by the letters or names of their claims.
pub const STUDIES: &[(&str, Study)] = &[
    ("a", coverage_of_all),
    ("b", table_of_2007),
    ("b", aligned),
    ("c", drift),
    ("d", power),
    ("d", eva),
    ("e", answers),
    ("f", layouts),
    ("g", patterns),
    ("g", surfaces),
    ("g", fills),
    ("h", closedness),
    ("i", culprits),
    ("few", few),
    ("limits", limits),
    ("limits", volumes),
    ("headroom", headroom),
    ("qualify", qualify),
];

fn coverage_of_all(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    EFFECTS_PERCENT
        .into_iter()
        .try_for_each(|effect| coverage(seed, effect, size, table))
}

fn percent_of(trials: &[Trial], holds: impl Fn(&Trial) -> bool) -> f64 {
    100.0 * trials.iter().filter(|trial| holds(trial)).count() as f64 / trials.len() as f64
}

/// Trials request intervals of 4 %, twice the default, with runs a quarter as long as suits 2 %:
/// statistically equivalent, and 15,000 experiments take minutes.
const PRECISION_PERCENT: f64 = 4.0;

/// The workload and the array of a trial: four disks and flash in turn. Runs are so short that an
/// interval reaches the precision after 10 to 30 blocks: where stopping on width has the most
/// choice.
pub fn ground(number: usize, seed: u64) -> Result<(ArraySpec, Workload)> {
    if number.is_multiple_of(2) {
        let workload = load(100, 1, 8, 100 * MS, 1_250 * MS);
        return Ok((array(DISKS, seed)?, workload));
    }
    let workload = load(100, 1, 8, 3 * MS, 12 * MS);
    Ok((array(FLASH, seed)?, workload))
}

fn load(
    read_percent: u8,
    threads: u32,
    outstanding: u32,
    ramp_ns: u64,
    duration_ns: u64,
) -> Workload {
    Workload {
        read_percent,
        threads,
        outstanding,
        ramp_ns,
        duration_ns,
        ..Workload::default()
    }
}

/// Two arrays, one workload, everything else as in the program.
pub fn two_arrays(workload: Workload, seed: u64) -> ExperimentPlan {
    let levels = vec![Level::target("A", "A"), Level::target("B", "B")];
    let cell = Cell {
        name: "the load".to_owned(),
        workload,
    };
    let mut plan = ExperimentPlan::new("array", levels, vec![cell]);
    plan.seed = seed;
    plan.precision_percent = PRECISION_PERCENT;
    plan
}

/// Trials of two arrays that differ by `effect` per cent.
pub fn coverage_trials(seed: u64, effect: f64, count: usize) -> Result<Vec<Trial>> {
    trials(count, |number| {
        let seed = seed_of(seed, 1 + (effect * 10.0) as u64, number);
        let (spec, workload) = ground(number, seed)?;
        let plan = two_arrays(workload, seed);
        trial(&plan, vec![spec.clone(), faster(&spec, effect)])
    })
}

/// (a): intervals cover the truth, and A/A does not alarm.
fn coverage(seed: u64, effect: f64, size: Size, table: &mut Table) -> Result<()> {
    check_truth(seed, effect, size, table)?;
    let seen = coverage_trials(seed, effect, size.coverage)?;
    let all: Vec<TrialRow> = seen.iter().map(|trial| trial.rows[0]).collect();
    let middle = |of: fn(&TrialRow) -> f64| {
        median(&all.iter().map(of).collect::<Vec<f64>>()).context("there were no trials")
    };
    let width = middle(TrialRow::width_percent)?;
    let once = middle(|row| row.width_once_percent)?;
    let blocks: Vec<f64> = seen.iter().map(|trial| trial.blocks as f64).collect();
    if effect == 0.0 {
        let alarms = percent_of(&seen, Trial::any_found);
        table.state("(a) A/A: false alarms, %", alarms, 1, Bound::AtMost(6.9));
    }
    let covered = percent_of(&seen, |trial| trial.rows[0].covers(effect));
    let claim = format!("(a) {effect} %: covered, %");
    table.state(&claim, covered, 1, Bound::AtLeast(93.1));
    let claim = format!("(a) {effect} %: width over that of once");
    table.state(&claim, width / once, 2, Bound::AtMost(1.3));
    let claim = format!("(a) {effect} %: median width, points");
    table.state(&claim, width, 2, Bound::None);
    let claim = format!("(a) {effect} %: median blocks");
    table.state(&claim, median(&blocks).unwrap_or(0.0), 0, Bound::None);
    Ok(())
}

/// The true effect, compared with very long runs: with a million operations their ratio has a
/// standard deviation of about 0.1 points.
fn check_truth(seed: u64, effect: f64, size: Size, table: &mut Table) -> Result<()> {
    for (number, name) in [(0, "disks"), (1, "flash")] {
        let (spec, workload) = ground(number, seed)?;
        let short = measure(&spec, &workload)?;
        let iops = short.jobs.first().map_or(1.0, |job| job.outcome.iops);
        let long = Workload {
            duration_ns: (size.truth_operations as f64 / iops * 1e9) as u64,
            ..workload
        };
        let rates = trials(2, |side| {
            let spec = if side == 0 {
                spec.clone()
            } else {
                faster(&spec, effect)
            };
            let seed = seed_of(seed, 40 + side as u64, number);
            let run = measure(
                &spec,
                &Workload {
                    seed,
                    ..long.clone()
                },
            )?;
            Ok(run.jobs.first().map_or(0.0, |job| job.outcome.iops))
        })?;
        let ratio = 100.0 * (rates[1] / rates[0] - 1.0);
        let claim = format!("    {effect} %: long runs on {name}, %");
        table.state(&claim, ratio, 2, Bound::None);
    }
    Ok(())
}

/// (b): the array of the 2007 table, offset 31.5K against 64K.
fn table_of_2007(seed: u64, _size: Size, table: &mut Table) -> Result<()> {
    let spec = array("oja-nisula-2007?offset=0&size=100G", seed_of(seed, 50, 0))?;
    let mut cells = Vec::new();
    for read_percent in [100, 0] {
        for threads in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
            cells.push(offset_cell(load(
                read_percent,
                threads,
                4,
                SECOND,
                3 * SECOND,
            )));
        }
    }
    let mut plan = offsets(&[("31.5K", 63 * 512), ("64K", 64 << 10)], cells);
    plan.seed = seed_of(seed, 51, 0);
    plan.precision_percent = PRECISION_PERCENT;
    let seen = trial(&plan, vec![spec])?;
    let right = seen
        .rows
        .iter()
        .filter(|row| row.estimate_percent > 0.0)
        .count();
    let found = seen.rows.iter().filter(|row| row.found()).count();
    table.state(
        "(b) 2007: rows of 18 with the right sign",
        right as f64,
        0,
        Bound::AtLeast(18.0),
    );
    table.state("(b) 2007: rows of 18 found", found as f64, 0, Bound::None);
    Ok(())
}

fn offset_cell(workload: Workload) -> Cell {
    Cell {
        name: format!("{} threads", workload.threads),
        workload: Workload {
            size_bytes: Some(80 << 30),
            ..workload
        },
    }
}

fn offsets(levels: &[(&str, u64)], cells: Vec<Cell>) -> ExperimentPlan {
    let levels = levels
        .iter()
        .map(|(name, bytes)| Level::offset(*name, *bytes));
    ExperimentPlan::new("partition offset", levels.collect(), cells)
}

/// One experiment over aligned offsets only: 12 rows.
pub fn aligned_trials(seed: u64, count: usize) -> Result<Vec<Trial>> {
    trials(count, |number| {
        let seed = seed_of(seed, 60, number);
        let spec = array("raid10-10k?offset=0", seed)?;
        let mut cells = Vec::new();
        for read_percent in [100, 0] {
            for threads in [1, 4, 16] {
                cells.push(offset_cell(load(
                    read_percent,
                    threads,
                    4,
                    200 * MS,
                    SECOND,
                )));
            }
        }
        let mut plan = offsets(
            &[("64K", 64 << 10), ("1M", 1 << 20), ("2M", 2 << 20)],
            cells,
        );
        plan.seed = seed;
        plan.precision_percent = 2.0 * PRECISION_PERCENT;
        trial(&plan, vec![spec])
    })
}

/// (b): any alarm among the rows without an effect.
fn aligned(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let seen = aligned_trials(seed, size.aligned)?;
    let alarms = percent_of(&seen, Trial::any_found);
    table.state(
        "(b) aligned offsets, 12 rows: any alarm, %",
        alarms,
        1,
        Bound::AtMost(8.0),
    );
    Ok(())
}

/// A/A on an array that gets 3 % slower while the experiment runs.
pub fn drift_trials(seed: u64, count: usize) -> Result<Vec<Trial>> {
    trials(count, |number| {
        let seed = seed_of(seed, 70, number);
        let (mut spec, workload) = ground(0, seed)?;
        let mut plan = two_arrays(workload, seed);
        // Uses all of the time, so that the drift is 3 % in every trial.
        plan.precision_percent = 0.1;
        let budget_ns = 12 * plan.block_ns();
        plan.time_budget_ns = Some(budget_ns);
        spec.drift_percent_per_hour = 3.0 * 3_600e9 / budget_ns as f64;
        trial(&plan, vec![spec])
    })
}

/// (c): drift is not mistaken for a difference.
fn drift(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let seen = drift_trials(seed, size.drift)?;
    let alarms = percent_of(&seen, Trial::any_found);
    table.state(
        "(c) A/A with 3 % drift: false alarms, %",
        alarms,
        1,
        Bound::AtMost(8.0),
    );
    Ok(())
}

/// (d): an effect of 2.4 %, as on the EVA, within 1,440 s.
fn power(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let seen = trials(size.power, |number| {
        let seed = seed_of(seed, 80, number);
        let (spec, workload) = ground(0, seed)?;
        let mut plan = two_arrays(workload, seed);
        // As a user would call the program.
        plan.precision_percent = ExperimentPlan::PRECISION_PERCENT;
        plan.time_budget_ns = Some(1_440 * SECOND);
        trial(&plan, vec![spec.clone(), faster(&spec, 2.4)])
    })?;
    report_power("(d) 2.4 % on four disks", &seen, 0, table);
    Ok(())
}

fn report_power(name: &str, seen: &[Trial], row: usize, table: &mut Table) {
    let found = percent_of(seen, |trial| {
        trial.rows[row].found() && trial.rows[row].estimate_percent > 0.0
    });
    table.state(&format!("{name}: found, %"), found, 1, Bound::AtLeast(90.0));
    let slowest = seen.iter().map(|trial| trial.elapsed_ns).max().unwrap_or(0);
    let seconds = slowest as f64 / 1e9;
    table.state(
        &format!("{name}: simulated s, at most"),
        seconds,
        0,
        Bound::AtMost(1_440.0),
    );
}

/// (d) on the EVA's own array: the reads of its table, 31.5K against 64K. The primary row is that
/// of 8 threads; Holm's correction covers all six.
fn eva(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    const PRIMARY: usize = 3;
    let seen = trials(size.power / 4, |number| {
        let seed = seed_of(seed, 90, number);
        let spec = array("eva8100-2009?offset=0&size=64G", seed)?;
        let cells = [1, 2, 4, 8, 16, 32].map(|threads| {
            let mut cell = offset_cell(load(100, threads, 32, 50 * MS, 200 * MS));
            cell.workload.size_bytes = Some(32 << 30);
            cell
        });
        let mut plan = offsets(&[("31.5K", 63 * 512), ("64K", 64 << 10)], cells.to_vec());
        plan.seed = seed;
        plan.primary = Some(PRIMARY);
        plan.time_budget_ns = Some(1_440 * SECOND);
        trial(&plan, vec![spec])
    })?;
    let estimates: Vec<f64> = seen
        .iter()
        .map(|trial| trial.rows[PRIMARY].estimate_percent)
        .collect();
    let middle = median(&estimates).unwrap_or(0.0);
    table.state(
        "(d) EVA8100, 8 threads: median estimate, %",
        middle,
        2,
        Bound::None,
    );
    report_power("(d) EVA8100, 31.5K against 64K", &seen, PRIMARY, table);
    Ok(())
}
