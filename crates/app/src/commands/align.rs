//! `align`.

use crate::cli::align::Align;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn align(_context: &Context, _arguments: &Align) -> Outcome {
    Err(Failure::usage(
        "`align` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
