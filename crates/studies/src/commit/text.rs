//! The comparison of commit methods as a sheet.

use super::{AtomicWrites, BLOCKS, CommitMethod, CommitRecord, CommitStudy, P99_COMMITS_MIN};
use crate::Study;
use crate::latencies::free_syncs;
use stripewise_report::{Caution, Cell, Column, Sheet, SheetTable};
use stripewise_results::{AtomicWriteFacts, Severity};
use stripewise_stats::median;
use stripewise_units::{
    ByteSize, counted, format_bytes, format_count, format_duration, format_iops,
    format_rate_interval, plural,
};

/// Databases with pages of these sizes, and what protects those from tearing.
const PAGES: [(u64, &str); 2] = [
    (8_192, "PostgreSQL's full_page_writes (pages of 8 KiB)"),
    (16_384, "InnoDB's doublewrite (pages of 16 KiB)"),
];

/// Of growing files on a simulated array.
pub(crate) const JOURNAL_IS_SIMULATED: &str =
    "no file system here: for growing files its journal is simulated, 4 KiB before each flush";

pub(super) fn sheet(study: &CommitStudy) -> Sheet {
    Sheet {
        title: "Commit methods".to_owned(),
        subtitle: "8 KiB, durable before the next".to_owned(),
        answer: answer(study),
        tables: tables(study),
        cautions: cautions(study, false),
        ..Sheet::default()
    }
}

/// What a product does in `file` after its load.
pub(super) fn plan(study: &CommitStudy, file: &str) -> String {
    let load = study.loads().into_iter().next();
    let file_bytes = load.and_then(|load| load.workload.size_bytes).unwrap_or(0);
    format!(
        "Then {}: {} to {} of {file}, for a table that decides no requirement.",
        format_duration(study.time().left_ns),
        counted(
            study.methods.len(),
            "way of committing",
            "ways of committing"
        ),
        format_bytes(file_bytes),
    )
}

pub(super) fn tables(study: &CommitStudy) -> Vec<SheetTable> {
    let records = study.records();
    let of_p99 = rows(study, &records, p99_cell);
    let mut tables = vec![
        rates(study, &records),
        SheetTable::new("p99 of a commit", columns(study), of_p99).as_detail(),
    ];
    if study.section.is_none() {
        let words = study.methods.iter().map(|method| words(*method));
        let title = "In the words of databases";
        tables.push(SheetTable::new(title, ["method", "is"], words.collect()));
    }
    if !guards(study).is_empty() {
        tables.extend(study.atomic_writes().map(atomic_table));
    }
    tables
}

/// Sizes of pages, and what guards them from being torn.
fn guards(study: &CommitStudy) -> Vec<(u64, &str)> {
    match &study.section {
        None => PAGES.to_vec(),
        Some(section) => {
            let guard = section.guard.as_ref();
            guard
                .map(|(page, guard)| (*page, guard.as_str()))
                .into_iter()
                .collect()
        }
    }
}

fn words(method: CommitMethod) -> Vec<String> {
    vec![method.name().to_owned(), method.in_databases().to_owned()]
}

fn stopped(study: &CommitStudy) -> String {
    let all = study.cells.len() * BLOCKS as usize;
    match study.is_being_measured {
        true => format!("still being measured, {} of {all} runs done", study.done),
        false => format!("stopped after {} of {all} runs", study.done),
    }
}

