//! The kernel's recording of block I/O events, by tracefs: an instance of our own, which
//! leaves the recording of others as it is.
//!
//! What comes out are the binary pages of each processor's buffer and the texts that say
//! how to read them; what they mean is not known here. An instance is removed when it is
//! dropped. Instances outlive a process that is killed: [`clean`] removes those that no
//! process reads any more.

use crate::platform;
use std::io;
use stripewise_units::DeviceNumber;

/// How the names of instances begin that this program makes.
pub const INSTANCE_PREFIX: &str = "stripewise-";

/// What is recorded.
#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// Only events of these devices; empty: of all.
    pub devices: Vec<DeviceNumber>,
    /// System calls that read, write and sync, of these processes and those that they start;
    /// empty: none.
    pub callers: Vec<i32>,
    /// Bytes of all buffers together.
    pub buffer_bytes: u64,
}

/// Why nothing is recorded.
#[derive(Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The system has no tracefs.
    System,
    /// The kernel was built without it.
    Missing,
    /// Only root may, with the capability that is named.
    NotPermitted(&'static str),
    /// The kernel is locked down.
    Lockdown,
    /// The kernel does not have these events.
    NoEvents(&'static str),
    /// A step failed.
    Failed {
        /// What was done.
        step: String,
        /// Why it failed.
        error: io::Error,
    },
}

impl std::fmt::Display for TraceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TraceError::System => f.write_str("this system has no recording of block I/O events"),
            TraceError::Missing => f.write_str("this kernel was built without tracefs"),
            TraceError::NotPermitted(what) => {
                write!(f, "recording block I/O events needs root: {what}")
            }
            TraceError::Lockdown => {
                f.write_str("the kernel is locked down (confidentiality), which forbids tracefs")
            }
            TraceError::NoEvents(name) => write!(f, "this kernel has no event {name}"),
            TraceError::Failed { step, error } => write!(f, "cannot {step}: {error}"),
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TraceError::Failed { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl TraceError {
    /// What to do about it.
    #[must_use]
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

/// Events that the kernel could not keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Lost, over all processors.
    pub events: u64,
}

/// A recording in progress.
#[derive(Debug)]
pub struct TraceInstance(platform::tracefs::Instance);

impl TraceInstance {
    /// Begins to record.
    ///
    /// # Errors
    /// Where this process may not, or the kernel cannot.
    pub fn start(request: &TraceRequest) -> Result<TraceInstance, TraceError> {
        platform::tracefs::start(request).map(TraceInstance)
    }

    /// The text of `events/header_page`.
    #[must_use]
    pub fn header_page(&self) -> &str {
        self.0.header_page()
    }

    /// The texts of the `format` files of all events that are recorded.
    #[must_use]
    pub fn formats(&self) -> &[String] {
        self.0.formats()
    }

    /// Hands over what the buffers have, a page at a time with the number of its buffer;
    /// returns how many pages. Does not wait.
    ///
    /// # Errors
    /// Where a buffer cannot be read.
    pub fn read(&mut self, page: &mut dyn FnMut(usize, &[u8])) -> io::Result<usize> {
        self.0.read(page)
    }

    /// Records nothing more; what is in the buffers can still be read.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn pause(&self) -> io::Result<()> {
        self.0.pause()
    }

    /// Events that were lost so far, by the kernel's own counters.
    #[must_use]
    pub fn lost(&self) -> Lost {
        self.0.lost()
    }
}

/// What became of instances that were left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Names of those that were removed.
    pub removed: Vec<String>,
    /// Names of those that a process still reads.
    pub in_use: Vec<String>,
}

/// Removes the instances that observers left behind that were killed.
///
/// # Errors
/// Where this process may not.
pub fn clean() -> Result<Cleaned, TraceError> {
    platform::tracefs::clean()
}
