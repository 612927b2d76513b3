//! Advice as a sheet: the choice, the ranking, which factors matter, and behind it every layout,
//! effect and cell.

use super::{
    advice_charts, effect_levels, effect_name, effects_heading, factor_name, layout_words,
    level_words, reference,
};
use crate::number::{latency, rate};
use crate::sheet::{Cell, Column, Judgement, Sheet, SheetTable};
use stripewise_results::{
    AdviceCell, AdviceRecord, EffectRecord, FactorRecord, LayoutRecord, MeasuredLayout,
};
use stripewise_units::{ByteSize, capitalised, counted, format_duration};

/// Number of layouts in the short form, besides the recommended and the present one.
const LAYOUTS_SHOWN: usize = 3;

/// The answer. `effects` are sentences on which factors matter, those of the whole with `explain`,
/// which adds everything behind the answer; that is also shown if there is no ranking.
pub fn advice_sheet(record: &AdviceRecord, effects: &[String], explain: bool) -> Sheet {
    let mut sentences = record.sentences.iter();
    let answer = sentences.next().map_or("", String::as_str);
    let mut sheet = Sheet {
        title: record.title.clone(),
        subtitle: subtitle(record),
        answer: answer.trim_end_matches('.').to_owned(),
        details: sentences.cloned().collect(),
        charts: advice_charts(record),
        ..Sheet::default()
    };
    let is_whole = explain || record.layouts.is_empty();
    let shown = match is_whole {
        true => record.layouts.len(),
        false => LAYOUTS_SHOWN,
    };
    let matters = match is_whole {
        true => matters("What matters", effects),
        false => matters(&format!("What matters{}", effects_heading(record)), effects),
    };
    sheet.tables = vec![ranking(record, shown), measured(record), matters];
    if is_whole {
        let behind = [effects_table(record), cells(record), mix(record)];
        sheet.tables.push(commands(record));
        sheet.tables.extend(behind);
        sheet.notes.clone_from(&record.notes);
        if !record.not_tried.is_empty() {
            let not_tried = record.not_tried.join("; ");
            sheet.notes.push(format!("Not tried: {not_tried}."));
        }
    }
    sheet
}

fn subtitle(record: &AdviceRecord) -> String {
    match (record.layouts.is_empty(), &record.recommendation) {
        (true, Some(_)) => "by arithmetic, not measured".to_owned(),
        (true, None) => "no answer yet".to_owned(),
        (false, _) => format!(
            "{}, {:.0} % confidence{}",
            counted(record.passes as usize, "pass", "passes"),
            100.0 * record.level,
            spent_on(record)
        ),
    }
}

/// Why the confidence in the best is above that of the whole answer.
fn spent_on(record: &AdviceRecord) -> &'static str {
    let is_limited = record.limits.iter().any(|limit| !limit.is_void);
    match (record.level > 0.951, is_limited) {
        (false, _) => "",
        (true, true) => " (95 % together with the limits)",
        (true, false) => " (95 % together with the layouts dropped)",
    }
}

/// The best layouts, at most `most`, the recommended and the present one.
fn ranking(record: &AdviceRecord, most: usize) -> SheetTable {
    // A column for each factor: their names in each row would leave no room for the interval.
    let of_factor = |factor: &FactorRecord| Column::text(&capitalised(&factor_name(&factor.name)));
    let figures = [
        Column::number("Mix IOPS"),
        Column::number("Against the best"),
        Column::text("Interval").dropped(1),
        Column::text(""),
    ];
    let columns = record.factors.iter().map(of_factor).chain(figures);
    let all = record.layouts.iter().enumerate();
    let rows: Vec<Vec<Cell>> = all
        .filter(|(index, layout)| {
            let choice = record.recommendation.as_ref();
            let is_chosen = choice.is_some_and(|choice| choice.layout == layout.layout);
            *index < most || layout.is_present || is_chosen
        })
        .map(|(_, layout)| layout_row(record, layout))
        .collect();
    let hidden = record.layouts.len() - rows.len();
    let note = match hidden {
        0 => String::new(),
        _ => format!(
            "{}: --explain",
            counted(hidden, "more layout", "more layouts")
        ),
    };
    SheetTable::new("", columns, rows).with_note(note)
}

