//! The kernel's tracing of block I/O events, by tracefs: uses its own instance, which leaves other
//! traces unchanged.
//!
//! The output is the binary pages of each CPU's buffer and the texts that define their format; this
//! module does not interpret them. An instance is removed when it is dropped. Instances outlive a
//! killed process: [`clean`] removes those that no process reads any more.

use crate::platform;
use std::io;
use stripewise_units::DeviceNumber;

/// Name prefix of the instances that this program creates.
pub const INSTANCE_PREFIX: &str = "stripewise-";

/// What to trace.
#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only events of these devices; empty: all devices.
    pub devices: Vec<DeviceNumber>,
    /// Trace the system calls that read, write and sync, of these processes and their children;
    /// empty: none.
    pub callers: Vec<i32>,
    /// Total size of all buffers in bytes.
    pub buffer_bytes: u64,
}

/// Why tracing is not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The system has no tracefs.
    #[error("this system has no recording of block I/O events")]
    System,
    /// The kernel was built without it.
    #[error("this kernel was built without tracefs")]
    Missing,
    /// Requires root, with the named capability.
    #[error("recording block I/O events needs root: {0}")]
    NotPermitted(&'static str),
    /// The kernel is locked down.
    #[error("the kernel is locked down (confidentiality), which forbids tracefs")]
    Lockdown,
    /// The kernel does not have these events.
    #[error("this kernel has no event {0}")]
    NoEvents(&'static str),
    /// A step failed.
    #[error("cannot {step}: {error}")]
    Failed {
        /// The failed step.
        step: String,
        /// The reason.
        #[source]
        error: io::Error,
    },
}

impl TraceError {
    /// How to fix it.
    pub const fn hint(&self) -> &'static str {
        match self {
            TraceError::System => "record on Linux, and read the trace with --from FILE",
            TraceError::Missing => "use a kernel with CONFIG_TRACING and CONFIG_BLK_DEV_IO_TRACE",
            TraceError::NotPermitted(_) => {
                "run as root on the host; a container must be privileged, or have tracefs mounted into it"
            }
            TraceError::Lockdown => "boot with lockdown=integrity, or without Secure Boot",
            TraceError::NoEvents(_) => "use a kernel with CONFIG_BLK_DEV_IO_TRACE",
            TraceError::Failed { .. } => "see the kernel's log: `dmesg`",
        }
    }
}

/// Events lost by the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostEvents {
    /// Lost events over all CPUs.
    pub events: u64,
}

/// A trace in progress.
#[derive(Debug)]
pub struct TraceInstance(platform::tracefs::Instance);

impl TraceInstance {
    /// Starts tracing.
    ///
    /// # Errors
    /// If permission is denied, or the kernel does not support it.
    pub fn start(request: &TraceRequest) -> Result<TraceInstance, TraceError> {
        platform::tracefs::start(request).map(TraceInstance)
    }

    /// The text of `events/header_page`.
    pub fn header_page(&self) -> &str {
        self.0.header_page()
    }

    /// The texts of the `format` files of all traced events.
    pub fn formats(&self) -> &[String] {
        self.0.formats()
    }

    /// Passes the buffered pages to a callback, each with the number of its buffer; returns the
    /// number of pages. Does not wait.
    pub fn read(&mut self, page: &mut dyn FnMut(usize, &[u8])) -> io::Result<usize> {
        self.0.read(page)
    }

    /// Pauses tracing; the buffers can still be read.
    pub fn pause(&self) -> io::Result<()> {
        self.0.pause()
    }

    /// Events lost so far, by the kernel's counters.
    pub fn lost(&self) -> LostEvents {
        self.0.lost()
    }
}

/// Result of cleaning up leftover instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanupReport {
    /// Names of the removed instances.
    pub removed: Vec<String>,
    /// Names of the instances still in use by a process.
    pub in_use: Vec<String>,
}

/// Removes the instances that killed observers left behind.
///
/// # Errors
/// If permission is denied.
pub fn clean() -> Result<CleanupReport, TraceError> {
    platform::tracefs::clean()
}
