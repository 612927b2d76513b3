//! `headroom`: how much more of a load a target carries.

use crate::failure::Outcome;
use crate::output::{check_new, write_new};
use crate::show::context::Context;
use crate::show::line::print_answer;
use crate::show::page::{format_of, name_the_rest};
use crate::switches::headroom::Headroom;
use stripewise_campaign::headroom::{HeadroomRequest, headroom as find};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::Workload;

pub fn headroom(context: &Context, arguments: &Headroom) -> Outcome {
    let asked = HeadroomRequest {
        target: arguments.target.clone(),
        load: arguments.load.clone(),
        columns: arguments.columns.clone(),
        slo: arguments.slo,
        rate: arguments.rate,
        run_ns: arguments.run.map(Nanoseconds::ns),
        confirm_ns: arguments.confirm.ns(),
        size_bytes: arguments.size.map(ByteSize::bytes),
        engine: arguments.engine.to_string(),
        base: Workload {
            cache: arguments.cache,
            seed: arguments.seed,
            ..Workload::default()
        },
        label: arguments.label.clone(),
        resume: arguments.resume.clone(),
    };
    let permissions = arguments.safety.permissions();
    for path in &arguments.output {
        format_of(path)?;
        check_new(path)?;
    }
    let answered = find(context, &asked, &permissions)?;
    let found = &answered.found;
    if context.global.json {
        context.output.print_json(&found.document)?;
    } else {
        let sheet = found.sheet();
        print_answer(context, || context.sheet_text(&sheet), || found.line());
    }
    for path in &arguments.output {
        let rendered = found.rendered(format_of(path)?, &PictureLook::default())?;
        name_the_rest(context, &rendered);
        write_new(path, &rendered.bytes)?;
    }
    match answered.ended {
        Some(failure) => Err(failure),
        None => Ok(answered.exit),
    }
}
