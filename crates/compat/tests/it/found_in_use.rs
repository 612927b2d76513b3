//! Formats that users encountered: versions and shapes in addition to those of the other fixtures,
//! each made here.

use crate::tools::FIO;
use stripewise_compat::{Format, Import, ImportedFile, import};
use stripewise_results::{JobRecord, JobRow, RunRecord};
use stripewise_workload::{SyncCall, SyncPolicy, ThinkTime};

const CRYSTAL: &str = include_str!("../data/crystaldiskmark.txt");
const KDISK: &str = include_str!("../data/kdiskmark.txt");
const TERSE: &str = include_str!("../data/fio-terse-3.txt");
const FLATFILE: &str = include_str!("../data/vdbench-flatfile.html");

fn read(text: &str) -> ImportedFile {
    import(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"))
}

/// The jobs of each run.
fn jobs(text: &str) -> Vec<Vec<JobRecord>> {
    let runs = read(text).runs.into_iter();
    runs.map(|run| run.jobs).collect()
}

fn refused(text: &str) -> String {
    import(text.as_bytes(), "x").unwrap_err().to_string()
}

fn row(run: &RunRecord) -> JobRow<'_> {
    JobRow {
        run,
        job: &run.jobs[0],
    }
}

fn expected_text(file: &ImportedFile, part: &str) -> bool {
    file.notes.iter().any(|note| note.message.contains(part))
}

/// The first job of the fixture with more options.
fn with(options: &str) -> ImportedFile {
    let mark = "\"rw\": \"randread\"";
    assert!(FIO.contains(mark));
    read(&FIO.replacen(mark, &format!("{mark}, {options}"), 1))
}

#[test]
fn the_source_of_a_page_is_read_as_the_page_shows_it() {
    let source = KDISK.replace('<', "&lt;").replace('>', "&gt;");
    assert_ne!(source, KDISK);
    let ids = |text: &str| -> Vec<String> {
        let runs = read(text).runs.into_iter();
        runs.map(|run| run.id).collect()
    };
    assert_eq!(ids(&source), ids(KDISK));
}

#[test]
fn what_sets_the_pace_of_a_job_is_carried_or_absent() {
    let plain = read(FIO);
    let job = row(&plain.runs[0]);
    for path in ["rate", "think_time", "sync"] {
        let path = format!("jobs.workload.{path}");
        assert_eq!(job.given(&path, ()), Some(()), "{path}");
    }
    let threads = f64::from(job.job.workload.threads);
    assert_eq!(job.job.workload.rate, None);

    let rated = with("\"rate_iops\": \"500\"");
    let rate = rated.runs[0].jobs[0].workload.rate.unwrap();
    assert!((rate.iops - 500.0 * threads).abs() < 1e-9);
    assert!(expected_text(&rated, "only slows it down"));
    // The options of the job are kept unchanged.
    let details = rated.runs[0].imported.as_ref().unwrap().details.as_ref();
    let name = &rated.runs[0].jobs[0].name;
    assert_eq!(details.unwrap()["job options"][name]["rate_iops"], "500");
    let by_bytes = with("\"rate\": \"8m\"");
    let rate = by_bytes.runs[0].jobs[0].workload.rate.unwrap();
    assert!((rate.iops - 1024.0 * threads).abs() < 1e-9);
    let twice = with("\"rate\": \"8m\", \"rate_iops\": \"5\"");
    assert_eq!(row(&twice.runs[0]).given("jobs.workload.rate", ()), None);
    assert!(expected_text(&twice, "its rate is absent"));

    let synced = with("\"fsync\": \"4\"");
    let every = SyncPolicy {
        every: 4,
        call: SyncCall::Fsync,
    };
    assert_eq!(synced.runs[0].jobs[0].workload.sync, Some(every));
    let otherwise = with("\"sync_file_range\": \"write:8\"");
    assert_eq!(
        row(&otherwise.runs[0]).given("jobs.workload.sync", ()),
        None
    );

    let thinks = with("\"thinktime\": \"10ms\", \"thinktime_blocks_type\": \"issue\"");
    let pause = ThinkTime {
        pause_ns: 10_000_000,
        every: 1,
    };
    assert_eq!(thinks.runs[0].jobs[0].workload.think_time, Some(pause));
    let spins = with("\"thinktime\": \"10ms\", \"thinktime_spin\": \"1ms\"");
    let job = row(&spins.runs[0]);
    assert_eq!(job.given("jobs.workload.think_time", ()), None);
    assert!(expected_text(&spins, "think time is absent"));
}

#[test]
fn places_that_no_record_has_a_name_for_are_absent() {
    for options in [
        "\"percentage_random\": \"30\"",
        "\"zonemode\": \"strided\"",
        "\"zonesize\": \"1m\"",
        "\"random_sequence_stride\": \"3\"",
        "\"read_iolog\": \"x.log\"",
    ] {
        let file = with(options);
        assert_eq!(row(&file.runs[0]).pattern(), None, "{options}");
        assert!(
            expected_text(&file, "where it went is not given"),
            "{options}"
        );
    }
    let seldom = read(&FIO.replacen("\"randread\"", "\"randread:8\"", 1));
    assert_eq!(row(&seldom.runs[0]).pattern(), None);
    // What is switched off changes nothing.
    for options in [
        "\"percentage_random\": \"100\"",
        "\"zonemode\": \"none\"",
        "\"zonesize\": \"0\"",
        "\"verify\": \"0\"",
        "\"latency_target\": \"0\"",
    ] {
        let (file, plain) = (with(options), read(FIO));
        assert_eq!(file.runs[0].jobs, plain.runs[0].jobs, "{options}");
        assert_eq!(file.notes, plain.notes, "{options}");
    }
    let searches = with("\"latency_target\": \"5ms\"");
    assert_eq!(row(&searches.runs[0]).outstanding(), None);
    let other = with("\"flow\": \"8\", \"iodepth_batch\": \"4\"");
    assert!(expected_text(
        &other,
        "it has flow, iodepth_batch, which no field"
    ));
}

