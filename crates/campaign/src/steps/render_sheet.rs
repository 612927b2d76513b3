//! Renders reports of results without runs - profiles, fills, verifications - in each format, and
//! of answers stored with their runs.

use super::pages::{PictureLook, Rendered, ReportFormat, rendered_picture};
use serde::Serialize;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{
    Attribution, Picture, SURFACE_SIZE, Sheet, StoredFacts, Theme, letters_without_font,
    plain_json, png, sheet_markdown, sheet_page,
};

/// The content of a measurement's report.
pub(crate) struct Renderable<'a, D> {
    /// Answer, findings and tables.
    pub sheet: Sheet,
    /// The picture for a theme, and its name.
    pub picture: (&'a str, &'a dyn Fn(Theme) -> String),
    /// A description, for errors: `a profile or fill`.
    pub what: &'a str,
    /// A row for each value.
    pub csv: &'a dyn Fn() -> String,
    /// The stored document.
    pub document: &'a D,
}

impl<D: Serialize> Renderable<'_, D> {
    /// Renders it in a report format.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
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

    /// The picture, if it is the requested one: there is no other.
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

/// Applies the user's title and source to a picture.
pub(crate) fn titled(title: &mut String, foot: &mut String, wanted: &PictureLook) {
    if let Some(wanted) = &wanted.title {
        title.clone_from(wanted);
    }
    if let Some(source) = &wanted.source {
        *foot = format!("Source: {source} \u{b7} {foot}");
    }
}

/// An answer stored with its runs.
pub(crate) struct StoredAnswer<'a, D> {
    /// With its charts.
    pub sheet: Sheet,
    /// Its origin, without title and version.
    pub stored: StoredFacts<'a>,
    /// A row for each value.
    pub csv: &'a dyn Fn() -> String,
    /// The stored document.
    pub document: &'a D,
}

impl<D: Serialize> StoredAnswer<'_, D> {
    /// Renders it in a report format; the summary is the first of its pictures.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub(crate) fn rendered(self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let mut sheet = self.sheet;
        if let Some(title) = &wanted.title {
            sheet.title.clone_from(title);
        }
        let stored = StoredFacts {
            title: &sheet.title,
            version: env!("CARGO_PKG_VERSION"),
            ..self.stored
        };
        let about = wanted.on(Attribution::of_stored(&stored));
        if matches!(format, ReportFormat::Svg | ReportFormat::Png) {
            let charts = std::mem::take(&mut sheet.charts).into_iter();
            let charts = charts.map(|chart| Picture::Chart(Box::new(chart)));
            let summary = Picture::Sheet(Box::new(sheet));
            let pictures: Vec<Picture> = std::iter::once(summary).chain(charts).collect();
            return rendered_picture(&pictures, &about, format, wanted);
        }
        sheet.foot = about.foot().join(" \u{b7} ");
        let renderable = Renderable {
            sheet,
            // A page draws the charts of its sheet.
            picture: ("", &|_| String::new()),
            what: "",
            csv: self.csv,
            document: self.document,
        };
        renderable.rendered(format, wanted)
    }
}

/// As large as fits into the requested size.
fn pixels(svg: &str, title: &str, wanted: &PictureLook) -> Outcome<Vec<u8>> {
    let [width, height] = SURFACE_SIZE;
    let [across, down] = wanted.look.size.map(|pixels| pixels as f32);
    let scale = (across / width).min(down / height);
    let mut about = Attribution::default().titled(title);
    if let Some(source) = &wanted.source {
        about = about.sourced(source);
    }
    png(svg, scale, &about).map_err(|error| {
        let hint = "ask for svg, which needs no pixels";
        Failure::target(error.to_string(), hint)
    })
}
