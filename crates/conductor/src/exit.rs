//! What a use case came to. A process returns its number: documented in the manual, and
//! scripts may rely on them.

/// What a use case came to.
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
    /// Operations failed during the run; what was measured is kept.
    InputOutput,
    /// The store can't be used.
    Store,
    /// Somebody else uses the place, or may: a busy device, one whose users cannot be
    /// seen, or what looks like a live database; `--busy-ok` allows it.
    Busy,
    /// Stopped by a signal; what was measured is kept.
    Interrupted(u8),
}

impl Exit {
    /// The number that the shell sees.
    #[must_use]
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
