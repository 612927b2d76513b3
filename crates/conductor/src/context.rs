//! What every use case has at hand: store, clock, ids, interrupt, observer.

use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::observer::{Event, Observer};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use stripewise_machine::System;
use stripewise_results::{HostFacts, run_id};
use stripewise_runner::session::host_facts;
use stripewise_store::{ErrorKind, Filter, KeptDocument, Owner, RunSummary, Store};
use stripewise_targets::FileSystemSize;
use stripewise_units::{Hint, NameText, WallTime};

/// Time, from outside.
pub trait Clock: Send + Sync {
    /// Nanoseconds since some moment before the use case began.
    fn now_ns(&self) -> u64;
    /// Now, RFC 3339 in UTC with milliseconds.
    fn timestamp(&self) -> String;

    /// The same as a number; clocks that know nanoseconds say them.
    fn wall(&self) -> WallTime {
        self.timestamp().parse().unwrap_or_default()
    }
}

/// What a front end gives to a [`Context`].
pub struct Surroundings {
    /// Time.
    pub clock: Box<dyn Clock>,
    /// Who hears what happens.
    pub observer: Box<dyn Observer>,
    /// The wish to stop.
    pub interrupt: Interrupt,
    /// The file that results are kept in; `None` where there is no place for one.
    pub store: Option<PathBuf>,
    /// The user named that file; else it is the usual place.
    pub store_is_named: bool,
    /// The command line or whatever stands for it, as records keep it.
    pub command: Vec<String>,
    /// The program's version, as records keep it.
    pub version: String,
    /// Chance for ids: two processes that begin at once have different numbers here.
    pub random_seed: [u64; 2],
    /// How large file systems count as where a share of them must stay free.
    pub file_system_size: FileSystemSize,
}

/// What every use case has at hand.
pub struct Context {
    surroundings: Surroundings,
    /// Of the next id; counted on by `id_step`, so that no two ids of this process are
    /// the same.
    next_id: AtomicU64,
    /// Damaged runs of the store that were named.
    damaged: Mutex<BTreeSet<String>>,
    /// Odd: a process that meets an id of another one does not meet its next ids too.
    id_step: u64,
    /// Something was measured, and the store has it.
    has_measured: AtomicBool,
}

