//! From a period to unit, phase and number of disks, with every check that a pattern of
//! stripes must pass.

use super::copies::copies;
use super::edges::{Comb, Edge, Scale, Window, calibrate, edge, is_sharp, share_a_disk};
use super::layouts::of_columns;
use super::reads::Reader;
use super::search::Period;
use super::{Limits, Pattern, Refusal, Stage, Trouble};
use crate::device::Device;

/// The places that must agree, in percent of the target, and how much each spans.
const PLACES_PERCENT: [u64; 3] = [5, 45, 85];
const SPAN_PERCENT: u64 = 10;
/// Periods that a place must hold.
const PERIODS_MIN: u64 = 40;
/// Anchors tried before a period is given up.
const ANCHORS: usize = 3;
/// Batches for each multiple and part of a period, and how many at most where the target
/// is noisy.
const BATCHES_PARTS: usize = 16;
const BATCHES_PARTS_MAX: usize = 256;
/// Mean differences are known well enough with this standard error, in units of the
/// difference between one disk and two.
const ERROR_PARTS: f64 = 0.06;
/// Where reads in every second period cost this much more, in units of the difference
/// between one disk and two, the true period is longer: for half a period it is some 2.
const MULTIPLE_MAX: f64 = 0.8;
/// A part of the period is one itself where places that far apart share a disk as places a
/// whole period apart do: all of them. Where it is not, at most three in five do (a fifth
/// of the period of two disks lies within one unit that often).
const PART_MIN: f64 = 0.8;
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
    let sector = reader.sector_bytes();
    let period_bytes = whole_period(reader, period, limits)?;
    let period_bytes = true_period(reader, period_bytes)?;
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
    whole_pattern(reader, period_bytes, &unit)?;
    hear(Stage::Places);
    let agreeing = other_places(reader, period_bytes, &unit)?;
    if agreeing < 2 {
        return Err(Refusal::places(agreeing).into());
    }
    let columns = (period_bytes / unit.bytes) as u32;
    let apart = unit.middle(sector) + i128::from(period_bytes / 2 / sector * sector);
    let copies = copies(reader, period_bytes, (unit.middle(sector), apart))?;
    let decisions = f64::from(columns) + 4.0 * 20.0;
    Ok(Pattern {
        unit_bytes: unit.bytes,
        unit_bytes_interval: [unit.bytes, unit.bytes],
        phase_bytes: unit.begins.rem_euclid(i128::from(unit.bytes)) as u64,
        phase_bytes_error: 0,
        columns,
        copies,
        layouts: of_columns(columns, copies),
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

fn anchor<D: Device>(reader: &mut Reader<'_, D>, period_bytes: u64) -> i128 {
    let sector = reader.sector_bytes();
    i128::from(reader.below(period_bytes / sector) * sector)
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
    let unit = Unit {
        begins: before.inside,
        bytes,
        scale,
    };
    whole(reader, &comb, &unit)?;
    columns(reader, &comb, &unit)?;
    Ok(unit)
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

/// Every other unit of the period is on another disk.
fn columns<D: Device>(reader: &mut Reader<'_, D>, comb: &Comb, unit: &Unit) -> Result<(), Trouble> {
    let middle = unit.middle(reader.sector_bytes());
    for number in 1..comb.period / unit.bytes {
        let other = middle + i128::from(number * unit.bytes);
        if share_a_disk(reader, comb, &unit.scale, (middle, other))? != Some(false) {
            return Err(Refusal::not_a_pattern("a disk has several units in a period").into());
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
            let combs = [1, 2, 3, 5].map(comb);
            let whole = combs[0].cost(reader, (middle, middle))?;
            for (above, comb) in above.iter_mut().zip(&combs[1..]) {
                above.push(comb.cost(reader, (middle, middle))? - whole);
            }
        }
        let means: [Mean; 3] = std::array::from_fn(|number| Mean::of(&above[number]));
        if Mean::are_known(&means, per_unit) || above[0].len() >= BATCHES_PARTS_MAX {
            break means
                .iter()
                .fold(f64::MIN, |most, mean| most.max(mean.value));
        }
    };
    match most / per_unit < MULTIPLE_MAX {
        true => Ok(()),
        false => Err(Refusal::not_a_pattern("it is a part of the true one").into()),
    }
}

/// The mean of differences between batches at one place.
///
/// Pairs, because a place's disk may be faster than another's; means and not medians,
/// because a part of the places may differ.
#[derive(Clone, Copy, Debug)]
struct Mean {
    value: f64,
    error: f64,
}

impl Mean {
    /// Of the middle eight in ten: other load makes some batches long.
    fn of(values: &[f64]) -> Mean {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let cut = sorted.len() / 10;
        let kept = &sorted[cut..sorted.len() - cut];
        let n = kept.len().max(1) as f64;
        let value = kept.iter().sum::<f64>() / n;
        let squares: f64 = kept.iter().map(|kept| (kept - value).powi(2)).sum();
        // What was cut away would have added to the deviation.
        let error = 1.5 * libm::sqrt(squares) / n;
        Mean { value, error }
    }

    fn are_known(means: &[Mean], per_unit: f64) -> bool {
        let limit = ERROR_PARTS * per_unit.abs();
        means.iter().all(|mean| mean.error <= limit)
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
        return Err(Refusal::not_a_pattern("it is no whole number of units").into());
    }
    Ok(rounded as u32)
}

/// Makes sure that the period is neither a multiple nor a part of the true one.
fn true_period<D: Device>(
    reader: &mut Reader<'_, D>,
    mut period_bytes: u64,
) -> Result<u64, Trouble> {
    for _ in 0..4 {
        let Some(better) = better_period(reader, period_bytes)? else {
            return Ok(period_bytes);
        };
        period_bytes = better;
    }
    Err(Refusal::not_a_pattern("parts of it fit as well as the whole").into())
}

fn better_period<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
) -> Result<Option<u64>, Trouble> {
    const PARTS: [u64; 3] = [2, 3, 5];
    let sector = reader.sector_bytes();
    let size = reader.size_bytes();
    let comb = |every: u64| Comb {
        period: period_bytes,
        every,
        window: Window { from: 0, to: size },
    };
    // Above the cost of the period itself, at the same anchor: its multiples, its parts.
    let mut above: [Vec<f64>; 6] = Default::default();
    let means = loop {
        for _ in 0..BATCHES_PARTS {
            let at = anchor(reader, period_bytes);
            let whole = comb(1).cost(reader, (at, at))?;
            for (number, part) in PARTS.iter().enumerate() {
                above[number].push(comb(*part).cost(reader, (at, at))? - whole);
                let aside = i128::from(period_bytes / part / sector * sector);
                above[3 + number].push(comb(1).cost(reader, (at, at + aside))? - whole);
            }
        }
        let means: [Mean; 6] = std::array::from_fn(|number| Mean::of(&above[number]));
        let least = means.iter().fold(0.0, |least, mean| mean.value.min(least));
        if Mean::are_known(&means, least) || above[0].len() >= BATCHES_PARTS_MAX {
            break means.map(|mean| mean.value);
        }
    };
    let together = means[..3].iter().copied().fold(0.0, f64::max);
    let apart = means[3..].iter().copied().fold(0.0, f64::min);
    let contrast = libm::exp(together - apart);
    if contrast < 1.2 {
        return Err(Refusal::no_contrast(contrast).into());
    }
    let share = |above: f64| (above - apart) / (together - apart);
    for (number, part) in PARTS.iter().enumerate() {
        let whole = period_bytes.is_multiple_of(part * sector);
        if share(means[3 + number]) > PART_MIN && whole {
            return Ok(Some(period_bytes / part));
        }
        if share(means[number]) - share(0.0) > 0.4 {
            return Ok(Some(period_bytes * part));
        }
    }
    Ok(None)
}
