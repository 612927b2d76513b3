//! `probe`: what a target does not tell, from timed reads.

mod document;
mod stripe;

pub use document::{LayoutFound, StripeDocument};
pub use stripe::{StripeWish, stripe};
