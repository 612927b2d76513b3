//! The answer of an experiment over layouts as a page or picture.

use super::kept::KeptLayouts;
use crate::failure::{Failure, Outcome};
use crate::steps::pages::{PictureLook, Rendered, ReportFormat, rendered_picture};
use stripewise_lab::layouts::effect_sentences;
use stripewise_report::{
    About, KeptFacts, Picture, advice_charts, advice_html, advice_markdown, moment,
};
use stripewise_results::AdviceRecord;

impl KeptLayouts {
    /// This answer of it in some form; `None` for the forms that only hold runs.
    ///
    /// # Errors
    /// Where a picture cannot be drawn, or there is none of the wanted name.
    pub fn page(
        &self,
        record: &AdviceRecord,
        format: ReportFormat,
        wanted: &PictureLook,
    ) -> Outcome<Option<Rendered>> {
        let effects = effect_sentences(record);
        let bytes = match format {
            ReportFormat::Svg | ReportFormat::Png => {
                let charts = advice_charts(record).into_iter();
                let pictures: Vec<Picture> = charts
                    .map(|chart| Picture::Chart(Box::new(chart)))
                    .collect();
                if pictures.is_empty() {
                    return Err(Failure::usage(
                        format!("{}: nothing to draw before layouts can be judged", self.id),
                        format!("`stripewise lab resume {}` says how it goes on", self.id),
                    ));
                }
                let about = wanted.on(self.about(record));
                return rendered_picture(&pictures, &about, format, wanted).map(Some);
            }
            ReportFormat::Md => advice_markdown(record, &effects).into_bytes(),
            ReportFormat::Html => {
                let made_with = format!("Stripewise {}", self.version);
                let under = [
                    Some(moment(&self.started_at)),
                    self.host.clone(),
                    Some(self.id.clone()),
                    Some(made_with),
                ];
                let under: Vec<String> = under.into_iter().flatten().collect();
                advice_html(record, &effects, &under.join(" \u{b7} ")).into_bytes()
            }
            ReportFormat::Csv | ReportFormat::Json => return Ok(None),
        };
        Ok(Some(Rendered {
            bytes,
            pictures: Vec::new(),
            boxes: String::new(),
        }))
    }

    /// What its pictures say of themselves.
    fn about(&self, record: &AdviceRecord) -> About {
        About::of_kept(&KeptFacts {
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
