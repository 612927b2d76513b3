//! The static renderer: a chart or a summary card as SVG, and from it PNG.
//!
//! Decides the layout from [`crate::Chart`] and the widths of the embedded
//! font, so that no labels overlap. The same chart gives the same bytes.

mod annotate;
mod canvas;
mod card;
mod font;
mod glyphs;
mod label;
mod label_layout;
mod marks;
mod multiples;
mod palette;
mod picture;
mod pixels;
mod raster;
mod scale;
mod sheet;
mod surface;
mod verification;

pub(crate) use palette::PERCENTILES;
pub use palette::{PALETTE_DARK, PALETTE_LIGHT, Theme};
pub use picture::{PictureError, letters_without_font, png};
pub use pixels::Pixels;
pub use surface::{Axes, SURFACE_SIZE, SurfacePicture, surface_svg};
pub use verification::{PhaseBar, Strip, VerificationPicture, verification_svg};

use crate::attribution::Attribution;
use crate::chart::{Axis, Chart, Form, Panel, Tick, ticks};
use canvas::{Anchor, Canvas};
use palette::{CAUTION, FAINT, GRID, INK, MUTED};
use scale::Frame;

/// Width of a picture in pixels, and the minimum for a picture of a given size.
const WIDTH: f64 = 960.0;
/// Default size of a picture in pixels.
pub const SIZE: [u32; 2] = [1_920, 1_080];
const MARGIN: f64 = 28.0;
const TITLE_SIZE: f64 = 19.0;
const CAUTION_SIZE: f64 = 16.0;
const TEXT_SIZE: f64 = 13.0;
const SMALL_SIZE: f64 = 12.0;
const LINE: f64 = 18.0;

/// How a picture looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Its background.
    pub theme: Theme,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

impl Default for Look {
    fn default() -> Look {
        Look {
            theme: Theme::Light,
            size: SIZE,
        }
    }
}

/// A chart as an SVG picture for a page, 960 pixels wide, on white, as high as it needs.
pub fn svg(chart: &Chart) -> String {
    svg_on(chart, Theme::Light)
}

/// The same on another background.
pub(crate) fn svg_on(chart: &Chart, theme: Theme) -> String {
    let head = Head::of(chart, &Attribution::default(), WIDTH, usize::MAX);
    let height = head.height + panel_heights(chart).iter().sum::<f64>() + MARGIN * 0.5;
    let mut canvas = Canvas::new(WIDTH, height, theme);
    draw(&mut canvas, chart, &head, &panel_heights(chart));
    canvas.finish(&canvas::Frame {
        title: &chart.title,
        description: &chart.summary,
        ..canvas::Frame::default()
    })
}

/// A standalone picture of a given size: with what was measured around it and in its metadata,
/// and with the font for viewers that lack it.
pub fn svg_picture(picture: &crate::Picture, about: &Attribution, look: &Look) -> String {
    let (canvas, title, description) = match picture {
        crate::Picture::Card(card) => {
            let canvas = card::draw(card, about, look);
            (canvas, about.title.clone(), card.description())
        }
        crate::Picture::Chart(chart) => {
            let canvas = of_size(chart, about, look);
            let title = match about.title.as_str() {
                "" => chart.title.clone(),
                of => format!("{of}: {}", chart.title),
            };
            (canvas, title, chart.summary.clone())
        }
        crate::Picture::Sheet(sheet) => {
            let canvas = sheet::draw(sheet, about, look);
            let title = match about.title.as_str() {
                "" => sheet.title.clone(),
                of => of.to_owned(),
            };
            (canvas, title, sheet::description(sheet))
        }
        crate::Picture::Multiples(all) => {
            let canvas = multiples::draw(all, about, look);
            let title = format!("{}: {}", about.title, all.head.title);
            (canvas, title, all.head.summary.clone())
        }
    };
    let facts = picture::facts_head(about);
    canvas.finish(&canvas::Frame {
        title: &title,
        description: &description,
        pixels: Some(look.size),
        head: &facts,
    })
}

/// The summary card within a page, which has the font and says what was measured.
pub(crate) fn card_svg(card: &crate::Card, about: &Attribution, theme: Theme) -> String {
    let look = Look {
        theme,
        ..Look::default()
    };
    card::draw(card, about, &look).finish(&canvas::Frame {
        title: &about.title,
        description: &card.description(),
        ..canvas::Frame::default()
    })
}

/// Width and height of a drawing for a picture of these pixels: at least `least`.
pub(crate) fn canvas_size(pixels: [u32; 2], least: (f64, f64)) -> (f64, f64) {
    let [width, height] = pixels.map(f64::from);
    let scale = (width / least.0).min(height / least.1);
    (width / scale, height / scale)
}

