//! What people see: the plan and progress on stderr, answers on stdout.

pub mod advice;
pub mod comparisons;
pub mod context;
pub mod disks;
pub mod disks_like;
pub mod document;
pub mod experiment;
pub mod failures;
pub mod fills;
pub mod flashes;
pub mod lab;
pub mod observer;
pub mod page;
pub mod probes;
pub mod progress;
pub mod provision;
pub mod runs;
pub mod study;
pub mod style;
pub mod surface_tables;
pub mod surfaces;
pub mod terminal;
pub mod timed;
pub mod verified;
