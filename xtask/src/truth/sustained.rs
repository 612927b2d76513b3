//! Sustained rates by the program itself, on simulated arrays where something absorbs writes for a
//! while: write caches from 64 MiB to 4 GiB, volatile or not, the fast part of flash, a token
//! bucket. The truth is a long run beyond all of that. An answer must contain it, or state that the
//! sustained rate was not reached.

use super::arrays::array;
use super::parallel::trials;
use super::simulated::measure;
use super::size::seed_of;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use stripewise_stats::Random;
use stripewise_workload::Workload;
use suite::arguments::Arguments;

const ARRAYS: [&str; 4] = ["raid10-10k", "raid5-7k2", "disk-15k", "disk-7k2"];
const CACHES: [&str; 5] = ["0", "64M", "256M", "1G", "4G"];
const FAST: [&str; 3] = ["256M", "512M", "1G"];
/// Operations of a long run: its rate is known to about 0.25 %.
const OPERATIONS: f64 = 300_000.0;
/// Virtual time after which none of these caches has an effect.
const RAMP_NS: u64 = 300_000_000_000;
/// Allowed misses: 7 in 100, and one more for small numbers.
const MISSES_SHARE_MAX: f64 = 0.07;

/// How often a command was right.
#[derive(Default)]
struct Count {
    covered: usize,
    not_reached: usize,
    missed: Vec<String>,
}

impl Count {
    fn add(&mut self, outcomes: SustainedOutcome) {
        match outcomes {
            SustainedOutcome::Covers => self.covered += 1,
            SustainedOutcome::NotReached => self.not_reached += 1,
            SustainedOutcome::Misses(what) => self.missed.push(what),
        }
    }

    fn passes(&self) -> bool {
        let answers = self.covered + self.missed.len();
        self.missed.len() as f64 <= MISSES_SHARE_MAX * answers as f64 + 1.0
    }
}

enum SustainedOutcome {
    Covers,
    NotReached,
    Misses(String),
}

pub fn run(mut arguments: Arguments) -> Result<()> {
    let tries: usize = arguments.value("--tries")?.unwrap_or(100);
    let seed: u64 = arguments.value("--seed")?.unwrap_or(1);
    let given: Option<PathBuf> = arguments.value("--binary")?;
    arguments.finish()?;
    let program = match given {
        Some(program) => program,
        None => suite::shell::release_binary(&suite::root::path())?,
    };
    let all = trials(tries, |number| {
        let case = Case::new(seed_of(seed, 420, number), number);
        let of_bench = case.bench(&program).with_context(|| case.target.clone())?;
        let of_check = case.check(&program).with_context(|| case.target.clone())?;
        let of_align = match case.is_disks {
            true => Some(case.align(&program).with_context(|| case.target.clone())?),
            false => None,
        };
        Ok([Some(of_bench), of_align, Some(of_check)])
    })?;
    let mut counts = [Count::default(), Count::default(), Count::default()];
    for outcomes in all {
        for (count, outcomes) in counts.iter_mut().zip(outcomes) {
            if let Some(outcomes) = outcomes {
                count.add(outcomes);
            }
        }
    }
    for (name, count) in ["bench", "align", "check"].iter().zip(&counts) {
        let (missed, not_reached) = (count.missed.len(), count.not_reached);
        let covered = count.covered;
        println!(
            "{name}: {covered} hold what lasts, {missed} miss it, {not_reached} say that they did not reach it"
        );
        count.missed.iter().for_each(|what| println!("    {what}"));
    }
    if counts.iter().all(Count::passes) {
        return Ok(());
    }
    bail!("too many miss what lasts")
}

/// An array.
struct Case {
    target: String,
    seed: u64,
    is_disks: bool,
    limit: &'static str,
}

impl Case {
    fn new(seed: u64, number: usize) -> Case {
        let mut random = Random::new(seed);
        let (target, is_disks) = match number % 4 {
            0 | 1 => {
                let name = ARRAYS[random.below(ARRAYS.len())];
                let cache = CACHES[random.below(CACHES.len())];
                let slots = [4, 8, 32][random.below(3)];
                let keeps = random.below(2) == 1;
                let target = format!(
                    "{name}?cache.size={cache}&cache.slots={slots}&cache.nonvolatile={keeps}"
                );
                (target, true)
            }
            2 => {
                let fast = FAST[random.below(FAST.len())];
                (format!("nvme-consumer?ssd.size=4G&ssd.fast={fast}"), false)
            }
            _ => {
                let iops = [500, 1_000, 3_000][random.below(3)];
                let burst = [20_000, 100_000][random.below(2)];
                let target = format!(
                    "ebs-gp2-100?limit.iops={iops}&limit.burst_iops={}&limit.burst_operations={burst}",
                    5 * iops
                );
                (target, false)
            }
        };
        Case {
            target: format!("sim:{target}"),
            seed,
            is_disks,
            limit: if is_disks { "p99<100ms" } else { "p99<50ms" },
        }
    }

