//! A thread that touches no disk and gives signs of life while a run goes on.

use crate::window::Window;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use stripewise_io_engine::Clock;
use stripewise_io_engine::backend::thread::Waits;

/// How long it sleeps between two signs: a pause is found to begin at most so much
/// too early.
const SLEEP: Duration = Duration::from_millis(20);

/// It needs next to nothing.
const STACK_BYTES: usize = 64 << 10;

/// The thread; dropped, it ends.
pub(super) struct Pulse {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pulse {
    /// Watches for pauses from `start_ns` on, a time of `clock`, and cuts out at most
    /// `starved_ns_max` for want of a processor. `None` where no thread can be made:
    /// without it a device that blocks all others would look like a pause, so nothing is
    /// watched for then.
    pub(super) fn start(
        window: Arc<Window>,
        clock: Clock,
        start_ns: u64,
        starved_ns_max: u64,
    ) -> Option<Pulse> {
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let watched = Arc::clone(&window);
        let body = move || {
            let mut seen_ns = start_ns;
            let waits = Waits::of_this_thread();
            let waited = || waits.as_ref().and_then(Waits::waited_ns).unwrap_or(0);
            let mut waited_ns = waited();
            while !end.load(Ordering::Relaxed) {
                std::thread::park_timeout(SLEEP);
                let now_ns = clock.now_ns();
                let waited_before_ns = std::mem::replace(&mut waited_ns, waited());
                if now_ns.saturating_sub(seen_ns) < crate::pauses::PAUSE_NS_MIN {
                    watched.pauses.beat(now_ns);
                } else {
                    // The pause is for those to cut out who keep times.
                    let waited_ns = waited_ns.saturating_sub(waited_before_ns);
                    watched.pauses.look_after_sleep(seen_ns, now_ns, waited_ns);
                }
                seen_ns = now_ns;
            }
        };
        // Before the thread: its first sign must not be taken for the watch's start.
        window.pauses.watch(start_ns, starved_ns_max);
        let pulse = std::thread::Builder::new()
            .name("pulse".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(body);
        match pulse {
            Ok(thread) => Some(Pulse {
                ended,
                thread: Some(thread),
            }),
            Err(_) => {
                window.pauses.watch(u64::MAX, u64::MAX);
                None
            }
        }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
