//! A device's temperature while it is written to.

use stripewise_disk_inspect::{Inspect, System};

/// Minimum interval between two readings.
const EVERY_NS: u64 = 500_000_000;

/// Reads a device's temperature from time to time.
pub struct Sensor {
    system: System,
    device: Option<String>,
    asked_ns: Option<u64>,
    known: Option<i64>,
}

impl Sensor {
    /// For a device by its kernel name; without one, the temperature is unknown.
    pub fn new(system: System, device: Option<String>) -> Self {
        Sensor {
            system,
            device,
            asked_ns: None,
            known: None,
        }
    }

    /// For the device under a path that is not open yet.
    pub fn of_path(system: System, path: &str) -> Self {
        let path = stripewise_units::path_of(path);
        let storage = system.storage_of_path(&path).ok();
        let device = storage.as_ref().and_then(|storage| storage.nearest());
        let name = device.map(|device| device.name.clone());
        Sensor::new(system, name)
    }

    /// Millidegrees Celsius, if the system reports it.
    pub fn read(&mut self, now_ns: u64) -> Option<i64> {
        let device = self.device.as_ref()?;
        let is_due = |asked_ns: u64| now_ns.saturating_sub(asked_ns) >= EVERY_NS;
        if self.asked_ns.is_none_or(is_due) {
            self.asked_ns = Some(now_ns);
            self.known = self.system.temperature_millicelsius(device);
        }
        self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_sensor_is_asked_twice_a_second_and_may_go() {
        let tree = tempfile::tempdir().expect("a directory");
        let folder = tree.path().join("sys/class/block/nvme0n1/device/hwmon3");
        fs::create_dir_all(&folder).expect("made");
        let input = folder.join("temp1_input");
        fs::write(&input, "41850\n").expect("written");
        let mut sensor = Sensor::new(System::at(tree.path()), Some("nvme0n1".to_owned()));
        assert_eq!(sensor.read(7), Some(41_850));
        fs::write(&input, "52850\n").expect("written");
        assert_eq!(sensor.read(EVERY_NS), Some(41_850));
        assert_eq!(sensor.read(EVERY_NS + 7), Some(52_850));
        // A drive that is gone has no temperature.
        fs::remove_file(&input).expect("removed");
        assert_eq!(sensor.read(2 * EVERY_NS + 7), None);
        let mut none = Sensor::new(System::at(tree.path()), None);
        assert_eq!(none.read(0), None);
    }
}
