//! Fills a test file: every byte is written, incompressible by default, with several writes in
//! flight where the platform benefits.
//!
//! Chunks are handed out in order and every one handed out is completed, so stopping early leaves a
//! file without holes once it is truncated to the last chunk. The platform module opens, reserves
//! and truncates.

use crate::space::{FILE_UNIT_BYTES, Space};
use crate::{Error, ErrorKind, FillPlan, FillProgress, Intent, Progress, Result};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use stripewise_workload::{DataPattern, DataSource};

const CHUNK_BYTES: u64 = FILE_UNIT_BYTES;
/// Alignment that every device accepts.
const ALIGNMENT: usize = 4096;
/// Buffered writers sync after this many chunks, so that the end does not have to wait for
/// gigabytes of dirty pages.
const CHUNKS_PER_SYNC: u64 = 16;
/// Chunks that are written however short the time limit is.
const CHUNKS_MIN: u64 = 8;
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The platform's positioned write.
pub(crate) type WriteAt = fn(&File, &[u8], u64) -> io::Result<usize>;

/// State that the writers share.
struct Shared<'a> {
    file: &'a File,
    direct: bool,
    chunks: u64,
    next: AtomicU64,
    done: AtomicU64,
    stop: AtomicBool,
    pattern: DataPattern,
    seed: u64,
    write_at: WriteAt,
}

/// Why the filling stopped early.
pub(crate) enum Stop {
    TimeLimit,
    Interrupted,
    Space(Space),
    Write {
        offset_bytes: u64,
        os: io::Error,
    },
    /// Not a single writer could be started.
    NoThread(io::Error),
}

/// Parameters of one fill.
pub(crate) struct Filling<'a> {
    pub plan: &'a FillPlan,
    pub intent: &'a Intent,
    pub name: &'a str,
    /// Writes in flight.
    pub writers: u32,
    /// The space is already reserved, so free space does not shrink as it is written.
    pub reserved: bool,
    /// Current space on the file system.
    pub space: &'a dyn Fn() -> Option<Space>,
    pub write_at: WriteAt,
    /// Turns an error of the operating system into a message.
    pub failed: fn(&str, &str, io::Error) -> Error,
}

