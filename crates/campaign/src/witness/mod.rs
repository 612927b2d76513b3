//! `witness`: stores the reports of a run that waits for a power cut, on another machine: over
//! TCP for the client with the token, or at the end of a pipe.

mod listen;

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome, no_thread};
use stripewise_units::{NameText, format_bytes, format_count};
use stripewise_verify::run_text;
use stripewise_verify::witness::{ALIVE, Intake, READY};

/// A connection silent for this long has lost its other end, which sends a timestamp ten
/// times a second.
const SILENCE_NS_MAX: u64 = 30_000_000_000;
/// How often received data is made durable.
const SYNC_EVERY_NS: u64 = 500_000_000;
const TICK: Duration = Duration::from_millis(100);
const PIECE_BYTES: usize = 64 << 10;
/// Maximum number of chunks queued for storing.
const PIECES_MAX: usize = 64;

/// The document's version; incremented when a field changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// The source of reports.
pub enum Reports {
    /// One connection to this address.
    Network {
        /// `ADDRESS:PORT` to listen on; port 0 selects a free one.
        address: String,
        /// The token that a connection must begin with; `None` generates one.
        token: Option<String>,
    },
    /// A pipe, and where to signal that the witness is ready.
    Pipe {
        /// The input with reports.
        from: Box<dyn Read + Send>,
        /// The answer.
        to: Box<dyn Write>,
    },
}

/// How the reports ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The run ended in order.
    Ended,
    /// The connection or pipe was closed, and the run said no word of an end.
    Closed,
    /// Nothing came any more.
    Silent,
    /// Somebody stopped the witness.
    Interrupted,
}

/// What a witness kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WitnessDocument {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The file.
    pub file: String,
    /// The run's number, hexadecimal.
    pub run: String,
    /// Records that were kept.
    pub records: u64,
    /// Bytes that were no record of the run.
    pub dropped_bytes: u64,
    /// Connections without the token.
    pub refused_connections: u64,
    /// Writes and flushes that failed, by the run's own word.
    pub failed: u64,
    /// How it ended.
    pub ending: Ending,
}

/// Stores reports in a new file until they end.
///
/// # Errors
/// If the file cannot be made or written, listening fails, or nothing arrives.
pub fn witness(context: &Context, path: &Path, reports: Reports) -> Outcome<WitnessDocument> {
    let file = stripewise_store::create_new(path).map_err(|error| cannot_make(path, &error))?;
    let mut keeper = Keeper {
        path,
        file,
        intake: Intake::default(),
        synced_ns: 0,
        to: None,
    };
    let stored = keeper.keep(context, reports);
    if keeper.intake.run().is_none() {
        // The file is useless.
        let _ = stripewise_store::remove_made(&keeper.file, path);
    }
    let (ending, refused_connections) = stored?;
    let Some(run) = keeper.intake.run() else {
        return Err(match context.signal() {
            Some(signal) => Failure::of(
                Exit::Interrupted(signal),
                "interrupted; nothing was reported yet",
            ),
            None => Failure::target(
                "nothing was reported: the other end hung up before it began",
                "see what `stripewise verify --power-cut` says there",
            ),
        });
    };
    let covered = &keeper.intake.covered;
    let document = WitnessDocument {
        schema_version: SCHEMA_VERSION,
        file: path.as_text(),
        run: run_text(run),
        records: covered.records,
        dropped_bytes: covered.dropped_bytes + keeper.intake.unfinished_bytes(),
        refused_connections,
        failed: covered.failed,
        ending: match (covered.ended, ending) {
            (true, _) => Ending::Ended,
            (false, ending) => ending,
        },
    };
    Ok(document)
}

fn cannot_speak(error: &std::io::Error) -> Failure {
    Failure::target(
        format!("cannot answer on the connection: {error}"),
        "raise the limit of open files (`ulimit -n`)",
    )
}

fn cannot_make(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(
            format!("{} already exists and is not overwritten", path.as_text()),
            "name a file that does not exist yet, or remove that one first",
        ),
        _ => Failure::target(
            format!("cannot make {}: {error}", path.as_text()),
            "name a file in a directory that you can write to",
        ),
    }
}

/// Stores reports.
struct Keeper<'a> {
    path: &'a Path,
    file: File,
    intake: Intake,
    synced_ns: u64,
    /// Where it sends signs of life.
    to: Option<Box<dyn Write>>,
}

