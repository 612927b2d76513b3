//! `verify`: does it keep what it was given?

use crate::context::Context;
use crate::failure::Failure;
use crate::failure::Outcome;
use crate::show::document::print_json;
use crate::show::verified::print_verified;
use crate::switches::verify::Verify;
use stripewise_campaign::steps::verification::document::VerifyDocument;
use stripewise_campaign::steps::verification::exit_of;
use stripewise_campaign::verify::{VerifyOptions, judge_image, verify as run_verify};
use stripewise_units::{ByteSize, Nanoseconds};

/// Threads and outstanding operations where nobody says how many.
const THREADS_USUAL: u32 = 2;
const OUTSTANDING_USUAL: u32 = 8;

pub fn verify(context: &Context, arguments: &Verify) -> Outcome {
    let document = match arguments.image {
        true => image(context, arguments)?,
        false => burn_in(context, arguments)?,
    };
    if context.global.json {
        print_json(&document)?;
    } else {
        print_verified(&document);
    }
    Ok(exit_of(context, &document))
}

fn image(context: &Context, arguments: &Verify) -> Outcome<VerifyDocument> {
    let [name] = &arguments.targets[..] else {
        return Err(Failure::usage(
            "--image takes one target",
            "run it once for each",
        ));
    };
    let permissions = arguments.safety.permissions();
    let mut store = context.open_store()?;
    let size_bytes = arguments.size.map(ByteSize::bytes);
    judge_image(context, &mut store, name, size_bytes, &permissions)
}

fn burn_in(context: &Context, arguments: &Verify) -> Outcome<VerifyDocument> {
    let options = VerifyOptions {
        targets: arguments.targets.clone(),
        duration_ns: Nanoseconds::ns(arguments.duration),
        size_bytes: arguments.size.map(ByteSize::bytes),
        capacity: arguments.capacity,
        caching: arguments.cache.caching(),
        threads: arguments.threads.unwrap_or(THREADS_USUAL),
        outstanding: arguments.outstanding.unwrap_or(OUTSTANDING_USUAL),
        load_by_number: arguments.threads.is_some() || arguments.outstanding.is_some(),
        read_percent: arguments.read_percent,
        seed: arguments.seed,
        engine: arguments.engine,
        stop_after: arguments.stop_after,
        faults: arguments.inject.clone(),
    };
    let permissions = arguments.safety.permissions();
    let mut store = context.open_store()?;
    run_verify(context, &mut store, &options, &permissions)
}
