//! NVMe generic character devices (`/dev/ng0n1`). Their commands reach the whole namespace and
//! bypass the block layer: the kernel's mounts, partitions and claims do not stop them. So the
//! rules for such a device are those of the block device of the same namespace, and it must be
//! found here.
//!
//! Names do not identify it: where a subsystem has several controllers, `ng1n2` and `nvme0n2` may
//! be one namespace, and `nvme1n2` another. Both nodes of a namespace have the same parent in
//! sysfs, and the driver reports the same id for both.
//!
//! Numbers do not identify it either, once a namespace is gone: a new one may get them. The kernel
//! reuses a number only when nobody has the device open. So the number of an open descriptor leads
//! in sysfs to the device behind that descriptor, or nowhere; both descriptors are checked each
//! time one is opened ([`is_renumbered`]).

use std::path::{Path, PathBuf};
use stripewise_units::DeviceNumber;

/// Identifying attributes of a namespace in sysfs, in addition to its number. Older drives lack
/// some of them.
const MARKS: [&str; 5] = ["nsid", "wwid", "nguid", "eui", "uuid"];

/// A namespace, identified by its block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// As under `/dev`.
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// The value of each of [`MARKS`].
    marks: [Option<String>; MARKS.len()],
}

/// Properties of an open descriptor of one of a namespace's two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: DeviceNumber,
    /// The namespace id from the driver; `None` if it reports none.
    pub id: Option<u32>,
}

/// Whether a character device is an NVMe generic device.
pub fn is_generic(sysfs: &Path, character: DeviceNumber) -> bool {
    folder(sysfs, "char", character).is_some_and(|folder| is_of(&folder, "nvme-generic"))
}

/// The block device of a character device's namespace, given the `id` from the driver. `None` if
/// there is none, or more than one.
pub fn block_device_of(sysfs: &Path, character: DeviceNumber, id: u32) -> Option<Namespace> {
    let folder = folder(sysfs, "char", character)?;
    if !is_of(&folder, "nvme-generic") {
        return None;
    }
    let mut found = siblings_of_class(&folder, "block")
        .filter(|block| number_in(block, "nsid") == Some(u64::from(id)))
        .filter(|block| !block.join("partition").exists())
        .filter(|block| number_in(block, "hidden") != Some(1));
    let one = found.next()?;
    if found.next().is_some() {
        return None;
    }
    Some(Namespace {
        name: one.file_name()?.to_str()?.replace('!', "/"),
        number: device_number(&one)?,
        marks: MARKS.map(|mark| Some(std::fs::read_to_string(one.join(mark)).ok()?.trim().into())),
    })
}

/// Why an open character device does not belong to the namespace that was `judged`, whose block
/// device is open as well; `None` if it does.
pub fn is_renumbered(
    sysfs: &Path,
    character: Node,
    block: Node,
    judged: &Namespace,
) -> Option<String> {
    let name = &judged.name;
    if block.number != judged.number {
        return Some(format!("{name} is another block device now"));
    }
    let (Some(id), true) = (character.id, character.id == block.id) else {
        return Some(format!(
            "the driver no longer says the same id for it and for {name}"
        ));
    };
    let Some(found) = block_device_of(sysfs, character.number, id) else {
        return Some("it leads to no block device any more".to_owned());
    };
    if found == *judged {
        return None;
    }
    if found.number != judged.number {
        return Some(format!("it leads to {} now, and not to {name}", found.name));
    }
    let changed = (MARKS.iter().zip(found.marks).zip(&judged.marks))
        .find(|((_, now), before)| now != *before);
    let mark = changed.map_or("name", |((mark, _), _)| mark);
    Some(format!("{name} is another namespace now (another {mark})"))
}

/// The character devices that may belong to the namespace of a block device or of its disk. Errs on
/// the side of too many: all whose names end alike.
pub fn characters_of(sysfs: &Path, block: DeviceNumber) -> Vec<DeviceNumber> {
    let Some(mut disk) = folder(sysfs, "block", block) else {
        return Vec::new();
    };
    if disk.join("partition").exists() {
        disk.pop();
    }
    let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
    let Some(end) = name(&disk).and_then(|name| Some(name[name.rfind('n')?..].to_owned())) else {
        return Vec::new();
    };
    siblings_of_class(&disk, "nvme-generic")
        .filter(|path| name(path).is_some_and(|name| name.ends_with(&end)))
        .filter_map(|path| device_number(&path))
        .collect()
}