impl Keeper<'_> {
    /// Runs until they end; returns how, and the number of refused connections.
    fn keep(&mut self, context: &Context, reports: Reports) -> Outcome<(Ending, u64)> {
        self.file.sync_all().map_err(|error| self.broken(&error))?;
        let (from, first, refused): (Box<dyn Read + Send>, _, _) = match reports {
            Reports::Pipe { from, mut to } => {
                (to.write_all(READY).and_then(|()| to.flush())).map_err(|error| {
                    Failure::target(
                        format!("cannot answer that the witness is ready: {error}"),
                        "connect its output to the sender of the reports",
                    )
                })?;
                self.to = Some(to);
                (from, Vec::new(), 0)
            }
            Reports::Network { address, token } => {
                let Some(connection) = listen::accept_witness(context, &address, token)? else {
                    return Ok((Ending::Interrupted, 0));
                };
                let to = connection.stream.try_clone();
                self.to = Some(Box::new(to.map_err(|error| cannot_speak(&error))?));
                (
                    Box::new(connection.stream),
                    connection.first,
                    connection.refused,
                )
            }
        };
        self.take(&first)?;
        let pieces = read_apart(from)?;
        let ending = self.receive(context, &pieces)?;
        self.file.sync_all().map_err(|error| self.broken(&error))?;
        Ok((ending, refused))
    }

    fn receive(&mut self, context: &Context, pieces: &Receiver<Vec<u8>>) -> Outcome<Ending> {
        let mut heard_ns = context.now_ns();
        loop {
            let piece = pieces.recv_timeout(TICK);
            let now_ns = context.now_ns();
            match piece {
                Ok(piece) => {
                    heard_ns = now_ns;
                    self.take(&piece)?;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(Ending::Closed),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if now_ns.saturating_sub(self.synced_ns) >= SYNC_EVERY_NS {
                self.synced_ns = now_ns;
                self.file.sync_data().map_err(|error| self.broken(&error))?;
                self.is_alive();
            }
            if context.signal().is_some() {
                return Ok(Ending::Interrupted);
            }
            if now_ns.saturating_sub(heard_ns) >= SILENCE_NS_MAX && self.intake.run().is_some() {
                return Ok(Ending::Silent);
            }
        }
    }

    /// Sends a sign of life, now that everything is on the disk. Failure is ignored:
    /// reports are stored anyway.
    fn is_alive(&mut self) {
        if let Some(to) = &mut self.to
            && to.write_all(ALIVE).and_then(|()| to.flush()).is_err()
        {
            self.to = None;
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Outcome<()> {
        let mut stored = Vec::new();
        (self
            .intake
            .take(bytes, |bytes| stored.extend_from_slice(bytes)))
        .map_err(|_| {
            Failure::target(
                "the input does not come from `stripewise verify --power-cut`",
                "start that at the other end with --witness, and nothing else",
            )
        })?;
        (self.file.write_all(&stored)).map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &std::io::Error) -> Failure {
        Failure::target(
            format!("cannot keep reports in {}: {error}", self.path.as_text()),
            "make room there, or name a file elsewhere",
        )
    }
}

/// Reads on a separate thread, which blocks forever if nothing arrives.
fn read_apart(mut from: Box<dyn Read + Send>) -> Outcome<Receiver<Vec<u8>>> {
    let (sender, receiver) = sync_channel(PIECES_MAX);
    let read = move || {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match from.read(&mut piece) {
                Ok(0) => return,
                Ok(count) if sender.send(piece[..count].to_vec()).is_ok() => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    };
    std::thread::Builder::new()
        .name("witness".to_owned())
        .spawn(read)
        .map_err(|error| no_thread("to read reports", &error))?;
    Ok(receiver)
}

/// The result, as text for people.
pub fn in_words(document: &WitnessDocument) -> String {
    let how = match document.ending {
        Ending::Ended => "the run ended normally",
        Ending::Closed => "the connection was lost",
        Ending::Silent => "no more data arrived",
        Ending::Interrupted => "the witness was stopped",
    };
    let mut text = format!(
        "{how}: {} records of the run {} in {}",
        format_count(document.records),
        document.run,
        document.file
    );
    if document.dropped_bytes > 0 {
        text.push_str(&format!(
            "; {} that were no record were dropped",
            format_bytes(document.dropped_bytes)
        ));
    }
    if document.refused_connections > 0 {
        text.push_str(&format!(
            "; {} connections without the token were refused",
            format_count(document.refused_connections)
        ));
    }
    text
}
