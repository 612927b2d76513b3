//! Experiments over layouts: shared code of `advise` and plans with several factors.
//!
//! | file | content |
//! |---|---|
//! | `base` | passes on an existing target, where no layouts are made |
//! | `commands` | the commands that make a layout |
//! | `divided` | divides devices into slots |
//! | `stored_layouts` | the stored document |
//! | `factors` | the meaning of a factor on a simulated array |
//! | `eta` | the remaining time |
//! | `pages` | the answer as a page or picture |
//! | `plan` | from the request to a plan, its places and its arrays |
//! | `real` | makes layouts on real devices, and passes over them |
//! | `runs` | runs of the cells of a layout on a real target |
//! | `simulated` | makes passes on simulated arrays |
//! | `measured_cells` | what an experiment needs of a run, and options of its runs |
//! | `session` | one session, from a plan to the answer |

pub mod base;
pub mod commands;
pub mod divided;
pub mod eta;
pub mod factors;
pub mod measured_cells;
pub mod pages;
pub mod plan;
pub mod real;
pub mod runs;
pub mod session;
pub mod simulated;
pub mod stored_layouts;
