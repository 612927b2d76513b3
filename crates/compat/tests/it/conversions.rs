//! Workloads of other tools as plans: what comes out is read by the plan reader.

use stripewise_compat::convert::{Converted, Surroundings, Tool, convert};
use stripewise_workload::{CacheMode, CursorKind, Pattern, Plan, PlanOrder};

fn run(tool: Tool, text: &str) -> Result<Converted, String> {
    let parameter_file =
        |name: &str| (name == "param.txt").then(|| b"L:\\t.dat 4 0x0 100\n".to_vec());
    let target = |name: &str| {
        let rest = name.strip_prefix("L:")?;
        Some(format!(
            "/mnt/l/{}",
            rest.trim_start_matches('\\').replace('\\', "/")
        ))
    };
    let surroundings = Surroundings {
        parameter_file: &parameter_file,
        target: &target,
    };
    convert(tool, text.as_bytes(), "jobs", &surroundings).map_err(|error| {
        assert!(!error.hint().is_empty());
        error.to_string()
    })
}

fn plan(tool: Tool, text: &str) -> (Plan, String) {
    let converted = run(tool, text).unwrap();
    let notes: Vec<String> = converted.notes.iter().map(ToString::to_string).collect();
    let plan = converted.plan.parse::<Plan>();
    (
        plan.unwrap_or_else(|error| panic!("{error}\n{}", converted.plan)),
        notes.join("\n"),
    )
}

#[test]
fn a_batch_file_becomes_a_job_for_each_call() {
    let batch = "@echo off\r\nrem a night's work\r\n\
        \"C:\\Program Files (x86)\\SQLIO\\sqlio.exe\" -kW -t2 -s60 -frandom -o8 -b64 -BH -LS -dL testfile.dat >> log.txt\r\n\
        timeout /T 10\r\n\
        sqlio -kR -s30 -fsequential -o4 -b8 -LS -Fparam.txt\r\n\
        sqlio -kR -t2 -f64 -i64 -LS -U -p1 L:\\m.dat\r\n";
    let (plan, notes) = plan(Tool::Sqlio, batch);
    assert_eq!((plan.order, plan.jobs.len()), (PlanOrder::Alone, 3));
    let [first, second, third] = plan.jobs.as_slice() else {
        panic!()
    };
    assert_eq!(first.targets, ["/mnt/l/testfile.dat"]);
    assert_eq!(
        (
            first.workload.read_percent,
            first.workload.threads,
            first.workload.outstanding
        ),
        (0, 2, 8)
    );
    assert_eq!(
        (first.workload.block_size_bytes, first.workload.duration_ns),
        (65_536, 60_000_000_000)
    );
    assert_eq!(first.workload.cache, CacheMode::Direct);
    assert_eq!(
        (second.workload.threads, second.workload.size_bytes),
        (4, Some(100 << 20))
    );
    let shared = Pattern::Sequential {
        cursor: CursorKind::Shared,
    };
    assert_eq!(second.workload.pattern, shared);
    let columns = Pattern::Stride {
        stride_bytes: 64 * 2048,
        cursor: CursorKind::Columns,
    };
    assert_eq!(third.workload.pattern, columns);
    for expected_text in [
        "pauses",
        "not redirected to files",
        "stripewise prepare",
        "-U",
        "--cpus",
    ] {
        assert!(notes.contains(expected_text), "{expected_text}: {notes}");
    }
}

#[test]
fn command_lines_of_diskspd_keep_its_defaults_and_meanings() {
    let (plan, notes) = plan(
        Tool::Diskspd,
        "diskspd.exe -c10G -b8K -d60 -W10 -t8 -o4 -r -w25 -Sh -L -a0,1 L:\\t.dat\ndiskspd -si64K -t2 -B1M -z7 L:\\t.dat\ndiskspd -s128K -I1 L:\\t.dat\n",
    );
    let [random, sequential, stride] = plan.jobs.as_slice() else {
        panic!()
    };
    assert_eq!(
        (random.workload.read_percent, random.workload.ramp_ns),
        (75, 10_000_000_000)
    );
    assert_eq!(random.workload.cache, CacheMode::DirectSync);
    let load = &sequential.workload;
    assert_eq!(
        (load.block_size_bytes, load.outstanding, load.duration_ns),
        (65_536, 2, 10_000_000_000)
    );
    assert_eq!(
        (load.ramp_ns, load.cache),
        (5_000_000_000, CacheMode::Buffered)
    );
    assert_eq!(
        load.pattern,
        Pattern::Sequential {
            cursor: CursorKind::Shared
        }
    );
    assert_eq!((load.base_offset_bytes, load.seed), (1 << 20, 7));
    assert!(matches!(
        stride.workload.pattern,
        Pattern::Stride {
            stride_bytes: 131_072,
            ..
        }
    ));
    for expected_text in ["-c10G", "--cpus", "-I1"] {
        assert!(notes.contains(expected_text), "{expected_text}: {notes}");
    }
}