#[test]
fn latencies_of_syncs_come_with_them() {
    let mark = "\"trim\"";
    assert!(FIO.contains(mark));
    let sync = "\"sync\": {\"total_ios\": 237, \"lat_ns\": {\"min\": 1000, \"max\": 9000000, \"mean\": 4210036.5, \"N\": 237, \"percentile\": {\"50.000000\": 4200000, \"99.000000\": 8100000}}}";
    let other = FIO.replacen("\"sync\":", "\"others\":", 1);
    let file = read(&other.replacen(mark, &format!("{sync}, {mark}"), 1));
    let found = file.runs[0].jobs[0].outcome.sync.as_ref().unwrap();
    let latency = found.latency_ns.unwrap();
    assert_eq!(
        (found.operations, latency.min, latency.p50),
        (237, 1000, 4_200_000)
    );
    assert!((latency.mean - 4_210_036.5).abs() < 1e-9);
    let job = row(&file.runs[0]);
    assert_eq!(job.given("jobs.outcome.sync.latency_ns.p99", ()), Some(()));
    assert_eq!(job.given("jobs.outcome.sync.latency_ns.p90", ()), None);
}

#[test]
fn repeated_names_of_files_are_all_of_them() {
    let mark = "\"rw\": \"randread\"";
    let two = "\"filename\": \"/dev/sdy\", \"filename\": \"/dev/sdz\"";
    let file = read(&FIO.replacen(mark, &format!("{mark}, {two}"), 1));
    let job = &file.runs[0].jobs[0];
    let names: Vec<&str> = [&job.target]
        .into_iter()
        .chain(&job.further_targets)
        .map(|target| target.name.as_str())
        .collect();
    let names = names.join(" ");
    assert!(
        names.contains("/dev/sdy") && names.contains("/dev/sdz"),
        "{names}"
    );
}

#[test]
fn sums_of_reads_and_writes_are_refused_by_the_name_of_the_option() {
    let mixed = FIO.replace("\"read\":", "\"mixed\":");
    assert!(refused(&mixed).contains("unified_rw_reporting"));
}

/// Normal output of one job, as version 3.1 printed it: its last amount lost a carry.
fn carried(version: &str, amount: &str) -> String {
    format!(
        "reads: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4\n{version}\nStarting 1 process\n\nreads: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov 23 10:00:00 2026\n   read: IOPS=109k, BW=426MiB/s (447MB/s)({amount}/60001msec)\n    clat (usec): min=7, max=2400, avg=36.01, stdev= 9.11\n  issued rwt: total=6550034,0,0, short=0,0,0, dropped=0,0,0\n\nRun status group 0 (all jobs):\n   READ: bw=426MiB/s (447MB/s), 426MiB/s-426MiB/s (447MB/s-447MB/s), io={amount} (26.8GB), run=60001-60001msec\n"
    )
}

#[test]
fn amounts_that_lost_a_carry_are_read_where_versions_lose_it() {
    for version in ["fio-3.0", "fio-3.1", "fio-3.25"] {
        let file = read(&carried(version, "24.0GiB"));
        let read = &file.runs[0].jobs[0].outcome.read;
        assert_eq!(read.bytes, 6_550_034 * 4096, "{version}");
    }
    for (version, amount) in [
        ("fio-3.26", "24.0GiB"),
        ("fio-3.1", "23.0GiB"),
        ("fio-3.1", "24.5GiB"),
        ("fio-2.16", "23.0GiB"),
    ] {
        let error = refused(&carried(version, amount));
        assert!(error.contains("bytes a second"), "{version}: {error}");
    }
    assert_eq!(
        read(&carried("fio-3.26", "24.0GiB").replace("24.0", "25.0"))
            .runs
            .len(),
        1
    );
}

/// Normal output of version 2.1.11.
fn without_drops(version: &str) -> String {
    format!(
        "seqread: (g=0): rw=read, bs=1M-1M/1M-1M/1M-1M, ioengine=libaio, iodepth=8\n{version}\nStarting 1 process\n\nseqread: (groupid=0, jobs=1): err= 0: pid=4242: Mon Feb  2 11:22:33 2015\n  read : io=1024.0MB, bw=104858KB/s, iops=102, runt= 10000msec\n    clat (msec): min=7, max=240, avg=78.01, stdev= 9.11\n    clat percentiles (msec):\n     |  1.00th=[   60], 50.00th=[   78], 90.00th=[   90], 99.00th=[  110],\n     | 99.90th=[  200]\n  IO depths    : 1=0.1%, 2=0.2%, 4=0.4%, 8=99.3%, 16=0.0%, 32=0.0%, >=64=0.0%\n     issued    : total=r=1024/w=0/d=0, short=r=0/w=0/d=0\n\nRun status group 0 (all jobs):\n   READ: io=1024.0MB, aggrb=104857KB/s, minb=104857KB/s, maxb=104857KB/s, mint=10000msec, maxt=10000msec\n"
    )
}

