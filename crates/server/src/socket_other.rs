//! Where there are no sockets with a path.

use crate::connection::Listener;
use std::path::Path;
use stripewise_campaign::{Exit, Failure, Outcome};
use tokio::net::TcpStream;

/// There is none.
pub(crate) enum UnixListener {}

pub(crate) fn listen(_path: &Path) -> Outcome<Listener> {
    none().map(Listener::Unix)
}

fn none() -> Outcome<UnixListener> {
    Err(Failure::new(
        Exit::Target,
        "this system has no sockets with a path",
        "omit --socket; the server then listens on 127.0.0.1",
    ))
}

impl UnixListener {
    pub(crate) async fn accept(&self) -> std::io::Result<TcpStream> {
        match *self {}
    }

    pub(crate) fn forget(self) {
        match self {}
    }
}

/// Nothing asks a process here to stop in order: the caller ends it.
pub(crate) fn interrupt(_pid: u32) {}

/// Whether it is a device: names of drives are not files here, and are not allowed.
pub(crate) fn is_device(_facts: &std::fs::Metadata) -> bool {
    false
}
