//! Formats from bytes made by hand, by tools that are there, and at random.

#[path = "../../../../tests/support/answers.rs"]
mod answers;
mod anything;
mod ioctl;
#[path = "../../../../tests/support/mutate.rs"]
mod mutate;
#[path = "../../../../tests/support/pictures.rs"]
mod pictures;
#[path = "../../../../tests/support/scratch.rs"]
mod scratch;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod superblocks;
mod tables;
