//! Derives unit, phase and number of disks from a period, with every check that a stripe pattern
//! must pass.

use super::copies::{copies, same_at_all_distances};
use super::edges::{Comb, Edge, PERIODS_MIN, Window, anchor, calibrate, edge};
use super::layouts::of_columns;
use super::multiples::{BATCHES_PARTS, Mean, in_random_order, true_period};
use super::reads::Reader;
use super::rotations::{self, Units};
use super::search::Period;
use super::unit::{PLACES_PERCENT, SPAN_PERCENT, Unit, first_place, half, place, tried, unit_at};
use super::{Copies, Limits, Pattern, Refusal, SearchEnd, Stage};
use crate::device::Device;

/// If reads in every second period cost this much more, in units of the difference between one disk
/// and two, the true period is longer: for half a period it is about 2.
const MULTIPLE_MAX: f64 = 0.8;
/// Most batches for that, if the target is noisy.
const BATCHES_WHOLE_MAX: usize = 240;
/// Noise limit for how much of a disk adjacent units seem to share, in units of what one unit does;
/// if parity shifts rows it is a quarter.
const NEIGHBOUR_MAX: f64 = 0.12;
/// Fewest batches for that.
const BATCHES_NEIGHBOURS: usize = 64;
/// Error probability of one decision of the sequential test: e^-12.
const DECISION_ERROR: f64 = 6.2e-6;

