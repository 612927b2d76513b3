//! `probe`: what a target does not tell.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::{folded, print_answer};
use crate::switches::probe::{Flash, Probe, Stripe, What};
use stripewise_campaign::Permissions;
use stripewise_campaign::probe::{
    FlashWish, StripeWish, flash as probe_flash, flash_text, stripe as probe_stripe, stripe_text,
};
use stripewise_units::ByteSize;

pub fn probe(context: &Context, arguments: &Probe) -> Outcome {
    match &arguments.what {
        What::Stripe(stripe) => self::stripe(context, stripe),
        What::Flash(flash) => self::flash(context, flash),
    }
}

fn stripe(context: &Context, arguments: &Stripe) -> Outcome {
    let wish = StripeWish {
        target: arguments.target.clone(),
        time_ns_max: arguments.time.0,
        seed: arguments.seed,
        accept: arguments.accept,
    };
    let permissions = Permissions {
        busy_ok: arguments.busy_ok,
        ..Permissions::default()
    };
    let (document, exit) = probe_stripe(context, &wish, &permissions)?;
    if context.global.json {
        context.output.print_json(&document)?;
    } else {
        let text = stripe_text(&document);
        print_answer(context, || text.clone(), || folded(&text));
    }
    Ok(exit)
}

fn flash(context: &Context, arguments: &Flash) -> Outcome {
    let wish = FlashWish {
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
    let (document, exit) = probe_flash(context, &wish, &permissions)?;
    if context.global.json {
        context.output.print_json(&document)?;
    } else {
        let text = flash_text(&document);
        print_answer(context, || text.clone(), || folded(&text));
    }
    Ok(exit)
}
