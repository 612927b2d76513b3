//! What every command has at hand: switches, store, clock, interrupt, facts.

use crate::cli::Global;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::show::style::Style;
use crate::show::terminal::say;
use serde::Serialize;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use stripewise_disk_inspect::System;
use stripewise_results::{HostFacts, run_id};
use stripewise_runner::session::host_facts;
use stripewise_store::{ErrorKind, Filter, KeptDocument, Owner, RunSummary, Store};
use stripewise_units::NameText;

/// The program's version, as records carry it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What every command has at hand.
pub struct Context {
    pub global: Global,
    pub style: Style,
    pub interrupt: Interrupt,
    started: Instant,
    /// Of the next id; from the system at the start, then counted on by `id_step`, so
    /// that no two ids of this process are the same.
    next_id: AtomicU64,
    /// Odd, and from the system as well: a process that meets an id of another one does
    /// not meet its next ids too.
    id_step: u64,
    /// Damaged runs of the store that were named.
    damaged: Mutex<BTreeSet<String>>,
}

impl Context {
    pub fn new(global: Global) -> std::io::Result<Self> {
        // The standard library's hasher is seeded from the system: enough to
        // tell processes of one second apart.
        let chance = RandomState::new();
        Ok(Context {
            style: Style::of(&global),
            global,
            interrupt: Interrupt::listen()?,
            started: Instant::now(),
            next_id: AtomicU64::new(chance.hash_one(std::process::id())),
            id_step: chance.hash_one("step") | 1,
            damaged: Mutex::new(BTreeSet::new()),
        })
    }

    /// Nanoseconds since the program started.
    pub fn now_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Facts of this machine.
    pub fn host(&self) -> HostFacts {
        host_facts(&System::live())
    }

    /// Where results are kept.
    pub fn store_path(&self) -> Outcome<PathBuf> {
        match &self.global.store {
            Some(path) => Ok(path.clone()),
            None => stripewise_store::default_path(|name| std::env::var_os(name)).ok_or_else(|| {
                Failure::new(
                    Exit::Store,
                    "there is no place to keep results: neither HOME nor XDG_DATA_HOME names a directory",
                    "name a file with --store FILE",
                )
            }),
        }
    }

    /// Opens the store; runs that a killed process left behind are told.
    pub fn open_store(&self) -> Outcome<Store> {
        let path = self.store_path()?;
        let host = self.host().name;
        let store = Store::open(&path, Owner::of_this_process(&host)).map_err(store_failure)?;
        if !store.recovered().is_empty() && !self.global.quiet {
            say!(
                "note: {} left unfinished by a process that is gone; kept as partial: {}",
                if store.recovered().len() == 1 {
                    "a run was"
                } else {
                    "runs were"
                },
                store.recovered().join(", ")
            );
        }
        for unreadable in store.unrecovered() {
            let hint = unreadable.error.hint();
            say!("warning: {}\nhint: {hint}", unreadable.error);
        }
        Ok(store)
    }

    /// Opens a store that is there already: what only looks, or takes away, makes
    /// none.
    pub fn open_store_there(&self) -> Outcome<Store> {
        match self.store_is_there()? {
            true => self.open_store(),
            false => Err(self.no_store()),
        }
    }

    /// Opens the store to look at it: one that cannot be written to will do.
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
    pub fn open_store_if_any(&self) -> Outcome<Option<Store>> {
        if self.global.store.is_none() && !self.store_is_there()? {
            return Ok(None);
        }
        self.open_store_to_read().map(Some)
    }

    /// Stored runs, what was stored last first; damaged ones are named and left out.
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
            failure.print();
        }
        Ok(None)
    }

    /// What the process returns when a command is done: that something in the store
    /// is damaged is not hidden behind the rest.
    pub fn exit_with_damage(&self, exit: Exit) -> Exit {
        let damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        match exit {
            Exit::Done if !damaged.is_empty() => Exit::Store,
            other => other,
        }
    }

    /// Something is where the store would be, or it cannot be told.
    pub fn store_is_there(&self) -> Outcome<bool> {
        Ok(self.store_path()?.try_exists().unwrap_or(true))
    }

    fn no_store(&self) -> Failure {
        let path = self.store_path().unwrap_or_default();
        let hint = match self.global.store {
            Some(_) => {
                "check the name behind --store FILE; `stripewise run TARGET` with it makes a store there"
            }
            None => "`stripewise run TARGET` measures, and keeps the first run",
        };
        Failure::new(
            Exit::Store,
            format!("there is no store at {}", path.as_text()),
            hint,
        )
    }

    /// Now, RFC 3339 in UTC with milliseconds.
    pub fn timestamp(&self) -> String {
        let now = jiff::Timestamp::now();
        now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }

    /// A new id for something that starts at `timestamp`.
    pub fn new_id(&self, timestamp: &str) -> String {
        let entropy = self.next_id.fetch_add(self.id_step, Ordering::Relaxed);
        run_id(timestamp, entropy).unwrap_or_else(|| format!("run-{entropy:x}"))
    }

    /// A new id for a series or an experiment, which nothing in the store has: what is
    /// kept under a name replaces what had that name.
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

    /// The command line as typed (what is not UTF-8 in the form of [`NameText`]), in
    /// the words that run it again: under the name
    /// `sqlio` the program is its own subcommand.
    pub fn command_line() -> Vec<String> {
        let mut words: Vec<String> = std::env::args_os().map(|word| word.as_text()).collect();
        if let Some(program) = words.first_mut() {
            let is_sqlio = crate::cli::sqlio::is_sqlio(program.as_ref());
            "stripewise".clone_into(program);
            if is_sqlio {
                words.insert(1, "sqlio".to_owned());
            }
        }
        words
    }
}

/// Keeps a document of this kind as JSON, in place of one of the same name.
pub fn keep_document(
    context: &Context,
    store: &mut Store,
    kind: &str,
    name: &str,
    content: &impl Serialize,
) -> Outcome<()> {
    let json = serde_json::to_string(content).map_err(|error| Failure {
        exit: Exit::Store,
        error: error.into(),
        hint: None,
    })?;
    let document = KeptDocument {
        name: name.to_owned(),
        kept_at: context.timestamp(),
        json,
    };
    store.keep_document(kind, &document).map_err(store_failure)
}

/// A failure of the store as an exit code: names that match nothing are usage.
pub fn store_failure(error: stripewise_store::Error) -> Failure {
    let exit = if error.is_about_a_name() {
        Exit::Usage
    } else {
        Exit::Store
    };
    let hint = error.hint();
    Failure {
        exit,
        error: error.into(),
        hint: (!hint.is_empty()).then_some(hint),
    }
}
