//! The document of an experiment over layouts: plan and values, from which alone the answer can
//! be derived again, or the experiment continued.

use super::commands::{LayoutSite, commands};
use super::divided::Slots;
use crate::steps::absorbed::{CellSustained, absorbed_notes, not_sustained};
use crate::steps::measured::{EXPERIMENTS, by_id};
use crate::steps::stored_experiment::read_document;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_provision::Identity;
use stripewise_lab::layouts::{
    LayoutPlan, Measured, PassesEnded, judge, slot_differences, slot_note, unjudged,
};
use stripewise_results::{
    AdviceRecord, EffectRecord, LayoutLevels, RecommendationRecord, SCHEMA_VERSION, Status,
};
use stripewise_store::{Store, StoredDocument};
use stripewise_units::{counted, is_sim_target};

/// Kind of these documents in the store.
pub const KIND: &str = "layouts";

/// The result, and its exit.
pub struct FoundLayouts {
    /// The answer, or the present knowledge before there is one.
    pub record: AdviceRecord,
    /// A finding if the present layout is outside the set of the best by more than the
    /// margin, or there is no answer.
    pub exit: Exit,
}

/// An experiment over layouts as the store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StoredLayouts {
    /// Version of the document.
    pub schema_version: u32,
    /// Unique; also the series of its runs.
    pub id: String,
    /// `advise` or `lab`; also the part of the series of its runs.
    pub part: String,
    /// As typed.
    pub target: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The command line that made it.
    pub command: Vec<String>,
    /// The program's version.
    pub version: String,
    /// The machine that measured; absent in what older versions kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is done.
    pub plan: LayoutPlan,
    /// What caches absorb of its cells that write, and what lasts; empty where nothing was
    /// looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sustained: Vec<CellSustained>,
    /// Of each layout: the target that stands for it, and the options of workloads that
    /// it sets.
    pub places: Vec<LayoutPlace>,
    /// Of each layout on a simulated array: all keys of the array, so that one whose file
    /// has changed is not taken for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<String>,
    /// What is known of the place, for the commands that make a layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ground: Option<LayoutSite>,
    /// The devices that its layouts are made on; absent on simulated arrays and where
    /// nothing is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_devices: Option<OnDevices>,
    /// What was measured so far.
    pub measured: Measured,
    /// Absent while it runs, and where its process was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<PassesEnded>,
    /// In all sittings; virtual on simulated arrays.
    pub elapsed_ns: u64,
    /// Effects that follow from arithmetic or the model and are not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_arithmetic: Vec<EffectRecord>,
    /// The answer where nothing could be measured, by arithmetic alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<Box<AdviceRecord>>,
    /// What must be known to read the answer rightly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong with its runs, which is read with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What is not tried, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_tried: Vec<String>,
}

/// How a layout is had.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutPlace {
    /// A target, as the user would type it.
    pub target: String,
    /// Options of a workload with their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<(String, String)>,
    /// First byte in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_offset_bytes: Option<u64>,
}

/// Where layouts are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OnDevices {
    /// All of them, as they were when the experiment began.
    pub devices: Vec<Identity>,
    /// Levels of factors that are not varied.
    #[serde(default, skip_serializing_if = "LayoutLevels::is_empty")]
    pub fixed: LayoutLevels,
    /// Bytes of the test file, the same on all layouts.
    pub size_bytes: u64,
    /// The slots of each device, where layouts lie side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<Slots>,
    /// Runs of each cell on one making; absent before the first was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_per_making: Option<u32>,
}

/// The document of the best layouts.
#[derive(Serialize, schemars::JsonSchema)]
pub struct AdviceDocument<'a> {
    schema_version: u32,
    id: &'a str,
    started_at: &'a str,
    status: Status,
    elapsed_ns: u64,
    #[serde(flatten)]
    advice: &'a AdviceRecord,
}

