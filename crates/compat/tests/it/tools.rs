//! DiskSpd's and fio's results.

use stripewise_compat::{Format, ImportedFile, import};
use stripewise_results::{JobRow, RunRecord, Status};
use stripewise_workload::{CacheMode, CursorKind, Pattern};

pub const DISKSPD_TEXT: &str = include_str!("../data/diskspd.txt");
pub const DISKSPD_XML: &str = include_str!("../data/diskspd.xml");
pub const FIO: &str = include_str!("../data/fio.json");

fn read(text: &str) -> ImportedFile {
    import(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"))
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
        None,
        "of 1,200 operations there is no thousandth"
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
            DISKSPD_TEXT.replace("60000", "60001").as_str(),
        ]
        .concat(),
    );
    assert_eq!(file.runs.len(), 2);
}

#[test]
fn processes_of_one_name_that_report_one_by_one_have_a_thread_each() {
    let text = FIO.replace("\"jobname\": \"after\"", "\"jobname\": \"reads\"");
    let file = read(&text);
    assert_eq!((file.runs.len(), file.runs[0].jobs.len()), (1, 2));
    assert_eq!(row(&file.runs[0]).threads(), Some(1));
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
        (half(FIO), "whole JSON"),
        (half(DISKSPD_XML), "XML"),
        (
            DISKSPD_TEXT.split("Total IO").next().unwrap().to_owned(),
            "cut off",
        ),
        (FIO.replace("fio-3.33", "fio-2.1"), "only fio 3"),
        (
            DISKSPD_TEXT.replace("total:", "total: x"),
            "no bytes and I/Os",
        ),
        (
            DISKSPD_XML.replace("<TestTimeSeconds>20.00", "<TestTimeSeconds>-1"),
            "no time",
        ),
    ] {
        let error = import(text.as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{reason}: {error}");
        assert!(error.lines()[0].line > 0 && !error.hint().is_empty());
    }
}

#[test]
fn documents_of_hostile_depth_and_entities_are_refused_or_harmless() {
    let deep = format!("<Results>{}", "<a>".repeat(100_000));
    let error = import(deep.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("more elements"), "{error}");
    let nested = format!(
        "{{\"fio version\": \"fio-3.1\", \"jobs\": {}",
        "[".repeat(100_000)
    );
    assert!(import(nested.as_bytes(), "x").is_err());
    let bomb = DISKSPD_XML.replace("EXAMPLE", "&boom;&boom;");
    let bomb = format!("<!DOCTYPE x [<!ENTITY boom \"ha\">]>\n{bomb}");
    assert_eq!(import(bomb.as_bytes(), "x").unwrap().runs.len(), 1);
}