#[test]
fn counts_of_old_versions_do_not_say_what_was_dropped() {
    for version in ["fio-2.0.13", "fio-2.1.11", "fio-2.1.13"] {
        let file = read(&without_drops(version));
        let read = &file.runs[0].jobs[0].outcome.read;
        assert_eq!((read.operations, read.bytes), (1024, 1 << 30), "{version}");
    }
    let error = refused(&without_drops("fio-2.2.10"));
    assert!(
        error.contains("counts of reads, writes and trims"),
        "{error}"
    );
}

#[test]
fn decimals_of_old_versions_say_nothing() {
    // 2,063.99 MB and 2,174.04 MB: the decimals are those of 1,024ths, without zeros.
    for (operations, amount) in [(528_381_u64, "2063.2MB"), (556_555, "2174.5MB")] {
        let text = |version: &str| {
            without_drops(version)
                .replace("1M-1M", "4K-4K")
                .replace("r=1024/", &format!("r={operations}/"))
                .replace("io=1024.0MB", &format!("io={amount}"))
                .replace("iops=102", &format!("iops={}", operations / 10))
                .replace("bw=104858KB", &format!("bw={}KB", operations * 4 / 10))
        };
        let file = read(&text("fio-2.1.11"));
        let bytes = file.runs[0].jobs[0].outcome.read.bytes;
        assert_eq!(bytes, operations * 4096, "{amount}");
    }
}

#[test]
fn states_of_one_run_in_terse_output_are_one_result() {
    let line = TERSE.lines().next().unwrap();
    let cells: Vec<&str> = line.split(';').collect();
    // At half of its time the job had done half of it.
    let halved = |at: usize| (cells[at].parse::<u64>().unwrap() / 2).to_string();
    let mut earlier: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    for at in [5, 8, 46, 49] {
        earlier[at] = halved(at);
    }
    let earlier = earlier.join(";");
    let file = read(&format!("{earlier}\n{line}\n"));
    assert_eq!(file.runs.len(), 1);
    assert_eq!(file.runs[0].jobs, read(line).runs[0].jobs);
    assert!(expected_text(&file, "1 earlier states of jobs"));
    // The other way round it is another run, and so is one of the same length.
    assert_eq!(read(&format!("{line}\n{earlier}\n")).runs.len(), 2);
    let other = line.replacen(
        cells[5],
        &(cells[5].parse::<u64>().unwrap() + 8).to_string(),
        1,
    );
    assert_eq!(read(&format!("{line}\n{other}\n")).runs.len(), 2);
}

/// fio prints an empty job behind a group of which only some jobs have `group_reporting`.
#[test]
fn the_empty_job_behind_a_group_is_no_result() {
    let json = include_str!("../data/fio-same-run.json");
    let mut document: serde_json::Value = serde_json::from_str(json).unwrap();
    let expected = jobs(&format!("{document:#}\n"));
    let nothing = document["jobs"][1]["write"].clone();
    let filler = serde_json::json!({
        "groupid": u32::MAX, "error": 0, "elapsed": 3, "read": nothing, "write": nothing
    });
    document["jobs"].as_array_mut().unwrap().push(filler);
    assert_eq!(jobs(&format!("{document:#}\n")), expected);
    let line = TERSE.lines().next().unwrap();
    let mut cells: Vec<&str> = line.split(';').collect();
    (cells[2], cells[3]) = ("", "-1");
    let filler = cells.join(";");
    assert_eq!(
        jobs(&format!("{}\n{filler}\n", TERSE.trim_end())),
        jobs(TERSE)
    );
}

#[test]
fn terse_lines_that_add_up_reads_and_writes_are_refused_for_that() {
    let line = TERSE.lines().next().unwrap();
    let mut cells: Vec<&str> = line.split(';').collect();
    // Behind the 41 values of its reads.
    cells.drain(46..87);
    assert!(refused(&cells.join(";")).contains("unified_rw_reporting"));
}

#[test]
fn a_semicolon_in_the_name_of_a_terse_job_is_part_of_it() {
    let line = TERSE.lines().next().unwrap();
    let name = line.split(';').nth(2).unwrap();
    let named = line.replacen(name, "a;b;c", 1);
    let (found, expected) = (read(&named).runs, read(line).runs);
    assert_eq!(found[0].jobs[0].name, "a;b;c");
    assert_eq!(found[0].jobs[0].outcome, expected[0].jobs[0].outcome);
    // A value too many elsewhere is none.
    let mut cells: Vec<&str> = line.split(';').collect();
    cells.insert(6, "1");
    assert!(refused(&cells.join(";")).contains("too many or too few values"));
}

#[test]
fn terse_output_of_version_3_does_not_say_what_was_trimmed() {
    let line = TERSE.lines().next().unwrap();
    let cells = line.split(';').enumerate().map(|(at, cell)| match at {
        5..87 if cell.contains("%=") => "0%=0",
        5..87 if cell.ends_with('%') => "0.000000%",
        5..87 => "0",
        _ => cell,
    });
    let cells: Vec<&str> = cells.collect();
    let file = read(&cells.join(";"));
    let job = row(&file.runs[0]);
    assert_eq!((job.iops(), job.mib_per_s()), (None, None));
    assert!(expected_text(
        &file,
        "version 3 of terse output prints no trims"
    ));
}

