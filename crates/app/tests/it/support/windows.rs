//! Waiting for what happens instead of for time that passes.

use super::{Desk, Running};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What came of the first window that has enough in it: of a tenth of a second, a second, and
/// so on. How much a machine gets done in one is its own business; that there is something to
/// judge is the test's.
#[track_caller]
pub fn long_enough<T>(measure: impl FnMut(&str) -> T, has_enough: impl Fn(&T) -> bool) -> T {
    long_enough_from(100, measure, has_enough)
}

/// The same, from a window of so many milliseconds on.
#[track_caller]
pub fn long_enough_from<T>(
    first_ms: u64,
    mut measure: impl FnMut(&str) -> T,
    has_enough: impl Fn(&T) -> bool,
) -> T {
    (0..5)
        .map(|step| first_ms * 10_u64.pow(step))
        .map(|window_ms| measure(&format!("{window_ms}ms")))
        .find(has_enough)
        .expect("a window that has enough in it")
}

/// Waits until the store has intervals of a run, one of them at least with operations.
pub fn until_measured(desk: &Desk, running: &mut Running, intervals: i64) {
    running.until_true("stored intervals", || measured(desk) >= intervals);
}

/// Intervals in the store; none while no operation was counted.
pub fn measured(desk: &Desk) -> i64 {
    let read_only = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let question = "SELECT count(*) FROM intervals \
         WHERE EXISTS (SELECT 1 FROM intervals WHERE read_operations + write_operations > 0)";
    rusqlite::Connection::open_with_flags(desk.store(), read_only)
        .and_then(|store| store.query_row(question, [], |row| row.get(0)))
        .unwrap_or(0)
}

/// A file with this in it that a process wrote which is gone, so that nobody has it open.
pub fn written_by_another(path: impl AsRef<Path>, data: &[u8]) {
    let mut child = Command::new("dd")
        .args(["bs=1M", "conv=fsync", "status=none"])
        .arg(format!("of={}", super::text(path.as_ref())))
        .stdin(Stdio::piped())
        .spawn()
        .expect("dd");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(data).expect("dd reads");
    drop(stdin);
    assert!(child.wait().expect("dd ends").success());
}

/// What is in a file or device, read by a process that is gone, for the same reason.
pub fn read_by_another(path: impl AsRef<Path>) -> Vec<u8> {
    let output = Command::new("cat")
        .arg(path.as_ref())
        .output()
        .expect("cat");
    assert!(output.status.success(), "{}", path.as_ref().display());
    output.stdout
}
