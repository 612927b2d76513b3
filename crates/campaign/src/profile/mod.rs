//! `profile`: the surface of a disk, from timed reads.

mod document;
mod surface;

pub use document::{ProfileDocument, SpotFound};
pub use surface::{ProfileWish, profile};