    /// The sustained rate with this many in flight, after a number of other writes.
    fn truth(&self, offset: Option<&str>, in_flight: u32) -> Result<f64> {
        let name = self.target.trim_start_matches("sim:");
        let name = offset.map_or(name.to_owned(), |offset| format!("{name}&offset={offset}"));
        let spec = array(&name, self.seed)?;
        let rate = |ramp_ns: u64, duration_ns: u64| -> Result<f64> {
            let workload = Workload {
                read_percent: 0,
                outstanding: in_flight,
                ramp_ns,
                duration_ns,
                seed: self.seed,
                ..Workload::default()
            };
            let record = measure(&spec, &workload)?;
            Ok(record.jobs.first().context("a run has a job")?.outcome.iops)
        };
        let about = rate(RAMP_NS, 2_000_000_000)?;
        rate(RAMP_NS, (OPERATIONS / about * 1e9) as u64)
    }

    fn run_json(&self, program: &Path, words: &[&str]) -> Result<Value> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let output = Command::new(program)
            .arg("--store")
            .arg(folder.path().join("store.db"))
            .arg("--json")
            .args(words)
            .output()
            .with_context(|| format!("cannot run {}", program.display()))?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The rate of an answer is the sustained rate at its load.
    fn bench(&self, program: &Path) -> Result<SustainedOutcome> {
        let seed = (self.seed % 1_000_000).to_string();
        let words = ["bench", &self.target, "--series", "random-write"];
        let words = [&words[..], &["--slo", self.limit, "--seed", &seed]].concat();
        let document = self.run_json(program, &words)?;
        let answer = &document["series"][0]["answer"];
        let (Some(load), Some(rate)) = (answer["in_flight"].as_f64(), answer["iops"].as_f64())
        else {
            return Ok(SustainedOutcome::NotReached);
        };
        let (lower, upper) = (load.floor().max(1.0), load.ceil().max(1.0));
        let below = self.truth(None, lower as u32)?;
        let above = match upper > lower {
            true => self.truth(None, upper as u32)?,
            false => below,
        };
        let truth = below + (load - lower) * (above - below);
        let low = answer["iops_low"].as_f64().unwrap_or(0.0);
        let high = answer["iops_high"].as_f64().unwrap_or(f64::INFINITY);
        Ok(match (low..=high).contains(&truth) {
            true => SustainedOutcome::Covers,
            false => SustainedOutcome::Misses(format!(
                "{} {} in flight: {rate:.1} ({low:.1}-{high:.1}), true {truth:.1}",
                self.target, load
            )),
        })
    }

    /// The interval contains the true effect of the offset.
    fn align(&self, program: &Path) -> Result<SustainedOutcome> {
        let target = format!("{}&offset=63s", self.target);
        let seed = (self.seed % 1_000_000).to_string();
        let words = [
            "align",
            &target,
            "--write",
            "--threads",
            "8",
            "--seed",
            &seed,
        ];
        let document = self.run_json(program, &words)?;
        let row = &document["comparisons"][0]["rows"][0];
        let ends = &row["interval_percent"];
        let (Some(low), Some(high)) = (ends[0].as_f64(), ends[1].as_f64()) else {
            return Ok(SustainedOutcome::NotReached);
        };
        let claims = document["experiment"]["sustained"].as_array();
        let is_reached = |one: &Value| one["claim"] == "sustained" || one["claim"] == "at-least";
        if !claims.is_none_or(|all| all.iter().all(is_reached)) {
            return Ok(SustainedOutcome::NotReached);
        }
        let (from, to) = (self.truth(Some("63s"), 32)?, self.truth(Some("1M"), 32)?);
        let truth = 100.0 * (to / from - 1.0);
        Ok(match (low..=high).contains(&truth) {
            true => SustainedOutcome::Covers,
            false => SustainedOutcome::Misses(format!(
                "{target}: {low:.2} to {high:.2} %, true {truth:.2} %"
            )),
        })
    }

    /// Nine tenths of the sustained rate are feasible, and eleven tenths are not.
    fn check(&self, program: &Path) -> Result<SustainedOutcome> {
        let truth = self.truth(None, 32)?;
        let [less, more] = [0.9, 1.1].map(|part| format!("random-write iops>={:.0}", part * truth));
        let words = [
            "check",
            &self.target,
            "--require",
            &less,
            "--require",
            &more,
        ];
        let document = self.run_json(program, &words)?;
        let required = &document["requirements"];
        Ok(
            match (required[0]["met"].as_bool(), required[1]["met"].as_bool()) {
                (Some(true), Some(false)) => SustainedOutcome::Covers,
                _ if required[0]["measured"].is_null() => SustainedOutcome::NotReached,
                _ => SustainedOutcome::Misses(format!(
                    "{}: {} measured, true {truth:.1}",
                    self.target, required[0]["measured_words"]
                )),
            },
        )
    }
}
