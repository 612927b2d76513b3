//! Guards for what tests borrow from the machine, and skips.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use stripewise_disk_provision::{
    Destroy, Error, FormatPlan, FormatReport, Identifiers, Result, TableKind, TablePlan,
    TableReport, Wish, plan_partition,
};
use stripewise_units::ByteSize;
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;
pub const NOW: &str = "2026-01-02T03:04:05.000Z";

/// Whether a test can run that needs these tools, and root where `root` is one of
/// them; says so if not, and fails where everything is required.
pub fn can_run(test: &str, needs: &[&str]) -> bool {
    for need in needs {
        let there = match *need {
            "root" => rustix::process::geteuid().is_root(),
            tool => ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .iter()
                .any(|directory| Path::new(directory).join(tool).exists()),
        };
        if !there {
            skip(test, need);
            return false;
        }
    }
    true
}

pub fn skip(test: &str, needs: &str) {
    assert!(
        std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
        "{test} needs {needs}"
    );
    eprintln!("skipped: {test}: needs {needs}");
}

/// A file system that is not built into this kernel, which nobody can install.
pub fn kernel_mounts(test: &str, kind: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let has = known.split_whitespace().any(|word| word == kind);
    if !has {
        eprintln!("skipped: {test}: needs {kind} in the kernel");
    }
    has
}

/// Runs a tool that must work; its standard output. A tool that finds a device in
/// use is given time: another test that starts a program holds our claims for a
/// moment, between fork and exec.
#[track_caller]
pub fn run(command: &str, arguments: &[&str]) -> String {
    let mut tries = 0;
    loop {
        let output = Command::new(command).args(arguments).output();
        let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        tries += 1;
        if !output.status.success() && is_busy(&said) && tries < 20 {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        assert!(output.status.success(), "{command} {arguments:?}: {said}");
        return String::from_utf8_lossy(&output.stdout).trim().to_owned();
    }
}

/// What tools say of a device that somebody has claimed.
pub fn is_busy(said: &str) -> bool {
    ["in use", "busy", "cannot open"]
        .iter()
        .any(|word| said.contains(word))
}

pub fn directory() -> TempDir {
    tempfile::Builder::new()
        .prefix("stripewise-provision-")
        .tempdir()
        .expect("a temporary directory")
}

/// A loop device over a sparse file, and a directory for what is saved.
pub struct Loop {
    pub device: String,
    pub backing: PathBuf,
    pub directory: TempDir,
}

impl Loop {
    pub fn new(bytes: u64) -> Loop {
        Loop::with(bytes, &[])
    }

    pub fn with(bytes: u64, options: &[&str]) -> Loop {
        let directory = directory();
        let backing = directory.path().join("backing");
        let file = std::fs::File::create_new(&backing).expect("a backing file");
        file.set_len(bytes).expect("its size");
        Loop::over(backing, directory, options)
    }

    /// Other tests take devices at the same time, so the free one that was found
    /// may be gone: try again.
    pub fn over(backing: PathBuf, directory: TempDir, options: &[&str]) -> Loop {
        for _ in 0..100 {
            let output = Command::new("losetup")
                .args(["-f", "--show"])
                .args(options)
                .arg(&backing)
                .output()
                .expect("losetup");
            if output.status.success() {
                let device = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                return Loop {
                    device,
                    backing,
                    directory,
                };
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no loop device is free");
    }

    pub fn path(&self) -> &Path {
        Path::new(&self.device)
    }

    pub fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").expect("it is under /dev")
    }

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
        let plan = plan_partition(self.path(), &wish(align, table), None).expect("a plan");
        assert_eq!(plan.in_the_way, None);
        self.carry_out(&plan, save).expect("it is made")
    }

    pub fn carry_out(&self, plan: &TablePlan, save: &str) -> Result<TableReport> {
        carry_out_as(plan, self.name(), &self.file(save))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("partx").args(["-d", &self.device]).output();
        let _ = Command::new("losetup").args(["-d", &self.device]).output();
        // The kernel waits for everybody who just looks at the device.
        let file = format!("/sys/block/{}/loop/backing_file", self.name());
        for _ in 0..200 {
            let backing = self.backing.to_string_lossy();
            if !std::fs::read_to_string(&file).is_ok_and(|found| found.contains(&*backing)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

pub fn wish(align: &str, table: TableKind) -> Wish {
    Wish {
        align_bytes: align.parse::<ByteSize>().expect("a size").bytes(),
        table,
        ..Wish::default()
    }
}

pub fn carry_out_as(plan: &TablePlan, name: &str, save: &Path) -> Result<TableReport> {
    let destroy = Destroy {
        name,
        store: None,
        save,
        now: NOW,
    };
    let ids = Identifiers {
        entropy: std::array::from_fn(|index| index as u8 + 1),
    };
    plan.carry_out(&destroy, &ids)
}

pub fn format_as(plan: &FormatPlan, name: &str) -> Result<FormatReport> {
    plan.carry_out(&Destroy {
        name,
        store: None,
        save: Path::new(""),
        now: NOW,
    })
}

/// An error says what is the case, and what to do.
#[track_caller]
pub fn says(error: &Error, words: &[&str]) {
    let text = format!("{error}\n{}", error.hint().expect("a hint"));
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

/// Ends something when it goes out of scope.
pub struct Undo(pub &'static str, pub Vec<String>);

impl Drop for Undo {
    fn drop(&mut self) {
        for _ in 0..40 {
            let output = Command::new(self.0).args(&self.1).output();
            if output.is_ok_and(|output| output.status.success()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Mounts a device in a directory of its own.
pub fn mounted(device: &str, options: &[&str]) -> (PathBuf, Undo, TempDir) {
    let directory = directory();
    let path = directory.path().join("volume");
    std::fs::create_dir(&path).expect("a mount point");
    let text = path.to_str().expect("text").to_owned();
    let mut arguments = options.to_vec();
    arguments.extend([device, &text]);
    run("mount", &arguments);
    (path, Undo("umount", vec![text]), directory)
}
