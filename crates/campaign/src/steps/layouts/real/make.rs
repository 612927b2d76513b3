//! One layout: journal, array, partition, file system, private mount; and their removal. Every
//! step applies the safety rules again; after a failure, everything made so far is removed
//! before the failure is reported.

use super::devices::{MayDestroy, check_same, erase, node};
use super::journal::Journal;
use super::spec::LayoutSpec;
use crate::steps::experiment::runner::StopReason;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::observer::{Progress, left_at_rate};
use stripewise_disk_provision::{
    ArrayOptions, Destroy, Identifiers, Identity, PartitionOptions, PrivateMount, Purpose,
    RaidLevel, TableKind, array_with, mount_privately, plan_array, plan_erase, plan_format,
    plan_partition, resync_of, stop_array,
};
use stripewise_store::Store;

/// Interval of checks of the kernel's progress.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Parameters for making layouts.
#[derive(Clone, Copy)]
pub struct LayoutBuilder<'a> {
    /// The context of the use case.
    pub context: &'a Context,
    /// Permission to write.
    pub may: &'a MayDestroy,
    /// All devices of the experiment; in a slot, its partitions.
    pub devices: &'a [Identity],
    /// The current slot, and the devices that contain its partitions.
    pub slot: Option<(u32, &'a [Identity])>,
}

/// A layout that was made.
#[derive(Debug)]
pub struct MadeLayout {
    journal: Journal,
    /// The number of devices that it uses.
    devices: usize,
    array: Option<String>,
    mount: Option<PrivateMount>,
}

impl MadeLayout {
    /// The root of its file system.
    pub fn path(&self) -> PathBuf {
        let mount = self.mount.as_ref().map(PrivateMount::path);
        mount.map(Path::to_path_buf).unwrap_or_default()
    }
}

