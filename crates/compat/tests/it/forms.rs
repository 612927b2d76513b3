//! Results of fio's other formats, of Iometer, vdbench, elbencho, CrystalDiskMark and KDiskMark:
//! each value compared with the result of a second parser of a few lines.

use stripewise_compat::{Format, ImportedFile, import};
use stripewise_results::{JobRow, KindOutcome, OperationKind, RunRecord};

fn read(text: &str) -> ImportedFile {
    import(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"))
}

fn row(run: &RunRecord) -> JobRow<'_> {
    JobRow {
        run,
        job: &run.jobs[0],
    }
}

/// That two numbers are the same, but for what is rounded.
#[track_caller]
fn near(found: f64, wanted: f64, step: f64) {
    let off = (found - wanted).abs();
    assert!(off <= step * 1.001 + wanted * 1e-9, "{found} for {wanted}");
}

/// Of latencies in one form and in the JSON of the same run.
#[track_caller]
fn same_latencies(found: &KindOutcome, wanted: &KindOutcome, step_ns: f64) {
    let (Some(found), Some(wanted)) = (found.latency_ns, wanted.latency_ns) else {
        assert_eq!(found.operations, wanted.operations);
        return;
    };
    // What is printed in microseconds is cut, percentiles are rounded up.
    for (found, wanted) in [
        (found.min as f64, wanted.min as f64),
        (found.mean, wanted.mean),
        (found.max as f64, wanted.max as f64),
        (found.p50 as f64, wanted.p50 as f64),
        (found.p90 as f64, wanted.p90 as f64),
        (found.p99 as f64, wanted.p99 as f64),
        (
            found.p999.unwrap_or(0) as f64,
            wanted.p999.unwrap_or(0) as f64,
        ),
    ] {
        near(found, wanted, step_ns + wanted * 1e-4);
    }
}

#[test]
fn fios_normal_output_says_what_the_json_of_the_same_run_says() {
    let json = read(include_str!("../data/fio-same-run.json"));
    let file = read(include_str!("../data/fio-normal.txt"));
    assert_eq!(
        (file.format, file.runs.len(), json.runs.len()),
        (Format::FioNormal, 3, 3)
    );
    for (found, wanted) in file.runs.iter().zip(&json.runs) {
        assert_eq!(found.jobs.len(), wanted.jobs.len());
        for (found, wanted) in found.jobs.iter().zip(&wanted.jobs) {
            let (out, json) = (&found.outcome, &wanted.outcome);
            assert_eq!(found.name, wanted.name);
            assert_eq!(
                (out.operations, out.bytes, out.duration_ns),
                (json.operations, json.bytes, json.duration_ns)
            );
            near(out.iops, json.iops, 1e-4);
            near(out.mib_per_s, json.mib_per_s, 1e-6);
            same_latencies(&out.read, &json.read, 1000.0);
            same_latencies(&out.write, &json.write, 1000.0);
            let of = |job: &stripewise_results::JobRecord| {
                let load = &job.workload;
                let engine = job.engine.name.clone();
                (
                    load.pattern,
                    load.block_size_bytes,
                    load.outstanding,
                    engine,
                )
            };
            assert_eq!(of(found), of(wanted), "{}", found.name);
        }
        // What its header does not say.
        for path in ["cache", "duration_ns", "base_offset_bytes", "distribution"] {
            let gives = found.imported.as_ref().unwrap();
            assert!(!gives.gives(&format!("jobs.workload.{path}")), "{path}");
        }
    }
    let mixed = &file.runs[0];
    assert_eq!(row(mixed).operation(), None, "70 % is in no line of it");
    assert_eq!(row(&file.runs[1]).threads(), Some(2));
    assert_eq!(row(&file.runs[2]).threads(), Some(1));
    assert_eq!(
        mixed.imported.as_ref().unwrap().tool_version.as_deref(),
        Some("3.33")
    );
}

