//! `disks`.

use crate::cli::disks::Disks;
use crate::context::Context;
use crate::failure::{Failure, Outcome};

pub fn disks(_context: &Context, _arguments: &Disks) -> Outcome {
    Err(Failure::usage(
        "`disks` is not there yet",
        "`stripewise --help` lists what is",
    ))
}
