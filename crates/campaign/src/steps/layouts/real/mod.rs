//! Layouts that are made on real devices, measured and removed.
//!
//! | file | content |
//! |---|---|
//! | `spec` | what a layout is, from its levels; which are impossible; their capacity |
//! | `devices` | the named devices: their identities, which may be written |
//! | `journal` | records in the store what is about to be made |
//! | `make` | makes and removes array, partition, file system and mount |
//! | `slots` | devices divided into slots, for layouts side by side |
//! | `passes` | makes passes |
//! | `prepare` | from the request to a plan; anything refusable is refused there |
//! | `clean` | removes what a killed process or a power cut left |
//!
//! Nothing is written to a device that `--destroy` did not name this time, nor to one
//! that is no longer the device that it was when the experiment began. Only things with
//! identifiers that the journal had before they were written are removed.

pub mod clean;
pub mod devices;
pub mod journal;
pub mod make;
pub mod passes;
pub mod prepare;
pub mod slots;
pub mod spec;