#[test]
fn fios_terse_output_says_what_the_json_of_the_same_run_says() {
    for (terse, json) in [
        (
            include_str!("../data/fio-terse-2.txt"),
            include_str!("../data/fio-terse-2.json"),
        ),
        (
            include_str!("../data/fio-terse-3.txt"),
            include_str!("../data/fio-terse-3.json"),
        ),
        (
            include_str!("../data/fio-terse-4.txt"),
            include_str!("../data/fio-terse-4.json"),
        ),
        (
            include_str!("../data/fio-terse-5.txt"),
            include_str!("../data/fio-terse-5.json"),
        ),
    ] {
        let (file, json) = (read(terse), read(json));
        assert_eq!((file.format, file.runs.len()), (Format::FioTerse, 3));
        for (found, wanted) in file.runs.iter().zip(&json.runs) {
            let (out, json) = (&found.jobs[0].outcome, &wanted.jobs[0].outcome);
            assert_eq!(found.jobs[0].name, wanted.jobs[0].name);
            assert_eq!(out.duration_ns, json.duration_ns);
            assert_eq!(row(found).operations(), None, "not in a line");
            near(out.iops, json.iops, 2.0);
            near(out.mib_per_s, json.mib_per_s, 2.0 / 1024.0);
            near(out.bytes as f64, json.bytes as f64, 2048.0);
            same_latencies(&out.read, &json.read, 1000.0);
            same_latencies(&out.write, &json.write, 1000.0);
            for kind in [OperationKind::Read, OperationKind::Write] {
                let [iops, of_json] = [found, wanted].map(|run| row(run).iops_of(kind).unwrap());
                near(iops, of_json, 2.0);
                let [mib, of_json] =
                    [found, wanted].map(|run| row(run).mib_per_s_of(kind).unwrap());
                near(mib, of_json, 2.0 / 1024.0);
            }
        }
        // A second parser: the rates of reads and writes by their places.
        let head = if terse.starts_with('2') { 4 } else { 5 };
        let of_side = if terse.starts_with('5') { 47 } else { 41 };
        for (line, run) in terse.lines().zip(&file.runs) {
            let cells: Vec<&str> = line.split(';').collect();
            let iops: f64 = [head + 2, head + of_side + 2]
                .iter()
                .map(|at| cells[*at].parse::<f64>().unwrap())
                .sum();
            assert_eq!(row(run).iops(), Some(iops));
        }
    }
}

#[test]
fn hosts_of_fios_client_mode_are_jobs_of_one_run_and_their_sum_is_checked() {
    let text = include_str!("../data/fio-client.json");
    let file = read(text);
    assert_eq!((file.runs.len(), file.runs[0].jobs.len()), (1, 2));
    let names: Vec<&str> = file.runs[0]
        .jobs
        .iter()
        .map(|job| job.name.as_str())
        .collect();
    assert_eq!(names, ["reads@127.0.0.1", "reads@127.0.0.1#2"]);
    // A second parser: counts of the hosts, in order.
    let counts: Vec<u64> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("\"total_ios\": "))
        .filter_map(|rest| rest.trim_end_matches(',').parse().ok())
        .filter(|count| *count > 0)
        .collect();
    let found: Vec<u64> = file.runs[0]
        .jobs
        .iter()
        .map(|job| job.outcome.operations)
        .collect();
    assert_eq!(counts[..2], found[..]);
    assert_eq!(counts[2], found[0] + found[1]);
    assert!(
        file.notes
            .iter()
            .any(|note| note.message.contains("2 hosts"))
    );
    let changed = text.replacen("\"total_ios\": 2048", "\"total_ios\": 2047", 1);
    assert_ne!(changed, text);
    let error = import(changed.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("All clients"), "{error}");
}

