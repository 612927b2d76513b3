//! `format`.

use crate::cli::format::Format;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn format(_context: &Context, _arguments: &Format) -> Outcome {
    Err(Failure::usage(
        "`format` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
