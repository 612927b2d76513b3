//! `probe`: what a target does not tell, from timed reads.

mod accept;
mod document;
mod flash;
mod flash_document;
mod stripe;

pub use document::{LayoutFound, StripeDocument};
pub use flash::{FlashWish, flash};
pub use flash_document::{FlashDocument, PausesFound};
pub use stripe::{StripeWish, stripe};
pub use stripewise_surface::flash::AlignmentAt;
