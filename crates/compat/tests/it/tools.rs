//! DiskSpd's and fio's results.

use stripewise_compat::{Format, ImportedFile, import};
use stripewise_results::{JobRow, RunRecord, Status};
use stripewise_workload::{CacheMode, CursorKind, Pattern};

pub const DISKSPD_TEXT: &str = include_str!("../data/diskspd.txt");
pub const DISKSPD_XML: &str = include_str!("../data/diskspd.xml");
pub const FIO: &str = include_str!("../data/fio.json");

pub fn read(text: &str) -> ImportedFile {
    import(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"))
}

/// A file whose second time span was interrupted before it measured anything: a
/// run of the first, and a note of the other.
fn read_interrupted(text: &str) -> RunRecord {
    let mut file = read(text);
    let mut notes = file.notes.iter();
    assert!(notes.any(|note| note.message.contains("interrupted")));
    assert_eq!(file.runs.len(), 1, "the second time span measured nothing");
    let run = file.runs.remove(0);
    comes_back(&run);
    run
}

fn row(run: &RunRecord) -> JobRow<'_> {
    JobRow {
        run,
        job: &run.jobs[0],
    }
}

fn comes_back(run: &RunRecord) {
    let json = serde_json::to_string(run).unwrap();
    assert_eq!(&serde_json::from_str::<RunRecord>(&json).unwrap(), run);
}

#[test]
fn diskspd_text_gives_load_rates_and_percentiles() {
    let file = read(DISKSPD_TEXT);
    assert_eq!((file.format, file.runs.len()), (Format::DiskspdText, 1));
    let run = &file.runs[0];
    comes_back(run);
    let row = row(run);
    assert_eq!(row.operation().as_deref(), Some("70 % read"));
    assert_eq!(
        (row.pattern(), row.block_size_bytes()),
        (Some("random"), Some(16_384))
    );
    assert_eq!((row.threads(), row.outstanding()), (Some(4), Some(8)));
    assert_eq!((row.iops(), row.mib_per_s()), (Some(2000.0), Some(31.25)));
    assert_eq!(
        (row.operations(), row.duration_ns()),
        (Some(60_000), Some(30_000_000_000))
    );
    assert_eq!(
        (row.latency("min"), row.latency("p99")),
        (Some(210_000.0), Some(44e6))
    );
    assert_eq!(
        (row.latency("p50"), row.latency("p999"), row.latency("max")),
        (Some(17e6), Some(61e6), Some(90_125_000.0))
    );
    let job = &run.jobs[0];
    assert_eq!(job.workload.cache, CacheMode::DirectSync);
    assert_eq!(
        (job.workload.ramp_ns, job.workload.seed),
        (5_000_000_000, 11)
    );
    assert_eq!(job.outcome.write.latency_ns.unwrap().p99, 33_250_000);
    assert_eq!(job.target.name, "E:\\bench\\t.dat");
    assert!(run.command[0].starts_with("diskspd"));
}

#[test]
fn diskspd_xml_gives_the_same_and_when_and_where() {
    let file = read(&format!("a line before\n{DISKSPD_XML}"));
    let run = &file.runs[0];
    comes_back(run);
    assert_eq!(run.started_at, "2019-03-02T04:05:06.000Z");
    let row = row(run);
    assert_eq!(row.operation().as_deref(), Some("write"));
    let shared = Pattern::Sequential {
        cursor: CursorKind::Shared,
    };
    assert_eq!(run.jobs[0].workload.pattern, shared);
    assert_eq!((row.iops(), row.mib_per_s()), (Some(5000.0), Some(39.0625)));
    assert_eq!(
        (row.latency("p50"), row.latency("p999")),
        (Some(700_000.0), Some(4e6))
    );
    assert_eq!(
        (row.latency("p90"), row.latency("p99")),
        (None, None),
        "not in the source"
    );
    assert_eq!(run.jobs[0].target.name, "E:\\a & b.dat");
    assert_eq!(run.jobs[0].target.size_bytes, 1 << 30);
    assert_eq!(run.jobs[0].workload.base_offset_bytes, 65_536);
    assert_eq!(
        run.imported.as_ref().unwrap().tool_version.as_deref(),
        Some("2.0.21a")
    );
}

