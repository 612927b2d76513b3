//! `baseline`.

use crate::cli::baseline::Baseline;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn baseline(_context: &Context, _arguments: &Baseline) -> Outcome {
    Err(Failure::usage(
        "`baseline` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
