//! Waiting for what must come. Tests of several crates include this file by its
//! path.

use std::time::{Duration, Instant};

/// Only ever reached where something is broken, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until something is the case.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
