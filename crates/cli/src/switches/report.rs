//! The switches of `report`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use stripewise_campaign::steps::pages::{PictureLook, ReportFormat};
use stripewise_lab::compare::Requirement;
use stripewise_report::{Look, Pixels, Theme};

/// Results as HTML, PNG, SVG, CSV, Markdown or JSON.
///
/// The HTML report is one file without network: it opens from a mail attachment,
/// on a phone and in print. A file that exists is never overwritten.
#[derive(Debug, Args)]
#[command(after_help = "\
What can be shown: the id of a run, bench or experiment that `stripewise history` lists (or the\n\
beginning of a run's id), last (what was done last, with all of its runs), last~1, last-run,\n\
dataset:NAME, a file that --json printed, another tool's result, or a directory of such files.\n\
./NAME is always a file.")]
pub struct Report {
    /// Runs, benches, experiments, dataset:NAME, files; several make one report
    #[arg(
        value_name = "RUN|BENCH|EXPERIMENT|dataset:NAME",
        required_unless_present = "all",
        value_parser = super::name_text()
    )]
    pub subjects: Vec<String>,
    /// Every stored run, or those that --target, --since, --label and the like select
    #[arg(long, conflicts_with = "subjects")]
    pub all: bool,
    /// What to write: html (one file with everything), png or svg (a picture), csv (a row for each
    /// job), md (Markdown) or json (the records) [default: by the end of the file's name, else html, or png with
    /// --chart]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// The file to make, or - for stdout [default: html and png stripewise-NAME.html in this directory, others stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A requirement that the report says is met or missed: 'read_iops>=20000'; may be given several times
    #[arg(long, value_name = "WHAT")]
    pub require: Vec<Requirement>,
    #[command(flatten)]
    pub only: super::small::HistoryFilter,
    #[command(flatten)]
    pub picture: Picture,
}

/// What pictures look like.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures (png and svg)")]
pub struct Picture {
    /// Which picture, by its name; `all` puts the charts one below the other [default: the summary where there is one, else the first chart]
    #[arg(long, value_name = "NAME")]
    pub chart: Option<String>,
    /// The title [default: label or target]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Where the numbers come from, shown at the foot of the picture
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// Light or dark background
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub theme: PictureTheme,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1920x1080")]
    pub size: Pixels,
}

/// What a picture is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureTheme {
    /// Dark on white
    Light,
    /// Light on nearly black
    Dark,
}

impl Picture {
    /// The same in the renderer's type.
    pub fn wanted(&self) -> PictureLook {
        PictureLook {
            picture: self.chart.clone(),
            look: Look {
                theme: match self.theme {
                    PictureTheme::Light => Theme::Light,
                    PictureTheme::Dark => Theme::Dark,
                },
                size: self.size.0,
            },
            title: self.title.clone(),
            source: self.source.clone(),
        }
    }
}