#[test]
fn fio_gives_jobs_with_completion_latencies_and_their_percentiles() {
    let file = read(FIO);
    assert_eq!(
        (file.format, file.runs.len()),
        (Format::FioJson, 2),
        "a stonewall parts runs"
    );
    for run in &file.runs {
        comes_back(run);
    }
    let run = &file.runs[0];
    assert_eq!(run.started_at, "2025-02-19T21:20:04.000Z");
    let reads = row(run);
    assert_eq!(reads.operation().as_deref(), Some("read"));
    assert_eq!((reads.threads(), reads.outstanding()), (Some(2), Some(4)));
    assert_eq!(
        (reads.iops(), reads.mib_per_s()),
        (Some(4000.0), Some(31.25))
    );
    assert_eq!(
        (
            reads.latency("mean"),
            reads.latency("p99"),
            reads.latency("p999")
        ),
        (Some(250_123.5), Some(900_000.0), Some(3e6))
    );
    assert_eq!(run.jobs[0].workload.cache, CacheMode::Direct);
    assert_eq!(run.jobs[0].engine.name, "libaio");
    let write = row(&file.runs[1]);
    assert_eq!(
        (write.operation().as_deref(), write.pattern()),
        (Some("write"), Some("sequential"))
    );
    assert_eq!(
        write.latency("p999"),
        Some(3e6),
        "the file states it, though of 1,200 operations only"
    );
    assert_eq!(file.runs[1].started_at, "", "nobody says when it began");
    assert!(
        file.notes
            .iter()
            .any(|note| note.message.contains("process shared mutexes"))
    );
}

#[test]
fn several_documents_in_one_file_are_several_runs() {
    let file = read(&[FIO, "some text\n", FIO.replace("24000", "24001").as_str()].concat());
    assert_eq!(file.runs.len(), 4);
    let file = read(&[DISKSPD_XML, DISKSPD_XML.replace("50000", "50001").as_str()].concat());
    assert_eq!(file.runs.len(), 2);
    assert_ne!(file.runs[0].id, file.runs[1].id);
    let file = read(
        &[
            DISKSPD_TEXT,
            DISKSPD_TEXT.replace("30.00s", "30.01s").as_str(),
        ]
        .concat(),
    );
    assert_eq!(file.runs.len(), 2);
}

/// The fixture as fio printed it earlier: with less time, counts and rates.
fn fio_snapshot(text: &str, runtime_ms: u64) -> String {
    let mut document: serde_json::Value =
        serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let final_ms = document["timestamp_ms"].as_u64().unwrap();
    document["timestamp_ms"] = (final_ms - 6000 + runtime_ms).into();
    document["timestamp"] = ((final_ms - 6000 + runtime_ms) / 1000).into();
    for job in document["jobs"].as_array_mut().unwrap() {
        for side in ["read", "write"] {
            let side = &mut job[side];
            for name in ["io_bytes", "total_ios", "runtime"] {
                side[name] = (side[name].as_u64().unwrap() * runtime_ms / 6000).into();
            }
        }
    }
    format!("{document:#}\n")
}

#[test]
fn of_the_snapshots_of_a_fio_run_the_last_is_the_result() {
    let alone = read(FIO);
    let without_start = |text: &str| text.replace("\"job_start\"", "\"x\"");
    let snapshots = [1000, 2000, 4500].map(|ms| fio_snapshot(FIO, ms)).concat();
    for (earlier, last) in [
        (snapshots.clone(), FIO.to_owned()),
        // Versions before 3.35 do not say when a job began.
        (without_start(&snapshots), without_start(FIO)),
    ] {
        let file = read(&[earlier.as_str(), &last].concat());
        assert_eq!(file.runs.len(), 2, "the stonewall's two");
        let ids = |file: &ImportedFile| {
            file.runs
                .iter()
                .map(|run| run.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&file), ids(&read(&last)));
        assert_eq!(row(&file.runs[0]).iops(), row(&alone.runs[0]).iops());
        let note = |note: &stripewise_compat::Note| note.message.starts_with("3 earlier snapshots");
        assert!(file.notes.iter().any(note), "{:?}", file.notes);
    }
}

