//! Whole trees.
