//! The simulated arrays as a table.

use super::SimulatedArray;
use stripewise_report::{Cell, Column, Sheet, SheetTable};
use stripewise_units::{ByteSize, format_bytes};

/// A row for each array.
pub fn arrays_sheet(arrays: &[SimulatedArray]) -> Sheet {
    let row = |array: &SimulatedArray| -> Vec<Cell> {
        let unit = match array.stripe_unit_bytes {
            0 => String::new(),
            bytes => ByteSize(bytes).to_string(),
        };
        let kind = match array.rotational {
            true => "hard disk",
            false => "SSD",
        };
        vec![
            array.name.as_str().into(),
            array.level.as_str().into(),
            array.disks.to_string().into(),
            kind.into(),
            format_bytes(array.size_bytes).into(),
            unit.into(),
        ]
    };
    let columns = [
        Column::text("Name"),
        Column::text("Level"),
        Column::number("Disks"),
        Column::text("Kind"),
        Column::number("Size"),
        Column::number("Stripe unit"),
    ];
    let rows = arrays.iter().map(row).collect();
    Sheet {
        tables: vec![SheetTable::new("", columns, rows)],
        notes: vec![
            "Use one as sim:NAME, with sim:NAME?key=value to change it; `stripewise sim show NAME` \
             has the keys."
                .to_owned(),
        ],
        ..Sheet::default()
    }
}