#[test]
fn another_run_of_the_same_fio_job_is_another_result() {
    let first = fio_snapshot(FIO, 4000);
    for (from, to) in [
        ("1740000004000", "1740000014000"),
        ("\"jobname\": \"reads\"", "\"jobname\": \"others\""),
        ("\"iodepth\": \"", "\"iodepth\": \"1"),
        ("fio-3.33", "fio-3.34"),
    ] {
        assert!(FIO.contains(from), "{from}");
        let file = read(&[first.as_str(), &FIO.replace(from, to)].concat());
        assert_eq!(file.runs.len(), 4, "{to}");
    }
    // It began after the first one was printed, which is the only indication.
    let later = FIO.replace("1740000010123", "1740000020123");
    let text = [first.as_str(), &later].concat();
    let file = read(&text.replace("\"job_start\"", "\"x\""));
    assert_eq!(file.runs.len(), 4);
    // What was counted does not become less.
    assert_eq!(read(&[FIO, first.as_str()].concat()).runs.len(), 4);
}

#[test]
fn a_ramp_of_fio_leaves_no_snapshot_behind() {
    let ramped = FIO.replace(
        "\"runtime\": \"6\",",
        "\"runtime\": \"6\", \"ramp_time\": \"9\",",
    );
    assert_ne!(ramped, FIO);
    // Printed in the ramp: more was counted than after it, when counting began again.
    let in_ramp = fio_snapshot(&ramped, 5000).replace("1740000009123", "1740000002123");
    let after = fio_snapshot(&ramped, 1000);
    let text = [in_ramp.as_str(), &after, &ramped].concat();
    assert_eq!(read(&text).runs.len(), 2, "the stonewall's two");
    // Without a ramp, what counted more is another run.
    let text = [
        fio_snapshot(FIO, 5000),
        fio_snapshot(FIO, 1000),
        FIO.to_owned(),
    ]
    .concat();
    assert_eq!(read(&text).runs.len(), 4);
}

#[test]
fn processes_of_one_name_that_report_one_by_one_have_a_thread_each() {
    let text = FIO
        .replace("\"jobname\": \"after\"", "\"jobname\": \"reads\"")
        .replace("\"groupid\": 1", "\"groupid\": 0");
    let file = read(&text);
    assert_eq!((file.runs.len(), file.runs[0].jobs.len()), (1, 2));
    assert_eq!(row(&file.runs[0]).threads(), Some(1));
    let names: Vec<&str> = file.runs[0]
        .jobs
        .iter()
        .map(|job| job.name.as_str())
        .collect();
    assert_eq!(names, ["reads", "reads#2"]);
}

#[test]
fn jobs_of_another_group_ran_later_unless_their_times_overlap() {
    // fio does not print a stonewall without a value: the group is what is left of it.
    let silent = FIO.replace("\"stonewall\": \"\"", "\"x\": \"\"");
    assert_ne!(silent, FIO);
    let file = read(&silent);
    assert_eq!(file.runs.len(), 2);
    let names: Vec<&str> = JobRow::of(&file.runs)
        .map(|row| row.job.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["reads", "after"],
        "names that are unique stay as they are"
    );
    // In one group they ran concurrently, whatever other fields say.
    let at_once = silent.replace("\"groupid\": 1", "\"groupid\": 0");
    assert_eq!(read(&at_once).runs.len(), 1);
    // Only `wait_for` makes a job wait for another of its group.
    for (awaited, runs) in [("reads", 2), ("another", 1)] {
        let waits = at_once.replace("\"x\": \"\"", &format!("\"wait_for\": \"{awaited}\""));
        assert_eq!(read(&waits).runs.len(), runs, "{awaited}");
    }
    // A new group for reports only begins with the others.
    let start = |at_ms: u64| {
        let second = format!("\"groupid\": 1, \"job_start\": {at_ms}");
        read(&silent.replace("\"groupid\": 1", &second)).runs.len()
    };
    let first = silent.split("\"job_start\":").nth(1).unwrap();
    let first: String = first
        .trim()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let first: u64 = first.parse().unwrap();
    assert_eq!((start(first + 10), start(first + 60_000)), (1, 2));
}

