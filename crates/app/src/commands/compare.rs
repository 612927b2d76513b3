//! `compare`.

use crate::cli::compare::Compare;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn compare(_context: &Context, _arguments: &Compare) -> Outcome {
    Err(Failure::usage(
        "`compare` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