#[test]
fn a_job_file_of_fio_keeps_its_common_options() {
    let (plan, notes) = plan(
        Tool::Fio,
        "; a comment\n[global]\ndirect=1\nioengine=libaio\nruntime=1m\ntime_based\nramp_time=5\ndirectory=/data\n\
         [data]\nfilename=a.dat:b.dat\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=16\nnumjobs=4\nsize=10g\nrandom_distribution=zipf:1.1\n\
         [log]\nrw=write\nbs=64k\nfdatasync=1\nsync=dsync\ngroup_reporting\ncpus_allowed=0-3\n",
    );
    assert_eq!(plan.order, PlanOrder::Together, "no stonewall");
    let [data, log] = plan.jobs.as_slice() else {
        panic!()
    };
    assert_eq!(data.targets, ["/data/a.dat", "/data/b.dat"]);
    assert_eq!(
        (
            data.workload.read_percent,
            data.workload.threads,
            data.workload.outstanding
        ),
        (70, 4, 16)
    );
    assert!(data.workload.in_turn, "a depth for both files together");
    assert_eq!(
        (data.workload.duration_ns, data.workload.ramp_ns),
        (60_000_000_000, 5_000_000_000)
    );
    assert_eq!(
        data.workload.size_bytes,
        Some(5 << 30),
        "fio's size is for both files"
    );
    assert_eq!(log.targets, ["/data"]);
    assert_eq!(
        (log.workload.cache, log.workload.sync.unwrap().every),
        (CacheMode::DirectSync, 1)
    );
    assert!(notes.contains("cpus_allowed: assign processors"), "{notes}");
    assert!(notes.contains("group_reporting is left out"), "{notes}");
    let (walled, _) = self::plan(
        Tool::Fio,
        "[a]\nrw=read\nruntime=5\n[b]\nstonewall\nrw=write\nruntime=9\n",
    );
    assert_eq!(walled.order, PlanOrder::Alone);
}

#[test]
fn lines_that_cannot_be_understood_are_named() {
    for (tool, text, expected_text) in [
        (
            Tool::Sqlio,
            "rem\nsqlio -kR -t%1 -frandom a.dat\n",
            "line 2: has the variable -t%1",
        ),
        (Tool::Sqlio, "sqlio -kR -mC4 a.dat\n", "line 1: "),
        (Tool::Sqlio, "sqlio -kR -Fother.txt\n", "not there"),
        (Tool::Sqlio, "dir\n", "contains no call of sqlio"),
        (Tool::Diskspd, "diskspd -rs50 -b8K a.dat\n", "line 1: -rs50"),
        (Tool::Diskspd, "diskspd -b8K\n", "names no target"),
        (Tool::Diskspd, "x\n", "contains no call of diskspd"),
        (Tool::Fio, "[a]\nbs=4k\nsize=${SIZE}\n", "line 3"),
        (Tool::Fio, "[a]\nbsrange=4k-8k\n", "several sizes"),
        (Tool::Fio, "rw=read\n", "has no job"),
        (
            Tool::Diskspd,
            "diskspd -b8K -w t.dat\n",
            "-w has no percentage",
        ),
        (Tool::Diskspd, "diskspd -b8K -w150 t.dat\n", "more than 100"),
        (Tool::Diskspd, "diskspd -Xload.xml\n", "profile in XML"),
        (Tool::Diskspd, "diskspd -O4 t.dat\n", "goes with -F"),
        (Tool::Diskspd, "diskspd -r -t8 -F4 t.dat\n", "-F and -t"),
        (
            Tool::Diskspd,
            "diskspd -r -O3 -F2 a.dat b.dat\n",
            "2 targets together",
        ),
        (
            Tool::Diskspd,
            "diskspd -B64M -f16M t.dat\n",
            "there is nothing in between",
        ),
        (
            Tool::Fio,
            "[a]\nioengine=rbd\nrw=randwrite\n",
            "ioengine=rbd",
        ),
        (
            Tool::Fio,
            "[global]\nioengine=net\n[a]\nrw=read\n",
            "ioengine=net",
        ),
        (
            Tool::Fio,
            "[a]\nioengine=io_uring_cmd\n",
            "ioengine=io_uring_cmd",
        ),
        (Tool::Fio, "[a]\nrw=read:-8k\n", "rw=read:-8k"),
        (Tool::Fio, "[a]\nreadwrite=randread:8\n", "rw=randread:8"),
        (
            Tool::Fio,
            "include other.fio\n[a]\nrw=read\n",
            "line 1: includes other.fio",
        ),
    ] {
        let error = run(tool, text).unwrap_err();
        assert!(error.contains(expected_text), "{text}: {error}");
    }
}

