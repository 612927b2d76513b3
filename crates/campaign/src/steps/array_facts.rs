//! Facts about arrays that do not report them, given by the user or found by timed
//! reads. Stored as documents of the kind `layout`, each under its disk's
//! key.

use serde::{Deserialize, Serialize};
use stripewise_array_sim::layout::Level;
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::survey::{Disk, Request, Survey};
use stripewise_disk_inspect::trace::SuppliedFacts;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::ByteSize;

const KIND: &str = "layout";
const MIB: u64 = 1 << 20;

/// `RAID 10`, `single`.
pub(crate) fn level_name(level: Level) -> String {
    let known = Level::ALL.iter().find(|(known, _)| *known == level);
    let name = known.map_or("?", |(_, name)| name);
    match name.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("RAID {name}"),
        false => name.to_owned(),
    }
}

/// How something was measured, and how well it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measurement {
    /// By which method.
    pub method: String,
    /// RFC 3339, UTC.
    pub measured_at: String,
    /// Smallest and largest stripe unit that fits.
    pub stripe_unit_bytes_interval: [u64; 2],
    /// Where the first stripe unit begins, counted from byte 0 of the disk.
    pub first_unit_bytes: u64,
    /// Smallest and largest that fits.
    pub first_unit_bytes_interval: [u64; 2],
    /// Disks in the pattern; mirrored ones count once.
    pub disks: u32,
    /// Probability that unit and phase are right.
    pub confidence: f64,
}

/// What was given for one disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ArrayFacts {
    /// Bytes on one disk of the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stripe_unit_bytes: Option<u64>,
    /// Its level: `raid5`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid_level: Option<String>,
    /// Its disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raid_disks: Option<u64>,
    /// Cache of its controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_size_bytes: Option<u64>,
    /// Any other note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How the stripe unit was measured; absent where the user said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measurement>,
    /// Forget what was there before.
    #[serde(skip)]
    pub forget: bool,
}

impl ArrayFacts {
    /// The first position from 1 MiB of the disk on at which a measured stripe unit begins;
    /// `None` if nothing was measured, or 1 MiB is such a position.
    pub fn aligned_bytes(&self) -> Option<u64> {
        let unit = self.stripe_unit_bytes.filter(|unit| *unit > 0)?;
        let first = self.measured.as_ref()?.first_unit_bytes % unit;
        let at = first + MIB.saturating_sub(first).div_ceil(unit) * unit;
        (at != MIB).then_some(at)
    }

    /// The note that the stripe unit was measured: method, date, precision; `None` if it was not.
    pub fn measured_note(&self) -> Option<String> {
        let (unit, found) = self.stripe_unit_bytes.zip(self.measured.as_ref())?;
        let [low, high] = found.stripe_unit_bytes_interval;
        Some(format!(
            "The stripe unit of {} ({low}-{high} bytes) is a measured fact: {}, {}; units begin at byte {} of the disk.",
            ByteSize(unit),
            found.method,
            found.measured_at.get(..10).unwrap_or_default(),
            found.first_unit_bytes
        ))
    }

    /// Merges new facts over old ones.
    fn over(&self, old: &ArrayFacts) -> ArrayFacts {
        let keep = !self.forget;
        let old = if keep {
            old.clone()
        } else {
            ArrayFacts::default()
        };
        let disks = match self.raid_level {
            Some(_) => self.raid_disks,
            None => old.raid_disks,
        };
        ArrayFacts {
            stripe_unit_bytes: self.stripe_unit_bytes.or(old.stripe_unit_bytes),
            raid_level: self.raid_level.clone().or(old.raid_level),
            raid_disks: disks,
            cache_size_bytes: self.cache_size_bytes.or(old.cache_size_bytes),
            note: self.note.clone().or(old.note),
            // A unit given by the user overrides a measured one.
            measured: match self.stripe_unit_bytes {
                Some(_) => self.measured.clone(),
                None => old.measured,
            },
            forget: false,
        }
    }
}

/// Known facts about all disks.
#[derive(Default)]
pub struct KnownArrays {
    facts: Vec<(String, ArrayFacts)>,
}

impl KnownArrays {
    /// Loads them from the store, if there is one: reading does not create it.
    pub fn load(context: &Context) -> Outcome<Self> {
        if !context.store_path().is_ok_and(|path| path.exists()) {
            return Ok(KnownArrays::default());
        }
        let store = context.open_store_to_read()?;
        let documents = store.documents(KIND)?;
        let facts = documents
            .into_iter()
            .filter_map(|one| Some((one.name, serde_json::from_str(&one.json).ok()?)))
            .collect();
        Ok(KnownArrays { facts })
    }

    /// The facts about a disk.
    pub fn of(&self, key: &str) -> Option<&ArrayFacts> {
        let found = self.facts.iter().find(|(known, _)| known == key);
        found.map(|(_, facts)| facts)
    }