/// Maximum lines of a summary in a picture of a given size.
const SUMMARY_LINES: usize = 2;
/// Minimum height of the inside of a panel.
const INSIDE_MIN: f64 = 110.0;

/// A chart in a picture of a given size: its panels take the room left by the text.
fn of_size(chart: &Chart, about: &Attribution, look: &Look) -> Canvas {
    let foot = about.foot();
    let foot_height = foot.len() as f64 * LINE + MARGIN * 0.6;
    let count = chart.panels.len().max(1) as f64;
    let head = Head::of(chart, about, WIDTH, SUMMARY_LINES);
    let fixed = (count - 1.0) * 54.0 + 90.0;
    let rows = chart.panels.iter().filter_map(rows_of).max().unwrap_or(0);
    let inside_min = INSIDE_MIN.max(rows as f64 * ROW * 0.8);
    let needed = head.height + fixed + count * inside_min + foot_height;
    let (width, height) = canvas_size(look.size, (WIDTH, needed.max(440.0)));
    let head = Head::of(chart, about, width, SUMMARY_LINES);
    let inside = (height - head.height - fixed - foot_height) / count;
    let heights: Vec<f64> = (0..chart.panels.len())
        .map(|index| {
            inside
                + if index + 1 == chart.panels.len() {
                    90.0
                } else {
                    54.0
                }
        })
        .collect();
    let mut canvas = Canvas::new(width, height, look.theme);
    draw(&mut canvas, chart, &head, &heights);
    draw_foot(&mut canvas, &foot, height);
    canvas
}

/// The footer with the source of the numbers.
pub(crate) fn draw_foot(canvas: &mut Canvas, foot: &[String], height: f64) {
    let width = canvas.width();
    for (index, line) in foot.iter().enumerate() {
        let below = (foot.len() - index) as f64;
        let y = height - MARGIN * 0.4 - below * LINE;
        let line = font::cut(line, SMALL_SIZE, width - 2.0 * MARGIN);
        canvas.text((MARGIN, y), &line, SMALL_SIZE, MUTED, Anchor::Start);
    }
}

/// The text above the panels.
struct Head {
    title: Vec<String>,
    about: Vec<String>,
    cautions: Vec<String>,
    summary: Vec<String>,
    height: f64,
}

impl Head {
    fn of(chart: &Chart, about: &Attribution, width: f64, lines_max: usize) -> Head {
        let room = width - 2.0 * MARGIN;
        // Do not repeat the chart's own title.
        let titled = Some(about.title.as_str()).filter(|title| *title != chart.title);
        let of = match (titled.unwrap_or_default(), about.measured.as_str()) {
            ("", measured) => measured.to_owned(),
            (title, "") => title.to_owned(),
            (title, measured) => format!("{title} \u{b7} {measured}"),
        };
        let title = font::wrapped_to(&chart.title, TITLE_SIZE, room, 2);
        let about = font::wrapped_to(&of, TEXT_SIZE, room, 2);
        let cautions = chart.cautions.iter();
        let cautions: Vec<String> = cautions
            .flat_map(|caution| font::wrapped(caution, CAUTION_SIZE, room))
            .collect();
        let summary = font::wrapped_to(&chart.summary, TEXT_SIZE, room, lines_max);
        let height = MARGIN
            + title.len() as f64 * (TITLE_SIZE + 6.0)
            + about.len() as f64 * LINE
            + cautions.len() as f64 * (CAUTION_SIZE + 6.0)
            + summary.len() as f64 * LINE;
        Head {
            title,
            about,
            cautions,
            summary,
            height,
        }
    }

    fn draw(&self, canvas: &mut Canvas) {
        let mut y = MARGIN;
        for (lines, size, colour, step) in [
            (&self.title, TITLE_SIZE, INK, TITLE_SIZE + 6.0),
            (&self.about, TEXT_SIZE, INK, LINE),
            (&self.cautions, CAUTION_SIZE, CAUTION, CAUTION_SIZE + 6.0),
            (&self.summary, TEXT_SIZE, MUTED, LINE),
        ] {
            for line in lines {
                canvas.text((MARGIN, y), line, size, colour, Anchor::Start);
                y += step;
            }
        }
    }
}

/// Text and panels.
fn draw(canvas: &mut Canvas, chart: &Chart, head: &Head, heights: &[f64]) {
    head.draw(canvas);
    let (left, right) = sides(chart);
    let mut top = head.height;
    for (index, (panel, height)) in chart.panels.iter().zip(heights).enumerate() {
        let last = index + 1 == chart.panels.len();
        let area = Area {
            left: MARGIN + left,
            right: canvas.width() - MARGIN - right,
            top: top + 40.0,
            bottom: top + height - if last { 50.0 } else { 14.0 },
        };
        draw_panel(canvas, chart, panel, &area, last);
        top += height;
    }
}

