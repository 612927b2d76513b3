//! Tables of the page of a profile.

use super::document::{ExtentFound, ProfileDocument, SpotFound};
use super::shared::{mib, ms};
use stripewise_report::SheetTable;
use stripewise_surface::profile::{BatchRate, SeekCurve, SeekPoint, Spread};
use stripewise_units::{format_bytes, format_count, format_duration};

type Rows = Vec<Vec<String>>;

/// All tables; those without rows are not shown.
pub fn tables(document: &ProfileDocument) -> Vec<SheetTable> {
    let rates = document.rates.iter().map(|rate| {
        vec![
            rate.offset_bytes.to_string(),
            format_bytes(rate.length_bytes),
            mib(rate.bytes_per_s),
        ]
    });
    vec![
        SheetTable::new(
            "Access times of random reads of 4 KiB",
            ["of the reads", "time"],
            document.access.as_ref().map_or(Vec::new(), spread),
        )
        .as_detail(),
        SheetTable::new(
            "Seeks",
            ["distance, of the full stroke", "time"],
            document.seeks.as_ref().map_or(Vec::new(), seek_curve),
        )
        .as_detail(),
        SheetTable::new(
            "What matters: size and number of reads at random places",
            ["read", "at once", "reads a second", "rate"],
            document.batches.iter().map(batch).collect(),
        )
        .as_detail(),
        SheetTable::new(
            "Zones",
            ["zone", "from", "begins between", "to", "rate"],
            zones(document),
        ),
        SheetTable::new(
            "Where the file is on the device",
            ["byte of the file", "length", "byte of the device under it"],
            document.extents.iter().map(extent).collect(),
        )
        .as_detail(),
        SheetTable::new(
            "Slow and unreadable spots",
            ["byte", "length", "LBA", "file", "read takes"],
            document.spots.iter().map(spot).collect(),
        ),
        SheetTable::new("Rates", ["byte", "length", "rate"], rates.collect()).as_detail(),
    ]
}

/// The distribution of access times.
fn spread(access: &Spread) -> Rows {
    let rows = [
        ("the fastest", access.min_ns),
        ("50 % take no longer", access.p50_ns),
        ("mean", access.mean_ns),
        ("90 % take no longer", access.p90_ns),
        ("99 % take no longer", access.p99_ns),
        ("the slowest", access.max_ns),
    ];
    let row = |(name, ns): (&str, u64)| vec![name.to_owned(), ms(ns as f64)];
    rows.map(row).to_vec()
}

/// Seek times by distance.
fn seek_curve(seeks: &SeekCurve) -> Rows {
    let row = |point: &SeekPoint| {
        let distance = format!("{:.1} %", point.distance * 100.0);
        vec![distance, ms(point.seek_ns)]
    };
    seeks.points.iter().map(row).collect()
}

fn batch(one: &BatchRate) -> Vec<String> {
    vec![
        format_bytes(u64::from(one.bytes)),
        one.reads.to_string(),
        format_count(one.reads_per_s as u64),
        mib(one.bytes_per_s),
    ]
}

/// Zones, each with the interval of its starting position.
fn zones(document: &ProfileDocument) -> Rows {
    let begins = |number: usize| {
        let before = number.checked_sub(1);
        let boundary = before.and_then(|before| document.boundaries.get(before));
        boundary.map_or(String::new(), |one| {
            let [low, high] = one.interval_bytes;
            format!("{} and {}", format_bytes(low), format_bytes(high))
        })
    };
    let all = document.zones.iter().enumerate();
    all.map(|(number, zone)| {
        vec![
            (number + 1).to_string(),
            format_bytes(zone.from_bytes),
            begins(number),
            format_bytes(zone.to_bytes),
            mib(zone.bytes_per_s),
        ]
    })
    .collect()
}

/// An extent of a file.
fn extent(piece: &ExtentFound) -> Vec<String> {
    let at = piece.device_bytes;
    vec![
        piece.offset_bytes.to_string(),
        format_bytes(piece.length_bytes),
        at.map_or("not known".to_owned(), |at| at.to_string()),
    ]
}

fn spot(spot: &SpotFound) -> Vec<String> {
    vec![
        spot.offset_bytes.to_string(),
        format_bytes(spot.length_bytes),
        spot.lba.map_or(String::new(), |lba| lba.to_string()),
        spot.file.clone().unwrap_or_default(),
        match spot.unreadable {
            true => "unreadable".to_owned(),
            false => format_duration(spot.latency_ns),
        },
    ]
}