/// The measurements of each pass, if layouts cannot be judged yet.
fn measured(record: &AdviceRecord) -> SheetTable {
    let columns = [
        Column::number("Pass"),
        Column::text("Layout"),
        Column::text("Cell"),
        Column::number("IOPS"),
        Column::number("p99"),
    ];
    let of_layout = |one: &MeasuredLayout| {
        let p99s = one.latency_ns_p99.iter();
        let values = one.iops.iter().zip(p99s).zip(&record.cells);
        let row = |((iops, p99), cell): ((&f64, &Option<f64>), &AdviceCell)| {
            vec![
                Cell::from(one.pass.to_string()),
                layout_words(record, &one.layout).into(),
                cell.name.as_str().into(),
                Cell::exact(rate(*iops), *iops),
                latency(p99.map(|ns| ns.round() as u64)).into(),
            ]
        };
        values.map(row).collect::<Vec<_>>()
    };
    let rows = record.unjudged.iter().flat_map(of_layout).collect();
    SheetTable::new("Measured so far", columns, rows)
}

fn layout_row(record: &AdviceRecord, layout: &LayoutRecord) -> Vec<Cell> {
    // It is ahead of the second by this; it has no difference to itself.
    let is_reference = reference(record).is_some_and(|best| std::ptr::eq(best, layout));
    let [difference, interval] = match is_reference {
        true => [Cell::from("-"), Cell::default()],
        false => [
            Cell::exact(
                format!("{} %", signed(layout.ahead_percent)),
                layout.ahead_percent,
            ),
            Cell::estimate(
                format!(
                    "{} to {}",
                    signed(layout.ahead_percent_low),
                    high_end(layout)
                ),
                layout.ahead_percent,
                [layout.ahead_percent_low, layout.ahead_percent_high],
            ),
        ],
    };
    let level = |factor: &FactorRecord| {
        let level = layout.layout.get(&factor.name);
        Cell::from(level.map_or_else(String::new, |level| level_words(&factor.name, level)))
    };
    let levels = record.factors.iter().map(level);
    let figures = [
        Cell::exact(rate(layout.score), layout.score),
        difference,
        interval,
        remark(record, layout),
    ];
    levels.chain(figures).collect()
}

