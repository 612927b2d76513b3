//! Experiments over layouts: what `advise` and plans with several factors share.
//!
//! | file | what |
//! |---|---|
//! | `base` | passes on a target that is there, where nothing is made |
//! | `commands` | the lines that make a layout |
//! | `divided` | how devices are divided into slots |
//! | `kept` | the document of the store |
//! | `factors` | what a factor means on a simulated array |
//! | `pace` | how long it still takes |
//! | `pages` | its answer as a page or picture |
//! | `plan` | from what is asked to a plan, its places and its arrays |
//! | `real` | makes layouts on real devices, and passes over them |
//! | `runs` | runs of the cells of a layout on a real target |
//! | `simulated` | makes passes on simulated arrays |
//! | `values` | what an experiment takes of a run, and why passes end |
//! | `sitting` | one sitting, from a plan to the answer |

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