#[test]
fn names_of_any_signs_make_sound_toml() {
    let text =
        "sqlio -kR -frandom -LS \"L:\\dir\\a 'b' \u{e4}.dat\"\nsqlio -kR -frandom -LS Q:x.dat\n";
    let (plan, notes) = plan(Tool::Sqlio, text);
    assert_eq!(plan.jobs[0].targets, ["/mnt/l/dir/a 'b' \u{e4}.dat"]);
    assert_eq!(plan.jobs[1].targets, ["Q:x.dat"]);
    assert!(notes.contains("Q:x.dat: map it to a path"), "{notes}");
}

#[test]
fn spans_and_pools_of_diskspd_are_what_its_switches_mean() {
    for (switches, offset, size, threads, outstanding) in [
        ("-B16M:48M", 16 << 20, Some(48 << 20), 1, 2),
        ("-B16M -f64M", 16 << 20, Some(48 << 20), 1, 2),
        ("-f64M", 0, Some(64 << 20), 1, 2),
        ("-B16M:8M -f64M", 16 << 20, Some(8 << 20), 1, 2),
        ("-B10b -b8K", 81_920, None, 1, 2),
        ("-B10B -b8K", 81_920, None, 1, 2),
        ("-r -O4 -F2 -o1", 0, None, 2, 4),
        ("/b4K /o8 /w0", 0, None, 1, 8),
    ] {
        let (plan, _) = plan(Tool::Diskspd, &format!("diskspd {switches} L:\\t.dat\n"));
        let load = &plan.jobs[0].workload;
        assert_eq!(load.read_percent, 100, "{switches}");
        assert_eq!(
            (load.base_offset_bytes, load.size_bytes),
            (offset, size),
            "{switches}"
        );
        assert_eq!(
            (load.threads, load.outstanding),
            (threads, outstanding),
            "{switches}"
        );
    }
    let (plan, _) = plan(Tool::Diskspd, "diskspd -r -O8 -F3 L:\\a.dat L:\\b.dat\n");
    assert_eq!(plan.jobs[0].workload.outstanding, 4);
}

#[test]
fn comments_behind_values_of_fio_are_no_part_of_them() {
    let text = "[a]\nfilename=/data/t.dat\t; or a whole disk, /dev/sda\nrw=randread # x\nbs=64k;y\nnumjobs=2 ; z\nruntime=5\n";
    let (plan, _) = plan(Tool::Fio, text);
    let job = &plan.jobs[0];
    assert_eq!(job.targets, ["/data/t.dat"]);
    assert_eq!(
        (job.workload.block_size_bytes, job.workload.threads),
        (65_536, 2)
    );
    assert_eq!(job.workload.read_percent, 100);
}

#[test]
fn the_last_name_of_an_option_of_fio_counts_and_a_reader_stays_one() {
    let text =
        "[global]\nrw=write\nblocksize=4k\n[a]\nreadwrite=read\nbs=8k\nfilename=/data/t.dat\n";
    let (plan, _) = plan(Tool::Fio, text);
    let load = &plan.jobs[0].workload;
    assert_eq!((load.read_percent, load.block_size_bytes), (100, 8192));
}

