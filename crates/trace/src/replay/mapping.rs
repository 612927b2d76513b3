//! Maps a recording's offsets to a target of another size, by extents of 1 MiB.
//!
//! Extents stay whole. Extents that a run passes through stay adjacent: they are one *group*. If
//! the recording's span fits, offsets are unchanged; if only the touched groups fit, they are
//! packed in the order of their first touch; if they do not fit either, groups with less than 1 %
//! of the references, and none of the 1,000 hottest extents, are folded over the remaining space.
//! References to locations that then share an extent are *collisions*: reuse and heat no longer
//! match the recording, and above 5 % the target is refused.

use crate::model::{Request, WorkloadModel};
use crate::runs::Runs;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use stripewise_stats::Random;
use stripewise_units::{Kind, format_bytes};
use thiserror::Error;

/// The size of an extent.
pub const EXTENT_BYTES: u64 = 1 << 20;
/// Most extents touched: 4 TiB, about 200 MiB of memory.
const EXTENTS_MAX: usize = 1 << 22;
/// Extents that never share a location.
const HOTTEST: usize = 1_000;
/// Groups with a larger share of references are not folded.
const FOLDED_SHARE_MAX: f64 = 0.01;
/// A larger share of references that collide is refused.
const COLLISIONS_MAX: f64 = 0.05;

/// Why a recording cannot be mapped to a target.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MappingError {
    /// It touches more extents than can be tracked.
    #[error("the recording touches more than 4 TiB")]
    TooManyExtents,
    /// The part that must not be folded exceeds the target.
    #[error("the recording needs {} that may not share a place", format_bytes(*.needed_bytes))]
    TooSmall {
        /// The smallest target without collisions.
        needed_bytes: u64,
    },
    /// Too many references would collide.
    #[error("{percent:.1} % of the operations would share a place with others")]
    Collisions {
        /// Of all references.
        percent: f64,
        /// The smallest target without collisions.
        needed_bytes: u64,
    },
}

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    first_touch: u64,
    references: u64,
    /// A run continues into the next extent.
    joins_next: bool,
}

/// The extents that a recording touches, how often, and which belong together.
#[derive(Debug, Default)]
pub struct ExtentUse {
    extents: BTreeMap<u64, Use>,
    runs: Runs,
    touches: u64,
    references: u64,
    end_bytes: u64,
}

impl ExtentUse {
    /// Adds a request.
    ///
    /// # Errors
    /// If more extents are touched than can be tracked.
    pub fn add(&mut self, request: &Request) -> Result<(), MappingError> {
        if request.kind == Kind::Sync {
            return Ok(());
        }
        let (start, end) = (request.offset_bytes, request.end_bytes());
        let place = self.runs.next(request.kind, start, end);
        let first = start / EXTENT_BYTES;
        let last = end.saturating_sub(1).max(start) / EXTENT_BYTES;
        if last - first >= EXTENTS_MAX as u64 {
            return Err(MappingError::TooManyExtents);
        }
        // A run that stops at the end of an extent continues into the next with its next request.
        if !place.is_first
            && start.is_multiple_of(EXTENT_BYTES)
            && let Some(before) = first.checked_sub(1)
        {
            self.extents.entry(before).or_default().joins_next = true;
        }
        for extent in first..=last {
            self.touches += 1;
            let touch = self.touches;
            let known = self.extents.entry(extent).or_insert_with(|| Use {
                first_touch: touch,
                ..Use::default()
            });
            known.references += 1;
            known.joins_next |= extent < last;
        }
        self.references += last - first + 1;
        self.end_bytes = self.end_bytes.max(end);
        if self.extents.len() > EXTENTS_MAX {
            return Err(MappingError::TooManyExtents);
        }
        Ok(())
    }

    /// The offset after the last byte touched.
    pub const fn end_bytes(&self) -> u64 {
        self.end_bytes
    }

    /// Bytes of all touched extents.
    pub fn touched_bytes(&self) -> u64 {
        self.extents.len() as u64 * EXTENT_BYTES
    }

    /// Groups of adjacent extents, in the order of their first touch.
    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut is_joined = false;
        for (&extent, one) in &self.extents {
            match groups.last_mut() {
                Some(group) if is_joined && group.first + group.length == extent => {
                    group.length += 1;
                    group.references += one.references;
                    group.first_touch = group.first_touch.min(one.first_touch);
                }
                _ => groups.push(Group {
                    first: extent,
                    length: 1,
                    references: one.references,
                    first_touch: one.first_touch,
                }),
            }
            is_joined = one.joins_next;
        }
        groups.sort_by_key(|group| group.first_touch);
        groups
    }

    /// The 1,000 extents with the most references; of equal ones those touched first.
    fn hottest(&self) -> BTreeSet<u64> {
        let rank =
            |(&extent, one): (&u64, &Use)| (Reverse(one.references), one.first_touch, extent);
        let mut all: Vec<_> = self.extents.iter().map(rank).collect();
        all.sort_unstable();
        all.truncate(HOTTEST);
        all.into_iter().map(|(_, _, extent)| extent).collect()
    }
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first: u64,
    length: u64,
    references: u64,
    first_touch: u64,
}

