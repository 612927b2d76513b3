//! A verification as a report: the verdict first, then the targets and the method, the
//! duration, and every fault with its position.

use super::verification::document::{
    Mode, PhaseOutcome, StuckOperation, SurvivalRecord, VerifiedTarget, VerifyDocument,
    VerifyVerdict, WitnessKept,
};
use super::verification::text::{OPEN, POWER_STAYED, judged, lost, phase_name};
use super::verification::words::in_turn;
use crate::steps::medium::void_codes;
use crate::steps::pages::{PictureLook, Rendered, ReportFormat};
use crate::steps::render_sheet::{Renderable, titled};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_report::{
    Caution, Column, Judgement, PhaseBar, Sheet, SheetTable, Strip, VerificationPicture, again,
    classes_text, csv_text, verification_svg,
};
use stripewise_results::KindOutcome;
use stripewise_results::faults::FaultRecord;
use stripewise_units::{
    capitalised, counted, distinct, format_bytes, format_count, format_duration, format_iops,
    format_mib_per_s, listed,
};

/// The name of its picture.
const PICTURE: &str = "verification";

/// Maximum number of faults given in full before the picture.
const IN_FULL_MAX: usize = 5;

type Rows = Vec<Vec<String>>;

/// Parses a stored document.
pub fn of_stored(json: &str) -> Outcome<VerifyDocument> {
    serde_json::from_str(json).map_err(|error| Failure::of(Exit::Store, error))
}

/// Renders it in a report format.
///
/// # Errors
/// If a picture cannot be drawn, or there is none of that name.
pub fn rendered(
    document: &VerifyDocument,
    format: ReportFormat,
    wanted: &PictureLook,
) -> Outcome<Rendered> {
    let mut picture = picture(document);
    titled(&mut picture.title, &mut picture.foot, wanted);
    let renderable = Renderable {
        sheet: sheet_of(document, &picture),
        picture: (PICTURE, &|theme| verification_svg(&picture, theme)),
        what: "a verification",
        csv: &|| csv(document),
        document,
    };
    renderable.rendered(format, wanted)
}

/// For a terminal, whose readers look for the verdict: it is in capitals.
pub fn sheet(document: &VerifyDocument) -> Sheet {
    let mut sheet = sheet_of(document, &picture(document));
    if let Some((_, word)) = &mut sheet.verdict
        && word != POWER_STAYED
    {
        *word = word.to_uppercase();
    }
    sheet
}

fn sheet_of(document: &VerifyDocument, picture: &VerificationPicture) -> Sheet {
    let stored = document.targets.iter().filter_map(|target| {
        let path = target.kept_at.clone()?;
        Some(("Kept".to_owned(), path))
    });
    Sheet {
        title: picture.title.clone(),
        subtitle: picture.subtitle.clone(),
        verdict: Some(picture.verdict.clone()),
        answer: format!("{}.", picture.sentence),
        details: details(document),
        findings: picture.findings.clone(),
        tables: tables(document),
        cautions: Caution::of_all(&document.warnings),
        notes: document.notes.clone(),
        pointers: stored.chain([again(&document.id)]).collect(),
        foot: picture.foot.clone(),
        ..Sheet::default()
    }
}

fn picture(document: &VerifyDocument) -> VerificationPicture {
    let (word, sentence) = judged(document);
    let verdict = match document.verdict {
        VerifyVerdict::Passed if !void_codes(&document.warnings).is_empty() => Judgement::Bad,
        VerifyVerdict::Passed if document.mode != Mode::PowerCut => Judgement::Good,
        VerifyVerdict::Passed | VerifyVerdict::Interrupted | VerifyVerdict::NotProven => {
            Judgement::Open
        }
        VerifyVerdict::Faults | VerifyVerdict::Errors => Judgement::Bad,
    };
    VerificationPicture {
        title: title(&document.targets),
        subtitle: subtitle(document),
        verdict: (verdict, word.to_owned()),
        sentence,
        phases: document.phases.iter().map(bar).collect(),
        strips: strips(document),
        findings: findings(document),
        foot: format!(
            "Stripewise {}, host {}, {}",
            env!("CARGO_PKG_VERSION"),
            document.host,
            document.id
        ),
    }
}

/// Names in a title; more are only counted.
const NAMES_MAX: usize = 3;

/// The model of the only target, or its name; of several their names.
fn title(targets: &[VerifiedTarget]) -> String {
    if let [one] = targets {
        return one.model.as_ref().unwrap_or(&one.name).clone();
    }
    let names: Vec<&str> = targets.iter().map(|one| one.name.as_str()).collect();
    listed(&names, NAMES_MAX)
}

