//! `observe`: what a server does to its disks, and what causes slow operations.
//!
//! Operations come from the kernel's events or from a trace file and are processed
//! the same way. Nothing is written to a device while it is observed: storing comes
//! last.

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
use stripewise_conductor::context::{Context, store_measured};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::is_open_here;
use stripewise_trace::model::{ModelError, WorkloadModel, write};
use stripewise_trace::replay::anonymous_model;
use stripewise_units::NameText;

/// Parameters of an observation.
#[derive(Clone, Debug, Default)]
pub struct ObserveOptions {
    /// A device or a path, as typed; for a file, the name of a device in it. `None`: all.
    pub target: Option<String>,
    /// A trace file, or two snapshots of a database's counters, instead of this
    /// machine's events.
    pub from: Vec<PathBuf>,
    /// The columns of its rows, unless the format is known.
    pub columns: Option<String>,
    /// The load of interest: this process and its descendants.
    pub pid: Option<i32>,
    /// How long to observe this machine.
    pub duration_ns: u64,
    /// Total size of the kernel's buffers for unread events, over all processors;
    /// by default [`BUFFER_BYTES`].
    pub buffer_bytes: u64,
    /// Operations slower than this are slow; `None`: derived from the calm part.
    pub slow_ns: Option<u64>,
    /// Make a model of the load.
    pub wants_model: bool,
    /// Keep the operations themselves, too.
    pub keeps_trace: bool,
    /// Output file of the operations, or else of the model.
    pub written_to: Option<PathBuf>,
    /// Omit names and positions from document and model.
    pub is_anonymous: bool,
}

impl ObserveOptions {
    /// The file of the operations, as named in the document.
    fn recorded(&self, path: &Path) -> Option<RecordedFile> {
        let path = std::path::absolute(path).ok()?;
        (!self.is_anonymous).then(|| RecordedFile {
            path: path.as_text(),
            columns: self.columns.clone(),
        })
    }

    /// The name of the target in documents.
    fn shown_target(&self) -> String {
        let name = self.target.clone().filter(|_| !self.is_anonymous);
        name.unwrap_or_else(|| match &self.target {
            Some(_) => "a device".to_owned(),
            None => "all devices".to_owned(),
        })
    }
}

/// The result of an observation.
pub struct Observed {
    /// The document.
    pub document: ObservationDocument,
    /// The model, if requested.
    model: Option<Result<WorkloadModel, ModelError>>,
    /// The operations in file format.
    trace: Option<Vec<u8>>,
}

/// The result, and the exit.
pub struct ObserveResult {
    /// The result.
    pub observed: Observed,
    /// The exit of the command.
    pub exit: Exit,
    /// Why it could not be stored; the result is shown anyway.
    pub not_stored: Option<Failure>,
}

/// A model of a load, and its description.
pub struct ObservedModel(WorkloadModel);

impl Observed {
    /// The requested trace in file format.
    pub fn trace(&mut self) -> Option<Vec<u8>> {
        self.trace.take()
    }

    /// The requested model.
    pub fn model(&mut self, options: &ObserveOptions, seed: u64) -> Outcome<Option<ObservedModel>> {
        let Some(model) = self.model.take() else {
            return Ok(None);
        };
        let model = model.map_err(|error| {
            let hint = error.hint();
            Failure::target(format!("no model was made: {error}"), hint)
        })?;
        if !options.is_anonymous {
            return Ok(Some(ObservedModel(model)));
        }
        let model = anonymous_model(model, seed).map_err(|error| {
            Failure::target(
                format!("no model was made: {error}"),
                "leave --anonymous out, or observe a part of it",
            )
        })?;
        Ok(Some(ObservedModel(model)))
    }
}

impl ObservedModel {
    /// Writes it as a `.swmodel` file.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        write(&self.0, out)
    }

    /// Operations of the recording.
    pub fn operations(&self) -> u64 {
        self.0.operations()
    }
}

/// Observes, and stores the result.
///
/// # Errors
/// If there is nothing to observe, or it cannot be observed.
pub fn observe(context: &Context, options: &ObserveOptions) -> Outcome<ObserveResult> {
    if options.slow_ns == Some(0) {
        return Err(Failure::usage(
            "every operation takes longer than no time",
            "leave --slow out, or give a limit, such as --slow 20ms",
        ));
    }
    let mut store = context.open_store()?;
    if let Some(path) = options.from.iter().find(|path| is_open_here(path)) {
        // Reading it would release the locks of the store.
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
    document.host = match options.is_anonymous {
        true => String::new(),
        false => context.host().name,
    };
    let stored = store_measured(context, &mut store, OBSERVATION, &document.id, document);
    let exit = match context.signal() {
        Some(signal) => Exit::Interrupted(signal),
        None => document.exit(),
    };
    Ok(ObserveResult {
        observed,
        exit,
        not_stored: stored.err(),
    })
}

/// The removal of recordings that killed observers left in the kernel.
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
    /// The text for a terminal.
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
/// If this process lacks permission.
pub fn clean_up() -> Outcome<CleanedDocument> {
    let cleaned = stripewise_machine::tracefs::clean();
    let cleaned = cleaned.map_err(|error| Failure::target(error.to_string(), error.hint()))?;
    Ok(CleanedDocument {
        schema_version: SCHEMA_VERSION,
        removed: cleaned.removed,
        in_use: cleaned.in_use,
    })
}
