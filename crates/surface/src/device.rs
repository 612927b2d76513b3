//! The interface to the device: concurrent operations, and the latency of each.

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeIo {
    /// Byte offset on the target, a multiple of the sector.
    pub offset_bytes: u64,
    /// Bytes, a multiple of the sector.
    pub length_bytes: u32,
    /// A write; otherwise a read.
    pub write: bool,
}

impl ProbeIo {
    /// A read.
    pub fn read(offset_bytes: u64, length_bytes: u32) -> Self {
        ProbeIo {
            offset_bytes,
            length_bytes,
            write: false,
        }
    }
}

/// Result of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Nanoseconds from the moment at which the batch started.
    pub latency_ns: u64,
    /// Whether it transferred everything requested.
    pub whole: bool,
    /// Whether it failed because of the medium (`EIO` and the like), rather than being refused or
    /// stopped.
    pub medium_error: bool,
}

/// Why no more operations are possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The user requested a stop.
    Interrupted,
    /// The time limit has passed.
    OutOfTime,
    /// The device has gone or become unusable: why.
    Gone(String),
}

/// Something that can be read, and perhaps written, at any offset.
pub trait Device {
    /// Bytes.
    fn size_bytes(&self) -> u64;
    /// Smallest unit of offsets and lengths.
    fn sector_bytes(&self) -> u32;
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
    /// Starts all operations at once, waits for all, and puts the results into `answers` (which is
    /// cleared first), in the order of `requests`.
    ///
    /// # Errors
    /// If no more operations are possible. A failed operation is a result.
    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason>;
    /// Idles for this time.
    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason>;
}
