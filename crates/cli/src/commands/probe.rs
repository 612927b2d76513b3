//! `probe`: finds what a target does not report.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::{print_or, print_sheet};
use crate::switches::probe::{Flash, Probe, Stripe, What};
use stripewise_campaign::Permissions;
use stripewise_campaign::probe::{
    FlashOptions, StripeOptions, flash as probe_flash, flash_sheet, stripe as probe_stripe,
    stripe_sheet,
};
use stripewise_units::ByteSize;

pub fn probe(context: &Context, arguments: &Probe) -> Outcome {
    match &arguments.what {
        What::Stripe(stripe) => self::stripe(context, stripe),
        What::Flash(flash) => self::flash(context, flash),
    }
}

fn stripe(context: &Context, arguments: &Stripe) -> Outcome {
    let options = StripeOptions {
        target: arguments.target.clone(),
        time_ns_max: arguments.time.0,
        seed: arguments.seed,
        accept: arguments.accept,
    };
    let permissions = Permissions {
        busy_ok: arguments.busy_ok,
        ..Permissions::default()
    };
    let (document, exit) = probe_stripe(context, &options, &permissions)?;
    print_or(context, &document, || {
        print_sheet(context, &stripe_sheet(&document));
    })?;
    Ok(exit)
}

fn flash(context: &Context, arguments: &Flash) -> Outcome {
    let options = FlashOptions {
        target: arguments.target.clone(),
        write_bytes: arguments.write.map(ByteSize::bytes),
        time_ns_max: arguments.time.0,
        seed: arguments.seed,
    };
    let permissions = Permissions {
        overwrite: arguments.overwrite,
        destroy: arguments.destroy.iter().cloned().collect(),
        busy_ok: arguments.busy_ok,
        ..Permissions::default()
    };
    let (document, exit) = probe_flash(context, &options, &permissions)?;
    print_or(context, &document, || {
        print_sheet(context, &flash_sheet(&document));
    })?;
    Ok(exit)
}
