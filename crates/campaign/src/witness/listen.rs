//! One connection, from the client that knows the token; all others are dropped and counted.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::secret;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use stripewise_verify::witness::READY;

/// How long a connection has for its token, all in all.
const TOKEN_LIMIT_NS: u64 = 5_000_000_000;
/// A first line is no longer than this.
const LINE_BYTES_MAX: usize = 256;
const TICK: Duration = Duration::from_millis(50);

/// A connection with the token.
pub(super) struct Heard {
    pub stream: TcpStream,
    /// What came behind the token already.
    pub first: Vec<u8>,
    /// Connections without it.
    pub refused: u64,
}

/// Waits for it; `None` where somebody ended the wait.
pub(super) fn one_connection(
    context: &Context,
    address: &str,
    token: Option<String>,
) -> Outcome<Option<Heard>> {
    let token = match token {
        Some(token) => token,
        None => secret::new().map_err(|error| {
            Failure::new(
                Exit::Target,
                format!("the system gives no random bytes for a token: {error}"),
                "give one with --token-file",
            )
        })?,
    };
    let cannot = |error: std::io::Error| {
        Failure::new(
            Exit::Target,
            format!("cannot listen on {address}: {error}"),
            "name an address of this machine and a free port, like --listen 0.0.0.0:7411",
        )
    };
    let listener = TcpListener::bind(address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let here = listener.local_addr().map_err(cannot)?;
    context.note(format!(
        "the witness listens; at the other end: --witness {}/{token}",
        shown(here, &context.host().name)
    ));
    let mut refused = 0;
    while context.signal().is_none() {
        match listener.accept() {
            Ok((stream, from)) => match greet(context, stream, &token) {
                Some((stream, first)) => {
                    // Nobody else is let in.
                    drop(listener);
                    context.status(format!("Reports come from {from}"));
                    return Ok(Some(Heard {
                        stream,
                        first,
                        refused,
                    }));
                }
                None => refused += 1,
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(TICK),
            // One that was gone again before it was taken.
            Err(_) => refused += 1,
        }
    }
    Ok(None)
}

/// An address that listens to all is known by the host's name.
fn shown(address: SocketAddr, host: &str) -> String {
    match address.ip().is_unspecified() {
        true => format!("{host}:{}", address.port()),
        false => address.to_string(),
    }
}

/// Reads the token's line; `None` where it is not the token.
fn greet(context: &Context, mut stream: TcpStream, token: &str) -> Option<(TcpStream, Vec<u8>)> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(TICK)).ok()?;
    stream.set_write_timeout(Some(TICK * 20)).ok()?;
    let started_ns = context.now_ns();
    let mut line = Vec::new();
    let end = loop {
        let mut piece = [0; LINE_BYTES_MAX];
        match stream.read(&mut piece) {
            Ok(0) => return None,
            Ok(count) => line.extend_from_slice(&piece[..count]),
            Err(error) if is_patience(error.kind()) => {}
            Err(_) => return None,
        }
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            break end;
        }
        let passed_ns = context.now_ns().saturating_sub(started_ns);
        if line.len() > LINE_BYTES_MAX || passed_ns >= TOKEN_LIMIT_NS || context.signal().is_some()
        {
            return None;
        }
    };
    let first = line.split_off(end + 1);
    let text = std::str::from_utf8(&line[..end]).ok()?;
    if !secret::same(text, token) {
        return None;
    }
    stream.write_all(READY).ok()?;
    stream.set_read_timeout(None).ok()?;
    Some((stream, first))
}

fn is_patience(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
