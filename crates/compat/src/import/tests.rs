//! Work grows with the length of a file and no faster; long readings can be ended.

use super::*;
use crate::work::Progress;
use std::cell::Cell;

/// A file of each format.
const FILES: [(Format, &str); 13] = [
    (
        Format::Sqlio,
        include_str!("../../tests/data/sqlio-batch-log.txt"),
    ),
    (
        Format::DiskspdText,
        include_str!("../../tests/data/diskspd.txt"),
    ),
    (
        Format::DiskspdXml,
        include_str!("../../tests/data/diskspd.xml"),
    ),
    (Format::FioJson, include_str!("../../tests/data/fio.json")),
    (
        Format::FioNormal,
        include_str!("../../tests/data/fio-normal.txt"),
    ),
    (
        Format::FioTerse,
        include_str!("../../tests/data/fio-terse-3.txt"),
    ),
    (
        Format::IometerCsv,
        include_str!("../../tests/data/iometer.csv"),
    ),
    (
        Format::VdbenchFlatfile,
        include_str!("../../tests/data/vdbench-flatfile.html"),
    ),
    (
        Format::VdbenchSummary,
        include_str!("../../tests/data/vdbench-summary.html"),
    ),
    (
        Format::ElbenchoCsv,
        include_str!("../../tests/data/elbencho.csv"),
    ),
    (
        Format::ElbenchoJson,
        include_str!("../../tests/data/elbencho.json"),
    ),
    (
        Format::CrystalDiskMark,
        include_str!("../../tests/data/crystaldiskmark.txt"),
    ),
    (
        Format::KDiskMark,
        include_str!("../../tests/data/kdiskmark.txt"),
    ),
];

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Bytes that are looked at while a text is read.
#[track_caller]
fn visited(text: &str, whole: bool, first: Format) -> u64 {
    let work = Work::new(text.len(), &go_on);
    let mut file = Import::new(text.as_bytes(), "x");
    file.whole_results = whole;
    let read = file.each_of(&work, &mut Vec::<RunRecord>::new());
    assert_eq!(read.map(|file| file.format), Ok(first));
    work.visited_bytes()
}

/// That twice as much text takes at most a little more than twice the work.
#[track_caller]
fn is_linear(of: impl Fn(usize) -> String, whole: bool, first: Format) {
    let lengths = [8, 16].map(|count| of(count).len() as f64);
    let work = [8, 16].map(|count| visited(&of(count), whole, first) as f64);
    let (longer, more) = (lengths[1] / lengths[0], work[1] / work[0]);
    assert!(
        more <= longer * 1.01,
        "{first}: {more:.2} times the work for {longer:.2} times the text"
    );
    let passes = work[1] / lengths[1];
    assert!(
        passes < 12.0,
        "{first}: looks at the text {passes:.1} times"
    );
}

#[test]
fn every_reader_is_linear() {
    for (format, text) in FILES {
        is_linear(|count| text.repeat(count), false, format);
    }
}

#[test]
fn results_of_two_tools_in_turn_are_read_in_linear_time() {
    let [(first, one), .., (_, other)] = FILES;
    let turns = |count: usize| {
        format!(
            "{}{}",
            "\n".repeat(9_000 * count),
            [one, other].concat().repeat(count)
        )
    };
    is_linear(turns, false, first);
    // One of which is not whole, so that each is looked at alone first.
    let broken = one.replacen("MBs/sec:", "MBs:", 1);
    assert_ne!(broken, one);
    is_linear(|count| turns(count) + &broken, true, first);
}

/// Counts, and remembers how much had been read when each result came.
struct Arrivals<'a> {
    work: &'a Work<'a>,
    visited: Vec<u64>,
    voids: usize,
}

impl Receiver for Arrivals<'_> {
    fn receive(&mut self, _: RunRecord) {
        self.visited.push(self.work.visited_bytes());
    }

    fn void(&mut self) {
        self.visited.clear();
        self.voids += 1;
    }
}

#[test]
fn whole_results_are_passed_on_while_they_are_read() {
    let text = FILES[0].1;
    let broken = text.replacen("MBs/sec:", "MBs:", 1);
    for (text, voids) in [(text.to_owned(), 0), (text.repeat(8) + &broken, 1)] {
        let work = Work::new(text.len(), &go_on);
        let mut arrivals = Arrivals {
            work: &work,
            visited: Vec::new(),
            voids: 0,
        };
        let file = Import::new(text.as_bytes(), "x").whole_results();
        let read = file.each_of(&work, &mut arrivals);
        let visited = arrivals.visited;
        assert!(read.is_ok() && visited.len() > 2, "{read:?}");
        assert_eq!(arrivals.voids, voids);
        let are_apart = visited.windows(2).all(|two| two[0] < two[1]);
        assert!(are_apart, "kept to the end: {visited:?}");
    }
}

#[test]
fn a_reading_ends_where_the_watch_says_so() {
    for (format, text) in FILES {
        let text = text.repeat((1 << 20) / text.len());
        let calls = Cell::new(0);
        let stop = |progress: Progress| {
            assert_eq!(progress.source_bytes, text.len() as u64);
            calls.set(calls.get() + 1);
            match calls.get() {
                2.. => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let error = Import::new(text.as_bytes(), "x")
            .watched(&stop)
            .all()
            .unwrap_err();
        assert!(error.is_interruption(), "{format}: {error}");
        assert_eq!(calls.get(), 2, "{format}");
        assert!(!error.hint().is_empty());
    }
}
