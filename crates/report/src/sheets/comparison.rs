//! Comparisons: what became better or worse first, then a table for each pair, or one with
//! several subjects one below the other.

use super::{cautions, title};
use crate::comparison::{
    are_twins, cells_of, columns_of, columns_of_subjects, follows, heads_columns, legend, means,
    metric_name, rows_of_subjects, short_sides,
};
use crate::difference::{has_ends, in_words};
use crate::sheet::{Judgement, Sheet, SheetTable};
use crate::warning_summary::Marks;
use crate::words::{gravest_first, requirement_line, verdict_on};
use stripewise_results::{ComparisonRecord, Document, RequirementRecord, RunRecord, Verdict};
use stripewise_units::{capitalised, counted, distinct};

/// The sheet of comparisons, with the warnings of `runs` that were made for them. Sentences and
/// notes that several share appear once.
pub fn comparison_sheet(records: &[ComparisonRecord], runs: &[RunRecord], explain: bool) -> Sheet {
    let mut sheet = Sheet {
        title: title::title(runs),
        tables: comparison_tables(records),
        verdict: overall(records).map(verdict),
        answer: in_words(records).unwrap_or_default(),
        ..Sheet::default()
    };
    let about = match records {
        [record] => {
            let tables = sheet.tables.iter_mut();
            tables.for_each(|table| table.title.clear());
            // Who is better is in the title, or here.
            let is_stated = record.title.contains(" against ") || sheet.answer.is_empty();
            if !is_stated && record.verdict != Verdict::Undecided {
                sheet.answer = format!("{}, {}", sheet.answer, subjects(records));
            }
            record.title.clone()
        }
        _ => subjects(records),
    };
    let is_named = about.ends_with(&format!(" on {}", sheet.title));
    match sheet.title.is_empty() || is_named {
        true => sheet.title = about,
        false => sheet.subtitle = about,
    }
    // Sentences on the answers of benches are about one row each, and repeat it.
    let is_of_benches = records.iter().take(1).any(|record| {
        let mut rows = record.rows.iter();
        records.len() > 1 && rows.all(|row| row.threads.is_none() && has_ends(row))
    });
    for record in records {
        let sentences = record.sentences.iter().enumerate();
        let shown = sentences.filter(|(index, one)| match is_of_benches {
            // Runs left out of an answer do not appear in any cell of the row.
            true => leaves_runs_out(record, *index),
            false => !is_of_the_row(record, one),
        });
        for (_, sentence) in shown {
            add_new(&mut sheet.details, sentence.clone());
        }
    }
    // What a note says of a table is not said without it.
    let is_shown = |record: &&ComparisonRecord| explain || !is_detail(record, records);
    for record in records.iter().filter(is_shown) {
        // Ids are as short as in the headings.
        let [a, b] = short_sides(record);
        for note in &record.notes {
            let note = note.replace(&record.a.name, a).replace(&record.b.name, b);
            add_new(&mut sheet.notes, format!("note: {note}"));
        }
    }
    if explain {
        for table in &mut sheet.tables {
            table.is_detail = false;
        }
        sheet
            .tables
            .push(cautions::explanations(runs, &Marks::NONE));
    } else {
        let hidden = sheet.tables.iter().filter(|table| table.is_detail).count();
        if hidden > 0 {
            let more = counted(hidden, "more table", "more tables");
            sheet.notes.insert(0, format!("{more}: --explain"));
        }
        sheet.cautions = cautions::cautions(&Document::new(runs.to_vec()), &Marks::NONE, false);
    }
    sheet
}