impl LayoutBuilder<'_> {
    /// Makes a layout; `words` describe it.
    ///
    /// # Errors
    /// If a step is refused or fails: then nothing of it remains, or the failure lists
    /// what does.
    pub fn make(
        &self,
        store: &mut Store,
        experiment: &str,
        words: &str,
        options: &LayoutSpec,
    ) -> Result<MadeLayout, StopReason> {
        let journal = Journal::new(self.context, experiment, words, self.devices, self.slot);
        let same = self.devices.iter().map(check_same);
        same.collect::<Outcome<Vec<_>>>()?;
        journal.keep(self.context, store)?;
        let mut made = MadeLayout {
            journal,
            devices: options.devices,
            array: None,
            mount: None,
        };
        match self.steps(&mut made, options) {
            Ok(()) => Ok(made),
            Err(stop_reason) => {
                let undone = self.unmake(store, made);
                Err(with_undone(stop_reason, undone))
            }
        }
    }

    fn steps(&self, made: &mut MadeLayout, options: &LayoutSpec) -> Result<(), StopReason> {
        self.unless_stopped()?;
        let disk = match options.raid {
            Some(level) => self.array(made, level, options)?,
            None => node(&self.devices[0].name),
        };
        self.unless_stopped()?;
        let partition = match (options.raid, self.slot) {
            // The partition of the slot begins at the layout's offset.
            (None, Some(_)) => disk,
            _ => self.partition(&disk, options, &made.journal.table_ids())?,
        };
        self.unless_stopped()?;
        let file_system = || {
            let plan = plan_format(&partition, &options.format(), self.store()?.as_deref())?;
            let name = plan.device.name.clone();
            self.with(&name, |destroy| plan.execute(destroy).map(drop))
        };
        file_system()?;
        self.unless_stopped()?;
        let mount = mount_privately(&partition, options.file_system, &made.journal.mount_point);
        let mount = mount.map_err(Failure::from)?;
        made.mount = Some(mount);
        Ok(())
    }

    pub(super) fn unless_stopped(&self) -> Result<(), StopReason> {
        match self.context.signal() {
            None => Ok(()),
            Some(_) => Err(StopReason::Interrupted),
        }
    }

    pub(super) fn store(&self) -> Outcome<Option<PathBuf>> {
        self.context.store_path().map(Some)
    }

    /// Permission for a named device, or for one just made from named devices.
    pub(super) fn with<T>(
        &self,
        name: &str,
        act: impl FnOnce(&Destroy<'_>) -> stripewise_disk_provision::Result<T>,
    ) -> Outcome<T> {
        let store = self.context.store_path()?;
        let destroy = Destroy {
            name,
            store: Some(&store),
            busy_ok: self.may.busy_ok,
            save: None,
            now: &self.context.timestamp(),
        };
        act(&destroy).map_err(Failure::from)
    }

    fn array(
        &self,
        made: &mut MadeLayout,
        level: RaidLevel,
        options: &LayoutSpec,
    ) -> Result<PathBuf, StopReason> {
        let members = &self.devices[..options.devices];
        let requested = ArrayOptions {
            level,
            stripe_unit_bytes: options.stripe_unit_bytes,
            uuid: made.journal.array_uuid(),
        };
        let create = || {
            let store = self.context.store_path()?;
            let paths: Vec<PathBuf> = members.iter().map(|one| node(&one.name)).collect();
            let plan = plan_array(&paths, &requested, Some(&store))?;
            let now = self.context.timestamp();
            let permissions: Vec<Destroy<'_>> = members
                .iter()
                .map(|member| Destroy {
                    name: &member.name,
                    store: Some(&store),
                    busy_ok: self.may.busy_ok,
                    save: None,
                    now: &now,
                })
                .collect();
            plan.execute(&permissions).map_err(Failure::from)
        };
        let report = create()?;
        made.array = Some(report.name.clone());
        if level.needs_resync() {
            self.wait_for_resync(&report.name)?;
        }
        Ok(report.path)
    }

    /// The kernel computes parity; measurements wait for that.
    fn wait_for_resync(&self, array: &str) -> Result<(), StopReason> {
        let began_ns = self.context.now_ns();
        let title = format!("Waiting for the resync of {array}");
        self.context.status(format!(
            "{title}: its parity must be right before anything is measured."
        ));
        let bar = Progress::begin(self.context.observer(), false, 1, &title);
        while let Some((done, all)) = resync_of(array) {
            self.unless_stopped()?;
            let passed_ns = self.context.now_ns() - began_ns;
            bar.set_total(all.max(1));
            bar.update(done, &title, left_at_rate(passed_ns, done, all));
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The device path of the partition.
    fn partition(&self, disk: &Path, options: &LayoutSpec, ids: &Identifiers) -> Outcome<PathBuf> {
        let requested = PartitionOptions {
            align_bytes: options.offset_bytes,
            size_bytes: None,
            table: TableKind::Gpt,
            purpose: Purpose::Linux,
            stripe_unit_bytes: options.stripe_unit_bytes,
        };
        let plan = plan_partition(disk, &requested, self.store()?.as_deref())?;
        let name = plan.device.name.clone();
        let report = self.with(&name, |destroy| plan.execute(destroy, ids))?;
        let made = report.partitions.first();
        let place = made.map(|one| (node(&one.name), one.start_bytes));
        match place {
            Some((path, start)) if start == options.offset_bytes => Ok(path),
            _ => Err(Failure::target(
                format!("{name}: the partition does not start where it was asked to"),
                "nothing was measured; look at the table with `stripewise disks`",
            )),
        }
    }

    /// Removes a layout. Missing parts are ignored.
    ///
    /// # Errors
    /// The first step that failed; the journal remains then, for `lab clean`.
    pub fn unmake(&self, store: &mut Store, mut made: MadeLayout) -> Outcome<()> {
        if let Some(mount) = made.mount.take() {
            mount.unmount()?;
        }
        let array = made.array.take();
        tear_down(self, &made.journal, array, made.devices)?;
        made.journal.forget(store)
    }
}

/// Stops the array of a journal if it runs, and erases those of its devices that bear
/// its marks.
///
/// # Errors
/// The first step that failed.
pub(super) fn tear_down(
    builder: &LayoutBuilder<'_>,
    journal: &Journal,
    array: Option<String>,
    devices: usize,
) -> Outcome<()> {
    let uuid = journal.array_uuid();
    if let Some(array) = array.or_else(|| array_with(uuid)) {
        // The end of its table may be where a disk's own would be.
        let store = builder.context.store_path()?;
        let plan = plan_erase(&node(&array), Some(&store));
        // An array that never ran has no bytes to examine.
        if let Ok(plan) = plan.as_ref()
            && plan.present.table.is_some()
        {
            let no_identifiers = Identifiers { entropy: [0; 32] };
            builder.with(&array, |destroy| {
                plan.execute(destroy, &no_identifiers).map(drop)
            })?;
        }
        stop_array(&array, uuid)?;
    }
    for device in builder.devices.iter().take(devices) {
        let path = check_same(device)?;
        let ours = stripewise_disk_provision::has_mark(&path, uuid, &journal.all_table_ids())?;
        if ours {
            erase(builder.context, device, builder.may, None)?;
        }
    }
    Ok(())
}

/// The reason for stopping, with what could not be removed afterwards.
pub(super) fn with_undone(stop_reason: StopReason, undone: Outcome<()>) -> StopReason {
    match (stop_reason, undone) {
        (stop_reason, Ok(())) => stop_reason,
        (StopReason::Interrupted, Err(left)) => StopReason::Failed(left),
        (StopReason::Failed(first), Err(left)) => StopReason::Failed(both(first, &left)),
    }
}

/// A failure, and the remains left because of another one.
fn both(first: Failure, left: &Failure) -> Failure {
    let text = format!(
        "{}; and it could not be taken down again: {}",
        first.chain(),
        left.chain()
    );
    Failure::new(
        first.exit,
        text,
        "`stripewise lab clean` shows what is left, and takes it down",
    )
}
