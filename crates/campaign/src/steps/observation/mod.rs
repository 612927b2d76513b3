//! Observations of what a server does to its disks, as the store keeps them: the document,
//! and what it says as text, as tables, as a picture and as a page. Made by `observe`, shown
//! again by `history` and `report`.

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
use stripewise_report::{KeptFacts, Sheet, with_warnings};

impl ObservationDocument {
    /// The document that the store keeps.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn of_stored(json: &str) -> Outcome<ObservationDocument> {
        serde_json::from_str(json).map_err(|error| Failure::of(Exit::Store, error))
    }

    /// As a sheet: whose fault it is, what the load is, and everything behind it.
    #[must_use]
    pub fn sheet(&self) -> Sheet {
        sheet::sheet(self)
    }

    /// What was observed and the result, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let sheet = self.sheet();
        // Where nothing is judged, the load is the result.
        let load = sheet.findings.first().map(|(_, load)| format!("{load}; "));
        let word = match sheet.verdict {
            Some((_, word)) => format!("{word}: "),
            None => load.unwrap_or_default(),
        };
        let line = format!("{}: {word}{}", sheet.title, sheet.answer);
        with_warnings(line, &sheet.cautions)
    }

    /// What the process returns: a cause that was found is a finding, and so are numbers
    /// that lost events have made void.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let is_finding = |cause: &str| !matches!(cause, "not-slow" | "one-at-a-time" | "unknown");
        match self.verdicts.iter().any(|one| is_finding(&one.cause)) {
            true => Exit::Finding,
            false => Exit::Done,
        }
    }

    /// In one of the forms of a report.
    ///
    /// # Errors
    /// Where a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let mut sheet = self.sheet();
        sheet.charts.push(chart::timeline(self));
        let shown = StoredAnswer {
            sheet,
            kept: KeptFacts {
                title: "",
                label: None,
                target: &self.target.name,
                host: Some(&self.host),
                started_at: &self.started_at,
                version: env!("CARGO_PKG_VERSION"),
                id: &self.id,
            },
            csv: &|| tables::timeline_csv(self),
            document: self,
        };
        shown.rendered(format, wanted)
    }
}
