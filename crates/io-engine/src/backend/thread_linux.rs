//! The calling thread and the processors, on Linux.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;

use rustix::thread::{CpuSet, sched_setaffinity};

/// CPU time of the calling thread so far, (user, system) in nanoseconds. The sum is exact to the
/// microsecond; the kernel splits it by sampling at its timer ticks, so the parts are accurate to a
/// few milliseconds.
pub fn cpu_times_ns() -> Option<(u64, u64)> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a `rusage` that the kernel fills in.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    let ns = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        seconds * 1_000_000_000 + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
    };
    Some((ns(usage.ru_utime), ns(usage.ru_stime)))
}

/// How long the thread that opened this was runnable without a processor. The file stays open, so
/// that each query is one system call.
#[derive(Debug)]
pub struct Waits(File);

impl Waits {
    /// For the calling thread; `None` if the kernel does not count it.
    pub fn of_this_thread() -> Option<Waits> {
        File::open("/proc/thread-self/schedstat").ok().map(Waits)
    }

    /// So far, in nanoseconds.
    pub fn waited_ns(&self) -> Option<u64> {
        // Time on a processor, time waiting for one, timeslices:
        // Documentation/scheduler/sched-stats.rst.
        let mut text = [0; 96];
        let length = self.0.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

/// Pins the calling thread, and threads it starts later, to these processors.
///
/// # Errors
/// As [`pin`]; nothing is changed then.
pub fn pin_to(cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(cpu as usize);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Pins the calling thread to processor `cpu`.
///
/// # Errors
/// If there is no such processor or this process may not use it.
pub fn pin(cpu: u32) -> io::Result<()> {
    let cpu = cpu as usize;
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}
