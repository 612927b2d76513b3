//! The back ends. `cfg` on the operating system appears only here.

pub mod null;
