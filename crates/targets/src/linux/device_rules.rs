//! Whether a block device may be written.
//!
//! `O_EXCL` decides: the kernel grants it only while nobody else has claimed the
//! device, its disk or one of its partitions - not mounted, no swap, no md, dm
//! or bcache over it. `/proc` and sysfs explain a refusal, and add what `O_EXCL`
//! cannot see: loop devices over the device, processes that have it open
//! without a claim, and the devices that `/`, swap and the store lie on.

use super::access::{Found, reopen};
use super::users;
use crate::{Error, ErrorKind, Intent, Knowledge, Result};
use rustix::fs::OFlags;
use std::fs::File;
use stripewise_disk_inspect::claims::{self, Standing, in_the_way, is_named, kernel_name};
use stripewise_units::DeviceNumber;

/// Judges writing by every rule; opens nothing for writing and claims the device
/// only for a moment. Notes what could not be verified.
pub(super) fn judge_write(
    found: &Found,
    name: &str,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
) -> Result<Vec<String>> {
    let identity = &found.status.identity;
    let kernel_name = kernel_name(identity.rdevice).ok_or_else(|| {
        Error::new(
            ErrorKind::Unusable,
            name,
            "the kernel does not know this device",
        )
        .with_hint("Look with `lsblk`; /sys must be mounted.")
    })?;
    let standing = claims::standing(identity.rdevice, knowledge.store);
    let judged = judge(standing, name, intent.busy_ok).and_then(|notes| {
        claim(found, OFlags::RDONLY, name, knowledge)?;
        Ok(notes)
    });
    let Some(destroy) = &intent.destroy else {
        return Err(needs_destroy(name, &kernel_name, judged.err()));
    };
    if !is_named(destroy, &kernel_name) {
        return Err(Error::new(
            ErrorKind::Refused,
            name,
            format!("`--destroy {destroy}` does not name this device, which is `{kernel_name}`"),
        )
        .with_hint(
            "Double-check the device; NAME must be the kernel's name, links do not count.",
        ));
    }
    judged
}

/// What a device's standing comes to. `unseen_ok`: it may be written although it cannot
/// be seen whether another program has it open; then that is noted.
pub(super) fn judge(standing: Standing, name: &str, unseen_ok: bool) -> Result<Vec<String>> {
    match standing {
        Standing::Free => Ok(Vec::new()),
        Standing::InTheWay(reason) => Err(refusal(name, &reason)),
        Standing::Unseen(reason) if unseen_ok => Ok(vec![format!("{reason}.")]),
        Standing::Unseen(reason) => Err(Error::new(
            ErrorKind::NeedsBusyOk,
            name,
            format!("{REFUSAL}{reason}"),
        )
        .with_hint(
            "Run it as root and outside of containers, which can see; or give `--busy-ok` if you \
             know that nobody uses this device. Reads need no flag.",
        )),
    }
}

const REFUSAL: &str = "will not be written: ";

fn needs_destroy(name: &str, kernel_name: &str, refused: Option<Error>) -> Error {
    let hint = match refused {
        Some(error) if error.kind == ErrorKind::NeedsBusyOk => format!(
            "All data on it would be lost. Give `--destroy {kernel_name} --busy-ok` if that is \
             meant and nobody uses it: {}. Reads need no flag.",
            error.what.strip_prefix(REFUSAL).unwrap_or(&error.what)
        ),
        None => format!(
            "All data on it would be lost. Give `--destroy {kernel_name}` if that is meant; \
             reads need no flag."
        ),
        Some(refused) => format!("Even then it would be refused: {}.", refused.what),
    };
    let what = format!("writing to this device needs `--destroy {kernel_name}`");
    Error::new(ErrorKind::NeedsDestroy, name, what).with_hint(hint)
}

fn refusal(name: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Refused, name, format!("{REFUSAL}{reason}")).with_hint(
        "Unmount, stop or detach that first if the device is really meant; reads need no flag.",
    )
}

/// Opens the device with `O_EXCL`, which claims it for as long as the file is open.
pub(super) fn claim(
    found: &Found,
    access: OFlags,
    name: &str,
    knowledge: &Knowledge<'_>,
) -> Result<File> {
    let identity = &found.status.identity;
    let mut claimed = None;
    let refused =
        users::patiently(
            || match reopen(&found.handle, identity, access | OFlags::EXCL, name) {
                Ok(file) => {
                    claimed = Some(file);
                    None
                }
                Err(error) => Some(error),
            },
        );
    match (claimed, refused) {
        (Some(file), _) => Ok(file),
        (None, Some(error)) if error.os_number() != Some(libc::EBUSY) => Err(error),
        (None, _) => {
            let reason = in_the_way(identity.rdevice, knowledge.store)
                .unwrap_or_else(|| "something in the kernel has claimed it".to_owned());
            Err(refusal(name, &reason))
        }
    }
}

/// Judges by every rule, claims the device for writing, and judges once more, now that
/// nobody else can claim it: a loop device or a program that claims nothing may have
/// come in between.
pub(super) fn open_for_writing(
    found: &Found,
    name: &str,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
) -> Result<File> {
    judge_write(found, name, intent, knowledge)?;
    claim_and_judge(found, name, intent, knowledge)
}

fn claim_and_judge(
    found: &Found,
    name: &str,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
) -> Result<File> {
    let file = claim(found, OFlags::RDWR, name, knowledge)?;
    let standing = claims::standing(found.status.identity.rdevice, knowledge.store);
    judge(standing, name, intent.busy_ok)?;
    Ok(file)
}

/// Judges again a device that is claimed, before it is opened once more for writing.
pub(super) fn still_free(number: DeviceNumber, name: &str, unseen_ok: bool) -> Result<()> {
    judge(claims::unclaimed(number), name, unseen_ok)
        .map(drop)
        .map_err(|mut error| {
            error.what.push_str(", since it was judged");
            error
        })
}

#[cfg(test)]
mod tests {
    use super::super::machine;
    use super::*;

    /// Between the judgement and the claim somebody may open the device without a
    /// claim of their own, or put a loop device on it: the kernel lets both pass.
    #[test]
    fn who_slips_in_before_the_claim_is_seen_after_it() {
        const TEST: &str = "who_slips_in_before_the_claim_is_seen_after_it";
        if !machine::can_run(TEST, &["root", "losetup"]) {
            return;
        }
        let device = machine::Loop::new(8 << 20);
        let found = super::super::access::find(device.path()).expect("found");
        let intent = Intent {
            writes: true,
            busy_ok: true,
            destroy: Some(device.name().to_owned()),
            ..Intent::default()
        };
        let knowledge = Knowledge::none();
        let judged = |says: &str| {
            let error = claim_and_judge(&found, "it", &intent, &knowledge).expect_err(says);
            assert_eq!(error.kind, ErrorKind::Refused, "{error}");
            assert!(error.what.contains(says), "{error}");
        };
        judge_write(&found, "it", &intent, &knowledge).expect("free");
        let above = machine::Loop::stacked(device.path());
        judged(&format!("the backing of /dev/{}", above.name()));
        drop(above);
        let input = File::open(device.path()).expect("it opens");
        let mut holder = std::process::Command::new("sleep")
            .arg("60")
            .stdin(input)
            .spawn()
            .expect("sleep starts");
        judged(&format!("open in sleep (pid {})", holder.id()));
        holder.kill().expect("it ends");
        holder.wait().expect("it is gone");
        claim_and_judge(&found, "it", &intent, &knowledge).expect("free again");
    }
}
