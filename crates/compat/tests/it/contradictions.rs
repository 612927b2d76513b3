//! Results whose numbers contradict each other, or that were cut off: what is refused,
//! and what is only rounded.

use super::tools::{DISKSPD_TEXT, DISKSPD_XML, FIO, read};
use stripewise_compat::{ImportedFile, import};

/// A text of DiskSpd without its last `lines` lines.
fn cut_lines(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[..all.len() - lines].join("\n")
}

#[test]
fn results_of_fio_that_contradict_themselves_are_refused() {
    for (from, to, reason) in [
        ("\"iops\": 4000.0", "\"iops\": 400.0", "400 operations"),
        ("\"iops\": 4000.0", "\"iops\": 4400.0", "are 4000"),
        (
            "\"iops\": 0.0",
            "\"iops\": 70.0",
            "70 operations of its writes",
        ),
        ("\"total_ios\": 24000", "\"total_ios\": 2400", "are 400"),
        (
            "\"bw_bytes\": 32768000",
            "\"bw_bytes\": 3276800",
            "3276800 bytes",
        ),
        ("\"runtime\": 6000", "\"runtime\": 600", "in 600 ms"),
        ("\"runtime\": 6000", "\"runtime\": 0", "in 0 ms"),
        ("\"mean\": 250123.5", "\"mean\": 9250123.5", "not in order"),
        ("\"mean\": 250123.5", "\"mean\": 123.5", "not in order"),
        ("\"50.000000\": 2", "\"50.000000\": 5", "at 90 percent"),
        ("\"99.900000\": ", "\"99.900000\": 99", "above its max"),
    ] {
        assert!(FIO.contains(from), "{from}");
        let broken = FIO.replacen(from, to, 1);
        let error = import(broken.as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
    let old = include_str!("../data/fio-2.2.10.json");
    for (from, to, reason) in [
        ("\"bw\": 32000", "\"bw\": 3200", "bytes of its reads"),
        ("\"max\": 90000,", "\"max\": 400,", "not in order"),
    ] {
        assert!(old.contains(from), "{from}");
        let error = import(old.replacen(from, to, 1).as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
}

#[test]
fn rates_of_fio_that_nothing_has_are_refused_whatever_they_follow_from() {
    // Without a time nothing else speaks against it.
    let untimed = FIO.replace("\"runtime\": 6000", "\"x\": 6000");
    for (from, to) in [
        ("\"iops\": 4000.0", "\"iops\": 1e308"),
        ("\"bw_bytes\": 32768000", "\"bw_bytes\": 1e300"),
    ] {
        assert!(untimed.contains(from), "{from}");
        for text in [&untimed, FIO] {
            let error = import(text.replacen(from, to, 1).as_bytes(), "x").unwrap_err();
            assert!(error.to_string().contains("which no device has"), "{error}");
        }
    }
}

#[test]
fn what_fio_rounds_is_no_contradiction() {
    for (from, to) in [
        ("\"iops\": 4000.0", "\"iops\": 4000"),
        ("\"iops\": 4000.0", "\"iops\": 3921.5"),
        ("\"bw_bytes\": 32768000", "\"bw_bytes\": 32767500"),
        ("\"runtime\": 6000", "\"runtime\": 6001"),
        // A percentile is the middle of a bucket, which may lie above the maximum.
        ("\"max\": 9000000", "\"max\": 2960000"),
    ] {
        assert!(FIO.contains(from), "{from}");
        assert_eq!(read(&FIO.replacen(from, to, 1)).runs.len(), 2, "{to}");
    }
}

#[test]
fn diskspd_text_is_never_complete_where_it_was_cut() {
    for text in [
        DISKSPD_TEXT,
        include_str!("../data/diskspd-2.0.12.txt"),
        include_str!("../data/diskspd-2.0.21.txt"),
    ] {
        let begin = text.find("Total IO").unwrap();
        let end = text.trim_end().len();
        for length in (begin..end).step_by(13).chain(end - 60..end) {
            let cut = import(&text.as_bytes()[..length], "x");
            let shown = &text[length.saturating_sub(40)..length];
            assert!(cut.is_err(), "taken as complete: ...{shown:?}");
        }
    }
    // Without -L the tables are all there is: the last number that is used is whole.
    let text = cut_lines(include_str!("../data/diskspd-2.2.txt"), 16);
    assert!(text.trim_end().ends_with("0.00"), "{text}");
    let text = text.trim_end();
    import(text.as_bytes(), "x").unwrap();
    for cut in 1..8 {
        let error = import(&text.as_bytes()[..text.len() - 8 - cut], "x").unwrap_err();
        assert!(error.to_string().contains("truncated"), "{error}");
    }
}

#[test]
fn results_of_diskspd_that_contradict_themselves_are_refused() {
    for (from, to, reason) in [
        (
            "|    2000.00 |   16",
            "|      17.28 |   16",
            "17.28 I/O per s",
        ),
        (
            "|      31.25 |    2000.00 |   16",
            "|      3.25 |    2000.00 |   16",
            "3.25 MiB/s",
        ),
        (
            "|        42000 |      21.88 |    1400.00 |   18.000 |     9.500\n",
            "|        41000 |      21.88 |    1400.00 |   18.000 |     9.500\n",
            "not the sum",
        ),
        (
            "max |     90.125 |     70.500 |     90.125",
            "max |     90.125 |     70.500 |      9.125",
            "longest latency",
        ),
        ("50th |     17.000", "50th |     97.000", "a smaller one"),
        ("30.00s", "0.00s", "0 seconds"),
        (
            "2000.00 |   16.000 |     9.100\n",
            "2000.00 |   16.000\n",
            "for each column",
        ),
    ] {
        assert!(DISKSPD_TEXT.contains(from), "{from}");
        let broken = DISKSPD_TEXT.replace(from, to);
        let error = import(broken.as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
    let broken = DISKSPD_XML.replace("<AverageWriteMilliseconds>", "<AverageWriteMilliseconds>9");
    assert_ne!(broken, DISKSPD_XML);
    let error = import(broken.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("mean write latency"), "{error}");
}

#[test]
fn counts_of_threads_and_blocks_must_agree_with_what_is_said_of_all() {
    for (from, to, reason) in [
        // A thread's row that was changed, or cut out next to another one.
        (
            "60000 |      31.25 |    2000.00 |   16.000 |     9.100 | E:",
            "50000 |      31.25 |    2000.00 |   16.000 |     9.100 | E:",
            "sum of the rows",
        ),
        (
            "\n     0 |       294912000 |        18000",
            "\n     1 |               0 |            0",
            "sum of the rows",
        ),
        ("block size: 16384", "block size: 8192", "of the block size"),
    ] {
        assert!(DISKSPD_TEXT.contains(from), "{from}");
        let error = import(DISKSPD_TEXT.replacen(from, to, 1).as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
    for (from, to, reason) in [
        ("<IOCount>50000", "<IOCount>50", "sum of its ReadCount"),
        (
            "<BytesCount>409600000",
            "<BytesCount>4096",
            "sum of its ReadBytes",
        ),
        ("<BlockSize>8192", "<BlockSize>4096", "of the block size"),
    ] {
        assert!(DISKSPD_XML.contains(from), "{from}");
        let error = import(DISKSPD_XML.replacen(from, to, 1).as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
}

#[test]
fn time_spans_that_were_asked_for_and_are_missing_are_named() {
    let text = include_str!("../data/diskspd-2.2.txt");
    let whole = read(text);
    let cut = &text[..text.find("Results for timespan 2").unwrap()];
    let file = read(cut);
    assert_eq!((file.runs.len(), whole.runs.len()), (1, 1));
    let expected_text = |file: &ImportedFile| {
        let mut notes = file.notes.iter().map(ToString::to_string);
        notes.any(|note| note.contains("asks for 2 time spans and has results of 1"))
    };
    assert!(
        expected_text(&file) && !expected_text(&whole),
        "{:?}",
        file.notes
    );
    // The same where another output follows.
    assert!(expected_text(&read(&format!("{cut}\n{DISKSPD_TEXT}"))));
    let position = DISKSPD_XML.find("    <TimeSpans>").unwrap() + "    <TimeSpans>".len();
    let more = format!(
        "{}<TimeSpan></TimeSpan>{}",
        &DISKSPD_XML[..position],
        &DISKSPD_XML[position..]
    );
    let error = import(more.as_bytes(), "x").unwrap_err();
    assert!(
        error.to_string().contains("asks for 2 time spans"),
        "{error}"
    );
}
