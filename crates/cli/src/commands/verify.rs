//! `verify`: does storage keep the data it was given?

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::multi_host::{HostDocument, MultiHost};
use crate::show::context::Context;
use crate::show::line::{print_answer, print_or, print_result};
use crate::switches::verify::Verify;
use serde::Serialize;
use std::path::Path;
use stripewise_campaign::power_cut::{
    PowerCutOptions, PowerCutResult, WitnessPlace, after_cut, power_cut,
};
use stripewise_campaign::steps::verification::document::VerifyDocument;
use stripewise_campaign::steps::verification::text::verdict;
use stripewise_campaign::steps::verification::{OUTSTANDING_USUAL, THREADS_USUAL, exit_of};
use stripewise_campaign::steps::verification_page::sheet;
use stripewise_campaign::verify::{
    Caching, DURATION_NS_USUAL, VerifyOptions, judge_image, plan_of_size, verify as run_verify,
};
use stripewise_units::{ByteSize, Nanoseconds};

pub fn verify(context: &Context, arguments: &Verify) -> Outcome {
    if let (true, Some(size)) = (arguments.plan, arguments.size) {
        let plan = plan_of_size(&options(arguments, Vec::new()), size.bytes())?;
        print_or(context, &plan, || {
            print_answer(
                context,
                || context.output.shown(&plan.text()),
                || plan.line(),
            );
        })?;
        return Ok(Exit::Done);
    }
    let mut ended = None;
    let document = match (&arguments.after_cut, &arguments.witness) {
        (Some(file), _) => judge_cut(context, arguments, file)?,
        (None, Some(witness)) => {
            let cut = wait_for_cut(context, arguments, witness)?;
            ended = cut.ended;
            cut.document
        }
        (None, None) if arguments.image => image(context, arguments)?,
        (None, None) => burn_in(context, arguments)?,
    };
    if let Some(multi_host) = context.multi_host.as_deref() {
        return of_all(context, multi_host, &document);
    }
    print_result(
        context,
        &document,
        || sheet(&document),
        || verdict(&document),
    )?;
    match ended {
        Some(failure) => Err(failure),
        None => Ok(exit_of(context, &document)),
    }
}

/// The findings of one of several hosts.
#[derive(Serialize)]
struct HostVerification {
    host: String,
    #[serde(flatten)]
    document: VerifyDocument,
}

/// On the leading host: the findings of all, host by host. The worst decides.
fn of_all(context: &Context, multi_host: &dyn MultiHost, own: &VerifyDocument) -> Outcome {
    let text = |error: serde_json::Error| Failure::of(Exit::InputOutput, error);
    let found = multi_host.found(context, serde_json::to_value(own).map_err(text)?)?;
    if !multi_host.is_leader() {
        return Ok(exit_of(context, own));
    }
    let of_host = |found: HostDocument| {
        let document = serde_json::from_value(found.document).map_err(text)?;
        let host = found.host;
        Ok(HostVerification { host, document })
    };
    let all: Vec<HostVerification> = found.into_iter().map(of_host).collect::<Outcome<_>>()?;
    print_or(context, &all, || {
        for of in &all {
            let whole = || format!("{}:\n{}", of.host, context.sheet_text(&sheet(&of.document)));
            let line = || format!("{}: {}", of.host, verdict(&of.document));
            print_answer(context, whole, line);
        }
    })?;
    let exits = all.iter().map(|of| exit_of(context, &of.document));
    // Wrong data first, then any other failure.
    let worst = exits.max_by_key(|exit| match exit {
        Exit::Finding => 2,
        Exit::Done => 0,
        _ => 1,
    });
    Ok(worst.unwrap_or(Exit::Done))
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

/// Writes until the power fails.
fn wait_for_cut(context: &Context, arguments: &Verify, witness: &str) -> Outcome<PowerCutResult> {
    let buffered = match arguments.cache {
        Caching::Direct => false,
        Caching::Buffered => true,
        Caching::Mixed => {
            return Err(Failure::usage(
                "--power-cut goes through one cache at a time",
                "use --cache direct or buffered, in a run for each",
            ));
        }
    };
    let options = PowerCutOptions {
        targets: arguments.targets.clone(),
        witness: witness
            .parse::<WitnessPlace>()
            .unwrap_or_else(|never| match never {}),
        durability: arguments.sync,
        buffered,
        size_bytes: arguments.size.map(ByteSize::bytes),
        threads: arguments.threads.unwrap_or(THREADS_USUAL),
        outstanding: arguments.outstanding.unwrap_or(OUTSTANDING_USUAL),
        load_by_number: arguments.threads.is_some() || arguments.outstanding.is_some(),
        duration_ns: arguments.duration.map(Nanoseconds::ns),
        engine: arguments.engine,
        faults: arguments.inject.clone(),
    };
    let permissions = arguments.safety.permissions();
    let mut store = context.open_store()?;
    power_cut(context, &mut store, &options, &permissions)
}

fn judge_cut(context: &Context, arguments: &Verify, file: &Path) -> Outcome<VerifyDocument> {
    let permissions = arguments.safety.permissions();
    let mut store = context.open_store()?;
    after_cut(context, &mut store, file, &arguments.targets, &permissions)
}

fn burn_in(context: &Context, arguments: &Verify) -> Outcome<VerifyDocument> {
    let multi_host = context.multi_host.as_deref();
    let targets = match multi_host {
        Some(one) => one.targets(context, one.is_leader().then_some(&arguments.targets[..]))?,
        None => arguments.targets.clone(),
    };
    let options = VerifyOptions {
        companion: multi_host.map(MultiHost::companion),
        ..options(arguments, targets)
    };
    let permissions = arguments.safety.permissions();
    let mut store = context.open_store()?;
    run_verify(context, &mut store, &options, &permissions)
}

/// Options from the switches, for these targets.
fn options(arguments: &Verify, targets: Vec<String>) -> VerifyOptions {
    VerifyOptions {
        targets,
        companion: None,
        duration_ns: arguments
            .duration
            .map_or(DURATION_NS_USUAL, Nanoseconds::ns),
        size_bytes: arguments.size.map(ByteSize::bytes),
        capacity: arguments.capacity,
        caching: arguments.cache,
        threads: arguments.threads.unwrap_or(THREADS_USUAL),
        outstanding: arguments.outstanding.unwrap_or(OUTSTANDING_USUAL),
        load_by_number: arguments.threads.is_some() || arguments.outstanding.is_some(),
        read_percent: arguments.read_percent,
        profile: arguments.profile.clone(),
        seed: arguments.seed,
        engine: arguments.engine,
        stop_after: arguments.stop_after,
        faults: arguments.inject.clone(),
    }
}
