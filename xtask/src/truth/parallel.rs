//! Trials on all CPUs, with results in order.

use anyhow::{Result, anyhow};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// Runs `trial` for 0, 1... up to `count`; results are in that order. Stops at the first error.
pub fn trials<T: Send>(count: usize, trial: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::with_capacity(count));
    let threads = available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let outcome = trial(number);
                    let mut done = done.lock().unwrap_or_else(|poison| poison.into_inner());
                    done.push((number, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().map_err(|_| anyhow!("a trial panicked"))?;
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}