/// The same, preceded by the requirements on the runs.
pub fn checked_sheet(
    records: &[ComparisonRecord],
    required: &[RequirementRecord],
    runs: &[RunRecord],
    explain: bool,
) -> Sheet {
    let mut sheet = comparison_sheet(records, runs, explain);
    let lines = gravest_first(required).into_iter().map(requirement_line);
    sheet.details.splice(0..0, lines);
    // A missed requirement matters as much as a change.
    let found = verdict_on(required).filter(|(found, _)| match (&sheet.verdict, found) {
        (None, _) => true,
        (Some((Judgement::Bad, _)), Judgement::Open) | (_, Judgement::Good) => false,
        _ => true,
    });
    if let Some(found) = found {
        let before = sheet.verdict.replace(found);
        let answer = std::mem::take(&mut sheet.answer);
        let change = before.map(|(_, word)| match answer.is_empty() {
            true => word,
            false => format!("{word}: {answer}"),
        });
        sheet.details.splice(0..0, change);
    }
    sheet
}

/// The sentence is about the only row, whose change is the answer.
fn is_of_the_row(record: &ComparisonRecord, sentence: &str) -> bool {
    matches!(record.rows.as_slice(), [row] if row.sentence.as_deref() == Some(sentence))
}

/// The sentence of this index is about a row of which an answer leaves slow runs out.
fn leaves_runs_out(record: &ComparisonRecord, index: usize) -> bool {
    let row = record.rows.get(index);
    let row = row.filter(|_| record.sentences.len() == record.rows.len());
    let answers = row.and_then(|row| row.answers);
    answers.is_some_and(|both| both.iter().any(|one| one.leaves_slow_runs_out))
}

fn add_new(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}

/// What is held against what.
pub(crate) fn subjects(records: &[ComparisonRecord]) -> String {
    let names = |of: fn(&ComparisonRecord) -> &str| distinct(records.iter().map(of));
    let [a, b] = [names(|one| &one.a.name), names(|one| &one.b.name)];
    match (a.as_slice(), b.as_slice()) {
        ([a], [b]) => format!("{b} against {a}"),
        ([a], several) => format!("{} against {a}", several.join(", ")),
        _ => String::new(),
    }
}

/// Several subjects compared with the same one are in one table; otherwise each pair has a table,
/// and two metrics of the same two sides are one.
pub(crate) fn comparison_tables(records: &[ComparisonRecord]) -> Vec<SheetTable> {
    if has_subjects(records) {
        return of_subjects(records);
    }
    let all: Vec<&ComparisonRecord> = records.iter().collect();
    let mut tables: Vec<SheetTable> = Vec::new();
    let mut at = 0;
    while let Some(record) = records.get(at) {
        let twin = records.get(at + 1).filter(|next| are_twins(record, next));
        let is_alike = |other: &ComparisonRecord| other.title == record.title;
        let is_alone = records.iter().filter(|other| is_alike(other)).count() == 1;
        let short = title_with(record, short_sides(record));
        let title = match (is_alone || twin.is_some(), record.rows.first()) {
            (false, Some(row)) => format!("{short}: {}", metric_name(&row.metric)),
            _ => short,
        };
        let mut notes = Vec::new();
        let means = means(record);
        if !means.is_empty() && !follows(record, &all) {
            notes.push(means);
        }
        notes.push(legend(record.rows.iter()));
        notes.retain(|note| !note.is_empty());
        // Names too long for a column heading are given once.
        let is_same = |other: &ComparisonRecord| {
            (&other.a.name, &other.b.name) == (&record.a.name, &record.b.name)
        };
        if !heads_columns(record) && !records[..at].iter().any(is_same) {
            notes.push(format!("A is {}, B is {}.", record.a.name, record.b.name));
        }
        let mut table = SheetTable::new(
            &capitalised(&title),
            columns_of(record, twin),
            cells_of(record, twin),
        );
        table.note = notes.join(" ");
        table.is_detail = is_detail(record, records);
        tables.push(table);
        at += 1 + usize::from(twin.is_some());
    }
    tables
}

/// Several subjects are compared with the same one.
fn has_subjects(records: &[ComparisonRecord]) -> bool {
    let Some(first) = records.first() else {
        return false;
    };
    let has_one_reference = records.iter().all(|one| one.a.name == first.a.name);
    has_one_reference && records.iter().any(|one| one.b.name != first.b.name)
}

