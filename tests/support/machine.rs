//! Guards for what tests borrow from the machine: loop devices and mounts; and
//! skips where it is not to be had. Integration tests of several crates include
//! this file by its path, so each leaves a part of it unused.

#![allow(dead_code, unused_imports)]

mod holder;
mod skips;
mod wait;

pub use holder::Holder;
pub use skips::{skip, skip_kernel};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
pub use wait::wait_until;

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

/// Runs a tool that must work; its standard output.
#[track_caller]
pub fn run(command: &str, arguments: &[&str]) -> String {
    finish(Command::new(command).args(arguments))
}

/// Runs a tool until it does not find its device in use any more: `udev` and its like
/// look at every device that changes.
#[track_caller]
fn finish(command: &mut Command) -> String {
    let mut printed = String::new();
    wait_until(&format!("{command:?}"), || {
        let output = command.output();
        let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let message = String::from_utf8_lossy(&output.stderr);
        let worked = output.status.success();
        assert!(worked || is_busy(&message), "{command:?}: {message}");
        printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        worked
    });
    printed
}

/// What tools say of a device that another program uses.
pub fn is_busy(message: &str) -> bool {
    ["in use", "busy"].iter().any(|word| message.contains(word))
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

    /// `losetup` finds a free device and takes it in one step, as other tests take
    /// devices at the same time.
    pub fn over(backing: PathBuf, directory: TempDir, options: &[&str]) -> Loop {
        let mut losetup = Command::new("losetup");
        losetup.args(["-f", "--show"]).args(options).arg(&backing);
        let control = loop_control();
        control.lock_shared().expect("a lock");
        let device = finish(&mut losetup);
        drop(control);
        let taken = Loop {
            device,
            backing,
            directory,
        };
        let read_only = ["-r", "--read-only"].iter().any(|r| options.contains(r));
        forget_previous_user(&taken.device, read_only);
        taken
    }

    /// As long as this lives, no test takes a loop device: who looks at a free one would
    /// seem to have that of another test open.
    #[allow(dead_code, reason = "not every crate's tests look at a free device")]
    pub fn none_is_taken() -> std::fs::File {
        let control = loop_control();
        control.lock().expect("a lock");
        control
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

/// Locked by tests alone, against each other.
fn loop_control() -> std::fs::File {
    std::fs::File::open("/dev/loop-control").expect("loop devices are there")
}

/// Partitions, the protection against writes and the permissions of its node outlive
/// a loop device whose test was killed; they stay with the number.
fn forget_previous_user(device: &str, read_only: bool) {
    let name = device.trim_start_matches("/dev/");
    let known = std::fs::read_dir(Path::new("/sys/block").join(name));
    let is_partition = |entry: std::fs::DirEntry| {
        let entry = entry.file_name();
        entry.to_string_lossy().starts_with(&format!("{name}p"))
    };
    if known.is_ok_and(|entries| entries.flatten().any(is_partition)) {
        let _ = try_run("partx", &["-d", device]);
    }
    if !read_only {
        run("blockdev", &["--setrw", device]);
    }
    let mode = std::fs::metadata(device).expect("its node").mode();
    let private = PermissionsExt::from_mode(mode & 0o660);
    std::fs::set_permissions(device, private).expect("root may");
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
        // The kernel detaches it when everybody who just looks at it has closed it.
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

/// Unmounts for certain: where another program looks at a file in it, as soon as that
/// program is done.
pub fn unmount(path: &Path) {
    if !try_run("umount", &[text(path)]) {
        try_run("umount", &["--lazy", text(path)]);
    }
}
