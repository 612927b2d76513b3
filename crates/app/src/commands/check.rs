//! `check`.

use crate::cli::check::Check;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn check(_context: &Context, _arguments: &Check) -> Outcome {
    Err(Failure::usage(
        "`check` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
