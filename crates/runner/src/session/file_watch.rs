//! A thread that watches whether another process changes the files of a run.
//!
//! No other thread may check: on a hung network file system a check can block forever. And no other
//! thread would check often enough: writes past the new end of a truncated file extend it again
//! until the run stops.

use super::Job;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Thread;
use std::time::Duration;
use stripewise_targets::{Changed, FileWatch};

/// How often written files are checked: one system call each.
pub(super) const LOOK_NS: u64 = 5_000_000;
/// How long to wait for the last check.
const LAST_LOOK: Duration = Duration::from_secs(1);
const STACK_BYTES: usize = 256 << 10;

/// The thread, if there is anything to watch; once dropped, it ends at its next check.
pub(super) struct FileMonitor {
    shared: Arc<Shared>,
    /// To wake it, and its final result for each job.
    thread: Option<(Thread, Receiver<Vec<Option<Changed>>>)>,
    jobs: usize,
}

#[derive(Default)]
struct Shared {
    ended: AtomicBool,
    is_lost: AtomicBool,
}

/// The files of a job.
struct WatchedFiles {
    files: Vec<FileWatch>,
    writes: bool,
}

impl FileMonitor {
    /// Starts the thread if existing files are measured.
    ///
    /// # Errors
    /// The system's error if no thread can be created.
    pub(super) fn start(jobs: &[Job<'_>]) -> std::io::Result<FileMonitor> {
        let watched: Vec<WatchedFiles> = jobs
            .iter()
            .map(|job| WatchedFiles {
                files: (job.places.iter())
                    .filter_map(|(place, _)| place.watch())
                    .collect(),
                writes: job.workload.read_percent < 100,
            })
            .collect();
        let shared = Arc::new(Shared::default());
        let mut lookout = FileMonitor {
            shared: Arc::clone(&shared),
            thread: None,
            jobs: jobs.len(),
        };
        if watched.iter().all(|job| job.files.is_empty()) {
            return Ok(lookout);
        }
        let (send, receive) = channel();
        let handle = std::thread::Builder::new()
            .name("lookout".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                look_around(&watched, &shared);
                let changed = |job: &WatchedFiles| job.files.iter().find_map(FileWatch::changed);
                let changed = watched.iter().map(changed).collect();
                // Closed before the next run checks who has them open.
                drop(watched);
                // The receiver may be gone.
                let _ = send.send(changed);
            })?;
        lookout.thread = Some((handle.thread().clone(), receive));
        Ok(lookout)
    }

    /// Whether a file being written was truncated; continuing would extend it again.
    pub(super) fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Relaxed)
    }

    /// Whether files are watched during the run.
    pub(super) fn is_there(&self) -> bool {
        self.thread.is_some()
    }

    /// Ends it. Returns the change to a file of each job; if the thread hangs, what it had seen
    /// before.
    pub(super) fn finish(mut self) -> Vec<Option<Changed>> {
        let cut = self.is_lost().then(|| Changed {
            what: "was cut".to_owned(),
            cut: true,
        });
        let known = vec![cut; self.jobs];
        self.shared.ended.store(true, Ordering::Relaxed);
        match self.thread.take() {
            None => known,
            Some((thread, seen)) => {
                thread.unpark();
                seen.recv_timeout(LAST_LOOK).unwrap_or(known)
            }
        }
    }
}

impl Drop for FileMonitor {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some((thread, _)) = &self.thread {
            thread.unpark();
        }
    }
}

/// Checks until the run is over.
fn look_around(watched: &[WatchedFiles], shared: &Shared) {
    let is_lost = |job: &WatchedFiles| job.writes && job.files.iter().any(FileWatch::is_cut);
    let writes = watched.iter().any(|job| job.writes);
    while !shared.ended.load(Ordering::Relaxed) {
        if watched.iter().any(is_lost) {
            shared.is_lost.store(true, Ordering::Relaxed);
        }
        match writes {
            true => std::thread::park_timeout(Duration::from_nanos(LOOK_NS)),
            // Files that are only read come to no harm: the last check suffices.
            false => std::thread::park(),
        }
    }
}