/// What was done, on what, and when.
fn subtitle(document: &VerifyDocument) -> String {
    let day = document.started_at.get(..10).unwrap_or_default();
    let extent = extent(&document.targets);
    format!("{} \u{b7} {extent} \u{b7} {day}", mode(document.mode))
}

/// The size, and the name unless it is the title.
fn extent(targets: &[VerifiedTarget]) -> String {
    match targets {
        [one] if one.model.is_none() => format_bytes(one.size_bytes),
        [one] => format!("{} \u{b7} {}", format_bytes(one.size_bytes), one.name),
        several => format!("{} targets", several.len()),
    }
}

/// As text for people.
fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::BurnIn => "Burn-in",
        Mode::Capacity => "Capacity, written and read once",
        Mode::Image => "What an earlier verification left",
        Mode::PowerCut => "Writes and flushes until the power goes",
        Mode::AfterCut => "What survived a power cut",
    }
}

fn bar(phase: &PhaseOutcome) -> PhaseBar {
    PhaseBar {
        name: format!("{}, {}", phase_name(phase), phase.cache),
        duration_ns: phase.duration_ns,
        rate: format_mib_per_s(phase.mib_per_s),
    }
}

fn strips(document: &VerifyDocument) -> Vec<Strip> {
    let of = |(number, target): (usize, &VerifiedTarget)| Strip {
        name: target.name.clone(),
        size_bytes: target.size_bytes,
        faults: (document.faults.iter())
            .filter(|record| usize::from(record.fault.target) == number)
            .map(|record| (record.fault.offset_bytes, record.fault.length_bytes))
            .collect(),
    };
    document.targets.iter().enumerate().map(of).collect()
}

/// Names and values next to the picture.
fn findings(document: &VerifyDocument) -> Vec<(String, String)> {
    let faults = match document.faults_by_class.is_empty() {
        true => "none".to_owned(),
        false => classes_text(&document.faults_by_class),
    };
    let caches = document.targets.iter().flat_map(|target| &target.cache);
    let caches = distinct(caches.map(String::as_str));
    let capacity = document.capacity.map(|found| {
        let [reported, real] = [found.reported_bytes, found.real_bytes].map(format_bytes);
        format!("{reported} reported, {real} found")
    });
    let lost = document.survival.iter().map(|one| one.survival.lost_writes);
    let survival = (!document.survival.is_empty()).then(|| format_count(lost.sum()));
    let flushes = document.flushes.as_ref().map(|flushes| flushes.operations);
    let named = [
        ("verified", Some(format_bytes(document.verified_bytes))),
        ("operations", Some(format_count(document.operations))),
        ("took", Some(format_duration(document.duration_ns))),
        ("faults", Some(faults)),
        ("failed operations", count(document.errors.total)),
        ("took longer than 15 s", count(document.stuck.len() as u64)),
        ("capacity", capacity),
        ("durable writes lost", survival),
        ("flushes", flushes.and_then(count)),
        ("cache", Some(caches.join(", "))),
        ("engine", Some(document.engine.clone())),
    ];
    let known = named.into_iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some((name.to_owned(), value))
    });
    known.collect()
}

/// A number; `None` if it is 0.
fn count(number: u64) -> Option<String> {
    (number > 0).then(|| format_count(number))
}

/// The first faults in full, and other text that belongs to the verdict.
fn details(document: &VerifyDocument) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    all.extend(Some(lost(document).trim_end().to_owned()).filter(|text| !text.is_empty()));
    let renderable = document.faults.iter().take(IN_FULL_MAX);
    all.extend(renderable.map(|record| format!("{}.", capitalised(&record.message))));
    if let Some(more @ 1..) = document.faults.len().checked_sub(IN_FULL_MAX) {
        all.push(format!(
            "{} in the table of a report and in the JSON.",
            counted(more, "more fault is", "more faults are")
        ));
    }
    all
}

/// All tables; those without rows are not shown.
fn tables(document: &VerifyDocument) -> Vec<SheetTable> {
    let mut all = vec![
        SheetTable::new(
            "Faults",
            [
                "fault",
                "target",
                "byte",
                "length",
                "LBA",
                "expected",
                "found",
                "read again",
            ],
            document.faults.iter().map(fault).collect(),
        )
        .as_detail(),
        SheetTable::new(
            "What was done",
            phase_columns("cache"),
            document.phases.iter().map(phase).collect(),
        ),
        SheetTable::new(
            "Each target",
            phase_columns("target"),
            each_target(document),
        ),
        SheetTable::new(
            "What was verified",
            [
                "target",
                "kind",
                "size",
                "sector",
                "device",
                "starts at byte",
                "caches",
                "kept at",
                "changed by another program",
            ],
            document.targets.iter().map(target).collect(),
        )
        .as_detail(),
    ];
    all.extend(tables_of_some(document));
    all
}

