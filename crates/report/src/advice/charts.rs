//! Pictures of advice: the ranking with intervals, the effects, and how factors interact.

use super::{effect_levels, effect_name, largest, layout_words};
use crate::chart::{Annotation, Chart, Form, Panel, Point, Quantity, Scale};
use crate::choose::{axis, series};
use stripewise_results::{AdviceRecord, FactorRecord, LayoutRecord};

/// Layouts that one picture has room for.
const LAYOUTS_MAX: usize = 24;

/// All pictures, the ranking first.
#[must_use]
pub fn advice_charts(record: &AdviceRecord) -> Vec<Chart> {
    let mut charts = Vec::new();
    // Where nothing was measured there are effects by arithmetic alone.
    if !record.layouts.is_empty() {
        charts.push(ranking(record));
    }
    charts.extend(effects(record));
    if !record.layouts.is_empty() {
        charts.extend(interactions(record));
    }
    charts
}

/// Bars with simultaneous intervals; those that are not among the best are pale.
fn ranking(record: &AdviceRecord) -> Chart {
    let shown: Vec<&LayoutRecord> = record.layouts.iter().take(LAYOUTS_MAX).collect();
    let names = shown.iter().map(|layout| {
        let levels = record
            .factors
            .iter()
            .filter_map(|factor| layout.layout.get(&factor.name));
        let levels: Vec<&str> = levels.map(String::as_str).collect();
        levels.join(" ")
    });
    let points = shown.iter().enumerate().map(|(index, layout)| Point {
        x: index as f64,
        y: layout.score,
        span: Some([layout.low, layout.high]),
        value: None,
        pale: !layout.among_best,
    });
    let factors: Vec<String> = record
        .factors
        .iter()
        .map(|factor| factor.name.replace('-', " "))
        .collect();
    let form = Form::Bars { slot: 0, slots: 1 };
    let present = shown.iter().position(|layout| layout.is_present);
    let annotation = present.map(|index| Annotation::AtX {
        x: index as f64,
        label: "now".to_owned(),
    });
    let best = shown
        .first()
        .map(|layout| layout_words(record, &layout.layout));
    Chart {
        name: "ranking".to_owned(),
        title: record.title.clone(),
        summary: format!(
            "Operations a second of the mix for each layout, the best first ({}). Pale bars are not among the best; whiskers are simultaneous {:.0} % intervals.",
            best.unwrap_or_default(),
            100.0 * record.level
        ),
        cautions: Vec::new(),
        x: axis(
            &stripewise_units::capitalised(&factors.join(", ")),
            Quantity::Name,
            Scale::Names(names.collect()),
        ),
        panels: vec![Panel {
            y: axis(
                "Operations a second of the mix",
                Quantity::Iops,
                Scale::FromZero,
            ),
            series: vec![series("mix", form, 0, points.collect())],
            annotations: annotation.into_iter().collect(),
        }],
    }
}

/// The largest effect of each factor and pair of factors.
fn effects(record: &AdviceRecord) -> Option<Chart> {
    let shown = largest(record);
    if shown.is_empty() {
        return None;
    }
    let points = shown.iter().enumerate().map(|(index, effect)| Point {
        x: index as f64,
        y: effect.percent,
        span: Some([effect.low, effect.high]),
        value: None,
        pale: !effect.found,
    });
    let names = shown
        .iter()
        .map(|effect| format!("{} ({})", effect_name(effect), effect_levels(effect)));
    Some(Chart {
        name: "effects".to_owned(),
        title: "What matters, and what does not".to_owned(),
        summary: "The largest effect of each factor and pair of factors on the mix, with 95 % intervals. Pale bars are not shown to be effects.".to_owned(),
        cautions: Vec::new(),
        x: axis("Factor", Quantity::Name, Scale::Names(names.collect())),
        panels: vec![Panel {
            y: axis("Gain of the better level", Quantity::Difference, Scale::FromZero),
            series: vec![series(
                "effect",
                Form::Bars { slot: 0, slots: 1 },
                0,
                points.collect(),
            )],
            annotations: Vec::new(),
        }],
    })
}

/// For each pair of factors a line for each level of the second over the levels of the
/// first: parallel lines do not interact.
fn interactions(record: &AdviceRecord) -> Vec<Chart> {
    let factors = &record.factors;
    let mut charts = Vec::new();
    for (number, first) in factors.iter().enumerate() {
        for second in &factors[number + 1..] {
            charts.push(interaction(record, first, second));
        }
    }
    charts
}

fn interaction(record: &AdviceRecord, first: &FactorRecord, second: &FactorRecord) -> Chart {
    let mean = |a: &String, b: &String| {
        let of = record.layouts.iter().filter(|layout| {
            layout.layout.get(&first.name) == Some(a) && layout.layout.get(&second.name) == Some(b)
        });
        let scores: Vec<f64> = of.map(|layout| layout.score).collect();
        let sum: f64 = scores.iter().map(|score| score.ln()).sum();
        (!scores.is_empty()).then(|| (sum / scores.len() as f64).exp())
    };
    let lines = second.levels.iter().enumerate().map(|(tone, b)| {
        let points = first.levels.iter().enumerate();
        let points = points.filter_map(|(x, a)| Some(Point::new(x as f64, mean(a, b)?)));
        series(b, Form::Line, tone, points.collect())
    });
    let (a, b) = (first.name.replace('-', " "), second.name.replace('-', " "));
    Chart {
        name: format!("interaction-{}-{}", first.name, second.name),
        title: format!("{} and {b}", stripewise_units::capitalised(&a)),
        summary: format!(
            "Operations a second of the mix over {a}, a line for each {b}. Lines that are parallel do not interact."
        ),
        cautions: Vec::new(),
        x: axis(
            &stripewise_units::capitalised(&a),
            Quantity::Name,
            Scale::Names(first.levels.clone()),
        ),
        panels: vec![Panel {
            y: axis(
                "Operations a second of the mix",
                Quantity::Iops,
                Scale::Linear,
            ),
            series: lines.collect(),
            annotations: Vec::new(),
        }],
    }
}
