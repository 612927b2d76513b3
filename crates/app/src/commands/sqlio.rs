//! `sqlio`.

use crate::cli::sqlio::Sqlio;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn sqlio(_context: &Context, _arguments: &Sqlio) -> Outcome {
    Err(Failure::usage(
        "`sqlio` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