/// The table is left out without `--explain`: single values, beside rows that can be judged, only
/// show that they differ.
fn is_detail(record: &ComparisonRecord, records: &[ComparisonRecord]) -> bool {
    let mut first = records.iter().take(1).flat_map(|one| &one.rows);
    let mut rows = record.rows.iter();
    !has_subjects(records)
        && first.any(has_ends)
        && !rows.any(|row| has_ends(row) || !row.void.is_empty())
}

/// The title with other names for A and B. Only its end, `B against A`, names them: a label such as
/// `c` is also a letter of the other words.
fn title_with(record: &ComparisonRecord, [a, b]: [&str; 2]) -> String {
    let before = record.title.strip_suffix(record.a.name.as_str());
    let Some(before) = before.and_then(|rest| rest.strip_suffix(" against ")) else {
        return record.title.clone();
    };
    match before.strip_suffix(record.b.name.as_str()) {
        Some(what) => format!("{what}{b} against {a}"),
        None => format!("{before} against {a}"),
    }
}

/// A table for each question that applies to every subject.
fn of_subjects(records: &[ComparisonRecord]) -> Vec<SheetTable> {
    let mut groups: Vec<(String, Vec<&ComparisonRecord>)> = Vec::new();
    for record in records {
        let metric = record.rows.first().map_or("", |row| row.metric.as_str());
        // The title names the subject, which is what differs.
        let requested = title_with(record, [&record.a.name, "each"]);
        let requested = match metric_name(metric) {
            name if requested.contains(name) => requested,
            name => format!("{requested}: {name}"),
        };
        match groups.iter_mut().find(|(known, _)| *known == requested) {
            Some((_, group)) => group.push(record),
            None => groups.push((requested, vec![record])),
        }
    }
    let table = |(requested, group): &(String, Vec<&ComparisonRecord>)| {
        SheetTable::new(
            &capitalised(requested),
            columns_of_subjects(group),
            rows_of_subjects(group),
        )
        .with_note(legend(group.iter().flat_map(|record| &record.rows)))
    };
    groups.iter().map(table).collect()
}

/// The overall verdict: what is undecided about one subject is not decided by the others.
fn overall(records: &[ComparisonRecord]) -> Option<Verdict> {
    let subjects = distinct(records.iter().map(|one| one.b.name.as_str()));
    let of_each = subjects.iter().filter_map(|name| {
        let own = records.iter().filter(|one| one.b.name == *name);
        of_subject(own.map(|one| one.verdict))
    });
    let of_each: Vec<Verdict> = of_each.collect();
    match of_each.as_slice() {
        [] => None,
        all if all.contains(&Verdict::Mixed) => Some(Verdict::Mixed),
        all => Some(Verdict::over_all(all.iter().copied())),
    }
}

/// The verdict of several tables about one subject.
fn of_subject(mut all: impl Iterator<Item = Verdict>) -> Option<Verdict> {
    let first = all.next()?;
    let both = |one: Verdict, other: Verdict| match (one, other) {
        (one, other) if one == other => one,
        (Verdict::Mixed, _) | (_, Verdict::Mixed) => Verdict::Mixed,
        (Verdict::Better, Verdict::Worse) | (Verdict::Worse, Verdict::Better) => Verdict::Mixed,
        (found @ (Verdict::Better | Verdict::Worse), _)
        | (_, found @ (Verdict::Better | Verdict::Worse)) => found,
        // No finding, although one was possible in some of them.
        (Verdict::NoDifference | Verdict::Undecided, _) => Verdict::NoDifference,
    };
    Some(all.fold(first, both))
}

fn verdict(verdict: Verdict) -> (Judgement, String) {
    let (judgement, word) = match verdict {
        Verdict::Better => (Judgement::Good, "Better"),
        Verdict::Worse => (Judgement::Bad, "Worse"),
        Verdict::Mixed => (Judgement::Open, "Mixed"),
        Verdict::NoDifference => (Judgement::Good, "No difference found"),
        Verdict::Undecided => (Judgement::Open, "Undecided"),
    };
    (judgement, word.to_owned())
}
