//! `probe`: what a target does not tell.

use crate::context::Context;
use crate::failure::Outcome;
use crate::show::document::{print_json, print_text};
use crate::show::probes;
use crate::switches::probe::{Probe, Stripe, What};
use stripewise_campaign::Permissions;
use stripewise_campaign::probe::{StripeWish, stripe as probe_stripe};

pub fn probe(context: &Context, arguments: &Probe) -> Outcome {
    match &arguments.what {
        What::Stripe(stripe) => self::stripe(context, stripe),
    }
}

fn stripe(context: &Context, arguments: &Stripe) -> Outcome {
    let wish = StripeWish {
        target: arguments.target.clone(),
        time_ns_max: arguments.time.0,
        seed: arguments.seed,
    };
    let permissions = Permissions {
        busy_ok: arguments.busy_ok,
        ..Permissions::default()
    };
    let (document, exit) = probe_stripe(context, &wish, &permissions)?;
    if context.global.json {
        print_json(&document)?;
    } else {
        print_text(&probes::stripe(&document));
    }
    Ok(exit)
}
