//! Writes patches in order, and reads them back.

use crate::disk::Disk;
use crate::table::Patch;
use crate::{Error, ErrorKind, Result};

/// Writes patches one after the other, flushing each before the next.
///
/// # Errors
/// [`ErrorKind::Io`] at the first failure, with what was written before.
pub(crate) fn write_in_order<D: Disk>(disk: &mut D, patches: &[Patch], device: &str) -> Result<()> {
    for (index, patch) in patches.iter().enumerate() {
        let written = disk
            .write_at(patch.offset_bytes, &patch.bytes)
            .and_then(|()| disk.flush());
        if let Err(os) = written {
            let before: Vec<&str> = patches[..index]
                .iter()
                .map(|one| one.what.as_str())
                .collect();
            let before = match before.as_slice() {
                [] => "nothing was written before it".to_owned(),
                all => format!("written before it: {}", all.join(", ")),
            };
            return Err(Error::new(
                ErrorKind::Io,
                device,
                format!(
                    "writing {} at byte {} failed ({before})",
                    patch.what, patch.offset_bytes
                ),
            )
            .with_os(os));
        }
    }
    Ok(())
}

/// Reads everything back from the device.
///
/// # Errors
/// [`ErrorKind::Unverified`] with the first byte that differs; [`ErrorKind::Io`].
pub(crate) fn verify<D: Disk>(disk: &D, patches: &[Patch], device: &str) -> Result<()> {
    for patch in patches {
        let found = disk
            .piece(patch.offset_bytes, patch.bytes.len())
            .map_err(|os| {
                let what = format!("cannot read back {}", patch.what);
                Error::new(ErrorKind::Io, device, what).with_os(os)
            })?;
        let differs = found
            .iter()
            .zip(&patch.bytes)
            .position(|(is, want)| is != want);
        if let Some(at) = differs {
            return Err(Error::new(
                ErrorKind::Unverified,
                device,
                format!(
                    "byte {} of {} is not what was written",
                    patch.offset_bytes + at as u64,
                    patch.what
                ),
            )
            .with_hint("The device accepts writes and loses them; do not put data on it."));
        }
    }
    Ok(())
}
