//! The stable names of all warnings. `docs/WARNINGS.md` explains each; a test
//! holds the two together.

use stripewise_results::{Severity, Warning};
use stripewise_units::Hint;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A warning's stable name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// As it stands in records.
            #[must_use]
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
    /// Something was discarded, and holds nothing now.
    DiscardedSpace = "discarded-space",
    /// Operations go through the page cache.
    PageCache = "page-cache",
    /// The target is memory.
    InMemory = "in-memory",
    /// A loop device caches its backing file.
    LoopCached = "loop-cached",
    /// The file system caches although `O_DIRECT` was accepted.
    DirectIoCached = "direct-io-cached",
    /// The file got into the page cache during a direct run.
    FileEnteredCache = "file-entered-cache",
    /// The device moved fewer bytes than the program.
    DeviceSawLess = "device-saw-less",
    /// What is used fits in a cache.
    SmallerThanCache = "smaller-than-cache",
    /// Only a small part of a spinning disk is used.
    NarrowSpan = "narrow-span",
    /// One pass of random writes, over what is no empty drive.
    OnePassInPart = "one-pass-in-part",
    /// The file system writes elsewhere on a rewrite.
    CopyOnWrite = "copy-on-write",
    /// The file system compresses.
    CompressedFileSystem = "compressed-file-system",
    /// A network or daemon is in the path.
    RemoteFileSystem = "remote-file-system",
    /// Writes were complete when a volatile cache had them.
    VolatileWriteCache = "volatile-write-cache",
    /// Durable writes ended sooner than any medium can take them.
    DurableTooFast = "durable-too-fast",
    /// The rate moved during the run.
    NotSteady = "not-steady",
    /// The rate fell once and stayed down.
    StepDown = "step-down",
    /// No pilot of its load saw the rate that lasts.
    NotSustained = "not-sustained",
    /// A short run on a fresh file.
    QuickRun = "quick-run",
    /// Too few operations.
    FewOperations = "few-operations",
    /// Too few operations for the 99.9th percentile.
    FewForP999 = "few-for-p999",
    /// Operations failed.
    Errors = "errors",
    /// Somebody cut, removed or renamed the file.
    TargetChanged = "target-changed",
    /// Operations were given up.
    Abandoned = "abandoned-operations",
    /// Arrivals of the schedule were never issued.
    ArrivalsNotIssued = "arrivals-not-issued",
    /// Operations of a recording left later than they were due.
    LateReplay = "late-replay",
    /// Fewer in flight than asked, at the program.
    OutstandingBelowAsked = "outstanding-below-asked",
    /// More asked than the device takes at once.
    DeviceQueueLimit = "device-queue-limit",
    /// Fewer in flight than asked, at the device.
    DeviceDepthBelowAsked = "device-depth-below-asked",
    /// The processor was the limit.
    CpuBound = "cpu-bound",
    /// A CPU quota held the program back.
    CpuQuota = "cpu-quota",
    /// The hypervisor took processor time.
    CpuSteal = "cpu-steal",
    /// The wall clock was set.
    ClockJump = "clock-jump",
    /// The machine slept.
    Suspended = "suspended",
    /// The processor was throttled for heat.
    ThermalThrottling = "thermal-throttling",
    /// The machine saved power.
    PowerSaving = "power-saving",
    /// The engine is not the best, or lacks something.
    EngineFallback = "engine-fallback",
    /// No disk was measured.
    NullEngine = "null-engine",
    /// Operations took far longer after the stop than any before it.
    StalledAtEnd = "stalled-at-end",
    /// The device stopped answering in the measured time.
    Stalled = "stalled",
    /// Nothing of the program ran for a time, which was cut out.
    Paused = "paused",
    /// Faults were injected on purpose.
    FaultsInjected = "faults-injected",
    /// Others used the device.
    OtherLoad = "other-load",
    /// An array rebuilds or checks itself.
    ArraySyncing = "array-syncing",
    /// A control group limits the device.
    IoThrottled = "io-throttled",
    /// The volume or the instance reports that its limit was exceeded.
    Throttled = "throttled",
    /// The same IOPS whatever the block size.
    FlatIops = "flat-iops",
    /// The same bandwidth whatever the block size.
    FlatBandwidth = "flat-bandwidth",
    /// Something that was asked for was left out.
    Skipped = "skipped",
    /// The store could not take the intervals as fast as they came.
    StoreBehind = "store-behind",
    /// The storage did not keep what it was given.
    WrongData = "wrong-data",
}

impl Code {
    /// A warning of this code.
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
