//! `advise`: which layout suits which use.

use crate::failure::{Failure, Outcome};
use crate::request::profile_of;
use crate::show::advice::show;
use crate::show::context::Context;
use crate::show::page::refuse_existing;
use crate::switches::advise::Advise;
use stripewise_campaign::advise::{AdviseOptions, advise as run_advise};
use stripewise_lab::layouts::{Factor, LayoutPlan};
use stripewise_units::{ByteSize, Nanoseconds};
use stripewise_workload::Workload;

pub fn advise(context: &Context, arguments: &Advise) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    let options = options(arguments)?;
    let mut store = context.open_store()?;
    let permissions = arguments.safety.permissions();
    let advised = run_advise(context, &mut store, &options, &permissions)?;
    let exit = show(context, &advised, arguments.report.as_deref())?;
    // Show what was measured before a failure, then report the failure.
    advised.ended.map(|()| exit)
}

fn options(arguments: &Advise) -> Outcome<AdviseOptions> {
    let vary = arguments.vary.iter().map(|text| factor(text));
    Ok(AdviseOptions {
        target: arguments.target.clone(),
        profile: profile_of(
            arguments.profile.as_deref(),
            arguments.mix.as_deref(),
            arguments.cores,
        )?,
        vary: vary.collect::<Outcome<_>>()?,
        margin_percent: arguments.margin.unwrap_or(LayoutPlan::MARGIN_PERCENT),
        passes_max: arguments.passes,
        time_ns: arguments.time.map(Nanoseconds::ns),
        size_bytes: arguments.size.map(ByteSize::bytes),
        seed: arguments.seed.unwrap_or(Workload::SEED),
        label: arguments.label.clone(),
        slots: arguments.slots,
    })
}

/// `stripe-unit=64K,256K`.
fn factor(text: &str) -> Outcome<Factor> {
    let (name, levels) = text.split_once('=').ok_or_else(|| {
        Failure::usage(
            format!("--vary {text} has no levels"),
            "write a factor with its levels: --vary stripe-unit=64K,256K",
        )
    })?;
    let levels = levels
        .split(',')
        .map(str::trim)
        .filter(|level| !level.is_empty());
    Ok(Factor {
        name: name.trim().to_owned(),
        levels: levels.map(str::to_owned).collect(),
    })
}
