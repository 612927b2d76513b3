//! `import`.

use crate::cli::import::Import;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn import(_context: &Context, _arguments: &Import) -> Outcome {
    Err(Failure::usage(
        "`import` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
