//! NVMe generic character devices (`/dev/ng0n1`): below one is the block device of its namespace.

use super::tree::Tree;
use std::path::Path;
use stripewise_units::DeviceNumber;

/// The block device of the same namespace: in sysfs both have the same parent and name suffix.
/// `None` for other character devices, and if there is more than one.
pub fn block_device_of(tree: Tree, character: DeviceNumber) -> Option<DeviceNumber> {
    let folder = tree.resolve(format!("/sys/dev/char/{character}"))?;
    let end = namespace_in(folder.file_name()?.to_str()?.strip_prefix("ng")?)?;
    let parent = folder.parent()?;
    let names = tree.names(parent);
    // Paths of a multipath namespace are hidden and not usable as devices.
    let mut found = names
        .iter()
        .filter(|name| name.strip_prefix("nvme").and_then(namespace_in) == Some(end))
        .map(|name| parent.join(name))
        .filter(|folder| is_usable(tree, folder));
    let one = found.next()?;
    match found.next() {
        None => tree.number(one.join("dev")),
        Some(_) => None,
    }
}

/// `1` from `0n1`.
fn namespace_in(name: &str) -> Option<u32> {
    let (_, namespace) = name.rsplit_once('n')?;
    namespace.parse().ok()
}

fn is_usable(tree: Tree, folder: &Path) -> bool {
    tree.exists(folder.join("queue")) && tree.flag(folder.join("hidden")) != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;
    use stripewise_machine::System;

    #[test]
    fn a_generic_device_leads_to_the_block_device_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("sys/devices/nvme-subsys0");
        let links = root.path().join("sys/dev/char");
        create_dir_all(&links).unwrap();
        for (name, dev) in [
            ("ng0n1", "241:0"),
            ("ng0n11", "241:1"),
            ("ng0n2", "241:2"),
            ("ng0n3", "241:3"),
            ("ngx", "241:4"),
        ] {
            create_dir_all(parent.join(name)).unwrap();
            symlink(parent.join(name), links.join(dev)).unwrap();
        }
        // The third has only its paths; the second, two candidates.
        for (name, dev) in [
            ("nvme0n1", "259:0"),
            ("nvme0n11", "259:1"),
            ("nvme0c0n3", "259:2"),
            ("nvme0n2", "259:3"),
            ("nvme1n2", "259:4"),
        ] {
            create_dir_all(parent.join(name).join("queue")).unwrap();
            write(parent.join(name).join("dev"), dev).unwrap();
        }
        write(parent.join("nvme0c0n3/hidden"), "1\n").unwrap();
        let system = System::at(root.path());
        let found = |character: &str| {
            let found = block_device_of(Tree::of(&system), character.parse().unwrap());
            found.map(|number| number.to_string())
        };
        assert_eq!(found("241:0").as_deref(), Some("259:0"));
        assert_eq!(found("241:1").as_deref(), Some("259:1"));
        for none in ["241:2", "241:3", "241:4", "1:3"] {
            assert_eq!(found(none), None, "{none}");
        }
    }
}
