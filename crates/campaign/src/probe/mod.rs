//! `probe`: what a target does not tell, from timed reads.

mod accept;
mod document;
mod flash;
mod flash_document;
mod flash_text;
mod stripe;
mod stripe_text;

pub use document::StripeDocument;
pub use flash::{FlashWish, flash};
pub use flash_document::FlashDocument;
pub use flash_text::text as flash_text;
pub use stripe::{StripeWish, stripe};
pub use stripe_text::text as stripe_text;
