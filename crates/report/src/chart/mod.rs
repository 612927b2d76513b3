//! A chart as plain data: its axes, series, intervals and annotations.
//! It contains neither pixels nor colours.
//!
//! Two renderers draw the same description: [`crate::svg`] (and from it
//! [`crate::png`]) and the interactive page, which gets it as JSON. The table
//! behind a chart is derived from it, too, so that they always agree.
//!
//! Values are those of the records: IOPS, MiB/s, nanoseconds, bytes, percent.
//! Formatting is in [`quantity`], tick positions are in [`ticks`].

mod quantity;
mod table;
mod ticks;

pub use quantity::Quantity;
pub(crate) use quantity::signed;
pub use table::ChartTable;
pub use ticks::{Tick, ticks};

use serde::{Serialize, Serializer};

/// A chart: one or more panels, one above the other, that share the x axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Unique in its report, safe in file names and addresses: `random-read-load`.
    pub name: String,
    /// A few words on its content.
    pub title: String,
    /// One or two sentences with the gist, for those who cannot see it.
    pub summary: String,
    /// What a reader must know before any of its numbers: that they are void, or from a
    /// stopped run. Shown in the picture itself. May be empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<String>,
    /// Shared by all panels.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Its quantity: `Operations in flight`.
    pub title: String,
    /// Unit and format of its numbers.
    pub quantity: Quantity,
    /// How values map to positions.
    pub scale: Scale,
}

/// How values map to positions on an axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Linear, from 0 (or the lowest negative value) up.
    FromZero,
    /// Linear, over the range of the values.
    Linear,
    /// Logarithmic to base 10. Values are above 0.
    Log10,
    /// Logarithmic to base 2. Values are above 0.
    Log2,
    /// Values are -log10(1 - p): 90 %, 99 %, 99.9 % are equally spaced.
    Nines,
    /// Values are indices into these names.
    Names(Vec<String>),
}

/// One pair of axes with its content.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    /// Its own vertical axis.
    pub y: Axis,
    /// In legend order.
    pub series: Vec<Series>,
    /// What deserves attention.
    pub annotations: Vec<Annotation>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A line through marked points.
    Line,
    /// A line without marks, for many points.
    Trace,
    /// A staircase: a value holds until the next x.
    Steps,
    /// Marks with intervals along the x axis, a row for each name of the y axis.
    Intervals,
    /// Bars from 0, next to those of other series at the same name.
    Bars {
        /// Position among the bars of one name, from 0.
        slot: usize,
        /// Number of bars per name.
        slots: usize,
    },
    /// Rectangles whose shade shows `value`.
    Cells {
        /// Writes the value into each cell.
        labelled: bool,
    },
}

/// A series of values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// As in the legend.
    pub name: String,
    /// How it is drawn.
    pub form: Form,
    /// Colour and mark; equal numbers mean the same thing in all panels.
    pub tone: usize,
    /// By rising x.
    pub points: Vec<Point>,
    /// Quantity of a cell's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Quantity>,
    /// The value of the darkest shade if adjacent charts share one scale;
    /// otherwise the largest value is the darkest.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "brief_one")]
    pub darkest: Option<f64>,
}

impl Series {
    /// Points without additional values.
    pub fn new(name: &str, form: Form, tone: usize, points: Vec<Point>) -> Series {
        Series {
            name: name.to_owned(),
            form,
            tone,
            points,
            value: None,
            darkest: None,
        }
    }

    /// The value of the darkest shade of cells.
    pub fn darkest(&self) -> f64 {
        let values = self.points.iter().filter_map(|cell| cell.value);
        self.darkest.unwrap_or_else(|| values.fold(0.0, f64::max))
    }
}

/// One value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Position on the x axis.
    #[serde(serialize_with = "brief")]
    pub x: f64,
    /// Value on the y axis; a cell's lower edge.
    #[serde(serialize_with = "brief")]
    pub y: f64,
    /// Interval around `y`, or around `x` with [`Form::Intervals`]; a cell's right and upper edges.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "briefs")]
    pub span: Option<[f64; 2]>,
    /// A cell's value.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "brief_one")]
    pub value: Option<f64>,
    /// No conclusion is possible: drawn pale.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pale: bool,
    /// No line from the previous point: the value between the two is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

/// Nine digits, and no decimal point unless needed: integers exactly, others
/// as precisely as anyone reads them.
struct ShortNumber(f64);

impl Serialize for ShortNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Integers up to here are exact in an `f64`.
        const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
        let value = self.0;
        if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
            return serializer.serialize_i64(value as i64);
        }
        let rounded = format!("{value:.8e}").parse().unwrap_or(value);
        serializer.serialize_f64(rounded)
    }
}

fn brief<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    ShortNumber(*value).serialize(serializer)
}

fn brief_one<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(ShortNumber).serialize(serializer)
}

fn briefs<S: Serializer>(span: &Option<[f64; 2]>, serializer: S) -> Result<S::Ok, S::Error> {
    span.map(|ends| ends.map(ShortNumber)).serialize(serializer)
}

impl Point {
    /// A value without an interval.
    pub fn new(x: f64, y: f64) -> Point {
        Point {
            x,
            y,
            ..Point::default()
        }
    }
}

/// An annotation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Annotation {
    /// A vertical line with text.
    AtX {
        /// Where.
        x: f64,
        /// Its text.
        label: String,
    },
    /// A range of the x axis.
    RangeX {
        /// Start.
        from: f64,
        /// End.
        to: f64,
        /// Its text.
        label: String,
    },
    /// A horizontal line with text.
    AtY {
        /// Where.
        y: f64,
        /// Its text.
        label: String,
        /// The series that it belongs to, if it belongs to one of several.
        #[serde(skip_serializing_if = "Option::is_none")]
        tone: Option<usize>,
    },
    /// The region above a value, which is undesirable.
    AboveY {
        /// Its lower edge.
        y: f64,
    },
    /// A limit that applies at one place of the x axis: a short bar with text.
    Bound {
        /// Where.
        x: f64,
        /// The limit.
        y: f64,
        /// Its text.
        label: String,
    },
    /// A ring around one value.
    AtPoint {
        /// Where.
        x: f64,
        /// Where.
        y: f64,
        /// Its text.
        label: String,
    },
}

impl Scale {
    /// Position of a value on a linear scale.
    pub fn place(&self, value: f64) -> f64 {
        match self {
            Scale::Log10 => value.max(f64::MIN_POSITIVE).log10(),
            Scale::Log2 => value.max(f64::MIN_POSITIVE).log2(),
            _ => value,
        }
    }
}

/// The x of a percentile on an axis of nines, for 0 <= `percent` < 100.
pub fn nines(percent: f64) -> f64 {
    -((100.0 - percent) / 100.0).log10()
}
