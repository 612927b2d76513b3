//! Guards for what tests borrow from the machine: loop devices and mounts; and
//! skips where it is not to be had. Integration tests of several crates include
//! this file by its path, so each leaves a part of it unused.

#![allow(dead_code)]

mod skips;

pub use skips::skip;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Says that a test cannot run on this kernel, which nobody can install.
pub fn skip_kernel(test: &str, needs: &str) {
    eprintln!("skipped: {test}: needs {needs} in the kernel");
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn has_tool(tool: &str) -> bool {
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
        .iter()
        .any(|directory| Path::new(directory).join(tool).exists())
}

/// Whether a test can run that needs these tools, and root where `root` is one of
/// them; says so if not.
#[track_caller]
pub fn can_run(test: &str, needs: &[&str]) -> bool {
    for need in needs {
        let there = match *need {
            "root" => is_root(),
            tool => has_tool(tool),
        };
        if !there {
            skip(test, need);
            return false;
        }
    }
    true
}

/// Runs a tool that must work; its standard output. A tool that finds a device in
/// use is given time: another test that starts a program holds our files for a
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

/// Runs a tool that may fail; whether it worked.
pub fn try_run(command: &str, arguments: &[&str]) -> bool {
    let output = Command::new(command).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

/// A directory on the file system of temporary files, named after the crate.
pub fn directory() -> TempDir {
    tempfile::Builder::new()
        .prefix(concat!(env!("CARGO_PKG_NAME"), "-"))
        .tempdir()
        .expect("a temporary directory")
}

/// A loop device over a file of its own, in a directory of its own.
pub struct Loop {
    pub device: String,
    pub backing: PathBuf,
    pub directory: TempDir,
}

impl Loop {
    /// Over a sparse file.
    pub fn new(bytes: u64) -> Loop {
        Loop::with(bytes, &[])
    }

    /// Over a sparse file, with switches of `losetup`.
    pub fn with(bytes: u64, options: &[&str]) -> Loop {
        let directory = directory();
        let backing = directory.path().join("backing");
        let file = std::fs::File::create_new(&backing).expect("a backing file");
        file.set_len(bytes).expect("its size");
        Loop::over(backing, directory, options)
    }

    /// Another loop device over a file or device that somebody else looks after.
    pub fn stacked(over: &Path) -> Loop {
        Loop::over(over.to_owned(), directory(), &[])
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
                forget_partitions(&device);
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

    /// The kernel's name.
    pub fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").expect("it is under /dev")
    }

    /// It still stands on our backing file, whatever that is called now.
    pub fn is_in_use(&self) -> bool {
        let path = format!("/sys/block/{}/loop/backing_file", self.name());
        let found = std::fs::read(path).unwrap_or_default();
        let beside = (self.backing.parent()).filter(|folder| !folder.starts_with("/dev"));
        [
            Some(self.backing.as_path()),
            beside,
            Some(self.directory.path()),
        ]
        .into_iter()
        .flatten()
        .any(|ours| found.starts_with(ours.as_os_str().as_encoded_bytes()))
    }
}

/// Partitions outlive a loop device whose test was killed.
fn forget_partitions(device: &str) {
    let name = device.trim_start_matches("/dev/");
    let known = std::fs::read_dir(Path::new("/sys/block").join(name));
    let is_partition = |entry: std::fs::DirEntry| {
        let entry = entry.file_name();
        entry.to_string_lossy().starts_with(&format!("{name}p"))
    };
    if known.is_ok_and(|entries| entries.flatten().any(is_partition)) {
        let _ = try_run("partx", &["-d", device]);
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // A test that has detached it leaves its number to others.
        if !self.is_in_use() {
            return;
        }
        // Partitions that a tool told the kernel of outlive the device.
        let _ = try_run("partx", &["-d", &self.device]);
        let _ = try_run("losetup", &["-d", &self.device]);
        // The kernel waits for everybody who just looks at the device.
        for _ in 0..200 {
            if !self.is_in_use() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A mounted file system.
pub struct Mount {
    pub path: PathBuf,
    _directory: TempDir,
}

impl Mount {
    /// Mounts with these arguments, in a directory of its own.
    #[track_caller]
    pub fn new(arguments: &[&str]) -> Mount {
        let directory = directory();
        let path = directory.path().join("volume");
        std::fs::create_dir(&path).expect("a mount point");
        let mut all = arguments.to_vec();
        all.push(text(&path));
        run("mount", &all);
        Mount {
            path,
            _directory: directory,
        }
    }

    /// Makes a file system on a device and mounts it.
    #[track_caller]
    pub fn made(make: &[&str], device: &Loop, options: &[&str]) -> Mount {
        let mut all = make[1..].to_vec();
        all.push(&device.device);
        run(make[0], &all);
        let mut all = options.to_vec();
        all.push(&device.device);
        Mount::new(&all)
    }

    pub fn text(&self) -> &str {
        text(&self.path)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        unmount(&self.path);
    }
}

/// Unmounts for certain. Another test that starts a program holds our files for
/// a moment, between fork and exec.
pub fn unmount(path: &Path) {
    for _ in 0..40 {
        if try_run("umount", &[text(path)]) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    try_run("umount", &["--lazy", text(path)]);
}
