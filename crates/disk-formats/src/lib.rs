//! What lies on disks, decoded: partition tables, superblocks, tables of device
//! mapper, and what Windows answers about all of them. Bytes in, facts out. And the
//! law of crossings, which says what a place on striped disks costs.
//!
//! Nothing here opens a file or asks an operating system. Bytes may be damaged
//! or hostile: every number from them is bounded before it is used, what does
//! not fit is refused or reported, and nothing is guessed.
#![forbid(unsafe_code)]

pub mod crossing;
pub mod health_log;
pub mod ioctl;
pub mod mapper_answer;
pub mod mapper_table;
pub mod marks;
pub mod medium;
pub mod superblocks;
pub mod tables;
pub mod volume_log;