/// With one decimal; zero has no sign.
fn signed(percent: f64) -> String {
    match format!("{percent:+.1}").as_str() {
        "+0.0" | "-0.0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// The upper end of the interval. One that is shown to be behind the best is not 0 behind it.
fn high_end(layout: &LayoutRecord) -> String {
    let is_behind = layout.ahead_percent < 0.0 && layout.ahead_percent_high <= 0.0;
    match signed(layout.ahead_percent_high) {
        zero if is_behind && zero == "0" => "below 0".to_owned(),
        text => text,
    }
}

fn remark(record: &AdviceRecord, layout: &LayoutRecord) -> Cell {
    let now = if layout.is_present { "now; " } else { "" };
    let word = match (layout.among_best, &layout.breaks, layout.dropped_after) {
        (true, ..) => "may be the best".to_owned(),
        (false, Some(limit), _) => format!("breaks {limit}"),
        (false, None, Some(passes)) => format!("dropped after {passes} passes"),
        // Whatever it gains, it is never chosen.
        (false, None, None) if starts_off_page(layout) => "off 4 KiB".to_owned(),
        (false, None, None) if layout.ahead_percent_low >= -record.margin_percent => {
            format!("within {} %", record.margin_percent)
        }
        (false, None, None) => String::new(),
    };
    let text = format!("{now}{word}");
    let text = text.trim_end_matches("; ");
    match (layout.among_best, &layout.breaks) {
        (true, _) => Cell::judged(text, Judgement::Good),
        (false, Some(_)) => Cell::judged(text, Judgement::Bad),
        (false, None) => text.into(),
    }
}

/// Its partition starts inside a page of 4 KiB.
fn starts_off_page(layout: &LayoutRecord) -> bool {
    let offset = layout.layout.get("offset");
    let bytes = offset.and_then(|level| level.parse::<ByteSize>().ok());
    bytes.is_some_and(|ByteSize(bytes)| !bytes.is_multiple_of(4_096))
}

/// Which factors matter, and which do not.
fn matters(title: &str, effects: &[String]) -> SheetTable {
    let row = |sentence: &String| match sentence.split_once(": ") {
        Some((name, what)) => vec![name.to_owned(), what.to_owned()],
        None => vec![String::new(), sentence.clone()],
    };
    SheetTable::without_headings(title, effects.iter().map(row).collect())
}

/// The commands that create the layout, by operating system.
fn commands(record: &AdviceRecord) -> SheetTable {
    let commands = &record.commands;
    let is_unnamed = commands.iter().any(|one| one.line.contains("DISK"));
    let names = match is_unnamed {
        true => "; DISK stands for their names",
        false => "",
    };
    let title = format!("To make it (everything on the disks is lost{names})");
    let row = |one: &stripewise_results::CommandRecord| vec![one.place.clone(), one.line.clone()];
    SheetTable {
        are_commands: true,
        ..SheetTable::without_headings(&title, commands.iter().map(row).collect())
    }
}

fn effects_table(record: &AdviceRecord) -> SheetTable {
    let columns = [
        Column::text("Factors"),
        Column::text("Levels"),
        Column::number("Effect"),
        Column::text("Interval").dropped(1),
        Column::text("Found"),
    ];
    let row = |effect: &EffectRecord| {
        let found = match (effect.by_arithmetic, effect.found) {
            (true, _) => "by arithmetic",
            (false, true) => "yes",
            (false, false) => "not shown",
        };
        vec![
            Cell::from(effect_name(effect)),
            effect_levels(record, effect).into(),
            Cell::exact(format!("{:.2} %", effect.percent), effect.percent),
            format!("{:.2} to {:.2}", effect.low, effect.high).into(),
            found.into(),
        ]
    };
    let rows = record.effects.iter().map(row).collect();
    let title = format!("Main effects and interactions{}", effects_heading(record));
    SheetTable::new(&title, columns, rows)
}

/// Rates and latencies of every cell on every layout.
fn cells(record: &AdviceRecord) -> SheetTable {
    let columns = [
        Column::text("Layout"),
        Column::text("Cell"),
        Column::number("IOPS"),
        Column::number("p99"),
    ];
    let of_layout = |(index, layout): (usize, &LayoutRecord)| {
        let words = layout_words(record, &layout.layout);
        let row = |cell: &AdviceCell| {
            let value = |all: &[Option<f64>]| all.get(index).copied().flatten();
            let iops = value(&cell.iops);
            let p99 = value(&cell.latency_ns_p99);
            vec![
                Cell::from(words.as_str()),
                cell.name.as_str().into(),
                iops.map_or_else(Cell::default, |iops| Cell::exact(rate(iops), iops)),
                latency(p99.map(|ns| ns.round() as u64)).into(),
            ]
        };
        record.cells.iter().map(row).collect::<Vec<_>>()
    };
    let layouts = record.layouts.iter().enumerate();
    SheetTable::new("Cells", columns, layouts.flat_map(of_layout).collect())
}

/// The parts of the mix.
fn mix(record: &AdviceRecord) -> SheetTable {
    let columns = [
        Column::text("Cell"),
        Column::text("What"),
        Column::number("Share"),
        Column::text("Basis"),
        Column::text("Limit on p99"),
    ];
    let row = |cell: &AdviceCell| {
        let limit = record.limits.iter().find(|limit| limit.cell == cell.name);
        let (share, basis) = match (cell.share_percent > 0.0, cell.assumed) {
            (false, _) => (String::new(), "a limit only"),
            (true, true) => (format!("{:.0} %", cell.share_percent), "assumed"),
            (true, false) => (format!("{:.0} %", cell.share_percent), "given"),
        };
        vec![
            cell.name.clone(),
            cell.what.clone(),
            share,
            basis.to_owned(),
            limit.map_or_else(String::new, |limit| format_duration(limit.p99_ns)),
        ]
    };
    SheetTable::new("The mix", columns, record.cells.iter().map(row).collect())
}
