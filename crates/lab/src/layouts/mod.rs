//! Several factors at once: layouts (settings to create: partition offset, stripe unit,
//! RAID level, file system, allocation unit) and cells (workloads that every layout runs).
//!
//! Every *pass* makes every layout, in random order, in the same place, measures its cells
//! and removes it. A row of the statistics is a pass. The rows give the set of the
//! best, the gain over the present layout, which limits are met, which factors matter,
//! and the plainest of the layouts that are good enough.
//!
//! Pure: the caller makes the layouts and passes in the measurements. The same values give the
//! same answer. Not covered: how layouts are made, and how much of a pass can be made at once.

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
pub use conduct::{LayoutCell, LayoutPlan, PassProgress, PassRunner, PassesEnded, conduct_passes};
pub use judge::{judge, resolution};
pub use measured::{CellValue, LayoutPass, Measured, MixCell};
pub use passes::{
    LAYOUTS_MAX, PASSES_MIN, SCREENING_FINISH, SCREENING_LEVEL, passes_likely, runs_per_making,
    to_drop,
};
pub use question::Question;
pub use set::{Factor, LayoutSet, LeftOut};
pub use slots::{SlotPlan, slot_differences, slot_effects, slot_plan, without_slots};
pub use unjudged::unjudged;
pub use words::{effect_sentences, slot_note};

#[cfg(test)]
mod tests;
