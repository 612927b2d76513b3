//! The comparison of commit methods as a sheet.

use super::{BLOCKS, COMMITTERS, CommitMethod, CommitStudy, GROUPS};
use crate::latencies::free_syncs;
use crate::qualify::{AtomicWrites, CommitRecord};
use stripewise_report::{Caution, Cell, Column, Sheet, SheetTable};
use stripewise_results::{AtomicWriteFacts, Severity};
use stripewise_stats::median;
use stripewise_units::{ByteSize, format_duration, format_rate_interval};

/// Databases with pages of these sizes, and what protects those from tearing.
const PAGES: [(u64, &str); 2] = [
    (8_192, "PostgreSQL's full_page_writes (pages of 8 KiB)"),
    (16_384, "InnoDB's doublewrite (pages of 16 KiB)"),
];

pub(super) fn sheet(study: &CommitStudy) -> Sheet {
    let records = study.records();
    let answer = match study.is_whole() {
        true => answer(&records),
        false => format!("{}; {}", stopped(study), answer(&records)),
    };
    let words = study.methods.iter().map(|method| words(*method));
    let mut tables = vec![
        rates(&records),
        SheetTable::new("p99 of a commit", columns(), rows(&records, p99_cell)).as_detail(),
        SheetTable::new(
            "In the words of databases",
            ["method", "is"],
            words.collect(),
        ),
    ];
    tables.extend(study.atomic_writes().map(atomic_table));
    Sheet {
        title: "Commit methods".to_owned(),
        subtitle: "8 KiB, durable before the next".to_owned(),
        answer,
        tables,
        cautions: cautions(study),
        ..Sheet::default()
    }
}

fn words(method: CommitMethod) -> Vec<String> {
    vec![method.name().to_owned(), method.in_databases().to_owned()]
}

fn stopped(study: &CommitStudy) -> String {
    let all = study.cells.len() * BLOCKS as usize;
    format!("Stopped after {} of {all} runs", study.done)
}

fn cautions(study: &CommitStudy) -> Vec<Caution> {
    let caution = |severity, text: &str| Caution::own(severity, text, "");
    let mut codes: Vec<&String> = study.cells.iter().flat_map(|cell| &cell.void).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut cautions: Vec<Caution> = codes
        .into_iter()
        .map(|code| caution(Severity::Void, &format!("runs left out as void: {code}")))
        .collect();
    let too_fast = study.cells.iter().find_map(|cell| cell.too_fast.first());
    cautions.extend(too_fast.map(|text| caution(Severity::Warning, text)));
    let medians_ns = study.cells.iter().filter_map(|cell| {
        let medians: Vec<f64> = cell.medians_ns.iter().map(|&ns| ns as f64).collect();
        median(&medians).map(|ns| ns.round() as u64)
    });
    cautions.extend(free_syncs(
        "commits of the fastest method",
        medians_ns.min(),
    ));
    cautions.push(caution(
        Severity::Note,
        "in a group one write holds the commits of all, and one sync makes them durable",
    ));
    cautions.push(caution(Severity::Note, &torn_pages(study.atomic_writes())));
    cautions
}

/// What becomes unnecessary if pages cannot be torn, and what must be verified first.
fn torn_pages(atomic: Option<&AtomicWrites>) -> String {
    let unit_max = atomic.and_then(AtomicWrites::unit_max_bytes);
    let to_show = "that flushes reach the medium, only `verify --power-cut` shows";
    match unit_max {
        Some(0) => format!(
            "there are no atomic writes of a page here: {} and {} stay on; {to_show}",
            PAGES[0].1, PAGES[1].1
        ),
        None => format!(
            "whether writes of a page are atomic here is not known: {} and {} stay on; {to_show}",
            PAGES[0].1, PAGES[1].1
        ),
        Some(unit_max) => {
            let could_go = PAGES.iter().filter(|(page, _)| *page <= unit_max);
            let could_go: Vec<&str> = could_go.map(|(_, guard)| *guard).collect();
            match could_go.as_slice() {
                [] => format!(
                    "atomic writes up to {} hold no page: {} and {} stay on; {to_show}",
                    ByteSize(unit_max),
                    PAGES[0].1,
                    PAGES[1].1
                ),
                guards => format!(
                    "atomic writes up to {}: {} could go where the database writes its pages with \
                     RWF_ATOMIC; {to_show}",
                    ByteSize(unit_max),
                    guards.join(" and ")
                ),
            }
        }
    }
}