/// The new location of each extent.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// First extent of a group, its length, and its new location; keyed by the first.
    groups: BTreeMap<u64, (u64, u64)>,
    /// The share of references that share an extent with another location, 0 to 1.
    pub collision_share: f64,
    /// Offsets are unchanged.
    pub is_identity: bool,
}

impl Mapping {
    /// Unchanged offsets if the target is large enough, otherwise as described above.
    ///
    /// # Errors
    /// If the target is too small, or too many references would collide.
    pub fn new(extents: &ExtentUse, target_bytes: u64) -> Result<Self, MappingError> {
        if extents.end_bytes <= target_bytes {
            return Ok(Mapping {
                groups: BTreeMap::new(),
                collision_share: 0.0,
                is_identity: true,
            });
        }
        let capacity = target_bytes / EXTENT_BYTES;
        let groups = extents.groups();
        if extents.extents.len() as u64 <= capacity {
            return Ok(Mapping::packed(&groups));
        }
        Mapping::folded(extents, &groups, capacity)
    }

    /// Groups at random locations, for a load that must not reveal where its data was.
    #[must_use]
    pub fn anonymous(extents: &ExtentUse, seed: u64) -> Self {
        let mut groups = extents.groups();
        Random::new(seed).shuffle(&mut groups);
        Mapping::packed(&groups)
    }

    fn packed(groups: &[Group]) -> Self {
        let mut at = 0;
        let place = |group: &Group| {
            let to = at;
            at += group.length;
            (group.first, (group.length, to))
        };
        Mapping {
            groups: groups.iter().map(place).collect(),
            collision_share: 0.0,
            is_identity: false,
        }
    }

    fn folded(extents: &ExtentUse, groups: &[Group], capacity: u64) -> Result<Self, MappingError> {
        let needed_bytes = extents.touched_bytes();
        let too_small = MappingError::TooSmall { needed_bytes };
        let hot = extents.hottest();
        let most = FOLDED_SHARE_MAX * extents.references as f64;
        let is_kept = |group: &&Group| {
            let mut inside = hot.range(group.first..group.first + group.length);
            group.references as f64 >= most || inside.next().is_some()
        };
        let (retained, folded): (Vec<&Group>, Vec<&Group>) = groups.iter().partition(is_kept);
        let start: u64 = retained.iter().map(|group| group.length).sum();
        let room = capacity.saturating_sub(start);
        if room == 0 || folded.iter().any(|group| group.length > room) {
            return Err(too_small);
        }
        let retained: Vec<Group> = retained.into_iter().copied().collect();
        let mut mapping = Mapping::packed(&retained);
        let mut at = start;
        let mut users = vec![0u32; room as usize];
        for group in &folded {
            if at + group.length > capacity {
                at = start;
            }
            mapping.groups.insert(group.first, (group.length, at));
            for used in &mut users[(at - start) as usize..(at - start + group.length) as usize] {
                *used += 1;
            }
            at += group.length;
        }
        let mut collisions = 0;
        for (&extent, one) in &extents.extents {
            let place = mapping.extent(extent).checked_sub(start);
            let shared = place.and_then(|place| users.get(place as usize));
            if shared.is_some_and(|&users| users > 1) {
                collisions += one.references;
            }
        }
        mapping.collision_share = collisions as f64 / extents.references.max(1) as f64;
        if mapping.collision_share > COLLISIONS_MAX {
            return Err(MappingError::Collisions {
                percent: 100.0 * mapping.collision_share,
                needed_bytes,
            });
        }
        Ok(mapping)
    }

    fn extent(&self, extent: u64) -> u64 {
        match self.groups.range(..=extent).next_back() {
            Some((&first, &(length, to))) if extent < first + length => to + (extent - first),
            _ => extent,
        }
    }

    /// The new offset.
    pub fn offset(&self, offset_bytes: u64) -> u64 {
        if self.is_identity {
            return offset_bytes;
        }
        self.extent(offset_bytes / EXTENT_BYTES) * EXTENT_BYTES + offset_bytes % EXTENT_BYTES
    }
}

/// The same load at locations that do not reveal where its data was: groups of extents that a run
/// passes through move together, in random order.
///
/// # Errors
/// If the load touches more extents than can be tracked.
pub fn anonymous_model(mut model: WorkloadModel, seed: u64) -> Result<WorkloadModel, MappingError> {
    let mut extents = ExtentUse::default();
    for run in &model.runs {
        let sizes = run.sizes.iter();
        extents.add(&Request {
            at_ns: 0,
            kind: run.kind,
            offset_bytes: run.offset_bytes,
            size_bytes: sizes.map(|(size, count)| size * u64::from(*count)).sum(),
        })?;
    }
    let mapping = Mapping::anonymous(&extents, seed);
    for run in model.runs.iter_mut().filter(|run| run.kind != Kind::Sync) {
        run.offset_bytes = mapping.offset(run.offset_bytes);
    }
    Ok(model)
}
