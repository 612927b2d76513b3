//! Profiles of surfaces as text, as a table, and as the content of a picture.

use super::document::ProfileDocument;
use super::shared::{MIB, foot, mib, ms, subtitle, title_of, void, warned};
use stripewise_report::{Axes, SurfacePicture};
use stripewise_surface::profile::{BatchRate, RateAt};
use stripewise_units::{ByteSize, format_count};

/// The findings, a name and a value each.
fn findings(document: &ProfileDocument) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = void(&document.warnings).into_iter().collect();
    let mut line = |name: &str, value: String| all.push((name.to_owned(), value));
    if let (Some(min), Some(median), Some(max)) = (
        document.rate_min_bytes_per_s,
        document.rate_median_bytes_per_s,
        document.rate_max_bytes_per_s,
    ) {
        line("slowest", mib(min));
        line("median", mib(median));
        line("fastest", mib(max));
        if !document.position_matters && is_level(&document.rates, median) {
            let limit = "a bandwidth; `stripewise limits` tells whose";
            line("limit", limit.to_owned());
        }
    }
    if let Some(access) = &document.access {
        line(
            "access time",
            format!(
                "{}, p99 {}",
                ms(access.mean_ns as f64),
                ms(access.p99_ns as f64)
            ),
        );
    }
    if let Some(seeks) = &document.seeks {
        line(
            "average seek",
            format!(
                "{} \u{b1} {:.2}",
                ms(seeks.average_ns),
                seeks.average_error_ns / 1e6
            ),
        );
        line(
            "track, full stroke",
            format!("{}, {}", ms(seeks.track_ns), ms(seeks.full_ns)),
        );
    }
    if let Some(rotation) = &document.rotation {
        line("rotation", format!("{:.0} rpm", rotation.rpm));
    }
    if let Some(rate) = document.interface_bytes_per_s {
        line("from the cache", mib(rate));
    }
    match document.zones.len() {
        0 if !document.position_matters => {
            line("position", "does not matter here".to_owned());
            for (name, value) in matters(&document.batches) {
                line(name, value);
            }
        }
        0 => line(
            "zones",
            "none: the rate falls evenly, or not at all".to_owned(),
        ),
        count => line("zones", count.to_string()),
    }
    match document.extents_count {
        None => {}
        Some(1) => line("file", "in one piece".to_owned()),
        Some(count) => line("file", format!("in {} pieces", format_count(count))),
    }
    match document.spots.len() {
        0 => {}
        1 => line("slow or unreadable", "1 spot".to_owned()),
        count => line("slow or unreadable", format!("{count} spots")),
    }
    all.extend(warned(&document.warnings));
    all
}

/// Rates that differ by less count as equal.
const LEVEL_SHARE: f64 = 0.01;
/// The share of places that must have it.
const LEVEL_PLACES: f64 = 0.9;
/// Fewer places show nothing.
const LEVEL_PLACES_MIN: usize = 16;

/// The same rate nearly everywhere is that of a limit, whatever sets it.
fn is_level(rates: &[RateAt], median: f64) -> bool {
    let near = |rate: &&RateAt| (rate.bytes_per_s / median - 1.0).abs() <= LEVEL_SHARE;
    let count = rates.iter().filter(near).count();
    rates.len() >= LEVEL_PLACES_MIN && count as f64 >= LEVEL_PLACES * rates.len() as f64
}

/// Effects other than position: the size of reads, and how many are concurrent.
fn matters(batches: &[BatchRate]) -> Vec<(&'static str, String)> {
    let all = |keep: fn(&&BatchRate) -> bool, show: fn(&BatchRate) -> String| {
        let shown: Vec<String> = batches.iter().filter(keep).map(show).collect();
        shown.join(", ")
    };
    let sizes = all(
        |one| one.reads == 1,
        |one| {
            let size = ByteSize(u64::from(one.bytes));
            format!("{size}: {:.0}", one.bytes_per_s / MIB)
        },
    );
    let numbers = all(
        |one| one.bytes == 4096,
        |one| format!("{}: {}/s", one.reads, format_count(one.reads_per_s as u64)),
    );
    match batches.is_empty() {
        true => Vec::new(),
        false => vec![
            ("by read size", format!("{sizes} MiB/s")),
            ("by reads at once", numbers),
        ],
    }
}

/// Rates and access times as one table, one row each.
pub fn csv(document: &ProfileDocument) -> String {
    let mut text = String::from("kind,offset_bytes,length_bytes,bytes_per_s,latency_ns\n");
    for rate in &document.rates {
        text.push_str(&format!(
            "rate,{},{},{:.0},\n",
            rate.offset_bytes, rate.length_bytes, rate.bytes_per_s
        ));
    }
    for access in &document.accesses {
        text.push_str(&format!(
            "access,{},4096,,{}\n",
            access.offset_bytes, access.latency_ns
        ));
    }
    for spot in &document.spots {
        let kind = if spot.unreadable {
            "unreadable"
        } else {
            "slow"
        };
        text.push_str(&format!(
            "{kind},{},{},,{}\n",
            spot.offset_bytes, spot.length_bytes, spot.latency_ns
        ));
    }
    text
}

/// The content of the picture.
pub fn picture(document: &ProfileDocument) -> SurfacePicture {
    SurfacePicture {
        title: title_of(&document.target),
        subtitle: subtitle(&document.target, &document.measured_at),
        axes: Axes {
            across: "Position".to_owned(),
            dots: "ms".to_owned(),
            distribution: true,
            ..Axes::default()
        },
        again: Vec::new(),
        size_bytes: document.target.size_bytes,
        rates: document
            .rates
            .iter()
            .map(|rate| (rate.offset_bytes, rate.bytes_per_s / MIB))
            .collect(),
        accesses: document
            .accesses
            .iter()
            .map(|access| (access.offset_bytes, access.latency_ns as f64 / 1e6))
            .collect(),
        boundaries: document.boundaries.iter().map(|one| one.at_bytes).collect(),
        spots: document
            .spots
            .iter()
            .map(|spot| spot.offset_bytes)
            .collect(),
        findings: findings(document),
        foot: foot(&document.host, &document.id),
    }
}

/// The profile in a sentence.
pub fn sentence(document: &ProfileDocument) -> String {
    let all: Vec<String> = findings(document)
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_rate_at_nearly_every_place_is_a_limit() {
        let rates = |uneven: usize| -> Vec<RateAt> {
            let rate = |place: usize| RateAt {
                offset_bytes: place as u64,
                length_bytes: 1,
                bytes_per_s: if place < uneven { 80e6 } else { 125e6 },
            };
            (0..100).map(rate).collect()
        };
        assert!(is_level(&rates(0), 125e6) && is_level(&rates(10), 125e6));
        assert!(!is_level(&rates(11), 125e6), "too many are slower");
        assert!(!is_level(&rates(0)[..15], 125e6), "too few places");
    }
}
