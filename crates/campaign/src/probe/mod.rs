//! `probe`: finds what a target does not report, by timed reads.

mod accept;
mod document;
mod flash;
mod flash_document;
mod flash_sheet;
mod stripe;
mod stripe_sheet;

pub use document::StripeDocument;
pub use flash::{FlashOptions, flash};
pub use flash_document::FlashDocument;
pub use flash_sheet::sheet as flash_sheet;
pub use stripe::{StripeOptions, stripe};
pub use stripe_sheet::sheet as stripe_sheet;
