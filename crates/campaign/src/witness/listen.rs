//! One connection, from the client with the token; all others are dropped and counted.

use crate::steps::token;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_verify::witness::READY;

/// Total time for a connection to send its token.
const TOKEN_LIMIT_NS: u64 = 5_000_000_000;
/// Maximum length of a first line.
const LINE_BYTES_MAX: usize = 256;
/// Maximum number of connections awaiting their token; for one more, the oldest is
/// dropped.
const STRANGERS_MAX: usize = 256;
const TICK: Duration = Duration::from_millis(50);

/// The connection with the token.
pub(super) struct WitnessConnection {
    pub stream: TcpStream,
    pub from: SocketAddr,
    /// Data received after the token.
    pub first: Vec<u8>,
    /// Number of connections without it.
    pub refused: u64,
}

/// Waits for it; `None` if interrupted.
pub(super) fn accept_witness(
    context: &Context,
    address: &str,
    token: Option<String>,
) -> Outcome<Option<WitnessConnection>> {
    let token = match token {
        Some(token) => token,
        None => token::new().map_err(|error| {
            Failure::target(
                format!("the system gives no random bytes for a token: {error}"),
                "give one with --token-file",
            )
        })?,
    };
    let cannot = |error: std::io::Error| {
        Failure::target(
            format!("cannot listen on {address}: {error}"),
            "name an address of this machine and a free port, like --listen 0.0.0.0:7411",
        )
    };
    let listener = TcpListener::bind(address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let here = listener.local_addr().map_err(cannot)?;
    context.note(format!(
        "the witness listens; at the other end: --witness={}/{token}",
        shown(here, &context.host().name)
    ));
    Ok(authenticated_connection(context, listener, &token))
}

/// Lets all clients send the token concurrently: any number of silent ones cannot delay
/// the right one.
fn authenticated_connection(
    context: &Context,
    listener: TcpListener,
    token: &str,
) -> Option<WitnessConnection> {
    let mut pending: Vec<PendingConnection> = Vec::new();
    let mut refused = 0;
    while context.signal().is_none() {
        match listener.accept() {
            Ok((stream, from)) => {
                pending.push(PendingConnection::new(stream, from, context.now_ns()));
                // Process them when no further one is waiting, or there is no room.
                if pending.len() <= STRANGERS_MAX {
                    continue;
                }
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {
                // It was closed before it was accepted.
                refused += 1;
                continue;
            }
            Err(error) => {
                // If no descriptors are left, drop the oldest.
                if !is_patience(error.kind()) && !pending.is_empty() {
                    pending.remove(0);
                    refused += 1;
                }
                std::thread::sleep(TICK);
            }
        }
        let (connection, wrong) = read_first_lines(&mut pending, context.now_ns(), token);
        refused += wrong;
        if pending.len() > STRANGERS_MAX {
            pending.remove(0);
            refused += 1;
        }
        if let Some(mut connection) = connection {
            // Accept no others.
            drop(listener);
            context.status(format!("Reports come from {}", connection.from));
            connection.refused = refused + pending.len() as u64;
            return Some(connection);
        }
    }
    None
}

/// The one that has sent the token, if any; and the number dropped because they sent
/// something else, or nothing for too long.
fn read_first_lines(
    pending: &mut Vec<PendingConnection>,
    now_ns: u64,
    token: &str,
) -> (Option<WitnessConnection>, u64) {
    let (mut wrong, mut found) = (0, None);
    pending.retain_mut(|stranger| {
        if found.is_some() {
            return true;
        }
        match stranger.read_token(now_ns, token) {
            FirstLine::Waits => return true,
            FirstLine::Wrong => wrong += 1,
            FirstLine::Token(first) => match welcome(&stranger.stream) {
                Ok(stream) => {
                    found = Some(WitnessConnection {
                        stream,
                        from: stranger.from,
                        first,
                        refused: 0,
                    });
                }
                Err(_) => wrong += 1,
            },
        }
        false
    });
    (found, wrong)
}

/// A wildcard address is shown as the host's name.
fn shown(address: SocketAddr, host: &str) -> String {
    match address.ip().is_unspecified() {
        true => format!("{host}:{}", address.port()),
        false => address.to_string(),
    }
}

/// A connection that has not sent a token yet.
struct PendingConnection {
    stream: TcpStream,
    from: SocketAddr,
    since_ns: u64,
    /// Data received so far.
    line: Vec<u8>,
}

/// The state of a connection's first line.
enum FirstLine {
    /// Incomplete.
    Waits,
    /// The token, and the data after it.
    Token(Vec<u8>),
    /// Something else, or nothing for too long.
    Wrong,
}

impl PendingConnection {
    fn new(stream: TcpStream, from: SocketAddr, now_ns: u64) -> PendingConnection {
        PendingConnection {
            stream,
            from,
            since_ns: now_ns,
            line: Vec::new(),
        }
    }

    /// Reads the available part of its first line without blocking.
    fn read_token(&mut self, now_ns: u64, token: &str) -> FirstLine {
        let mut piece = [0; LINE_BYTES_MAX];
        let read = (self.stream.set_nonblocking(true)).and_then(|()| self.stream.read(&mut piece));
        match read {
            Ok(0) => return FirstLine::Wrong,
            Ok(count) => self.line.extend_from_slice(&piece[..count]),
            Err(error) if is_patience(error.kind()) => {}
            Err(_) => return FirstLine::Wrong,
        }
        if let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let first = self.line.split_off(end + 1);
            let text = std::str::from_utf8(&self.line[..end]);
            return match text.is_ok_and(|text| token::same(text, token)) {
                true => FirstLine::Token(first),
                false => FirstLine::Wrong,
            };
        }
        let passed_ns = now_ns.saturating_sub(self.since_ns);
        match self.line.len() > LINE_BYTES_MAX || passed_ns >= TOKEN_LIMIT_NS {
            true => FirstLine::Wrong,
            false => FirstLine::Waits,
        }
    }
}

/// Tells the client with the token that the witness is ready.
fn welcome(stream: &TcpStream) -> std::io::Result<TcpStream> {
    let mut stream = stream.try_clone()?;
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(TICK * 20))?;
    stream.write_all(READY)?;
    stream.set_read_timeout(None)?;
    Ok(stream)
}

fn is_patience(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
