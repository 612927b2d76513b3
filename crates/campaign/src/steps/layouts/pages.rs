//! The answer of an experiment over layouts as a page or picture.

use super::kept::KeptLayouts;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::pages::{Rendered, ReportFormat};
use stripewise_lab::layouts::effect_sentences;
use stripewise_report::{About, advice_charts, advice_html, advice_markdown, png, svg_of_all};
use stripewise_results::AdviceRecord;

/// Pixels for each of a picture's own.
const PNG_SCALE: f32 = 2.0;

impl KeptLayouts {
    /// This answer of it in some form; `None` for the forms that only hold runs.
    ///
    /// # Errors
    /// Where a picture cannot be drawn.
    pub fn page(&self, record: &AdviceRecord, format: ReportFormat) -> Outcome<Option<Rendered>> {
        let effects = effect_sentences(record);
        let bytes = match format {
            ReportFormat::Svg => svg_of_all(&advice_charts(record)).into_bytes(),
            ReportFormat::Png => {
                let picture = svg_of_all(&advice_charts(record));
                png(&picture, PNG_SCALE, &About::default()).map_err(|error| {
                    let hint = "ask for svg, which needs no pixels";
                    Failure::new(Exit::Target, error.to_string(), hint)
                })?
            }
            ReportFormat::Md => advice_markdown(record, &effects).into_bytes(),
            ReportFormat::Html => {
                let under = format!(
                    "{}, {}; Stripewise {}",
                    self.id, self.started_at, self.version
                );
                advice_html(record, &effects, &under).into_bytes()
            }
            ReportFormat::Csv | ReportFormat::Json => return Ok(None),
        };
        Ok(Some(Rendered {
            bytes,
            pictures: Vec::new(),
            boxes: String::new(),
        }))
    }
}
