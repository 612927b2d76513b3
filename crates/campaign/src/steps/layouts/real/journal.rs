//! Records in the store what is about to be made: cleaning up after a killed process or a
//! power cut uses it to find the remains, and the identifiers that distinguish them from
//! everything else.

use crate::steps::stored_experiment::read_document;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_provision::{Identifiers, Identity};
use stripewise_results::SCHEMA_VERSION;
use stripewise_store::{Owner, Store};

/// Kind of these documents in the store.
const KIND: &str = "made-layout";

/// One layout of one experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Journal {
    /// Version of the document.
    pub schema_version: u32,
    /// The experiment.
    pub experiment: String,
    /// Description of the layout.
    pub layout: String,
    /// All devices that it may write to; for a layout in a slot, one partition of each of
    /// `on`.
    pub devices: Vec<Identity>,
    /// Its slot, from 0; absent if it has the devices to itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// For a layout in a slot: the devices that are divided into slots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Identity>,
    /// UUID of the md array, 32 digits.
    pub array_uuid: String,
    /// GUID of the disk and GUID of the partition, 64 digits.
    pub table_ids: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The process that makes it.
    pub process: Process,
    /// When it was about to be made, RFC 3339.
    pub written_at: String,
}

/// A process, with what distinguishes it from later ones with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Process {
    pid: u32,
    start: String,
    boot_id: String,
    pid_namespace: String,
    host: String,
}

impl Process {
    fn this(context: &Context) -> Process {
        let owner = Owner::of_this_process(&context.host().name);
        Process {
            pid: owner.pid,
            start: owner.process_start,
            boot_id: owner.boot_id,
            pid_namespace: owner.pid_namespace,
            host: owner.host,
        }
    }

    fn owner(&self) -> Owner {
        Owner {
            pid: self.pid,
            process_start: self.start.clone(),
            boot_id: self.boot_id.clone(),
            pid_namespace: self.pid_namespace.clone(),
            host: self.host.clone(),
        }
    }

    /// Whether it is certainly still running.
    pub fn is_at_work(&self, context: &Context) -> bool {
        Owner::of_this_process(&context.host().name).sees_alive(&self.owner())
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.pid
    }
}

impl Journal {
    /// For a layout about to be made, with unique identifiers.
    pub fn new(
        context: &Context,
        experiment: &str,
        layout: &str,
        devices: &[Identity],
        slot: Option<(u32, &[Identity])>,
    ) -> Journal {
        let (array, table) = (context.random_seed(), context.random_seed());
        let mount_point = Path::new("/run/stripewise").join(name_of(experiment, slot.map(|s| s.0)));
        Journal {
            schema_version: SCHEMA_VERSION,
            experiment: experiment.to_owned(),
            layout: layout.to_owned(),
            devices: devices.to_vec(),
            slot: slot.map(|(slot, _)| slot),
            on: slot.map(|(_, on)| on.to_vec()).unwrap_or_default(),
            array_uuid: digits(&array[..16]),
            table_ids: digits(&table),
            mount_point,
            process: Process::this(context),
            written_at: context.timestamp(),
        }
    }

    /// UUID of the array.
    pub fn array_uuid(&self) -> [u8; 16] {
        bytes(&self.array_uuid)
    }

    /// Identifiers of the partition table, or of the first of several.
    pub fn table_ids(&self) -> Identifiers {
        Identifiers {
            entropy: bytes(&self.table_ids),
        }
    }

    /// The identifiers of the tables of all devices, if each has one.
    pub fn all_table_ids(&self) -> Vec<Identifiers> {
        let devices = (0u8..).take(self.devices.len().max(1));
        devices
            .map(|device| self.table_ids().numbered(device))
            .collect()
    }

    /// The name of the document in the store.
    fn name(&self) -> String {
        name_of(&self.experiment, self.slot)
    }

    /// Stores it; it is on the disk on return.
    ///
    /// # Errors
    /// If the store cannot be written; nothing may be made then.
    pub fn keep(&self, context: &Context, store: &mut Store) -> Outcome<()> {
        store_document(context, store, KIND, &self.name(), self)
    }

    /// Deletes it when nothing of the layout remains.
    pub fn forget(&self, store: &mut Store) -> Outcome<()> {
        store
            .forget_document(KIND, &self.name())
            .map(drop)
            .map_err(Failure::from)
    }

    /// All of them, those of layouts in slots before those of the devices below.
    ///
    /// # Errors
    /// If one cannot be read: nothing is removed based on incomplete information.
    pub fn all(store: &Store) -> Outcome<Vec<Journal>> {
        let documents = store.documents(KIND)?;
        let journals = documents.iter().map(|document| {
            let what = format!("what {} made", document.name);
            read_document(document, &what, |journal: &Journal| journal.schema_version)
        });
        let mut journals = journals.collect::<Outcome<Vec<Journal>>>()?;
        journals.sort_by_key(|journal| journal.slot.is_none());
        Ok(journals)
    }
}

fn name_of(experiment: &str, slot: Option<u32>) -> String {
    match slot {
        Some(slot) => format!("{experiment}-slot{slot}"),
        None => experiment.to_owned(),
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes<const N: usize>(digits: &str) -> [u8; N] {
    let byte = |index: usize| {
        let pair = digits.get(2 * index..2 * index + 2).unwrap_or("00");
        u8::from_str_radix(pair, 16).unwrap_or(0)
    };
    std::array::from_fn(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_come_back_as_they_went_in() {
        let all: [u8; 32] = std::array::from_fn(|index| (index * 37 % 256) as u8);
        assert_eq!(bytes::<32>(&digits(&all)), all);
        assert_eq!(bytes::<4>("0102"), [1, 2, 0, 0]);
    }
}
