//! Common columns of tables of loads.

use crate::sheet::Column;

/// The columns from the threads of a load to the remarks.
pub(super) fn load_columns() -> [Column; 11] {
    [
        Column::number("Threads").dropped(6),
        Column::number("QD").dropped(5),
        Column::number("In flight"),
        Column::number("IOPS"),
        Column::number("MiB/s").dropped(3),
        Column::number("Mean").dropped(4),
        Column::number("p50").dropped(2),
        Column::number("p99"),
        Column::number("p99.9").dropped(1),
        Column::number("Max"),
        Column::text(""),
    ]
}