    /// The facts as input for the survey.
    pub fn given(&self) -> Vec<(String, SuppliedFacts)> {
        let one = |(key, facts): &(String, ArrayFacts)| {
            let given = SuppliedFacts {
                stripe_unit_bytes: facts.stripe_unit_bytes,
                level: facts.raid_level.clone(),
                disks: facts.raid_disks,
                first_unit_bytes: facts
                    .measured
                    .as_ref()
                    .map_or(0, |one| one.first_unit_bytes),
                measured: facts.measured.is_some(),
            };
            (key.clone(), given)
        };
        self.facts.iter().map(one).collect()
    }

    /// Applies new facts to the disks below the target, a device's name or
    /// everything that was surveyed, for this command only. Stores nothing.
    ///
    /// # Errors
    /// If there is no such disk, or the facts contradict themselves or stored ones.
    pub fn assume(
        &mut self,
        survey: &Survey,
        wanted: Option<&str>,
        facts: &ArrayFacts,
    ) -> Outcome<()> {
        for (disk, all) in self.merged(survey, wanted, facts)? {
            self.set(&disk.key, all);
        }
        Ok(())
    }

    /// Stores the facts with these disks.
    ///
    /// # Errors
    /// As [`KnownArrays::assume`], and if the store rejects it.
    pub fn change(
        &mut self,
        context: &Context,
        survey: &Survey,
        wanted: Option<&str>,
        facts: &ArrayFacts,
    ) -> Outcome<()> {
        let merged = self.merged(survey, wanted, facts)?;
        let mut store = context.open_store()?;
        for (disk, all) in merged {
            let key = &disk.key;
            if all == ArrayFacts::default() {
                store.forget_document(KIND, key)?;
            } else {
                store_document(context, &mut store, KIND, key, &all)?;
            }
            let done = match (all == ArrayFacts::default(), self.of(key).is_some()) {
                (false, _) => "kept with",
                (true, true) => "forgot what was given for",
                (true, false) => "nothing was kept for",
            };
            context.status(format!("{done} {} ({key})", disk.device.name));
            self.set(key, all);
        }
        Ok(())
    }

    fn set(&mut self, key: &str, facts: ArrayFacts) {
        self.facts.retain(|(known, _)| known != key);
        if facts != ArrayFacts::default() {
            self.facts.push((key.to_owned(), facts));
        }
    }

    /// The selected disks, each with its merged facts.
    fn merged<'s>(
        &self,
        survey: &'s Survey,
        wanted: Option<&str>,
        facts: &ArrayFacts,
    ) -> Outcome<Vec<(&'s Disk, ArrayFacts)>> {
        if facts
            .stripe_unit_bytes
            .is_some_and(|bytes| bytes == 0 || bytes % 512 != 0)
        {
            return Err(Failure::usage(
                "a stripe unit is a multiple of 512 bytes",
                "the controller's manual calls it stripe unit, strip or chunk: 64K, 256K",
            ));
        }
        let disks = bottom(survey, wanted);
        if disks.is_empty() {
            return Err(Failure::usage(
                "there is no disk to keep this for",
                "name the device that the array shows: `stripewise disks` lists them",
            ));
        }
        let mut all = Vec::new();
        for disk in disks {
            let old = self.of(&disk.key).cloned().unwrap_or_default();
            let new = facts.over(&old);
            refuse_contradiction(facts, &new, &disk.device.name)?;
            all.push((disk, new));
        }
        Ok(all)
    }
}

/// Levels that have no stripe unit.
const WITHOUT_STRIPES: [&str; 4] = ["single", "jbod", "linear", "raid1"];

/// Checks facts about one array for contradictions, with themselves and with stored ones.
fn refuse_contradiction(stated: &ArrayFacts, all: &ArrayFacts, disk: &str) -> Outcome<()> {
    let (Some(level), Some(unit)) = (&all.raid_level, all.stripe_unit_bytes) else {
        return Ok(());
    };
    if !WITHOUT_STRIPES.contains(&level.as_str()) {
        return Ok(());
    }
    let unit = ByteSize(unit);
    let (problem, hint) = match (&stated.raid_level, stated.stripe_unit_bytes) {
        (Some(_), None) => (
            format!("--raid {level} contradicts the stripe unit of {unit} that is kept for {disk}"),
            "add --forget to say all of it again, or leave --raid out",
        ),
        (None, Some(_)) => (
            format!("--stripe-unit {unit} contradicts the level {level} that is kept for {disk}"),
            "add --forget to say all of it again, or leave --stripe-unit out",
        ),
        _ => (
            format!("--raid {level} has no stripe unit, and --stripe-unit {unit} gives one"),
            "leave one of them out",
        ),
    };
    Err(Failure::usage(problem, hint))
}

