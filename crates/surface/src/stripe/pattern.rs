//! From a period to unit, phase and number of disks, with every check that a pattern of
//! stripes must pass.

use super::copies::{alike_at_all_distances, copies};
use super::edges::{
    Comb, Edge, PERIODS_MIN, Window, anchor, calibrate, edge, is_sharp, share_a_disk,
};
use super::layouts::{Consistent, UNITS_MAX, fitting, of_columns};
use super::multiples::{BATCHES_PARTS, Mean, in_random_order, true_period};
use super::reads::Reader;
use super::scale::Scale;
use super::search::Period;
use super::{Copies, Limits, Pattern, Refusal, Stage, Trouble};
use crate::device::Device;

/// The places that must agree, in percent of the target, and how much each spans.
const PLACES_PERCENT: [u64; 3] = [5, 45, 85];
const SPAN_PERCENT: u64 = 10;
/// Anchors tried before a period is given up.
const ANCHORS: usize = 3;
/// Where reads in every second period cost this much more, in units of the difference
/// between one disk and two, the true period is longer: for half a period it is some 2.
const MULTIPLE_MAX: f64 = 0.8;
/// Batches for that at most, where the target is noisy.
const BATCHES_WHOLE_MAX: usize = 240;
/// Neighbouring units may share so much of a disk, in units of what one unit does, as noise
/// has it; where parity shifts rows it is a quarter.
const NEIGHBOUR_MAX: f64 = 0.12;
/// Batches for that, at least.
const BATCHES_NEIGHBOURS: usize = 64;
/// Pairs of units that must lie as a layout has them, where a disk has several in a period.
const PAIRS_OF_UNITS: usize = 24;
/// Random places within a unit that must share its disk.
const INSIDE: usize = 4;
/// Part of what one decision of the sequential test may be wrong by: e^-12.
const DECISION_ERROR: f64 = 6.2e-6;

/// Unit, phase and disks of a period; a refusal where it is not that of stripes.
pub(super) fn pattern<D: Device>(
    reader: &mut Reader<'_, D>,
    period: &Period,
    limits: &Limits,
    hear: &mut dyn FnMut(Stage),
) -> Result<Pattern, Trouble> {
    hear(Stage::Edges);
    let period_bytes = whole_period(reader, period, limits)?;
    let period_bytes = true_period(reader, period_bytes)?;
    of_period(reader, period_bytes, hear)
}

/// The same of a period that is known to the byte.
pub(super) fn of_period<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    hear: &mut dyn FnMut(Stage),
) -> Result<Pattern, Trouble> {
    let sector = reader.sector_bytes();
    if reader.size_bytes() / 100 * SPAN_PERCENT < PERIODS_MIN * period_bytes {
        return Err(Refusal::new(
            "too-small",
            format!(
                "the pattern repeats after {}; it takes a target of {} to be sure of it",
                stripewise_units::format_bytes(period_bytes),
                stripewise_units::format_bytes(period_bytes * PERIODS_MIN * 100 / SPAN_PERCENT),
            ),
        )
        .into());
    }
    let mut tries = 1;
    let unit = loop {
        match first_place(reader, period_bytes) {
            Err(Trouble::Refused(_)) if tries < ANCHORS => tries += 1,
            ended => break ended?,
        }
    };
    // It may have been a multiple.
    let period_bytes = unit.bytes * unit.shares.len() as u64;
    neighbours_are_apart(reader, period_bytes, &unit, BATCHES_WHOLE_MAX)?;
    both_others_are_apart(reader, period_bytes, &unit)?;
    whole_pattern(reader, period_bytes, &unit)?;
    hear(Stage::Places);
    let agreeing = other_places(reader, period_bytes, &unit)?;
    if agreeing < 2 {
        return Err(Refusal::places(agreeing).into());
    }
    let units = unit.shares.len();
    let columns = (units / unit.shares.iter().filter(|share| **share).count()) as u32;
    // As far away as can be, on another disk.
    let other = (1..=units.div_ceil(2))
        .rev()
        .find(|other| !unit.shares[*other]);
    let apart = unit.middle(sector) + i128::from(unit.bytes * other.unwrap_or(1) as u64);
    let copies = copies(reader, period_bytes, (unit.middle(sector), apart))?;
    if copies != Copies::One {
        match alike_at_all_distances(reader, period_bytes, unit.middle(sector))? {
            Some(true) => {}
            Some(false) => {
                let what = "a unit lies on several disks, and at some distances on the same";
                return Err(Refusal::not_a_pattern(what).into());
            }
            None => return Err(Refusal::noise(unit.scale.contrast(), unit.scale.deviation).into()),
        }
    }
    if copies == Copies::Several {
        // Columns on two disks look like this, so that it takes more to be sure.
        neighbours_are_apart(reader, period_bytes, &unit, 4 * BATCHES_WHOLE_MAX)?;
    }
    let layouts = match unit.dealt.is_empty() {
        true => of_columns(columns, copies),
        false if copies == Copies::Several => {
            let what = "a disk has several units in a period, and a copy of them";
            return Err(Refusal::not_a_pattern(what).into());
        }
        false => unit.dealt.clone(),
    };
    let decisions = units as f64 + 4.0 * 20.0;
    Ok(Pattern {
        unit_bytes: unit.bytes,
        unit_bytes_interval: [unit.bytes, unit.bytes],
        phase_bytes: unit.begins.rem_euclid(i128::from(unit.bytes)) as u64,
        phase_bytes_error: 0,
        columns,
        period_bytes,
        copies,
        layouts,
        confidence: 1.0 - decisions * DECISION_ERROR,
        contrast: unit.scale.contrast(),
        places_percent: PLACES_PERCENT.map(|percent| percent as u32).to_vec(),
    })
}

