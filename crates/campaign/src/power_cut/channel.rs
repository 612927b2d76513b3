//! The channel to the witness: over TCP, through a command (`|ssh other stripewise witness
//! --stdin FILE`), or into a file on another disk. It must be open before the first byte
//! is written.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::{DeviceNumber, NameText, path_of};
use stripewise_verify::witness::{READY, SILENCE_NS_MAX, WitnessLiveness};

/// Time limit for a witness on the network to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for a command: `ssh` may ask for a password first.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// Time limit for sending a record.
const SEND_LIMIT: Duration = Duration::from_nanos(SILENCE_NS_MAX);
/// How often a wait checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The address of the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WitnessPlace {
    /// `HOST:PORT/TOKEN`.
    Network {
        /// Host and port.
        address: String,
        /// The token printed by the witness.
        token: String,
    },
    /// `|COMMAND`: a shell command that reads records and answers.
    Command(String),
    /// A new file.
    File(PathBuf),
}

impl FromStr for WitnessPlace {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(command) = text.strip_prefix('|') {
            return Ok(WitnessPlace::Command(command.trim().to_owned()));
        }
        let network = text.split_once('/').and_then(|(address, token)| {
            let (host, port) = address.rsplit_once(':')?;
            let is_port = port.parse::<u16>().is_ok();
            (!host.is_empty() && is_port).then(|| WitnessPlace::Network {
                address: address.to_owned(),
                token: token.to_owned(),
            })
        });
        Ok(network.unwrap_or_else(|| WitnessPlace::File(path_of(text))))
    }
}

/// An open channel to a witness.
pub(super) struct Channel {
    way: Transport,
    /// Number of bytes received from the witness since its first answer.
    bytes_received: Arc<AtomicU64>,
    /// Checks that it keeps sending signs of life; `None` for a file.
    liveness: Option<WitnessLiveness>,
}

enum Transport {
    Network(TcpStream),
    Command(Child),
    /// Each record is written to disk before the next one.
    File(File),
}

impl Channel {
    /// Connects to the witness, and waits for its answer.
    pub(super) fn open(context: &Context, place: &WitnessPlace) -> Outcome<Channel> {
        let bytes_received = Arc::default();
        let way = match place {
            WitnessPlace::Network { address, token } => {
                connect(context, address, token, &bytes_received)?
            }
            WitnessPlace::Command(command) => start(context, command, &bytes_received)?,
            WitnessPlace::File(path) => make(path)?,
        };
        let now_ns = context.now_ns();
        let liveness = match way {
            Transport::Network(_) => Some(WitnessLiveness::expected(now_ns)),
            Transport::Command(_) => Some(WitnessLiveness::perhaps(now_ns)),
            Transport::File(_) => None,
        };
        Ok(Channel {
            way,
            bytes_received,
            liveness,
        })
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// If they cannot be sent, or the witness no longer sends signs of life.
    pub(super) fn send(&mut self, bytes: &[u8], now_ns: u64) -> std::io::Result<()> {
        let bytes_received = self.bytes_received.load(Ordering::Relaxed);
        if (self.liveness.as_mut()).is_some_and(|liveness| liveness.is_gone(bytes_received, now_ns))
        {
            let seconds = SILENCE_NS_MAX / 1_000_000_000;
            let what = format!("it has recorded nothing for {seconds} s (stopped, or cut off?)");
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, what));
        }
        match &mut self.way {
            Transport::Network(stream) => stream.write_all(bytes),
            Transport::Command(child) => match &mut child.stdin {
                Some(pipe) => pipe.write_all(bytes).and_then(|()| pipe.flush()),
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            },
            Transport::File(file) => file.write_all(bytes).and_then(|()| file.sync_data()),
        }
    }

    /// Ends the channel.
    pub(super) fn close(mut self) {
        if let Transport::Command(child) = &mut self.way {
            drop(child.stdin.take());
            // It may have a file to finish.
            let _ = child.wait();
        }
    }
}

impl Drop for Channel {
    /// Shut down explicitly: the listening thread still holds the connection.
    fn drop(&mut self) {
        if let Transport::Network(stream) = &self.way {
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

fn not_there(place: &str, why: impl std::fmt::Display) -> Failure {
    Failure::target(
        format!("the witness at {place} is not there: {why}; nothing was written"),
        "start `stripewise witness FILE --listen ADDRESS:PORT` there first, and name it as it prints: HOST:PORT/TOKEN",
    )
}

fn connect(
    context: &Context,
    address: &str,
    token: &str,
    bytes_received: &Arc<AtomicU64>,
) -> Outcome<Transport> {
    let addresses = (address.to_socket_addrs()).map_err(|error| not_there(address, error))?;
    let mut last = "its name does not resolve".to_owned();
    for one in addresses {
        match TcpStream::connect_timeout(&one, ANSWER_LIMIT) {
            Ok(mut stream) => {
                greet(&mut stream, token).map_err(|error| not_there(address, error))?;
                (stream.try_clone().map_err(|error| error.to_string()))
                    .and_then(|reader| {
                        wait_for_answer(context, reader, ANSWER_LIMIT, bytes_received)
                    })
                    .map_err(|why| not_there(address, why))?;
                return Ok(Transport::Network(stream));
            }
            Err(error) => last = error.to_string(),
        }
    }
    Err(not_there(address, last))
}

fn greet(stream: &mut TcpStream, token: &str) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(SEND_LIMIT))?;
    stream.write_all(format!("{token}\n").as_bytes())
}

/// Starts the command and waits for its answer.
fn start(context: &Context, command: &str, bytes_received: &Arc<AtomicU64>) -> Outcome<Transport> {
    let name = format!("`{command}`");
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| not_there(&name, error))?;
    let answered = match child.stdout.take() {
        Some(output) => wait_for_answer(context, output, COMMAND_LIMIT, bytes_received),
        None => Err("its output cannot be read".to_owned()),
    };
    match answered {
        Ok(()) => Ok(Transport::Command(child)),
        Err(why) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(not_there(&name, why))
        }
    }
}

