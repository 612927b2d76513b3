//! Exit codes, as documented in the manual. A script may rely on them.

use std::process::ExitCode;
pub use stripewise_campaign::Exit;

/// The number that the shell sees.
pub fn exit_code(exit: Exit) -> ExitCode {
    ExitCode::from(exit.code())
}