#[test]
fn a_flatfile_without_time_stamps_is_one() {
    let old: Vec<String> = FLATFILE
        .lines()
        .map(|line| {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            let is_row = words.first().is_some_and(|first| first.contains(':'));
            if is_row || words.first() == Some(&"tod") {
                words.remove(1);
            }
            words.join(" ")
        })
        .collect();
    let (file, whole) = (read(&old.join("\n")), read(FLATFILE));
    let numbers = |file: &ImportedFile| -> Vec<_> {
        let each = file.runs.iter();
        each.map(|run| (row(run).iops(), row(run).mib_per_s()))
            .collect()
    };
    assert_eq!(numbers(&file), numbers(&whole));
}

/// Averages of a file system workload, as vdbench writes them.
#[test]
fn totals_of_vdbench_have_one_heading() {
    let summary = include_str!("../data/vdbench-summary.html");
    let mut headings = 0;
    let is_of_totals = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_interval = words.len() > 10 && words[1].parse::<u64>().is_ok();
        let is_heading = words.get(3) == Some(&"interval") || words.first() == Some(&"rate");
        headings += usize::from(is_heading);
        !is_interval && (!is_heading || headings <= 2)
    };
    let lines = summary.lines().filter(is_of_totals);
    let totals: String = lines.map(|line| format!("{line}\n")).collect();
    assert_eq!(totals.matches("interval").count(), 1, "{totals}");
    assert_eq!(jobs(&totals), jobs(summary));
    // On its standard output vdbench says more of a run.
    let message = "10:20:00.553 This triggers end of run inspite of possibly some workloads that are still running.";
    let expected_text = summary.replace("\nMar 02, 2026", &format!("\n{message}\n\nMar 02, 2026"));
    assert_ne!(expected_text, summary);
    assert_eq!(jobs(&expected_text), jobs(summary));
}

#[test]
fn rates_of_a_job_that_verified_what_it_wrote_are_no_sum() {
    let json = include_str!("../data/fio-same-run.json");
    let verified = |options: &str| {
        let text = json.replacen("\"rw\": \"randrw\",", options, 1);
        assert_ne!(text, json);
        read(&text)
    };
    let file = verified("\"rw\": \"randwrite\", \"verify\": \"crc32c\",");
    let job = row(&file.runs[0]);
    assert_eq!(
        (job.iops(), job.mib_per_s(), job.duration_ns()),
        (None, None, None)
    );
    assert_eq!(job.iops_of(stripewise_results::OperationKind::Read), None);
    assert_eq!(job.job.outcome.read.latency_ns.unwrap().p50, 48_896);
    assert!(expected_text(&file, "to verify it"));
    // It is not verified here.
    let file = verified("\"rw\": \"randrw\", \"verify\": \"crc32c\", \"do_verify\": \"0\",");
    assert!(row(&file.runs[0]).iops().is_some());
    // How reads and writes are reported does not change the load.
    let file = verified("\"rw\": \"randrw\", \"unified_rw_reporting\": \"both\",");
    assert!(!expected_text(&file, "no field of a record"));
}

/// fio's normal output of a job that synced after every fourth write.
const SYNCED: &str = "\
fs: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

fs: (groupid=0, jobs=1): err= 0: pid=12701: Sat Nov 28 12:08:27 2026
  write: IOPS=980, BW=3922KiB/s (4016kB/s)(400KiB/102msec); 0 zone resets
    clat (nsec): min=2604, max=29864, avg=5730.86, stdev=5216.23
     lat (nsec): min=2634, max=30726, avg=5860.32, stdev=5398.53
    clat percentiles (nsec):
     | 50.00th=[ 3344], 90.00th=[11840], 99.00th=[27008]
  lat (usec)   : 4=65.00%, 10=19.00%, 20=12.00%, 50=4.00%
  fsync/fdatasync/sync_file_range:
    sync (usec): min=121, max=16006, avg=4205.82, stdev=4205.95
    sync percentiles (usec):
     | 50.00th=[ 3523], 90.00th=[ 7701], 99.00th=[16057]
  cpu          : usr=2.97%, sys=0.00%, ctx=67, majf=0, minf=14
     issued rwts: total=0,100,0,24 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
  WRITE: bw=3922KiB/s (4016kB/s), 3922KiB/s-3922KiB/s (4016kB/s-4016kB/s), io=400KiB (410kB), run=102-102msec
";

#[test]
fn syncs_in_normal_output_are_those_of_the_json() {
    let file = read(SYNCED);
    let job = row(&file.runs[0]);
    let sync = job.job.outcome.sync.as_ref().unwrap();
    assert_eq!(sync.operations, 24);
    let latencies = sync.latency_ns.unwrap();
    assert_eq!((latencies.min, latencies.max), (121_000, 16_006_000));
    assert_eq!(job.latency_of_syncs("p99"), Some(16_057_000.0));
    assert_eq!(job.job.outcome.write.latency_ns.unwrap().p50, 3_344);
    let without = read(&SYNCED.replace("total=0,100,0,24", "total=0,100,0,0"));
    assert_eq!(row(&without.runs[0]).latency_of_syncs("p99"), None);
    let broken = SYNCED.replace("min=121, max=16006", "min=121, max=1600");
    assert!(refused(&broken).contains("syncs"));
}

