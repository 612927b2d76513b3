//! Fills as text, as a table, and as the content of a picture.

use super::fill_document::{FillDocument, RestFound};
use super::shared::{MIB, foot, mib, subtitle, title_of, void, warned};
use stripewise_report::{Axes, SheetTable, SurfacePicture};
use stripewise_surface::fill::{Step, Stretch};
use stripewise_units::{format_bytes, format_count, format_duration};

/// "1,500 MiB/s (1,420-1,560)".
fn rate(stretch: &Stretch) -> String {
    let number = |rate: f64| format_count((rate / MIB).round() as u64);
    let interval = match stretch.bytes_per_s_interval {
        Some([low, high]) => format!(" ({}-{})", number(low), number(high)),
        None => String::new(),
    };
    format!("{} MiB/s{interval}", number(stretch.bytes_per_s))
}

/// "113 GiB (109-117)": one unit for all three.
fn amount(bytes: u64, [low, high]: [u64; 2]) -> String {
    let (unit, name) = match high {
        high if high >= 1 << 40 => (1u64 << 40, "TiB"),
        high if high >= 1 << 30 => (1 << 30, "GiB"),
        _ => (1 << 20, "MiB"),
    };
    // As many digits as the interval's width justifies.
    let digits = match (high - low) as f64 / unit as f64 {
        width if width >= 2.0 => 0,
        width if width >= 0.2 => 1,
        _ => 2,
    };
    let number = |bytes: u64| format!("{:.digits$}", bytes as f64 / unit as f64);
    format!(
        "{} {name} ({}-{})",
        number(bytes),
        number(low),
        number(high)
    )
}

/// The result of the fill, in a sentence.
pub fn sentence(document: &FillDocument) -> String {
    let stretches = &document.stretches;
    let mut text = match (
        document.fast_bytes.zip(document.fast_bytes_interval),
        stretches.first(),
    ) {
        (_, None) => return "nothing was written".to_owned(),
        (Some((bytes, interval)), Some(_)) => {
            let fast = stretches.iter().position(|one| one.to_bytes == bytes);
            let fast = fast.unwrap_or(0);
            let then: Vec<String> = stretches[fast + 1..].iter().map(rate).collect();
            let buffer = document.buffer_bytes.map_or(String::new(), |bytes| {
                format!("write buffer: {}; ", format_bytes(bytes))
            });
            format!(
                "{buffer}fast cache: {} at {}, then {}",
                amount(bytes, interval),
                rate(&stretches[fast]),
                then.join(", then ")
            )
        }
        (None, Some(first)) if stretches.len() == 1 => format!(
            "{} over {}: the rate does not change; a fast cache that holds more than that would not \
             show",
            rate(first),
            format_bytes(document.written_bytes)
        ),
        (None, Some(_)) => {
            let all: Vec<String> = stretches.iter().map(rate).collect();
            format!("no fast part at the start: {}", all.join(", then "))
        }
    };
    if let Some(back) = document.rest.as_ref().and_then(back) {
        text.push_str("; ");
        text.push_str(&back);
    }
    text
}

/// "60 s": the length of the rest.
fn rested(rest: &RestFound) -> String {
    match rest.rest_ns {
        ns if ns < 600_000_000_000 && ns.is_multiple_of(1_000_000_000) => {
            format!("{} s", ns / 1_000_000_000)
        }
        ns => format_duration(ns),
    }
}

fn back(rest: &RestFound) -> Option<String> {
    let found = rest.back?;
    let rested = rested(rest);
    Some(match (found.at_least, found.bytes) {
        (true, bytes) => format!(
            "after {rested} idle at least {} are back",
            format_bytes(bytes)
        ),
        (false, 0) => format!("after {rested} idle, nothing is available again"),
        (false, bytes) => format!(
            "after {rested} idle {} are back",
            amount(bytes, found.interval_bytes)
        ),
    })
}

/// The steps, one per row; `part` is `fill`, or `rest` for those after the rest.
pub fn csv(document: &FillDocument) -> String {
    let mut text = String::from(
        "part,from_bytes,length_bytes,duration_ns,bytes_per_s,temperature_millicelsius\n",
    );
    let fill = document.steps.iter().map(|step| ("fill", step));
    let rest = document.rest.iter().flat_map(|rest| &rest.steps);
    for (part, step) in fill.chain(rest.map(|step| ("rest", step))) {
        let warmth = step
            .temperature_millicelsius
            .map_or(String::new(), |t| t.to_string());
        text.push_str(&format!(
            "{part},{},{},{},{:.0},{warmth}\n",
            step.from_bytes,
            step.length_bytes,
            step.duration_ns,
            step.bytes_per_s()
        ));
    }
    text
}