/// One unit of the pattern.
struct Unit {
    begins: i128,
    bytes: u64,
    scale: Scale,
    /// Of each unit of the period, this one first: whether it is on the same disk.
    shares: Vec<bool>,
    /// The layouts that fit where others are; empty where each unit is on a disk of its own.
    dealt: Vec<Consistent>,
}

impl Unit {
    fn middle(&self, sector: u64) -> i128 {
        let half = self.bytes / 2 / sector * sector;
        self.begins + i128::from(half)
    }
}

fn place<D: Device>(reader: &Reader<'_, D>, percent: u64, period_bytes: u64) -> Comb {
    let part = reader.size_bytes() / 100;
    let half = SPAN_PERCENT / 2;
    Comb {
        period: period_bytes,
        every: 1,
        window: Window {
            from: part * (percent - half),
            to: part * (percent + half),
        },
    }
}

/// Half a period, in whole sectors: in another unit, whatever the number of disks.
fn half(period_bytes: u64, sector: u64) -> i128 {
    i128::from(period_bytes / 2 / sector * sector)
}

/// The unit of a random anchor at the first place.
fn first_place<D: Device>(reader: &mut Reader<'_, D>, period_bytes: u64) -> Result<Unit, Trouble> {
    let sector = reader.sector_bytes();
    let comb = place(reader, PLACES_PERCENT[0], period_bytes);
    let at = anchor(reader, period_bytes);
    let half = half(period_bytes, sector);
    let scale = calibrate(reader, &comb, at, at + half)?;
    let after = edge(reader, &comb, &scale, (at, at + half), sector)?;
    let before = edge(reader, &comb, &scale, (at, at - half), sector)?;
    let bytes = (after.outside - before.inside) as u64;
    if !period_bytes.is_multiple_of(bytes) {
        let problem = format!(
            "{} is not a whole number of units of {} bytes",
            stripewise_units::format_bytes(period_bytes),
            bytes
        );
        return Err(Refusal::not_a_pattern(&problem).into());
    }
    for one in [after, before] {
        if !is_sharp(reader, &comb, &scale, at, one)? {
            return Err(Refusal::not_a_pattern("its edges are not sharp").into());
        }
    }
    let mut unit = Unit {
        begins: before.inside,
        bytes,
        scale,
        shares: Vec::new(),
        dealt: Vec::new(),
    };
    whole(reader, &comb, &unit)?;
    unit.shares = shares(reader, &comb, &unit)?;
    let round = round(&unit.shares);
    unit.shares.truncate(round);
    if unit.shares[1..].contains(&true) {
        unit.dealt = dealt(reader, &comb, &unit)?;
    }
    Ok(unit)
}

