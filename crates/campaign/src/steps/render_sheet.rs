//! Reports of what has no runs - profiles, fills, verifications - in each format.

use super::pages::{PictureLook, Rendered, ReportFormat};
use serde::Serialize;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{
    About, Chart, Look, Picture, SURFACE_SIZE, Sheet, Theme, letters_without_font, plain_json, png,
    sheet_markdown, sheet_page, svg_picture,
};

/// What there is to show of a measurement.
pub(crate) struct Renderable<'a, D> {
    /// Answer, findings and tables.
    pub sheet: Sheet,
    /// The picture on a ground, and what it is called.
    pub picture: (&'a str, &'a dyn Fn(Theme) -> String),
    /// What it is, for a refusal: `a profile or fill`.
    pub what: &'a str,
    /// A row for each value.
    pub csv: &'a dyn Fn() -> String,
    /// As it is kept.
    pub document: &'a D,
}

impl<D: Serialize> Renderable<'_, D> {
    /// In one of the forms of a report.
    ///
    /// # Errors
    /// Where a picture cannot be drawn, or there is none of that name.
    pub(crate) fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let mut boxes = String::new();
        let bytes = match format {
            ReportFormat::Html => sheet_page(&self.sheet, self.picture.1).into_bytes(),
            ReportFormat::Md => sheet_markdown(&self.sheet).into_bytes(),
            ReportFormat::Csv => (self.csv)().into_bytes(),
            ReportFormat::Json => self.json()?.into_bytes(),
            ReportFormat::Svg => self.drawn(wanted)?.into_bytes(),
            ReportFormat::Png => {
                let svg = self.drawn(wanted)?;
                boxes = letters_without_font(&svg);
                pixels(&svg, &self.sheet.title, wanted)?
            }
        };
        Ok(Rendered {
            bytes,
            pictures: Vec::new(),
            boxes,
        })
    }

    fn json(&self) -> Outcome<String> {
        let text = serde_json::to_string_pretty(self.document);
        let text = text.map_err(|error| Failure::of(Exit::Target, error))?;
        Ok(plain_json(&format!("{text}\n")))
    }

    /// The picture, if it is the one that is wanted: there is no other.
    fn drawn(&self, wanted: &PictureLook) -> Outcome<String> {
        let (name, draw) = self.picture;
        match wanted.picture.as_deref() {
            Some(other) if other != "all" && other != name => Err(Failure::usage(
                format!("there is no chart `{other}`"),
                format!("{} has one picture, `{name}`: leave --chart out", self.what),
            )),
            _ => Ok(draw(wanted.look.theme)),
        }
    }
}

/// The line that says how a stored document is shown again.
pub(crate) fn again(id: &str) -> (String, String) {
    ("Again".to_owned(), format!("stripewise history show {id}"))
}

/// The title and the foot that are wanted, of a picture's own.
pub(crate) fn titled(title: &mut String, foot: &mut String, wanted: &PictureLook) {
    if let Some(wanted) = &wanted.title {
        title.clone_from(wanted);
    }
    if let Some(source) = &wanted.source {
        *foot = format!("Source: {source} \u{b7} {foot}");
    }
}

/// Draws a chart under the title of its sheet, which is the wanted one already.
pub(crate) fn chart_drawing(
    chart: Chart,
    title: &str,
    wanted: &PictureLook,
) -> impl Fn(Theme) -> String + use<> {
    let about = wanted.on(About::default().titled(title));
    let picture = Picture::Chart(Box::new(chart));
    move |theme| {
        let look = Look {
            theme,
            ..Look::default()
        };
        svg_picture(&picture, &about, &look)
    }
}

/// As large as fits into the size that is wanted.
fn pixels(svg: &str, title: &str, wanted: &PictureLook) -> Outcome<Vec<u8>> {
    let [width, height] = SURFACE_SIZE;
    let [across, down] = wanted.look.size.map(|pixels| pixels as f32);
    let scale = (across / width).min(down / height);
    let mut about = About::default().titled(title);
    if let Some(source) = &wanted.source {
        about = about.sourced(source);
    }
    png(svg, scale, &about).map_err(|error| {
        let hint = "ask for svg, which needs no pixels";
        Failure::new(Exit::Target, error.to_string(), hint)
    })
}
