//! Checks an experiment's explanation against those of other commands for the same layout.

mod layouts;
