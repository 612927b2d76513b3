//! The kernel's own recording: binary pages of tracefs' per-processor buffers.
//!
//! A caller that reads `per_cpu/cpuN/trace_pipe_raw` hands each page to a [`Recording`]
//! with the number of its processor, and takes events in the order of time. What layouts
//! are is read from the instance's `format` files, never assumed.

mod format;
mod page;
mod recording;

#[cfg(test)]
mod tests;

pub use format::{EventFormat, Field, PageFormat};
pub use page::{Page, PageError, Record};
pub use recording::{Recording, RecordingReport};
