//! Guards for loop devices, mounts and processes, and skips.

use crate::support::{directory, writing};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use stripewise_target::Intent;
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

/// Whether a test can run that needs root and these tools; says so if not.
pub fn can_run(test: &str, tools: &[&str]) -> bool {
    if !is_root() {
        skip(test, "root");
        return false;
    }
    for tool in tools {
        let found = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
            .iter()
            .any(|directory| Path::new(directory).join(tool).exists());
        if !found {
            skip(test, tool);
            return false;
        }
    }
    true
}

/// Runs a tool that must work; its standard output.
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

/// Runs a tool that may fail; whether it worked.
pub fn try_run(command: &str, arguments: &[&str]) -> bool {
    let output = Command::new(command).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// A loop device over a sparse file of its own.
pub struct Loop {
    pub device: PathBuf,
    pub backing: PathBuf,
    _directory: TempDir,
}

impl Loop {
    pub fn new(bytes: u64) -> Loop {
        Loop::with(bytes, &[])
    }

    pub fn with(bytes: u64, options: &[&str]) -> Loop {
        let directory = directory();
        let backing = directory.path().join("backing");
        let file = File::create_new(&backing).expect("a backing file");
        file.set_len(bytes).expect("its size");
        Loop::over(&backing, options, directory)
    }

    fn over(backing: &Path, options: &[&str], directory: TempDir) -> Loop {
        let mut arguments = vec!["-f", "--show"];
        arguments.extend(options);
        arguments.push(text(backing));
        let device = run("losetup", &arguments);
        Loop {
            device: PathBuf::from(device),
            backing: backing.to_owned(),
            _directory: directory,
        }
    }

    /// Another loop device over a file or device that somebody else looks after.
    pub fn stacked(over: &Path) -> Loop {
        Loop::over(over, &[], directory())
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        text(self.device.strip_prefix("/dev").expect("it is under /dev"))
    }

    /// It still stands on our backing file.
    pub fn is_in_use(&self) -> bool {
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
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// A mounted file system.
pub struct Mount {
    pub path: PathBuf,
    _directory: TempDir,
}

impl Mount {
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
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    try_run("umount", &["--lazy", text(path)]);
}

/// Runs something when the test ends, however it ends.
pub struct Cleanup<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for Cleanup<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A process that has a file open as its standard input.
pub struct Holder(Child);

impl Holder {
    pub fn of(path: &Path) -> Holder {
        let input = File::open(path).expect("it opens");
        let child = Command::new("sleep").arg("120").stdin(input).spawn();
        Holder(child.expect("sleep starts"))
    }

    pub fn running(mut command: Command) -> Holder {
        let child = command.stdin(Stdio::null()).spawn();
        Holder(child.expect("it starts"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `work` as an ordinary user: in a thread of its own whose effective user
/// is `nobody`, when the tests run as root.
pub fn as_ordinary_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const NOBODY: u32 = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if is_root() {
                let (user, group) = (
                    rustix::process::Uid::from_raw(NOBODY),
                    rustix::process::Gid::from_raw(NOBODY),
                );
                rustix::thread::set_thread_groups(&[]).expect("no more groups");
                rustix::thread::set_thread_res_gid(group, group, group).expect("a group");
                rustix::thread::set_thread_res_uid(user, user, user).expect("a user");
            }
            work()
        });
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// One aligned block, full of `byte`.
pub fn write_block(file: &File, offset: u64, byte: u8) -> std::io::Result<usize> {
    let mut memory = vec![byte; 2 * 4096];
    let start = memory.as_ptr().align_offset(4096);
    file.write_at(&memory[start..start + 4096], offset)
        .inspect(|_| memory.clear())
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

pub fn destroying(name: &str) -> Intent {
    Intent {
        destroy: Some(name.to_owned()),
        ..writing()
    }
}
