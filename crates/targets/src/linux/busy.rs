//! Whether a device is busy with other work.
//!
//! We watch its counters for windows of a tenth of a second. It counts as calm
//! as soon as one window shows under 10 % of time with operations in flight and
//! under 10 operations; as busy when five seconds pass without one. So an idle
//! device costs a tenth of a second, a burst (a log flush, the write-back of a
//! build) is waited for, and a serving database is found.

use std::ops::ControlFlow;
use std::time::Duration;
use stripewise_units::DeviceNumber;

const WINDOW: Duration = Duration::from_millis(100);
const WINDOWS_MAX: u32 = 50;
const BUSY_MS_MAX: u64 = 10;
const OPERATIONS_MAX: u64 = 10;

/// Counters of `/sys/dev/block/N:M/stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    operations: u64,
    in_flight: u64,
    busy_ms: u64,
}

/// How busy a window was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy {
    pub operations_per_second: u64,
    pub busy_percent: u64,
}

/// What watching came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// A window was calm, or nobody counts.
    Calm,
    /// None was; the last one.
    Busy(Busy),
    /// Somebody asked for a stop meanwhile.
    Stopped,
}

fn parse(text: &str) -> Option<Counters> {
    let numbers: Vec<u64> = text
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    // Reads at 0, writes at 4, in flight at 8, milliseconds busy at 9
    // (kernel: Documentation/block/stat.rst).
    (numbers.len() >= 10).then(|| Counters {
        operations: numbers[0].wrapping_add(numbers[4]),
        in_flight: numbers[8],
        busy_ms: numbers[9],
    })
}

/// One window between two readings.
fn judge(before: Counters, after: Counters) -> Option<Busy> {
    let operations = after.operations.wrapping_sub(before.operations);
    let busy_ms = after.busy_ms.wrapping_sub(before.busy_ms);
    // A device that hangs completes nothing but has something in flight.
    let stuck = before.in_flight > 0 && after.in_flight > 0;
    let calm = busy_ms < BUSY_MS_MAX && operations < OPERATIONS_MAX && !stuck;
    (!calm).then_some(Busy {
        operations_per_second: operations.saturating_mul(10),
        busy_percent: busy_ms.min(100),
    })
}

/// Watches a device; `is_stopped` is asked after every window.
pub(super) fn watch(number: DeviceNumber, is_stopped: &dyn Fn() -> bool) -> Watched {
    let path = format!("/sys/dev/block/{number}/stat");
    let read = || parse(&std::fs::read_to_string(&path).ok()?);
    let wait = || {
        std::thread::sleep(WINDOW);
        match is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    watch_counters(read, wait)
}

/// The rule itself, over readings that are one window apart.
fn watch_counters(
    mut read: impl FnMut() -> Option<Counters>,
    mut wait: impl FnMut() -> ControlFlow<()>,
) -> Watched {
    let Some(mut before) = read() else {
        return Watched::Calm;
    };
    let mut last = Watched::Calm;
    for _ in 0..WINDOWS_MAX {
        if wait().is_break() {
            return Watched::Stopped;
        }
        let Some(after) = read() else {
            return Watched::Calm;
        };
        match judge(before, after) {
            Some(busy) => last = Watched::Busy(busy),
            None => return Watched::Calm,
        }
        before = after;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(operations: u64, in_flight: u64, busy_ms: u64) -> Counters {
        Counters {
            operations,
            in_flight,
            busy_ms,
        }
    }

    #[test]
    fn the_counters_are_read_at_their_places() {
        let text = " 100 1 2 3 50 5 6 7 4 900 10 11 12 13 14 15 16\n";
        assert_eq!(parse(text), Some(counters(150, 4, 900)));
        assert_eq!(parse("1 2 3"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_window_is_calm_only_with_little_of_everything() {
        let before = counters(1000, 0, 5000);
        let cases = [
            (counters(1000, 0, 5000), true),
            (counters(1009, 1, 5009), true),
            (counters(1010, 0, 5000), false),
            (counters(1000, 0, 5010), false),
        ];
        for (after, calm) in cases {
            assert_eq!(judge(before, after).is_none(), calm, "{after:?}");
        }
        let stuck = judge(counters(5, 1, 5), counters(5, 1, 5));
        assert!(stuck.is_some(), "one operation that never completes");
    }

    /// Watches a device whose window number `n` has `load(n)` operations.
    fn watched(load: impl Fn(u32) -> u64) -> (Watched, u32) {
        let (mut windows, mut now) = (0, counters(0, 0, 0));
        let read = || {
            now.operations += load(windows);
            now.busy_ms += load(windows);
            windows += 1;
            Some(now)
        };
        let found = watch_counters(read, || ControlFlow::Continue(()));
        (found, windows - 1)
    }

    #[test]
    fn an_idle_device_is_let_go_after_one_window_and_a_busy_one_after_five_seconds() {
        assert_eq!(watched(|_| 0), (Watched::Calm, 1));
        assert_eq!(
            watched(|window| if window < 20 { 80 } else { 1 }),
            (Watched::Calm, 20)
        );
        let busy = Busy {
            operations_per_second: 500,
            busy_percent: 50,
        };
        assert_eq!(watched(|_| 50), (Watched::Busy(busy), WINDOWS_MAX));
    }

    #[test]
    fn who_asks_for_a_stop_waits_for_one_window_at_most() {
        let (mut readings, mut waits) = (0, 0);
        let read = || {
            readings += 1;
            Some(counters(readings * 80, 4, 0))
        };
        let stopped_in_the_third = || {
            waits += 1;
            match waits {
                3 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        assert_eq!(watch_counters(read, stopped_in_the_third), Watched::Stopped);
        assert_eq!((readings, waits), (3, 3));
    }

    #[test]
    fn a_device_without_counters_is_not_called_busy() {
        let wait = || ControlFlow::Continue(());
        assert_eq!(watch_counters(|| None, wait), Watched::Calm);
    }
}