/// After how many units the first one's disk comes again, where it comes after as many each
/// time and never between; else all of them.
fn round(shares: &[bool]) -> usize {
    let whole = |units: &usize| {
        let mut all = shares.iter().enumerate();
        shares.len().is_multiple_of(*units) && all.all(|(k, share)| *share == (k % units == 0))
    };
    (2..shares.len()).find(whole).unwrap_or(shares.len())
}

/// All of the unit is on one disk.
fn whole<D: Device>(reader: &mut Reader<'_, D>, comb: &Comb, unit: &Unit) -> Result<(), Trouble> {
    let sector = reader.sector_bytes();
    for _ in 0..INSIDE {
        let inside = i128::from(reader.below(unit.bytes / sector) * sector);
        let pair = (unit.middle(sector), unit.begins + inside);
        if share_a_disk(reader, comb, &unit.scale, pair)? != Some(true) {
            return Err(Refusal::not_a_pattern("a unit is not on one disk").into());
        }
    }
    Ok(())
}

/// Which units of the period are on the first one's disk.
fn shares<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    unit: &Unit,
) -> Result<Vec<bool>, Trouble> {
    let units = comb.period / unit.bytes;
    let mut shares = vec![true];
    for number in 1..units {
        match unit_share(reader, comb, unit, (0, number))? {
            true if units > UNITS_MAX => {
                let what = "a disk has several units in a long period";
                return Err(Refusal::not_a_pattern(what).into());
            }
            share => shares.push(share),
        }
    }
    if units < 2 {
        return Err(Refusal::not_a_pattern("it is a single unit").into());
    }
    Ok(shares)
}

/// Whether two units of the period are on one disk.
fn unit_share<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    unit: &Unit,
    (a, b): (u64, u64),
) -> Result<bool, Trouble> {
    let middle = unit.middle(reader.sector_bytes());
    let at = |number: u64| middle + i128::from(number * unit.bytes);
    let share = share_a_disk(reader, comb, &unit.scale, (at(a), at(b)))?;
    let noise = || Refusal::noise(unit.scale.contrast(), unit.scale.deviation);
    share.ok_or_else(|| noise().into())
}

/// The layouts that fit where a disk has several units in a period: units of the first
/// one's disk must lie as in one of them, and so must random pairs of others.
fn dealt<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    unit: &Unit,
) -> Result<Vec<Consistent>, Trouble> {
    let units = unit.shares.len();
    let mut all = fitting(&unit.shares);
    for _ in 0..PAIRS_OF_UNITS {
        // Pairs that share a disk in one of the layouts are few: half of the pairs are such.
        let (a, b) = (reader.random.below(units), reader.random.below(units));
        let b = match all.first() {
            Some((one, first)) if reader.random.below(2) == 0 => {
                let same = |b: &usize| one.share(first[0] + a, first[0] + a + b);
                a + (1..units).find(same).unwrap_or(1)
            }
            _ => b,
        };
        if a == b % units {
            continue;
        }
        let share = unit_share(reader, comb, unit, (a as u64, (b % units) as u64))?;
        all.retain_mut(|(dealt, first)| {
            first.retain(|first| dealt.share(first + a, first + b % units) == share);
            !first.is_empty()
        });
        if all.is_empty() {
            break;
        }
    }
    match all.is_empty() {
        true => Err(Refusal::not_a_pattern("a disk has several units in a period").into()),
        false => Ok(all.into_iter().map(|(dealt, _)| dealt.layout).collect()),
    }
}

