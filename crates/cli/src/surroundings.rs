//! What a command line finds around it, apart from its words and where it prints. `main`
//! takes it from the process; a test says what there is.

use crate::failure::Failure;
use crate::interrupt;
use crate::together::Together;
use std::ffi::OsString;
use std::io::Read;
use std::rc::Rc;
use stripewise_campaign::live::Serve;
use stripewise_campaign::{FileSystemSize, Interrupt};
use stripewise_units::Hint;

/// Looks up a variable of the environment.
pub type Variable = Rc<dyn Fn(&str) -> Option<OsString>>;

/// What a command line finds around it.
pub struct Surroundings {
    /// What the program was built from, for `--version --json`.
    pub commit: Option<&'static str>,
    /// What serves pages.
    pub serve: Serve,
    /// The other hosts, where several do the same. Hosts that do not lead print nothing:
    /// what fails on them is reported by the one that does.
    pub together: Option<Rc<dyn Together>>,
    /// The words that records keep, where they are more than the arguments.
    pub typed: Option<Vec<OsString>>,
    /// The environment.
    pub variable: Variable,
    /// The wish to stop, or why nobody can listen for one.
    pub interrupt: std::io::Result<Interrupt>,
    /// What is read where a command reads from stdin.
    pub stdin: Box<dyn Read + Send>,
    /// How large file systems count as where a share of them must stay free.
    pub file_system_size: FileSystemSize,
}

impl Surroundings {
    /// Those of this process, which listens for signals from now on.
    #[must_use]
    pub fn of_process() -> Surroundings {
        interrupt::ignore_sigxfsz();
        Surroundings {
            variable: Rc::new(|name| std::env::var_os(name)),
            interrupt: interrupt::listen(),
            stdin: Box::new(std::io::stdin()),
            ..Surroundings::default()
        }
    }
}

/// Nothing: no variable is set, nobody asks for a stop, and stdin is empty.
impl Default for Surroundings {
    fn default() -> Surroundings {
        Surroundings {
            commit: None,
            serve: |_, _| {
                Err(Failure::usage(
                    "there are no pages here",
                    Hint::plain("run `stripewise serve`"),
                ))
            },
            together: None,
            typed: None,
            variable: Rc::new(|_| None),
            interrupt: Ok(Interrupt::default()),
            stdin: Box::new(std::io::empty()),
            file_system_size: FileSystemSize::Measured,
        }
    }
}
