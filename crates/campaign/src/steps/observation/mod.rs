//! Stored observations of what a server does to its disks: the document,
//! and its rendering as text, tables, picture and page. Made by `observe`, shown
//! again by `history` and `report`.

pub mod capture;
mod chart;
pub mod compare;
mod document;
pub mod files;
pub mod groups;
pub mod known_files;
pub mod pressure;
pub mod raw_trace;
pub mod result;
mod sheet;
mod tables;
pub mod words;

use super::pages::{PictureLook, Rendered, ReportFormat};
use super::render_sheet::StoredAnswer;
pub use document::{
    BlameShare, BlameVerdict, ClosednessRecord, FileShare, GroupShare, KindCounts, KindLatencies,
    KindMeans, ObservationDocument, ObservationSource, ObservedDevice, ObservedMoment,
    ObservedSize, ObservedTarget, ObservedTimeline, ProcessShare, RecordedFile, RoleShare,
    SCHEMA_VERSION, SlowOperation, TaskStructure,
};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{Sheet, StoredFacts, marked, with_warnings};

impl ObservationDocument {
    /// Parses a stored document.
    pub fn of_stored(json: &str) -> Outcome<ObservationDocument> {
        serde_json::from_str(json).map_err(|error| Failure::of(Exit::Store, error))
    }

    /// As a sheet: the cause, the load, and the supporting tables.
    pub fn sheet(&self) -> Sheet {
        sheet::sheet(self)
    }

    /// The target and the result, in one line.
    pub fn line(&self) -> String {
        let sheet = self.sheet();
        // Without a verdict, the load is the result.
        let load = sheet.findings.first().map(|(_, load)| format!("{load}; "));
        let word = match sheet.verdict {
            Some((_, word)) => format!("{word}: "),
            None => load.unwrap_or_default(),
        };
        let line = format!("{}: {word}{}", sheet.title, sheet.answer);
        marked(&with_warnings(line, &sheet.cautions), &self.id)
    }

    /// The exit code: an identified cause is a finding, and so are values
    /// voided by lost events.
    pub fn exit(&self) -> Exit {
        let is_finding = |cause: &str| !matches!(cause, "not-slow" | "one-at-a-time" | "unknown");
        match self.verdicts.iter().any(|one| is_finding(&one.cause)) {
            true => Exit::Finding,
            false => Exit::Done,
        }
    }

    /// Renders it in a report format.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let mut sheet = self.sheet();
        sheet.charts.push(chart::timeline(self));
        let stored_answer = StoredAnswer {
            sheet,
            stored: StoredFacts {
                target: &self.target.name,
                host: Some(&self.host),
                started_at: &self.started_at,
                id: &self.id,
                ..StoredFacts::default()
            },
            csv: &|| tables::timeline_csv(self),
            document: self,
        };
        stored_answer.rendered(format, wanted)
    }
}
