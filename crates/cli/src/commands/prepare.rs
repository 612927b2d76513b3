//! `prepare`: makes a test file that is kept.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_or;
use crate::switches::small::Prepare;
use stripewise_campaign::prepare::{PrepareOptions, prepare as make};
use stripewise_units::{format_bytes, shell_word};
use stripewise_workload::DataPattern;

pub fn prepare(context: &Context, arguments: &Prepare) -> Outcome {
    let made = make(
        context,
        &PrepareOptions {
            path: arguments.path.clone(),
            size_bytes: arguments.size.bytes(),
            data: DataPattern {
                compressible_percent: arguments.compressible,
                dedupable_percent: arguments.dedupable,
            },
            seed: arguments.seed,
            busy_ok: arguments.busy_ok,
        },
    )?;
    print_or(context, &made, || {
        context.output.print_text(&format!(
            "Made {}, {}; `stripewise run {}` may read and write it.\n",
            made.path,
            format_bytes(made.size_bytes),
            shell_word(&made.path)
        ));
    })?;
    Ok(Exit::Done)
}
