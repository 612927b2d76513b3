//! `report`.

use crate::cli::report::Report;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn report(_context: &Context, _arguments: &Report) -> Outcome {
    Err(Failure::usage(
        "`report` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
