//! The port: operations that start together, and what each took.

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
    #[must_use]
    pub fn read(offset_bytes: u64, length_bytes: u32) -> Self {
        ProbeIo {
            offset_bytes,
            length_bytes,
            write: false,
        }
    }
}

/// How one operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Nanoseconds from the moment at which the batch started.
    pub latency_ns: u64,
    /// It transferred everything that was asked for.
    pub whole: bool,
    /// It failed because the medium could not do it (`EIO` and its like), and not because it
    /// was refused, or stopped.
    pub medium_error: bool,
}

/// Why nothing more can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The user wants it to stop.
    Interrupted,
    /// The time given is over.
    OutOfTime,
    /// The device has gone, or can no longer be used: why.
    Gone(String),
}

/// Something that can be read, and perhaps written, at any place.
pub trait Device {
    /// Bytes.
    fn size_bytes(&self) -> u64;
    /// Smallest unit of offsets and lengths.
    fn sector_bytes(&self) -> u32;
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
    /// Starts all operations at once, waits for all, and puts their ends into `answers`
    /// (which is cleared first), in the order of `asks`.
    ///
    /// # Errors
    /// Where nothing can be asked any more. A failed operation is an answer.
    fn run_batch(
        &mut self,
        asks: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason>;
    /// Lets that much time pass without doing anything.
    ///
    /// # Errors
    /// As [`Device::together`].
    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason>;
}
