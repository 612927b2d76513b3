//! What tests borrow from the machine: loop devices and mounts as in `borrowed`,
//! control groups, and an ordinary user's rights.

#[path = "../../../../../tests/support/machine.rs"]
mod borrowed;

pub use borrowed::*;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

impl Loop {
    /// Over a file that is written in full, without the page cache: what is read
    /// comes from the disk below.
    pub fn dense(bytes: u64, options: &[&str]) -> Loop {
        let directory = directory();
        let backing = directory.path().join("backing");
        super::users_file(text(&backing), bytes);
        Loop::over(backing, directory, options)
    }

    /// Major and minor number as control groups want them.
    pub fn number(&self) -> String {
        let path = format!("/sys/block/{}/dev", self.name());
        std::fs::read_to_string(path)
            .expect("a number")
            .trim()
            .to_owned()
    }
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
pub fn as_unprivileged(command: &Command, options: &[&str]) -> Command {
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    wrapped.args(options);
    append(&mut wrapped, command);
    wrapped
}

/// Adds a command to those of a program that becomes it.
pub fn append(wrapped: &mut Command, command: &Command) {
    wrapped.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    wrapped
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
}
