//! Differences as text.

use crate::chart::Quantity;

/// `+12.5 %`.
pub(crate) fn percent(difference: f64) -> String {
    let decimals = if difference.abs() >= 10.0 { 1 } else { 2 };
    format!("{} %", crate::chart::signed(difference, decimals))
}

/// `+12.50 %`, as in the classic column.
pub(crate) fn classic(difference: f64) -> String {
    format!("{} %", Quantity::Difference.format(difference))
}
