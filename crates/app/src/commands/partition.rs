//! `partition`.

use crate::cli::partition::Partition;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn partition(_context: &Context, _arguments: &Partition) -> Outcome {
    Err(Failure::usage(
        "`partition` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