#[test]
fn a_fio_that_was_ended_by_a_signal_is_partial_and_says_so() {
    let file = read(&format!("\nfio: terminating on signal 2\n{FIO}"));
    for run in &file.runs {
        assert_eq!(run.status, Status::Partial);
        let because = run.partial_because.as_deref();
        assert_eq!(because, Some("fio: terminating on signal 2"));
    }
    // fio's message went elsewhere: it ran for less than requested.
    let longer = FIO.replace("\"runtime\": \"", "\"runtime\": \"9");
    assert_ne!(longer, FIO);
    let untimed = longer.replace("\"time_based\": \"1\"", "\"norandommap\": \"1\"");
    let at_its_end = untimed.replace("\"size\": \"1g\"", "\"size\": \"90m\"");
    assert_ne!(untimed, at_its_end);
    // A percentage of a file of unknown size, and a number of operations.
    let share = untimed.replace("\"size\": \"1g\"", "\"size\": \"50%\"");
    let timed_share = longer.replace("\"size\": \"1g\"", "\"size\": \"50%\"");
    let counted = |number: &str| {
        let options = format!("\"size\": \"1g\", \"number_ios\": \"{number}\"");
        untimed.replace("\"size\": \"1g\"", &options)
    };
    for (text, partial) in [
        (&longer, true),
        (&untimed, true),
        (&at_its_end, false),
        (&share, false),
        (&timed_share, true),
        (&counted("10"), false),
        (&counted("4000000000"), true),
    ] {
        let file = read(text);
        let ran = |note: &stripewise_compat::Note| note.message.contains("it ran for");
        assert!(file.notes.iter().any(ran), "{:?}", file.notes);
        let run = &file.runs[0];
        assert_eq!(run.status == Status::Partial, partial, "{run:?}");
        let because = run.partial_because.as_deref().unwrap_or_default();
        assert_eq!(
            because.contains("it ran for 6.0 s of the 96 s"),
            partial,
            "{because}"
        );
    }
}

#[test]
fn a_share_of_reads_that_the_counts_do_not_show_is_not_given() {
    let text = FIO.replace("randread", "randrw");
    let file = read(&text);
    let first = row(&file.runs[0]);
    assert_eq!((first.operation(), first.pattern()), (None, None));
    assert!(
        file.notes
            .iter()
            .any(|note| note.message.contains("share of reads"))
    );
}

#[test]
fn what_was_in_flight_at_the_end_of_the_ramp_does_not_hide_the_block_size() {
    let bytes = "196608000";
    assert!(FIO.contains(bytes));
    let more: u64 = bytes.parse::<u64>().unwrap() + 3 * 8192;
    let file = read(&FIO.replacen(bytes, &more.to_string(), 1));
    assert_eq!(row(&file.runs[0]).block_size_bytes(), Some(8192));
    let many: u64 = bytes.parse::<u64>().unwrap() + 50 * 8192;
    let file = read(&FIO.replacen(bytes, &many.to_string(), 1));
    assert_eq!(row(&file.runs[0]).block_size_bytes(), None);
}

#[test]
fn a_flood_of_empty_values_is_refused_where_it_begins_or_costs_nothing() {
    let flood = "[],".repeat(1 << 20);
    let jobs = format!("{{\"fio version\": \"fio-3.1\", \"jobs\": [{flood}[]]}}");
    let error = import(jobs.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("not an object"), "{error}");
    let nested = FIO.replacen('{', &format!("{{\"bins\": [{flood}[]],"), 1);
    assert_eq!(read(&nested).runs.len(), 2);
    let retained = FIO.replacen('{', &format!("{{\"disk_util\": [{flood}[]],"), 1);
    let error = import(retained.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("more values"), "{error}");
}

