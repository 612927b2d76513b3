//! The calling thread and the processors, on Windows.
//!
//! Processors come in groups of at most 64. They are numbered consecutively here, one group after
//! the other, as in the Task Manager.

use std::io;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcess, GetCurrentThread,
    GetThreadTimes, SetProcessAffinityMask, SetThreadGroupAffinity,
};

/// CPU time of the calling thread so far, (user, system) in nanoseconds, as the system samples it
/// at its timer ticks: accurate to about 16 ms.
pub fn cpu_times_ns() -> Option<(u64, u64)> {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, system, user] = &mut times;
    // SAFETY: four structures that the call fills in; the pseudo handle of the calling thread needs
    // no closing.
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
        // SAFETY: an existing group; 0 otherwise.
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

/// The affinity mask of a thread; its processors must be in one group, as a thread is in one group
/// at a time.
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

/// Pins the whole process to these processors: unlike on Linux, threads do not inherit their
/// creator's affinity.
///
/// # Errors
/// As [`pin`], and if the machine has several processor groups, as a process cannot be bound to
/// part of one there; nothing is changed then.
pub fn pin_to(cpus: &[u32]) -> io::Result<()> {
    let groups = groups();
    let affinity = mask(cpus, &groups)?;
    if groups.len() > 1 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this machine has several processor groups: threads are pinned one by one there",
        ));
    }
    // SAFETY: the pseudo handle of this process needs no closing.
    succeeded(unsafe { SetProcessAffinityMask(GetCurrentProcess(), affinity.Mask) })
}

/// Pins the calling thread to processor `cpu`.
///
/// # Errors
/// If there is no such processor or this process may not use it.
pub fn pin(cpu: u32) -> io::Result<()> {
    let affinity = mask(&[cpu], &groups())?;
    // SAFETY: a filled-in structure; the old affinity is not needed.
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
