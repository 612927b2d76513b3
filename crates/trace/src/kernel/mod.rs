//! The kernel's own recording: binary pages of tracefs' per-CPU buffers.
//!
//! The caller reads `per_cpu/cpuN/trace_pipe_raw` and passes each page to a [`Recording`] with its
//! CPU number, and takes events in the order of time. Layouts are read from the instance's `format`
//! files, never assumed.

mod format;
mod page;
mod recording;

#[cfg(test)]
mod tests;

pub use format::{EventFormat, Field, PageFormat};
pub use page::{Page, PageError, Record};
pub use recording::{Recording, RecordingReport};
