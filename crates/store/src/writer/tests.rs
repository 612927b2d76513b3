//! The queue is bounded, measuring never waits, and nothing is lost.

use super::*;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use stripewise_stats::Histogram;

const MOST: usize = 16;

/// Writes only when it is let: each word lets one batch through. A disk that hangs.
struct Slow {
    words: Receiver<()>,
    written: Vec<PendingInterval>,
    flushes: u32,
    fails: bool,
}

/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

impl Sink for Slow {
    fn begin(&mut self, _first: &First) -> Result<()> {
        Ok(())
    }

    fn append(&mut self, intervals: Vec<PendingInterval>) -> Result<()> {
        // When the sender is gone, the disk works again.
        let _ = self.words.recv();
        self.written.extend(intervals);
        match self.fails {
            true => Err(Error::new(
                std::path::Path::new("store.db"),
                "add intervals",
                crate::ErrorKind::Full,
            )),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.flushes += 1;
        Ok(())
    }

    fn finish(&mut self, last: Last) -> Result<String> {
        let _ = self.words.recv();
        Ok(last.record.id)
    }

    fn joined(&self) -> u64 {
        0
    }
}

/// Its thread ends, and gives back what it wrote to.
fn end(writer: Writer<Slow>) -> Slow {
    writer.end(None);
    writer.close(LONG).expect("it ends").0
}

fn slow(fails: bool) -> (std::sync::mpsc::Sender<()>, Slow) {
    let (sender, words) = channel();
    let sink = Slow {
        words,
        written: Vec::new(),
        flushes: 0,
        fails,
    };
    (sender, sink)
}

fn started(sink: Slow, when_full: WhenFull) -> Writer<Slow> {
    let started = Writer::start(sink, when_full, MOST);
    started.map_err(|(_, error)| error).expect("a thread")
}

fn opened(path: &std::path::Path) -> Store {
    Store::open(path, crate::Owner::of_this_process("here")).unwrap()
}

fn append(writer: &Writer<Slow>, job_index: usize, index: u64) {
    let mut read = Histogram::new();
    read.record_n(1_000 + index, 10);
    let interval = Interval {
        start_ns: index * 1_000,
        duration_ns: 1_000,
        read_operations: 10,
        bytes: 80,
        errors: 1,
        ..Interval::default()
    };
    let latencies = IntervalHistograms {
        read: Some(&read),
        ..IntervalHistograms::default()
    };
    writer.append(job_index, &interval, latencies);
}

#[test]
fn a_store_that_hangs_stops_nobody_and_its_queue_stays_bounded() {
    const INTERVALS: u64 = 1_000;
    let (word, sink) = slow(false);
    let sink = {
        let writer = started(sink, WhenFull::Join);
        // The disk hangs from the first batch on: this comes to its end all the same.
        for index in 0..INTERVALS {
            for job in 0..2 {
                append(&writer, job, index);
                assert!(writer.shared.lock().queue.waiting.len() <= MOST);
            }
        }
        assert!(writer.joined() > 2 * INTERVALS - 100, "{}", writer.joined());
        // Nor does what comes after it wait for ever.
        assert!(!writer.flush(Duration::from_millis(1)));
        drop(word);
        assert!(writer.flush(LONG));
        assert_eq!(writer.shared.lock().queue.waiting.len(), 0);
        end(writer)
    };
    assert!((1..=2).contains(&sink.flushes), "{}", sink.flushes);
    for job in 0..2 {
        let of_job = sink
            .written
            .iter()
            .filter(|written| written.job_index == job);
        let all: Vec<StoredInterval> = of_job.map(PendingInterval::stored).collect();
        // No operation, error, byte or latency is lost, and there is no gap.
        let mut end_ns = 0;
        let mut read = Histogram::new();
        for stored in &all {
            assert_eq!(stored.interval.start_ns, end_ns, "job {job}");
            end_ns += stored.interval.duration_ns;
            read.merge(stored.histograms.read.as_ref().unwrap());
        }
        assert_eq!(end_ns, INTERVALS * 1_000);
        let sum = |of: fn(&Interval) -> u64| all.iter().map(|one| of(&one.interval)).sum::<u64>();
        assert_eq!(sum(|one| one.read_operations), INTERVALS * 10);
        assert_eq!(sum(|one| one.bytes), INTERVALS * 80);
        assert_eq!(sum(|one| one.errors), INTERVALS);
        assert_eq!(read.count(), INTERVALS * 10);
        assert_eq!(read.min(), Some(1_000));
        assert_eq!(read.max(), Some(1_000 + INTERVALS - 1));
    }
}

#[test]
fn intervals_become_longer_evenly() {
    let mut queue = Queue::default();
    for index in 0..64 {
        let interval = Interval {
            start_ns: index * 1_000,
            duration_ns: 1_000,
            ..Interval::default()
        };
        let waiting = PendingInterval::new(0, &interval, IntervalHistograms::default());
        queue.push(waiting, MOST);
    }
    let lengths: Vec<u64> = queue
        .take()
        .iter()
        .map(|one| one.interval.duration_ns / 1_000)
        .collect();
    assert_eq!(lengths.len(), MOST);
    assert_eq!(lengths.iter().sum::<u64>(), 64);
    assert!(lengths.iter().all(|length| *length <= 8), "{lengths:?}");
}

#[test]
fn where_time_is_simulated_the_caller_waits_and_nothing_is_joined() {
    let (word, sink) = slow(false);
    let sink = {
        let writer = started(sink, WhenFull::Wait);
        std::thread::spawn(move || {
            for _ in 0..1_000 {
                if word.send(()).is_err() {
                    break;
                }
            }
        });
        for index in 0..500 {
            append(&writer, 0, index);
        }
        assert_eq!(writer.joined(), 0);
        end(writer)
    };
    assert_eq!(sink.written.len(), 500);
}

#[test]
fn the_first_failure_is_told_once_and_writing_goes_on() {
    let (word, sink) = slow(true);
    drop(word);
    let sink = {
        let writer = started(sink, WhenFull::Join);
        append(&writer, 0, 0);
        assert!(writer.flush(LONG));
        let failure = writer.failure().expect("a failure");
        assert_eq!(*failure.kind(), crate::ErrorKind::Full);
        append(&writer, 0, 1);
        assert!(writer.flush(LONG));
        assert!(writer.failure().is_none(), "told twice");
        end(writer)
    };
    assert_eq!(sink.written.len(), 2);
}

#[test]
fn a_run_that_never_started_gives_the_store_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = opened(&directory.path().join("store.db"));
    drop(RunWriter::start(&mut store, WhenFull::Join).unwrap());
    store.save_run(&RunRecord::empty()).unwrap();
}

