//! `lab`.

use crate::cli::lab::Lab;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn lab(_context: &Context, _arguments: &Lab) -> Outcome {
    Err(Failure::usage(
        "`lab` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
