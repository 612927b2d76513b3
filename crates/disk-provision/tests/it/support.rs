//! Guards for what tests borrow from the machine, skips, and shorthands.

#[path = "../../../../tests/support/machine.rs"]
mod machine;

pub use machine::{Holder, Loop, Mount, can_run, directory, run, skip, skip_kernel};
use std::path::{Path, PathBuf};
use std::process::Command;
use stripewise_disk_provision::{
    Destroy, Error, FormatPlan, FormatReport, Identifiers, PartitionOptions, Result, SaveFile,
    TableKind, TablePlan, TableReport, plan_partition,
};
use stripewise_units::ByteSize;

pub const MIB: u64 = 1 << 20;
pub const NOW: &str = "2026-01-02T03:04:05.000Z";

/// A file system that is not built into this kernel and cannot be installed.
pub fn kernel_mounts(test: &str, kind: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let has = known.split_whitespace().any(|word| word == kind);
    if !has {
        skip_kernel(test, kind);
    }
    has
}

impl Loop {
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// All bytes of the device.
    pub fn bytes(&self) -> Vec<u8> {
        run("blockdev", &["--flushbufs", &self.device]);
        std::fs::read(&self.device).expect("it can be read")
    }

    /// The first partition's path.
    pub fn partition(&self) -> String {
        format!("{}p1", self.device)
    }

    /// Makes a partition by the crate under test.
    #[track_caller]
    pub fn make(&self, align: &str, table: TableKind, save: &str) -> TableReport {
        let plan = plan_partition(self.path(), &spec(align, table), None).expect("a plan");
        assert_eq!(plan.in_the_way, None);
        self.execute(&plan, save).expect("it is made")
    }

    pub fn execute(&self, plan: &TablePlan, save: &str) -> Result<TableReport> {
        execute_as(plan, self.name(), &self.file(save))
    }
}

pub fn spec(align: &str, table: TableKind) -> PartitionOptions {
    PartitionOptions {
        align_bytes: align.parse::<ByteSize>().expect("a size").bytes(),
        table,
        ..PartitionOptions::default()
    }
}

/// A file for the old table.
pub fn save_file(path: &Path) -> SaveFile<'_> {
    fn make(directory: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(directory)
    }
    SaveFile {
        path,
        make_directories: make,
    }
}

pub fn execute_as(plan: &TablePlan, name: &str, save: &Path) -> Result<TableReport> {
    let destroy = Destroy {
        name,
        store: None,
        // Tests may run where not all processes can be seen.
        busy_ok: true,
        save: Some(save_file(save)),
        now: NOW,
    };
    let ids = Identifiers {
        entropy: std::array::from_fn(|index| index as u8 + 1),
    };
    plan.execute(&destroy, &ids)
}

pub fn format_as(plan: &FormatPlan, name: &str) -> Result<FormatReport> {
    plan.execute(&Destroy {
        name,
        store: None,
        // Tests may run where not all processes can be seen.
        busy_ok: true,
        save: None,
        now: NOW,
    })
}

/// An error says what is the case, and what to do.
#[track_caller]
pub fn assert_mentions(error: &Error, words: &[&str]) {
    let text = format!("{error}\n{}", error.hint().expect("a hint"));
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

/// Runs a tool when it goes out of scope.
pub struct Undo(pub &'static str, pub Vec<String>);

impl Drop for Undo {
    fn drop(&mut self) {
        let _ = Command::new(self.0).args(&self.1).status();
    }
}
