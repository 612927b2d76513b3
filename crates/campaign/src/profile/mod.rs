//! `profile`: the surface of a disk, from timed reads.

mod compare;
mod document;
mod fill;
mod fill_document;
mod surface;

pub use compare::{ProfileComparison, SideFound, SpotCompared, compare_profiles};
pub use document::{ExtentFound, ProfileDocument, SpotFound};
pub use fill::{FillWish, fill};
pub use fill_document::{FillDocument, RestFound};
pub use stripewise_surface::fill::{Step, Stretch};
pub use stripewise_surface::profile::{
    BatchRate, ChangePercent, SeekCurve, SeekPoint, SpotChange, Spread,
};
pub use surface::{ProfileWish, profile};
