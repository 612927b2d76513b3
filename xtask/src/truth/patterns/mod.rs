//! (g) What timed reads reveal about random arrays and disks: how often `probe stripe` is exact,
//! that it finds nothing without stripes, and the errors of zones, seeks and rotation in `profile`.

mod alike;
mod arrays;
#[path = "../../../../tests/support/timed_array.rs"]
mod device;
mod fills;

use super::parallel::trials;
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use alike::{Named, alike};
use anyhow::Result;
use arrays::{GeneratedArray, disk, pick, rotated, spec_of, striped, without};
use device::Simulated;
#[cfg(test)]
pub use fills::filled;
pub use fills::fills;
use stripewise_surface::profile::{Plan, analyse, measure};
use stripewise_surface::stripe::{Limits, ProbeFindings, probe};

/// Result for one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Unit, phase and disks exact to the byte, and all matching layouts listed.
    Exact,
    /// An answer that contains the truth without being exact.
    FillCoverage,
    /// No answer.
    Refused,
    /// An answer that does not contain the truth.
    Wrong,
}

/// Arrays generated for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// RAID 0, 10 and 5.
    Bare,
    /// RAID 6, and RAID 5 with other parity rotations.
    Rotated,
    /// Targets without stripes.
    Without,
}

/// The study of patterns.
pub fn patterns(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    // With parity, answers must be correct; their number is only reported.
    for (family, name, answers) in [
        (
            Family::Bare,
            "arrays",
            [Bound::AtLeast(85.0), Bound::AtLeast(90.0)],
        ),
        (Family::Rotated, "parity in the way", [Bound::None; 2]),
    ] {
        let found = verdicts(seed, size.arrays, family)?;
        let percent = |verdict: Verdict| percent_of(&found, |one| *one == verdict);
        for (what, value, bound) in [
            ("wrong answers", percent(Verdict::Wrong), Bound::AtMost(0.0)),
            ("answered", 100.0 - percent(Verdict::Refused), answers[0]),
            ("exact unit and phase", percent(Verdict::Exact), answers[1]),
        ] {
            table.state(&format!("(g) {name}: {what}, %"), value, 1, bound);
        }
    }
    let nothing = verdicts(seed, size.arrays, Family::Without)?;
    let answered = percent_of(&nothing, |one| *one != Verdict::Refused);
    table.state(
        "(g) no stripes: answers, %",
        answered,
        1,
        Bound::AtMost(0.0),
    );
    Ok(())
}

fn percent_of<T>(all: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    100.0 * all.iter().filter(|one| holds(one)).count() as f64 / all.len().max(1) as f64
}

/// Results for some arrays of a family.
pub fn verdicts(seed: u64, count: usize, family: Family) -> Result<Vec<Verdict>> {
    trials(count, |trial| {
        let (study, make): (u64, fn(u64) -> Result<GeneratedArray>) = match family {
            Family::Bare => (201, striped),
            Family::Rotated => (203, rotated),
            Family::Without => (200, without),
        };
        let seed = seed_of(seed, study, trial) >> 16;
        let made = make(seed)?;
        let limits = Limits {
            seed: seed + 1,
            ..Limits::default()
        };
        let mut array = Simulated::new(&made.spec);
        if let Some(load) = made.load {
            array = array.with_load(load);
        }
        let probed = probe(&mut array, &limits, &mut |_| {});
        let verdict = judge(&made, &probed);
        eprintln!(
            "{family:?} {trial}: {verdict:?}{}; {} reads, {:.0} s; {} {} {} {}: {} {:?}",
            match &probed.outcome {
                Ok(found) if verdict == Verdict::Wrong => format!(" ({found:?})"),
                Ok(_) => String::new(),
                Err(refusal) => format!(" ({})", refusal.code),
            },
            probed.reads,
            probed.duration_ns as f64 / 1e9,
            made.level,
            made.unit_bytes,
            made.phase_bytes,
            made.columns,
            made.text,
            made.load
        );
        Ok(verdict)
    })
}

