//! How a use case fails: a kind, a chain of causes and a hint.

use crate::exit::Exit;
use std::error::Error;
use std::fmt;
use stripewise_array_sim::SpecError;
use stripewise_lab::hosts::MergeError;
use stripewise_runner::Error as RunError;
use stripewise_targets::ErrorKind;
use stripewise_units::{Hint, InputError, ParseError};
use stripewise_workload::WorkloadError;

/// A failure.
#[derive(Debug)]
pub struct Failure {
    /// The kind, which becomes the process's exit code.
    pub exit: Exit,
    /// What failed, on which object, and why.
    pub error: Box<dyn Error + Send + Sync>,
    /// What the user can do next; a front end substitutes its own option names.
    pub hint: Option<Hint>,
    /// The message begins with the name of this workload option, which a front end
    /// replaces by its own name for it, such as `--block`.
    pub option: Option<&'static str>,
}

/// The result of a use case.
pub type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// A failure with a message and a hint.
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Failure {
            hint: Some(hint.into()),
            ..Failure::of(exit, message.into())
        }
    }

    /// Wraps a failure of another crate, without a hint.
    pub fn of(exit: Exit, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Failure {
            exit,
            error: error.into(),
            hint: None,
            option: None,
        }
    }

    /// The same failure with a hint, unless that is empty.
    #[must_use]
    pub fn hinted(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = hint.into().unless_empty();
        self
    }

    /// The message, and a line for each cause that the message does not already include.
    pub fn chain(&self) -> String {
        let mut text = self.error.to_string();
        let mut shown = text.clone();
        let mut next = self.error.source();
        while let Some(cause) = next {
            next = cause.source();
            let cause = cause.to_string();
            // Many errors already end with their cause's text.
            if !shown.contains(&cause) {
                text.push_str("\n  because: ");
                text.push_str(&cause);
            }
            shown = cause;
        }
        text
    }

    /// A mistake in the user's request.
    pub fn usage(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// A target or an output that cannot be used.
    pub fn target(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        Self::new(Exit::Target, message, hint)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Mistakes in the user's request.
macro_rules! usage {
    ($($error:ty),+) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::usage(error.to_string(), error.hint())
            }
        }
    )+};
}

usage!(InputError, MergeError, ParseError, SpecError);

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Failure {
        Failure {
            option: Some(error.option()),
            ..Failure::usage(error.to_string(), error.hint())
        }
    }
}

/// Names that match nothing are usage errors.
impl From<stripewise_store::Error> for Failure {
    fn from(error: stripewise_store::Error) -> Failure {
        let exit = if error.is_about_a_name() {
            Exit::Usage
        } else {
            Exit::Store
        };
        let hint = error.hint();
        Failure::of(exit, error).hinted(hint)
    }
}

impl From<stripewise_targets::Error> for Failure {
    fn from(error: stripewise_targets::Error) -> Failure {
        let exit = match error.kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Io => Exit::InputOutput,
            ErrorKind::NeedsBusyOk => Exit::Busy,
            _ => Exit::Target,
        };
        let hint = error.hint.clone();
        Failure::of(exit, error).hinted(hint)
    }
}

impl From<stripewise_disk_inspect::Error> for Failure {
    fn from(error: stripewise_disk_inspect::Error) -> Failure {
        let hint = error.hint();
        Failure::of(Exit::Target, error).hinted(hint)
    }
}

/// A run that could not start.
impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        let hint = error.hint();
        match error {
            RunError::Target { source, .. } => Failure::from(*source),
            RunError::Plan(_) | RunError::Memory { .. } => Failure {
                hint,
                ..Failure::of(Exit::Usage, error)
            },
            _ => Failure {
                hint,
                ..Failure::of(Exit::Target, error)
            },
        }
    }
}

/// The failure when not a single thread could be started for `what`.
pub fn no_thread(what: &str, error: &std::io::Error) -> Failure {
    Failure::target(
        format!("cannot start a thread {what}: {error}"),
        stripewise_units::advice(
            "raise the limit of threads: `ulimit -u`, or `pids.max` of the control group or container",
            "end programs that have many threads or take memory",
        ),
    )
}
