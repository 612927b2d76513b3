//! Block devices to measure on, created here and removed on drop.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use suite::shell;

const ZRAM_CONTROL: &str = "/sys/class/zram-control";

/// A device, created or given.
pub struct Device {
    path: PathBuf,
    made: Cleanup,
}

/// Cleanup action.
enum Cleanup {
    /// Given by the user: none.
    Given,
    /// Compressed memory, by its number.
    Zram(String),
    /// A loop device on a file in a separate folder.
    Loop { _folder: tempfile::TempDir },
    /// Only the file.
    File { _folder: tempfile::TempDir },
}

impl Device {
    /// A device named by the user; it is only read.
    pub fn given(path: PathBuf) -> Device {
        Device {
            path,
            made: Cleanup::Given,
        }
    }

    /// The fastest device of `bytes` that can be created here: zram, otherwise a loop device.
    /// `None` if neither can be created (not root).
    pub fn fastest(bytes: u64) -> Result<Option<Device>> {
        if let Some(zram) = Device::zram(bytes)? {
            return Ok(Some(zram));
        }
        Device::loop_device(bytes.min(512 << 20))
    }

    /// A new zram device. Its pages were never written: reading fills them with zeros, which is
    /// cheap for the kernel and does not change our program's cost.
    fn zram(bytes: u64) -> Result<Option<Device>> {
        if !Path::new(ZRAM_CONTROL).exists() {
            // Without the module, there is no such device.
            drop(Command::new("modprobe").arg("zram").output());
        }
        let Ok(number) = std::fs::read_to_string(format!("{ZRAM_CONTROL}/hot_add")) else {
            return Ok(None);
        };
        let number = number.trim().to_owned();
        let device = Device {
            path: PathBuf::from(format!("/dev/zram{number}")),
            made: Cleanup::Zram(number.clone()),
        };
        std::fs::write(
            format!("/sys/block/zram{number}/disksize"),
            bytes.to_string(),
        )
        .context("cannot set the size of a new zram device")?;
        Ok(Some(device))
    }

    /// A file full of data: needs no privileges.
    pub fn file(bytes: u64) -> Result<Device> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let path = folder.path().join("disk");
        fill(&path, bytes)?;
        Ok(Device {
            path,
            made: Cleanup::File { _folder: folder },
        })
    }

    /// A loop device without the page cache, on a file full of data.
    pub fn loop_device(bytes: u64) -> Result<Option<Device>> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let file = folder.path().join("disk");
        fill(&file, bytes)?;
        let made = shell::read(
            Command::new("losetup")
                .args(["--find", "--show", "--direct-io=on"])
                .arg(&file),
        );
        let Ok(output) = made else {
            return Ok(None);
        };
        Ok(Some(Device {
            path: PathBuf::from(output.stdout.trim()),
            made: Cleanup::Loop { _folder: folder },
        }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn describe(&self) -> String {
        let path = self.path.display();
        match self.made {
            Cleanup::Given => path.to_string(),
            Cleanup::Zram(_) => format!("{path}, zram made for this"),
            Cleanup::Loop { .. } => format!("{path}, loop device made for this"),
            Cleanup::File { .. } => format!("{path}, file made for this"),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        match &self.made {
            Cleanup::Given | Cleanup::File { .. } => {}
            Cleanup::Zram(number) => {
                // Another process, notified of it, may still have it open.
                for _ in 0..50 {
                    let reset = format!("/sys/block/zram{number}/reset");
                    drop(std::fs::write(reset, "1"));
                    if std::fs::write(format!("{ZRAM_CONTROL}/hot_remove"), number).is_ok() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(100));
                }
                eprintln!("warning: {} could not be removed", self.path.display());
            }
            Cleanup::Loop { .. } => {
                let detached = Command::new("losetup")
                    .arg("--detach")
                    .arg(&self.path)
                    .output();
                drop(detached);
            }
        }
    }
}

/// Writes `bytes` of data that does not repeat.
pub fn fill(file: &Path, bytes: u64) -> Result<()> {
    use std::io::Write;
    const CHUNK_WORDS: u64 = 1 << 17;
    let mut out = std::fs::File::create_new(file).context("cannot make the disk's file")?;
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut chunk = Vec::with_capacity(CHUNK_WORDS as usize * 8);
    let mut written = 0;
    while written < bytes {
        chunk.clear();
        for _ in 0..CHUNK_WORDS {
            // Xorshift (Marsaglia, 2003): good enough not to compress.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            chunk.extend_from_slice(&state.to_le_bytes());
        }
        out.write_all(&chunk)
            .context("cannot fill the disk's file")?;
        written += chunk.len() as u64;
    }
    out.sync_all().context("cannot fill the disk's file")
}

/// A control group that limits a device to this many reads per second.
pub struct Throttle {
    folder: PathBuf,
    /// Command prefix that starts a command in the group.
    before: Vec<String>,
}

impl Throttle {
    /// `None` if control groups cannot limit it here.
    pub fn reads(device: &Path, iops: u32) -> Option<Throttle> {
        let name = device.file_name()?.to_string_lossy().into_owned();
        let number = std::fs::read_to_string(format!("/sys/block/{name}/dev")).ok()?;
        let number = number.trim();
        let version_1 = Path::new("/sys/fs/cgroup/blkio");
        let (parent, file, limit, members) = if version_1.exists() {
            let limit = format!("{number} {iops}");
            (
                version_1,
                "blkio.throttle.read_iops_device",
                limit,
                "cgroup.procs",
            )
        } else {
            let limit = format!("{number} riops={iops}");
            // The parent must delegate the controller before children can be limited.
            drop(std::fs::write(
                "/sys/fs/cgroup/cgroup.subtree_control",
                "+io",
            ));
            (Path::new("/sys/fs/cgroup"), "io.max", limit, "cgroup.procs")
        };
        let folder = parent.join(format!("stripewise-perf-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let throttle = Throttle {
            before: vec![
                "sh".to_owned(),
                "-c".to_owned(),
                "echo $$ > \"$0\" && exec \"$@\"".to_owned(),
                folder.join(members).to_string_lossy().into_owned(),
            ],
            folder,
        };
        std::fs::write(throttle.folder.join(file), limit).ok()?;
        Some(throttle)
    }

    pub fn before(&self) -> &[String] {
        &self.before
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        drop(std::fs::remove_dir(&self.folder));
    }
}
