use super::*;
use crate::sheet::Column;

fn bench() -> Sheet {
    let columns = [
        Column::text("Load"),
        Column::number("Block").dropped(2),
        Column::number("p99 < 5 ms"),
        Column::number("Ceiling").dropped(1),
        Column::text("Verdict"),
    ];
    let row = |cells: [&str; 4], verdict: Cell| -> Vec<Cell> {
        let cells = cells.into_iter().map(Cell::from);
        cells.chain([verdict]).collect()
    };
    let rows = vec![
        row(
            ["Random read", "8 KiB", "48,900 IOPS", "49,000"],
            Cell::judged("ok", Judgement::Good),
        ),
        row(
            ["Log", "8 KiB", "", ""],
            Cell::judged("missed (7.1 ms at 1)", Judgement::Bad),
        ),
    ];
    Sheet {
        title: "/data".to_owned(),
        subtitle: "ext4 on vda, test file 1 GiB, direct, 40 s".to_owned(),
        tables: vec![
            SheetTable::new("", columns, rows),
            SheetTable::new("Ladder", ["Thr"], vec![vec!["1"]]).as_detail(),
        ],
        cautions: vec![
            Caution {
                code: "cpu-bound".to_owned(),
                ..Caution::own(Severity::Warning, "processors 100 % busy", "all runs")
            },
            Caution::own(Severity::Note, "one run per number", ""),
        ],
        pointers: vec![("Report".to_owned(), "/tmp/x.html".to_owned())],
        ..Sheet::default()
    }
}

#[test]
fn a_sheet_is_aligned_and_details_are_left_out() {
    assert_eq!(
        sheet_text(&bench(), 80),
        "\
/data  ext4 on vda, test file 1 GiB, direct, 40 s

Load         Block   p99 < 5 ms  Ceiling  Verdict
Random read  8 KiB  48,900 IOPS   49,000  ok
Log          8 KiB                        missed (7.1 ms at 1)

Read with care
  ! processors 100 % busy  all runs  [cpu-bound]
  - one run per number

Report  /tmp/x.html
"
    );
}

#[test]
fn a_narrow_terminal_loses_columns_by_their_order_and_then_wraps_words() {
    assert_eq!(
        sheet_text(&bench(), 40),
        "\
/data
  ext4 on vda, test file 1 GiB, direct,
  40 s

Load         p99 < 5 ms Verdict
Random read 48,900 IOPS ok
Log                     missed (7.1 ms
                        at 1)
  No room for: Block, Ceiling; shown at
  a width of 58

Read with care
  ! processors 100 % busy (all runs)
  - one run per number

Report  /tmp/x.html
"
    );
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let word = "a".repeat(90);
    let mut sheet = bench();
    sheet.answer = "word ".repeat(60);
    sheet.details = vec!["word ".repeat(40), word.clone()];
    sheet.findings = vec![
        ("name".to_owned(), "word ".repeat(40)),
        ("数据".to_owned(), word.clone()),
    ];
    sheet.title.clone_from(&word);
    sheet.tables.push(SheetTable::without_headings(
        "Notes",
        vec![vec!["word ".repeat(40)], vec![word]],
    ));
    sheet.cautions[0].text = "数据 ".repeat(60);
    for width in [50, 80, 100, 160] {
        let text = sheet_text(&sheet, width);
        let longest = text.lines().map(UnicodeWidthStr::width).max();
        assert!(longest <= Some(width), "{width}: {text}");
        assert_eq!(text.matches("数据").count(), 61, "{text}");
    }
}

#[test]
fn a_number_is_never_cut_however_narrow_the_terminal_is() {
    let interval = "+11.02 (10.33..11.52)";
    let path = format!("/data/{}", "a".repeat(40));
    let columns = ["Target", "Rate", "Change", "Limit"].map(Column::text);
    let cells = [&path, "460.25 MiB/s", interval, "iops>=20000000"];
    let mut sheet = bench();
    sheet.title = format!("{} 123,456.75 MiB/s", "a".repeat(90));
    sheet.tables = vec![SheetTable::new("", columns, vec![cells.to_vec()])];
    sheet.findings = vec![("rate of every replica".to_owned(), cells[1].to_owned())];
    for width in 20..=80 {
        let text = sheet_text(&sheet, width);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, left_out) = words.split_once("No room for: ").unwrap_or(("", ""));
        let (left_out, _) = left_out.split_once(';').unwrap_or(("", ""));
        for (heading, number) in [("Change", "(10.33..11.52)"), ("Limit", cells[3])] {
            let is_left_out = left_out.contains(heading);
            assert_eq!(text.contains(number), !is_left_out, "{width}: {text}");
        }
        assert_eq!(left_out.is_empty(), width >= 67, "{width}: {text}");
        for number in ["460.25 MiB/s", "123,456.75 MiB/s"] {
            assert!(text.contains(number), "{width}: {text}");
        }
        // Only the names are shortened.
        assert_eq!(text.matches('\u{2026}').count(), 2, "{width}: {text}");
    }
}

/// Short numbers below long headings.
#[test]
fn headings_of_numbers_are_wrapped_before_a_column_is_left_out() {
    let columns = [
        Column::text("method"),
        Column::number("1 at once"),
        Column::number("64 in a group").dropped_late(1),
    ];
    let rows = vec![vec!["fdatasync", "3,821", "3,945"]];
    let table = SheetTable::new("", columns, rows);
    let text = |width| table_text(&table, width, &|_, text| text.to_owned());
    assert_eq!(
        text(24),
        "method        1 at 64 in\n              once     a\n                   group\nfdatasync    3,821 3,945\n"
    );
    assert_eq!(
        text(20),
        "method     1 at once\nfdatasync      3,821\n  No room for: 64 in\n  a group; shown at\n  a width of 33\n"
    );
}