/// Charts as one SVG picture, one below the other.
pub fn svg_of_all(charts: &[Chart]) -> String {
    let pictures: Vec<String> = charts.iter().map(svg).collect();
    let height_of = |picture: &str| -> f64 {
        let height = picture
            .split(" height=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        height.and_then(|height| height.parse().ok()).unwrap_or(0.0)
    };
    let total: f64 = pictures.iter().map(|picture| height_of(picture)).sum();
    let mut all = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{total}\" role=\"img\">\n"
    );
    let mut top = 0.0;
    for picture in &pictures {
        all.push_str(&picture.replacen("<svg ", &format!("<svg y=\"{top}\" "), 1));
        top += height_of(picture);
    }
    all.push_str("</svg>\n");
    all
}

/// The inside of a panel in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

fn panel_heights(chart: &Chart) -> Vec<f64> {
    let last = chart.panels.len().saturating_sub(1);
    (0..chart.panels.len())
        .map(|index| {
            let inside = match chart.panels.len() {
                1 => 340.0,
                2 => 220.0,
                _ => 165.0,
            };
            let rows = rows_of(&chart.panels[index]);
            let inside = rows.map_or(inside, |rows| (rows as f64 * ROW).max(120.0));
            inside + 40.0 + if index == last { 50.0 } else { 14.0 }
        })
        .collect()
}

/// Room for the labels of the y axes on the left and of the lines on the right,
/// the same for all panels.
fn sides(chart: &Chart) -> (f64, f64) {
    let mut left: f64 = 24.0;
    let mut right: f64 = 16.0;
    let mut left_max: f64 = 180.0;
    for panel in &chart.panels {
        if rows_of(panel).is_some() {
            left_max = ROW_NAME_MAX;
        }
        let (_, ticks) = ticks(&panel.y, y_values(panel), wanted_y(panel));
        for tick in &ticks {
            left = left.max(font::width(&tick.label, SMALL_SIZE) + 10.0);
        }
        if is_labelled_directly(panel) {
            for series in &panel.series {
                right = right.max(font::width(&series.name, SMALL_SIZE) + 20.0);
            }
            for (_, _, words) in label::limits(panel) {
                right = right.max(font::width(words, SMALL_SIZE) + 20.0);
            }
        }
    }
    (left.min(left_max), right.min(230.0))
}

/// Names of rows are descriptive; longer ones are cut.
const ROW_NAME_MAX: f64 = 400.0;

const TICKS_Y: usize = 5;
/// Height of a row that has a name on the y axis.
const ROW: f64 = 20.0;

/// Numbers need few ticks; row names need one each.
fn wanted_y(panel: &Panel) -> usize {
    rows_of(panel).unwrap_or(TICKS_Y)
}

/// Number of rows of a panel with names on its y axis; `None` for cells, which have room.
fn rows_of(panel: &Panel) -> Option<usize> {
    let rows = match &panel.y.scale {
        crate::Scale::Names(names) => names.len(),
        _ => return None,
    };
    let all = panel.series.iter();
    let are_rows = all.clone().count() > 0 && all.clone().all(|one| one.form == Form::Intervals);
    are_rows.then_some(rows)
}

/// Lines have their names at their ends; too many of them have a legend, and so do
/// step curves, which all end at 0.
fn is_labelled_directly(panel: &Panel) -> bool {
    let lines = |form: Form| matches!(form, Form::Line | Form::Trace);
    panel.series.len() > 1
        && panel.series.len() <= 8
        && panel.series.iter().all(|series| lines(series.form))
        && !(end_apart(panel) && label::legend_width(panel) < LEGEND_MAX)
}

/// Maximum width of a legend above a panel next to its title.
const LEGEND_MAX: f64 = 640.0;