/// The folder of a device in sysfs.
fn folder(sysfs: &Path, kind: &str, number: DeviceNumber) -> Option<PathBuf> {
    let link = sysfs.join("dev").join(kind).join(number.to_string());
    std::fs::canonicalize(link).ok()
}

/// The devices of a class that have the same parent.
fn siblings_of_class(folder: &Path, class: &str) -> impl Iterator<Item = PathBuf> {
    let entries = folder.parent().map(std::fs::read_dir);
    let paths = entries.into_iter().flatten().flatten().flatten();
    paths
        .map(|entry| entry.path())
        .filter(move |path| is_of(path, class))
}

fn is_of(folder: &Path, class: &str) -> bool {
    let link = std::fs::read_link(folder.join("subsystem"));
    link.is_ok_and(|to| to.file_name().is_some_and(|name| name == class))
}

fn number_in(folder: &Path, file: &str) -> Option<u64> {
    std::fs::read_to_string(folder.join(file))
        .ok()?
        .trim()
        .parse()
        .ok()
}

fn device_number(folder: &Path) -> Option<DeviceNumber> {
    let text = std::fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some(DeviceNumber {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    const CHARACTER: u32 = 241;
    const BLOCK: u32 = 259;

    fn number(major: u32, minor: u32) -> DeviceNumber {
        DeviceNumber { major, minor }
    }

    /// A device below `parent`, as sysfs has it.
    fn device(sysfs: &Path, parent: &str, name: &str, class: &str, dev: (u32, u32)) -> PathBuf {
        let folder = sysfs.join("devices").join(parent).join(name);
        create_dir_all(&folder).unwrap();
        symlink(format!("/sys/class/{class}"), folder.join("subsystem")).unwrap();
        write(folder.join("dev"), format!("{}:{}\n", dev.0, dev.1)).unwrap();
        let kind = if class == "block" { "block" } else { "char" };
        create_dir_all(sysfs.join("dev").join(kind)).unwrap();
        let link = sysfs
            .join("dev")
            .join(kind)
            .join(format!("{}:{}", dev.0, dev.1));
        symlink(&folder, link).unwrap();
        folder
    }

    /// Two controllers of one subsystem, each with its own namespace: the numbers in the names
    /// differ.
    #[test]
    fn the_namespace_is_found_by_parent_and_id_and_not_by_its_name() {
        let sysfs = tempfile::tempdir().unwrap();
        let sysfs = sysfs.path();
        let block = |parent: &str, name: &str, minor: u32, id: u32| {
            let folder = device(sysfs, parent, name, "block", (BLOCK, minor));
            write(folder.join("nsid"), format!("{id}\n")).unwrap();
            write(folder.join("hidden"), "0\n").unwrap();
            folder
        };
        block("nvme/nvme0", "nvme0n1", 0, 1);
        let second = block("nvme/nvme1", "nvme0n2", 1, 2);
        block("nvme/nvme1", "nvme0n3", 2, 3);
        // A partition is below its disk, and a path to a shared namespace is hidden.
        let part = "nvme/nvme1/nvme0n2";
        let part = device(sysfs, part, "nvme0n2p1", "block", (BLOCK, 3));
        write(part.join("partition"), "1\n").unwrap();
        let path = block("nvme/nvme1", "nvme0c1n2", 4, 2);
        write(path.join("hidden"), "1\n").unwrap();
        device(sysfs, "nvme/nvme0", "ng0n1", "nvme-generic", (CHARACTER, 0));
        device(sysfs, "nvme/nvme1", "ng1n2", "nvme-generic", (CHARACTER, 1));
        device(sysfs, "tty", "ng9n9", "tty", (4, 1));

        let of = |minor, id| block_device_of(sysfs, number(CHARACTER, minor), id);
        let found = of(1, 2).expect("ng1n2 is nvme0n2");
        assert_eq!(
            (found.name.as_str(), found.number),
            ("nvme0n2", number(BLOCK, 1))
        );
        assert_eq!(of(0, 1).map(|found| found.name), Some("nvme0n1".to_owned()));
        assert_eq!(of(0, 2), None, "another controller's");
        assert_eq!(of(7, 1), None, "not there");
        assert_eq!(block_device_of(sysfs, number(4, 1), 1), None);
        assert!(is_generic(sysfs, number(CHARACTER, 1)));
        assert!(!is_generic(sysfs, number(4, 1)));

        // Whether two open nodes still belong to the namespace that was checked.
        let node = |major, minor, id| Node {
            number: number(major, minor),
            id,
        };
        let strays = |character, block| is_renumbered(sysfs, character, block, &found);
        let (here, there) = (node(CHARACTER, 1, Some(2)), node(BLOCK, 1, Some(2)));
        assert_eq!(strays(here, there), None);
        let check_text = |character, block, text: &str| {
            let reported = strays(character, block).expect(text);
            assert!(reported.contains(text), "{reported}");
        };
        check_text(node(CHARACTER, 0, Some(2)), there, "no block device");
        check_text(node(CHARACTER, 7, Some(2)), there, "no block device");
        check_text(node(4, 1, Some(2)), there, "no block device");
        check_text(here, node(BLOCK, 2, Some(2)), "another block device");
        for (one, other) in [
            (Some(2), Some(3)),
            (Some(2), None),
            (None, Some(2)),
            (None, None),
        ] {
            let (character, block) = (node(CHARACTER, 1, one), node(BLOCK, 1, other));
            check_text(character, block, "the same id");
        }

        // Two devices with the same id are ambiguous.
        write(second.parent().unwrap().join("nvme0n3/nsid"), "2\n").unwrap();
        assert_eq!(of(1, 2), None);

        let led = |minor| characters_of(sysfs, number(BLOCK, minor));
        assert_eq!(led(1), [number(CHARACTER, 1)]);
        assert_eq!(led(3), [number(CHARACTER, 1)], "a partition's disk");
        assert_eq!(led(9), []);
    }

    /// A namespace disappears, and a new one appears with its names and numbers.
    #[test]
    fn a_successor_under_the_same_numbers_is_not_the_namespace_that_was_judged() {
        let sysfs = tempfile::tempdir().unwrap();
        let sysfs = sysfs.path();
        let block = |parent: &str, name: &str, minor: u32, wwid: &str| {
            let folder = device(sysfs, parent, name, "block", (BLOCK, minor));
            write(folder.join("nsid"), "1\n").unwrap();
            write(folder.join("wwid"), wwid).unwrap();
            folder
        };
        let folder = block("nvme/nvme0", "nvme0n1", 0, "eui.01\n");
        block("nvme/nvme1", "nvme1n1", 1, "eui.02\n");
        device(sysfs, "nvme/nvme0", "ng0n1", "nvme-generic", (CHARACTER, 0));
        let other = device(sysfs, "nvme/nvme1", "ng1n1", "nvme-generic", (CHARACTER, 1));

        let id = Some(1);
        let character = Node {
            number: number(CHARACTER, 0),
            id,
        };
        let claimed = Node {
            number: number(BLOCK, 0),
            id,
        };
        let judged = block_device_of(sysfs, character.number, 1).unwrap();
        let strays = || is_renumbered(sysfs, character, claimed, &judged);
        assert_eq!(strays(), None);

        // Each mark counts, even if it appears or disappears.
        for (mark, text, before) in [
            ("wwid", "eui.03\n", Some("eui.01\n")),
            ("nguid", "00000001-0000\n", None),
            ("eui", "00 00 00 01\n", None),
            ("uuid", "f81d4fae-7dec\n", None),
        ] {
            write(folder.join(mark), text).unwrap();
            let reported = strays().unwrap();
            assert!(reported.contains(&format!("another {mark}")), "{reported}");
            match before {
                Some(text) => write(folder.join(mark), text).unwrap(),
                None => std::fs::remove_file(folder.join(mark)).unwrap(),
            }
            assert_eq!(strays(), None);
        }

        // The character device's number now belongs to the other drive.
        let link = sysfs.join("dev/char/241:0");
        std::fs::remove_file(&link).unwrap();
        let reported = strays().unwrap();
        assert!(reported.contains("no block device"), "{reported}");
        symlink(&other, &link).unwrap();
        let reported = strays().unwrap();
        assert!(
            reported.contains("nvme1n1 now, and not to nvme0n1"),
            "{reported}"
        );
        std::fs::remove_file(&link).unwrap();
        symlink(sysfs.join("devices/nvme/nvme0/ng0n1"), &link).unwrap();
        assert_eq!(strays(), None);

        // The block device's folder has another number, or no longer exists.
        write(folder.join("dev"), "259:7\n").unwrap();
        assert!(strays().is_some());
        std::fs::remove_dir_all(&folder).unwrap();
        let reported = strays().unwrap();
        assert!(reported.contains("no block device"), "{reported}");
    }
}
