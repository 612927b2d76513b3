//! A heartbeat thread that does no I/O, active during a run.

use crate::window::Window;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use stripewise_io_engine::Clock;
use stripewise_io_engine::backend::thread::Waits;

/// Sleep between two beats: a pause is detected as starting at most this much too early.
const SLEEP: Duration = Duration::from_millis(20);

/// It needs almost no stack.
const STACK_BYTES: usize = 64 << 10;

/// The heartbeat thread; ends on drop.
pub(super) struct Heartbeat {
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Watches for pauses from `start_ns`, a time of `clock`, and cuts out at most `starved_ns_max`
    /// of CPU starvation. `None` if no thread can be created: without it a device that blocks all
    /// other threads would look like a pause, so pauses are not watched for.
    pub(super) fn start(
        window: Arc<Window>,
        clock: Clock,
        start_ns: u64,
        starved_ns_max: u64,
    ) -> Option<Heartbeat> {
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
                    // The threads that keep times cut out the pause.
                    let waited_ns = waited_ns.saturating_sub(waited_before_ns);
                    watched.pauses.look_after_sleep(seen_ns, now_ns, waited_ns);
                }
                seen_ns = now_ns;
            }
        };
        // Before the thread: its first beat must not be taken for the start of watching.
        window.pauses.watch(start_ns, starved_ns_max);
        let heartbeat = std::thread::Builder::new()
            .name("pulse".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(body);
        match heartbeat {
            Ok(thread) => Some(Heartbeat {
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

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
