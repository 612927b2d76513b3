//! The interface between a front end and a server. The server is a
//! crate above this one and below the program, which passes it in as a function.

use super::View;
use std::fs::File;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_units::NameText;

/// Serves until a signal comes.
pub type Serve = fn(&Context, &Serving<'_>) -> Outcome<Exit>;

/// Parameters of a server.
pub struct Serving<'a> {
    /// The store, and the clock.
    pub view: View,
    /// A loopback address.
    pub address: IpAddr,
    /// The port, or 0 for any.
    pub port: u16,
    /// A Unix socket instead of an address.
    pub socket: Option<PathBuf>,
    /// Files and devices on which runs may be started; they only read.
    pub allow_runs: Vec<PathBuf>,
    /// They may run while other work uses the disk.
    pub busy_ok: bool,
    /// Path of this program, which makes documents, reports and runs.
    pub program: PathBuf,
    /// Called when the server listens.
    pub announce: &'a dyn Fn(&Announced<'_>),
}

/// The address of a listening server.
#[derive(Clone, Copy, Debug)]
pub struct Announced<'a> {
    /// The address to open once, with the token in it.
    pub url: &'a str,
    /// Address and port, or the socket.
    pub listens_on: &'a str,
    /// The file with the token for scripts.
    pub token_file: &'a Path,
}

/// Stores the token for scripts in a file that only this user may read.
pub fn keep_token(path: &Path, token: &str) -> Outcome<File> {
    stripewise_store::keep_secret(path, &format!("{token}\n")).map_err(|error| {
        Failure::new(
            Exit::Store,
            format!(
                "cannot keep the token for scripts in {}: {error}",
                path.as_text()
            ),
            "make the directory of the store writable, or name another with --store FILE",
        )
    })
}

/// Removes that file; if that fails, the token remains but no server accepts it.
pub fn forget_token(file: &File, path: &Path) {
    let _ = stripewise_store::remove_made(file, path);
}
