//! Guards for what tests borrow from the machine: loop devices, mounts, control
//! groups; and skips where it is not to be had.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Says that a test cannot run here. Fails instead where everything is required.
pub fn skip(test: &str, needs: &str) {
    assert!(
        std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
        "{test} needs {needs}"
    );
    eprintln!("skipped: {test}: needs {needs}");
}

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
    let output = Command::new(command).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(
        output.status.success(),
        "{command} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

fn directory() -> TempDir {
    tempfile::Builder::new()
        .prefix("stripewise-app-")
        .tempdir()
        .expect("a temporary directory")
}

/// A loop device over a file of its own.
pub struct Loop {
    pub device: String,
    pub backing: PathBuf,
    _directory: TempDir,
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

    /// Over a file that is written in full, without the page cache: what is read
    /// comes from the disk below.
    pub fn dense(bytes: u64, options: &[&str]) -> Loop {
        let directory = directory();
        let backing = directory.path().join("backing");
        super::users_file(text(&backing), bytes);
        Loop::over(backing, directory, options)
    }

    /// Other tests take devices at the same time, so the free one that was found
    /// may be gone: try again.
    fn over(backing: PathBuf, directory: TempDir, options: &[&str]) -> Loop {
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
                    _directory: directory,
                };
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("no loop device is free");
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        self.device.strip_prefix("/dev/").expect("it is under /dev")
    }

    /// Major and minor number as control groups want them.
    pub fn number(&self) -> String {
        let path = format!("/sys/block/{}/dev", self.name());
        std::fs::read_to_string(path)
            .expect("a number")
            .trim()
            .to_owned()
    }

    fn is_in_use(&self) -> bool {
        let path = format!("/sys/block/{}/loop/backing_file", self.name());
        std::fs::read_to_string(path).is_ok_and(|found| found.contains(text(&self.backing)))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).output();
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
    pub path: String,
    _directory: TempDir,
}

impl Mount {
    pub fn new(arguments: &[&str]) -> Mount {
        let directory = directory();
        let path = text(&directory.path().join("volume")).to_owned();
        std::fs::create_dir(&path).expect("a mount point");
        let mut all = arguments.to_vec();
        all.push(&path);
        run("mount", &all);
        Mount {
            path,
            _directory: directory,
        }
    }

    /// Makes a file system on a device and mounts it.
    pub fn made(make: &[&str], device: &Loop, options: &[&str]) -> Mount {
        let mut all = make[1..].to_vec();
        all.push(&device.device);
        run(make[0], &all);
        let mut all = options.to_vec();
        all.push(&device.device);
        Mount::new(&all)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Another test that starts a program holds our files for a moment, between
        // fork and exec.
        for _ in 0..40 {
            if unmounted(&[&self.path]) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        unmounted(&["--lazy", &self.path]);
    }
}

fn unmounted(arguments: &[&str]) -> bool {
    let output = Command::new("umount").args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// A control group of version 1.
pub struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// A group below the one that we are in; `None` where there is no such
    /// controller.
    pub fn new(controller: &str) -> Option<Cgroup> {
        let path = PathBuf::from(format!(
            "/sys/fs/cgroup/{controller}/stripewise-app-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir(&path).ok()?;
        Some(Cgroup { path })
    }

    pub fn set(&self, file: &str, value: &str) -> bool {
        std::fs::write(self.path.join(file), value).is_ok()
    }

    /// A command that moves itself into the group before it becomes `command`.
    pub fn wrap(&self, command: &Command) -> Command {
        let procs = self.path.join("cgroup.procs");
        let mut wrapped = Command::new("/bin/sh");
        wrapped
            .arg("-c")
            .arg("echo $$ > \"$0\" && exec \"$@\"")
            .arg(procs);
        append(&mut wrapped, command);
        wrapped
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A group is busy for a moment after its last process.
        for _ in 0..200 {
            if std::fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A command that becomes an ordinary user with little locked memory, then
/// `command`.
pub fn as_nobody(command: &Command, options: &[&str]) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    wrapped.args(options);
    append(&mut wrapped, command);
    wrapped
}

fn append(wrapped: &mut Command, command: &Command) {
    wrapped.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    wrapped
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
}
