//! Guards for loop devices, mounts and processes, and skips.

#[path = "../../../../tests/support/machine.rs"]
mod machine;

use crate::support::writing;
pub use machine::{
    Holder, Loop, Mount, is_root, run, skip, skip_kernel, text, try_run, unmount, wait_until,
};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use stripewise_targets::{Intent, IoFeatures};

/// Whether a test can run that needs root and these tools; says so if not.
pub fn can_run(test: &str, tools: &[&str]) -> bool {
    machine::can_run(test, &["root"]) && machine::can_run(test, tools)
}

/// Runs something when the test ends, however it ends.
pub struct Cleanup<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for Cleanup<F> {
    fn drop(&mut self) {
        (self.0)();
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

/// The same with discards, which destroy as writes do.
pub fn discarding(intent: Intent) -> Intent {
    Intent {
        features: IoFeatures {
            discards: true,
            ..intent.features
        },
        ..intent
    }
}

pub fn destroying(name: &str) -> Intent {
    Intent {
        destroy: Some(name.to_owned()),
        ..writing()
    }
}

/// A node of a device that everybody may read and write.
pub fn open_node(device: &Loop, top: &Path) -> PathBuf {
    let number = std::fs::metadata(&device.device).expect("there").rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let node = top.join("node");
    run(
        "mknod",
        &[text(&node), "b", &major.to_string(), &minor.to_string()],
    );
    run("chmod", &["666", text(&node)]);
    run("chmod", &["755", text(top)]);
    node
}
