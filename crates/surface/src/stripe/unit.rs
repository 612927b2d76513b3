//! One unit of a pattern: its edges, and which other units of the period are on its disk.

use super::edges::{Comb, Window, anchor, calibrate, edge, is_sharp, share_a_disk};
use super::layouts::{Consistent, UNITS_MAX, fitting};
use super::reads::Reader;
use super::scale::Scale;
use super::{Refusal, SearchEnd};
use crate::device::Device;

/// The places that must agree, in percent of the target, and how much each spans.
pub(super) const PLACES_PERCENT: [u64; 3] = [5, 45, 85];
pub(super) const SPAN_PERCENT: u64 = 10;
/// How far a place on another disk is from the anchor, in parts of the period, for each anchor
/// tried before a period is rejected. Half of it leads to another disk if each disk has one unit in
/// a period. Where parity displaces data it leads to the same one from up to 45 % of the anchors
/// (left-symmetric RAID 6 of 5, 7, 9 ... disks, left-asymmetric RAID 5 of 6, 8, 10 ...); the second
/// part does so from less than 20 % of those.
const PARTS_APART: [[u64; 2]; 3] = [[1, 2], [3, 7], [2, 5]];
/// Pairs of units that must match a layout, if a disk has several in a period.
const PAIRS_OF_UNITS: usize = 24;
/// Random places within a unit that must share its disk.
const INSIDE: usize = 4;

/// One unit of the pattern.
pub(super) struct Unit {
    pub begins: i128,
    pub bytes: u64,
    pub scale: Scale,
    /// For each unit of the period, this one first: whether it is on the same disk.
    pub shares: Vec<bool>,
    /// The layouts that fit the others; empty if each unit is on its own disk.
    pub distribution: Vec<Consistent>,
}

impl Unit {
    pub(super) fn middle(&self, sector: u64) -> i128 {
        let half = self.bytes / 2 / sector * sector;
        self.begins + i128::from(half)
    }

    /// The distance to a unit on another disk, as far away as possible.
    pub(super) fn to_another_disk(&self) -> i128 {
        let other = (1..=self.shares.len().div_ceil(2))
            .rev()
            .find(|other| self.shares.get(*other) == Some(&false));
        i128::from(self.bytes * other.unwrap_or(1) as u64)
    }
}

pub(super) fn place<D: Device>(reader: &Reader<'_, D>, percent: u64, period_bytes: u64) -> Comb {
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

/// Half a period, in whole sectors: in another unit, for any number of disks.
pub(super) fn half(period_bytes: u64, sector: u64) -> i128 {
    part_of(period_bytes, sector, [1, 2])
}

/// A part of a period, in whole sectors.
fn part_of(period_bytes: u64, sector: u64, [part, of]: [u64; 2]) -> i128 {
    i128::from(period_bytes * part / of / sector * sector)
}

/// The first of several tries that is not refused; each has another part of the period to go to.
pub(super) fn tried<D: Device, T>(
    reader: &mut Reader<'_, D>,
    mut once: impl FnMut(&mut Reader<'_, D>, [u64; 2]) -> Result<T, SearchEnd>,
) -> Result<T, SearchEnd> {
    let [first @ .., last] = PARTS_APART;
    for part in first {
        match once(reader, part) {
            Err(SearchEnd::Refused(_)) => {}
            ended => return ended,
        }
    }
    once(reader, last)
}

/// The unit of a random anchor at the first place, and which others are on its disk.
pub(super) fn first_place<D: Device>(
    reader: &mut Reader<'_, D>,
    period_bytes: u64,
    part: [u64; 2],
) -> Result<Unit, SearchEnd> {
    let comb = place(reader, PLACES_PERCENT[0], period_bytes);
    let mut unit = unit_at(reader, &comb, part)?;
    whole(reader, &comb, &unit)?;
    unit.shares = shares(reader, &comb, &unit)?;
    let round = round(&unit.shares);
    unit.shares.truncate(round);
    if unit.shares[1..].contains(&true) {
        unit.distribution = distribution(reader, &comb, &unit)?;
    }
    Ok(unit)
}

/// The edges of the unit of a random anchor, if the unit that part of a period further is on another
/// disk.
pub(super) fn unit_at<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    part: [u64; 2],
) -> Result<Unit, SearchEnd> {
    let (period_bytes, sector) = (comb.period, reader.sector_bytes());
    let at = anchor(reader, period_bytes);
    let apart = at + part_of(period_bytes, sector, part);
    let scale = calibrate(reader, comb, at, apart)?;
    let after = edge(reader, comb, &scale, (at, apart), sector)?;
    // The same place of the pattern, a period before.
    let apart = apart - i128::from(period_bytes);
    let before = edge(reader, comb, &scale, (at, apart), sector)?;
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
        if !is_sharp(reader, comb, &scale, at, one)? {
            return Err(Refusal::not_a_pattern("its edges are not sharp").into());
        }
    }
    Ok(Unit {
        begins: before.inside,
        bytes,
        scale,
        shares: Vec::new(),
        distribution: Vec::new(),
    })
}

