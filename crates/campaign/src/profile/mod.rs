//! `profile`: measures the surface of a disk by timed reads.

mod compare;
mod compare_text;
mod fill;
mod sensor;
mod surface;

pub use compare::{ProfileComparison, SideFound, SpotCompared, compare_profiles};
pub use compare_text::{line as comparison_line, text as comparison_text};
pub use fill::{FillOptions, fill};
pub use surface::{ProfileOptions, profile};