#[test]
fn a_job_that_failed_is_partial() {
    let file = read(&FIO.replacen("\"error\": 0", "\"error\": 5", 1));
    assert_eq!(file.runs[0].status, Status::Partial);
    assert!(
        file.runs[0]
            .partial_because
            .as_ref()
            .unwrap()
            .contains("error 5")
    );
}

#[test]
fn what_was_cut_off_is_named_with_its_line() {
    let half = |text: &str| text[..text.len() * 2 / 3].to_owned();
    for (text, reason) in [
        (half(FIO), "complete JSON"),
        (half(DISKSPD_XML), "XML"),
        (
            DISKSPD_TEXT.split("Total IO").next().unwrap().to_owned(),
            "truncated",
        ),
        (FIO.replace("fio-3.33", "fio-1.59"), "versions 2 to 4"),
        (
            DISKSPD_TEXT.replace("total:", "total: x"),
            "each column of its table",
        ),
        (
            DISKSPD_XML.replace("<TestTimeSeconds>20.00", "<TestTimeSeconds>-1"),
            "not a valid duration",
        ),
    ] {
        let error = import(text.as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{reason}: {error}");
        assert!(error.lines()[0].line > 0 && !error.hint().is_empty());
    }
}

#[test]
fn documents_of_hostile_depth_and_entities_are_refused_or_harmless() {
    let deep = format!("<Results>{}", "<Target>".repeat(100_000));
    let error = import(deep.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("more elements"), "{error}");
    // Unused elements are skipped, however deep they are.
    let deep = format!("<Results>{}", "<a>".repeat(100_000));
    let error = import(deep.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("not complete XML"), "{error}");
    let nested = format!(
        "{{\"fio version\": \"fio-3.1\", \"jobs\": {}",
        "[".repeat(100_000)
    );
    assert!(import(nested.as_bytes(), "x").is_err());
    let bomb = DISKSPD_XML.replace("EXAMPLE", "&boom;&boom;");
    let bomb = format!("<!DOCTYPE x [<!ENTITY boom \"ha\">]>\n{bomb}");
    assert_eq!(import(bomb.as_bytes(), "x").unwrap().runs.len(), 1);
}

#[test]
fn diskspd_of_2014_says_caches_mixes_and_patterns_in_words_of_its_own() {
    let file = read(include_str!("../data/diskspd-2.0.12.txt"));
    let run = &file.runs[0];
    comes_back(run);
    let old = row(run);
    assert_eq!(old.operation().as_deref(), Some("75 % read"));
    assert_eq!(old.pattern(), Some("sequential"));
    assert_eq!(run.jobs[0].workload.cache, CacheMode::DirectSync);
    assert_eq!((old.threads(), old.outstanding()), (Some(2), Some(4)));
    assert_eq!((old.iops(), old.mib_per_s()), (Some(400.0), Some(25.0)));
    assert_eq!(
        (old.latency("mean"), old.latency("p99"), old.latency("p999")),
        (Some(22e6), Some(33e6), Some(60e6))
    );
}

#[test]
fn percentiles_of_diskspd_are_those_of_all_targets() {
    let file = read(include_str!("../data/diskspd-2.0.21.txt"));
    let run = &file.runs[0];
    comes_back(run);
    assert_eq!(run.started_at, "2020-06-07T08:09:10.000Z");
    let both = row(run);
    assert_eq!(both.operations(), Some(15_000));
    assert_eq!(run.jobs[0].further_targets[0].name, "F:\\b.dat");
    // The mean precedes the deviation of the rate, and reads are half as slow.
    let mean = both.latency("mean").unwrap();
    assert!((mean - 4e6 / 3.0).abs() < 1_000.0, "{mean}");
    assert_eq!(both.latency("p50"), Some(1_200_000.0));
    assert_eq!(both.latency("max"), Some(9_750_000.0));
    let details = run.imported.as_ref().unwrap().details.as_ref().unwrap();
    assert_eq!(details["computer_name"], "BENCH7");
    // Cut off before the percentiles of both, those of one are not taken for them.
    let text = include_str!("../data/diskspd-2.0.21.txt");
    let cut = text.rsplit_once("\ntotal:\n").unwrap().0;
    let error = import(cut.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("no percentiles"), "{error}");
}

#[test]
fn diskspd_2_2_counts_in_units_shares_threads_and_tells_interrupted_spans() {
    let run = &read_interrupted(include_str!("../data/diskspd-2.2.txt"));
    let pool = row(run);
    assert_eq!((pool.threads(), pool.outstanding()), (Some(6), Some(16)));
    assert_eq!(pool.block_size_bytes(), Some(65_536));
    let shared = Pattern::Sequential {
        cursor: CursorKind::Shared,
    };
    let load = &run.jobs[0].workload;
    assert_eq!((load.pattern, load.cache), (shared, CacheMode::Direct));
    assert_eq!(
        (load.base_offset_bytes, load.size_bytes),
        (1 << 20, Some(2 << 20))
    );
    assert_eq!((pool.iops(), pool.mib_per_s()), (Some(2000.0), Some(125.0)));
    assert_eq!(
        pool.latency("mean"),
        None,
        "without -L the cell is a rate's deviation"
    );
}

#[test]
fn diskspd_2_2_xml_may_have_bare_ampersands_pools_and_interrupted_spans() {
    let text = include_str!("../data/diskspd-2.2.xml");
    let run = &read_interrupted(text);
    let pool = row(run);
    assert_eq!(run.jobs[0].target.name, "D:\\Smith & Sons\\a.dat");
    assert_eq!(run.jobs[0].target.size_bytes, 2 << 20);
    assert_eq!((pool.threads(), pool.outstanding()), (Some(3), Some(8)));
    assert_eq!(pool.pattern(), None, "partly random is neither");
    assert_eq!(run.jobs[0].workload.size_bytes, Some(1 << 20));
    assert_eq!((pool.operations(), pool.iops()), (Some(3000), Some(600.0)));
    assert_eq!(
        (pool.latency("mean"), pool.latency("p99")),
        (Some(1_250_000.0), Some(2_200_000.0))
    );
    // A cache disabled on one side of a share only has no equivalent mode.
    let local = read(&text.replace("DisableOSCache", "DisableLocalCache"));
    let gives = &local.runs[0].imported.as_ref().unwrap();
    assert!(!gives.gives("jobs.workload.cache"));
    let only = text.split("  <TimeSpan>\n    <TestTime").next().unwrap();
    let only =
        format!("{only}  <TimeSpan>\n    <Error>interrupted</Error>\n  </TimeSpan>\n</Results>");
    let error = import(only.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("no result"), "{error}");
}

#[test]
fn fio_2_counts_in_microseconds_and_kib() {
    let file = read(include_str!("../data/fio-2.2.10.json"));
    let run = &file.runs[0];
    comes_back(run);
    let old = row(run);
    assert_eq!(old.iops(), Some(8000.0));
    assert_eq!(run.jobs[0].outcome.bytes, 320_000 * 1024);
    assert_eq!(
        (old.latency("mean"), old.latency("p99"), old.latency("p999")),
        (Some(487_250.0), Some(1_500_000.0), Some(5_000_000.0))
    );
    assert_eq!(old.latency("max"), Some(90_000_000.0));
    // It gives no options: what was done is known, what was requested is not.
    assert_eq!(old.operation().as_deref(), Some("read"));
    assert_eq!(
        (old.pattern(), old.block_size_bytes(), old.threads()),
        (None, None, None)
    );
}

#[test]
fn what_contradicts_the_counts_of_fio_is_not_given() {
    for (from, to, doubt) in [
        ("\"bs\": \"8k\"", "\"bs\": \"16k\"", "times the block size"),
        ("randread", "randwrite", "say otherwise"),
    ] {
        let file = read(&FIO.replace(from, to));
        let doubts = |note: &stripewise_compat::Note| note.message.contains(doubt);
        assert!(file.notes.iter().any(doubts), "{:?}", file.notes);
        let first = row(&file.runs[0]);
        assert_eq!(first.block_size_bytes(), None, "{to}");
        assert_eq!((first.iops(), first.threads()), (Some(4000.0), Some(2)));
    }
    // A group of several jobs shows the options of one.
    let file = read(&FIO.replace("\"mean\": 250123.5", "\"mean\": 8250123.5"));
    let first = row(&file.runs[0]);
    assert_eq!((first.threads(), first.outstanding()), (None, None));
    assert_eq!(first.block_size_bytes(), Some(8192));
    // An engine that waits for each operation has one in flight.
    let file = read(&FIO.replace("libaio", "psync"));
    assert_eq!(row(&file.runs[0]).outstanding(), Some(1));
}

#[test]
fn jobs_of_one_run_lack_what_each_of_them_lacks() {
    let text = FIO
        .replace("\"stonewall\": \"\"", "\"bsrange\": \"4k-64k\"")
        .replace("\"groupid\": 1", "\"groupid\": 0");
    assert_ne!(text, FIO);
    let file = read(&text);
    let run = &file.runs[0];
    assert_eq!((file.runs.len(), run.jobs.len()), (1, 2));
    comes_back(run);
    let rows: Vec<JobRow<'_>> = JobRow::of(&file.runs).collect();
    assert_eq!(rows[0].block_size_bytes(), Some(8192));
    assert_eq!(rows[1].block_size_bytes(), None);
    let json = serde_json::to_value(run).unwrap();
    assert!(json["jobs"][0]["workload"]["block_size_bytes"].is_u64());
    assert!(
        json["jobs"][1]["workload"]
            .get("block_size_bytes")
            .is_none()
    );
}

#[test]
fn tables_of_another_run_below_a_result_are_not_taken_for_its_own() {
    let tables = DISKSPD_TEXT.find("Total IO").unwrap();
    let other = DISKSPD_TEXT[tables..].replace("2000.00", "1500.00");
    let text = format!("{DISKSPD_TEXT}\nAnother day it gave:\n\n{other}");
    let file = read(&text);
    assert_eq!(file.runs.len(), 1);
    assert_eq!(row(&file.runs[0]).iops(), Some(2000.0));
    let note = &file.notes[0];
    assert!(note.message.contains("second `Total IO`"), "{note}");
}

#[test]
fn a_percentile_that_a_source_states_is_kept_however_few_operations_there_were() {
    let run = &read(include_str!("../data/diskspd-2.0.21.txt")).runs[0];
    assert!(row(run).operations().unwrap() > 10_000);
    let few = include_str!("../data/diskspd-2.0.12.txt");
    let run = &read(few).runs[0];
    assert_eq!(row(run).operations(), Some(8_000));
    assert_eq!(row(run).latency("p999"), Some(60e6));
    comes_back(run);
}

#[test]
fn every_target_of_a_result_is_in_its_record_with_what_is_in_flight_on_all() {
    let run = &read(include_str!("../data/diskspd-2.0.21.txt")).runs[0];
    assert_eq!(
        row(run).in_flight(),
        Some(4),
        "2 outstanding of 1 thread on 2 files"
    );
    let text = FIO.replace("\"/data/t.dat\"", "\"/a:/b\\\\:c\"");
    assert_ne!(text, FIO);
    let run = &read(&text).runs[0];
    comes_back(run);
    let job = &run.jobs[0];
    assert_eq!(
        (job.target.name.as_str(), job.further_targets.len()),
        ("/a", 1)
    );
    assert_eq!(job.further_targets[0].name, "/b:c");
    assert_eq!(
        row(run).in_flight(),
        Some(8),
        "iodepth is that of all files"
    );
}