/// With `slat_percentiles` and with priorities.
#[test]
fn percentiles_that_records_do_not_have_hide_no_others() {
    let normal = include_str!("../data/fio-normal.txt");
    let block = |of: &str| {
        format!("    {of} percentiles (usec):\n     |  1.00th=[    1], 99.00th=[    2]\n")
    };
    let clat = "    clat percentiles (usec):\n";
    let text = normal.replace(clat, &format!("{}{clat}", block("slat")));
    let prio = block("clat prio 1/0 (50.00% of IOs)").repeat(2);
    let rates = "   bw (  KiB/s):";
    let text = text.replace(rates, &format!("{prio}{rates}"));
    assert!(text.contains("slat percentiles") && text.contains("prio 1/0"));
    assert_eq!(jobs(&text), jobs(normal));
}

#[test]
fn a_row_that_is_no_sum_is_the_only_reason() {
    let text = crate::tools::DISKSPD_TEXT;
    let broken = text.replacen(
        "     0 |       983040000 |",
        "     0 |       983040512 |",
        1,
    );
    assert_ne!(broken, text);
    let error = import(broken.as_bytes(), "x").unwrap_err();
    assert_eq!(error.lines().len(), 1, "{error}");
    assert!(error.to_string().contains("is not the sum"), "{error}");
}

#[test]
fn underscores_that_markdown_escapes_are_underscores() {
    let text = include_str!("../data/sqlio-plain.txt");
    let escaped = text.replace("_Latency", "\\_Latency");
    assert_ne!(text, escaped);
    assert_eq!(read(&escaped).runs[0].jobs, read(text).runs[0].jobs);
}

fn of_files(heading: &str, average: &str) -> String {
    format!(
        "<pre>\n tod Run Interval reqrate rate resp MB/sec {heading}\n15:56:56.542 rd1 avg_2-50 {average}\n"
    )
}

#[test]
fn averages_of_file_system_workloads_are_those_of_their_reads_and_writes() {
    let heading = "Read_rate Read_resp Write_rate Write_resp MB_read MB_write Xfersize Mkdir_rate";
    let average = "999988.0000 70.0000 102.0000 0.2734 56.0000 0.0100 14.0000 509.9600 0.2188 0.0547 4096 3.0000";
    let file = read(&of_files(heading, average));
    let job = row(&file.runs[0]);
    assert_eq!(job.iops(), Some(70.0));
    assert_eq!(job.block_size_bytes(), Some(4_096));
    let of = |kind: &stripewise_results::KindOutcome| kind.latency_ns.unwrap().mean;
    assert!((of(&job.job.outcome.read) - 1e4).abs() < 1.0);
    assert!((of(&job.job.outcome.write) - 509.96e6).abs() < 1.0);
    assert!(expected_text(&file, "names and attributes"));
    // The summary has two lines of headings, with more columns behind those of reads and writes.
    let summary = "08:00:00.002 Starting RD=rd1; elapsed=60; fwdrate=max. For loops: None\n\n\
        Mar 08, 2019 ..Interval.. .ReqstdOps... ...cpu%...  read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ....open....\n\
        rate   resp total  sys   pct   rate   resp   rate   resp  read write  total    size  rate   resp\n\
        08:00:05.081            2 102.0 5.1  2.9 0.75  80.0  80.0 2.500   20.0  9.000  0.31  0.08   0.39    4096  1397  0.092\n\
        08:00:10.019     avg_2-2 100.0 4.0  1.3 0.83 75.0 75.0 2.000   25.0  10.000  0.29  0.10   0.39    4096  1389  0.025\n";
    let share_less = summary
        .replace("sys   pct ", "sys ")
        .replace("0.75  80.0  80.0", "0.75 80.0");
    let share_less = share_less.replace("0.83 75.0 75.0", "0.83 75.0");
    for text in [summary, share_less.as_str()] {
        let file = read(text);
        let job = row(&file.runs[0]);
        assert_eq!((job.iops(), job.mib_per_s()), (Some(100.0), Some(0.39)));
        assert_eq!(job.block_size_bytes(), Some(4_096));
        assert!((of(&job.job.outcome.read) - 2e6).abs() < 1.0);
        assert!((of(&job.job.outcome.write) - 1e7).abs() < 1.0);
    }
    // What is left out is why nothing is there.
    let why = refused(&of_files(
        "Mkdir_rate",
        "999988.0000 70.0000 102.0000 0.2734 3.0000",
    ));
    assert!(
        why.contains("line 3 is the average of run rd1, whose columns"),
        "{why}"
    );
}

#[test]
fn flatfiles_of_file_system_workloads_capitalise_their_columns() {
    let text = " tod timestamp Run Interval Xfersize Threads Reqrate Rate Resp Resp_max MB/sec \
        Read_rate Read_resp Read_resp_max Write_rate Write_resp Write_resp_max Open_rate\n\
        10:20:30.100 03/02/2026-10:20:30-CET rd1 avg_2-12 4096 n/a 9999988 2050.0 0.90 40.0 7.8125 \
        2000.0 0.5 30.0 0 0 0 50.0\n";
    let file = read(text);
    let job = row(&file.runs[0]);
    assert_eq!((job.iops(), job.mib_per_s()), (Some(2_000.0), Some(7.8125)));
    let reads = job.job.outcome.read.latency_ns.unwrap();
    assert!((reads.mean - 5e5).abs() < 1.0, "{reads:?}");
    assert_eq!(reads.max, 30_000_000);
    assert_eq!(job.block_size_bytes(), Some(4_096));
    // A mean of several sizes is no block size.
    let mean = read(&text.replace(" 4096 ", " 4093 "));
    assert_eq!(row(&mean.runs[0]).block_size_bytes(), None);
    let only_opens = text.replace(" 2000.0 0.5 30.0 ", " 0 0 0 ");
    assert!(refused(&only_opens).contains("neither read nor wrote"));
}

