//! A process that lives as long as a test needs it. Tests of several crates include this
//! file by its path.

#![allow(dead_code)]

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that ends with the test, however that ends. It has none of the pipes that the
/// test prints to.
pub struct Holder(Child);

impl Holder {
    /// One that has a file open as its standard input.
    pub fn of(path: impl AsRef<Path>) -> Holder {
        let mut command = Command::new("sleep");
        command.arg("3600");
        Holder::start(command, File::open(path).expect("it opens").into())
    }

    pub fn running(command: Command) -> Holder {
        Holder::start(command, Stdio::null())
    }

    fn start(mut command: Command, input: Stdio) -> Holder {
        command.stdin(input).stdout(Stdio::null());
        let child = command.stderr(Stdio::null()).spawn();
        Holder(child.expect("it starts"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
