//! Facts available only on Linux so far: elsewhere they are absent, never guessed.
//!
//! | fact | why not on Windows |
//! | --- | --- |
//! | log pages of NVMe drives | not asked yet |
//! | who uses a device or file | the system refuses to open what is in use |

use crate::device_log::DeviceLog;
use crate::storage::{Storage, Use};
use std::fs::File;
use stripewise_machine::System;
use stripewise_units::DeviceNumber;

pub fn uses_of_device(_system: &System, _number: DeviceNumber) -> Vec<Use> {
    Vec::new()
}

pub fn uses_of_file(_system: &System, _file: &File) -> Vec<Use> {
    Vec::new()
}

pub fn device_logs(_system: &System, _storage: &Storage) -> Vec<DeviceLog> {
    Vec::new()
}