#[test]
fn iometers_rows_of_all_managers_are_results() {
    let text = include_str!("../data/iometer.csv");
    let file = read(text);
    assert_eq!((file.format, file.runs.len()), (Format::IometerCsv, 2));
    // A second parser: cells of the rows ALL by the names above them.
    let header = text.lines().find(|line| line.starts_with("'Target Type"));
    let names: Vec<&str> = header.unwrap()[1..].split(',').collect();
    let rows = text.lines().filter(|line| line.starts_with("ALL,"));
    for (line, run) in rows.zip(&file.runs) {
        let cells: Vec<&str> = line.split(',').collect();
        let at = |name: &str| -> f64 {
            let at = names.iter().position(|known| *known == name).unwrap();
            cells[at].parse().unwrap()
        };
        let out = &run.jobs[0].outcome;
        assert_eq!(row(run).iops(), Some(at("IOps")));
        assert_eq!(row(run).mib_per_s(), Some(at("MiBps (Binary)")));
        let reads = OperationKind::Read;
        assert_eq!(row(run).iops_of(reads), Some(at("Read IOps")));
        let mib = row(run).mib_per_s_of(reads).unwrap();
        near(mib, at("Read MiBps (Binary)"), mib * 1e-4);
        assert_eq!(out.read.operations as f64, at("Read I/Os"));
        assert_eq!(out.write.bytes as f64, at("Bytes Written"));
        let reads = out.read.latency_ns.unwrap();
        near(reads.mean, at("Average Read Response Time") * 1e6, 1.0);
        near(
            reads.max as f64,
            at("Maximum Read Response Time") * 1e6,
            1.0,
        );
        let writes = out.write.latency_ns.unwrap();
        near(writes.mean, at("Average Write Response Time") * 1e6, 1.0);
        assert_eq!(out.errors.total, 0);
    }
    let oltp = row(&file.runs[0]);
    assert_eq!(oltp.operation().as_deref(), Some("67 % read"));
    assert_eq!(
        (oltp.block_size_bytes(), oltp.pattern()),
        (Some(8192), Some("random"))
    );
    assert_eq!((oltp.threads(), oltp.outstanding()), (Some(2), Some(16)));
    assert_eq!(file.runs[0].jobs[0].workload.duration_ns, 90_000_000_000);
    assert_eq!(file.runs[0].jobs[0].workload.ramp_ns, 5_000_000_000);
    // Two lines with different sizes of reads.
    let backup = row(&file.runs[1]);
    assert_eq!(
        (backup.block_size_bytes(), backup.operation()),
        (None, None)
    );
    assert!(
        file.notes
            .iter()
            .any(|note| note.message.contains("several lines"))
    );
}

#[test]
fn damage_to_iometers_rows_is_found() {
    let text = include_str!("../data/iometer.csv");
    for (from, to, reason) in [
        (
            "ALL,All,8K OLTP,1,2,2,3950,",
            "ALL,All,8K OLTP,1,2,2,3995,",
            "do not match its",
        ),
        (",30.8594,", ",38.8594,", "MiB/s"),
        (
            ",1951211520,961044480,238185,",
            ",1951211520,961044480,238186,",
            "add up to",
        ),
        (
            "8192,100,67,100,0,1,8192,0,",
            "8192,90,67,100,0,1,8192,0,",
            "90 %",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let error = import(text.replacen(from, to, 1).as_bytes(), "x").unwrap_err();
        assert!(error.to_string().contains(reason), "{to}: {error}");
    }
    // Versions before 1.1 have one kind of megabytes, of 1,048,576 bytes.
    let old = text
        .replace("MiBps (Binary)", "MBps")
        .replace("MBps (Decimal)", "x");
    assert_eq!(row(&read(&old).runs[0]).mib_per_s(), Some(30.8594));
}

#[test]
fn averages_of_vdbench_are_results_in_both_of_its_files() {
    let flat_text = include_str!("../data/vdbench-flatfile.html");
    let flat = read(flat_text);
    assert_eq!((flat.format, flat.runs.len()), (Format::VdbenchFlatfile, 2));
    let heading: Vec<&str> = flat_text
        .lines()
        .find(|line| line.trim().starts_with("tod "))
        .unwrap()
        .split_whitespace()
        .collect();
    let averages = flat_text.lines().filter(|line| line.contains(" avg_"));
    for (line, run) in averages.zip(&flat.runs) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let at = |name: &str| -> f64 {
            let at = heading.iter().position(|known| *known == name).unwrap();
            cells[at].parse().unwrap()
        };
        assert_eq!(row(run).iops(), Some(at("rate")));
        assert_eq!(row(run).mib_per_s(), Some(at("MB/sec")));
        let reads = run.jobs[0].outcome.read.latency_ns.unwrap();
        near(reads.mean, at("read_resp") * 1e6, 1.0);
        near(reads.max as f64, at("read_max") * 1e6, 1.0);
        assert_eq!(row(run).block_size_bytes(), Some(at("xfersize") as u64));
        assert_eq!(row(run).threads(), Some(at("threads") as u32));
        near(
            run.jobs[0].outcome.outstanding_mean,
            at("queue_depth"),
            1e-9,
        );
    }
    assert_eq!(row(&flat.runs[0]).operation().as_deref(), Some("70 % read"));
    assert_eq!(row(&flat.runs[0]).pattern(), Some("random"));
    assert_eq!(row(&flat.runs[1]).pattern(), Some("sequential"));
    let summary_text = include_str!("../data/vdbench-summary.html");
    let summary = read(summary_text);
    assert_eq!(
        (summary.format, summary.runs.len()),
        (Format::VdbenchSummary, 2)
    );
    for (summary, flat) in summary.runs.iter().zip(&flat.runs) {
        near(
            row(summary).iops().unwrap(),
            row(flat).iops().unwrap(),
            0.006,
        );
        near(
            row(summary).mib_per_s().unwrap(),
            row(flat).mib_per_s().unwrap(),
            0.006,
        );
        near(
            row(summary).latency("mean").unwrap(),
            row(flat).latency("mean").unwrap(),
            1000.0,
        );
        assert_eq!(row(summary).latency("max"), row(flat).latency("max"));
        assert_eq!(row(summary).threads(), None, "only options say it");
    }
    // A run that was stopped has no average.
    let stopped: Vec<&str> = summary_text
        .lines()
        .filter(|line| !(line.contains(" avg_") && line.contains("131072")))
        .collect();
    let file = read(&stopped.join("\n"));
    assert_eq!(file.runs.len(), 1);
    let note = |note: &stripewise_compat::Note| note.message.contains("run rd_scan, which has no");
    assert!(file.notes.iter().any(note), "{:?}", file.notes);
    let error = import(flat_text.replace(" 15.6436 ", " 51.6436 ").as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("MB/s"), "{error}");
}

