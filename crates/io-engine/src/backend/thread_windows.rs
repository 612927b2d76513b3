//! The calling thread and the processors, as Windows has them.
//!
//! Processors come in groups of at most 64. They are numbered through here, one
//! group after the other, as in the list of the Task Manager.

use std::io;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcess, GetCurrentThread,
    GetThreadTimes, SetProcessAffinityMask, SetThreadGroupAffinity,
};

/// Processor time of the calling thread so far, (user, system) in nanoseconds,
/// as the system samples it at its timer ticks: good to about 16 ms.
#[must_use]
pub fn cpu_times_ns() -> Option<(u64, u64)> {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, system, user] = &mut times;
    // SAFETY: four structures that the call fills in; the handle stands for
    // the calling thread and needs no closing.
    let done = unsafe {
        GetThreadTimes(
            GetCurrentThread(),
            &raw mut *created,
            &raw mut *ended,
            &raw mut *system,
            &raw mut *user,
        )
    };
    let ns = |time: FILETIME| {
        (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * 100
    };
    (done != 0).then(|| (ns(times[3]), ns(times[2])))
}

pub use super::no_waits::Waits;

/// Active processors of each group.
fn groups() -> Vec<u32> {
    // SAFETY: has no preconditions.
    let count = unsafe { GetActiveProcessorGroupCount() };
    (0..count)
        // SAFETY: a group that there is; 0 where there is none.
        .map(|group| unsafe { GetActiveProcessorCount(group) })
        .collect()
}

/// The group of a processor and its bit in it.
fn place(cpu: u32, groups: &[u32]) -> Option<(u16, usize)> {
    let mut first = 0;
    for (group, &count) in (0_u16..).zip(groups) {
        if cpu < first + count {
            return Some((group, 1 << (cpu - first)));
        }
        first += count;
    }
    None
}

/// Where processors lie that a thread is to run on; they must be of one group,
/// as a thread is in one group at a time.
fn mask(cpus: &[u32], groups: &[u32]) -> io::Result<GROUP_AFFINITY> {
    let mut affinity = GROUP_AFFINITY::default();
    for &cpu in cpus {
        let (group, bit) = place(cpu, groups).ok_or(io::ErrorKind::InvalidInput)?;
        if affinity.Mask != 0 && affinity.Group != group {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the processors are in several processor groups, and a thread runs in one",
            ));
        }
        affinity.Group = group;
        affinity.Mask |= bit;
    }
    Ok(affinity)
}

/// Keeps the whole process on these processors: threads do not inherit where
/// their starter may run, as they do on Linux.
///
/// # Errors
/// As [`pin`], and where the machine has several processor groups, as a process
/// is not bound to part of one there; nothing is changed then.
pub fn pin_to(cpus: &[u32]) -> io::Result<()> {
    let groups = groups();
    let affinity = mask(cpus, &groups)?;
    if groups.len() > 1 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this machine has several processor groups: threads are pinned one by one there",
        ));
    }
    // SAFETY: the handle stands for this process and needs no closing.
    succeeded(unsafe { SetProcessAffinityMask(GetCurrentProcess(), affinity.Mask) })
}

/// Keeps the calling thread on processor `cpu`.
///
/// # Errors
/// When there is no such processor or this process may not use it.
pub fn pin(cpu: u32) -> io::Result<()> {
    let affinity = mask(&[cpu], &groups())?;
    // SAFETY: a filled-in structure; the old affinity is not wanted.
    succeeded(unsafe {
        SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, null_mut())
    })
}

fn succeeded(done: i32) -> io::Result<()> {
    match done {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_numbered_through_the_groups() {
        let groups = [64, 32];
        let cases = [
            (0, Some((0, 1))),
            (63, Some((0, 1 << 63))),
            (64, Some((1, 1))),
            (95, Some((1, 1 << 31))),
            (96, None),
        ];
        for (cpu, expected) in cases {
            assert_eq!(place(cpu, &groups), expected, "{cpu}");
        }
        let both = mask(&[1, 3], &groups).expect("one group");
        assert_eq!((both.Group, both.Mask), (0, 0b1010));
        assert!(mask(&[1, 64], &groups).is_err(), "two groups");
    }

    #[test]
    fn a_thread_can_be_kept_on_the_first_processor() {
        pin(0).expect("there is a first processor");
        assert!(pin(u32::MAX).is_err());
        assert!(cpu_times_ns().is_some());
    }
}
