//! Facts that users give about an array that does not report them.

use std::str::FromStr;

/// A RAID level as given, with the number of disks if known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raid {
    /// `raid5`.
    pub level: String,
    /// Total number of disks.
    pub disks: Option<u64>,
}

impl FromStr for Raid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LEVELS: [&str; 9] = [
            "single", "jbod", "linear", "raid0", "raid1", "raid4", "raid5", "raid6", "raid10",
        ];
        let (level, disks) = match text.split_once(':') {
            Some((level, disks)) => (level, Some(disks)),
            None => (text, None),
        };
        let level = level.to_ascii_lowercase();
        // Many people type `5` and `10`.
        let level = if level.starts_with(|c: char| c.is_ascii_digit()) {
            format!("raid{level}")
        } else {
            level
        };
        if !LEVELS.contains(&level.as_str()) {
            return Err(format!("is none of {}", LEVELS.join(", ")));
        }
        let least = match level.as_str() {
            "raid5" | "raid4" => 3,
            "raid6" => 4,
            "single" => 1,
            _ => 2,
        };
        let most = match level.as_str() {
            "single" => 1,
            _ => 1024,
        };
        let disks = match disks {
            None => None,
            Some(text) => match text.parse::<u64>() {
                Ok(disks) if (least..=most).contains(&disks) => Some(disks),
                _ if most == 1 => return Err(format!("{level} is one disk, not {text}")),
                _ => return Err(format!("{level} has {least} to {most} disks, not {text}")),
            },
        };
        Ok(Raid { level, disks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_needs_as_many_disks_as_it_has_parts() {
        let cases = [
            ("raid5", Some(("raid5", None))),
            ("RAID10:8", Some(("raid10", Some(8)))),
            ("6:4", Some(("raid6", Some(4)))),
            ("single:1", Some(("single", Some(1)))),
            ("single:4", None),
            ("raid5:2", None),
            ("6:3", None),
            ("raid0:1025", None),
            ("raid7", None),
            ("raid5:", None),
        ];
        for (text, expected) in cases {
            let found: Option<Raid> = text.parse().ok();
            let found = found.as_ref().map(|raid| (raid.level.as_str(), raid.disks));
            assert_eq!(found, expected, "{text}");
        }
    }
}
