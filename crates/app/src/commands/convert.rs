//! `convert`.

use crate::cli::convert::Convert;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn convert(_context: &Context, _arguments: &Convert) -> Outcome {
    Err(Failure::usage(
        "`convert` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
