//! Devices that the kernel itself exports without a claim and without a process: NVMe over fabrics,
//! SCSI targets over files, and USB storage gadgets. Their settings are files with a path.

use super::file_or_devices::FileOrDevices;
use std::path::{Path, PathBuf};
use stripewise_machine::linux::tree::path_of_line;

/// Files below `/sys/kernel` (`*` is any name) with the path of an exported device.
const SETTINGS: [&str; 4] = [
    "config/nvmet/subsystems/*/namespaces/*/device_path",
    "config/target/core/*/*/udev_path",
    "config/usb_gadget/*/functions/*/*/file",
    "scst_tgt/devices/*/filename",
];

/// The settings that export this file or device; best effort. `kernel` is `/sys/kernel`.
pub(super) fn exports(kernel: &Path, wanted: &FileOrDevices) -> Vec<PathBuf> {
    let all = SETTINGS
        .iter()
        .flat_map(|pattern| matching(kernel, pattern));
    all.filter(|setting| {
        let text = std::fs::read(setting).unwrap_or_default();
        // SCST adds `[key]` on a separate line.
        let line = text.split(|byte| *byte == b'\n').next();
        line.and_then(path_of_line)
            .is_some_and(|path| path.is_absolute() && wanted.is_at(&path))
    })
    .collect()
}

/// Files below a folder whose path matches this pattern.
fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for part in pattern.split('/') {
        let below = |folder: PathBuf| match part {
            "*" => {
                let entries = std::fs::read_dir(folder).into_iter().flatten();
                entries.flatten().map(|entry| entry.path()).collect()
            }
            name => vec![folder.join(name)],
        };
        found = found.into_iter().flat_map(below).collect();
    }
    found.retain(|path| path.is_file());
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_units::DeviceNumber;

    #[test]
    fn what_the_kernel_exports_is_found_by_the_device_it_leads_to() {
        let kernel = tempfile::tempdir().expect("a directory");
        let null = FileOrDevices::Devices {
            blocks: Vec::new(),
            characters: vec![DeviceNumber { major: 1, minor: 3 }],
        };
        let link = kernel.path().join("by-id");
        std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
        let link = link.display().to_string();
        let settings = [
            (
                "config/nvmet/subsystems/a/namespaces/1/device_path",
                "/dev/null\n",
                true,
            ),
            (
                "config/nvmet/subsystems/a/namespaces/2/device_path",
                "(null)\n",
                false,
            ),
            (
                "config/target/core/fileio_0/disk/udev_path",
                "/dev/zero\n",
                false,
            ),
            ("config/target/core/fileio_1/disk/udev_path", &link, true),
            (
                "config/target/core/fileio_1/disk/info",
                "/dev/null\n",
                false,
            ),
            (
                "config/usb_gadget/g/functions/mass_storage.0/lun.0/file",
                "\n",
                false,
            ),
            (
                "config/usb_gadget/g/functions/mass_storage.0/lun.1/file",
                "/dev/null\n",
                true,
            ),
            ("scst_tgt/devices/d/filename", "/dev/null\n[key]\n", true),
        ];
        for (setting, text, _) in settings {
            let path = kernel.path().join(setting);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a directory");
            std::fs::write(path, text).expect("a setting");
        }
        let want = settings.iter().filter(|(.., found)| *found);
        let want: Vec<PathBuf> = want.map(|(name, ..)| kernel.path().join(name)).collect();
        assert_eq!(exports(kernel.path(), &null), want);
        let other = FileOrDevices::Devices {
            blocks: vec![DeviceNumber { major: 1, minor: 3 }],
            characters: Vec::new(),
        };
        assert_eq!(exports(kernel.path(), &other), Vec::<PathBuf>::new());
    }
}
