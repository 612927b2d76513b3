//! A file per subcommand.

pub mod advise;
pub mod align;
pub mod baseline;
pub mod bench;
pub mod check;
pub mod compare;
pub mod convert;
pub mod disks;
pub mod doctor;
pub mod export;
pub mod format;
pub mod history;
pub mod import;
pub mod lab;
pub mod manual;
pub mod merge;
pub mod partition;
pub mod prepare;
pub mod probe;
pub mod profile;
pub mod report;
pub mod run;
pub mod sim;
pub mod sqlio;
pub mod verify;
