//! The one-file report: HTML that opens from a mail attachment, without network.
//!
//! First the answer, then charts with the tables behind them, all tables,
//! everything needed to repeat the run, the records to download. Every chart is
//! included twice: as a picture for print and for readers without scripts, and as
//! data that ECharts draws when the page is open.
//!
//! The page's Content-Security-Policy allows exactly the two scripts that
//! are part of this program, by their hashes, and loads nothing. All text from
//! records goes through [`crate::escape`].

mod answer;
mod conditions;
mod policy;
mod records;
mod sheet;
mod tables;

pub use policy::page_policy;
pub use sheet::sheet_page;

use crate::attribution::Attribution;
use crate::chart::Chart;
use crate::draw::{PALETTE_DARK, PALETTE_LIGHT, Theme, card_svg, svg};
use crate::escape::{escaped, json_in_script, sentence};
use crate::material::Material;
use std::fmt::Write;
use stripewise_results::Severity;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Apache ECharts, reduced to what these charts need; see `assets/echarts`.
const ECHARTS: &str = include_str!("../../assets/echarts/echarts.min.js");
/// Maximum number of charts on a page; more make it slow to open and do not help.
const CHARTS_MAX: usize = 40;

/// Number of charts on paper. They fit on four pages with the answer and the conditions.
const PRINTED_MAX: usize = 3;

/// Up to this number, all charts are open; with more, only those that are printed.
const OPEN_MAX: usize = 4;

/// Size limit of a page, so that it can be mailed.
const BYTES_MAX: usize = 1_500_000;

/// The report as one HTML file of at most 1.5 MB: to stay below that, it
/// leaves out the records first, then the last charts.
pub fn html(material: &Material) -> String {
    let mut charts = crate::charts(material);
    charts.truncate(CHARTS_MAX);
    let mut records = records::embedded(material);
    loop {
        let page = page(material, &charts, &records);
        if page.len() < BYTES_MAX || charts.is_empty() {
            return page;
        }
        if records.packed.is_some() {
            records = records::left_out();
        } else {
            charts.truncate(charts.len() * 3 / 4);
        }
    }
}

fn page(material: &Material, charts: &[Chart], records: &records::Embedded) -> String {
    let mut page = String::with_capacity(ECHARTS.len() + 400_000);
    head(&mut page, material, !charts.is_empty());
    page.push_str("<main>\n");
    let card = card_of(material);
    let has_card = !card.is_empty();
    page.push_str(&answer::section(material, &card));
    page.push_str(&tables::hosts(material));
    if !charts.is_empty() {
        page.push_str("<section id=\"charts\" aria-labelledby=\"charts-title\"><h2 id=\"charts-title\">Charts</h2>\n");
        folded(&mut page, charts);
        page.push_str("</section>\n");
    }
    page.push_str(&tables::section(material, has_card));
    page.push_str(&conditions::repeat(material));
    page.push_str(&records::section(material, records));
    page.push_str("</main>\n");
    page.push_str(&conditions::footer(material));
    let about = conditions::about(material);
    scripts(&mut page, charts, &about, records.packed.as_deref());
    page
}

/// The sections that `nav` links to exist.
fn head(page: &mut String, material: &Material, has_charts: bool) {
    let charts = if has_charts {
        "<a href=\"#charts\">Charts</a> "
    } else {
        ""
    };
    let mut runs = material.document.runs.iter();
    let hosts = match runs.any(|run| run.merged.is_some()) {
        true => "<a href=\"#hosts\">Hosts</a> ",
        false => "",
    };
    let title = escaped(&material.title);
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n\
         <header><h1>{title}</h1>\n<p class=\"under\">{}</p>\n\
         <nav aria-label=\"Parts of this report\"><a href=\"#answer\">Answer</a> {hosts}{charts}\
         <a href=\"#tables\">Tables</a> <a href=\"#repeat\">Reproduce</a> <a href=\"#data\">Data</a></nav></header>\n",
        page_policy(),
        escaped(&conditions::under_title(material)),
    );
}

/// The summary card of a bench, for light and for dark pages; empty for anything else.
fn card_of(material: &Material) -> String {
    let card = match crate::picture::pictures(material).into_iter().next() {
        Some(crate::Picture::Card(card)) => card,
        _ => return String::new(),
    };
    let about = Attribution::of(material);
    let of = |theme: Theme| card_svg(&card, &about, theme);
    format!(
        "<div class=\"card\"><div class=\"light\">{}</div><div class=\"dark\">{}</div></div>\n",
        of(Theme::Light),
        of(Theme::Dark)
    )
}

