//! Signals of Unix, judged in their handler: it needs no thread, no descriptor and no loop
//! that asks, all of which a program in trouble may lack.

use super::sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Signals this soon after the first are the same wish: `timeout` sends one to its child and
/// one to the group, and a closed terminal is heard of from the shell and the kernel.
const SAME_WISH_NS: u64 = 1_000_000_000;

/// Hears these signals from now on. The first leaves its number in `first`, which is 0 until
/// then; one that comes more than a second later, and any while `at_once` is set, ends the
/// process with 128 and its number.
///
/// # Errors
/// A signal that cannot be caught.
pub fn listen(
    signals: &[i32],
    first: &Arc<AtomicUsize>,
    at_once: &Arc<AtomicBool>,
) -> std::io::Result<()> {
    let since_ns = Arc::new(AtomicU64::new(0));
    // What the clock needs once is done here and not in a handler.
    sys::monotonic_ns();
    for &signal in signals {
        let number = usize::try_from(signal).unwrap_or(0);
        let (first, at_once) = (Arc::clone(first), Arc::clone(at_once));
        let since_ns = Arc::clone(&since_ns);
        let heard = move || {
            let now_ns = sys::monotonic_ns().max(1);
            // The time before the number: another signal may come between the two.
            let since_ns = since_ns
                .compare_exchange(0, now_ns, Ordering::Relaxed, Ordering::Relaxed)
                .map_or_else(|earlier_ns| earlier_ns, |_| now_ns);
            let is_another_wish = now_ns.saturating_sub(since_ns) >= SAME_WISH_NS;
            if is_another_wish || at_once.load(Ordering::SeqCst) {
                signal_hook::low_level::exit(128 + signal);
            }
            let _ = first.compare_exchange(0, number, Ordering::SeqCst, Ordering::Relaxed);
        };
        // SAFETY: the handler only uses atomics, `clock_gettime` and `_exit`, all of which
        // POSIX allows there; it cannot panic, allocates nothing and takes no lock.
        unsafe { signal_hook::low_level::register(signal, heard) }?;
    }
    Ok(())
}
