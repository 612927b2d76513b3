//! The answer of an experiment over layouts as a page or picture.

use super::stored_layouts::StoredLayouts;
use crate::steps::pages::{PictureLook, Rendered, ReportFormat, rendered_picture};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::layouts::effect_sentences;
use stripewise_report::{
    Attribution, Picture, Sheet, StoredFacts, advice_charts, advice_sheet, moment, sheet_markdown,
    sheet_page,
};
use stripewise_results::{AdviceRecord, Status};
use stripewise_units::{counted, format_duration};

impl StoredLayouts {
    /// Renders this answer in a report format; `None` for formats that only contain runs.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of this name.
    pub fn page(
        &self,
        record: &AdviceRecord,
        format: ReportFormat,
        wanted: &PictureLook,
    ) -> Outcome<Option<Rendered>> {
        let bytes = match format {
            ReportFormat::Svg | ReportFormat::Png => {
                let charts = advice_charts(record);
                if charts.is_empty() {
                    return Err(Failure::usage(
                        format!("{}: nothing to draw before layouts can be judged", self.id),
                        format!("`stripewise lab resume {}` says how it goes on", self.id),
                    ));
                }
                let summary = Picture::Sheet(Box::new(self.sheet(record, false)));
                let charts = charts.into_iter();
                let charts = charts.map(|chart| Picture::Chart(Box::new(chart)));
                let pictures: Vec<Picture> = std::iter::once(summary).chain(charts).collect();
                let about = wanted.on(self.about(record));
                return rendered_picture(&pictures, &about, format, wanted).map(Some);
            }
            ReportFormat::Md => sheet_markdown(&self.sheet(record, true)).into_bytes(),
            ReportFormat::Html => {
                sheet_page(&self.sheet(record, true), &|_| String::new()).into_bytes()
            }
            ReportFormat::Csv | ReportFormat::Json => return Ok(None),
        };
        Ok(Some(Rendered {
            bytes,
            pictures: Vec::new(),
            boxes: String::new(),
        }))
    }

    /// This answer as a sheet; `explain` adds everything behind it.
    pub fn sheet(&self, record: &AdviceRecord, explain: bool) -> Sheet {
        let explain = explain || record.layouts.is_empty();
        let mut sheet = advice_sheet(record, &effect_sentences(record, explain), explain);
        let passes = counted(self.measured.passes.len(), "pass", "passes");
        let made_with = format!("Stripewise {}", self.version);
        let under = [
            Some(moment(&self.started_at)),
            self.host.clone(),
            Some(self.id.clone()),
            Some(format!("{passes} in {}", format_duration(self.elapsed_ns))),
            Some(made_with),
        ];
        let under: Vec<String> = under.into_iter().flatten().collect();
        sheet.foot = under.join(" \u{b7} ");
        sheet
    }

    /// The choice and its gain in a line: the first sentences are the most important.
    pub fn line(&self, record: &AdviceRecord) -> String {
        let first = record.sentences.iter().take(2).map(String::as_str);
        let first: Vec<&str> = first.collect();
        format!(
            "{}: {}{}",
            self.target,
            self.partial_words(),
            first.join(" ")
        )
    }

    /// Stands before what was found if not all of it was measured.
    pub fn partial_words(&self) -> &'static str {
        match self.status() {
            Status::Partial => "partial: ",
            _ => "",
        }
    }

    /// Attribution of its pictures.
    fn about(&self, record: &AdviceRecord) -> Attribution {
        Attribution::of_stored(&StoredFacts {
            title: &record.title,
            label: self.label.as_deref(),
            target: &self.target,
            host: self.host.as_deref(),
            started_at: &self.started_at,
            version: &self.version,
            id: &self.id,
        })
    }
}