impl Context {
    /// Of these surroundings.
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        let [first, step] = surroundings.random_seed;
        Context {
            surroundings,
            next_id: AtomicU64::new(first),
            id_step: step | 1,
            has_measured: AtomicBool::new(false),
            damaged: Mutex::new(BTreeSet::new()),
        }
    }

    /// The signal that asked for a stop, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        self.surroundings.interrupt.signal()
    }

    /// Whether the first signal ends the process from here on: see [`Interrupt::end_at_once`].
    pub fn end_at_once(&self, at_once: bool) {
        self.surroundings.interrupt.end_at_once(at_once);
    }

    /// Does what measures nothing and changes nothing: a signal meanwhile ends the process, so
    /// that the work need not ask for it. `None` where one came before, or where it came and
    /// the process goes on, as that of several hosts does.
    pub fn ending_at_once<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        self.end_at_once(true);
        // Asked after that: one that came in between has not ended the process.
        let done = self.signal().is_none().then(work);
        self.end_at_once(false);
        done.filter(|_| self.signal().is_none())
    }

    /// Something was measured since, and the store has it: whatever becomes of the words about
    /// it, it is not lost.
    #[must_use]
    pub fn has_measured(&self) -> bool {
        self.has_measured.load(Ordering::Relaxed)
    }

    /// What was measured is in the store.
    pub(crate) fn note_measured(&self) {
        self.has_measured.store(true, Ordering::Relaxed);
    }

    /// Who hears what happens.
    #[must_use]
    pub fn observer(&self) -> &dyn Observer {
        &*self.surroundings.observer
    }

    /// What will be done: lines for people.
    pub fn plan(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        self.observer().hear(&Event::Plan { text: &text });
    }

    /// What is being done or was done.
    pub fn status(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        self.observer().hear(&Event::Status { text: &text });
    }

    /// Something that must be known.
    pub fn note(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        self.observer().hear(&Event::Note {
            text: &text,
            hint: None,
        });
    }

    /// A failure that was survived, as a note with its hint.
    pub fn note_failure(&self, text: &str, failure: &Failure) {
        self.observer().hear(&Event::Note {
            text,
            hint: failure.hint.as_ref(),
        });
    }

    /// The command line, as records keep it.
    #[must_use]
    pub fn command(&self) -> &[String] {
        &self.surroundings.command
    }

    /// The program's version, as records keep it.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.surroundings.version
    }

    /// How large file systems count as where a share of them must stay free.
    #[must_use]
    pub fn file_system_size(&self) -> FileSystemSize {
        self.surroundings.file_system_size
    }

    /// Nanoseconds since the program started.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.surroundings.clock.now_ns()
    }

    /// Now, RFC 3339 in UTC with milliseconds.
    #[must_use]
    pub fn timestamp(&self) -> String {
        self.surroundings.clock.timestamp()
    }

    /// Now on the host's clock.
    #[must_use]
    pub fn wall(&self) -> WallTime {
        self.surroundings.clock.wall()
    }

    /// Facts of this machine.
    #[must_use]
    pub fn host(&self) -> HostFacts {
        host_facts(&System::live())
    }

    /// Where results are kept.
    ///
    /// # Errors
    /// Where there is no place for them.
    pub fn store_path(&self) -> Outcome<PathBuf> {
        self.surroundings.store.clone().ok_or_else(|| {
            Failure::new(
                Exit::Store,
                "there is no place to store results: neither HOME nor XDG_DATA_HOME names a directory",
                "name a store with --store FILE",
            )
        })
    }

    /// Opens the store; runs that a killed process left behind are reported.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn open_store(&self) -> Outcome<Store> {
        let path = self.store_path()?;
        // A name with a typing error would be a new store, and new directories.
        let directory = path.parent().filter(|parent| *parent != Path::new(""));
        if self.surroundings.store_is_named && directory.is_some_and(|parent| !parent.exists()) {
            return Err(Failure::usage(
                format!("{}: its directory does not exist", path.as_text()),
                "check the spelling of --store, or make the directory first",
            ));
        }
        let host = self.host().name;
        let store = Store::open(&path, Owner::of_this_process(&host)).map_err(store_failure)?;
        if !store.recovered().is_empty() {
            let text = format!(
                "{} left unfinished by a process that is gone; kept as partial: {}",
                if store.recovered().len() == 1 {
                    "a run was"
                } else {
                    "runs were"
                },
                store.recovered().join(", ")
            );
            self.observer().hear(&Event::Remark { text: &text });
        }
        for unreadable in store.unrecovered() {
            self.observer().hear(&Event::Warning {
                code: None,
                text: &unreadable.error.to_string(),
                hint: Some(&Hint::plain(unreadable.error.hint())),
            });
        }
        Ok(store)
    }

    /// Opens a store that is there already: what only looks, or takes away, makes
    /// none.
    ///
    /// # Errors
    /// Where there is none, or it cannot be opened.
    pub fn open_store_there(&self) -> Outcome<Store> {
        match self.store_is_there()? {
            true => self.open_store(),
            false => Err(self.no_store()),
        }
    }

    /// Opens the store to look at it: one that cannot be written to will do.
    ///
    /// # Errors
    /// Where there is none, or it cannot be opened.
    pub fn open_store_to_read(&self) -> Outcome<Store> {
        self.open_store_there().or_else(|failure| {
            let cannot_write = failure
                .error
                .downcast_ref::<stripewise_store::Error>()
                .is_some_and(|error| {
                    matches!(error.kind(), ErrorKind::ReadOnly { .. } | ErrorKind::Full)
                });
            if !cannot_write {
                return Err(failure);
            }
            Store::open_read_only(&self.store_path()?).map_err(|_| failure)
        })
    }

    /// As [`Context::open_store_to_read`]; none where nothing was ever kept at the
    /// usual place. A file that the user named is missing, and that is an error.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn open_store_if_any(&self) -> Outcome<Option<Store>> {
        if !self.surroundings.store_is_named && !self.store_is_there()? {
            return Ok(None);
        }
        self.open_store_to_read().map(Some)
    }

    /// Stored runs, what was stored last first; damaged ones are named and left out.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub fn stored_runs(&self, store: &Store, filter: &Filter) -> Outcome<Vec<RunSummary>> {
        let listing = store.list_readable(filter).map_err(store_failure)?;
        for unreadable in listing.unreadable {
            self.unless_damaged::<()>(Err(unreadable.error))?;
        }
        Ok(listing.runs)
    }

    /// What was read of a run of a list; none where it is damaged, which is reported
    /// once: the other runs can be shown all the same. None, too, where another process
    /// has deleted it since the list was made.
    ///
    /// # Errors
    /// Any other error of the store.
    pub fn unless_damaged<T>(&self, read: stripewise_store::Result<T>) -> Outcome<Option<T>> {
        let error = match read {
            Ok(read) => return Ok(Some(read)),
            Err(error) => error,
        };
        let run = match error.kind() {
            ErrorKind::NotFound { .. } => return Ok(None),
            ErrorKind::DamagedRun { run, .. } => run,
            _ => return Err(store_failure(error)),
        };
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        if damaged.insert(run.clone()) {
            let failure = store_failure(error);
            self.observer().hear(&Event::Failure {
                text: &failure.chain(),
                hint: failure.hint.as_ref(),
            });
        }
        Ok(None)
    }

    /// What the process returns when a command is done: that something in the store
    /// is damaged is not hidden behind the rest.
    #[must_use]
    pub fn exit_with_damage(&self, exit: Exit) -> Exit {
        let damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        match exit {
            Exit::Done if !damaged.is_empty() => Exit::Store,
            other => other,
        }
    }

    /// Something is where the store would be, or it cannot be told.
    ///
    /// # Errors
    /// Where there is no place for it.
    pub fn store_is_there(&self) -> Outcome<bool> {
        Ok(self.store_path()?.try_exists().unwrap_or(true))
    }

    fn no_store(&self) -> Failure {
        let path = self.store_path().unwrap_or_default();
        let hint = match self.surroundings.store_is_named {
            true => {
                "check the name given with --store FILE; `stripewise run TARGET` with it makes a store there"
            }
            false => "`stripewise run TARGET` measures, and keeps the first run",
        };
        Failure::new(
            Exit::Store,
            format!("there is no store at {}", path.as_text()),
            hint,
        )
    }

    /// Bytes that nobody else has, for identifiers on disks.
    #[must_use]
    pub fn random_seed(&self) -> [u8; 32] {
        let first = self.next_id.fetch_add(self.id_step, Ordering::Relaxed);
        // Two numbers from outside make the state; splitmix64 spreads them.
        let mut state = first ^ self.id_step.rotate_left(32);
        let mut bytes = [0; 32];
        for piece in bytes.chunks_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ self.id_step;
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            piece.copy_from_slice(&(word ^ (word >> 31)).to_le_bytes());
        }
        bytes
    }

    /// A new id for something that starts at `timestamp`.
    #[must_use]
    pub fn new_id(&self, timestamp: &str) -> String {
        let entropy = self.next_id.fetch_add(self.id_step, Ordering::Relaxed);
        run_id(timestamp, entropy).unwrap_or_else(|| format!("run-{entropy:x}"))
    }

    /// A new id for a series or an experiment, which nothing in the store has: what is
    /// kept under a name replaces what had that name.
    ///
    /// # Errors
    /// Where the store cannot be read, or has all ids that were tried.
    pub fn free_id(&self, store: &Store, timestamp: &str) -> Outcome<String> {
        const TRIES: usize = 64;
        for _ in 0..TRIES {
            let id = self.new_id(timestamp);
            if store.is_free(&id).map_err(store_failure)? {
                return Ok(id);
            }
        }
        Err(Failure::new(
            Exit::Store,
            format!("no free id was found in {TRIES} tries"),
            "try again in a second; each second has ids of its own",
        ))
    }
}

/// Keeps a document of this kind as JSON, in place of one of the same name.
///
/// # Errors
/// Where the store does not take it.
pub fn keep_document(
    context: &Context,
    store: &mut Store,
    kind: &str,
    name: &str,
    content: &impl Serialize,
) -> Outcome<()> {
    let json = serde_json::to_string(content).map_err(|error| Failure::of(Exit::Store, error))?;
    let document = KeptDocument {
        name: name.to_owned(),
        kept_at: context.timestamp(),
        json,
    };
    store.keep_document(kind, &document).map_err(store_failure)
}

/// Keeps the document of what was measured without runs: [`keep_document`].
///
/// # Errors
/// Where the store does not take it.
pub fn keep_measured(
    context: &Context,
    store: &mut Store,
    kind: &str,
    name: &str,
    content: &impl Serialize,
) -> Outcome<()> {
    keep_document(context, store, kind, name, content)?;
    context.note_measured();
    Ok(())
}

/// A failure of the store: names that match nothing are usage.
#[must_use]
pub fn store_failure(error: stripewise_store::Error) -> Failure {
    let exit = if error.is_about_a_name() {
        Exit::Usage
    } else {
        Exit::Store
    };
    let hint = error.hint();
    Failure::of(exit, error).hinted(hint)
}