#[test]
fn phases_of_elbencho_are_results_in_both_of_its_forms() {
    let csv_text = include_str!("../data/elbencho.csv");
    let (csv, json) = (read(csv_text), read(include_str!("../data/elbencho.json")));
    assert_eq!((csv.format, csv.runs.len()), (Format::ElbenchoCsv, 3));
    assert_eq!((json.format, json.runs.len()), (Format::ElbenchoJson, 3));
    let heading: Vec<&str> = csv_text.lines().next().unwrap().split(',').collect();
    for ((line, run), json) in csv_text.lines().skip(1).zip(&csv.runs).zip(&json.runs) {
        let cells: Vec<&str> = line.split(',').collect();
        let at = |name: &str| -> f64 {
            let at = heading.iter().position(|known| *known == name).unwrap();
            cells[at].parse().unwrap_or(0.0)
        };
        let iops = at("IOPS [last]") + at("rwmix read IOPS [last]");
        assert_eq!(
            (row(run).iops(), row(json).iops()),
            (Some(iops), Some(iops))
        );
        let mib = at("MiB/s [last]") + at("rwmix read MiB/s [last]");
        assert_eq!(row(run).mib_per_s(), Some(mib));
        near(row(json).mib_per_s().unwrap(), mib + 1.0, 1.0);
        assert_eq!(run.jobs[0].workload, json.jobs[0].workload);
        assert_eq!(run.started_at, json.started_at);
        let latency = |run: &RunRecord| {
            let out = &run.jobs[0].outcome;
            (out.read.latency_ns, out.write.latency_ns)
        };
        assert_eq!(latency(run), latency(json));
        let own = latency(run).0.filter(|_| !line.contains("RWMIX"));
        let own = own.or(latency(run).1).unwrap();
        assert_eq!(own.mean, at("IO lat us [avg]") * 1e3);
        assert_eq!(own.max as f64, at("IO lat us [max]") * 1e3);
    }
    assert_eq!(json.runs[0].jobs[0].outcome.bytes, 1024 << 20);
    assert_eq!(row(&csv.runs[0]).operations(), None);
    assert_eq!(csv.runs[0].started_at, "2026-03-02T09:20:30.123Z");
    assert_eq!(row(&csv.runs[2]).operation().as_deref(), Some("70 % read"));
    for (kind, iops) in [
        (OperationKind::Read, 13_994.0),
        (OperationKind::Write, 5_998.0),
    ] {
        assert_eq!(row(&csv.runs[2]).iops_of(kind), Some(iops));
        assert_eq!(row(&json.runs[2]).iops_of(kind), Some(iops));
    }
    assert!(
        csv.notes
            .iter()
            .any(|note| note.message.contains("RMFILES"))
    );
    let changed = csv_text.replacen(",435,", ",43,", 1);
    assert_ne!(changed, csv_text);
    let error = import(changed.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("MiB/s"), "{error}");
}

