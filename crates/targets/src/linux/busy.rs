//! Whether a device is busy with other work.
//!
//! Watches its counters in windows of a tenth of a second. The device counts as calm as soon as one
//! window shows operations in flight for under 10 % of the time and under 10 operations, or if it
//! had operations in flight for less than a quarter of five seconds without such a window. So an
//! idle device costs a tenth of a second, a burst (a log flush, the write-back of a build) is
//! waited out, a lightly loaded server is no reason to refuse (the result reports its work), and a
//! busy database is detected.

use std::ops::ControlFlow;
use std::time::Duration;
use stripewise_device_guard::traffic::Traffic;
use stripewise_units::DeviceNumber;

const WINDOW: Duration = Duration::from_millis(100);
const WINDOW_MS: u64 = 100;
const WINDOWS_MAX: u32 = 50;
/// Windows before looking up the users: most devices turn out calm sooner.
const WINDOWS_UNNAMED: u32 = 10;
const BUSY_MS_MAX: u64 = 10;
const OPERATIONS_MAX: u64 = 10;
/// Busy share of all windows above which a device is busy if none was calm.
const BUSY_PERCENT_MIN: u64 = 25;

/// Counters of `/sys/dev/block/N:M/stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    operations: u64,
    in_flight: u64,
    busy_ms: u64,
}

/// How busy it was over all windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Busy {
    pub operations_per_second: u64,
    pub busy_percent: u64,
    /// Processes seen to use it: `fio (pid 4711, 180 MiB)`.
    pub by: Vec<String>,
}

/// Result of watching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WatchOutcome {
    /// A window was calm, there was little work in all of them, or there are no counters.
    Calm,
    /// No window was calm.
    Busy(Busy),
    /// A stop was requested meanwhile.
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

/// What happened in one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    operations: u64,
    busy_ms: u64,
}

impl Window {
    fn between(before: Counters, after: Counters) -> Window {
        // A device that hangs completes nothing but has something in flight.
        let stuck = before.in_flight > 0 && after.in_flight > 0;
        Window {
            operations: after.operations.wrapping_sub(before.operations),
            busy_ms: match stuck {
                true => WINDOW_MS,
                false => after.busy_ms.wrapping_sub(before.busy_ms).min(WINDOW_MS),
            },
        }
    }

    fn is_calm(self) -> bool {
        self.busy_ms < BUSY_MS_MAX && self.operations < OPERATIONS_MAX
    }
}

/// Watches a device; calls `is_stopped` after every window. Processes named have one of `devices`
/// open, or a file on it.
pub(super) fn watch(
    number: DeviceNumber,
    devices: &[DeviceNumber],
    is_stopped: &dyn Fn() -> bool,
) -> WatchOutcome {
    let path = format!("/sys/dev/block/{number}/stat");
    let read = || parse(&std::fs::read_to_string(&path).ok()?);
    let (mut windows, mut before) = (0, None);
    let wait = || {
        std::thread::sleep(WINDOW);
        windows += 1;
        if windows == WINDOWS_UNNAMED {
            before = Some(Traffic::now());
        }
        match is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    match watch_counters(read, wait) {
        WatchOutcome::Busy(found) => WatchOutcome::Busy(Busy {
            by: before.map_or_else(Vec::new, |before| Traffic::now().since(&before, devices)),
            ..found
        }),
        other => other,
    }
}

/// The rule itself, over readings that are one window apart.
fn watch_counters(
    mut read: impl FnMut() -> Option<Counters>,
    mut wait: impl FnMut() -> ControlFlow<()>,
) -> WatchOutcome {
    let Some(mut before) = read() else {
        return WatchOutcome::Calm;
    };
    let (mut operations, mut busy_ms) = (0_u64, 0);
    for _ in 0..WINDOWS_MAX {
        if wait().is_break() {
            return WatchOutcome::Stopped;
        }
        let Some(after) = read() else {
            return WatchOutcome::Calm;
        };
        let window = Window::between(before, after);
        if window.is_calm() {
            return WatchOutcome::Calm;
        }
        operations = operations.saturating_add(window.operations);
        busy_ms += window.busy_ms;
        before = after;
    }
    let all_ms = u64::from(WINDOWS_MAX) * WINDOW_MS;
    let busy_percent = busy_ms * 100 / all_ms;
    match busy_percent < BUSY_PERCENT_MIN {
        true => WatchOutcome::Calm,
        false => WatchOutcome::Busy(Busy {
            operations_per_second: operations.saturating_mul(1_000) / all_ms,
            busy_percent,
            by: Vec::new(),
        }),
    }
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
            let window = Window::between(before, after);
            assert_eq!(window.is_calm(), calm, "{after:?}");
        }
        let stuck = Window::between(counters(5, 1, 5), counters(5, 1, 5));
        assert!(!stuck.is_calm(), "one operation that never completes");
    }

    /// Watches a device whose window number `n` has `load(n)` operations of a millisecond.
    fn watched(load: impl Fn(u32) -> u64) -> (WatchOutcome, u32) {
        watched_at(|window| (load(window), load(window)))
    }

    /// Watches a device with the given operations and milliseconds in its windows.
    fn watched_at(load: impl Fn(u32) -> (u64, u64)) -> (WatchOutcome, u32) {
        let (mut windows, mut now) = (0, counters(0, 0, 0));
        let read = || {
            let (operations, busy_ms) = load(windows);
            now.operations += operations;
            now.busy_ms += busy_ms;
            windows += 1;
            Some(now)
        };
        let found = watch_counters(read, || ControlFlow::Continue(()));
        (found, windows - 1)
    }

    #[test]
    fn an_idle_device_is_let_go_after_one_window_and_a_busy_one_after_five_seconds() {
        assert_eq!(watched(|_| 0), (WatchOutcome::Calm, 1));
        assert_eq!(
            watched(|window| if window < 20 { 80 } else { 1 }),
            (WatchOutcome::Calm, 20)
        );
        let busy = Busy {
            operations_per_second: 500,
            busy_percent: 50,
            by: Vec::new(),
        };
        assert_eq!(watched(|_| 50), (WatchOutcome::Busy(busy), WINDOWS_MAX));
    }

    #[test]
    fn a_server_with_little_to_do_is_no_reason_to_refuse() {
        for (load, is_calm) in [
            // Many short operations.
            ((447, 12), true),
            ((447, 24), true),
            ((447, 25), false),
            // Few long ones.
            ((1, 60), false),
        ] {
            let (found, windows) = watched_at(|_| load);
            assert_eq!(found == WatchOutcome::Calm, is_calm, "{load:?}: {found:?}");
            assert_eq!(windows, WINDOWS_MAX);
        }
        // One calm window suffices, whatever came before.
        let rests = watched_at(|window| if window == 30 { (0, 0) } else { (900, 100) });
        assert_eq!(rests, (WatchOutcome::Calm, 30));
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
        assert_eq!(
            watch_counters(read, stopped_in_the_third),
            WatchOutcome::Stopped
        );
        assert_eq!((readings, waits), (3, 3));
    }

    #[test]
    fn a_device_without_counters_is_not_called_busy() {
        let wait = || ControlFlow::Continue(());
        assert_eq!(watch_counters(|| None, wait), WatchOutcome::Calm);
    }
}
