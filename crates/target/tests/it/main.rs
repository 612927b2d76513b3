//! Tries to make Stripewise destroy what it did not make. Everything here works
//! on files, loop devices and mounts that the tests make themselves and remove
//! again; what needs root or a tool that is not there is skipped by name, or
//! fails where `STRIPEWISE_REQUIRE_TOOLS=1`.
#![cfg(target_os = "linux")]

mod devices;
mod existing_files;
mod growing_files;
mod kept_files;
mod odd_paths;
mod overlays;
mod places;
mod support;
mod test_files;
