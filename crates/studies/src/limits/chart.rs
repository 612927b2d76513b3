//! The chart of limits: measured rates over block sizes, below the caps.

use super::document::{AppliesTo, CapFound, CapKind, LimitsDocument, LoadKind};
use super::text;
use stripewise_report::{Annotation, Axis, Chart, Form, Panel, Point, Quantity, Scale, Series};

/// Points of the roof from the smallest to the largest size.
const ROOF_POINTS: u32 = 33;
/// A size beyond the edge of a unit that is drawn at it.
const JUST_BEYOND: f64 = 1.0001;

/// The roofline with the measured points: IOPS over the block size.
pub fn roofline(document: &LimitsDocument) -> Chart {
    let mut series = Vec::new();
    series.extend(roof(document));
    let mut kinds: Vec<(LoadKind, bool)> = Vec::new();
    for cell in &document.cells {
        let kind = (cell.kind, cell.outstanding == 1);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for (tone, kind) in kinds.into_iter().enumerate() {
        let of_kind = document.cells.iter();
        let of_kind = of_kind.filter(|cell| (cell.kind, cell.outstanding == 1) == kind);
        let mut points: Vec<Point> = of_kind
            .map(|cell| Point {
                x: cell.block_size_bytes as f64,
                y: cell.iops,
                apart: true,
                ..Point::default()
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let name = match kind {
            (kind, true) => format!("{}, one at a time", text::kind(kind)),
            (kind, false) => format!("{}, several in flight", text::kind(kind)),
        };
        series.push(Series::new(&name, Form::Line, tone + 1, points));
    }
    let caps = document.caps.iter();
    let annotations = caps.filter_map(|cap| cap_label(document, cap));
    let axis = |title: &str, quantity, scale| Axis {
        title: title.to_owned(),
        quantity,
        scale,
    };
    Chart {
        name: "roofline".to_owned(),
        title: "Rates over block sizes, and the caps".to_owned(),
        summary: super::show::answer(document),
        cautions: document.refused.iter().cloned().collect(),
        x: axis("Block size", Quantity::Bytes, Scale::Log2),
        panels: vec![Panel {
            y: axis("Rate", Quantity::Iops, Scale::Log10),
            series,
            annotations: annotations.collect(),
        }],
    }
}

/// A cap with its interval: across the chart if it is on operations, else on the slope that it
/// makes.
fn cap_label(document: &LimitsDocument, cap: &CapFound) -> Option<Annotation> {
    let label = match cap.applies_to {
        AppliesTo::Writes => format!("{} of writes", text::cap(cap)),
        _ => text::cap(cap),
    };
    if cap.kind == CapKind::Iops {
        return Some(Annotation::AtY {
            y: cap.per_s,
            label,
            tone: None,
        });
    }
    let [least, most] = sizes_of(document);
    if most <= least {
        return None;
    }
    let iops = document.caps.iter().find(|one| one.kind == CapKind::Iops);
    let bend = iops.map_or(least, |iops| cap.per_s / iops.per_s);
    // Halfway down the slope, away from the names at its end.
    let size = (bend.clamp(least, most) * most).sqrt();
    Some(Annotation::AtPoint {
        x: size,
        y: cap.per_s / size,
        label,
    })
}

/// The smallest and the largest size that was measured.
fn sizes_of(document: &LimitsDocument) -> [f64; 2] {
    let cells = document.cells.iter();
    let sizes = cells.map(|cell| cell.block_size_bytes as f64);
    sizes.fold([f64::MAX, 0.0], |[least, most], size| {
        [least.min(size), most.max(size)]
    })
}

/// What the caps of reads allow at each size.
fn roof(document: &LimitsDocument) -> Option<Series> {
    let [least, most] = sizes_of(document);
    let cap = |kind| {
        let mut caps = document.caps.iter();
        caps.find(|cap| cap.kind == kind).map(|cap| cap.per_s)
    };
    let (iops, bytes) = (cap(CapKind::Iops), cap(CapKind::BytesPerS));
    if most <= least || iops.is_none() && bytes.is_none() {
        return None;
    }
    let each = (0..ROOF_POINTS).map(|step| {
        let share = f64::from(step) / f64::from(ROOF_POINTS - 1);
        least * (most / least).powf(share)
    });
    let mut sizes: Vec<f64> = each.collect();
    // Points at the bend and at each step, so that the curve shows them exactly.
    let bend = iops.zip(bytes).map(|(iops, bytes)| bytes / iops);
    sizes.extend(bend.filter(|size| (least..most).contains(size)));
    if let Some(unit) = document.counted_unit_bytes {
        let edges = (1..).map(|count| (count * unit) as f64);
        let edges = edges.take_while(|edge| *edge < most);
        sizes.extend(edges.flat_map(|edge| [edge, edge * JUST_BEYOND]));
    }
    sizes.sort_by(f64::total_cmp);
    let points = sizes.into_iter().map(|size| {
        let units = document
            .counted_unit_bytes
            .map_or(1.0, |unit| (size / unit as f64).ceil());
        let roof = iops
            .map_or(f64::MAX, |iops| iops / units)
            .min(bytes.map_or(f64::MAX, |bytes| bytes / size));
        Point {
            x: size,
            y: roof,
            ..Point::default()
        }
    });
    Some(Series::new(
        "what the caps allow",
        Form::Trace,
        0,
        points.collect(),
    ))
}
