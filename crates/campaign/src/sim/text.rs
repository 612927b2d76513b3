//! The simulated arrays as a table.

use super::SimulatedArray;
use stripewise_units::{ByteSize, format_bytes};

/// A line for each array.
#[must_use]
pub fn arrays_text(arrays: &[SimulatedArray]) -> String {
    let mut text = String::new();
    for array in arrays {
        let unit = match array.stripe_unit_bytes {
            0 => String::new(),
            bytes => format!(", stripe unit {}", ByteSize(bytes)),
        };
        text.push_str(&format!(
            "{:<18} {:<8} {:>3} {}, {}{unit}\n",
            array.name,
            array.level,
            array.disks,
            match (array.rotational, array.disks) {
                (true, 1) => "disk",
                (true, _) => "disks",
                (false, 1) => "SSD",
                (false, _) => "SSDs",
            },
            format_bytes(array.size_bytes),
        ));
    }
    text.push_str("\nUse one as sim:NAME, with sim:NAME?key=value to change it; `stripewise sim show NAME` has the keys.\n");
    text
}