/// A disk that hangs at the very end: the program is not blocked forever, and the run is not
/// reported as stored.
#[test]
fn a_store_that_hangs_in_the_end_is_given_up() {
    let (word, sink) = slow(false);
    let writer = started(sink, WhenFull::Join);
    let last = |record| Last {
        record,
        free_ids: Vec::new(),
    };
    let soon = Duration::from_millis(1);
    writer.end(Some(last(RunRecord::empty())));
    assert!(!writer.has_ended(soon));
    assert!(writer.close(soon).is_none());
    drop(word);

    let directory = tempfile::tempdir().unwrap();
    let mut store = opened(&directory.path().join("store.db"));
    // It is never returned.
    let hangs = store.lend().unwrap();
    let error = store.save_run(&RunRecord::empty()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::NoAnswer);
    assert!(
        error.hint().contains("save what is printed"),
        "{}",
        error.hint()
    );
    assert!(!store.keeps(&RunRecord::empty().id));
    assert_eq!(*store.is_free("x").unwrap_err().kind(), ErrorKind::NoAnswer);
    assert_eq!(*store.check().unwrap_err().kind(), ErrorKind::NoAnswer);
    drop(hangs);
}

#[test]
fn the_end_of_a_run_is_written_by_the_thread() {
    let (word, sink) = slow(false);
    drop(word);
    let writer = started(sink, WhenFull::Join);
    let record = RunRecord {
        id: "the last".to_owned(),
        ..RunRecord::empty()
    };
    let last = Last {
        record,
        free_ids: Vec::new(),
    };
    writer.end(Some(last));
    let (_, done) = writer.close(LONG).expect("it ends");
    assert_eq!(done.expect("it was asked for").unwrap(), "the last");
}

#[test]
fn a_run_whose_id_is_taken_is_kept_under_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let open = || opened(&path);
    let mut record = RunRecord::empty();
    record.started_at = "2026-11-21T20:15:30Z".to_owned();
    for id in ["first", "second"] {
        record.id = id.to_owned();
        open().save_run(&record).unwrap();
    }
    let mut store = open();
    record.id = "first".to_owned();
    record.label = Some("late".to_owned());
    let mut free = ["second", "third"].into_iter();
    let writer = RunWriter::start(&mut store, WhenFull::Wait).unwrap();
    writer.begin(&record, None);
    assert!(writer.flush(LONG));
    assert!(writer.failure().is_some(), "the id is taken");
    let new_id = || free.next().unwrap_or("spare").to_owned();
    writer
        .finish_with_free_id(&mut record, new_id, [LONG; 2], || panic!("it answers"))
        .unwrap();
    assert_eq!(record.id, "third");
    assert_eq!(store.load("third").unwrap().label.as_deref(), Some("late"));
    assert_eq!(store.load("first").unwrap().label, None);
}