/// Columns of a phase; the second column is its target or mode.
fn phase_columns(second: &str) -> [Column; 13] {
    [
        Column::text("phase"),
        Column::text(second),
        Column::number("took"),
        Column::number("IOPS"),
        Column::number("rate"),
        Column::number("reads").dropped(1),
        Column::number("p50").dropped(4),
        Column::number("p99").dropped(2),
        Column::number("max").dropped(3),
        Column::number("writes").dropped(1),
        Column::number("p50").dropped(4),
        Column::number("p99").dropped(2),
        Column::number("max").dropped(3),
    ]
}

/// Tables that only some modes fill.
fn tables_of_some(document: &VerifyDocument) -> Vec<SheetTable> {
    let one = |text: &String| vec![text.clone()];
    vec![
        SheetTable::without_headings("Capacity", capacity(document)),
        SheetTable::new(
            "What each run left",
            ["run", "bytes", "oldest", "on average", "newest", "basis"],
            left(document),
        ),
        SheetTable::new(
            "What survived",
            [
                "target",
                "durable by",
                "durable writes",
                "lost",
                "survived beyond the promise",
                "in part",
            ],
            document.survival.iter().map(survived).collect(),
        ),
        SheetTable::new("Flushes", ["flushes", "p99", "max"], flushes(document)),
        SheetTable::new(
            "The witness",
            ["run", "records", "left out", "failed", "file"],
            document.witness.iter().map(witness).collect(),
        ),
        SheetTable::without_headings(
            "Failed operations, which are no faults of the data",
            document.errors.first.iter().map(one).collect(),
        ),
        SheetTable::new(
            "Operations that took longer than 15 s",
            ["target", "kind", "byte", "length", "for"],
            (document.stuck.iter())
                .map(|operation| stuck(document, operation))
                .collect(),
        ),
    ]
}

fn fault(record: &FaultRecord) -> Vec<String> {
    let fault = &record.fault;
    vec![
        fault.class.name().to_owned(),
        record.target_name.clone(),
        fault.offset_bytes.to_string(),
        format_bytes(fault.length_bytes),
        record.lba.map_or(String::new(), |lba| lba.to_string()),
        fault.expected.what.clone(),
        fault.found.what.clone(),
        in_turn(&fault.rereads),
    ]
}

fn phase(phase: &PhaseOutcome) -> Vec<String> {
    let rates = [phase.iops, phase.mib_per_s];
    let row = [phase_name(phase), &phase.cache];
    did(row, phase.duration_ns, rates, [&phase.read, &phase.write])
}

/// With several targets: shows which one is slow.
fn each_target(document: &VerifyDocument) -> Rows {
    let own = document.phases.iter().flat_map(|phase| {
        phase.by_target.iter().map(move |own| {
            let target = document.targets.get(usize::from(own.target));
            let name = target.map_or("", |target| target.name.as_str());
            let rates = [own.iops, own.mib_per_s];
            let row = [phase_name(phase), name];
            did(row, own.duration_ns, rates, [&own.read, &own.write])
        })
    });
    own.collect()
}

fn did(
    names: [&str; 2],
    duration_ns: u64,
    [iops, mib_per_s]: [f64; 2],
    kinds: [&KindOutcome; 2],
) -> Vec<String> {
    let mut row: Vec<String> = names.map(str::to_owned).to_vec();
    row.extend([
        format_duration(duration_ns),
        format_iops(iops),
        format_mib_per_s(mib_per_s),
    ]);
    row.extend(kinds.into_iter().flat_map(of_kind));
    row
}

/// Count and latencies; empty if there were none.
fn of_kind(kind: &KindOutcome) -> [String; 4] {
    let count = count(kind.operations).unwrap_or_default();
    let took = kind.latency_ns.map_or_else(Default::default, |latency| {
        [latency.p50, latency.p99, latency.max].map(format_duration)
    });
    let [p50, p99, max] = took;
    [count, p50, p99, max]
}

fn target(target: &VerifiedTarget) -> Vec<String> {
    let kind = serde_json::to_value(target.kind).ok();
    let kind = kind.as_ref().and_then(|kind| kind.as_str());
    let device = match (&target.device, &target.model) {
        (Some(device), Some(model)) => format!("{device}, {model}"),
        (device, model) => device.clone().or(model.clone()).unwrap_or_default(),
    };
    vec![
        target.name.clone(),
        kind.unwrap_or_default().replace('-', " "),
        format_bytes(target.size_bytes),
        format!("{} bytes", target.sector_bytes),
        device,
        target
            .partition_offset_bytes
            .map_or(String::new(), format_count),
        target.cache.join(", "),
        target.kept_at.clone().unwrap_or_default(),
        target.changed.clone().unwrap_or_default(),
    ]
}

