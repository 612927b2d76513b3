//! Identity of a target, independent of the name used.

use serde::{Deserialize, Serialize};

/// A file or device among those of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its own identity: a device by its number, a file by its file system and inode.
    pub own: String,
    /// What its bytes are stored on: the disk of a partition, members of an array, the file behind
    /// a loop device.
    pub on: Vec<String>,
}

impl Identity {
    /// Whether both are the same, or one is stored on the other: changing one changes the other.
    pub fn overlaps(&self, other: &Identity) -> bool {
        self.own == other.own || self.on.contains(&other.own) || other.on.contains(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_overlaps_with_its_whole_and_not_with_another_part() {
        let identity = |own: &str, on: &[&str]| Identity {
            own: own.to_owned(),
            on: on.iter().map(|one| (*one).to_owned()).collect(),
        };
        let disk = identity("device 8:16", &[]);
        let first = identity("device 8:17", &["device 8:16"]);
        let second = identity("device 8:18", &["device 8:16"]);
        assert!(disk.overlaps(&disk) && disk.overlaps(&first) && second.overlaps(&disk));
        assert!(!first.overlaps(&second));
    }
}
