//! `disks`: the disks of this machine, and whether their layout is right.

use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::show::line::print_answer;
use crate::switches::disks::{Disks, Like};
use stripewise_campaign::disks::{
    ArrayFacts, DisksOptions, disks as look, disks_line, disks_text, like,
};
use stripewise_units::ByteSize;

pub fn disks(context: &Context, arguments: &Disks) -> Outcome {
    if arguments.keep && facts(arguments).is_none() {
        return Err(Failure::usage(
            "--keep without anything to keep",
            "give --stripe-unit, --raid, --cache-size or --note with it",
        ));
    }
    let sizes = arguments.block_sizes.iter();
    let result = look(
        context,
        &DisksOptions {
            target: arguments.target.clone(),
            block_sizes_bytes: sizes.map(|size| size.bytes()).collect(),
            facts: facts(arguments),
            keep: arguments.keep || arguments.note.is_some() || arguments.forget,
            sysroot: arguments.sysroot.clone(),
            sector_bytes: arguments.sector.map(ByteSize::bytes),
        },
    )?;
    if context.global.json {
        context.output.print_json(&result.document())?;
    } else {
        // Output that imitates another program has that program's width.
        let like = match arguments.like {
            Some(Like::Diskpar) => Some(like::diskpar(&result.survey)),
            Some(Like::Diskext) => Some(like::diskext(&result.survey)),
            None => None,
        };
        match like {
            Some(text) => context.output.print_lines(&text),
            None => print_answer(
                context,
                || {
                    let text = disks_text(&result, &|text| context.style.heading(text));
                    context.output.shown(&text)
                },
                || disks_line(&result),
            ),
        }
    }
    result
        .survey
        .notes
        .iter()
        .for_each(|note| context.output.note(note));
    Ok(result.exit())
}

/// The array facts given by switches; `None` if there are none.
fn facts(arguments: &Disks) -> Option<ArrayFacts> {
    let facts = ArrayFacts {
        stripe_unit_bytes: arguments.stripe_unit.map(ByteSize::bytes),
        raid_level: arguments.raid.as_ref().map(|raid| raid.level.clone()),
        raid_disks: arguments.raid.as_ref().and_then(|raid| raid.disks),
        cache_size_bytes: arguments.cache_size.map(ByteSize::bytes),
        note: arguments.note.clone(),
        measured: None,
        forget: arguments.forget,
    };
    (facts != ArrayFacts::default()).then_some(facts)
}