/// Units that follow each other share a disk no more than units half a period apart do. Where
/// parity shifts some rows of data by a disk or two, a column is on two disks, as a mirrored
/// pair is, but each of these has a neighbouring column as well.
fn neighbours_are_apart<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
    batches_max: usize,
) -> Result<(), Trouble> {
    let units = unit.shares.len() as u64;
    if units < 4 || unit.shares[1..].contains(&true) {
        return Ok(());
    }
    let sure = libm::sqrt(BATCHES_WHOLE_MAX as f64 / batches_max as f64);
    let middle = unit.middle(reader.sector_bytes());
    let comb = place(reader, 50, period_bytes);
    // Above the cost of units half a period apart: one unit, its neighbour, the next one.
    let mut above: [Vec<f64>; 3] = Default::default();
    let means = loop {
        for _ in 0..BATCHES_PARTS {
            let first = reader.below(units);
            let at = |number: u64| middle + i128::from(unit.bytes * (first + number));
            let settings = [0, 1, 2, units / 2].map(|number| (comb, at(number)));
            let costs = in_random_order(reader, at(0), settings)?;
            for (above, cost) in above.iter_mut().zip(costs) {
                above.push(cost - costs[3]);
            }
        }
        let means: [Mean; 3] = std::array::from_fn(|number| Mean::of(&above[number]));
        let limit = 0.03 * sure * means[0].value;
        let known = means.iter().all(|mean| mean.error <= limit);
        if above[0].len() >= BATCHES_NEIGHBOURS && known || above[0].len() >= batches_max {
            break means.map(|mean| mean.value);
        }
    };
    // Of four units the next one but one is half a period apart.
    let most = means[1].max(if units > 4 { means[2] } else { 0.0 });
    match most > NEIGHBOUR_MAX * f64::midpoint(1.0, sure) * means[0] {
        true => {
            let what = "neighbouring units share disks now and then";
            Err(Refusal::not_a_pattern(what).into())
        }
        false => Ok(()),
    }
}

/// The same of three units, each of which has the two others beside it: where both are on
/// disks of their own, a unit costs as much beside either.
fn both_others_are_apart<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
) -> Result<(), Trouble> {
    if unit.shares.len() != 3 {
        return Ok(());
    }
    let middle = unit.middle(reader.sector_bytes());
    let comb = place(reader, 50, period_bytes);
    for first in 0..3 {
        let at = |number: u64| middle + i128::from(unit.bytes * (first + number));
        let (mut together, mut between) = (Vec::new(), Vec::new());
        for _ in 0..BATCHES_NEIGHBOURS {
            let settings = [0, 1, 2].map(|number| (comb, at(number)));
            let [own, one, other] = in_random_order(reader, at(0), settings)?;
            together.push(own - f64::midpoint(one, other));
            between.push(one - other);
        }
        let (together, between) = (Mean::of(&together), Mean::of(&between));
        let beyond = between.value.abs() - 2.0 * between.error;
        if beyond > NEIGHBOUR_MAX / 2.0 * together.value {
            let what = "neighbouring units share disks now and then";
            return Err(Refusal::not_a_pattern(what).into());
        }
    }
    Ok(())
}

/// Reads in every second, third or fifth period collide no more than reads in every one:
/// else the true period is a multiple, and a disk of the pattern would be several.
fn whole_pattern<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
) -> Result<(), Trouble> {
    let middle = unit.middle(reader.sector_bytes());
    let per_unit = unit.scale.together - unit.scale.apart;
    let mut above: [Vec<f64>; 3] = Default::default();
    let most = loop {
        for _ in 0..BATCHES_PARTS {
            let comb = |every: u64| Comb {
                every,
                ..place(reader, 50, period_bytes)
            };
            let settings = [2, 3, 5, 1].map(|every| (comb(every), middle));
            let costs = in_random_order(reader, middle, settings)?;
            for (above, cost) in above.iter_mut().zip(costs) {
                above.push(cost - costs[3]);
            }
        }
        let means: [Mean; 3] = std::array::from_fn(|number| Mean::of(&above[number]));
        if Mean::are_known(&means, per_unit) || above[0].len() >= BATCHES_WHOLE_MAX {
            // What is not known is not held against it.
            let surely = means.iter().map(|mean| mean.value - mean.error);
            break surely.fold(f64::MIN, f64::max);
        }
    };
    match most / per_unit < MULTIPLE_MAX {
        true => Ok(()),
        false => Err(Refusal::not_a_pattern("it is a part of the true one").into()),
    }
}

/// At how many of the other places the edges fit those of the first.
fn other_places<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
) -> Result<usize, Trouble> {
    let mut agreeing = 0;
    for percent in &PLACES_PERCENT[1..] {
        let comb = place(reader, *percent, period_bytes);
        let mut fits = false;
        for _ in 0..2 {
            match fits_at(reader, &comb, unit) {
                Ok(true) => {
                    fits = true;
                    break;
                }
                Ok(false) | Err(Trouble::Refused(_)) => {}
                Err(halted) => return Err(halted),
            }
        }
        agreeing += usize::from(fits);
    }
    Ok(agreeing)
}

