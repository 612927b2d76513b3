//! `limits`: which limit applies.

use crate::failure::Outcome;
use crate::output::{check_new, write_new};
use crate::show::context::Context;
use crate::show::line::print_answer;
use crate::show::page::{format_of_answer, name_the_rest};
use crate::switches::limits::Limits;
use stripewise_campaign::limits::{LimitsRequest, limits as measure, line, rendered, sheet};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_units::ByteSize;
use stripewise_workload::Request;

/// Default block size of the user's own load if only its depth is given.
const BLOCK_BYTES: u64 = 8 << 10;
const OUTSTANDING: u32 = 32;

pub fn limits(context: &Context, arguments: &Limits) -> Outcome {
    for path in &arguments.output {
        format_of_answer(path)?;
        check_new(path)?;
    }
    let load = match (arguments.block, arguments.outstanding) {
        (None, None) => None,
        (block, outstanding) => Some((
            block.map_or(BLOCK_BYTES, ByteSize::bytes),
            outstanding.unwrap_or(OUTSTANDING),
        )),
    };
    let request = LimitsRequest {
        target: arguments.target.clone(),
        size_bytes: arguments.size.map(ByteSize::bytes),
        load,
        run_ns: arguments.step.map(|step| step.0),
        burst_ns_max: arguments.burst.map(|burst| burst.0),
        read_only: arguments.read_only,
        cloud: arguments.cloud.into(),
        table: arguments.table.clone(),
        price: arguments.price,
        request: Request {
            engine: arguments.engine.to_string(),
            label: arguments.label.clone(),
            load_by_number: false,
            cache_by_name: false,
            ..Request::default()
        },
        seed: arguments.seed,
    };
    let permissions = arguments.safety.permissions();
    let (document, exit) = measure(context, &request, &permissions)?;
    match context.global.json {
        true => context.output.print_json(&document)?,
        false => {
            let sheet = sheet(&document);
            print_answer(context, || context.sheet_text(&sheet), || line(&document));
        }
    }
    for path in &arguments.output {
        let rendered = rendered(&document, format_of_answer(path)?, &PictureLook::default())?;
        name_the_rest(context, &rendered);
        write_new(path, &rendered.bytes)?;
    }
    Ok(exit)
}