pub(super) fn cautions(study: &CommitStudy, is_fast_known: bool) -> Vec<Caution> {
    let caution = |severity, text: &str| Caution::own(severity, text, "");
    let mut codes: Vec<&String> = study.cells.iter().flat_map(|cell| &cell.void).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut cautions: Vec<Caution> = codes
        .into_iter()
        .map(|code| caution(Severity::Void, &format!("runs left out as void: {code}")))
        .collect();
    let too_fast = study.cells.iter().find_map(|cell| cell.too_fast.first());
    let medians_ns = study.cells.iter().filter_map(|cell| {
        let medians: Vec<f64> = cell.medians_ns.iter().map(|&ns| ns as f64).collect();
        median(&medians).map(|ns| ns.round() as u64)
    });
    if !is_fast_known {
        cautions.extend(too_fast.map(|text| caution(Severity::Warning, text)));
        cautions.extend(free_syncs(
            "commits of the fastest method",
            medians_ns.min(),
        ));
    }
    if study.is_simulated {
        cautions.push(caution(Severity::Note, JOURNAL_IS_SIMULATED));
    }
    if !study.groups().is_empty() {
        cautions.push(caution(
            Severity::Note,
            "in a group one write holds the commits of all, and one sync makes them durable",
        ));
    }
    if study
        .records()
        .iter()
        .any(|one| one.latency_ns_p99.is_none())
    {
        let few = format!(
            "no p99 (-) of fewer than {} latencies",
            format_count(P99_COMMITS_MIN)
        );
        cautions.push(caution(Severity::Note, &few));
    }
    let guards = guards(study);
    if !guards.is_empty() {
        let torn = torn_pages(study.atomic_writes(), &guards);
        cautions.push(caution(Severity::Note, &torn));
    }
    cautions
}

