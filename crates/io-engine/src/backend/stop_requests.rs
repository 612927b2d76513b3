//! Decides whether a signal, or a key, is a new stop request or part of the first.

use std::sync::atomic::{AtomicU64, Ordering};

/// Signals this soon after the first belong to the same request: `timeout` sends one to its child
/// and one to the group, a closed terminal is reported by the shell and the kernel, and Ctrl-C is
/// often pressed twice.
const SAME_REQUEST_NS: u64 = 1_000_000_000;

/// Time of the first request. Only atomics: it is used in signal handlers.
#[derive(Debug, Default)]
pub(super) struct StopRequests {
    /// 0: none yet.
    since_ns: AtomicU64,
}

impl StopRequests {
    /// Whether an event at this time is a new request.
    pub fn is_repeated(&self, now_ns: u64) -> bool {
        let now_ns = now_ns.max(1);
        let since_ns = self
            .since_ns
            .compare_exchange(0, now_ns, Ordering::Relaxed, Ordering::Relaxed)
            .map_or_else(|earlier_ns| earlier_ns, |_| now_ns);
        now_ns.saturating_sub(since_ns) >= SAME_REQUEST_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_within_a_second_is_the_same_wish() {
        for first_ns in [0, 7, 5_000_000_000] {
            let requests = StopRequests::default();
            let at = |after_ms: u64| requests.is_repeated(first_ns + after_ms * 1_000_000 + 1);
            let handler = [0, 0, 400, 999, 1_000, 1_500, 60_000].map(at);
            assert_eq!(handler, [false, false, false, false, true, true, true]);
            // A clock that went back a little makes no new request.
            assert!(!requests.is_repeated(first_ns));
        }
    }
}
