//! How a command fails: as the use case below it does.

pub use stripewise_campaign::{Failure, Outcome};
