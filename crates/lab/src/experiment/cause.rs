//! Why an offset matters, as far as arithmetic and the data can tell.

use serde::{Deserialize, Serialize};

/// Pages in which Linux md keeps parity.
pub const PARITY_PAGE_BYTES: u64 = 4096;

/// What is known of the layout under a target; what is not known is None, and
/// no cause is claimed that needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutFacts {
    /// As sentences call it: `this array`, `this disk`.
    pub subject: String,
    /// Where byte 0 of the target lies on the array or disk below.
    pub start_bytes: Option<u64>,
    /// Bytes on one disk before the next begins; 0: not striped.
    pub stripe_unit_bytes: Option<u64>,
    /// Parity is kept (RAID 5 and 6).
    pub parity: Option<bool>,
    /// Physical sector of the device.
    pub physical_sector_bytes: Option<u64>,
}

impl Default for LayoutFacts {
    /// Nothing is known.
    fn default() -> Self {
        LayoutFacts {
            subject: "this storage".to_owned(),
            start_bytes: None,
            stripe_unit_bytes: None,
            parity: None,
            physical_sector_bytes: None,
        }
    }
}

/// Why one offset is slower than another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "cause")]
pub enum Cause {
    /// Operations cross from one stripe unit into the next, so that two disks
    /// work for one operation.
    StripeCrossing {
        /// Share of operations that do, 0 to 1.
        share: f64,
    },
}
