//! `profile --fill` on random solid-state drives with a known fast part, sustained rate and
//! recovery rate.

use super::device::Simulated;
use super::{pick, spec_of};
use crate::truth::parallel::trials;
use crate::truth::size::{Size, seed_of};
use crate::truth::table::{Bound, Table};
use anyhow::Result;
use stripewise_array_sim::ArraySpec;
use stripewise_stats::Random;
use stripewise_surface::Device;
use stripewise_surface::fill::{FillPlan, Stretch, analyse, came_back, write, write_after_rest};

/// A drive, and the truth about it.
struct Drive {
    text: String,
    spec: ArraySpec,
    fast_bytes: u64,
    slow_bytes_per_s: f64,
    rest_ns: u64,
    /// Capacity recovered by the idle time: at most the fast part.
    back_bytes: u64,
}

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// 1 to 64 GiB of a drive are fast; it has 1 to 128 MiB of memory behind a link that is as fast as
/// its flash, twice as fast, or unlimited.
fn drive(seed: u64) -> Result<Drive> {
    let mut random = Random::new(seed ^ 0xf111_0000);
    let fast_bytes =
        (GIB << random.below(6)) + random.below(1024) as u64 * (MIB << random.below(4));
    let fast_us = 60 + random.below(120) as u64;
    let slow_us = fast_us * (160 + random.below(500) as u64) / 100;
    let channels = 8 << random.below(3);
    let fast_rate = channels as u64 * 16_384 * 1_000_000 / fast_us;
    let link = pick(
        &mut random,
        &[0, fast_rate / MIB, 2 * fast_rate / MIB, 7_000],
    );
    let refill_mib = 50 + random.below(700) as u64;
    let rest_s = 1 + random.below(60) as u64;
    let size = fast_bytes * (150 + random.below(250) as u64) / 100 / MIB;
    let text = format!(
        "nvme-consumer?seed={seed}&size=0&ssd.size={size}M&ssd.channels={channels}&ssd.fast={}M\
         &ssd.fast_program={fast_us}us&ssd.program={slow_us}us&ssd.fast_refill={refill_mib}M\
         &ssd.buffer={}M&controller.link={link}M&ssd.jitter_percent={}",
        fast_bytes / MIB,
        1 << random.below(8),
        random.below(40),
    );
    Ok(Drive {
        spec: spec_of(&text)?,
        text,
        fast_bytes,
        slow_bytes_per_s: channels as f64 * 16_384.0 * 1e6 / slow_us as f64,
        rest_ns: rest_s * 1_000_000_000,
        back_bytes: (rest_s * refill_mib * MIB).min(fast_bytes),
    })
}

/// Whether each interval contains the truth: fast part, rate after it, recovered capacity.
#[derive(Clone, Copy, Debug)]
pub struct FillCoverage {
    pub fast: bool,
    pub slow: bool,
    pub back: bool,
    /// Half width of the first interval, in per cent of the fast part.
    pub fast_width_percent: f64,
}

/// The study of fills.
pub fn fills(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let all = filled(seed, size.arrays)?;
    let percent = |holds: fn(&FillCoverage) -> bool| super::percent_of(&all, holds);
    for (what, value) in [
        ("fast part in its interval", percent(|held| held.fast)),
        ("rate behind it in its interval", percent(|held| held.slow)),
        ("what came back in its interval", percent(|held| held.back)),
    ] {
        table.state(
            &format!("(g) fills: {what}, %"),
            value,
            1,
            Bound::AtLeast(95.0),
        );
    }
    let mut widths: Vec<f64> = all.iter().map(|held| held.fast_width_percent).collect();
    widths.sort_by(f64::total_cmp);
    let middle = widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN);
    table.state(
        "(g) fills: half width of the fast part's interval, median %",
        middle,
        2,
        Bound::None,
    );
    Ok(())
}

/// Fills of random drives.
pub fn filled(seed: u64, count: usize) -> Result<Vec<FillCoverage>> {
    trials(count, |trial| {
        let seed = seed_of(seed, 204, trial) >> 16;
        let drive = drive(seed)?;
        let mut device = Simulated::new(&drive.spec);
        let plan = FillPlan {
            bytes: device.size_bytes(),
            time_ns_max: u64::MAX,
        };
        let written = write(&mut device, &plan, &mut || None);
        let curve = analyse(&written.steps, seed);
        let fast = curve.fast_part();
        let again = write_after_rest(&mut device, &plan, drive.rest_ns, &curve, &mut || None);
        let back = came_back(&again.steps, &curve, drive.rest_ns, seed);
        let fast_interval = fast.map_or([0, 0], |fast| fast.interval_bytes());
        let last = curve.stretches.last();
        let slow = last.and_then(|last| last.bytes_per_s_interval);
        let inside = |[low, high]: [u64; 2], truth: u64| (low..=high).contains(&truth);
        let held = FillCoverage {
            fast: inside(fast_interval, drive.fast_bytes),
            slow: slow.is_some_and(|[low, high]| (low..=high).contains(&drive.slow_bytes_per_s)),
            back: back.is_some_and(|back| match back.at_least {
                true => back.interval_bytes[0] <= drive.back_bytes,
                false => inside(back.interval_bytes, drive.back_bytes),
            }),
            fast_width_percent: 50.0 * (fast_interval[1] - fast_interval[0]) as f64
                / drive.fast_bytes as f64,
        };
        let of_stretch = |one: &Stretch| (one.to_bytes / MIB, (one.bytes_per_s / 1e6) as u64);
        let stretches: Vec<(u64, u64)> = curve.stretches.iter().map(of_stretch).collect();
        eprintln!(
            "fill {trial}: {held:?}: {} {fast_interval:?}, {:.4e} {slow:?}, {} {back:?}, held {}, stretches {:?}: {}",
            drive.fast_bytes,
            drive.slow_bytes_per_s,
            drive.back_bytes,
            curve.held_bytes,
            stretches,
            drive.text
        );
        Ok(held)
    })
}
