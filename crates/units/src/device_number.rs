//! The number of a block device: the kernel's unambiguous identifier.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Major and minor number. Printed and parsed as sysfs does: `8:1`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// The device within the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// From `st_dev` or `st_rdev` in Linux's user-space encoding: twelve and twenty bits in the low
    /// half, the rest of each in the high half.
    pub const fn from_raw(raw: u64) -> Self {
        DeviceNumber {
            major: (((raw >> 32) & 0xffff_f000) | ((raw >> 8) & 0xfff)) as u32,
            minor: (((raw >> 12) & 0xffff_ff00) | (raw & 0xff)) as u32,
        }
    }

    /// Anonymous devices (major 0) belong to file systems without a block
    /// device of their own: tmpfs, btrfs, overlay, NFS.
    pub const fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let (major, minor) = text.trim().split_once(':').ok_or(())?;
        Ok(DeviceNumber {
            major: major.parse().map_err(|_| ())?,
            minor: minor.parse().map_err(|_| ())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_numbers_decode_as_the_c_library_does() {
        for (raw, major, minor) in [
            (0x0801, 8, 1),
            (0xfe00, 254, 0),
            (0x10_0001, 0, 257),
            (0x1234_5000_0000_0105, 0x1234_5001, 5),
        ] {
            assert_eq!(
                DeviceNumber::from_raw(raw),
                DeviceNumber { major, minor },
                "{raw:#x}"
            );
        }
    }

    #[test]
    fn text_comes_back_as_it_went_in_and_nonsense_is_refused() {
        let number = DeviceNumber {
            major: 259,
            minor: 7,
        };
        assert_eq!(number.to_string().parse(), Ok(number));
        for text in ["", "8", "8:", ":1", "8:x", "-1:2", "8:99999999999"] {
            assert_eq!(text.parse::<DeviceNumber>(), Err(()), "{text}");
        }
    }
}