impl StoredLayouts {
    /// The answer as a document.
    pub fn document<'a>(&'a self, advice: &'a AdviceRecord) -> AdviceDocument<'a> {
        AdviceDocument {
            schema_version: SCHEMA_VERSION,
            id: &self.id,
            started_at: &self.started_at,
            status: self.status(),
            elapsed_ns: self.elapsed_ns,
            advice,
        }
    }

    /// Whether it can be continued: its layouts can be recreated as they were. An existing
    /// target may have moved by then.
    pub fn can_go_on(&self) -> bool {
        self.on_devices.is_some() || is_sim_target(&self.target)
    }

    /// Whether it is complete; never without an answer.
    pub fn status(&self) -> Status {
        match self.is_over() && self.has_answer() {
            true => Status::Complete,
            false => Status::Partial,
        }
    }

    /// It reached its own end, and continues only if more is requested.
    pub fn is_over(&self) -> bool {
        self.ended
            .is_some_and(|ended| ended != PassesEnded::Interrupted)
    }

    /// Whether there is enough for an answer.
    fn has_answer(&self) -> bool {
        let judged = || self.plan.levelled(&self.measured).is_some();
        self.unmeasured.is_some() || (self.measured.passes.len() > 1 && judged())
    }

    /// A document for a new experiment.
    pub fn new(
        context: &Context,
        store: &Store,
        part: &str,
        target: &str,
        plan: LayoutPlan,
        places: Vec<LayoutPlace>,
    ) -> Outcome<StoredLayouts> {
        let started_at = context.timestamp();
        Ok(StoredLayouts {
            schema_version: SCHEMA_VERSION,
            id: context.free_id(store, &started_at)?,
            part: part.to_owned(),
            target: target.to_owned(),
            started_at,
            command: context.command().to_vec(),
            version: context.version().to_owned(),
            host: Some(context.host().name),
            label: None,
            plan,
            sustained: Vec::new(),
            places,
            arrays: Vec::new(),
            ground: None,
            on_devices: None,
            measured: Measured::default(),
            ended: None,
            elapsed_ns: 0,
            by_arithmetic: Vec::new(),
            unmeasured: None,
            notes: Vec::new(),
            remarks: Vec::new(),
            not_tried: Vec::new(),
        })
    }

    /// Stores it, replacing the previous state.
    pub fn keep(&self, context: &Context, store: &mut Store) -> Outcome<()> {
        store_document(context, store, KIND, &self.id, self)
    }

    /// The experiment of exactly this id.
    pub fn named(store: &Store, id: &str) -> Outcome<Option<StoredLayouts>> {
        let document = store.document(KIND, id)?;
        document.as_ref().map(read).transpose()
    }

    /// The experiment of this id, or of a unique id beginning with it; `None` if there is no such
    /// experiment over layouts.
    ///
    /// # Errors
    /// If it cannot be read, or several ids begin with it.
    pub fn load(store: &Store, id: &str) -> Outcome<Option<StoredLayouts>> {
        let found = by_id(store, KIND, id, EXPERIMENTS)?;
        found.as_ref().map(read).transpose()
    }

    /// All of them, most recently used first.
    pub fn all(store: &Store) -> Outcome<Vec<StoredLayouts>> {
        let documents = store.documents(KIND)?;
        documents.iter().map(read).collect()
    }

    /// Its values match the layouts and the cells of the plan.
    fn fits_its_plan(&self) -> bool {
        let (layouts, cells) = (self.plan.set.len(), self.plan.cells.len());
        let of_layout =
            |values: &Option<Vec<_>>| values.as_ref().is_none_or(|values| values.len() == cells);
        self.places.len() == layouts
            && (self.measured.passes.iter())
                .all(|pass| pass.values.len() == layouts && pass.values.iter().all(of_layout))
    }

    /// Adds distinct remarks on its runs.
    pub fn remark(&mut self, remarks: &BTreeSet<String>) {
        for remark in remarks {
            if !self.remarks.contains(remark) {
                self.remarks.push(remark.clone());
            }
        }
    }