fn judge(made: &GeneratedArray, probed: &ProbeFindings) -> Verdict {
    let Ok(found) = &probed.outcome else {
        return Verdict::Refused;
    };
    let level = |level: &str| made.level == level;
    let is_listed = found.layouts.iter().any(|one| {
        let rotation = made.rotation.is_none() || made.rotation == one.rotation.as_deref();
        level(&one.level) && rotation
    });
    // All layouts that reads cannot distinguish from it; a mirror is unique.
    let lists = |named: &Named| {
        found.layouts.iter().any(|one| {
            one.level == named.level
                && one.disks == named.disks
                && one.rotation.as_deref() == named.rotation
        })
    };
    let all_are_listed = level("10") || alike(made.spec.build().layout()).iter().all(lists);
    let [low, high] = found.unit_bytes_interval;
    let away = found.phase_bytes.abs_diff(made.phase_bytes);
    let holds = (low..=high).contains(&made.unit_bytes)
        && away.min(made.unit_bytes.saturating_sub(away)) <= found.phase_bytes_error
        && found.columns == made.columns
        && is_listed
        && all_are_listed
        && found.level().is_none_or(level);
    let exact = found.unit_bytes == made.unit_bytes && found.phase_bytes == made.phase_bytes;
    match (holds, exact) {
        (true, true) => Verdict::Exact,
        (true, false) => Verdict::FillCoverage,
        (false, _) => Verdict::Wrong,
    }
}

/// Errors of a profile.
#[derive(Clone, Copy, Debug)]
pub struct ProfileErrors {
    /// The largest distance of a zone boundary, from found to nearest true one and vice versa, in
    /// per cent of the capacity.
    pub zones_percent: f64,
    pub seek_percent: f64,
    pub rotation_percent: f64,
}

/// The study of surfaces.
pub fn surfaces(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let all = profiles(seed, size.arrays)?;
    let most = |of: fn(&ProfileErrors) -> f64| all.iter().map(of).fold(0.0, f64::max);
    let mut state = |what: &str, value: f64, bound: f64| {
        table.state(
            &format!("(g) {what}, % at most"),
            value,
            2,
            Bound::AtMost(bound),
        );
    };
    state(
        "zones: off by, of the capacity",
        most(|off| off.zones_percent),
        2.0,
    );
    state("seek average: off by", most(|off| off.seek_percent), 5.0);
    state("rotation: off by", most(|off| off.rotation_percent), 0.1);
    Ok(())
}

/// Profiles of random disks.
pub fn profiles(seed: u64, count: usize) -> Result<Vec<ProfileErrors>> {
    trials(count, |trial| {
        let seed = seed_of(seed, 202, trial) >> 16;
        let disk = disk(seed)?;
        let plan = Plan {
            seed: seed + 1,
            ..Plan::default()
        };
        let measured = measure(&mut Simulated::new(&disk.spec), &plan, &mut |_| {});
        let found = analyse(&measured);
        let boundaries: Vec<f64> = found
            .boundaries
            .iter()
            .map(|one| one.at_bytes as f64)
            .collect();
        let farthest =
            farthest(&boundaries, &disk.boundaries).max(farthest(&disk.boundaries, &boundaries));
        // A feature that is not found has the maximum error.
        let percent = |found: Option<f64>, truth: f64| {
            found.map_or(100.0, |found| 100.0 * (found / truth - 1.0).abs())
        };
        let off = ProfileErrors {
            zones_percent: 100.0 * farthest / measured.size_bytes as f64,
            seek_percent: percent(
                found.seeks.map(|seeks| seeks.average_ns),
                disk.seek_average_ns,
            ),
            rotation_percent: percent(
                found.rotation.map(|rotation| rotation.revolution_ns),
                disk.spec.spindle_revolution_ns(0),
            ),
        };
        eprintln!("{trial}: {off:?}: {}", disk.text);
        Ok(off)
    })
}

/// The largest distance of some positions to the nearest of others.
fn farthest(places: &[f64], others: &[f64]) -> f64 {
    let nearest = |place: &f64| {
        let away = others.iter().map(|other| (other - place).abs());
        away.fold(f64::INFINITY, f64::min)
    };
    places.iter().map(nearest).fold(0.0, f64::max)
}
