//! Output for people: the plan and progress on stderr, answers on stdout.

pub mod advice;
pub mod context;
pub mod document;
pub mod experiment;
pub mod failures;
pub mod line;
pub mod observer;
pub mod page;
pub mod progress;
pub mod provision;
pub mod runs;
pub mod style;
pub mod terminal;