/// Lines follow each other along the x axis: leaders from their ends would cross all of it.
fn end_apart(panel: &Panel) -> bool {
    let ends = panel
        .series
        .iter()
        .filter_map(|series| Some(series.points.last()?.x));
    let (low, high) = ends.fold((f64::INFINITY, 0.0_f64), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    low < high * 0.4 && panel.series.iter().all(|series| series.form == Form::Trace)
}

fn draw_panel(canvas: &mut Canvas, chart: &Chart, panel: &Panel, area: &Area, last: bool) {
    let all_x = chart.panels.iter().flat_map(x_values);
    let wanted = if matches!(chart.x.scale, crate::Scale::Names(_)) {
        names_that_fit(&chart.x, area)
    } else {
        9
    };
    let (x_range, x_ticks) = ticks(&chart.x, all_x, wanted);
    let (y_range, y_ticks) = ticks(&panel.y, y_values(panel), wanted_y(panel));
    let frame = Frame::new(area, (&chart.x.scale, x_range), (&panel.y.scale, y_range));
    canvas.text(
        (MARGIN, area.top - 26.0),
        &with_unit(&panel.y),
        TEXT_SIZE,
        INK,
        Anchor::Start,
    );
    annotate::behind(canvas, panel, &frame);
    draw_ticks(canvas, &frame, &x_ticks, &y_ticks, (panel, last));
    marks::draw(canvas, panel, &frame);
    annotate::before(canvas, panel, &frame);
    if is_labelled_directly(panel) {
        label::at_ends(canvas, panel, &frame);
    } else {
        label::legend(canvas, panel, &frame);
    }
    if last {
        let middle = (area.left + area.right) / 2.0;
        canvas.text(
            (middle, area.bottom + 28.0),
            &with_unit(&chart.x),
            TEXT_SIZE,
            INK,
            Anchor::Middle,
        );
    }
}

fn draw_ticks(
    canvas: &mut Canvas,
    frame: &Frame<'_>,
    x_ticks: &[Tick],
    y_ticks: &[Tick],
    (panel, last): (&Panel, bool),
) {
    let area = frame.area;
    let cells = panel
        .series
        .iter()
        .any(|series| matches!(series.form, Form::Cells { .. }));
    for tick in y_ticks {
        let y = frame.y(tick.value);
        if !cells {
            let colour = if tick.value == 0.0 { FAINT } else { GRID };
            canvas.line(&[(area.left, y), (area.right, y)], colour, 1.0);
        }
        let room = area.left - 8.0 - MARGIN / 2.0;
        canvas.text_centred(
            (area.left - 8.0, y),
            &font::cut(&tick.label, SMALL_SIZE, room),
            SMALL_SIZE,
            MUTED,
            Anchor::End,
        );
    }
    canvas.line(
        &[(area.left, area.bottom), (area.right, area.bottom)],
        FAINT,
        1.0,
    );
    let mut free_from = f64::NEG_INFINITY;
    for tick in x_ticks {
        let x = frame.x(tick.value);
        if !(area.left - 0.5..=area.right + 0.5).contains(&x) {
            continue;
        }
        canvas.line(&[(x, area.bottom), (x, area.bottom + 4.0)], FAINT, 1.0);
        let half = font::width(&tick.label, SMALL_SIZE) / 2.0;
        // Keep the tick label at the edge inside the picture.
        let edge = MARGIN / 2.0;
        let middle = x.min(canvas.width() - edge - half).max(edge + half);
        if last && middle - half > free_from {
            canvas.text(
                (middle, area.bottom + 8.0),
                &tick.label,
                SMALL_SIZE,
                MUTED,
                Anchor::Middle,
            );
            free_from = middle + half + 4.0;
        }
    }
}

/// How many of an axis's names fit side by side.
fn names_that_fit(axis: &Axis, area: &Area) -> usize {
    let crate::Scale::Names(names) = &axis.scale else {
        return 9;
    };
    let widest = names
        .iter()
        .map(|name| font::width(name, SMALL_SIZE))
        .fold(1.0, f64::max);
    (((area.right - area.left) / (widest + 8.0)) as usize).max(1)
}

/// `Latency`, `Throughput (IOPS)`.
fn with_unit(axis: &Axis) -> String {
    let unit = axis.quantity.unit();
    if unit.is_empty() || axis.title.contains(unit) {
        axis.title.clone()
    } else {
        format!("{} ({unit})", axis.title)
    }
}

/// All positions that the x axis has to cover.
pub(crate) fn x_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    panel.series.iter().flat_map(|series| {
        let cells = matches!(series.form, Form::Cells { .. });
        let rows = series.form == Form::Intervals;
        series.points.iter().flat_map(move |point| {
            let low = point.span.filter(|_| cells || rows).map(|[low, _]| low);
            let high = point.span.filter(|_| rows).map(|[_, high]| high);
            [Some(point.x), low, high].into_iter().flatten()
        })
    })
}

/// All positions that the y axis has to cover: values, their intervals, and limits
/// that are not too far off.
pub(crate) fn y_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    let points = panel.series.iter().flat_map(|series| {
        let cells = matches!(series.form, Form::Cells { .. });
        series.points.iter().flat_map(move |point| {
            if series.form == Form::Intervals {
                return [point.y; 3];
            }
            let span = point.span.map_or(
                [point.y; 2],
                |[low, high]| {
                    if cells { [high; 2] } else { [low, high] }
                },
            );
            [point.y, span[0], span[1]]
        })
    });
    let limits = panel
        .annotations
        .iter()
        .filter_map(|annotation| match annotation {
            crate::Annotation::AtY { y, .. } | crate::Annotation::Bound { y, .. } => Some(*y),
            _ => None,
        });
    points.chain(limits)
}
