//! The temperature of a drive: the first sensor of its hardware monitor (hwmon), which NVMe drives
//! have since Linux 5.5 and SATA disks with the `drivetemp` module.

use super::block;
use super::tree::Tree;
use std::path::Path;

/// Most levels of stacked devices.
const DEPTH_MAX: u32 = 5;

/// Thousandths of a degree Celsius; the warmest of all drives under the device.
pub fn millicelsius(tree: Tree, device: &str) -> Option<i64> {
    of_directory(tree, &block::directory_named(tree, device)?, DEPTH_MAX)
}

fn of_directory(tree: Tree, directory: &Path, depth: u32) -> Option<i64> {
    let below = tree.names(directory.join("slaves"));
    if depth > 0 && !below.is_empty() {
        let each = below.iter().filter_map(|name| {
            let directory = block::directory_named(tree, name)?;
            of_directory(tree, &directory, depth - 1)
        });
        return each.max();
    }
    let disk = match tree.exists(directory.join("partition")) {
        true => directory.parent()?,
        false => directory,
    };
    let device = disk.join("device");
    // Below `hwmon/`, or among the controller's other attributes.
    let monitors = [device.join("hwmon"), device];
    monitors.iter().find_map(|folder| {
        let mut names = tree.names(folder);
        names.sort();
        let sensors = names.iter().filter(|name| name.starts_with("hwmon"));
        sensors
            .filter_map(|name| tree.value(folder.join(name).join("temp1_input")))
            .next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_partition_an_array_and_a_disk_without_a_sensor() {
        let top = tempfile::tempdir().expect("a directory");
        let put = |path: &str, text: &str| {
            let path = top.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        put(
            "/sys/class/block/nvme0n1/device/hwmon3/temp1_input",
            "41850\n",
        );
        put(
            "/sys/class/block/sda/device/hwmon/hwmon1/temp1_input",
            "-3000\n",
        );
        put("/sys/class/block/sdb/size", "1000\n");
        put("/sys/class/block/md0/slaves/sda/x", "");
        put("/sys/class/block/md0/slaves/nvme0n1/x", "");
        let tree = Tree::new(top.path());
        assert_eq!(millicelsius(tree, "nvme0n1"), Some(41_850));
        assert_eq!(millicelsius(tree, "sda"), Some(-3_000));
        assert_eq!(millicelsius(tree, "md0"), Some(41_850));
        assert_eq!(millicelsius(tree, "sdb"), None);
        assert_eq!(millicelsius(tree, "nothing"), None);
    }
}
