//! What every use case works with: store, clock, ids, interrupt, observer.

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
use stripewise_store::{ErrorKind, Filter, Owner, RunSummary, Store, StoredDocument};
use stripewise_targets::FileSystemSize;
use stripewise_units::{Hint, NameText, WallTime};

/// A clock supplied by the front end.
pub trait Clock: Send + Sync {
    /// Monotonic nanoseconds since some moment before the use case began.
    fn now_ns(&self) -> u64;
    /// Now, RFC 3339 in UTC with milliseconds.
    fn timestamp(&self) -> String;

    /// The same as a number, in nanoseconds if the clock has them.
    fn wall(&self) -> WallTime {
        self.timestamp().parse().unwrap_or_default()
    }
}

/// What a front end gives to a [`Context`].
pub struct Surroundings {
    /// The source of time.
    pub clock: Box<dyn Clock>,
    /// Receives events.
    pub observer: Box<dyn Observer>,
    /// The request to stop.
    pub interrupt: Interrupt,
    /// The result store's file; `None` if there is no location for it.
    pub store: Option<PathBuf>,
    /// The user named that file; otherwise it is in the default location.
    pub store_is_named: bool,
    /// The command line or its equivalent, as stored in records.
    pub command: Vec<String>,
    /// The program's version, as stored in records.
    pub version: String,
    /// Seed for ids: two processes that start at the same moment get different numbers.
    pub random_seed: [u64; 2],
    /// How large a file system counts as when a share of it must stay free.
    pub file_system_size: FileSystemSize,
}

/// What every use case works with.
pub struct Context {
    surroundings: Surroundings,
    /// State for the next id, advanced by `id_step` so that no two ids of this process are
    /// the same.
    next_id: AtomicU64,
    /// Damaged runs and documents of the store that were already reported.
    damaged: Mutex<BTreeSet<String>>,
    /// Odd: after one collision with an id of another process, the next ids do not collide too.
    id_step: u64,
    /// Something was measured and stored.
    has_measured: AtomicBool,
    /// The exit of the first failure after something was measured.
    late_failure: Mutex<Option<Exit>>,
}

impl Context {
    /// A context with these surroundings.
    pub fn new(surroundings: Surroundings) -> Self {
        let [first, step] = surroundings.random_seed;
        Context {
            surroundings,
            next_id: AtomicU64::new(first),
            id_step: step | 1,
            has_measured: AtomicBool::new(false),
            damaged: Mutex::new(BTreeSet::new()),
            late_failure: Mutex::new(None),
        }
    }

    /// The signal that requested a stop, if any.
    pub fn signal(&self) -> Option<u8> {
        self.surroundings.interrupt.signal()
    }

    /// Sets whether the next signal ends the process: see [`Interrupt::end_at_once`].
    pub fn end_at_once(&self, at_once: bool) {
        self.surroundings.interrupt.end_at_once(at_once);
    }

