//! Decodes on-disk formats: partition tables, superblocks, device-mapper tables, and Windows'
//! answers about all of them. Bytes in, facts out. Also the law of crossings, which gives the cost
//! of an offset on striped disks.
//!
//! Nothing here opens a file or calls the operating system. Bytes may be damaged or hostile: every
//! number from them is bounded before use, invalid data is rejected or reported, and nothing is
//! guessed.
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
