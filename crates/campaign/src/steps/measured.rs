//! Kinds of the documents that are measurements without runs. `history` lists them.

/// A profile of a surface.
pub const PROFILE: &str = "profile";
/// A fill: where a fast cache ends.
pub const FILL: &str = "fill";