#[test]
fn a_plan_of_fio_never_goes_beyond_the_size_of_its_file() {
    for (more, size, offset) in [
        ("filesize=1g\nsize=10g\n", 1 << 30, 0),
        ("filesize=1g\nsize=1m\n", 1 << 30, 0),
        ("filesize=1g\noffset=256m\n", 768 << 20, 256 << 20),
        ("size=1g\noffset=256m\n", 1 << 30, 256 << 20),
    ] {
        let text = format!("[writers]\nrw=write\nfilename=/d/t\nruntime=5\n{more}");
        let (plan, notes) = plan(Tool::Fio, &text);
        let load = &plan.jobs[0].workload;
        assert_eq!(
            (load.size_bytes, load.base_offset_bytes),
            (Some(size), offset),
            "{more}"
        );
        let both = more.contains("filesize") && more.contains("\nsize");
        assert_eq!(
            notes.contains("size together with filesize"),
            both,
            "{notes}"
        );
    }
}

#[test]
fn a_job_of_fio_that_begins_behind_its_file_is_no_job_of_zero_bytes() {
    for offset in ["1g", "2g"] {
        let text = format!(
            "[writers]\nrw=write\nfilename=/d/t\nruntime=5\nfilesize=1g\noffset={offset}\n"
        );
        let expected_text = run(Tool::Fio, &text).expect_err(offset);
        assert!(
            expected_text.contains("beyond the end of its file"),
            "{expected_text}"
        );
    }
}

#[test]
fn waits_sizes_and_syncs_of_fio_are_carried_over() {
    let text = "[writers]\nrw=write\nfilename=/d/t\nfilesize=1g\nbsrange=4k-4k\nfsync=8\nruntime=5\n\
                [readers]\nwait_for=writers\nrw=randread\nnumjobs=4\nfilename=/d/t\nruntime=5\n";
    let (plan, notes) = plan(Tool::Fio, text);
    assert_eq!(plan.order, PlanOrder::Alone);
    let load = &plan.jobs[0].workload;
    assert_eq!(
        (load.size_bytes, load.block_size_bytes),
        (Some(1 << 30), 4096)
    );
    assert_eq!(load.sync.unwrap().to_string(), "fsync:8");
    assert!(!notes.contains("fsync"), "{notes}");
}

#[test]
fn caches_of_diskspd_are_put_together_from_all_of_its_switches() {
    for (switches, cache) in [
        ("-Sw -Su", CacheMode::DirectSync),
        ("-Su -Sw", CacheMode::DirectSync),
        ("-Suw", CacheMode::DirectSync),
        ("-Swu", CacheMode::DirectSync),
        ("-S -Sw", CacheMode::DirectSync),
        ("-Sw -S", CacheMode::DirectSync),
        ("-Sw -r -Su", CacheMode::DirectSync),
        ("-Sb -Sw", CacheMode::BufferedSync),
        ("-Sh", CacheMode::DirectSync),
        ("-h", CacheMode::DirectSync),
        ("-S", CacheMode::Direct),
        ("/Su", CacheMode::Direct),
        ("-Sw", CacheMode::BufferedSync),
        ("-Sb", CacheMode::Buffered),
        ("", CacheMode::Buffered),
    ] {
        let (plan, _) = plan(
            Tool::Diskspd,
            &format!("diskspd -b4K -w100 {switches} L:\\t.dat\n"),
        );
        assert_eq!(plan.jobs[0].workload.cache, cache, "{switches}");
    }
}

#[test]
fn calls_are_found_whatever_the_folders_are_called() {
    for (tool, line) in [
        (
            Tool::Diskspd,
            "C:\\DISKSPD\\amd64\\diskspd.exe -b8K -r L:\\t.dat",
        ),
        (
            Tool::Diskspd,
            ".\\diskspd\\amd64\\diskspd.exe -b8K -r L:\\t.dat",
        ),
        (
            Tool::Diskspd,
            "\"C:\\Program Files\\diskspd\\diskspd.exe\" -b8K -r L:\\t.dat",
        ),
        (
            Tool::Diskspd,
            "& 'C:\\diskspd\\diskspd64.exe' -b8K -r L:\\t.dat",
        ),
        (Tool::Diskspd, "C:\\diskspd> diskspd64 /b8K -r L:\\t.dat"),
        (
            Tool::Sqlio,
            "C:\\SQLIO\\sqlio.exe -kR -b8 -frandom L:\\t.dat",
        ),
    ] {
        let (plan, _) = plan(tool, &format!("{line}\n"));
        let load = &plan.jobs[0].workload;
        assert_eq!(
            (plan.jobs.len(), load.block_size_bytes),
            (1, 8192),
            "{line}"
        );
        assert!(matches!(load.pattern, Pattern::Random { .. }), "{line}");
    }
    // A share of Windows is no variable.
    let shared = run(Tool::Diskspd, "diskspd -b8K \\\\server\\d$\\t.dat\n");
    assert!(shared.unwrap().plan.contains("d$"));
}

