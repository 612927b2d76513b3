//! Stored profiles of surfaces and fills: their documents, and their rendering
//! as text, tables, picture and page. Made by `profile`, shown again by
//! `history` and `report`.

pub mod compare;
pub mod compare_text;
mod document;
mod fill;
mod fill_document;
mod profile;
mod shared;
mod tables;

use super::measured::{FILL, PROFILE};
use super::pages::{PictureLook, Rendered, ReportFormat};
use super::render_sheet::{Renderable, titled};
pub use document::{ExtentFound, ProfileDocument, SpotFound};
pub use fill_document::{FillDocument, RestFound};
use serde::Serialize;
pub use shared::{mib, took, void};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{
    Caution, Judgement, Sheet, SheetTable, SurfacePicture, again, marked, surface_svg,
    with_warnings,
};
use stripewise_results::{TargetFacts, Warning};
use stripewise_units::format_bytes;

/// The name of the picture of a surface.
const PICTURE: &str = "surface";

/// A profile or a fill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MeasuredSurface {
    /// Rate and access time over the surface.
    Profile(Box<ProfileDocument>),
    /// The rate of writing over bytes written.
    Fill(Box<FillDocument>),
}

impl MeasuredSurface {
    /// Parses the stored document of this kind; `None` for other kinds.
    pub fn of_stored(kind: &str, json: &str) -> Outcome<Option<MeasuredSurface>> {
        let read = match kind {
            PROFILE => serde_json::from_str(json).map(MeasuredSurface::Profile),
            FILL => serde_json::from_str(json).map(MeasuredSurface::Fill),
            _ => return Ok(None),
        };
        let read = read.map_err(|error| Failure::of(Exit::Store, error));
        read.map(Some)
    }

    /// Answer, findings and tables.
    pub fn sheet(&self) -> Sheet {
        self.sheet_of(&self.picture())
    }

    fn sheet_of(&self, picture: &SurfacePicture) -> Sheet {
        let cut_short = self.cut_short().map(|why| {
            let word = format!("Cut short ({why})");
            (Judgement::Open, word)
        });
        let answer = match self {
            // For a profile, the findings are the answer.
            MeasuredSurface::Profile(_) if cut_short.is_none() => String::new(),
            MeasuredSurface::Profile(_) => "this is what was measured until then".to_owned(),
            MeasuredSurface::Fill(document) => fill::sentence(document),
        };
        Sheet {
            title: picture.title.clone(),
            subtitle: picture.subtitle.clone(),
            verdict: cut_short,
            answer,
            findings: match self {
                MeasuredSurface::Profile(_) => picture.findings.clone(),
                MeasuredSurface::Fill(document) => fill::further_findings(document),
            },
            tables: self.tables(),
            cautions: Caution::of_all(self.warnings()),
            notes: vec![self.cost()],
            pointers: vec![again(self.id())],
            foot: picture.foot.clone(),
            ..Sheet::default()
        }
    }

    /// The target, the result and the id, in one line.
    pub fn line(&self) -> String {
        let target = self.target();
        let size = format_bytes(target.size_bytes);
        let line = format!("{} ({size}): {}", target.name, self.answer());
        marked(
            &with_warnings(line, &Caution::of_all(self.warnings())),
            self.id(),
        )
    }

    fn target(&self) -> &TargetFacts {
        match self {
            MeasuredSurface::Profile(document) => &document.target,
            MeasuredSurface::Fill(document) => &document.target,
        }
    }

    fn id(&self) -> &str {
        match self {
            MeasuredSurface::Profile(document) => &document.id,
            MeasuredSurface::Fill(document) => &document.id,
        }
    }

    fn cut_short(&self) -> Option<&String> {
        match self {
            MeasuredSurface::Profile(document) => document.cut_short.as_ref(),
            MeasuredSurface::Fill(document) => document.cut_short.as_ref(),
        }
    }

    fn warnings(&self) -> &[Warning] {
        match self {
            MeasuredSurface::Profile(document) => &document.warnings,
            MeasuredSurface::Fill(document) => &document.warnings,
        }
    }

    /// `Read 128 MiB in 37.5 s.`
    fn cost(&self) -> String {
        let name = &self.target().name;
        match self {
            MeasuredSurface::Profile(document) => format!(
                "Read {} in {}.",
                format_bytes(document.bytes_read),
                took(name, document.duration_ns)
            ),
            MeasuredSurface::Fill(document) => format!(
                "Wrote {} in {}{}.",
                format_bytes(document.written_bytes),
                took(name, document.duration_ns),
                match document.failed_bytes {
                    0 => String::new(),
                    bytes => format!("; {} could not be written", format_bytes(bytes)),
                }
            ),
        }
    }

    /// The result in a sentence; an incomplete one begins with the reason.
    fn answer(&self) -> String {
        let sentence = match self {
            MeasuredSurface::Profile(document) => profile::sentence(document),
            MeasuredSurface::Fill(document) => fill::sentence(document),
        };
        match self.cut_short() {
            Some(why) => format!("CUT SHORT ({why}): {sentence}"),
            None => sentence,
        }
    }

