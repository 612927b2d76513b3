//! The machine, its clocks and its activity.

use super::wide::{narrow, wide};
use crate::System;
use crate::host::{Cpu, Host, Memory, Power};
use crate::observe::{Clocks, CpuTimes, DeviceCounters, FileState, Snapshot};
use std::fs::File;
use std::ptr::null_mut;
use stripewise_units::DeviceNumber;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::Power::{GetSystemPowerStatus, SYSTEM_POWER_STATUS};
use windows_sys::Win32::System::Registry::{HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RegGetValueW};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNamePhysicalDnsHostname, GetComputerNameExW, GetSystemTimePreciseAsFileTime,
    GetTickCount64, GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW,
};
use windows_sys::Win32::System::Threading::{
    ALL_PROCESSOR_GROUPS, GetActiveProcessorCount, GetCurrentProcess, GetProcessAffinityMask,
    GetProcessTimes, GetSystemTimes,
};
use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

/// Windows counts time in 100 ns.
const TICK_NS: u64 = 100;
/// Ticks between the Windows epoch (1601) and 1970.
const TICKS_TO_1970: u64 = 116_444_736_000_000_000;

pub(crate) fn host(system: &System) -> Host {
    if !system.is_live() {
        return Host::default();
    }
    let online = processors_online();
    Host {
        name: name().unwrap_or_default(),
        operating_system: "windows".to_owned(),
        kernel: version(),
        cpu: Cpu {
            model: processor(),
            count_usable: processors_usable().or(online).unwrap_or(1),
            count_online: online,
            ..Cpu::default()
        },
        memory: memory(),
        hypervisor: None,
        container: is_wine().then(|| "wine".to_owned()),
        power: Power {
            on_mains: on_mains(),
            ..Power::default()
        },
    }
}

