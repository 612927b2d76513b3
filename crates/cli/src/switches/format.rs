//! The switches of `format`.

use super::one_of;
use clap::Args;
use std::path::PathBuf;
use stripewise_disk_provision::FileSystemKind;
use stripewise_units::ByteSize;

/// Make a file system; prints the plan first.
///
/// The system's own mkfs makes it; its superblock is read back and compared. Without
/// --yes only the plan is printed: what is there now, the command that would be run, the
/// offset in bytes and what it means. Sizes that this kernel cannot mount are refused.
#[derive(Debug, Args)]
#[command(override_usage = "stripewise format --fs <KIND> --allocation-unit <SIZE> <PARTITION>")]
pub struct Format {
    /// The partition: /dev/sdb1
    pub partition: PathBuf,
    /// The file system to make
    #[arg(
        long,
        value_name = "KIND",
        value_parser = one_of(FileSystemKind::ALL.map(|kind| (kind.name(), kind)))
    )]
    pub fs: FileSystemKind,
    /// Bytes of an allocation unit (block, cluster): 4K, 64K
    #[arg(long, value_name = "SIZE")]
    pub allocation_unit: ByteSize,
    /// Stripe unit of the array below, in bytes on one disk
    #[arg(long, value_name = "SIZE", requires = "stripe_disks")]
    pub stripe_unit: Option<ByteSize>,
    /// Disks of the array that hold data (without parity; half of them for RAID 10)
    #[arg(long, value_name = "N", requires = "stripe_unit", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub stripe_disks: Option<u32>,
    /// Do it, instead of only printing the plan; needs --destroy
    #[arg(long)]
    pub yes: bool,
    /// The kernel's name of the partition, whose data will be lost
    #[arg(long, value_name = "NAME")]
    pub destroy: Option<String>,
    /// Do it even if it cannot be determined whether another program has the device open
    #[arg(long)]
    pub busy_ok: bool,
}