fn capacity(document: &VerifyDocument) -> Rows {
    let Some(found) = document.capacity else {
        return Vec::new();
    };
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let bytes = |bytes: u64| format!("{} ({} bytes)", format_bytes(bytes), format_count(bytes));
    let mut rows = vec![
        row("reported", bytes(found.reported_bytes)),
        row("found", bytes(found.real_bytes)),
        row("written and read up to", bytes(found.checked_bytes)),
    ];
    if found.wraps {
        rows.push(row(
            "behind that",
            "it begins again from its start".to_owned(),
        ));
    }
    rows
}

fn left(document: &VerifyDocument) -> Rows {
    let each = document.left.iter().map(|left| {
        vec![
            left.id.clone().unwrap_or_else(|| left.run.clone()),
            format_bytes(left.bytes),
            format!("{} ago", format_duration(left.oldest_age_ns)),
            format!("{} ago", format_duration(left.mean_age_ns)),
            format!("{} ago", format_duration(left.newest_age_ns)),
            left.judged_by.in_words().to_owned(),
        ]
    });
    let mut rows: Rows = each.collect();
    let mut row = |name: &str, bytes: Option<u64>, why: &str| {
        if let Some(bytes @ 1..) = bytes {
            let mut row = vec![String::new(); 6];
            row[0] = name.to_owned();
            row[1] = format_bytes(bytes);
            row[5] = why.to_owned();
            rows.push(row);
        }
    };
    let why = "never written by Stripewise, or wiped since";
    row("without a stamp", document.unstamped_bytes, why);
    row("not proven", document.unproven_bytes, OPEN);
    rows
}

fn survived(one: &SurvivalRecord) -> Vec<String> {
    let survival = &one.survival;
    vec![
        one.target_name.clone(),
        one.durability.clone(),
        format_count(survival.covered_writes),
        format_count(survival.lost_writes),
        format_count(survival.beyond_writes),
        format_count(survival.torn_writes),
    ]
}

fn flushes(document: &VerifyDocument) -> Rows {
    let flushes = document.flushes.iter().filter(|kind| kind.operations > 0);
    let row = |kind: &KindOutcome| {
        let [count, _, p99, max] = of_kind(kind);
        vec![count, p99, max]
    };
    flushes.map(row).collect()
}

fn witness(witness: &WitnessKept) -> Vec<String> {
    vec![
        witness.run_id.clone(),
        format_count(witness.records),
        match witness.dropped_bytes {
            0 => "nothing".to_owned(),
            bytes => format!("{} that were no record", format_bytes(bytes)),
        },
        format_count(witness.failed),
        witness.file.clone(),
    ]
}

fn stuck(document: &VerifyDocument, operation: &StuckOperation) -> Vec<String> {
    let target = document.targets.get(usize::from(operation.target));
    vec![
        target.map_or(String::new(), |target| target.name.clone()),
        operation.kind.clone(),
        operation.offset_bytes.to_string(),
        format_bytes(operation.length_bytes),
        format_duration(operation.for_ns),
    ]
}

/// A row for each fault.
fn csv(document: &VerifyDocument) -> String {
    let mut text =
        String::from("class,target,offset_bytes,length_bytes,lba,expected,found,message\n");
    for record in &document.faults {
        let fault = &record.fault;
        let words = [
            &record.target_name,
            &fault.expected.what,
            &fault.found.what,
            &record.message,
        ];
        let [target, expected, found, message] = words.map(|text| csv_text(text));
        text.push_str(&format!(
            "{},{target},{},{},{},{expected},{found},{message}\n",
            fault.class.name(),
            fault.offset_bytes,
            fault.length_bytes,
            record.lba.map_or(String::new(), |lba| lba.to_string()),
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::TargetKind;

    #[test]
    fn a_heading_names_all_targets() {
        let target = |name: &str| VerifiedTarget {
            name: name.to_owned(),
            path: None,
            kind: TargetKind::Device,
            size_bytes: 1 << 30,
            sector_bytes: 512,
            device: None,
            model: Some("MZ7LH960".to_owned()),
            partition_offset_bytes: None,
            kept_at: None,
            cache: Vec::new(),
            changed: None,
            finished: None,
        };
        let model_of = |names: &[&str]| {
            let targets: Vec<VerifiedTarget> = names.iter().map(|name| target(name)).collect();
            title(&targets)
        };
        assert_eq!(model_of(&["/dev/sdb"]), "MZ7LH960");
        // A heading names a target once.
        let mut one = target("/data");
        assert_eq!(extent(std::slice::from_ref(&one)), "1 GiB \u{b7} /data");
        one.model = None;
        assert_eq!(extent(&[one]), "1 GiB");
        assert_eq!(model_of(&["/dev/sdb", "/dev/sdc"]), "/dev/sdb, /dev/sdc");
        assert_eq!(model_of(&["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
