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
/// Connections that are asked for their token at the same time; more of them wait.
const STRANGERS_MAX: usize = 64;
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
        "the witness listens; at the other end: --witness={}/{token}",
        shown(here, &context.host().name)
    ));
    Ok(the_one_with_the_token(context, listener, &token))
}

/// Asks all that connect for the token at the same time: one that says nothing does not keep
/// the right one waiting.
fn the_one_with_the_token(context: &Context, listener: TcpListener, token: &str) -> Option<Heard> {
    let mut strangers: Vec<Stranger> = Vec::new();
    let mut refused = 0;
    while context.signal().is_none() {
        let may_come = strangers.len() < STRANGERS_MAX;
        match may_come.then(|| listener.accept()) {
            Some(Ok((stream, from))) => {
                strangers.push(Stranger::new(stream, from, context.now_ns()));
            }
            waits => {
                // Of the errors, one that was gone again before it was taken.
                let gone = |error: std::io::Error| error.kind() == ErrorKind::ConnectionAborted;
                refused += u64::from(waits.is_some_and(|accepted| accepted.is_err_and(gone)));
                std::thread::sleep(TICK);
            }
        }
        for at in (0..strangers.len()).rev() {
            match strangers[at].hear(context.now_ns(), token) {
                Word::Waits => continue,
                Word::Wrong => drop(strangers.swap_remove(at)),
                Word::Token(first) => {
                    let Stranger { stream, from, .. } = strangers.swap_remove(at);
                    if welcome(&stream).is_ok() {
                        // Nobody else is let in.
                        drop(listener);
                        context.status(format!("Reports come from {from}"));
                        return Some(Heard {
                            stream,
                            first,
                            refused: refused + strangers.len() as u64,
                        });
                    }
                }
            }
            refused += 1;
        }
    }
    None
}

/// An address that listens to all is known by the host's name.
fn shown(address: SocketAddr, host: &str) -> String {
    match address.ip().is_unspecified() {
        true => format!("{host}:{}", address.port()),
        false => address.to_string(),
    }
}

/// A connection that has not given a token yet.
struct Stranger {
    stream: TcpStream,
    from: SocketAddr,
    since_ns: u64,
    /// What it said so far.
    line: Vec<u8>,
}

/// What a stranger's first line is.
enum Word {
    /// Not all there.
    Waits,
    /// The token; and what follows it.
    Token(Vec<u8>),
    /// Something else, or nothing for too long.
    Wrong,
}

impl Stranger {
    fn new(stream: TcpStream, from: SocketAddr, now_ns: u64) -> Stranger {
        Stranger {
            stream,
            from,
            since_ns: now_ns,
            line: Vec::new(),
        }
    }

    /// Takes what came of its first line, without waiting for more.
    fn hear(&mut self, now_ns: u64, token: &str) -> Word {
        let mut piece = [0; LINE_BYTES_MAX];
        let read = (self.stream.set_nonblocking(true)).and_then(|()| self.stream.read(&mut piece));
        match read {
            Ok(0) => return Word::Wrong,
            Ok(count) => self.line.extend_from_slice(&piece[..count]),
            Err(error) if is_patience(error.kind()) => {}
            Err(_) => return Word::Wrong,
        }
        if let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let first = self.line.split_off(end + 1);
            let text = std::str::from_utf8(&self.line[..end]);
            return match text.is_ok_and(|text| secret::same(text, token)) {
                true => Word::Token(first),
                false => Word::Wrong,
            };
        }
        let passed_ns = now_ns.saturating_sub(self.since_ns);
        match self.line.len() > LINE_BYTES_MAX || passed_ns >= TOKEN_LIMIT_NS {
            true => Word::Wrong,
            false => Word::Waits,
        }
    }
}

/// Answers the one with the token that the witness is there.
fn welcome(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(TICK * 20))?;
    stream.write_all(READY)?;
    stream.set_read_timeout(None)
}

fn is_patience(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}
