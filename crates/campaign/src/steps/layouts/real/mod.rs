//! Layouts that are made on real devices, measured and taken down again.
//!
//! | file | what |
//! |---|---|
//! | `options` | what a layout is, from its levels; what cannot be; how much it holds |
//! | `devices` | the devices that were named: who they are, who may be written |
//! | `journal` | what is about to be made, in the store before it is made |
//! | `make` | array, partition, file system, mount; and back |
//! | `slots` | devices divided into slots, for layouts side by side |
//! | `passes` | makes passes |
//! | `prepare` | from what is asked to a plan; everything that can be refused is refused there |
//! | `clean` | takes down what a killed process or a power cut left |
//!
//! Nothing is written to a device that was not named by `--destroy` this time, nor to one
//! that is not the device that it was when the experiment began. What is taken down bears
//! the identifiers that the journal had before they were written.

pub mod clean;
pub mod devices;
pub mod journal;
pub mod make;
pub mod passes;
pub mod prepare;
pub mod slots;
pub mod spec;