/// Wine's ntdll has a function of this name; that of Windows does not.
pub fn is_wine() -> bool {
    let library = wide("ntdll.dll");
    // SAFETY: both names end with a zero; ntdll is part of every process.
    unsafe {
        let module = GetModuleHandleW(library.as_ptr());
        !module.is_null() && GetProcAddress(module, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

fn name() -> Option<String> {
    let mut units = [0u16; 256];
    let mut length = 256;
    // SAFETY: the buffer has 256 units.
    let done = unsafe {
        GetComputerNameExW(
            ComputerNamePhysicalDnsHostname,
            units.as_mut_ptr(),
            &mut length,
        )
    };
    (done != 0).then(|| narrow(&units))
}

/// `10.0.20348`: independent of the program's manifest.
fn version() -> Option<String> {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: u32::try_from(size_of::<OSVERSIONINFOW>()).ok()?,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the structure is live and says its size.
    let status = unsafe { RtlGetVersion(&mut version) };
    (status == 0).then(|| {
        format!(
            "{}.{}.{}",
            version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber
        )
    })
}

fn processor() -> Option<String> {
    let key = wide(r"HARDWARE\DESCRIPTION\System\CentralProcessor\0");
    let value = wide("ProcessorNameString");
    let mut units = [0u16; 128];
    let mut bytes = 256;
    // SAFETY: both names end with a zero, the buffer has 256 bytes.
    let status = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            RRF_RT_REG_SZ,
            null_mut(),
            units.as_mut_ptr().cast(),
            &mut bytes,
        )
    };
    let text = narrow(&units);
    (status == 0)
        .then(|| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// In all processor groups.
fn processors_online() -> Option<u32> {
    // SAFETY: no memory is involved.
    let count = unsafe { GetActiveProcessorCount(ALL_PROCESSOR_GROUPS) };
    (count > 0).then_some(count)
}

/// From the affinity of the process; absent where it is in several groups (the mask is then 0).
fn processors_usable() -> Option<u32> {
    let (mut own, mut all) = (0, 0);
    // SAFETY: the pseudo handle is always good, both masks are live.
    let done = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut all) };
    (done != 0 && own != 0).then(|| own.count_ones())
}

fn memory() -> Memory {
    let Ok(length) = u32::try_from(size_of::<MEMORYSTATUSEX>()) else {
        return Memory::default();
    };
    let mut status = MEMORYSTATUSEX {
        dwLength: length,
        ..MEMORYSTATUSEX::default()
    };
    // SAFETY: the structure is live and says its size.
    let done = unsafe { GlobalMemoryStatusEx(&mut status) };
    if done == 0 {
        return Memory::default();
    }
    Memory {
        total_bytes: Some(status.ullTotalPhys),
        available_bytes: Some(status.ullAvailPhys),
        limit_bytes: None,
    }
}

fn on_mains() -> Option<bool> {
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: the structure is live.
    let done = unsafe { GetSystemPowerStatus(&mut status) };
    match (done, status.ACLineStatus) {
        (0, _) => None,
        (_, 0) => Some(false),
        (_, 1) => Some(true),
        _ => None,
    }
}

pub(crate) fn snapshot(system: &System, devices: &[DeviceNumber], files: &[&File]) -> Snapshot {
    if !system.is_live() {
        return Snapshot::default();
    }
    let (own_cpu_user_ns, own_cpu_system_ns) = own_cpu();
    Snapshot {
        clocks: clocks(),
        cpu: cpu_times(),
        processors: Vec::new(),
        own_cpu_user_ns,
        own_cpu_system_ns,
        on_mains: on_mains(),
        // Counters must first be enabled for the whole machine.
        devices: devices
            .iter()
            .map(|number| DeviceCounters {
                number: *number,
                ..DeviceCounters::default()
            })
            .collect(),
        files: files
            .iter()
            .map(|file| FileState {
                size_bytes: file.metadata().map_or(0, |metadata| metadata.len()),
                cached_bytes: None,
            })
            .collect(),
        ..Snapshot::default()
    }
}

/// Interrupt time without and with sleep; both advance with the clock interrupt, every 0.5 to 16
/// ms.
fn clocks() -> Clocks {
    let mut awake = 0u64;
    // SAFETY: the number is live.
    unsafe { QueryUnbiasedInterruptTime(&mut awake) };
    // SAFETY: no memory is involved.
    let milliseconds = unsafe { GetTickCount64() };
    let mut now = FILETIME::default();
    // SAFETY: the structure is live.
    unsafe { GetSystemTimePreciseAsFileTime(&mut now) };
    Clocks {
        monotonic_ns: awake.saturating_mul(TICK_NS),
        boot_ns: milliseconds.saturating_mul(1_000_000),
        wall_ns: ticks(now)
            .saturating_sub(TICKS_TO_1970)
            .saturating_mul(TICK_NS),
    }
}

fn ticks(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

fn nanoseconds(time: FILETIME) -> u64 {
    ticks(time).saturating_mul(TICK_NS)
}

/// All CPUs together; kernel time includes idle time.
fn cpu_times() -> CpuTimes {
    let mut times = [FILETIME::default(); 3];
    let [idle, kernel, user] = &mut times;
    // SAFETY: all three structures are live.
    let done = unsafe { GetSystemTimes(idle, kernel, user) };
    if done == 0 {
        return CpuTimes::default();
    }
    let [idle, kernel, user] = times.map(nanoseconds);
    CpuTimes {
        busy_ns: kernel.saturating_sub(idle).saturating_add(user),
        idle_ns: idle,
        steal_ns: 0,
    }
}

/// User and system time of this process.
fn own_cpu() -> (u64, u64) {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the pseudo handle is always good, all four structures are live.
    let done = unsafe { GetProcessTimes(GetCurrentProcess(), created, exited, kernel, user) };
    if done == 0 {
        return (0, 0);
    }
    let [_, _, kernel, user] = times.map(nanoseconds);
    (user, kernel)
}