    /// A row for each place or step.
    fn csv(&self) -> String {
        match self {
            MeasuredSurface::Profile(document) => profile::csv(document),
            MeasuredSurface::Fill(document) => fill::csv(document),
        }
    }

    fn picture(&self) -> SurfacePicture {
        match self {
            MeasuredSurface::Profile(document) => profile::picture(document),
            MeasuredSurface::Fill(document) => fill::picture(document),
        }
    }

    fn tables(&self) -> Vec<SheetTable> {
        match self {
            MeasuredSurface::Profile(document) => tables::tables(document),
            MeasuredSurface::Fill(document) => fill::tables(document),
        }
    }

    /// Renders it in a report format.
    ///
    /// # Errors
    /// If a picture cannot be drawn, or there is none of that name.
    pub fn rendered(&self, format: ReportFormat, wanted: &PictureLook) -> Outcome<Rendered> {
        let mut picture = self.picture();
        titled(&mut picture.title, &mut picture.foot, wanted);
        let renderable = Renderable {
            sheet: self.sheet_of(&picture),
            picture: (PICTURE, &|theme| surface_svg(&picture, theme)),
            what: "a profile or fill",
            csv: &|| self.csv(),
            document: self,
        };
        renderable.rendered(format, wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_report::Look;

    /// Two places of a disk, as stored.
    fn stored() -> MeasuredSurface {
        let json = r#"{"schema_version": 1, "id": "20261122-1", "host": "box", "full": false,
            "target": {"kind": "device", "name": "/dev/sdb", "size_bytes": 1000204886016,
                "logical_sector_bytes": 512, "physical_sector_bytes": 4096},
            "measured_at": "2026-11-22T10:00:00Z", "seed": 1, "duration_ns": 1000000000,
            "bytes_read": 16777216, "position_matters": true, "zones": [], "boundaries": [],
            "rate_min_bytes_per_s": 104857600.0, "rate_median_bytes_per_s": 125829120.0,
            "rate_max_bytes_per_s": 146800640.0, "spots": [],
            "rates": [{"offset_bytes": 0, "length_bytes": 8388608, "bytes_per_s": 146800640.0},
                {"offset_bytes": 500102443008, "length_bytes": 8388608, "bytes_per_s": 104857600.0}],
            "accesses": [{"from_bytes": 0, "offset_bytes": 4096, "latency_ns": 12000000}]}"#;
        let read = MeasuredSurface::of_stored(PROFILE, json);
        read.expect("a profile").expect("a profile is a surface")
    }

    fn text(format: ReportFormat, wanted: &PictureLook) -> String {
        let rendered = stored().rendered(format, wanted).expect("it is drawn");
        String::from_utf8(rendered.bytes).expect("text")
    }

    #[test]
    fn a_line_of_what_was_cut_short_says_so_first() {
        let MeasuredSurface::Profile(mut document) = stored() else {
            panic!("a profile");
        };
        document.cut_short = Some("interrupted".to_owned());
        let line = MeasuredSurface::Profile(document).line();
        assert!(
            line.starts_with("/dev/sdb (931.5 GiB): CUT SHORT (interrupted): "),
            "{line}"
        );
        assert!(!stored().line().contains("CUT SHORT"));
    }

    #[test]
    fn a_kept_profile_has_all_forms_of_a_report() {
        let usual = PictureLook::default();
        let csv = text(ReportFormat::Csv, &usual);
        assert!(
            csv.contains("rate,500102443008,8388608,104857600,\n"),
            "{csv}"
        );
        for format in [ReportFormat::Html, ReportFormat::Md, ReportFormat::Svg] {
            let text = text(format, &usual);
            assert!(text.contains("140.0 MiB/s"), "{format:?}: {text}");
        }
        let json: serde_json::Value =
            serde_json::from_str(&text(ReportFormat::Json, &usual)).expect("JSON");
        assert_eq!(json["accesses"][0]["latency_ns"], 12_000_000);
        assert_eq!(
            MeasuredSurface::of_stored("verify", "{}").expect("no error"),
            None
        );
    }

    #[test]
    fn a_picture_has_the_title_the_source_and_the_size_that_are_wanted() {
        let wanted = PictureLook {
            look: Look {
                size: [600, 600],
                ..Look::default()
            },
            title: Some("The old disk".to_owned()),
            source: Some("the lab".to_owned()),
            ..PictureLook::default()
        };
        let svg = text(ReportFormat::Svg, &wanted);
        assert!(svg.contains("The old disk") && svg.contains("Source: the lab"));
        let png = stored()
            .rendered(ReportFormat::Png, &wanted)
            .expect("pixels");
        // Width and height follow the signature and the name of the first chunk.
        assert_eq!(png.bytes[16..24], [0, 0, 2, 88, 0, 0, 1, 82]);
        let other = PictureLook {
            picture: Some("ladder".to_owned()),
            ..wanted
        };
        let refused = stored().rendered(ReportFormat::Svg, &other);
        assert_eq!(
            refused.map(|_| ()).expect_err("no such picture").exit,
            Exit::Usage
        );
    }
}