/// The rates of a host would pass for those of the run.
#[test]
fn vdbenchs_reports_of_a_part_of_a_run_are_no_results() {
    let summary = include_str!("../data/vdbench-summary.html");
    for heading in [
        "Host summary report(s) for host=hd1",
        "SD report for sd=sd1",
        "wd=wd1 response time histogram.",
        "Anchor status report",
    ] {
        let text = format!("<title>Vdbench out/x.html</title><pre>\n{heading}\n\n{summary}");
        let error = import(text.as_bytes(), "x").unwrap_err();
        assert!(error.is_of_no_tool(), "{error}");
        assert!(error.to_string().contains("one host, disk"), "{error}");
    }
}

#[test]
fn results_of_any_tool_are_read_where_they_are_quoted() {
    for (text, name) in [
        (include_str!("../data/sqlio-plain.txt"), "SQLIO"),
        (include_str!("../data/diskspd.txt"), "DiskSpd"),
        (include_str!("../data/fio-normal.txt"), "fio, normal"),
        (TERSE, "fio, terse"),
        (FIO, "fio, JSON"),
        (include_str!("../data/iometer.csv"), "Iometer"),
        (FLATFILE, "vdbench"),
    ] {
        let quoted: String = text.lines().map(|line| format!("> {line}  \n")).collect();
        let file = read(&format!("Somebody wrote:\n\n{quoted}"));
        let jobs = |file: &ImportedFile| -> Vec<_> {
            let each = file.runs.iter();
            each.map(|run| (row(run).iops(), run.jobs.len())).collect()
        };
        assert_eq!(jobs(&file), jobs(&read(text)), "{name}");
    }
}

#[test]
fn results_of_any_tool_are_read_from_logs() {
    let jobs =
        |file: &ImportedFile| -> Vec<_> { file.runs.iter().map(|run| run.jobs.clone()).collect() };
    for text in [
        include_str!("../data/sqlio-plain.txt"),
        include_str!("../data/diskspd.txt"),
        include_str!("../data/diskspd.xml"),
        include_str!("../data/fio-normal.txt"),
        TERSE,
        FIO,
        include_str!("../data/iometer.csv"),
        FLATFILE,
        include_str!("../data/elbencho.csv"),
        CRYSTAL,
    ] {
        for prefix in [
            "2026-11-28T08:00:00.5Z ",
            "2026-11-28T08:00:00.123456789Z stdout F ",
            "Nov 28 08:00:00 db1 bench[1234]: ",
            "[pod/bench-x7/bench] ",
            "bench-1  | ",
            "[08:00:00] ",
        ] {
            let logged: String = text
                .lines()
                .map(|line| format!("{prefix}{line}\r\n"))
                .collect();
            let file = read(&logged);
            assert_eq!(jobs(&file), jobs(&read(text)), "{logged}");
            assert!(expected_text(&file, "what a log puts before each line"));
        }
    }
    let logged: String = FIO
        .lines()
        .map(|line| format!("2026-11-28 08:00:00 {line}\n"))
        .collect();
    let error = refused(&format!("{logged}and more\n"));
    let line = FIO.lines().count() + 1;
    assert!(
        error.contains(&format!("not before line {line}")),
        "{error}"
    );
    let error = refused("{\"log\":\"{\\n\",\"stream\":\"stdout\"}\n");
    assert!(error.contains("a container's log"), "{error}");
    // vdbench itself prints the time of day.
    assert!(!expected_text(
        &read(include_str!("../data/vdbench-summary.html")),
        "what a log"
    ));
}

#[test]
fn texts_of_disk_marks_are_read_where_they_are_quoted_or_embedded() {
    for text in [CRYSTAL, KDISK] {
        let alone = read(text);
        let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
        let twice: String = text.lines().map(|line| format!("> > {line}\r\n")).collect();
        let page = format!(
            "# A page\n\n[a link](https://example.org)\n\n```\n{text}```\n\n[Another](https://example.org)\n"
        );
        let mail = format!("somebody wrote:\n{quoted}\n[Read] that: 9.000 MB/s\n");
        for other in [quoted, twice, page, mail] {
            let file = read(&other);
            let jobs = |file: &ImportedFile| -> Vec<_> {
                file.runs.iter().map(|run| run.jobs.clone()).collect()
            };
            assert_eq!(jobs(&file), jobs(&alone), "{other}");
        }
    }
}

