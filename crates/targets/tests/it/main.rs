//! Tries to make Stripewise destroy what it did not make. Everything here works
//! on files, loop devices and mounts that the tests make themselves and remove
//! again; what needs root or a tool that is not there is skipped by name, or
//! fails where `STRIPEWISE_REQUIRE_TOOLS=1`. Every test has a process of its own: they judge
//! who has a file or device open.
#![cfg(any(target_os = "linux", windows))]

#[cfg(target_os = "linux")]
#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;
mod support;

#[cfg(target_os = "linux")]
#[path = "."]
mod linux {
    mod devices;
    mod existing_files;
    mod growing_files;
    mod io_features;
    mod kept_files;
    mod odd_paths;
    mod open_flags;
    mod overlays;
    mod places;
    mod test_files;
}
#[cfg(target_os = "linux")]
mod support_linux;

#[cfg(windows)]
mod windows;
