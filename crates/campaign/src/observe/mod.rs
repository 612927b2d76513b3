//! `observe`: what a server does to its disks, and whose fault a slow operation is.
//!
//! Operations come from the kernel's events or from the file of a trace; what is made of
//! them is the same. Nothing is written to a device while it is observed: the store comes
//! last.

mod capture;
mod events;
mod from_file;
mod live;
mod snapshots;
mod totals;
mod watched;

pub use crate::steps::observation::compare::{
    ComparedRow, ObservationComparison, ObservedSide, compare_observations,
};

pub use live::BUFFER_BYTES;

use crate::steps::measured::OBSERVATION;
use crate::steps::observation::{ObservationDocument, RecordedFile, SCHEMA_VERSION};
use std::io::Write;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::{Context, keep_measured};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::is_open_here;
use stripewise_trace::model::{ModelError, WorkloadModel, write};
use stripewise_trace::replay::anonymous_model;
use stripewise_units::NameText;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct ObserveOptions {
    /// A device or a path, as typed; of a file the name of a device in it. None: all.
    pub target: Option<String>,
    /// The file of a trace, or two snapshots of a database's counters, in place of this
    /// machine's events.
    pub from: Vec<PathBuf>,
    /// The columns of its rows, where no known format has them.
    pub columns: Option<String>,
    /// The load in question: this process and those that it starts.
    pub pid: Option<i32>,
    /// How long to observe this machine.
    pub duration_ns: u64,
    /// Memory of the kernel for events that were not read yet, of all processors together;
    /// usually [`BUFFER_BYTES`].
    pub buffer_bytes: u64,
    /// From when on an operation is slow; None: by the calm part.
    pub slow_ns: Option<u64>,
    /// A model of the load is wanted.
    pub wants_model: bool,
    /// The operations themselves are wanted, too.
    pub keeps_trace: bool,
    /// Where the operations, or else the model, are written.
    pub written_to: Option<PathBuf>,
    /// Neither document nor model say names or places.
    pub is_anonymous: bool,
}

impl ObserveOptions {
    /// The file of the operations, as the document names it.
    fn recorded(&self, path: &Path) -> Option<RecordedFile> {
        let path = std::path::absolute(path).ok()?;
        (!self.is_anonymous).then(|| RecordedFile {
            path: path.as_text(),
            columns: self.columns.clone(),
        })
    }

    /// What was observed, as documents name it.
    fn shown_target(&self) -> String {
        let name = self.target.clone().filter(|_| !self.is_anonymous);
        name.unwrap_or_else(|| match &self.target {
            Some(_) => "a device".to_owned(),
            None => "all devices".to_owned(),
        })
    }
}

/// What was seen.
pub struct Observed {
    /// The document.
    pub document: ObservationDocument,
    /// The model, where one is wanted.
    model: Option<Result<WorkloadModel, ModelError>>,
    /// The operations, as a file has them.
    trace: Option<Vec<u8>>,
}

/// What was seen, and how to end.
pub struct Ended {
    /// What was seen.
    pub observed: Observed,
    /// How to end.
    pub exit: Exit,
    /// Why it could not be stored; what was seen is to be shown all the same.
    pub not_stored: Option<Failure>,
}

/// A model of a load, and what it says of itself.
pub struct ObservedModel(WorkloadModel);

impl Observed {
    /// The trace that was asked for, as its file has it.
    pub fn trace(&mut self) -> Option<Vec<u8>> {
        self.trace.take()
    }

    /// The model that was asked for.
    ///
    /// # Errors
    /// Where the load cannot be modelled.
    pub fn model(&mut self, options: &ObserveOptions, seed: u64) -> Outcome<Option<ObservedModel>> {
        let Some(model) = self.model.take() else {
            return Ok(None);
        };
        let model = model.map_err(|error| {
            let hint = error.hint();
            Failure::new(Exit::Target, format!("no model was made: {error}"), hint)
        })?;
        if !options.is_anonymous {
            return Ok(Some(ObservedModel(model)));
        }
        let model = anonymous_model(model, seed).map_err(|error| {
            Failure::new(
                Exit::Target,
                format!("no model was made: {error}"),
                "leave --anonymous out, or observe a part of it",
            )
        })?;
        Ok(Some(ObservedModel(model)))
    }
}

impl ObservedModel {
    /// Writes it as a `.swmodel` file.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        write(&self.0, out)
    }

    /// Operations of the recording.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.0.operations()
    }
}

/// Observes, and stores what was seen.
///
/// # Errors
/// Where there is nothing to observe, or it cannot be observed.
pub fn observe(context: &Context, options: &ObserveOptions) -> Outcome<Ended> {
    let mut store = context.open_store()?;
    if let Some(path) = options.from.iter().find(|path| is_open_here(path)) {
        // Reading it would give up the locks of the store.
        return Err(Failure::usage(
            format!("{} belongs to the store of results", path.as_text()),
            "name a file that a tool recorded, or a pipe",
        ));
    }
    let mut observed = match options.from.first() {
        Some(path) => match snapshots::observe_snapshots(context, &options.from, options)? {
            Some(observed) => observed,
            None => from_file::observe_file(context, path, options)?,
        },
        None => live::observe_live(context, options)?,
    };
    let document = &mut observed.document;
    if document.devices.is_empty() && options.from.is_empty() && !options.is_anonymous {
        let names = watched::names_of(options.target.as_deref())?;
        document
            .notes
            .push(format!("Nothing was done to: {names}."));
    }
    document.schema_version = SCHEMA_VERSION;
    document.id = context.new_id(&document.started_at);
    document.host = context.host().name;
    let kept = keep_measured(context, &mut store, OBSERVATION, &document.id, document);
    let exit = match context.signal() {
        Some(signal) => Exit::Interrupted(signal),
        None => document.exit(),
    };
    Ok(Ended {
        observed,
        exit,
        not_stored: kept.err(),
    })
}

/// What became of recordings that killed observers left in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct CleanedDocument {
    /// Of this document.
    pub schema_version: u32,
    /// Names of the instances of tracefs that were removed.
    pub removed: Vec<String>,
    /// Names of those that another observer uses.
    pub in_use: Vec<String>,
}

impl CleanedDocument {
    /// For a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |names: &[String], what: &str| match names {
            [] => String::new(),
            names => format!("{what}: {}\n", names.join(", ")),
        };
        match self.removed.is_empty() && self.in_use.is_empty() {
            true => "No recording was left behind.\n".to_owned(),
            false => line(&self.removed, "Removed") + &line(&self.in_use, "In use"),
        }
    }
}

/// Removes recordings that killed observers left in the kernel.
///
/// # Errors
/// Where this process may not.
pub fn clean_up() -> Outcome<CleanedDocument> {
    let cleaned = stripewise_machine::tracefs::clean();
    let cleaned =
        cleaned.map_err(|error| Failure::new(Exit::Target, error.to_string(), error.hint()))?;
    Ok(CleanedDocument {
        schema_version: SCHEMA_VERSION,
        removed: cleaned.removed,
        in_use: cleaned.in_use,
    })
}