    /// The answer so far. If nothing can be measured, it comes from arithmetic; with fewer
    /// than two passes, or if slots cannot be separated from layouts yet, it states what is
    /// known so far.
    pub fn found(&self) -> FoundLayouts {
        let answer = match &self.unmeasured {
            Some(record) => Some(record.as_ref().clone()),
            None if !self.is_sustained() => None,
            None => self.judged(),
        };
        let exit = match &answer {
            Some(record) if !record.present_is_outside => Exit::Done,
            _ => Exit::Finding,
        };
        let record = answer.unwrap_or_else(|| self.unjudged());
        FoundLayouts {
            record: self.completed(record),
            exit,
        }
    }

    /// Adds everything that does not derive from the values.
    fn completed(&self, mut record: AdviceRecord) -> AdviceRecord {
        record.effects.extend(self.by_arithmetic.iter().cloned());
        record.sentences.extend(self.remarks.iter().cloned());
        record.notes.extend(absorbed_notes(&self.sustained));
        record.notes.extend(self.notes.iter().cloned());
        record.not_tried.extend(self.not_tried.iter().cloned());
        let is_there = |choice: &RecommendationRecord| {
            // A simulated array stands for a real one that is yet to be made.
            choice.is_present && !is_sim_target(&self.target)
        };
        let choice = record.recommendation.as_ref();
        let choice = choice.filter(|choice| !is_there(choice));
        if let Some((choice, site)) = choice.zip(self.ground.as_ref()) {
            record.commands = commands(site, &choice.layout);
        }
        record
    }

    /// Every cell was measured past what a cache absorbs of it.
    fn is_sustained(&self) -> bool {
        not_sustained(&self.sustained).is_empty()
    }

    /// The record if only a cache was measured.
    fn not_sustained(&self) -> AdviceRecord {
        let missing = not_sustained(&self.sustained).into_iter();
        let because = missing.map(|(cell, why)| format!("{cell}: {why}."));
        let cells = self.plan.mix();
        let question = self.plan.question(&self.target, &cells, &self.measured);
        unjudged(&question, because.collect())
    }

    /// The record without an answer, and how to get one.
    fn unjudged(&self) -> AdviceRecord {
        if !self.is_sustained() {
            return self.not_sustained();
        }
        let needed = match &self.plan.slots {
            None => "before two are",
            Some(_) => "before they can be separated from slots",
        };
        let passes = counted(self.measured.passes.len(), "pass is", "passes are");
        let mut because = vec![format!(
            "{passes} finished: layouts cannot be judged {needed}."
        )];
        let more = match self.ended {
            Some(PassesEnded::Interrupted) | None => "",
            Some(PassesEnded::Time) => " --time TIME",
            Some(PassesEnded::Precise | PassesEnded::PassesMax) => " --blocks N",
        };
        if self.can_go_on() {
            because.push(format!(
                "`stripewise lab resume {}{more}` continues it.",
                self.id
            ));
        }
        let cells = self.plan.mix();
        unjudged(
            &self.plan.question(&self.target, &cells, &self.measured),
            because,
        )
    }

    fn judged(&self) -> Option<AdviceRecord> {
        let cells = self.plan.mix();
        let measured = self.plan.levelled(&self.measured)?;
        let mut record = judge(&self.plan.question(&self.target, &cells, &measured))?;
        if let Some(slots) = &self.plan.slots {
            let differences = slot_differences(slots, &self.measured, &cells);
            record.notes.extend(slot_note(&differences));
        }
        Some(record)
    }
}

fn read(document: &StoredDocument) -> Outcome<StoredLayouts> {
    let what = format!("experiment {}", document.name);
    let stored = read_document(document, &what, |stored: &StoredLayouts| {
        stored.schema_version
    })?;
    if !stored.fits_its_plan() {
        return Err(Failure::new(
            Exit::Store,
            format!(
                "what was measured of experiment {} does not fit its plan",
                stored.id
            ),
            "it was changed: start a new experiment, and remove this one with `lab clean`",
        ));
    }
    Ok(stored)
}