/// Known facts about the disk of this kernel name. A failed lookup counts as unknown.
pub fn of_disk(context: &Context, name: &str) -> Option<ArrayFacts> {
    let known = KnownArrays::load(context).ok()?;
    if known.facts.is_empty() {
        return None;
    }
    let request = Request {
        device: Some(name.to_owned()),
        given: Vec::new(),
    };
    let survey = System::live().survey(&request).ok()?;
    let disk = survey.disks.iter().find(|disk| disk.device.name == name)?;
    known.of(&disk.key).cloned()
}

/// The disks at the bottom of the target's volumes.
pub fn bottom<'s>(survey: &'s Survey, wanted: Option<&str>) -> Vec<&'s Disk> {
    let own = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
    let wanted = wanted.map(own).unwrap_or_default();
    // A disk that was named itself, or a device below which no volume can be
    // followed (a loop device); else the disks at the bottom of the named volumes.
    let ends_there = |name: &str| {
        let mut places = survey.volumes.iter().flat_map(|one| &one.subject.places);
        places.any(|place| place.disk == name)
    };
    if let Some(disk) = survey.disks.iter().find(|disk| disk.device.name == wanted)
        && (disk.device.below.is_empty() || ends_there(&wanted))
    {
        return vec![disk];
    }
    let places = || {
        let named = survey.volumes.iter().filter(|volume| {
            wanted.is_empty() || volume.name == wanted || volume.devices.contains(&wanted)
        });
        named.flat_map(|volume| &volume.subject.places)
    };
    let by_place = survey
        .disks
        .iter()
        .filter(|disk| places().any(|place| place.disk == disk.device.name))
        .collect::<Vec<_>>();
    if !by_place.is_empty() {
        return by_place;
    }
    survey
        .disks
        .iter()
        .filter(|disk| disk.device.below.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> ArrayFacts {
        ArrayFacts {
            stripe_unit_bytes: Some(96 << 10),
            measured: Some(Measurement {
                first_unit_bytes: 512,
                disks: 3,
                ..Measurement::default()
            }),
            ..ArrayFacts::default()
        }
    }

    #[test]
    fn what_the_user_says_of_the_unit_stands_over_what_was_measured() {
        let stated = |unit: Option<u64>, note: &str| ArrayFacts {
            stripe_unit_bytes: unit,
            note: Some(note.to_owned()),
            ..ArrayFacts::default()
        };
        let noted = stated(None, "a note").over(&measured());
        assert_eq!(noted.measured, measured().measured);
        let given = stated(Some(64 << 10), "a note").over(&measured());
        assert_eq!(
            (given.stripe_unit_bytes, &given.measured),
            (Some(64 << 10), &None)
        );
        let again = measured().over(&given);
        assert_eq!(again.measured, measured().measured);
    }

    #[test]
    fn what_contradicts_itself_or_what_is_kept_is_refused() {
        let stated = |level: Option<&str>, unit: Option<u64>| ArrayFacts {
            raid_level: level.map(str::to_owned),
            stripe_unit_bytes: unit,
            ..ArrayFacts::default()
        };
        let unit = Some(64 << 10);
        for (new, old, refused) in [
            (stated(Some("single"), unit), ArrayFacts::default(), true),
            (stated(Some("single"), None), stated(None, unit), true),
            (stated(None, unit), stated(Some("raid1"), None), true),
            (stated(Some("raid5"), unit), ArrayFacts::default(), false),
            (
                stated(Some("single"), None),
                stated(Some("raid5"), None),
                false,
            ),
        ] {
            let all = new.over(&old);
            let found = refuse_contradiction(&new, &all, "sdb");
            assert_eq!(found.is_err(), refused, "{new:?} over {old:?}");
            let again = ArrayFacts {
                forget: true,
                ..new.clone()
            };
            let all = again.over(&old);
            let alone = refuse_contradiction(&new, &new, "sdb").is_err();
            assert_eq!(refuse_contradiction(&again, &all, "sdb").is_err(), alone);
        }
    }

    #[test]
    fn a_start_is_aligned_with_the_units_that_were_measured() {
        // 96K from byte 512 on: the eleventh unit is the first beyond 1 MiB.
        assert_eq!(measured().aligned_bytes(), Some(512 + 11 * (96 << 10)));
        let mut powers = measured();
        powers.stripe_unit_bytes = Some(64 << 10);
        assert_eq!(powers.aligned_bytes(), Some((1 << 20) + 512));
        if let Some(found) = &mut powers.measured {
            found.first_unit_bytes = 128 << 10;
        }
        assert_eq!(powers.aligned_bytes(), None);
        powers.measured = None;
        assert_eq!(powers.aligned_bytes(), None);
    }

    #[test]
    fn a_measured_fact_is_passed_on_as_one() {
        let known = KnownArrays {
            facts: vec![
                ("a".to_owned(), measured()),
                ("b".to_owned(), ArrayFacts::default()),
            ],
        };
        let given = known.given();
        assert!(given[0].1.measured && given[0].1.first_unit_bytes == 512);
        assert!(!given[1].1.measured && given[1].1.first_unit_bytes == 0);
    }
}