/// After how many units the first one's disk recurs, if that is regular and never in between;
/// otherwise all of them.
fn round(shares: &[bool]) -> usize {
    let whole = |units: &usize| {
        let mut all = shares.iter().enumerate();
        shares.len().is_multiple_of(*units) && all.all(|(k, share)| *share == (k % units == 0))
    };
    (2..shares.len()).find(whole).unwrap_or(shares.len())
}

/// Whether all of the unit is on one disk.
fn whole<D: Device>(reader: &mut Reader<'_, D>, comb: &Comb, unit: &Unit) -> Result<(), SearchEnd> {
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
) -> Result<Vec<bool>, SearchEnd> {
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
) -> Result<bool, SearchEnd> {
    let middle = unit.middle(reader.sector_bytes());
    let at = |number: u64| middle + i128::from(number * unit.bytes);
    let share = share_a_disk(reader, comb, &unit.scale, (at(a), at(b)))?;
    let noise = || Refusal::noise(unit.scale.contrast(), unit.scale.deviation);
    share.ok_or_else(|| noise().into())
}

/// The layouts that fit if a disk has several units in a period: units of the first one's disk must
/// match one of them, and so must random pairs of others.
fn distribution<D: Device>(
    reader: &mut Reader<'_, D>,
    comb: &Comb,
    unit: &Unit,
) -> Result<Vec<Consistent>, SearchEnd> {
    let units = unit.shares.len();
    let mut all = fitting(&unit.shares);
    for _ in 0..PAIRS_OF_UNITS {
        // Pairs that share a disk in one of the layouts are rare: half of the pairs are chosen
        // among them.
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
        all.retain_mut(|(distribution, first)| {
            first.retain(|first| distribution.share(first + a, first + b % units) == share);
            !first.is_empty()
        });
        if all.is_empty() {
            break;
        }
    }
    match all.is_empty() {
        true => Err(Refusal::not_a_pattern("a disk has several units in a period").into()),
        false => Ok(all
            .into_iter()
            .map(|(distribution, _)| distribution.layout)
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layouts::UnitDistribution;
    use super::{PARTS_APART, part_of, round};

    #[test]
    fn one_of_the_parts_of_a_period_leads_to_another_disk() {
        // Units of eight sectors.
        const UNIT: usize = 8;
        for distribution in (4..=16).flat_map(UnitDistribution::of_disks) {
            let sectors = distribution.units() * UNIT;
            let on_the_same = |part: &[u64; 2]| {
                let far = part_of(sectors as u64, 1, *part) as usize;
                let same =
                    (0..sectors).filter(|at| distribution.share(at / UNIT, (at + far) / UNIT));
                same.count() as f64 / sectors as f64
            };
            let all: f64 = PARTS_APART.iter().map(on_the_same).product();
            assert!(all < 0.02, "{:?}: {all}", distribution.layout);
        }
    }

    #[test]
    fn a_multiple_of_the_period_shows_in_the_units_that_share_a_disk() {
        let shares =
            |units: usize, of: usize| -> Vec<bool> { (0..units).map(|k| k % of == 0).collect() };
        assert_eq!(round(&shares(12, 4)), 4);
        assert_eq!(round(&shares(4, 4)), 4);
        assert_eq!(round(&shares(6, 2)), 2);
        // Parity in between: twice, at uneven distances.
        let mut uneven = shares(12, 12);
        uneven[5] = true;
        assert_eq!(round(&uneven), 12);
    }
}
