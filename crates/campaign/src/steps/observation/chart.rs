//! The timeline as a chart: rate at the top, latency below.

use super::document::{ObservationDocument, ObservedMoment};
use stripewise_report::{Axis, Chart, Form, Panel, Point, Quantity, Scale, Series};

/// The timeline of the busiest device.
pub fn timeline(document: &ObservationDocument) -> Chart {
    let device = document.devices.first();
    let (width_ns, bins) = device.map_or((1, &[][..]), |one| {
        (one.timeline.width_ns, &one.timeline.bins[..])
    });
    let points = |value: &dyn Fn(&ObservedMoment) -> Option<f64>| -> Vec<Point> {
        let placed = bins.iter().enumerate().filter_map(|(k, bin)| {
            Some(Point {
                x: k as f64 * width_ns as f64,
                y: value(bin)?,
                ..Point::default()
            })
        });
        placed.collect()
    };
    let rate = points(&|bin| Some(bin.operations as f64 * 1e9 / width_ns as f64));
    let mean = points(&|bin| bin.latency_ns_mean);
    let longest = points(&|bin| bin.latency_ns_max.map(|ns| ns as f64));
    let panel = |title: &str, quantity: Quantity, series: Vec<Series>| Panel {
        y: Axis {
            title: title.to_owned(),
            quantity,
            scale: Scale::FromZero,
        },
        series,
        annotations: Vec::new(),
    };
    let mut panels = vec![panel(
        "Rate",
        Quantity::Iops,
        vec![Series::new("Operations", Form::Steps, 0, rate)],
    )];
    if !mean.is_empty() {
        let latencies = vec![
            Series::new("Mean latency", Form::Trace, 1, mean),
            Series::new("Longest", Form::Trace, 2, longest),
        ];
        panels.push(panel("Latency", Quantity::Latency, latencies));
    }
    let name = device.map_or("no device", |one| one.name.as_str());
    Chart {
        name: "timeline".to_owned(),
        title: format!("{name} over time"),
        summary: format!("Operations a second and latency of {name} over the time observed."),
        cautions: document.cut_short.iter().cloned().collect(),
        x: Axis {
            title: "Time".to_owned(),
            quantity: Quantity::Time,
            scale: Scale::Linear,
        },
        panels,
    }
}