    /// Does work that measures and changes nothing: a signal ends the process meanwhile, so that
    /// the work need not poll for it. `None` if a signal came before, or if it came meanwhile and
    /// the process goes on, as it does with several hosts.
    pub fn ending_at_once<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        self.end_at_once(true);
        // Checked after `end_at_once`: a signal that came in between has not ended the process.
        let done = self.signal().is_none().then(work);
        self.end_at_once(false);
        done.filter(|_| self.signal().is_none())
    }

    /// Something was measured and stored: even if reporting it fails, it is not lost.
    pub fn has_measured(&self) -> bool {
        self.has_measured.load(Ordering::Relaxed)
    }

    /// Records that a measurement was stored.
    pub(crate) fn note_measured(&self) {
        self.has_measured.store(true, Ordering::Relaxed);
    }

    /// The receiver of events.
    pub fn observer(&self) -> &dyn Observer {
        &*self.surroundings.observer
    }

    /// Reports what will be done: lines for people.
    pub fn plan(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        self.observer().on_event(&Event::Plan { text: &text });
    }

    /// Reports what is being done or was done.
    pub fn status(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        self.observer().on_event(&Event::Status { text: &text });
    }

    /// Reports something the user must know.
    pub fn note(&self, text: impl std::fmt::Display) {
        let text = text.to_string();
        self.observer().on_event(&Event::Note {
            text: &text,
            hint: None,
        });
    }

    /// Reports a failure the program recovered from, as a note with its hint.
    pub fn note_failure(&self, text: &str, failure: &Failure) {
        self.observer().on_event(&Event::Note {
            text,
            hint: failure.hint.as_ref(),
        });
    }

    /// Reports a failure that came after something was measured: the result is shown all the
    /// same, and [`Context::exit_with_damage`] is the exit.
    pub fn note_late_failure(&self, failure: &Failure) {
        let mut late = self
            .late_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        late.get_or_insert(failure.exit);
        drop(late);
        self.observer().on_event(&Event::Failure {
            text: &failure.chain(),
            hint: failure.hint.as_ref(),
        });
    }

    /// The command line, as stored in records.
    pub fn command(&self) -> &[String] {
        &self.surroundings.command
    }

    /// The program's version, as stored in records.
    pub fn version(&self) -> &str {
        &self.surroundings.version
    }

    /// How large a file system counts as when a share of it must stay free.
    pub fn file_system_size(&self) -> FileSystemSize {
        self.surroundings.file_system_size
    }

    /// Nanoseconds since the program started.
    pub fn now_ns(&self) -> u64 {
        self.surroundings.clock.now_ns()
    }

    /// Now, RFC 3339 in UTC with milliseconds.
    pub fn timestamp(&self) -> String {
        self.surroundings.clock.timestamp()
    }

    /// Now on the host's clock.
    pub fn wall(&self) -> WallTime {
        self.surroundings.clock.wall()
    }

    /// Facts of this machine.
    pub fn host(&self) -> HostFacts {
        host_facts(&System::live())
    }

    /// Path of the result store.
    ///
    /// # Errors
    /// If there is no location for it.
    pub fn store_path(&self) -> Outcome<PathBuf> {
        self.surroundings.store.clone().ok_or_else(|| {
            Failure::new(
                Exit::Store,
                "there is no place to store results: neither HOME nor XDG_DATA_HOME names a directory",
                "name a store with --store FILE",
            )
        })
    }

    /// Opens the store and reports runs that a killed process left behind.
    pub fn open_store(&self) -> Outcome<Store> {
        let path = self.store_path()?;
        // A mistyped name would create a new store and new directories.
        let directory = path.parent().filter(|parent| *parent != Path::new(""));
        if self.surroundings.store_is_named && directory.is_some_and(|parent| !parent.exists()) {
            return Err(Failure::usage(
                format!("{}: its directory does not exist", path.as_text()),
                "check the spelling of --store, or make the directory first",
            ));
        }
        let host = self.host().name;
        let store = Store::open(&path, Owner::of_this_process(&host))?;
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
            self.observer().on_event(&Event::Remark { text: &text });
        }
        for unreadable in store.unrecovered() {
            self.observer().on_event(&Event::Warning {
                code: None,
                text: &unreadable.error.to_string(),
                hint: Some(&Hint::plain(unreadable.error.hint())),
            });
        }
        Ok(store)
    }

    /// Opens an existing store: commands that only read or delete do not
    /// create one.
    ///
    /// # Errors
    /// If there is none, or it cannot be opened.
    pub fn open_store_there(&self) -> Outcome<Store> {
        match self.store_is_there()? {
            true => self.open_store(),
            false => Err(self.no_store()),
        }
    }

    /// Opens the store for reading: a store that is not writable will do.
    ///
    /// # Errors
    /// If there is none, or it cannot be opened.
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

    /// As [`Context::open_store_to_read`]; `None` if nothing was ever stored in the
    /// default location. A missing file that the user named is an error.
    pub fn open_store_if_any(&self) -> Outcome<Option<Store>> {
        if !self.surroundings.store_is_named && !self.store_is_there()? {
            return Ok(None);
        }
        self.open_store_to_read().map(Some)
    }

    /// Stored runs, newest first. Damaged ones are reported and left out.
    pub fn stored_runs(&self, store: &Store, filter: &Filter) -> Outcome<Vec<RunSummary>> {
        let listing = store.list_readable(filter)?;
        for unreadable in listing.unreadable {
            self.unless_damaged::<()>(Err(unreadable.error))?;
        }
        Ok(listing.runs)
    }

    /// Ids of the runs of a series or an experiment, oldest first; damaged ones are reported and
    /// left out.
    pub fn series_run_ids(&self, store: &Store, series: &str) -> Outcome<Vec<String>> {
        let listed = self.stored_runs(store, &Filter::of_series(series))?;
        Ok(listed.into_iter().rev().map(|run| run.id).collect())
    }

    /// Unwraps the result of reading a listed run. `None` if the run is damaged, which is
    /// reported once so that the other runs can still be shown, or if another process
    /// has deleted it since it was listed.
    pub fn unless_damaged<T>(&self, read: stripewise_store::Result<T>) -> Outcome<Option<T>> {
        let error = match read {
            Ok(read) => return Ok(Some(read)),
            Err(error) => error,
        };
        let name = match error.kind() {
            ErrorKind::NotFound { .. } => return Ok(None),
            ErrorKind::DamagedRun { run: name, .. } | ErrorKind::DamagedDocument { name, .. } => {
                name
            }
            _ => return Err(Failure::from(error)),
        };
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        if damaged.insert(name.clone()) {
            let failure = Failure::from(error);
            self.observer().on_event(&Event::Failure {
                text: &failure.chain(),
                hint: failure.hint.as_ref(),
            });
        }
        Ok(None)
    }

    /// The exit of a finished command: [`Exit::Done`] becomes that of a late failure, or
    /// [`Exit::Store`] if something in the store is damaged.
    pub fn exit_with_damage(&self, exit: Exit) -> Exit {
        let damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        let late = *self
            .late_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match (exit, late) {
            (Exit::Done, Some(late)) => late,
            // What was measured until then is not stored.
            (Exit::Interrupted(_), Some(Exit::Store)) => Exit::Store,
            (Exit::Done, None) if !damaged.is_empty() => Exit::Store,
            (other, _) => other,
        }
    }

    /// Returns whether a store exists. An unclear answer counts as yes.
    ///
    /// # Errors
    /// If there is no location for it.
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

    /// Bytes unique to this call, for identifiers on disks.
    pub fn random_seed(&self) -> [u8; 32] {
        let first = self.next_id.fetch_add(self.id_step, Ordering::Relaxed);
        // Two random numbers make the state; splitmix64 spreads them.
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
    pub fn new_id(&self, timestamp: &str) -> String {
        let entropy = self.next_id.fetch_add(self.id_step, Ordering::Relaxed);
        run_id(timestamp, entropy).unwrap_or_else(|| format!("run-{entropy:x}"))
    }

    /// A new id for a series or an experiment that is unused in the store: storing under an
    /// existing name replaces what is there.
    ///
    /// # Errors
    /// If the store cannot be read, or all ids that were tried are taken.
    pub fn free_id(&self, store: &Store, timestamp: &str) -> Outcome<String> {
        const TRIES: usize = 64;
        for _ in 0..TRIES {
            let id = self.new_id(timestamp);
            if store.is_free(&id)? {
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

/// Stores a document of this kind as JSON, replacing one of the same name.
pub fn store_document(
    context: &Context,
    store: &mut Store,
    kind: &str,
    name: &str,
    content: &impl Serialize,
) -> Outcome<()> {
    let json = serde_json::to_string(content).map_err(|error| Failure::of(Exit::Store, error))?;
    let document = StoredDocument {
        name: name.to_owned(),
        stored_at: context.timestamp(),
        json,
    };
    store.store_document(kind, &document).map_err(Failure::from)
}

/// Stores the document of a measurement that has no runs: see [`store_document`].
pub fn store_measured(
    context: &Context,
    store: &mut Store,
    kind: &str,
    name: &str,
    content: &impl Serialize,
) -> Outcome<()> {
    store_document(context, store, kind, name, content)?;
    context.note_measured();
    Ok(())
}

/// Stores the document of a measurement that is shown whether the store takes it or not: see
/// [`store_measured`], and [`Context::note_late_failure`] for a failure.
pub fn store_or_report(
    context: &Context,
    store: &mut Store,
    kind: &str,
    name: &str,
    content: &impl Serialize,
) {
    if let Err(failure) = store_measured(context, store, kind, name, content) {
        context.note_late_failure(&failure);
    }
}