#[test]
fn what_diskspd_writes_is_carried_or_noted() {
    for (switch, compressible, note) in [
        ("-Z", 100, ""),
        ("-Zr", 0, ""),
        ("-Z1M", 0, "-Z1M: DiskSpd writes"),
        ("", 0, "without -Zr"),
    ] {
        let (plan, notes) = plan(
            Tool::Diskspd,
            &format!("diskspd -b8K -r -w50 {switch} L:\\t.dat\n"),
        );
        let data = plan.jobs[0].workload.data;
        assert_eq!(data.compressible_percent, compressible, "{switch}");
        assert_eq!(notes.is_empty(), note.is_empty(), "{switch}: {notes}");
        assert!(notes.contains(note), "{switch}: {notes}");
    }
}

#[test]
fn each_filename_of_fio_adds_to_those_before_it() {
    let (plan, _) = plan(
        Tool::Fio,
        "[global]\nrw=randread\nruntime=5\ntime_based\n[a]\nfilename=/dev/sdx\nfilename=/dev/sdy:/dev/sdz\nfilename=/dev/sdx\n",
    );
    assert_eq!(plan.jobs[0].targets, ["/dev/sdx", "/dev/sdy", "/dev/sdz"]);
    let (plan, _) = self::plan(
        Tool::Fio,
        "[global]\nfilename=/a\nrw=read\nruntime=5\ntime_based\n[a]\nfilename=/b\n[b]\nstonewall\n",
    );
    assert_eq!(plan.jobs[0].targets, ["/a", "/b"]);
    assert_eq!(plan.jobs[1].targets, ["/a"]);
}

#[test]
fn options_of_fio_are_carried_noted_or_refused_by_name() {
    let job = |options: &str| {
        run(
            Tool::Fio,
            &format!("[a]\nfilename=/a\nrw=randwrite\nruntime=5\ntime_based\nsize=1g\n{options}\n"),
        )
    };
    for options in [
        "verify=0",
        "zonemode=none",
        "percentage_random=100",
        "number_ios=0",
        "latency_target=0ms",
        "kb_base=1024",
        "end_fsync=0",
    ] {
        let converted = job(options).unwrap();
        assert_eq!(converted, job("").unwrap(), "{options}");
    }
    for (options, reason) in [
        ("verify=crc32c", "has verify,"),
        ("percentage_random=30", "has percentage_random,"),
        ("zonemode=strided", "has zonemode,"),
        ("number_ios=100", "has number_ios,"),
        ("kb_base=1000", "has kb_base"),
        (
            "end_fsync=1",
            "has end_fsync and writes through the page cache",
        ),
        ("rw=randwrite:8", "cannot express what follows the colon"),
    ] {
        let error = job(options).unwrap_err();
        assert!(error.contains(reason), "{options}: {error}");
    }
    for (options, note) in [
        (
            "end_fsync=1\ndirect=1",
            "end_fsync: the one sync at the end",
        ),
        ("fsync_on_close=1", "fsync_on_close: the one sync"),
        ("hipri\ndirect=1\nioengine=libaio", "hipri polls"),
        (
            "group_reporting\nthread",
            "group_reporting, thread are left out",
        ),
        ("nice=5", "nice: run stripewise under nice"),
    ] {
        let converted = job(options).unwrap();
        let notes: Vec<String> = converted.notes.iter().map(ToString::to_string).collect();
        assert!(
            notes
                .iter()
                .any(|expected_text| expected_text.contains(note)),
            "{options}: {notes:?}"
        );
    }
    let polled = job("hipri\ndirect=1\nioengine=io_uring").unwrap();
    assert!(polled.plan.parse::<Plan>().unwrap().jobs[0].workload.poll);
}