fn fits_at<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    unit: &Unit,
) -> Result<bool, Trouble> {
    let sector = reader.sector_bytes();
    let at = anchor(reader, comb.period);
    let half = half(comb.period, sector);
    let scale = calibrate(reader, comb, at, at + half)?;
    let Edge { outside, .. } = edge(reader, comb, &scale, (at, at + half), sector)?;
    let unit_bytes = i128::from(unit.bytes);
    Ok((outside - unit.begins).rem_euclid(unit_bytes) == 0 && outside - at <= unit_bytes)
}

/// The period as a whole number of sectors. Where the target is too small for strides
/// that tell neighbouring numbers apart, the number of disks does: a period is a whole
/// number of units on each of them.
fn whole_period<D: Device>(
    reader: &mut Reader<'_, D>,
    period: &Period,
    limits: &Limits,
) -> Result<u64, Trouble> {
    let sector = reader.sector_bytes();
    let nearest = |of: u64| libm::round(period.best / of as f64) as u64 * of;
    let only = |of: u64| {
        let first = libm::ceil(period.low / of as f64) as u64;
        let last = libm::floor(period.high / of as f64) as u64;
        first >= last
    };
    let rounded = nearest(sector);
    if only(sector) {
        return Ok(rounded);
    }
    let uncertain = (period.high - period.low) / 2.0;
    let columns = rough_columns(reader, rounded, uncertain, limits)?;
    let of = sector * u64::from(columns);
    Ok(nearest(of))
}

/// The number of disks, from edges that are looked for close together, where an
/// uncertain period does not matter yet.
fn rough_columns<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    uncertain: f64,
    limits: &Limits,
) -> Result<u32, Trouble> {
    let sector = reader.sector_bytes();
    let size = reader.size_bytes();
    // Over this many periods the error grows to a sixteenth of the smallest unit.
    let smallest = (period_bytes as f64 / f64::from(limits.disks_max)).max(4096.0);
    let periods = (smallest / 16.0 / uncertain).max(1.0);
    let span = (periods * period_bytes as f64).min(size as f64 * 0.8) as u64;
    if span < PERIODS_MIN * period_bytes {
        return Err(Refusal::new(
            "too-small",
            format!(
                "there is a period of about {}, but the target is too small to measure it",
                stripewise_units::format_bytes(period_bytes)
            ),
        )
        .into());
    }
    let from = reader.below(size - span);
    let comb = Comb {
        period: period_bytes,
        every: 1,
        window: Window {
            from,
            to: from + span,
        },
    };
    let at = anchor(reader, period_bytes);
    let half = half(period_bytes, sector);
    let scale = calibrate(reader, &comb, at, at + half)?;
    let resolution = (smallest / 16.0) as u64;
    let after = edge(reader, &comb, &scale, (at, at + half), resolution)?;
    let before = edge(reader, &comb, &scale, (at, at - half), resolution)?;
    let middle = |edge: &Edge| edge.inside as f64 / 2.0 + edge.outside as f64 / 2.0;
    let columns = period_bytes as f64 / (middle(&after) - middle(&before));
    let rounded = libm::round(columns);
    if !(2.0..=f64::from(limits.disks_max)).contains(&rounded) || (columns - rounded).abs() > 0.35 {
        return Err(Refusal::not_a_pattern("it is not a whole number of units").into());
    }
    Ok(rounded as u32)
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn a_multiple_of_the_period_shows_in_the_units_that_share_a_disk() {
        let shares =
            |units: usize, of: usize| -> Vec<bool> { (0..units).map(|k| k % of == 0).collect() };
        assert_eq!(round(&shares(12, 4)), 4);
        assert_eq!(round(&shares(4, 4)), 4);
        assert_eq!(round(&shares(6, 2)), 2);
        // Parity in the way: twice, at uneven distances.
        let mut uneven = shares(12, 12);
        uneven[5] = true;
        assert_eq!(round(&uneven), 12);
    }
}
