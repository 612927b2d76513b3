//! A recording carried out again elsewhere: where its operations go, which of them must
//! keep their order, whether they left in time, and the load made larger.

mod lateness;
mod mapping;
mod overlap;
mod scale;

pub use lateness::{Lateness, Punctuality, lateness};
pub use mapping::{ExtentUse, Mapping, MappingError};
pub use overlap::{OverlapOrder, Ticket};
pub use scale::{faster, more_users};

#[cfg(test)]
mod tests;
