//! Several factors at once: layouts (what must be made: partition offset, stripe unit,
//! RAID level, file system, allocation unit) and cells (workloads that every layout runs).
//!
//! Every *pass* makes every layout, in random order, in the same place, measures its cells
//! and unmakes it. A row of the statistics is a pass. From the rows follow the set of the
//! best, the gain over what is there now, which limits are met, what matters and what does
//! not, and the plainest of the layouts that are good enough.
//!
//! Pure: whoever makes layouts hands in what was measured. The same numbers give the same
//! answer. Left out: how layouts are made, and how much of a pass can be made at once.

mod arithmetic;
mod conduct;
mod effects;
mod judge;
mod limits;
mod measured;
mod passes;
mod plain;
mod question;
mod set;
mod slots;
mod unjudged;
mod words;

pub use arithmetic::{Unmeasured, by_arithmetic};
pub use conduct::{LayoutCell, LayoutPlan, PassMaker, PassProgress, PassesEnded, conduct_passes};
pub use judge::{judge, resolution};
pub use measured::{CellValue, LayoutPass, Measured, MixCell};
pub use passes::{
    LAYOUTS_MAX, PASSES_MIN, SCREENING_FINISH, SCREENING_LEVEL, passes_likely, runs_per_making,
    to_drop,
};
pub use question::Question;
pub use set::{Factor, LayoutSet, LeftOut};
pub use slots::{SlotPlan, SlotProblem, slot_differences, slot_effects, slot_plan, without_slots};
pub use unjudged::unjudged;
pub use words::{effect_sentences, slot_note};

#[cfg(test)]
mod tests;