#[test]
fn columns_of_one_name_are_named_once_where_there_is_no_room_for_them() {
    let columns = [
        Column::text("load"),
        Column::number("p50").dropped(1),
        Column::number("p50").dropped(1),
    ];
    let rows = vec![vec!["random", "1,234.56", "6,543.21"]];
    let table = SheetTable::new("", columns, rows);
    let text = table_text(&table, 9, &|_, text| text.to_owned());
    assert_eq!(text.matches("p50").count(), 1, "{text}");
}

/// The names of rows give way first, then numbers stand below each other, then a column that may
/// go goes; the compared values always show.
#[test]
fn numbers_that_are_compared_are_wrapped_before_one_of_them_is_left_out() {
    let columns = [
        Column::text("Measured"),
        Column::number("A").wrapped(),
        Column::number("B").wrapped(),
        Column::text("Verdict").dropped_late(1),
    ];
    let a = "375 IOPS (370 IOPS to 380 IOPS)";
    let b = "6.61 IOPS (6.13 IOPS to 7.04 IOPS)";
    let rows = vec![vec!["commits-per-second, IOPS (no limit)", a, b, "met"]];
    let table = SheetTable::new("", columns, rows);
    for width in [42, 50, 60, 80, 100] {
        let text = table_text(&table, width, &|_, text| text.to_owned());
        let longest = text.lines().map(UnicodeWidthStr::width).max();
        assert!(longest <= Some(width), "{width}: {text}");
        assert_eq!(text.contains(a) && text.contains(b), width > 90, "{text}");
        assert_eq!(text.contains("No room for: Verdict;"), width < 48, "{text}");
        for number in [
            "375 IOPS",
            "(370 IOPS",
            "380 IOPS)",
            "6.61 IOPS",
            "7.04 IOPS)",
        ] {
            assert!(text.contains(number), "{width}: {text}");
        }
    }
}

#[test]
fn verdicts_cells_and_marks_are_set_off() {
    let mut sheet = bench();
    sheet.verdict = Some((Judgement::Bad, "Missed".to_owned()));
    sheet.answer = "two of five".to_owned();
    let paint = |emphasis: Emphasis, text: &str| format!("<{emphasis:?}>{text}</>");
    let text = sheet_text_painted(&sheet, 80, &paint);
    for part in [
        "<Strong>/data</>  ext4",
        "<Bad>Missed</>: two of five\n",
        "<Good>ok</>\n",
        "<Bad>missed (7.1 ms at 1)</>\n",
        "  <Care>!</> processors",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_line_of_what_was_stopped_says_how_to_go_on() {
    let go_on = |command: &str| vec![crate::go_on_by(command)];
    assert_eq!(
        marked_to_go_on(
            "Half of it.",
            "1a2b",
            &go_on("stripewise limits --resume 1a2b")
        ),
        "Half of it; go on: stripewise limits --resume 1a2b [1a2b]"
    );
    let again = [crate::again("1a2b")];
    assert_eq!(marked_to_go_on("All.", "1a2b", &again), "All. [1a2b]");
}

#[test]
fn a_line_has_the_answer_or_what_was_found() {
    let mut sheet = bench();
    sheet.findings = vec![
        ("stripe unit".to_owned(), "64K".to_owned()),
        (String::new(), "(by reads)".to_owned()),
    ];
    let cpu_bound = "/data: stripe unit 64K; (by reads); warning: cpu-bound";
    assert_eq!(sheet_line(&sheet), cpu_bound);
    let named = |severity, code: &str| Caution {
        code: code.to_owned(),
        ..Caution::own(severity, "a text", "")
    };
    sheet.cautions = vec![
        named(Severity::Warning, "durable-too-fast"),
        named(Severity::Warning, "durable-too-fast"),
        named(Severity::Note, "few-for-p999"),
        Caution::own(Severity::Warning, "without a name", ""),
    ];
    let line = sheet_line(&sheet);
    assert!(
        line.ends_with("(by reads); warning: durable-too-fast"),
        "{line}"
    );
    sheet.cautions.clear();
    sheet.verdict = Some((Judgement::Bad, "Faults".to_owned()));
    sheet.answer = "1 torn".to_owned();
    assert_eq!(sheet_line(&sheet), "/data: Faults: 1 torn");
}

#[test]
fn a_copied_command_runs() {
    let line =
        "mdadm --create /dev/md0 --level=10 --raid-devices=4 --chunk=64K /dev/DISK1 /dev/DISK2";
    let rows = [("linux", line), ("linux", "mkfs"), ("windows", "format X:")];
    let rows = rows.map(|(place, line)| vec![place, line]).to_vec();
    let table = SheetTable {
        are_commands: true,
        ..SheetTable::without_headings("To make it", rows)
    };
    assert_eq!(
        table_text(&table, 40, &|_, text| text.to_owned()),
        format!("To make it\nlinux\n  {line}\n  mkfs\nwindows\n  format X:\n")
    );
}

#[test]
fn names_of_others_make_no_rows_and_no_lines() {
    let row = |label: &str| vec!["1".to_owned(), label.to_owned()];
    let sheet = Sheet {
        title: "/data\nFORGED".to_owned(),
        subtitle: "a\nb".to_owned(),
        tables: vec![SheetTable::new(
            "",
            ["Run", "Label"],
            vec![row("x\n2    FORGED\ty"), row("plain")],
        )],
        ..Sheet::default()
    };
    let text = sheet_text(&sheet, 100);
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.contains("/data\u{fffd}FORGED  a\u{fffd}b\n"), "{text}");
    assert!(text.contains("x\u{fffd}2    FORGED\u{fffd}y\n"), "{text}");
}
