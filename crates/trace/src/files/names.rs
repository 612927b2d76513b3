//! Devices of files that name them: numbered per trace.

use std::collections::HashMap;
use stripewise_units::DeviceNumber;

/// Most distinct devices; the rest share a number.
const DEVICES_MAX: usize = 4_096;

/// The major number of devices that a file names by text.
const NAMED: u32 = u32::MAX;

/// Names of the devices of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceNames {
    numbers: HashMap<String, DeviceNumber>,
    names: Vec<String>,
}

impl DeviceNames {
    /// The number for a name; 0:0 without a name.
    pub fn number(&mut self, name: &str) -> DeviceNumber {
        if name.is_empty() {
            return DeviceNumber::default();
        }
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = DeviceNumber {
            major: NAMED,
            minor: self.names.len() as u32,
        };
        if self.names.len() < DEVICES_MAX {
            self.names.push(name.to_owned());
            self.numbers.insert(name.to_owned(), number);
        }
        number
    }

    /// The name of a device; None if the trace gives only its number.
    pub fn name(&self, number: DeviceNumber) -> Option<&str> {
        if number.major != NAMED {
            return None;
        }
        let name = self.names.get(number.minor as usize);
        Some(name.map_or("others", String::as_str))
    }
}