/// Unit, phase and disks of a period; a refusal if it is not a stripe pattern's.
pub(super) fn pattern<D: Device>(
    reader: &mut Reader<'_, D>,
    period: &Period,
    limits: &Limits,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<Pattern, SearchEnd> {
    on_progress(Stage::Edges);
    let period_bytes = whole_period(reader, period, limits)?;
    let period_bytes = true_period(reader, period_bytes)?;
    of_period(reader, period_bytes, on_progress)
}

/// The same for a period known to the byte.
pub(super) fn of_period<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<Pattern, SearchEnd> {
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
    let unit = tried(reader, |reader, part| {
        first_place(reader, period_bytes, part)
    })?;
    // It may have been a multiple.
    let period_bytes = unit.bytes * unit.shares.len() as u64;
    neighbours_are_separate(reader, period_bytes, &unit, BATCHES_WHOLE_MAX)?;
    others_are_separate(reader, period_bytes, &unit)?;
    whole_pattern(reader, period_bytes, &unit)?;
    on_progress(Stage::Places);
    let agreeing = other_places(reader, period_bytes, &unit)?;
    if agreeing < 2 {
        return Err(Refusal::places(agreeing).into());
    }
    let units = unit.shares.len();
    let columns = (units / unit.shares.iter().filter(|share| **share).count()) as u32;
    let apart = unit.middle(sector) + unit.to_another_disk();
    let copies = copies(reader, period_bytes, (unit.middle(sector), apart))?;
    match same_at_all_distances(reader, period_bytes, (unit.middle(sector), unit.bytes))? {
        Some(false) => {
            let what = "a unit lies on several disks, and at some distances on the same";
            return Err(Refusal::not_a_pattern(what).into());
        }
        None if copies != Copies::One => {
            return Err(Refusal::noise(unit.scale.contrast(), unit.scale.deviation).into());
        }
        Some(true) | None => {}
    }
    if copies != Copies::One && !rotations_of(reader, &unit, units as u64)?.is_empty() {
        let what = "it is a part of one where parity is in the way";
        return Err(Refusal::not_a_pattern(what).into());
    }
    if copies == Copies::Several {
        // Columns on two disks look like this, so more certainty is needed.
        neighbours_are_separate(reader, period_bytes, &unit, 4 * BATCHES_WHOLE_MAX)?;
    }
    let layouts = match unit.distribution.is_empty() {
        true => of_columns(columns, copies),
        false if copies == Copies::Several => {
            let what = "a disk has several units in a period, and a copy of them";
            return Err(Refusal::not_a_pattern(what).into());
        }
        false => unit.distribution.clone(),
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

/// Given the disk of each unit under a known parity rotation: the pattern that `near` is part of,
/// if any.
pub(super) fn behind_parity<D: Device>(
    reader: &mut Reader<'_, D>,
    near: &Period,
    limits: &Limits,
    on_progress: &mut dyn FnMut(Stage),
) -> Result<Pattern, SearchEnd> {
    let period_bytes = whole_period(reader, near, limits)?;
    let comb = place(reader, PLACES_PERCENT[0], period_bytes);
    let unit = tried(reader, |reader, part| unit_at(reader, &comb, part))?;
    let columns = period_bytes / unit.bytes;
    let mut refused = Refusal::not_a_pattern("no rotation of parity explains it").into();
    for units in rotations_of(reader, &unit, columns)? {
        match of_period(reader, units * unit.bytes, on_progress) {
            Err(SearchEnd::Refused(why)) => refused = SearchEnd::Refused(why),
            ended => return ended,
        }
    }
    Err(refused)
}

/// Periods, in units, of the rotations that explain the costs within a column.
fn rotations_of<D: Device>(
    reader: &mut Reader<'_, D>,
    unit: &Unit,
    columns: u64,
) -> Result<Vec<u64>, SearchEnd> {
    let window = Window {
        from: 0,
        to: reader.size_bytes(),
    };
    let units = Units {
        begins: unit.begins,
        bytes: unit.bytes,
        columns,
    };
    rotations::periods(reader, window, units)
}

/// Adjacent units share a disk no more than units half a period apart do. If parity shifts some
/// rows of data by a disk or two, a column is on two disks, like a mirrored pair, but each of these
/// also has an adjacent column.
fn neighbours_are_separate<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
    batches_max: usize,
) -> Result<(), SearchEnd> {
    let units = unit.shares.len() as u64;
    if units < 4 || unit.shares[1..].contains(&true) {
        return Ok(());
    }
    let sure = libm::sqrt(BATCHES_WHOLE_MAX as f64 / batches_max as f64);
    let middle = unit.middle(reader.sector_bytes());
    let comb = place(reader, 50, period_bytes);
    // Relative to the cost of units half a period apart: one unit, its neighbour, the next one.
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
    // With four units the next but one is half a period apart.
    let most = means[1].max(if units > 4 { means[2] } else { 0.0 });
    match most > NEIGHBOUR_MAX * f64::midpoint(1.0, sure) * means[0] {
        true => {
            let what = "neighbouring units share disks now and then";
            Err(Refusal::not_a_pattern(what).into())
        }
        false => Ok(()),
    }
}

/// The same for three units, each of which is adjacent to the two others: if both are on their own
/// disks, a unit costs the same next to either.
fn others_are_separate<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
) -> Result<(), SearchEnd> {
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

/// Reads in every second, third or fifth period collide no more than reads in every one: otherwise
/// the true period is a multiple, and a disk of the pattern would be several.
fn whole_pattern<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
) -> Result<(), SearchEnd> {
    let middle = unit.middle(reader.sector_bytes());
    let per_unit = unit.scale.together - unit.scale.apart;
    let mut above: [Vec<f64>; 3] = Default::default();
    let most = loop {
        for _ in 0..BATCHES_PARTS {
            // Of any unit: the first one may be on one disk while others are not.
            let number = reader.below(period_bytes / unit.bytes);
            let at = middle + i128::from(number * unit.bytes);
            let middle_part = place(reader, 50, period_bytes);
            let comb = |every: u64| Comb {
                every,
                ..middle_part
            };
            let settings = [2, 3, 5, 1].map(|every| (comb(every), at));
            let costs = in_random_order(reader, at, settings)?;
            for (above, cost) in above.iter_mut().zip(costs) {
                above.push(cost - costs[3]);
            }
        }
        let means: [Mean; 3] = std::array::from_fn(|number| Mean::of(&above[number]));
        if Mean::are_known(&means, per_unit) || above[0].len() >= BATCHES_WHOLE_MAX {
            // Unknown results are not counted against it.
            let surely = means.iter().map(|mean| mean.value - mean.error);
            break surely.fold(f64::MIN, f64::max);
        }
    };
    match most / per_unit < MULTIPLE_MAX {
        true => Ok(()),
        false => Err(Refusal::not_a_pattern("it is a part of the true one").into()),
    }
}

/// Number of other places at which the edges fit those of the first.
fn other_places<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    unit: &Unit,
) -> Result<usize, SearchEnd> {
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
                Ok(false) | Err(SearchEnd::Refused(_)) => {}
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
) -> Result<bool, SearchEnd> {
    let sector = reader.sector_bytes();
    // Where a disk has several units in a period, half a period may lead to the same disk; of the
    // unit of the first place, units on other disks are known.
    let (at, far) = match unit.distribution.is_empty() {
        true => (anchor(reader, comb.period), half(comb.period, sector)),
        false => (
            unit.begins + anchor(reader, unit.bytes),
            unit.to_another_disk(),
        ),
    };
    let apart = at + far;
    let scale = calibrate(reader, comb, at, apart)?;
    let Edge { outside, .. } = edge(reader, comb, &scale, (at, apart), sector)?;
    let unit_bytes = i128::from(unit.bytes);
    Ok((outside - unit.begins).rem_euclid(unit_bytes) == 0 && outside - at <= unit_bytes)
}

/// The period as a whole number of sectors. If the target is too small for strides that distinguish
/// adjacent numbers, the number of disks does: a period is a whole number of units on each of them.
fn whole_period<D: Device>(
    reader: &mut Reader<'_, D>,
    period: &Period,
    limits: &Limits,
) -> Result<u64, SearchEnd> {
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

/// The number of disks, from edges searched for close together, where an uncertain period does not
/// matter yet.
fn rough_columns<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    uncertain: f64,
    limits: &Limits,
) -> Result<u32, SearchEnd> {
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
