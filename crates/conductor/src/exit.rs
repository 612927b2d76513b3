//! How a use case ended. The process returns its number, which the manual documents and
//! scripts may rely on.

/// How a use case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Something was found: misaligned, an effect, a requirement missed.
    Finding,
    /// The command line or a file that it names can't be understood.
    Usage,
    /// The target can't be used, or the safety rules refuse it.
    Target,
    /// Operations failed during the run; the measurements are stored.
    InputOutput,
    /// The store can't be used.
    Store,
    /// Another process uses the target or may: a busy device, one whose users cannot be
    /// determined, or what looks like a live database; `--busy-ok` allows it.
    Busy,
    /// Stopped by a signal; the measurements are stored.
    Interrupted(u8),
}

impl Exit {
    /// The process exit code.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Finding => 1,
            Exit::Usage => 2,
            Exit::Target => 3,
            Exit::InputOutput => 4,
            Exit::Store => 5,
            Exit::Busy => 6,
            Exit::Interrupted(signal) => 128 + signal,
        }
    }
}