/// Reads the answer on a separate thread, so that Ctrl-C can end the wait. The thread continues
/// and counts what the witness sends afterwards.
fn wait_for_answer(
    context: &Context,
    mut from: impl Read + Send + 'static,
    limit: Duration,
    bytes_received: &Arc<AtomicU64>,
) -> Result<(), String> {
    let (sender, receiver) = channel();
    let bytes_received = Arc::clone(bytes_received);
    let read = move || {
        let mut answer = vec![0; READY.len()];
        let answered = from.read_exact(&mut answer).map(|()| answer);
        let is_there = answered.is_ok();
        if sender.send(answered).is_err() || !is_there {
            return;
        }
        let mut more = [0; 256];
        while let Ok(count @ 1..) = from.read(&mut more) {
            bytes_received.fetch_add(count as u64, Ordering::Relaxed);
        }
    };
    (std::thread::Builder::new().spawn(read)).map_err(|error| error.to_string())?;
    let mut waited = Duration::ZERO;
    while waited < limit {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(Ok(answer)) if answer == READY => return Ok(()),
            Ok(Ok(_)) => return Err("it answers, but not like a witness".to_owned()),
            Ok(Err(_)) => {
                return Err("it hung up without an answer: is the token right?".to_owned());
            }
            Err(_) if context.signal().is_some() => return Err("interrupted".to_owned()),
            Err(_) => waited += LOOK_EVERY,
        }
    }
    Err(format!("no answer in {} s", limit.as_secs()))
}

fn make(path: &Path) -> Outcome<Transport> {
    let file = stripewise_store::create_new(path).map_err(|error| {
        Failure::target(
            format!(
                "cannot make the witness's file {}: {error}; nothing was written",
                path.as_text()
            ),
            "name a new file on another disk, HOST:PORT/TOKEN of `stripewise witness`, or `|COMMAND`",
        )
    })?;
    // A file whose name is lost in the cut would be useless.
    if let Ok(directory) = File::open(directory_of(path)) {
        let _ = directory.sync_all();
    }
    Ok(Transport::File(file))
}

fn directory_of(path: &Path) -> &Path {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    directory.unwrap_or(Path::new("."))
}

/// Refuses a witness that would lose its power or cache together with the target.
pub(super) fn refuse_same_disk(
    context: &Context,
    place: &WitnessPlace,
    targets: &[String],
) -> Outcome<()> {
    let WitnessPlace::File(path) = place else {
        return Ok(());
    };
    let layers = |path: &Path| -> Option<Vec<DeviceNumber>> {
        let storage = System::live().storage_of_path(path).ok()?;
        Some(storage.layers().iter().map(|one| one.number).collect())
    };
    // The file does not exist yet.
    let Some(own) = layers(directory_of(path)) else {
        return Ok(());
    };
    if own.is_empty() {
        context.note(format!(
            "the witness {} is in memory or on a network file system: it helps only if that \
             stays powered",
            path.as_text()
        ));
    }
    for target in targets {
        let theirs = layers(&path_of(target)).unwrap_or_default();
        if theirs.iter().any(|one| own.contains(one)) {
            return Err(Failure::target(
                format!(
                    "the witness {} is on the same disk as {}, and would be cut off with it",
                    path.as_text(),
                    target
                ),
                "name a file on another disk, or use `stripewise witness` on another machine",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart_by_how_they_are_written() {
        let of = |text: &str| text.parse::<WitnessPlace>().unwrap();
        assert_eq!(
            of("db2:7411/0af3"),
            WitnessPlace::Network {
                address: "db2:7411".to_owned(),
                token: "0af3".to_owned()
            }
        );
        assert_eq!(
            of("[::1]:7411/0af3"),
            WitnessPlace::Network {
                address: "[::1]:7411".to_owned(),
                token: "0af3".to_owned()
            }
        );
        assert_eq!(
            of("| ssh db2 stripewise witness --stdin f"),
            WitnessPlace::Command("ssh db2 stripewise witness --stdin f".to_owned())
        );
        for file in ["/mnt/other/cut.witness", "cut.witness", "odd:name", "a:b/c"] {
            assert_eq!(of(file), WitnessPlace::File(PathBuf::from(file)), "{file}");
        }
    }
}
