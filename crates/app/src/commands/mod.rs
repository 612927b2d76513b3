//! A file per subcommand.

pub mod bench;
pub mod doctor;
pub mod history;
pub mod manual;
pub mod prepare;
pub mod run;
pub mod sim;
