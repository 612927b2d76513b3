//! The switches of `partition`.

use super::one_of;
use clap::Args;
use std::path::PathBuf;
use stripewise_disk_provision::{Purpose, TableKind};
use stripewise_units::ByteSize;

/// Make an aligned partition; prints the plan first.
///
/// The device gets a new table with one partition, which starts at exactly the
/// offset asked for; nothing is rounded. Without --yes only the plan is printed: what is
/// there now, what would be written, the offset in bytes and what it means. The old
/// table is saved to a file first; --restore brings it back.
#[derive(Debug, Args)]
pub struct Partition {
    /// The whole disk: /dev/sdb
    pub device: PathBuf,
    /// The partition starts at the first free multiple: 1M, 64K, 36K, 31.5K, 63s
    #[arg(
        long,
        value_name = "SIZE",
        required_unless_present = "restore",
        conflicts_with = "restore"
    )]
    pub align: Option<ByteSize>,
    /// Its size [default: the rest of the disk]
    #[arg(long, value_name = "SIZE", conflicts_with = "restore")]
    pub size: Option<ByteSize>,
    /// Partition table to make [default: gpt]
    #[arg(
        long,
        value_name = "KIND",
        conflicts_with = "restore",
        value_parser = one_of([("gpt", TableKind::Gpt), ("mbr", TableKind::Mbr)])
    )]
    pub table: Option<TableKind>,
    /// Type of the partition: the system whose file system it will hold [default: linux]
    #[arg(
        long = "type",
        value_name = "TYPE",
        conflicts_with = "restore",
        value_parser = one_of([("linux", Purpose::Linux), ("windows", Purpose::Windows)])
    )]
    pub purpose: Option<Purpose>,
    /// Stripe unit of the array below, in bytes on one disk, for the verdict
    #[arg(long, value_name = "SIZE", conflicts_with = "restore")]
    pub stripe_unit: Option<ByteSize>,
    /// Bring back the table that an earlier run saved to this file
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,
    /// Save the old table here [default: a new file beside the store]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Do it, instead of only printing the plan; needs --destroy
    #[arg(long)]
    pub yes: bool,
    /// The kernel's name of the device, whose data will be lost
    #[arg(long, value_name = "NAME")]
    pub destroy: Option<String>,
    /// Do it even if it cannot be determined whether another program has the device open
    #[arg(long)]
    pub busy_ok: bool,
}