fn atomic_table(atomic: &AtomicWrites) -> SheetTable {
    let row = |name: &Option<String>, facts: Option<AtomicWriteFacts>, unsaid: &str| {
        let name = name.clone()?;
        let says = match facts {
            None => unsaid.to_owned(),
            Some(AtomicWriteFacts {
                unit_max_bytes: 0, ..
            }) => "none".to_owned(),
            Some(facts) => format!(
                "{} to {}",
                ByteSize(facts.unit_min_bytes),
                ByteSize(facts.unit_max_bytes)
            ),
        };
        Some(vec![name, says])
    };
    let device = row(
        &atomic.device_name,
        atomic.device,
        "not said (before Linux 6.11)",
    );
    // `statx` reports nothing for a file that has none.
    let unsaid = match atomic.device {
        Some(_) => "none",
        None => "not said (before Linux 6.13)",
    };
    let file_system = row(&atomic.file_system_name, atomic.file_system, unsaid);
    let rows = device.into_iter().chain(file_system).collect();
    SheetTable::new("Atomic writes", ["of", "sizes"], rows)
}

/// The fastest method for one committer, as far as intervals separate them.
fn answer(records: &[CommitRecord]) -> String {
    let of_one = || records.iter().filter(|one| one.committers == 1);
    let best = of_one().max_by(|a, b| a.commits_per_s.total_cmp(&b.commits_per_s));
    let Some(best) = best else {
        return "nothing was measured".to_owned();
    };
    let Some(low) = best.commits_per_s_low else {
        return "too few runs to tell the ways apart".to_owned();
    };
    let alike = of_one().filter(|one| one.commits_per_s_high.is_none_or(|high| high >= low));
    let named = format!("{} on a file that is {}", best.method, best.file);
    match alike.count() {
        1 => format!("one committer is fastest with {named}: {}", rate_text(best)),
        alike => format!(
            "for one committer {alike} ways are alike as far as their intervals tell, {named} \
             among them: {}",
            rate_text(best)
        ),
    }
}

/// `1,207 a second (1,180-1,230)`.
fn rate_text(record: &CommitRecord) -> String {
    match (record.commits_per_s_low, record.commits_per_s_high) {
        (Some(low), Some(high)) => {
            format_rate_interval(record.commits_per_s, [low, high], "a second")
        }
        _ => format!("{:.0} a second", record.commits_per_s),
    }
}

fn rate_cell(record: &CommitRecord) -> Cell {
    let text = rate_text(record).replace(" a second", "");
    Cell::exact(text, record.commits_per_s)
}

fn p99_cell(record: &CommitRecord) -> Cell {
    let all = (
        record.latency_ns_p99,
        record.latency_ns_p99_low,
        record.latency_ns_p99_high,
    );
    match all {
        (Some(p99), Some(low), Some(high)) => {
            let [p99_text, low, high] = [p99, low, high].map(format_duration);
            Cell::exact(format!("{p99_text} ({low} to {high})"), p99 as f64)
        }
        (Some(p99), ..) => Cell::exact(format_duration(p99), p99 as f64),
        _ => Cell::from("-"),
    }
}

/// Rates, with the latency for one committer.
fn rates(records: &[CommitRecord]) -> SheetTable {
    let mut rates = rows(records, rate_cell);
    for (row, p99s) in rates.iter_mut().zip(rows(records, p99_cell)) {
        // After the method and the file.
        row.extend(p99s.into_iter().nth(2));
    }
    let columns = columns()
        .into_iter()
        .chain([Column::number("p99 of 1").dropped(3)]);
    SheetTable::new("Commits a second", columns, rates)
}

fn columns() -> [Column; 7] {
    [
        Column::text("method"),
        Column::text("file"),
        Column::number("1 at once"),
        Column::number("8").dropped_late(2),
        Column::number("64").dropped_late(1),
        Column::number("8 in a group").dropped(2),
        Column::number("64 in a group").dropped(1),
    ]
}

/// A row per method and state, a cell per number of committers.
fn rows(records: &[CommitRecord], cell: fn(&CommitRecord) -> Cell) -> Vec<Vec<Cell>> {
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for one in records {
        let kind = (one.method.as_str(), one.file.as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let row = |(method, file): (&str, &str)| {
        let of = |committers: u32, group_commit: bool| {
            let found = records.iter().find(|one| {
                (one.method.as_str(), one.file.as_str()) == (method, file)
                    && (one.committers, one.group_commit) == (committers, group_commit)
            });
            found.map_or_else(|| Cell::from("-"), cell)
        };
        let mut row = vec![Cell::from(method), Cell::from(file)];
        row.extend(COMMITTERS.map(|committers| of(committers, false)));
        row.extend(GROUPS.map(|committers| of(committers, true)));
        row
    };
    kinds.into_iter().map(row).collect()
}