impl Filling<'_> {
    /// Writes all chunks; returns the bytes written from the start without a gap, and why it
    /// stopped early.
    pub fn write(
        &self,
        file: &File,
        direct: bool,
        started_ns: u64,
        progress: &mut dyn Progress,
    ) -> (u64, Option<Stop>) {
        let shared = Shared {
            file,
            direct,
            chunks: self.plan.bytes / CHUNK_BYTES,
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            pattern: self.intent.data,
            seed: self.intent.seed,
            write_at: self.write_at,
        };
        let mut stop = None;
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            for index in 0..self.writers {
                let (shared, send) = (&shared, send.clone());
                let started = std::thread::Builder::new()
                    .name(format!("fill {index}"))
                    .spawn_scoped(scope, move || {
                        let result = shared.work(index);
                        if result.is_err() {
                            shared.stop.store(true, Ordering::Relaxed);
                        }
                        let _ = send.send(result);
                    });
                // One suffices: fewer writers only take longer.
                if let Err(os) = started {
                    stop = (index == 0).then_some(Stop::NoThread(os));
                    break;
                }
            }
            drop(send);
            loop {
                if stop.is_none() {
                    stop = self.watch(&shared, started_ns, progress);
                    shared.stop.fetch_or(stop.is_some(), Ordering::Relaxed);
                }
                match receive.recv_timeout(REPORT_EVERY) {
                    // Report the first failure; the others mostly follow from it.
                    Ok(Err(failure)) if !matches!(stop, Some(Stop::Write { .. })) => {
                        stop = Some(failure);
                    }
                    Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        let written = shared.next.into_inner().min(shared.chunks) * CHUNK_BYTES;
        // A time limit reached after the last chunk did not shorten the file.
        let all = written == shared.chunks * CHUNK_BYTES;
        (
            written,
            stop.filter(|stop| !(all && matches!(stop, Stop::TimeLimit))),
        )
    }

    /// Ten times a second: reports progress and checks whether to continue.
    fn watch(
        &self,
        shared: &Shared<'_>,
        started_ns: u64,
        progress: &mut dyn Progress,
    ) -> Option<Stop> {
        let done = shared.done.load(Ordering::Relaxed);
        let step = FillProgress {
            done_bytes: done * CHUNK_BYTES,
            total_bytes: self.plan.bytes,
        };
        if progress.report(step).is_break() {
            return Some(Stop::Interrupted);
        }
        if let Some(limit_ns) = self.plan.time_limit_ns
            && done >= CHUNKS_MIN
            && progress.now_ns().saturating_sub(started_ns) >= limit_ns
        {
            return Some(Stop::TimeLimit);
        }
        let space = (self.space)()?;
        let left = shared.chunks.saturating_sub(done) * CHUNK_BYTES;
        let still_needed = if self.reserved { 0 } else { left };
        // Another process is filling the file system at the same time. Space that file systems take
        // for themselves (btrfs: chunks) is no reason to stop, up to 1/16 of the floor.
        let least = space.floor_bytes() / 16 * 15;
        (space.available_bytes.saturating_sub(still_needed) < least).then_some(Stop::Space(space))
    }

    /// Whether the time limit stopped it, or why it failed.
    pub fn judge(&self, stop: Option<Stop>) -> Result<bool> {
        match stop {
            None => Ok(false),
            Some(Stop::TimeLimit) => Ok(true),
            Some(Stop::Interrupted) => Err(self.interrupted()),
            Some(Stop::Write { offset_bytes, os }) => Err(self.cannot_fill(offset_bytes, os)),
            Some(Stop::NoThread(os)) => Err(no_thread(self.name, os)),
            Some(Stop::Space(space)) => {
                let what = format!(
                    "another program is filling the file system: {} are left while the test file is \
                     being written, and at least {} must stay free; the test file is removed",
                    stripewise_units::format_bytes(space.available_bytes),
                    stripewise_units::format_bytes(space.floor_bytes())
                );
                Err(Error::new(ErrorKind::NoSpace, self.name, what)
                    .with_hint("Ask for a smaller file (`<--size>`), or try again later."))
            }
        }
    }

    pub fn interrupted(&self) -> Error {
        Error::new(
            ErrorKind::Interrupted,
            self.name,
            "stopped while the test file was being filled; it is removed",
        )
    }

    pub fn cannot_fill(&self, offset_bytes: u64, os: io::Error) -> Error {
        let at = stripewise_units::format_bytes(offset_bytes);
        let what = format!("cannot fill the test file (at {at}); it is removed");
        (self.failed)(self.name, &what, os)
    }
}

/// The system cannot start a thread to fill the test file.
fn no_thread(name: &str, os: io::Error) -> Error {
    let what = "cannot start a thread to fill the test file; it is removed";
    Error::new(ErrorKind::Unusable, name, what)
        .with_hint(stripewise_units::advice(
            "Raise the limit of threads: `ulimit -u`, or `pids.max` of the control group or container.",
            "End programs that have many threads or take memory.",
        ))
        .with_os(os)
}

impl Shared<'_> {
    /// One writer: takes chunks until none are left or a stop is requested.
    fn work(&self, index: u32) -> std::result::Result<(), Stop> {
        let mut source = DataSource::new(self.pattern, self.seed, DataSource::FILL_THREAD + index);
        let mut memory = vec![0u8; CHUNK_BYTES as usize + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let buffer = &mut memory[start..start + CHUNK_BYTES as usize];
        let mut since_sync = 0;
        while !self.stop.load(Ordering::Relaxed) {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                break;
            }
            let offset_bytes = chunk * CHUNK_BYTES;
            let fail = |os| Stop::Write { offset_bytes, os };
            source.fill(offset_bytes, buffer);
            write_all(self.write_at, self.file, buffer, offset_bytes).map_err(fail)?;
            since_sync += 1;
            if !self.direct && since_sync == CHUNKS_PER_SYNC {
                self.file.sync_data().map_err(fail)?;
                since_sync = 0;
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Writes a whole buffer. After a short write it continues at an aligned offset, so that the real
/// error surfaces (a full disk) rather than a misalignment.
pub(crate) fn write_all(
    write_at: WriteAt,
    file: &File,
    buffer: &[u8],
    offset_bytes: u64,
) -> io::Result<()> {
    let mut done = 0usize;
    let mut stalled = 0;
    while done < buffer.len() {
        match write_at(file, &buffer[done..], offset_bytes + done as u64) {
            Ok(got) => {
                let aligned = (done + got) / ALIGNMENT * ALIGNMENT;
                let after = if done + got == buffer.len() {
                    done + got
                } else {
                    aligned
                };
                stalled = if after > done { 0 } else { stalled + 1 };
                done = after;
                if stalled > 8 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    /// The clock has been read.
    static CLOCK_READ: AtomicBool = AtomicBool::new(false);

    /// A clock that is past every limit.
    struct ExpiredClock;

    impl Progress for ExpiredClock {
        fn now_ns(&mut self) -> u64 {
            CLOCK_READ.store(true, Ordering::Relaxed);
            u64::MAX
        }
        fn report(&mut self, _: FillProgress) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    /// A disk that takes twice the minimum amount, and more once the clock has been read.
    fn write_at(_: &File, buffer: &[u8], offset_bytes: u64) -> io::Result<usize> {
        while offset_bytes >= 2 * CHUNKS_MIN * CHUNK_BYTES && !CLOCK_READ.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(buffer.len())
    }

    #[test]
    fn a_time_limit_ends_the_filling_unless_everything_is_written() {
        const WRITERS: u64 = 4;
        for (chunks, most) in [(64, 2 * CHUNKS_MIN + WRITERS), (CHUNKS_MIN, CHUNKS_MIN)] {
            let plan = FillPlan {
                bytes: chunks * CHUNK_BYTES,
                asked_bytes: None,
                free_before_bytes: 0,
                free_after_bytes: 0,
                free_floor_bytes: 0,
                kept_as: None,
                time_limit_ns: Some(1),
            };
            let filling = Filling {
                plan: &plan,
                intent: &Intent::default(),
                name: "file",
                writers: WRITERS as u32,
                reserved: true,
                space: &|| None,
                write_at,
                failed: |_, what, _| panic!("{what}"),
            };
            CLOCK_READ.store(false, Ordering::Relaxed);
            let file = tempfile::tempfile().expect("a file");
            let (written, stop) = filling.write(&file, true, 0, &mut ExpiredClock);
            let limited = matches!(stop, Some(Stop::TimeLimit));
            assert_eq!(limited, chunks > most, "{chunks} chunks");
            let written = written / CHUNK_BYTES;
            assert!((CHUNKS_MIN..=most).contains(&written), "{written}");
        }
    }
}
