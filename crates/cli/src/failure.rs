//! How a command fails: like the use case behind it.

pub use stripewise_campaign::{Failure, Outcome};
