//! `profile`: measures the surface of a disk by timed reads.

mod fill;
mod sensor;
mod surface;

pub use crate::steps::surface::compare::{
    ProfileComparison, SideFound, SpotCompared, compare_profiles,
};
pub use crate::steps::surface::compare_text::{line as comparison_line, text as comparison_text};
pub use fill::{FillOptions, fill};
pub use surface::{ProfileOptions, profile};
