//! Which back end, by name. The choice is made once a run, by the caller, who
//! then calls generic code: nothing is dispatched per operation.

use crate::backend::linux_io_uring;
use std::fmt;
use std::str::FromStr;

/// An engine as it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// The best that works here.
    #[default]
    Auto,
    /// `io_uring`.
    Uring,
    /// Blocking calls on threads.
    Threads,
    /// Does nothing, instantly.
    Null,
}

impl EngineName {
    /// All names, as typed.
    pub const ALL: [EngineName; 4] = [
        EngineName::Auto,
        EngineName::Uring,
        EngineName::Threads,
        EngineName::Null,
    ];

    /// What to use: never [`EngineName::Auto`], and for `auto` the reason where
    /// it is not the best one. A name that was asked for is not replaced.
    #[must_use]
    pub fn choose(self) -> Choice {
        if self != EngineName::Auto {
            return Choice {
                engine: self,
                because: None,
            };
        }
        match linux_io_uring::probe() {
            Ok(()) => Choice {
                engine: EngineName::Uring,
                because: None,
            },
            Err(error) => Choice {
                engine: EngineName::Threads,
                because: Some(format!(
                    "the threads engine is used instead of io_uring: {error}"
                )),
            },
        }
    }
}

/// See [`EngineName::choose`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The engine to use.
    pub engine: EngineName,
    /// Why it is not a better one; one sentence.
    pub because: Option<String>,
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            EngineName::Auto => "auto",
            EngineName::Uring => "uring",
            EngineName::Threads => "threads",
            EngineName::Null => "null",
        })
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        EngineName::ALL
            .into_iter()
            .find(|name| name.to_string() == text)
            .ok_or_else(|| format!("`{text}` is not an engine: it is auto, uring, threads or null"))
    }
}

/// The name of an error number as manuals spell it (`EIO`), or `error 200`.
/// Numbers are those of completions on this system; simulated arrays use the
/// common ones of Unix, which agree where both know a number below 35.
#[must_use]
pub fn error_name(number: i32) -> String {
    const NAMES: [(i32, &str); 26] = [
        (1, "EPERM"),
        (2, "ENOENT"),
        (4, "EINTR"),
        (5, "EIO"),
        (6, "ENXIO"),
        (9, "EBADF"),
        (11, "EAGAIN"),
        (12, "ENOMEM"),
        (13, "EACCES"),
        (14, "EFAULT"),
        (16, "EBUSY"),
        (19, "ENODEV"),
        (22, "EINVAL"),
        (27, "EFBIG"),
        (28, "ENOSPC"),
        (29, "ESPIPE"),
        (30, "EROFS"),
        (38, "ENOSYS"),
        (61, "ENODATA"),
        (84, "EILSEQ"),
        (95, "EOPNOTSUPP"),
        (110, "ETIMEDOUT"),
        (117, "EUCLEAN"),
        (121, "EREMOTEIO"),
        (122, "EDQUOT"),
        (125, "ECANCELED"),
    ];
    let known = NAMES.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("error {number}"), |(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_typed_as_they_are_printed() {
        for name in EngineName::ALL {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert!("libaio".parse::<EngineName>().is_err());
    }

    #[test]
    fn auto_is_decided_and_others_are_kept() {
        let choice = EngineName::Auto.choose();
        assert_ne!(choice.engine, EngineName::Auto);
        assert_eq!(
            choice.because.is_some(),
            choice.engine == EngineName::Threads
        );
        assert_eq!(
            EngineName::Null.choose(),
            Choice {
                engine: EngineName::Null,
                because: None
            }
        );
    }
}
