//! The id of an NVMe namespace, and the log pages of its drive.
//!
//! Log pages and features are read with admin commands, which the kernel allows for root
//! (`CAP_SYS_ADMIN`). The two commands here only read.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `_IO('N', 0x40)` of `linux/nvme_ioctl.h`.
const NVME_IOCTL_ID: u32 = 0x4e40;
/// `_IOWR('N', 0x41, struct nvme_passthru_cmd)`, 72 bytes.
const NVME_IOCTL_ADMIN_CMD: u32 = 0xc048_4e41;
/// 0 is the kernel's default (60 s unless changed). A shorter one would be harmful: the driver
/// resets the controller when an admin command times out.
const TIMEOUT_MS: u32 = 0;
const GET_LOG_PAGE: u8 = 0x02;
const GET_FEATURES: u8 = 0x0a;
const POWER_MANAGEMENT: u32 = 0x02;
/// The bits of the power state in the answer to the power management feature.
const POWER_STATE: u32 = 0x1f;
/// A log page of the whole drive.
const NO_NAMESPACE: u32 = u32::MAX;

/// `struct nvme_passthru_cmd` of `linux/nvme_ioctl.h`.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    bytes: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<AdminCommand>() == 72);

/// The namespace's id within its controller. Only for devices of the NVMe driver: with other
/// drivers the ioctl number may mean something else.
pub fn namespace_id(device: &File) -> Option<u32> {
    // SAFETY: an ioctl without an argument, which changes nothing.
    let id = unsafe { libc::ioctl(device.as_raw_fd(), NVME_IOCTL_ID as libc::Ioctl) };
    u32::try_from(id).ok().filter(|id| *id > 0)
}

/// Reads a log page of the drive, up to the size of the buffer. Only for devices of the NVMe
/// driver.
///
/// # Errors
/// If the buffer is empty or not a multiple of 4 bytes, permission is denied, or the drive does not
/// answer.
pub fn log_page(
    device: &File,
    page: u8,
    namespace: Option<u32>,
    into: &mut [u8],
) -> io::Result<()> {
    let bytes = u32::try_from(into.len()).map_err(io::Error::other)?;
    // The number of dwords is zero-based.
    let Some(dwords) = (bytes / 4).checked_sub(1).filter(|_| bytes % 4 == 0) else {
        return Err(io::Error::other(format!("no log page has {bytes} bytes")));
    };
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: namespace.unwrap_or(NO_NAMESPACE),
        address: into.as_mut_ptr() as u64,
        bytes,
        words_10_15: [
            u32::from(page) | (dwords & 0xffff) << 16,
            dwords >> 16,
            0,
            0,
            0,
            0,
        ],
        ..AdminCommand::default()
    };
    ask(device, &mut command)
}

/// The drive's current power state: 0 is the fastest.
pub fn power_state(device: &File) -> io::Result<u8> {
    let mut command = AdminCommand {
        opcode: GET_FEATURES,
        words_10_15: [POWER_MANAGEMENT, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    ask(device, &mut command)?;
    Ok((command.result & POWER_STATE) as u8)
}

fn ask(device: &File, command: &mut AdminCommand) -> io::Result<()> {
    command.timeout_ms = TIMEOUT_MS;
    // SAFETY: the command is of the kernel's layout, and the callers' buffers, which it names
    // with their lengths, outlive the call. Both opcodes only read from the drive.
    let status = unsafe {
        libc::ioctl(
            device.as_raw_fd(),
            NVME_IOCTL_ADMIN_CMD as libc::Ioctl,
            std::ptr::from_mut(command),
        )
    };
    match status {
        0 => Ok(()),
        1.. => Err(io::Error::other(format!("NVMe status {status:#x}"))),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_page_has_whole_words_and_at_least_one() {
        let nothing = File::open("/dev/null").expect("there");
        for (bytes, is_requested) in [(0, false), (3, false), (6, false), (4, true), (512, true)] {
            let error = log_page(&nothing, 2, None, &mut vec![0; bytes]).unwrap_err();
            // The request reaches the kernel, whose errors have numbers.
            assert_eq!(
                error.raw_os_error().is_some(),
                is_requested,
                "{bytes}: {error}"
            );
        }
    }
}
