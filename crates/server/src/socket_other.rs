//! For platforms without Unix sockets.

use crate::connection::Listener;
use std::path::Path;
use stripewise_campaign::{Exit, Failure, Outcome};
use tokio::net::TcpStream;

/// Uninhabited.
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

/// A process cannot be asked to stop gracefully here: the caller kills it.
pub(crate) fn interrupt(_pid: u32) {}

/// Whether it is a device: drive names are not files here, and are not allowed.
pub(crate) fn is_device(_facts: &std::fs::Metadata) -> bool {
    false
}
