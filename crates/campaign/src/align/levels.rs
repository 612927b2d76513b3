//! The levels of `align`, and their positions on this target.

use super::AlignOptions;
use super::design::{Design, primary};
use crate::steps::experiment::fit::check_fit;
use crate::steps::experiment::stored_experiment::LevelPlaces;
use crate::steps::experiment::target_range::TargetRange;
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::targets::OpenTarget;
use stripewise_lab::experiment::{ExperimentPlan, Level};
use stripewise_lab::offsets::{OFFSET_36K, OFFSET_63_SECTORS, present, shift};
use stripewise_units::ByteSize;

/// The plan, and the positions of its levels.
pub(super) fn plan(
    options: &AlignOptions,
    design: &Design,
    opened: &OpenTarget,
    found: &TargetRange,
) -> Outcome<(ExperimentPlan, LevelPlaces)> {
    let mut place = found.place.clone();
    let offsets = offsets(design, found, &mut place);
    let shifted = shift(&found.usable, &offsets)?;
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
    check_fit(&plan, opened)?;
    plan.name = format!("partition offset on {}", options.target);
    plan.primary = primary(&plan.cells);
    plan.seed = options.measuring.seed.unwrap_or(plan.seed);
    place.offsets_bytes = offsets;
    place.moved_bytes = shifted.moved_bytes;
    Ok((plan, place))
}

/// The levels. Unless the user named offsets, writes to a file stay on the file system's
/// blocks: 36K then replaces 63 sectors.
fn offsets(design: &Design, found: &TargetRange, place: &mut LevelPlaces) -> Vec<u64> {
    let offsets = match (found.aligned_bytes, &design.offsets_bytes) {
        (Some(aligned), None) => {
            let unit = found.layout.stripe_unit_bytes.unwrap_or(1).max(1);
            against_measured(place.start_bytes, aligned, unit).to_vec()
        }
        _ => design.offsets(place.start_bytes),
    };
    let unasked = design.offsets_bytes.is_none() && offsets[0] == OFFSET_63_SECTORS;
    let page = found.page_bytes.unwrap_or(1).max(1);
    let stands_on_pages = found.usable.start_bytes.is_multiple_of(page);
    if !(unasked && design.writes && page > 512 && stands_on_pages) || offsets.contains(&OFFSET_36K)
    {
        return offsets;
    }
    place.notes.push(format!(
        "36K stands in for 63 sectors: it crosses stripe units in the same way, and writes stay on the {} blocks of the file system. Use --read or a device to measure 63 sectors themselves.",
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

/// The levels if units were measured not to begin at 1 MiB: the target's present start,
/// or 1 MiB instead of it, against a start aligned with the units; 63 sectors
/// against that if the present start is aligned already.
fn against_measured(start_bytes: Option<u64>, aligned: u64, unit: u64) -> [u64; 2] {
    let is_aligned = start_bytes.is_some_and(|start| start % unit == aligned % unit);
    match is_aligned {
        true => [OFFSET_63_SECTORS, aligned],
        false => [present(start_bytes), aligned],
    }
}

/// A write of part of a block is handled by the file system before the
/// disk sees it.
fn warn_of_partial_pages(
    design: &Design,
    found: &TargetRange,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_compared_with_one_that_is_aligned_with_measured_units() {
        // Units of 64K from byte 33,280 on.
        let (unit, aligned) = (64 << 10, (1 << 20) + 33_280);
        let levels = |start: Option<u64>| against_measured(start, aligned, unit);
        assert_eq!(levels(Some(0)), [1 << 20, aligned]);
        assert_eq!(levels(None), [1 << 20, aligned]);
        assert_eq!(levels(Some(32_256)), [32_256, aligned]);
        assert_eq!(levels(Some(33_280)), [32_256, aligned]);
    }
}
