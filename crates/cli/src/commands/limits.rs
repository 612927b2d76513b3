//! `limits`: which limit applies.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_result;
use crate::show::page::{check_outputs, format_of_answer, say_written, write_rendered};
use crate::switches::limits::Limits;
use stripewise_campaign::limits::{LimitsRequest, StoredLimits, limits as measure};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_units::{ByteSize, NameText, Nanoseconds};

/// The user's own load where only half of it is given.
const LOAD: (u64, u32) = (8 << 10, 32);

pub fn limits(context: &Context, arguments: &Limits) -> Outcome {
    check_outputs(&arguments.output, format_of_answer)?;
    let request = match &arguments.resume {
        Some(name) => resumed(context, name, arguments)?,
        None => with(arguments, LimitsRequest::default()),
    };
    let permissions = arguments.safety.permissions();
    let answered = measure(context, &request, &permissions)?;
    let found = &answered.found;
    print_result(context, &found.document, || found.sheet(), || found.line())?;
    for path in &arguments.output {
        let rendered = found.rendered(format_of_answer(path)?, &PictureLook::default())?;
        write_rendered(context, &rendered, path)?;
        say_written(context, path);
    }
    Ok(answered.exit)
}

/// As it was asked then; what is given again must be the same.
fn resumed(context: &Context, name: &str, arguments: &Limits) -> Outcome<LimitsRequest> {
    let before = StoredLimits::stored_request(context, name)?;
    let request = with(arguments, before.clone());
    request.refuse_differing(&before)?;
    Ok(request)
}

/// What is given, and the rest as it is here.
fn with(arguments: &Limits, rest: LimitsRequest) -> LimitsRequest {
    let given = arguments;
    let load = match (given.block, given.outstanding) {
        (None, None) => rest.load,
        (block, outstanding) => {
            let (bytes, depth) = rest.load.unwrap_or(LOAD);
            Some((
                block.map_or(bytes, ByteSize::bytes),
                outstanding.unwrap_or(depth),
            ))
        }
    };
    LimitsRequest {
        target: given.target.clone().unwrap_or(rest.target),
        size_bytes: given.size.map(ByteSize::bytes).or(rest.size_bytes),
        load,
        run_ns: given.step.map(Nanoseconds::ns).or(rest.run_ns),
        burst_ns_max: given.burst.map(Nanoseconds::ns).or(rest.burst_ns_max),
        read_only: given.read_only || rest.read_only,
        cloud: given.cloud.unwrap_or(rest.cloud),
        table: given
            .table
            .as_ref()
            .map(|path| path.as_text())
            .or(rest.table),
        price: given.price.or(rest.price),
        engine: given
            .engine
            .map_or(rest.engine, |engine| engine.to_string()),
        label: given.label.clone().or(rest.label),
        seed: given.seed.unwrap_or(rest.seed),
        resume: given.resume.clone(),
    }
}
