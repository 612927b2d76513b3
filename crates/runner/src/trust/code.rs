//! The stable names of all warnings. `docs/WARNINGS.md` explains each; a test keeps the two in
//! sync.

use stripewise_results::{Severity, Warning};
use stripewise_units::Hint;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A warning's stable name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The name used in records.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// Parts of the file were never allocated.
    SparseFile = "sparse-file",
    /// Parts of the file are allocated but were never written.
    NeverWritten = "never-written",
    /// The data is zeros.
    ZeroData = "zero-data",
    /// The data repeats.
    RepeatingData = "repeating-data",
    /// The data can be compressed.
    CompressibleData = "compressible-data",
    /// Blocks were discarded and hold no data now.
    DiscardedSpace = "discarded-space",
    /// Operations go through the page cache.
    PageCache = "page-cache",
    /// The target is memory.
    InMemory = "in-memory",
    /// A loop device caches its backing file.
    LoopCached = "loop-cached",
    /// The file system caches although `O_DIRECT` was accepted.
    DirectIoCached = "direct-io-cached",
    /// The file entered the page cache during a direct run.
    FileEnteredCache = "file-entered-cache",
    /// The device moved fewer bytes than the program.
    DeviceSawLess = "device-saw-less",
    /// The span fits in a cache.
    SmallerThanCache = "smaller-than-cache",
    /// Only a small part of a spinning disk is used.
    NarrowSpan = "narrow-span",
    /// One pass of random writes, over a drive that is not empty.
    OnePassInPart = "one-pass-in-part",
    /// The file system relocates blocks on a rewrite.
    CopyOnWrite = "copy-on-write",
    /// The file system compresses.
    CompressedFileSystem = "compressed-file-system",
    /// A network or daemon is in the path.
    RemoteFileSystem = "remote-file-system",
    /// Writes completed once in a volatile cache.
    VolatileWriteCache = "volatile-write-cache",
    /// Durable writes completed faster than any medium allows.
    DurableTooFast = "durable-too-fast",
    /// The rate changed during the run.
    NotSteady = "not-steady",
    /// The rate fell once and stayed down.
    StepDown = "step-down",
    /// No pilot of its load saw the sustained rate.
    NotSustained = "not-sustained",
    /// A short run on a fresh file.
    QuickRun = "quick-run",
    /// Too few operations.
    FewOperations = "few-operations",
    /// Too few operations for the 99.9th percentile.
    FewForP999 = "few-for-p999",
    /// Operations failed.
    Errors = "errors",
    /// Another process truncated, removed or renamed the file.
    TargetChanged = "target-changed",
    /// Operations were given up.
    Abandoned = "abandoned-operations",
    /// Scheduled arrivals were never issued.
    ArrivalsNotIssued = "arrivals-not-issued",
    /// Operations of a recording were issued later than due.
    LateReplay = "late-replay",
    /// Fewer in flight than requested, at the program.
    OutstandingBelowAsked = "outstanding-below-asked",
    /// More requested than the device accepts at once.
    DeviceQueueLimit = "device-queue-limit",
    /// Fewer in flight than requested, at the device.
    DeviceDepthBelowAsked = "device-depth-below-asked",
    /// The processor was the limit.
    CpuBound = "cpu-bound",
    /// A CPU quota held the program back.
    CpuQuota = "cpu-quota",
    /// The hypervisor took processor time.
    CpuSteal = "cpu-steal",
    /// The wall clock was set.
    ClockJump = "clock-jump",
    /// The machine was suspended.
    Suspended = "suspended",
    /// The processor was throttled for heat.
    ThermalThrottling = "thermal-throttling",
    /// The machine saved power.
    PowerSaving = "power-saving",
    /// The engine is not the best one, or lacks a feature.
    EngineFallback = "engine-fallback",
    /// No disk was measured.
    NullEngine = "null-engine",
    /// Operations took far longer after the stop than any before it.
    StalledAtEnd = "stalled-at-end",
    /// The device stopped responding in the measured time.
    Stalled = "stalled",
    /// The whole program was not running for a time, which was cut out.
    Paused = "paused",
    /// Faults were injected on purpose.
    FaultsInjected = "faults-injected",
    /// Other programs used the device.
    OtherLoad = "other-load",
    /// An array is rebuilding or checking itself.
    ArraySyncing = "array-syncing",
    /// A control group limits the device.
    IoThrottled = "io-throttled",
    /// The volume or the instance reports that its limit was exceeded.
    Throttled = "throttled",
    /// The same IOPS at every block size.
    FlatIops = "flat-iops",
    /// The same bandwidth at every block size.
    FlatBandwidth = "flat-bandwidth",
    /// Something that was requested was left out.
    Skipped = "skipped",
    /// The store could not keep up with the intervals.
    StoreBehind = "store-behind",
    /// The storage did not preserve the data written.
    WrongData = "wrong-data",
}

impl Code {
    /// Makes a warning with this code.
    pub(super) fn warning(
        self,
        severity: Severity,
        message: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> Warning {
        Warning {
            code: self.as_str().to_owned(),
            severity,
            message: message.into(),
            short: String::new(),
            hint: hint.into(),
        }
    }
}