#[test]
fn diskspd_for_linux_is_refused_by_its_name() {
    let text = include_str!("../data/diskspd.txt");
    let linux = text.replace("Results for timespan 1:", "Results for job 1:");
    assert_ne!(linux, text);
    let error = refused(&linux.replace("actual test time:", "test time:"));
    assert!(error.contains("of DiskSpd for Linux"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn old_disk_marks_are_refused_by_their_version() {
    let text = "CrystalDiskMark 6.0.0 x64 (C) 2007-2017 hiyohiyo\n\n   Sequential Read (Q= 32,T= 1) :   104.858 MB/s\n";
    let error = refused(text);
    assert!(
        error.contains("CrystalDiskMark 6.0.0: versions before 7"),
        "{error}"
    );
}

#[test]
fn pauses_and_limits_of_diskspd_are_carried() {
    let text = crate::tools::DISKSPD_TEXT;
    let mark = "block size:";
    assert!(text.contains(mark));
    let more = |line: &str| read(&text.replacen(mark, &format!("{line}\n{mark}"), 1));
    let plain = read(text);
    let job = row(&plain.runs[0]);
    assert_eq!(job.given("jobs.workload.rate", ()), Some(()));
    let limited = more("throughput rate-limited to 300 IOPS");
    let rate = limited.runs[0].jobs[0].workload.rate.unwrap();
    let threads = f64::from(limited.runs[0].jobs[0].workload.threads);
    assert!((rate.iops - 300.0 * threads).abs() < 1e-9);
    let parallel = more("using parallel async I/O");
    assert_eq!(row(&parallel.runs[0]).pattern(), None);
}

/// DiskSpd's text of a run that only writes: reads have no deviation of their latencies.
fn only_writes(deviation: &str) -> String {
    let text = crate::tools::DISKSPD_TEXT;
    let (head, _) = text.split_once("Total IO").unwrap();
    let head = head.replace("-w30", "-w100").replace(
        "performing mix test (read/write ratio: 70/30)",
        "performing write test",
    );
    let rows = |name: &str, numbers: &str| {
        format!(
            "{name}\nthread |       bytes     |     I/Os     |     MB/s   |  I/O per s |  AvgLat  | LatStdDev |  file\n     0 | {numbers} | E:\\bench\\t.dat (8192MB)\ntotal: {numbers}\n\n"
        )
    };
    let written = "294912000 | 18000 | 9.38 | 600.00 | 11.333 | 7.000";
    let tables = [
        rows("Total IO", written),
        rows(
            "Read IO",
            &format!("0 | 0 | 0.00 | 0.00 | 0.000 | {deviation}"),
        ),
        rows("Write IO", written),
    ];
    format!(
        "{head}{}  %-ile |  Read (ms) | Write (ms) | Total (ms)\n----------------------------------------------\n    min |        N/A |      0.300 |      0.300\n   50th |        N/A |     10.000 |     10.000\n   99th |        N/A |     30.000 |     30.000\n    max |        N/A |     60.000 |     60.000\n",
        tables.concat()
    )
}

#[test]
fn diskspd_prints_no_deviation_where_nothing_was_read() {
    let file = read(&only_writes("N/A"));
    let outcome = &file.runs[0].jobs[0].outcome;
    assert_eq!(
        (outcome.read.operations, outcome.write.operations),
        (0, 18_000)
    );
    assert_eq!(outcome.write.latency_ns.unwrap().p50, 10_000_000);
    // A row with operations has one.
    let cut = only_writes("0.000").replace("| 11.333 | 7.000", "| 11.333 | N/A");
    assert!(refused(&cut).contains("does not have a number"));
}

#[test]
fn terse_lines_whose_version_has_no_prefix_are_read() {
    let line = TERSE.lines().next().unwrap();
    let version = line.split(';').nth(1).unwrap();
    for other in ["2.0.8", "fio 2.0.8"] {
        let file = read(&line.replacen(version, other, 1));
        assert_eq!(file.runs[0].jobs, read(line).runs[0].jobs, "{other}");
        let imported = file.runs[0].imported.as_ref().unwrap();
        assert_eq!(imported.tool_version.as_deref(), Some("2.0.8"));
    }
}

#[test]
fn text_behind_the_table_of_elbencho_is_skipped() {
    let csv = include_str!("../data/elbencho.csv");
    let file = read(&format!(
        "A run:\n```\n{csv}\n```\n$ exit\nDone, all of it.\n"
    ));
    let jobs =
        |file: &ImportedFile| -> Vec<_> { file.runs.iter().map(|run| run.jobs.clone()).collect() };
    assert_eq!(jobs(&file), jobs(&read(csv)));
    assert!(expected_text(
        &file,
        "is not a row of the table and is skipped: $ exit"
    ));
    // A row that was cut after its date is no text.
    assert!(refused(&format!("{csv}\n2026-11-23T10:00:00\n")).contains("it is truncated"));
}

#[test]
fn a_job_that_only_trims_has_no_rate() {
    let text = "a: (g=0): rw=randtrim, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4\nfio-3.28\nStarting 1 process\n\na: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov 23 10:00:00 2026\n  trim: IOPS=1000, BW=4000KiB/s (4096kB/s)(39.1MiB/10000msec); 0 zone resets\n    clat (usec): min=7, max=2400, avg=36.01, stdev= 9.11\n  cpu          : usr=1.00%, sys=2.00%, ctx=1, majf=0, minf=0\n     issued rwts: total=0,0,10000,0 short=0,0,0,0 dropped=0,0,0,0\n\nRun status group 0 (all jobs):\n   TRIM: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=39.1MiB (41.0MB), run=10000-10000msec\n";
    let file = read(text);
    let job = row(&file.runs[0]);
    assert_eq!((job.iops(), job.mib_per_s()), (None, None));
    assert!(expected_text(&file, "its trims are left out"));
    assert!(expected_text(&file, "neither rates nor latencies"));
}

#[test]
fn a_document_without_a_job_is_refused_for_that() {
    let empty = refused("{\"fio version\": \"fio-3.33\", \"jobs\": []}");
    assert!(empty.contains("list of jobs is empty"), "{empty}");
}

#[test]
fn documents_that_other_programs_wrote_again_are_read() {
    let (_, body) = FIO.split_once('{').unwrap();
    // Sorted by name: an object with objects in it comes before the version.
    let disks = "\"disk_util\": [{\"name\": \"sda\", \"more\": {\"util\": 9.5}}],";
    let version = "\"fio version\"";
    let sorted = format!("{{\n{disks}\n{body}");
    assert!(sorted.find(disks) < sorted.find(version));
    assert_eq!(jobs(&sorted), jobs(FIO));
    // A brace in a text is none of the document.
    let odd = format!("{{\n\"a\": \"}}\",\n{body}");
    assert_eq!(jobs(&odd), jobs(FIO));
    let mark = "\"total_ios\": ";
    let (before, count) = FIO.split_once(mark).unwrap();
    let digits = count.find(|sign: char| !sign.is_ascii_digit()).unwrap();
    let (count, behind) = count.split_at(digits);
    assert_eq!(jobs(&format!("{before}{mark}{count}.0{behind}")), jobs(FIO));
}

#[test]
fn a_run_that_fio_printed_in_several_forms_is_one_result() {
    let normal = include_str!("../data/fio-normal.txt");
    let json = include_str!("../data/fio-same-run.json");
    let of = |text: &str| -> Vec<_> {
        let file = read(text);
        file.runs.iter().map(|run| run.jobs.clone()).collect()
    };
    // As fio prints `json,normal`: the headers, the JSON, the jobs.
    let (headers, jobs) = normal.split_at(normal.find("mixed: (groupid").unwrap());
    let both = format!("{headers}{json}\n{jobs}");
    for text in [
        both.clone(),
        format!("{normal}\n{json}"),
        format!("{json}\n{normal}"),
    ] {
        assert_eq!(of(&text), of(json), "{text}");
        assert!(expected_text(
            &read(&text),
            "3 jobs in fio normal output, from line"
        ));
    }
    assert!(expected_text(
        &read(&both),
        "fio JSON in this file says more"
    ));
    // Terse lines come first of all.
    let same = include_str!("../data/fio-terse-3.json");
    let file = read(&format!("{TERSE}{same}"));
    assert_eq!(
        (file.format, file.runs.len()),
        (Format::FioJson, of(same).len())
    );
    assert!(expected_text(
        &file,
        "3 jobs in fio terse output, from line 1 on"
    ));
    let file = Import::new(both.as_bytes(), "x").whole_results().all();
    let file = file.unwrap();
    assert_eq!(file.runs.len(), of(json).len());
    for alone in [normal, TERSE, json] {
        assert!(!expected_text(&read(alone), "says more of the same"));
    }
}

#[test]
fn sums_and_bits_of_normal_output_are_read() {
    let normal = include_str!("../data/fio-normal.txt");
    let end = "  lat (usec)   : 4=18.62%";
    let sum = "  mixed: IOPS=0, BW=0 (0)(0B/161msec)\n    clat (nsec): min=1, max=2, avg=1.50, stdev=0.10\n";
    let both = normal.replacen(end, &format!("{sum}{end}"), 1);
    assert_ne!(both, normal);
    assert_eq!(jobs(&both), jobs(normal));
    // With `unit_base=1`.
    let bits = normal.replacen("BW=26.1MiB/s (27.4MB/s)", "BW=219Mbit/s (209Mibit/s)", 1);
    assert_ne!(bits, normal);
    assert_eq!(jobs(&bits), jobs(normal));
    // Without reads and writes only the sum is named as the reason.
    let first = normal.find("  read: IOPS").unwrap();
    let only = format!(
        "{}{sum}{}",
        &normal[..first],
        &normal[normal.find(end).unwrap()..]
    );
    let error = refused(&only);
    assert!(error.contains("adds up reads and writes"), "{error}");
    assert!(!error.contains("is missing"), "{error}");
}

#[test]
fn other_runs_are_read_in_whatever_form_fio_printed_them() {
    let normal = include_str!("../data/fio-normal.txt");
    let count = |text: &str| read(text).runs.len();
    for (text, forms) in [
        (format!("{normal}\n{FIO}"), [normal, FIO]),
        (format!("{TERSE}{FIO}"), [TERSE, FIO]),
        (format!("{TERSE}{normal}"), [TERSE, normal]),
    ] {
        let file = read(&text);
        assert_eq!(file.runs.len(), count(forms[0]) + count(forms[1]));
        assert!(expected_text(
            &file,
            "results in several formats are in this file"
        ));
        assert!(!expected_text(&file, "says more of the same"));
    }
    // Headers above terse lines are those of the jobs below.
    let (headers, jobs) = normal.split_at(normal.find("mixed: (groupid").unwrap());
    let file = read(&format!("{headers}{TERSE}{jobs}"));
    assert_eq!(file.runs[0].jobs, read(normal).runs[0].jobs);
}

#[test]
fn snapshots_in_two_forms_are_those_of_one_run() {
    let normal = include_str!("../data/fio-normal.txt");
    let json = include_str!("../data/fio-same-run.json");
    let (headers, jobs) = normal.split_at(normal.find("mixed: (groupid").unwrap());
    let earlier = |text: &str| {
        let text = text.replace("2004", "1002").replace("3985", "1992");
        text.replace("32645120", "16318464")
            .replace("31.1MiB", "15.6MiB")
    };
    let both = format!("{headers}{}{}{json}\n{jobs}", earlier(json), earlier(jobs));
    let file = read(&both);
    assert_eq!(file.runs.len(), 3, "{:?}", file.notes);
    assert!(expected_text(
        &file,
        "1 earlier snapshot of a run is left out"
    ));
}
