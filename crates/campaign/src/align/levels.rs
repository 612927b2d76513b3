//! The levels of `align`, and where they lie on this target.

use super::AlignOptions;
use super::design::{Design, primary};
use crate::failure::{Failure, Outcome};
use crate::steps::experiment::fit::check_fit;
use crate::steps::experiment::ground::TargetGround;
use crate::steps::experiment::kept::LevelPlaces;
use crate::steps::targets::OpenTarget;
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_lab::offsets::{OFFSET_36K, OFFSET_63_SECTORS, shift};
use stripewise_units::ByteSize;

/// The plan, and where its levels lie.
pub(super) fn plan(
    options: &AlignOptions,
    design: &Design,
    aimed: &OpenTarget,
    found: &TargetGround,
) -> Outcome<(ExperimentPlan, LevelPlaces)> {
    let mut place = found.place.clone();
    let offsets = offsets(design, found, &mut place);
    let shifted = shift(&found.ground, &offsets).map_err(|problem| {
        let hint = problem.hint().to_owned();
        Failure::usage(problem.to_string(), hint)
    })?;
    warn_of_partial_pages(
        design,
        found,
        &offsets,
        &shifted.base_offsets_bytes,
        &mut place,
    );
    let levels: Vec<Level> = offsets
        .iter()
        .zip(&shifted.base_offsets_bytes)
        .map(|(offset, base)| Level {
            size_bytes: Some(shifted.size_bytes),
            ..Level::offset(ByteSize(*offset).to_string(), *base)
        })
        .collect();
    let cells = design.cells(options.measuring.ramp_and_step_ns());
    let mut plan = ExperimentPlan::new("partition offset", levels, cells);
    check_fit(&plan, aimed)?;
    plan.name = format!("partition offset on {}", options.target);
    plan.primary = primary(&plan.cells);
    plan.seed = options.measuring.seed.unwrap_or(plan.seed);
    place.offsets_bytes = offsets;
    place.moved_bytes = shifted.moved_bytes;
    Ok((plan, place))
}

/// The levels. Writes into a file stay on the file system's blocks where nobody
/// named other offsets: 36K stands for 63 sectors then.
fn offsets(design: &Design, found: &TargetGround, place: &mut LevelPlaces) -> Vec<u64> {
    let offsets = design.offsets(place.start_bytes);
    let unasked = design.offsets_bytes.is_none() && offsets[0] == OFFSET_63_SECTORS;
    let page = found.page_bytes.unwrap_or(1).max(1);
    let stands_on_pages = found.ground.start_bytes.is_multiple_of(page);
    if !(unasked && design.writes && page > 512 && stands_on_pages) || offsets.contains(&OFFSET_36K)
    {
        return offsets;
    }
    place.notes.push(format!(
        "36K stands for 63 sectors: it crosses stripe units alike, and writes stay on the {} blocks of the file system. --read or a device shows 63 sectors themselves.",
        ByteSize(page)
    ));
    offsets
        .into_iter()
        .map(|offset| {
            if offset == OFFSET_63_SECTORS {
                OFFSET_36K
            } else {
                offset
            }
        })
        .collect()
}

/// A write of part of a block is the file system's business before it is the
/// disk's.
fn warn_of_partial_pages(
    design: &Design,
    found: &TargetGround,
    offsets: &[u64],
    bases: &[u64],
    place: &mut LevelPlaces,
) {
    let Some(page) = found.page_bytes.filter(|page| design.writes && *page > 512) else {
        return;
    };
    let partial: Vec<String> = offsets
        .iter()
        .zip(bases)
        .filter(|(_, base)| !base.is_multiple_of(page))
        .map(|(offset, _)| ByteSize(*offset).to_string())
        .collect();
    if partial.is_empty() {
        return;
    }
    let warning = format!(
        "Writes at {} begin inside the {} blocks of the file system, which handles such writes one after the other: these rows are the file system's numbers, not the disk's.",
        partial.join(", "),
        ByteSize(page)
    );
    place.notes.push(warning);
}