#[test]
fn what_a_tool_would_not_do_itself_is_refused() {
    for (tool, text, reason) in [
        (Tool::Diskspd, "diskspd -Su -Sb t.dat\n", "-Sb conflicts"),
        (Tool::Diskspd, "diskspd -h -Sw t.dat\n", "-Sw conflicts"),
        (Tool::Diskspd, "diskspd -Suu t.dat\n", "-Suu conflicts"),
        (
            Tool::Diskspd,
            "diskspd -Sr t.dat\n",
            "near cache of a share",
        ),
        (
            Tool::Diskspd,
            "diskspd -Sq t.dat\n",
            "not a known cache mode",
        ),
        (Tool::Diskspd, "diskspd -r -si t.dat\n", "-r and -s"),
        (Tool::Diskspd, "diskspd -r t.dat -b8K\n", "behind a target"),
        (Tool::Diskspd, "diskspd -B1M -B2M t.dat\n", "second time"),
        (Tool::Diskspd, "diskspd -Rpxml t.dat\n", "runs nothing"),
        (Tool::Diskspd, "diskspd -b8K $Target\n", "variable $Target"),
        (
            Tool::Diskspd,
            "diskspd -b${size} t.dat\n",
            "variable -b${size}",
        ),
        (Tool::Diskspd, "diskspd.exe \u{2013}b8K t.dat\n", "U+2013"),
        (Tool::Diskspd, "diskspd -b8K \u{201c}t.dat\n", "U+201C"),
        (
            Tool::Diskspd,
            "diskspd -b8K \u{201c}t.dat\u{201d}\n",
            "U+201C",
        ),
        (
            Tool::Fio,
            "[a]\nrw=read\nfilename=\u{201c}/dev/sdx\u{201d}\n",
            "line 3: has filename=\u{201c}/dev/sdx\u{201d}: type",
        ),
        (Tool::Fio, "fio -name=a -rw=read\n", "a command line of fio"),
        (
            Tool::Fio,
            include_str!("../data/fio.json"),
            "is a result of fio, not a job file",
        ),
        (
            Tool::Diskspd,
            "./Batch.ps1 -Time 30 -OutPath \"c:\\diskspd\" -SplitIO False\n",
            "no call of diskspd",
        ),
        (
            Tool::Diskspd,
            "Copy-Item C:\\d\\diskspd.exe -Destination C:\\x\n",
            "no call of diskspd",
        ),
        (Tool::Sqlio, "sqlio \u{2013}kW t.dat\n", "U+2013"),
        (Tool::Sqlio, "sqlio -kW \u{2013}t8 t.dat\n", "U+2013"),
        (Tool::Sqlio, "sqlio -kW $Var\n", "variable $Var"),
        (
            Tool::Sqlio,
            "Copy-Item .\\sqlio.exe -Destination $x\n",
            "no call of sqlio",
        ),
        (Tool::Sqlio, "C:\\>copy sqlio.exe -k\n", "no call of sqlio"),
    ] {
        let error = run(tool, text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn processes_of_fio_without_a_filename_are_noted_to_have_files_of_their_own() {
    let note = "has a file of its own";
    for (options, is_noted) in [
        ("numjobs=4", true),
        ("numjobs=1", false),
        ("numjobs=4\nfilename=/data/t.dat", false),
    ] {
        let text = format!("[a]\nrw=randread\nsize=1g\nruntime=5\n{options}\n");
        let (_, notes) = plan(Tool::Fio, &text);
        assert_eq!(notes.contains(note), is_noted, "{options}: {notes}");
    }
}

#[test]
fn files_of_fio_are_noted_to_be_made_first_and_devices_are_not() {
    for (name, is_noted) in [("/data/t.dat", true), ("/dev/nvme0n1", false)] {
        let text = format!("[a]\nrw=randread\nsize=1g\nruntime=5\nfilename={name}\n");
        let (_, notes) = plan(Tool::Fio, &text);
        let is_there = notes.contains("a plan does not create files");
        assert_eq!(is_there, is_noted, "{name}: {notes}");
    }
}

#[test]
fn a_typing_error_in_an_option_of_fio_has_its_option() {
    let error = run(Tool::Fio, "[a]\nrw=randread\niodpth=16\n").unwrap_err();
    assert!(error.contains("did you mean iodepth?"), "{error}");
    let error = run(Tool::Fio, "[a]\nrw=randread\nrate=10m\n").unwrap_err();
    assert!(error.contains("a plan cannot express"), "{error}");
}
