//! `headroom`: how much more of a load a target carries.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_result;
use crate::show::page::{check_outputs, format_of, say_written, write_rendered};
use crate::switches::headroom::Headroom;
use stripewise_campaign::headroom::{HeadroomRequest, StoredHeadroom, headroom as find};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::Workload;

pub fn headroom(context: &Context, arguments: &Headroom) -> Outcome {
    let requested = match &arguments.resume {
        Some(name) => resumed(context, name, arguments)?,
        None => with(arguments, HeadroomRequest::default()),
    };
    let permissions = arguments.safety.permissions();
    check_outputs(&arguments.output, format_of)?;
    let answered = find(context, &requested, &permissions)?;
    let found = &answered.found;
    print_result(context, &found.document, || found.sheet(), || found.line())?;
    for path in &arguments.output {
        let rendered = found.rendered(format_of(path)?, &PictureLook::default())?;
        write_rendered(context, &rendered, path)?;
        say_written(context, path);
    }
    match answered.ended {
        Some(failure) => Err(failure),
        None => Ok(answered.exit),
    }
}

/// The request of the interrupted study; switches given again must agree with it.
fn resumed(context: &Context, name: &str, arguments: &Headroom) -> Outcome<HeadroomRequest> {
    let before = StoredHeadroom::stored_request(context, name)?;
    let requested = with(arguments, before.clone());
    requested.refuse_differing(&before)?;
    Ok(requested)
}

/// The given switches, with `rest` for the others.
fn with(arguments: &Headroom, rest: HeadroomRequest) -> HeadroomRequest {
    let given = arguments;
    HeadroomRequest {
        target: given.target.clone().unwrap_or(rest.target),
        load: given.load.clone().unwrap_or(rest.load),
        columns: given.columns.clone().or(rest.columns),
        slo: given.slo.unwrap_or(rest.slo),
        rate: given.rate.or(rest.rate),
        run_ns: given.run.map(Nanoseconds::ns).or(rest.run_ns),
        confirm_ns: given.confirm.map_or(rest.confirm_ns, Nanoseconds::ns),
        size_bytes: given.size.map(ByteSize::bytes).or(rest.size_bytes),
        engine: given
            .engine
            .map_or(rest.engine, |engine| engine.to_string()),
        base: Workload {
            cache: given.cache.unwrap_or(rest.base.cache),
            seed: given.seed.unwrap_or(rest.base.seed),
            ..rest.base
        },
        label: given.label.clone().or(rest.label),
        resume: given.resume.clone(),
    }
}
