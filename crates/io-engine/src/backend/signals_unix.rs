//! Unix signals, evaluated in their handler: that needs no thread, no descriptor and no polling
//! loop, all of which a program in trouble may lack.

use super::stop_requests::StopRequests;
use super::sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Catches these signals from now on. The first stores its number in `first`, which is 0 until
/// then; one more than a second later, and any while `at_once` is set, ends the process with 128
/// plus its number.
///
/// # Errors
/// A signal that cannot be caught.
pub fn listen(
    signals: &[i32],
    first: &Arc<AtomicUsize>,
    at_once: &Arc<AtomicBool>,
) -> std::io::Result<()> {
    let requests = Arc::new(StopRequests::default());
    // Any one-time initialisation of the clock is done here and not in a handler.
    sys::monotonic_ns();
    for &signal in signals {
        let number = usize::try_from(signal).unwrap_or(0);
        let (first, at_once) = (Arc::clone(first), Arc::clone(at_once));
        let requests = Arc::clone(&requests);
        let handler = move || {
            // The time before the number: another signal may arrive between the two.
            let is_another_wish = requests.is_repeated(sys::monotonic_ns());
            if is_another_wish || at_once.load(Ordering::SeqCst) {
                signal_hook::low_level::exit(128 + signal);
            }
            let _ = first.compare_exchange(0, number, Ordering::SeqCst, Ordering::Relaxed);
        };
        // SAFETY: the handler only uses atomics, `clock_gettime` and `_exit`, all of which
        // POSIX allows there; it cannot panic, allocates nothing and takes no lock.
        unsafe { signal_hook::low_level::register(signal, handler) }?;
    }
    Ok(())
}
