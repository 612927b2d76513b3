//! `-p`, `-a` and the masks of parameter files.
//!
//! A single mask applies to the whole process: each thread runs on any
//! of its processors, as in SQLIO. With masks that differ from line to line,
//! each thread stays on one processor of its own mask, in turn: threads of a run
//! are either all pinned or none.

use stripewise_compat::sqlio::command::{Affinity, Command};
use stripewise_compat::sqlio::{Setup, SetupJob};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_io_engine::backend::thread;
use stripewise_machine::System;

/// The processors for threads, in turn; empty: no pinning.
pub fn settle(context: &Context, command: &Command, setup: &Setup) -> Outcome<Vec<u32>> {
    let online = System::live().host().cpu.count_online.unwrap_or(64);
    if ideal(command) {
        context.note(
            "this system has no ideal-processor hint; its scheduler decides where threads run",
        );
        return Ok(Vec::new());
    }
    let masks: Vec<u64> = setup.jobs.iter().map(|job| job.mask).collect();
    let Some(&first) = masks.first() else {
        return Ok(Vec::new());
    };
    if masks.iter().all(|&mask| mask == 0) {
        return Ok(Vec::new());
    }
    if masks.iter().any(|&mask| mask != first) {
        let lists = setup.jobs.iter().map(|job| in_turn(context, job, online));
        return Ok(lists.collect::<Outcome<Vec<_>>>()?.concat());
    }
    let cpus = processors(context, first, online)?;
    let round_robin = matches!(
        command.affinity,
        Affinity::Mask {
            round_robin: true,
            ..
        }
    );
    if round_robin && command.parameter_file.is_none() {
        return Ok(cpus);
    }
    match thread::pin_to(&cpus) {
        Ok(()) => Ok(Vec::new()),
        Err(error) => {
            context.note(format!(
                "threads could not be kept on the processors of mask {first:#x}: {error}"
            ));
            Ok(cpus)
        }
    }
}

fn ideal(command: &Command) -> bool {
    matches!(
        command.affinity,
        Affinity::Processor { ideal: true, .. } | Affinity::Mask { ideal: true, .. }
    ) && command.parameter_file.is_none()
}

/// A processor for each thread of a job.
fn in_turn(context: &Context, job: &SetupJob, online: u32) -> Outcome<Vec<u32>> {
    let cpus = match job.mask {
        0 => (0..online.max(1)).collect(),
        mask => processors(context, mask, online)?,
    };
    let threads = job.workload.threads as usize;
    Ok(cpus.into_iter().cycle().take(threads).collect())
}

/// The existing processors of a mask; reports the others.
fn processors(context: &Context, mask: u64, online: u32) -> Outcome<Vec<u32>> {
    let there = there(mask, online)?;
    let named = mask.count_ones();
    if there.len() < named as usize {
        context.note(format!(
            "of the {named} processors of mask {mask:#x} this machine has {}",
            there.len()
        ));
    }
    Ok(there)
}

fn there(mask: u64, online: u32) -> Outcome<Vec<u32>> {
    let there: Vec<u32> = (0..online.min(64))
        .filter(|cpu| mask >> cpu & 1 == 1)
        .collect();
    match there.is_empty() {
        false => Ok(there),
        true => Err(Failure::usage(
            format!("mask {mask:#x} names none of the {online} processors of this machine"),
            "bit n stands for processor n, from 0; 0 means any",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_bits_of_processors_that_are_there() {
        assert_eq!(there(0b1011, 8).unwrap(), [0, 1, 3]);
        assert_eq!(there(0b1011, 2).unwrap(), [0, 1]);
        assert!(there(0b100, 2).is_err());
    }
}