/// The content of the picture: the rate over bytes written, temperatures as dots.
pub fn picture(document: &FillDocument) -> SurfacePicture {
    let point = |step: &Step| {
        let middle = step.from_bytes + step.length_bytes / 2;
        (middle, step.bytes_per_s() / MIB)
    };
    let rest = document.rest.as_ref();
    SurfacePicture {
        title: title_of(&document.target),
        subtitle: subtitle(&document.target, &document.measured_at),
        axes: Axes {
            across: "Written".to_owned(),
            dots: "\u{b0}C".to_owned(),
            distribution: false,
            curves: [
                "the fill".to_owned(),
                rest.map_or(String::new(), |rest| format!("after {} idle", rested(rest))),
            ],
        },
        size_bytes: document.planned_bytes,
        rates: document.steps.iter().map(point).collect(),
        again: rest
            .iter()
            .flat_map(|rest| &rest.steps)
            .map(point)
            .collect(),
        accesses: document
            .steps
            .iter()
            .filter_map(|step| {
                let warmth = step.temperature_millicelsius? as f64 / 1e3;
                Some((step.from_bytes, warmth))
            })
            .collect(),
        boundaries: document.changes.iter().map(|one| one.at_bytes).collect(),
        spots: Vec::new(),
        findings: findings(document),
        foot: foot(&document.host, &document.id),
    }
}

/// Tables of a page.
pub fn tables(document: &FillDocument) -> Vec<SheetTable> {
    let row = |stretch: &Stretch| {
        vec![
            format_bytes(stretch.from_bytes),
            format_bytes(stretch.to_bytes),
            rate(stretch),
        ]
    };
    let step = |step: &Step| {
        vec![
            format_bytes(step.from_bytes),
            format_bytes(step.length_bytes),
            mib(step.bytes_per_s()),
        ]
    };
    vec![
        SheetTable::new(
            "Stretches of one rate",
            ["from", "to", "rate (95 % interval)"],
            document.stretches.iter().map(row).collect(),
        ),
        SheetTable::new(
            "Steps",
            ["written before", "length", "rate"],
            document.steps.iter().map(step).collect(),
        )
        .as_detail(),
    ]
}

fn findings(document: &FillDocument) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = void(&document.warnings).into_iter().collect();
    let void = all.len();
    let mut line = |name: &str, value: String| all.push((name.to_owned(), value));
    if let Some((bytes, interval)) = document.fast_bytes.zip(document.fast_bytes_interval) {
        line("fast cache", amount(bytes, interval));
    }
    for (number, stretch) in document.stretches.iter().enumerate() {
        line(if number == 0 { "at first" } else { "then" }, rate(stretch));
    }
    if let Some(back) = document.rest.as_ref().and_then(back) {
        line("back", back);
    }
    // The voiding warning is the first of these, not of those.
    all.extend(further_findings(document).into_iter().skip(void));
    all
}

/// Findings that the sentence does not contain.
pub fn further_findings(document: &FillDocument) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = void(&document.warnings).into_iter().collect();
    let mut line = |name: &str, value: String| all.push((name.to_owned(), value));
    for change in &document.changes {
        line("change at", amount(change.at_bytes, change.interval_bytes));
    }
    let all_steps = document.steps.iter();
    let slowest = all_steps.map(Step::bytes_per_s);
    if let Some(slowest) = slowest.min_by(f64::total_cmp) {
        line("slowest step", mib(slowest));
    }
    if let Some(most) = document.temperature_millicelsius_max {
        line(
            "temperature",
            format!("up to {:.0} \u{b0}C", most as f64 / 1e3),
        );
    }
    all.extend(warned(&document.warnings));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_share_a_unit() {
        assert_eq!(
            amount(113 << 30, [109 << 30, 117 << 30]),
            "113 GiB (109-117)"
        );
        assert_eq!(amount(900 << 20, [800 << 20, 1 << 30]), "0.9 GiB (0.8-1.0)");
        assert_eq!(amount(0, [0, 16 << 20]), "0 MiB (0-16)");
        let narrow = [113 << 30, (113 << 30) + (32 << 20)];
        assert_eq!(amount(113 << 30, narrow), "113.00 GiB (113.00-113.03)");
    }
}
