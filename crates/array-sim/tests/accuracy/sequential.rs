//! Sequential rows: what they are scored against.
//!
//! Parameters of streams (read-ahead, what the controller's processor costs) are
//! fitted to 1, 4 and 16 threads and judged on all other rows. The published
//! tables' threads share one position, as SQLIO's do.

use super::report::Row;
use super::rows::{Context, at_most, bundled, note};
use super::tables::{
    Scored, mean_absolute_error, mssqltips_2127_sequential, oja_nisula_2007_sequential,
};
use stripewise_array_sim::Kind;

/// Threads (or outstanding operations) to which parameters were fitted.
const FITTED_TO: [u32; 3] = [1, 4, 16];

/// Rows of the 2007 table up to here have a sign each; 128 and 256 threads repeat 64.
const SIGNS_UP_TO: u32 = 64;

/// Rows whose sign must be right, of 14.
const SIGNS_MIN: usize = 12;

/// Both tables with sequential rows.
pub(super) fn rows(context: &Context, rows: &mut Vec<Row>) {
    let group = "Oja and Nisula 2007, sequential, 3 parameters fitted to 1, 4, 16 threads";
    let scored = context.run(&bundled("oja-nisula-2007"), &oja_nisula_2007_sequential());
    for (kind, name) in [(Kind::Read, "reads"), (Kind::Write, "writes")] {
        let of_kind = judged(&scored).filter(|s| s.cell.kind == kind);
        let error = mean_absolute_error(of_kind);
        let name = format!("{name}: mean absolute error at 2, 8, 32 to 256 threads");
        rows.push(note(group, &name, format!("{error:.2} %")));
    }
    let name = "mean absolute error at 2, 8, 32 to 256 threads";
    rows.push(at_most(
        group,
        name,
        mean_absolute_error(judged(&scored)),
        15.0,
        "%",
    ));
    rows.push(signs(group, &scored));
    worst(group, &scored, rows);

    let group =
        "MSSQLTips 2127, sequential 64K reads and 8K writes, 4 parameters fitted to 1, 4, 16";
    let spec = bundled("mssqltips-2127");
    let mut scored = context.run(&spec, &mssqltips_2127_sequential(Kind::Read));
    scored.extend(context.run(&spec, &mssqltips_2127_sequential(Kind::Write)));
    let name = "mean absolute error of the other rows";
    rows.push(at_most(
        group,
        name,
        mean_absolute_error(judged(&scored)),
        15.0,
        "%",
    ));
    worst(group, &scored, rows);
}

fn judged(scored: &[Scored]) -> impl Iterator<Item = &Scored> {
    scored
        .iter()
        .filter(|scored| !FITTED_TO.contains(&scored.cell.threads))
}

/// In how many rows the better offset is the published one.
fn signs(group: &'static str, scored: &[Scored]) -> Row {
    let cells = |offset: u64| {
        scored
            .iter()
            .filter(move |s| s.cell.offset_bytes == offset && s.cell.threads <= SIGNS_UP_TO)
    };
    let pairs: Vec<_> = cells(32_256).zip(cells(65_536)).collect();
    let right = pairs
        .iter()
        .filter(|(odd, even)| {
            let published = even.cell.published - odd.cell.published;
            published * (even.predicted - odd.predicted) > 0.0
        })
        .count();
    Row {
        group,
        name: "sign of the offset's effect".to_owned(),
        value: format!("{right} of {} right", pairs.len()),
        required: format!("at least {SIGNS_MIN} of 14"),
        passed: Some(right >= SIGNS_MIN && pairs.len() == 14),
    }
}

/// The two cells that are explained least, by name.
fn worst(group: &'static str, scored: &[Scored], rows: &mut Vec<Row>) {
    let mut by_error: Vec<_> = scored.iter().collect();
    by_error.sort_by(|a, b| b.error_percent().abs().total_cmp(&a.error_percent().abs()));
    for scored in by_error.iter().take(2) {
        let cell = &scored.cell;
        let kind = if cell.kind == Kind::Read {
            "reads"
        } else {
            "writes"
        };
        let name = format!(
            "explained least: {kind} at {}, offset {} bytes",
            cell.threads, cell.offset_bytes
        );
        let value = format!(
            "{:.0} for {:.0} IOPS ({:+.1} %)",
            scored.predicted,
            cell.published,
            scored.error_percent()
        );
        rows.push(note(group, &name, value));
    }
}
