//! Compares two profiles.

use super::{ProfileDocument, SpotFound};
use crate::steps::measured::{self, PROFILE};
use crate::steps::subject::unlike;
use serde::{Deserialize, Serialize};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::Outcome;
use stripewise_surface::profile::{
    ChangePercent, PlaceChange, Side, SpotChange, compare, spot_change,
};

/// Version of [`ProfileComparison`].
const SCHEMA_VERSION: u32 = 1;

/// Two profiles: B against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProfileComparison {
    /// Of this document.
    pub schema_version: u32,
    /// The reference.
    pub a: SideFound,
    /// What is held against it.
    pub b: SideFound,
    /// Places in common.
    pub places: u64,
    /// Change of the transfer rate over the places; null where too few are in common.
    pub rate: Option<ChangePercent>,
    /// Places whose rate changed by itself.
    pub changed_places: Vec<PlaceChange>,
    /// Change of the access time.
    pub access: Option<ChangePercent>,
    /// What became of each slow or unreadable spot.
    pub spots: Vec<SpotCompared>,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SideFound {
    /// The profile's id.
    pub id: String,
    /// What was profiled.
    pub target: String,
    /// Model of the disk.
    pub model: Option<String>,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// Bytes of the target.
    pub size_bytes: u64,
}

/// What became of a spot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SpotCompared {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub length_bytes: u64,
    /// The file that lies there.
    pub file: Option<String>,
    /// What became of it.
    pub change: SpotChange,
    /// What reading it took in A; 0 where it could not be read, null where it was no spot.
    pub before_ns: Option<u64>,
    /// And in B.
    pub after_ns: Option<u64>,
}

impl ProfileComparison {
    /// A difference ends as a finding.
    pub fn exit(&self) -> Exit {
        let found = |change: &Option<ChangePercent>| change.is_some_and(|one| one.is_found());
        let spots = self
            .spots
            .iter()
            .any(|spot| spot.change != SpotChange::Same);
        match found(&self.rate) || found(&self.access) || spots || !self.changed_places.is_empty() {
            true => Exit::Finding,
            false => Exit::Done,
        }
    }
}

/// Compares two profiles, by their ids in the store or as files from `--json`.
/// `None` if neither is a profile.
///
/// # Errors
/// If only one of them is a profile, or the store cannot be read.
pub fn compare_profiles(context: &Context, a: &str, b: &str) -> Outcome<Option<ProfileComparison>> {
    match (stored(context, a)?, stored(context, b)?) {
        (None, None) => Ok(None),
        (Some(a), Some(b)) => Ok(Some(compared(&a, &b))),
        (one, _) => {
            let (profile, other) = if one.is_some() { (a, b) } else { (b, a) };
            Err(unlike(
                context,
                other,
                format!("{profile} is a profile of a surface, and {other} is not"),
                "name two profiles, by the ids that `profile` printed or as files of --json",
            ))
        }
    }
}

/// A profile from the store or a file.
fn stored(context: &Context, name: &str) -> Outcome<Option<ProfileDocument>> {
    let json = measured::json_of(context, PROFILE, name)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}

fn compared(a: &ProfileDocument, b: &ProfileDocument) -> ProfileComparison {
    let found = compare(&side(a), &side(b));
    ProfileComparison {
        schema_version: SCHEMA_VERSION,
        a: named(a),
        b: named(b),
        places: found.places,
        rate: found.rate,
        changed_places: found.changed_places,
        access: found.access,
        spots: spots(&a.spots, &b.spots),
    }
}

fn side(document: &ProfileDocument) -> Side<'_> {
    Side {
        size_bytes: document.target.size_bytes,
        rates: &document.rates,
        accesses: &document.accesses,
    }
}

fn named(document: &ProfileDocument) -> SideFound {
    SideFound {
        id: document.id.clone(),
        target: document.target.name.clone(),
        model: document
            .target
            .device
            .as_ref()
            .and_then(|device| device.model.clone()),
        measured_at: document.measured_at.clone(),
        size_bytes: document.target.size_bytes,
    }
}

/// Overlapping spots are one.
fn spots(a: &[SpotFound], b: &[SpotFound]) -> Vec<SpotCompared> {
    let overlap = |one: &SpotFound, other: &SpotFound| {
        one.offset_bytes < other.offset_bytes + other.length_bytes
            && other.offset_bytes < one.offset_bytes + one.length_bytes
    };
    let took = |spot: &SpotFound| if spot.unreadable { 0 } else { spot.latency_ns };
    let one = |spot: &SpotFound, before_ns: Option<u64>, after_ns: Option<u64>| SpotCompared {
        offset_bytes: spot.offset_bytes,
        length_bytes: spot.length_bytes,
        file: spot.file.clone(),
        change: spot_change(before_ns, after_ns),
        before_ns,
        after_ns,
    };
    let mut all: Vec<SpotCompared> = a
        .iter()
        .map(|spot| {
            let after = b.iter().find(|other| overlap(spot, other));
            one(spot, Some(took(spot)), after.map(took))
        })
        .collect();
    let new = b
        .iter()
        .filter(|spot| !a.iter().any(|other| overlap(spot, other)));
    all.extend(new.map(|spot| one(spot, None, Some(took(spot)))));
    all.sort_by_key(|spot| spot.offset_bytes);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spots_are_matched_where_they_overlap() {
        let spot = |offset_bytes, latency_ns| SpotFound {
            offset_bytes,
            length_bytes: 100,
            latency_ns,
            unreadable: latency_ns == 0,
            lba: None,
            file: None,
        };
        let found = spots(&[spot(0, 10), spot(500, 10)], &[spot(50, 0), spot(900, 10)]);
        let changes: Vec<(u64, SpotChange)> = found
            .iter()
            .map(|one| (one.offset_bytes, one.change))
            .collect();
        assert_eq!(
            changes,
            [
                (0, SpotChange::NowUnreadable),
                (500, SpotChange::Gone),
                (900, SpotChange::New)
            ]
        );
    }
}
