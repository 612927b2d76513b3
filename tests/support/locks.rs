//! Locks on files, for the tests of several crates.

use std::path::Path;

/// The locks that this process has on a file, by its open descriptors: the kernel's
/// list of all locks skips lines while other processes lock and unlock.
pub fn locks_on(path: &Path) -> usize {
    let is_it = |fd: &std::fs::DirEntry| std::fs::read_link(fd.path()).is_ok_and(|to| to == path);
    let locks_of = |fd: std::fs::DirEntry| {
        let info = Path::new("/proc/self/fdinfo").join(fd.file_name());
        let lines = std::fs::read_to_string(info).unwrap();
        lines
            .lines()
            .filter(|line| line.starts_with("lock:"))
            .count()
    };
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    open.filter(is_it).map(locks_of).sum()
}