/// Every chart folded under its title, the first ones open: on a page of twenty charts, readers
/// scan the titles. Maps with a common scale share one title.
fn folded(page: &mut String, charts: &[Chart]) {
    let groups: Vec<&[Chart]> = charts.chunk_by(|a, b| a.is_map() && b.is_map()).collect();
    let few = groups.len() <= OPEN_MAX;
    for (index, group) in groups.into_iter().enumerate() {
        let is_printed = index < PRINTED_MAX;
        let (title, alone) = match group {
            [only] => (only.title.clone(), true),
            several => (maps_title(several), false),
        };
        let figures: String = group.iter().map(|chart| figure(chart, alone)).collect();
        let class = if is_printed { "" } else { " noprint" };
        page.push_str(&fold(&title, few || is_printed, class, &figures));
    }
}

/// `IOPS for threads and outstanding, 8 kinds of I/O`.
fn maps_title(maps: &[Chart]) -> String {
    let title = &maps[0].title;
    let what = title
        .rsplit_once(": ")
        .map_or(title.as_str(), |(_, what)| what);
    let what = stripewise_units::capitalised(what);
    format!("{what}, {} kinds of I/O", maps.len())
}

/// A picture for light and for dark pages; in a narrow window it keeps its text
/// size and scrolls sideways.
pub(crate) fn both_backgrounds(name: &str, drawn: &dyn Fn(Theme) -> String) -> String {
    format!(
        "<div class=\"both\" role=\"region\" tabindex=\"0\" aria-label=\"Picture: {}\">\
         <div class=\"light\">{}</div><div class=\"dark\">{}</div></div>",
        escaped(name),
        drawn(Theme::Light),
        drawn(Theme::Dark)
    )
}

/// Content folded under its title.
fn fold(title: &str, is_open: bool, class: &str, inside: &str) -> String {
    let open = if is_open { " open" } else { "" };
    format!(
        "<details class=\"fold{class}\"{open}><summary><h3>{}</h3></summary>\n{inside}</details>\n",
        escaped(title)
    )
}

/// A chart, with its title unless it is alone under it.
fn figure(chart: &Chart, alone: bool) -> String {
    let (name, title, summary) = (
        escaped(&chart.name),
        escaped(&chart.title),
        escaped(&chart.summary),
    );
    let cautions = cautions(&chart.cautions);
    let heading = match alone {
        true => String::new(),
        false => format!("<h4>{title}</h4>"),
    };
    // Maps with a common scale are side by side.
    let class = match chart.is_map() && !alone {
        true => " class=\"small\"",
        false => "",
    };
    let rows = match chart.panels.first().map(|panel| &panel.y.scale) {
        Some(crate::Scale::Names(names)) => names.len(),
        _ => 0,
    };
    let height = match chart.panels.len() {
        0 | 1 if rows > 16 => "many",
        0 | 1 => "one",
        2 => "two",
        _ => "many",
    };
    format!(
        "<figure id=\"figure-{name}\"{class}>\n<figcaption>{heading}{cautions}<p>{}</p></figcaption>\n\
         <div class=\"tools\"></div>\n\
         <div class=\"plot {height}\" role=\"img\" aria-label=\"{title}. {summary} The values are in the table below.\"></div>\n\
         <div class=\"picture\">{}</div>\n\
         <details><summary>The values of this chart as a table</summary>\n{}</details>\n</figure>\n",
        sentence(&chart.summary),
        svg(chart),
        tables::behind(chart),
    )
}

/// The CSS class of a warning's line.
fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Void => "void",
    }
}

/// What must be read before any number.
fn cautions(all: &[String]) -> String {
    let each = all.iter();
    each.map(|caution| format!("<p class=\"caution\">{}</p>", sentence(caution)))
        .collect()
}

/// Data first, so that the scripts find it.
fn scripts(page: &mut String, charts: &[Chart], about: &str, records: Option<&str>) {
    #[derive(serde::Serialize)]
    struct Data<'a> {
        charts: &'a [Chart],
        /// Attribution of pictures that leave the page.
        about: &'a str,
        light: [&'static str; 13],
        dark: [&'static str; 13],
    }
    let data = Data {
        charts,
        about,
        light: PALETTE_LIGHT,
        dark: PALETTE_DARK,
    };
    let data = serde_json::to_string(&data).expect("charts have text keys only");
    let _ = writeln!(
        page,
        "<script type=\"application/json\" id=\"chart-data\">{}</script>",
        json_in_script(&data)
    );
    if let Some(records) = records {
        let _ = writeln!(
            page,
            "<script type=\"text/plain\" id=\"record-data\">{records}</script>"
        );
    }
    let _ = write!(
        page,
        "<script>{ECHARTS}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
}
