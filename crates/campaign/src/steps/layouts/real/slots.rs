//! Layouts side by side: each device is divided into as many equal parts as there are
//! layouts, a pass puts every layout into its planned slot, and the devices
//! are erased after it.

use super::devices::{check_same, node};
use super::journal::Journal;
use super::make::{LayoutBuilder, tear_down, with_undone};
use super::spec::LayoutSpec;
use crate::steps::experiment::runner::StopReason;
use crate::steps::layouts::divided::{GRAIN_BYTES, Slots};
use stripewise_conductor::failure::Outcome;
use stripewise_disk_provision::{Extent, Identity, identify, plan_division};
use stripewise_store::Store;
use stripewise_units::counted;

/// Partition sizes are multiples of a page.
const PAGE_BYTES: u64 = 4 << 10;

/// The partitions of the device at `index`, for the layouts in the slots, in slot
/// order. Without an array, the partition of the slot is that of the
/// layout and begins at its offset.
pub(super) fn parts(slots: Slots, index: usize, specs: &[&LayoutSpec]) -> Vec<Extent> {
    let part = |(slot, options): (u64, &&LayoutSpec)| {
        let inside = match options.raid {
            None if index == 0 => options.offset_bytes,
            _ => 0,
        };
        Extent {
            start_bytes: GRAIN_BYTES + slot * slots.slot_bytes + inside,
            size_bytes: slots.slot_bytes.saturating_sub(inside) / PAGE_BYTES * PAGE_BYTES,
        }
    };
    (0..).zip(specs).map(part).collect()
}

/// Divided devices.
#[derive(Debug)]
pub struct SlotSet {
    journal: Journal,
    /// Partitions by slot, then by device.
    pub parts: Vec<Vec<Identity>>,
}

impl<'a> LayoutBuilder<'a> {
    /// The same within a slot with these partitions.
    pub fn in_slot<'b>(&self, slot: usize, parts: &'b [Identity]) -> LayoutBuilder<'b>
    where
        'a: 'b,
    {
        LayoutBuilder {
            context: self.context,
            may: self.may,
            devices: parts,
            slot: Some((u32::try_from(slot).unwrap_or(u32::MAX), self.devices)),
        }
    }

    /// Divides the devices for these layouts, in the order of the slots.
    ///
    /// # Errors
    /// If a step is refused or fails: then nothing of it remains, or the failure lists
    /// what does.
    pub fn divide(
        &self,
        store: &mut Store,
        experiment: &str,
        slots: Slots,
        specs: &[&LayoutSpec],
    ) -> Result<SlotSet, StopReason> {
        self.unless_stopped()?;
        let words = format!("side by side in {}", counted(specs.len(), "slot", "slots"));
        let journal = Journal::new(self.context, experiment, &words, self.devices, None);
        journal.keep(self.context, store)?;
        let mut rack = SlotSet {
            journal,
            parts: vec![Vec::new(); specs.len()],
        };
        match self.tables(&mut rack, slots, specs) {
            Ok(()) => Ok(rack),
            Err(failure) => {
                let undone = self.clear(store, rack);
                Err(with_undone(StopReason::Failed(failure), undone))
            }
        }
    }

    fn tables(&self, rack: &mut SlotSet, slots: Slots, specs: &[&LayoutSpec]) -> Outcome<()> {
        let ids = rack.journal.all_table_ids();
        for (index, (device, ids)) in self.devices.iter().zip(&ids).enumerate() {
            let path = check_same(device)?;
            let parts = parts(slots, index, specs);
            let plan = plan_division(&path, &parts, self.store()?.as_deref())?;
            let report = self.with(&device.name, |destroy| plan.execute(destroy, ids))?;
            for (slot, part) in rack.parts.iter_mut().zip(&report.partitions) {
                slot.push(identify(&node(&part.name))?);
            }
        }
        Ok(())
    }

    /// Erases divided devices.
    ///
    /// # Errors
    /// The first step that failed; the journal remains then, for `lab clean`.
    pub fn clear(&self, store: &mut Store, rack: SlotSet) -> Outcome<()> {
        tear_down(self, &rack.journal, None, self.devices.len())?;
        rack.journal.forget(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::LayoutLevels;

    const MIB: u64 = 1 << 20;

    fn devices(sizes: &[u64]) -> Vec<Identity> {
        let device = |size_bytes: &u64| Identity {
            size_bytes: *size_bytes,
            logical_sector_bytes: 512,
            ..Identity::default()
        };
        sizes.iter().map(device).collect()
    }

    #[test]
    fn without_an_array_a_part_begins_at_the_offset_of_its_layout() {
        let all = devices(&[640 * MIB; 4]);
        let options = |raid: &str| {
            let levels = [("raid", raid), ("offset", "63s")];
            let owned = levels.map(|(a, b)| (a.to_owned(), b.to_owned()));
            LayoutSpec::of(&LayoutLevels::from(owned), &all).unwrap()
        };
        let (single, array) = (options("single"), options("raid10"));
        let slots = Slots::of(&all, 2);
        let places = |index: usize| {
            let parts = parts(slots, index, &[&array, &single]);
            let ends = |one: &Extent| (one.start_bytes, one.start_bytes + one.size_bytes);
            parts.iter().map(ends).collect::<Vec<_>>()
        };
        let second = 4 * MIB + slots.slot_bytes;
        let first = (4 * MIB, second);
        let end = second + slots.slot_bytes;
        assert_eq!(places(1), [first, (second, end)]);
        let of_single = places(0)[1];
        assert_eq!(of_single.0, second + 32_256);
        assert!(of_single.1 <= end && end - of_single.1 < 4096 + 32_256);
        assert_eq!(places(0)[0], first);
    }
}