/// Of the tests' lines.
fn every_line_of_a_test_is_read(text: &str, file: &ImportedFile, unit: f64) {
    // A second parser: the words around the units.
    let lines = text.lines().filter(|line| line.contains("IOPS]"));
    for (line, run) in lines.zip(&file.runs) {
        let before = |unit: &str| -> f64 {
            let text = &line[..line.find(unit).unwrap()];
            let word = text.trim_end().rsplit(['[', '<', ' ', ':']).next();
            word.unwrap().parse().unwrap()
        };
        assert_eq!(row(run).iops(), Some(before("IOPS]")));
        near(
            row(run).mib_per_s().unwrap(),
            before("MB/s") * unit / 1_048_576.0,
            1e-9,
        );
        let job = &run.jobs[0];
        let mean = job.outcome.read.latency_ns.or(job.outcome.write.latency_ns);
        if job.workload.read_percent != 70 {
            near(mean.unwrap().mean, before("us>") * 1e3, 0.001);
        } else {
            assert_eq!(mean, None, "of both together none is known");
        }
        let (queues, threads) = (row(run).outstanding(), row(run).threads());
        let count = |mark: &str| -> u32 {
            let rest = line.split(mark).nth(1).unwrap();
            rest.split([',', ')'])
                .next()
                .unwrap()
                .trim()
                .parse()
                .unwrap()
        };
        assert_eq!((queues, threads), (Some(count("Q=")), Some(count("T="))));
    }
}

#[test]
fn tests_of_crystaldiskmark_and_kdiskmark_are_results() {
    for (text, format, runs, unit) in [
        (
            include_str!("../data/crystaldiskmark.txt"),
            Format::CrystalDiskMark,
            12,
            1e6,
        ),
        (
            include_str!("../data/kdiskmark.txt"),
            Format::KDiskMark,
            8,
            1_024_000.0,
        ),
    ] {
        let file = read(text);
        assert_eq!((file.format, file.runs.len()), (format, runs));
        every_line_of_a_test_is_read(text, &file, unit);
        let reads: Vec<Option<String>> = file.runs.iter().map(|run| row(run).operation()).collect();
        assert_eq!(reads[0].as_deref(), Some("read"));
        assert_eq!(reads[4].as_deref(), Some("write"));
        assert_eq!(row(&file.runs[2]).block_size_bytes(), Some(4096));
        assert_eq!(row(&file.runs[2]).pattern(), Some("random"));
        assert_eq!(file.runs[0].jobs[0].workload.duration_ns, 5_000_000_000);
        let version = file.runs[0].imported.as_ref().unwrap().tool_version.clone();
        assert!(["8.0.4", "3.2.0"].contains(&version.unwrap().as_str()));
        let error = import(
            text.replace("IOPS] <  3611", "IOPS] <")
                .replace("[Write]", "")
                .as_bytes(),
            "x",
        );
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("repeats a test of its section")
        );
    }
    let text = include_str!("../data/crystaldiskmark.txt");
    let error = import(text.replace(" 412.735", " 912.735").as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("contradict"), "{error}");
    // As Windows saves it, twice in one file.
    let wide: Vec<u8> = [text, &text.replace("2359.00", "2358.00")]
        .concat()
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let file = import(&[b"\xff\xfe".to_vec(), wide].concat(), "x").unwrap();
    assert_eq!(file.runs.len(), 24);
}

#[test]
fn switches_of_diskspd_2_3_name_its_version_and_its_defaults() {
    let file = read(include_str!("../data/diskspd-2.3.txt"));
    let imported = file.runs[0].imported.as_ref().unwrap();
    assert_eq!(imported.tool_version.as_deref(), Some("2.3+"));
    let expected_text = |note: &stripewise_compat::Note| note.message.contains("DiskSpd 2.3");
    assert!(file.notes.iter().any(expected_text), "{:?}", file.notes);
    let before = read(include_str!("../data/diskspd.txt"));
    assert!(!before.notes.iter().any(expected_text));
    // What it measured is read as ever; so is XML with elements of a later version.
    assert_eq!(row(&file.runs[0]).iops(), row(&before.runs[0]).iops());
    let xml = include_str!("../data/diskspd.xml");
    let newer = xml
        .replace("2.0.21a", "2.3")
        .replace("<Profile>", "<Profile><IoRing><Batch>16</Batch></IoRing>")
        .replace(
            "<BlockSize>",
            "<BufferSeparation>pde</BufferSeparation><BlockSize>",
        );
    let file = read(&newer);
    let imported = file.runs[0].imported.as_ref().unwrap();
    assert_eq!(imported.tool_version.as_deref(), Some("2.3"));
    assert_eq!(file.runs[0].jobs, read(xml).runs[0].jobs);
}
