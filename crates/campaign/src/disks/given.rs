//! What the user said of arrays that do not tell it themselves. Kept in the
//! store as documents of the kind `layout`, each under its disk's key.

use super::Kind;
use crate::context::{Context, store_failure};
use crate::failure::{Failure, Outcome};
use serde::{Deserialize, Serialize};
use stripewise_disk_inspect::survey::{Disk, Survey};
use stripewise_disk_inspect::trace::Given;
use stripewise_store::KeptDocument;

const KIND: &str = "layout";

/// What was given for one disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
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
    /// Anything else worth knowing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Forget what was there before.
    #[serde(skip)]
    pub forget: bool,
}

impl Facts {
    /// With what is new over what was known.
    fn over(&self, old: &Facts) -> Facts {
        let keep = !self.forget;
        let old = if keep { old.clone() } else { Facts::default() };
        let disks = match self.raid_level {
            Some(_) => self.raid_disks,
            None => old.raid_disks,
        };
        Facts {
            stripe_unit_bytes: self.stripe_unit_bytes.or(old.stripe_unit_bytes),
            raid_level: self.raid_level.clone().or(old.raid_level),
            raid_disks: disks,
            cache_size_bytes: self.cache_size_bytes.or(old.cache_size_bytes),
            note: self.note.clone().or(old.note),
            forget: false,
        }
    }
}

/// What is known of all disks.
#[derive(Default)]
pub struct Known {
    facts: Vec<(String, Facts)>,
}

impl Known {
    /// From the store, where there is one: looking does not make it.
    pub(super) fn load(context: &Context) -> Outcome<Self> {
        if !context.store_path().is_ok_and(|path| path.exists()) {
            return Ok(Known::default());
        }
        let store = context.open_store_to_read()?;
        let documents = store.documents(KIND).map_err(store_failure)?;
        let facts = documents
            .into_iter()
            .filter_map(|one| Some((one.name, serde_json::from_str(&one.json).ok()?)))
            .collect();
        Ok(Known { facts })
    }

    /// What was given for a disk.
    #[must_use]
    pub fn of(&self, key: &str) -> Option<&Facts> {
        let found = self.facts.iter().find(|(known, _)| known == key);
        found.map(|(_, facts)| facts)
    }

    /// For the survey.
    pub(super) fn given(&self) -> Vec<(String, Given)> {
        let one = |(key, facts): &(String, Facts)| {
            let given = Given {
                stripe_unit_bytes: facts.stripe_unit_bytes,
                level: facts.raid_level.clone(),
                disks: facts.raid_disks,
            };
            (key.clone(), given)
        };
        self.facts.iter().map(one).collect()
    }

    /// Keeps what is new for the disks at the bottom of the target.
    pub(super) fn change(
        &mut self,
        context: &Context,
        survey: &Survey,
        kind: &Kind,
        facts: &Facts,
    ) -> Outcome<()> {
        if facts
            .stripe_unit_bytes
            .is_some_and(|bytes| bytes == 0 || bytes % 512 != 0)
        {
            return Err(Failure::usage(
                "a stripe unit is a multiple of 512 bytes",
                "the controller's manual calls it stripe unit, strip or chunk: 64K, 256K",
            ));
        }
        let disks = bottom(survey, kind);
        if disks.is_empty() {
            return Err(Failure::usage(
                "there is no disk to keep this for",
                "name the device that the array shows: `stripewise disks` lists them",
            ));
        }
        let mut store = context.open_store()?;
        for disk in disks {
            let key = &disk.key;
            let all = facts.over(self.of(key).unwrap_or(&Facts::default()));
            if all == Facts::default() {
                store.forget_document(KIND, key).map_err(store_failure)?;
            } else {
                let document = KeptDocument {
                    name: key.clone(),
                    kept_at: context.timestamp(),
                    json: serde_json::to_string(&all).unwrap_or_default(),
                };
                store
                    .keep_document(KIND, &document)
                    .map_err(store_failure)?;
            }
            let done = match (all == Facts::default(), self.of(key).is_some()) {
                (false, _) => "kept with",
                (true, true) => "forgot what was given for",
                (true, false) => "nothing was kept for",
            };
            context.status(format!("{done} {} ({key})", disk.device.name));
            self.facts.retain(|(known, _)| known != key);
            if all != Facts::default() {
                self.facts.push((key.clone(), all));
            }
        }
        Ok(())
    }
}

/// The disks on which the target's volumes end.
fn bottom<'s>(survey: &'s Survey, kind: &Kind) -> Vec<&'s Disk> {
    let wanted = match kind {
        Kind::Devices(Some(name)) => name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned(),
        _ => String::new(),
    };
    // A disk that was named itself, or a device beyond which no volume can be
    // followed (a loop device); else whatever the named volumes end on.
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