/// What could go where pages cannot be torn, and what has to be shown first.
fn torn_pages(atomic: Option<&AtomicWrites>, guards: &[(u64, &str)]) -> String {
    let named = |unit_max: u64| {
        let guards = guards.iter().filter(|(page, _)| *page <= unit_max);
        let names: Vec<&str> = guards.map(|(_, guard)| *guard).collect();
        names.join(" and ")
    };
    let all = named(u64::MAX);
    let stay = format!("{all} {} on", plural(guards.len(), "stays", "stay"));
    let to_show = "that flushes reach the medium, only `verify --power-cut` shows";
    match atomic.and_then(AtomicWrites::unit_max_bytes) {
        Some(0) => format!("there are no atomic writes of a page here: {stay}; {to_show}"),
        None => {
            format!("whether writes of a page are atomic here is not known: {stay}; {to_show}")
        }
        Some(unit_max) => {
            let size = ByteSize(unit_max);
            let could_go = named(unit_max);
            let how = atomic.and_then(AtomicWrites::made_by);
            let how = how.map_or(String::new(), |name| {
                format!(", where {name} writes to a new place what the device does not make atomic")
            });
            match could_go.is_empty() {
                true => format!("atomic writes up to {size} hold no page: {stay}; {to_show}"),
                false => format!(
                    "atomic writes up to {size}{how}: {could_go} could go where the database writes \
                     its pages with RWF_ATOMIC; {to_show}"
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

/// The fastest method for the fewest committers, as far as intervals separate them; if the study
/// was stopped, first how far it got.
pub(super) fn answer(study: &CommitStudy) -> String {
    let answer = fastest(study, &study.records());
    match study.is_whole() {
        true => answer,
        false => format!("{}; {answer}", stopped(study)),
    }
}

fn fastest(study: &CommitStudy, records: &[CommitRecord]) -> String {
    let count = study.committers()[0];
    let alone = || {
        let is_alone = move |one: &&CommitRecord| one.committers == count && !one.group_commit;
        records.iter().filter(is_alone)
    };
    let who = match count {
        1 => "one committer".to_owned(),
        count => format!("{count} committers"),
    };
    let best = alone().max_by(|a, b| a.commits_per_s.total_cmp(&b.commits_per_s));
    let Some(best) = best else {
        return match records.is_empty() {
            true => "nothing was measured".to_owned(),
            false => format!("nothing was measured of {who}"),
        };
    };
    let Some(low) = best.commits_per_s_low else {
        return "too few runs to tell the ways apart".to_owned();
    };
    let alike = alone().filter(|one| one.commits_per_s_high.is_none_or(|high| high >= low));
    let method = best.in_product.as_ref().unwrap_or(&best.method);
    let named = match (&study.section, study.states().len()) {
        // All are on the one file that the product has.
        (Some(_), 1) => method.clone(),
        _ => format!("{method} on a file that is {}", best.file),
    };
    let rate = rate_text(best);
    let is_one_method = alone().all(|one| one.method == best.method);
    match alike.count() {
        _ if alone().count() == 1 => format!("{who} with {named}: {rate}"),
        1 => {
            let verb = plural(count as usize, "is", "are");
            format!("{who} {verb} fastest with {named}: {rate}")
        }
        alike if is_one_method => format!(
            "{who} with {method}: {alike} states of the file are alike as far as their intervals \
             tell, {} among them: {rate}",
            best.file
        ),
        alike => format!(
            "for {who} {alike} ways are alike as far as their intervals tell, {named} among them: \
             {rate}"
        ),
    }
}

/// `1,207 a second (1,180-1,230)`.
fn rate_text(record: &CommitRecord) -> String {
    match (record.commits_per_s_low, record.commits_per_s_high) {
        (Some(low), Some(high)) => {
            format_rate_interval(record.commits_per_s, [low, high], "a second")
        }
        _ => format!("{} a second", format_iops(record.commits_per_s)),
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

/// With the latency of the fewest committers beside the rates.
fn rates(study: &CommitStudy, records: &[CommitRecord]) -> SheetTable {
    let mut rates = rows(study, records, rate_cell);
    for (row, p99s) in rates.iter_mut().zip(rows(study, records, p99_cell)) {
        // Behind the method and the file.
        row.extend(p99s.into_iter().nth(2));
    }
    let p99 = format!("p99 of {}", study.committers()[0]);
    // Before groups where there are few; of all methods the rates are the answer.
    let order = if study.section.is_some() { 1 } else { 3 };
    let columns = columns(study)
        .into_iter()
        .chain([Column::number(&p99).dropped(order)]);
    let title = match study.section {
        // A product's requirements may have counted them beside its other loads.
        Some(_) => "Commits a second, each method alone",
        None => "Commits a second",
    };
    SheetTable::new(title, columns, rates)
}

fn columns(study: &CommitStudy) -> Vec<Column> {
    let (committers, groups) = (study.committers(), study.groups());
    // A narrow terminal drops the largest numbers first.
    let alone = committers
        .iter()
        .enumerate()
        .map(|(index, count)| match index {
            0 => Column::number(&format!("{count} at once")),
            _ => Column::number(&count.to_string()).dropped_late((committers.len() - index) as u8),
        });
    let base = usize::from(study.section.is_some());
    let grouped = groups.iter().enumerate().map(|(index, count)| {
        let order = base + groups.len() - index;
        Column::number(&format!("{count} in a group")).dropped(order as u8)
    });
    [Column::text("method"), Column::text("file")]
        .into_iter()
        .chain(alone)
        .chain(grouped)
        .collect()
}

/// A row for each method and state, a cell for each number of committers.
fn rows(
    study: &CommitStudy,
    records: &[CommitRecord],
    cell: fn(&CommitRecord) -> Cell,
) -> Vec<Vec<Cell>> {
    let mut kinds: Vec<&CommitRecord> = Vec::new();
    let is_same = |a: &CommitRecord, b: &CommitRecord| (&a.method, &a.file) == (&b.method, &b.file);
    for one in records {
        if !kinds.iter().any(|kind| is_same(kind, one)) {
            kinds.push(one);
        }
    }
    let row = |kind: &CommitRecord| {
        let of = |committers: u32, group_commit: bool| {
            let mut of_kind = records.iter().filter(|one| is_same(one, kind));
            let found = of_kind
                .find(|one| (one.committers, one.group_commit) == (committers, group_commit));
            found.map_or_else(|| Cell::from("-"), cell)
        };
        let method = kind.in_product.as_ref().unwrap_or(&kind.method);
        let mut row = vec![Cell::from(method.clone()), Cell::from(kind.file.clone())];
        row.extend(study.committers().iter().map(|&count| of(count, false)));
        row.extend(study.groups().iter().map(|&count| of(count, true)));
        row
    };
    kinds.into_iter().map(row).collect()
}
