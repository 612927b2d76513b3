//! The surroundings of a command line, apart from its words and its output. `main`
//! takes them from the process; a test defines them.

use crate::failure::Failure;
use crate::interrupt;
use crate::multi_host::MultiHost;
use std::ffi::OsString;
use std::io::Read;
use std::rc::Rc;
use stripewise_campaign::live::Serve;
use stripewise_campaign::{FileSystemSize, Interrupt};
use stripewise_units::Hint;

/// Looks up an environment variable.
pub type Variable = Rc<dyn Fn(&str) -> Option<OsString>>;

/// The surroundings of a command line.
pub struct Surroundings {
    /// The commit the program was built from, for `--version --json`.
    pub commit: Option<&'static str>,
    /// The web server.
    pub serve: Serve,
    /// The other hosts, if several do the same. Hosts that do not lead print nothing:
    /// the leader reports their failures.
    pub multi_host: Option<Rc<dyn MultiHost>>,
    /// The words stored in records, if they differ from the arguments.
    pub typed: Option<Vec<OsString>>,
    /// The environment.
    pub variable: Variable,
    /// The request to stop, or why the signal handlers could not be installed.
    pub interrupt: std::io::Result<Interrupt>,
    /// Input of commands that read from stdin.
    pub stdin: Box<dyn Read + Send>,
    /// How large a file system counts as when a share of it must stay free.
    pub file_system_size: FileSystemSize,
}

impl Surroundings {
    /// Those of this process; installs signal handlers.
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

/// Empty surroundings: no variable is set, no stop is requested, and stdin is empty.
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
            multi_host: None,
            typed: None,
            variable: Rc::new(|_| None),
            interrupt: Ok(Interrupt::default()),
            stdin: Box::new(std::io::empty()),
            file_system_size: FileSystemSize::Measured,
        }
    }
}
