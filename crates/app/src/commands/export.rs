//! `export`.

use crate::cli::export::Export;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn export(_context: &Context, _arguments: &Export) -> Outcome {
    Err(Failure::usage(
        "`export` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
