//! What `convert` carries over, and what it refuses by name: options one by one,
//! DiskSpd's lines, and fio's own examples, of which a table in the documentation is made.

use crate::skips::skip_unasked;
use std::fmt::Write as _;
use std::path::Path;
use stripewise_compat::Error;
use stripewise_compat::convert::{Converted, Surroundings, Tool, convert};
use stripewise_workload::{CacheMode, Distribution, Pattern, Plan, PlanOrder, ThinkTime};

fn converted(tool: Tool, text: &str) -> Result<Converted, Error> {
    let surroundings = Surroundings {
        parameter_file: &|_| None,
        target: &|name| Some(format!("/mnt/{}", name.replace(['\\', ':'], "_"))),
    };
    convert(tool, text.as_bytes(), "x", &surroundings)
}

#[track_caller]
fn plan(tool: Tool, text: &str) -> Plan {
    let converted = converted(tool, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    converted.plan.parse().unwrap()
}

#[track_caller]
fn refused(tool: Tool, text: &str, name: &str) {
    match converted(tool, text) {
        Ok(converted) => panic!("{text}: taken\n{}", converted.plan),
        Err(error) => {
            assert!(error.to_string().contains(name), "{name}: {error}");
            assert!(!error.hint().is_empty());
        }
    }
}

const JOB: &str = "[a]\nfilename=/d/t\nsize=1g\nruntime=5\ntime_based\n";

#[test]
fn block_splits_and_gaps_of_fio_are_carried_over() {
    for (split, block) in [
        ("bssplit=4k/60:64k/40\nrw=randread\n", "4K:60,64K:40"),
        (
            "bssplit=4k/50:8k/:64k/\nrw=randread\n",
            "4K:50,8K:25,64K:25",
        ),
        ("bssplit=4k/10:8k/90,64k/100\nrw=randread\n", "4K:10,8K:90"),
    ] {
        let plan = plan(Tool::Fio, &format!("{JOB}{split}"));
        assert_eq!(plan.jobs[0].workload.block_sizes.to_string(), block);
    }
    let one = plan(Tool::Fio, &format!("{JOB}bssplit=8k/100\nrw=randwrite\n"));
    assert_eq!(one.jobs[0].workload.block_size_bytes, 8192);
    let gap = plan(Tool::Fio, &format!("{JOB}rw=read:64k\nbs=8k\n"));
    let Pattern::Stride { stride_bytes, .. } = gap.jobs[0].workload.pattern else {
        panic!("{:?}", gap.jobs[0].workload.pattern)
    };
    assert_eq!(stride_bytes, 72 << 10);
    assert_eq!(gap.jobs[0].workload.read_percent, 100);
}

#[test]
fn what_a_plan_cannot_say_of_fio_is_refused_by_its_name() {
    for (options, name) in [
        ("rw=read:-8k\n", "rw=read:-8k"),
        ("rw=randread:8\n", "rw=randread:8"),
        ("thinktime=soon\n", "thinktime=soon"),
        ("thinktime=100\nthinktime_spin=50\n", "thinktime_spin"),
        ("thinktime=100\nthinktime_iotime=1s\n", "thinktime_iotime"),
        (
            "thinktime=100\niodepth=4\nioengine=libaio\n",
            "thinktime_blocks_type",
        ),
        ("thinktime=100\nrate_iops=50\n", "thinktime and rate_iops"),
        ("rate=10m\n", "has rate"),
        (
            "rw=randrw\nrate_iops=500\n",
            "rate_iops=500: it has a rate for each direction",
        ),
        (
            "rate_iops=fast\n",
            "rate_iops=fast: its rate cannot be parsed",
        ),
        ("rw=write\nfsync=8\nfdatasync=4\n", "fsync and fdatasync"),
        ("runtime=1h30m\n", "has no time in runtime=1h30m"),
        (
            "size=4*1024\n",
            "size=4*1024: write it as a number of bytes",
        ),
        ("rw=trimwrite\n", "rw=trimwrite: it trims"),
        ("rw=randraed\n", "(did you mean randread?)"),
        (
            "rw=randread\nrandom_distribution=zipf:1.2:30\n",
            "random_distribution",
        ),
        ("directory=/a:/b\n", "several directories"),
        ("numjobs=$ncpus\n", "variable $ncpus"),
        ("--name=a --rw=read\n", "command line of fio"),
        ("verify=crc32c\n", "verify"),
        ("nrfiles=4\n", "nrfiles"),
        ("bsrange=4k-64k\n", "bsrange"),
        ("bssplit=4k/60:64k/50\n", "bssplit"),
        (
            "bssplit=4k/100,8k/100\nrw=randrw\n",
            "bssplit of its own for writes",
        ),
        (
            "random_distribution=pareto:0.9\nrw=randread\n",
            "random_distribution",
        ),
        ("ioengine=rbd\n", "ioengine=rbd"),
        ("blockalign=512\nbs=8k\nrw=randread\n", "blockalign"),
        (
            "blockalign=16k\nbssplit=4k/50:8k/50\nrw=randread\n",
            "blockalign",
        ),
        ("startdelay=5\n", "startdelay"),
        ("rw=read\nnumjobs=4\n", "numjobs"),
        ("size=50%\n", "size=50%"),
        ("zonemode=zbd\n", "zonemode"),
        ("an_option_of_tomorrow=1\n", "an_option_of_tomorrow"),
    ] {
        refused(Tool::Fio, &format!("{JOB}{options}"), name);
    }
    let two = "[a]\nfilename=/d/t:/d/u\nsize=1g\nruntime=5\nrw=randread\n";
    for order in ["sequential", "random", "roundrobin:8", "zipf:1.2"] {
        let jobs = format!("{two}iodepth=4\nfile_service_type={order}\n");
        refused(Tool::Fio, &jobs, &format!("file_service_type={order}"));
    }
}

#[test]
fn options_of_fio_mean_what_its_own_parser_makes_of_them() {
    let job = |options: &str| {
        let text = format!("[global] ; all\nsize=1g\n[a] # the first\nfilename=/d/t\n{options}");
        plan(Tool::Fio, &text).jobs.remove(0).workload
    };
    // Of options that set the same, the last one counts.
    let mixed = "rw=randrw\nruntime=5\n";
    for (options, reads) in [
        ("rwmixwrite=30\nrwmixread=60\n", 60),
        ("rwmixread=60\nrwmixwrite=30\n", 70),
    ] {
        let load = job(&format!("{mixed}{options}"));
        assert_eq!(load.read_percent, reads, "{options}");
    }
    let load = job("rw=randread\nruntime=5\ndirect=1\nbuffered=1\n");
    assert_eq!(load.cache, CacheMode::Buffered);
    // Rates are for each direction and process; a time of 0 is none.
    let load = job("rw=randwrite\nruntime=0\nsize=0x20000000\nrate_iops=500,2k\nnumjobs=2\n");
    assert_eq!(load.rate.map(|rate| rate.iops), Some(4_096.0));
    assert_eq!(load.size_bytes, Some(512 << 20));
    assert_eq!(load.duration_ns, 10_000_000_000);
    let both = converted(Tool::Fio, &format!("{JOB}rw=rw\n")).unwrap();
    let mut notes = both.notes.iter().map(|note| &note.message);
    assert!(notes.any(|note| note.contains("share one position")));
    // Options that do not change operations are left out, whichever tool they belong to.
    let load = job("rw=read\nruntime=5\nallow_mounted_write=1\nhugepage-size=2m\n");
    assert_eq!(load.duration_ns, 5_000_000_000);
}

#[test]
fn several_files_of_fio_are_visited_in_turn_with_its_depth_over_all_of_them() {
    let two = "[a]\nfilename=/d/t:/d/u\nsize=1g\nruntime=5\nrw=randread\nioengine=libaio\n";
    for (options, depth) in [
        ("iodepth=5\n", 5),
        ("iodepth=4\nfile_service_type=roundrobin\n", 4),
        ("", 1),
    ] {
        let workload = &plan(Tool::Fio, &format!("{two}{options}")).jobs[0].workload;
        assert_eq!((workload.in_turn, workload.outstanding), (true, depth));
    }
    let one = plan(Tool::Fio, &format!("{JOB}file_service_type=random\n"));
    assert!(!one.jobs[0].workload.in_turn);
}

/// fio's default keeps a map of each file: where one thread of a plan does the same, it
/// says so.
#[test]
fn what_fio_covers_a_plan_covers() {
    let drawn = |options: &str| {
        let converted = converted(Tool::Fio, &format!("{JOB}{options}")).unwrap();
        let plan: Plan = converted.plan.parse().unwrap();
        let notes: Vec<String> = converted
            .notes
            .iter()
            .map(|note| note.message.clone())
            .collect();
        match plan.jobs[0].workload.pattern {
            Pattern::Random { distribution } => (distribution, notes.join("\n")),
            other => panic!("{options}: {other:?}"),
        }
    };
    for options in [
        "rw=randread\n",
        "rw=randwrite\nnorandommap=0\n",
        "rw=randrw\nbs=8k\nrandom_distribution=random\n",
        "rw=randread\nrandom_generator=lfsr\nsoftrandommap=1\n",
        "rw=randread\nbssplit=8k/100\n",
        "rw=randread\nfilename=/d/t:/d/u\nnumjobs=1\n",
    ] {
        assert_eq!(drawn(options).0, Distribution::Covering, "{options}");
    }
    for options in [
        "rw=randread\nnorandommap\n",
        "rw=randrw\nnorandommap=1\nnumjobs=4\n",
    ] {
        let (distribution, notes) = drawn(options);
        assert_eq!(distribution, Distribution::Uniform, "{options}");
        assert!(
            !notes.contains("chooses each position"),
            "{options}: {notes}"
        );
    }
    for (options, expected_text) in [
        ("rw=randread\nnumjobs=4\n", "each process of fio"),
        (
            "rw=randread\nbssplit=4k/50:8k/50\n",
            "every part of the file",
        ),
    ] {
        let (distribution, notes) = drawn(options);
        assert_eq!(distribution, Distribution::Uniform, "{options}");
        for words in [expected_text, "chooses each position independently"] {
            assert!(notes.contains(words), "{options}: {notes}");
        }
    }
    let zipf = drawn("rw=randread\nrandom_distribution=zipf:1.1\n").0;
    assert_eq!(zipf, Distribution::Zipf { theta: 1.1 });
}

#[test]
fn think_time_of_fio_is_carried_over() {
    for (options, pause_ns, every) in [
        ("thinktime=100\n", 100_000, 1),
        ("thinktime=10ms\nthinktime_blocks=8\n", 10_000_000, 8),
        (
            "thinktime=2s\nthinktime_blocks=32\nthinktime_blocks_type=issue\niodepth=16\nioengine=libaio\n",
            2_000_000_000,
            32,
        ),
        // A synchronous engine has one in flight whatever depth is set.
        ("thinktime=5ms\niodepth=8\nthinktime_spin=0\n", 5_000_000, 1),
    ] {
        let think = plan(Tool::Fio, &format!("{JOB}{options}")).jobs[0]
            .workload
            .think_time;
        assert_eq!(think, Some(ThinkTime { pause_ns, every }), "{options}");
    }
    let none = plan(Tool::Fio, &format!("{JOB}thinktime=0\n"));
    assert_eq!(none.jobs[0].workload.think_time, None);
}

#[test]
fn jobs_of_fio_that_wait_for_some_and_run_beside_others_are_refused() {
    let job = |name: &str, more: &str| {
        format!("[{name}]\nfilename=/d/{name}\nrw=randread\nruntime=5\nsize=1m\n{more}")
    };
    for (jobs, order) in [
        (
            [job("a", ""), job("b", ""), job("c", "")],
            Some(PlanOrder::Together),
        ),
        (
            [
                job("a", ""),
                job("b", "stonewall\n"),
                job("c", "stonewall\n"),
            ],
            Some(PlanOrder::Alone),
        ),
        (
            [
                job("a", ""),
                job("b", "wait_for=a\n"),
                job("c", "wait_for=b\n"),
            ],
            Some(PlanOrder::Alone),
        ),
        // b and c both wait for a, and run at once.
        (
            [
                job("a", ""),
                job("b", "wait_for=a\n"),
                job("c", "wait_for=a\n"),
            ],
            None,
        ),
        ([job("a", ""), job("b", ""), job("c", "stonewall\n")], None),
    ] {
        let text = jobs.concat();
        match order {
            Some(order) => assert_eq!(plan(Tool::Fio, &text).order, order, "{text}"),
            None => refused(Tool::Fio, &text, "stonewall, wait_for"),
        }
    }
    let other_times = [job("a", ""), job("b", "runtime=9\n")].concat();
    refused(Tool::Fio, &other_times, "different times");
}

/// Lines in the forms of DiskSpd's documentation, a switch or two each, with whether DiskSpd
/// itself writes.
const LINES_OF_DISKSPD: [(&str, bool); 46] = [
    (
        "diskspd -c1G -b4K -t2 -o8 -r -d30 -L -w50 -Sh D:\\t.dat",
        true,
    ),
    ("diskspd -b8K -d60 -W10 -r -w0 D:\\t.dat", false),
    ("diskspd -b64K -o32 -si -t4 -Su E:\\t.dat", false),
    ("diskspd -b8K -s -o4 -d10 #1", false),
    ("diskspd -b64K -s64K -t1 D:\\t.dat", false),
    ("diskspd -b8K -s64K -t1 D:\\t.dat", false),
    ("diskspd -b64K -s -t4 D:\\t.dat", false),
    ("diskspd -b64K -s -t4 -T1M D:\\t.dat", false),
    ("diskspd -B1G -b64K -r -o16 #1", false),
    ("diskspd -B1G:4G -b64K -r -w100 -o16 #1", true),
    ("diskspd -B10b -b8K -r #1", false),
    ("diskspd -f4G -b8K -r #1", false),
    ("diskspd -B1G -f4G -b8K -r #1", false),
    ("diskspd -B4G -f1G -b8K -r #1", false),
    ("diskspd -fr -b8K -r D:\\t.dat", false),
    ("diskspd -b4K -r -o4 -F2 -O8 D:\\a.dat D:\\b.dat", false),
    ("diskspd -b4K -r -F2 -O3 D:\\a.dat D:\\b.dat", false),
    ("diskspd -b4K -r -t2 -O8 D:\\t.dat", false),
    (
        "diskspd -b4K -r -o4 -u16 -ac -bsp -oc8 -Sy D:\\t.dat",
        false,
    ),
    ("diskspd -b4K -r -a0,2,4 -n D:\\t.dat", false),
    ("diskspd -b8K -r -g100i D:\\t.dat", false),
    ("diskspd -b8K -r -g1024 D:\\t.dat", false),
    ("diskspd -b8K -r -i8 -j5 D:\\t.dat", false),
    ("diskspd -b8K -r -I2 D:\\t.dat", false),
    ("diskspd -b8K -r4K D:\\t.dat", false),
    ("diskspd -b8K -r8K D:\\t.dat", false),
    ("diskspd -b8K -rs20 D:\\t.dat", false),
    ("diskspd -b8K -rdpct10/90 D:\\t.dat", false),
    ("diskspd -b8K -p -s D:\\t.dat", false),
    ("diskspd -b8K -r -w D:\\t.dat", false),
    ("diskspd -b8K -r -w101 D:\\t.dat", true),
    ("diskspd -b8K -r -S D:\\t.dat", false),
    ("diskspd -b8K -r -Sb D:\\t.dat", false),
    ("diskspd -b8K -r -w30 -Suw D:\\t.dat", true),
    ("diskspd -b8K -r -w30 -Sbw D:\\t.dat", true),
    ("diskspd -b8K -r -Sm D:\\t.dat", false),
    ("diskspd -b8K -r -h D:\\t.dat", false),
    ("diskspd -b8K -r -z42 D:\\t.dat", false),
    ("diskspd -b8K -r -z D:\\t.dat", false),
    ("diskspd -b8K -r -w100 -Z1M D:\\t.dat", true),
    (
        "diskspd -b8K -r -C5 -D250 -Rxml -v -x -y -e D:\\t.dat",
        false,
    ),
    ("diskspd -b8K -r -l -P D:\\t.dat", false),
    ("diskspd -Xprofile.xml", false),
    ("diskspd -b8K -r %TARGET%", false),
    ("diskspd -b8K -r", false),
    ("diskspd -b8K -r -k D:\\t.dat", false),
];

/// What becomes of a converted text, in a line of a table; whether the plan writes.
fn fate(converted: &Result<Converted, Error>) -> (String, Option<bool>) {
    let (what, writes) = match converted {
        Ok(converted) => {
            let plan: Plan = converted.plan.parse().unwrap();
            let writes = plan.jobs.iter().any(|job| job.workload.read_percent < 100);
            let notes = converted.notes.iter().map(|note| note.message.clone());
            let notes: Vec<String> = notes.collect();
            let what = match notes.as_slice() {
                [] => "exactly".to_owned(),
                notes => format!("with these differences: {}", notes.join("; ")),
            };
            (what, Some(writes))
        }
        Err(error) => {
            assert!(!error.hint().is_empty(), "{error}");
            let why = error.lines().first().map_or_else(
                || error.to_string().trim_start_matches("x: ").to_owned(),
                |line| line.reason.clone(),
            );
            (format!("refused: {why}"), None)
        }
    };
    (what.replace('|', "\\|").replace('\n', " "), writes)
}

/// Compares a page of the documentation with what was made of it just now, or writes it.
#[track_caller]
fn holds_to_page(name: &str, made: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var("STRIPEWISE_WRITE_TABLES").is_ok() {
        std::fs::write(&page, made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&page).unwrap_or_default(), made);
}

#[test]
fn lines_of_diskspd_are_carried_over_exactly_or_refused_and_none_writes_where_it_reads() {
    let (mut table, mut carried) = (String::new(), 0);
    for (line, may_write) in LINES_OF_DISKSPD {
        let (what, writes) = fate(&converted(Tool::Diskspd, line));
        carried += usize::from(writes.is_some());
        assert!(
            may_write || writes != Some(true),
            "{line} reads, and its plan writes"
        );
        assert_eq!(writes.unwrap_or(may_write), may_write, "{line}");
        writeln!(table, "| `{}` | {what} |", line.replace('|', "\\|")).unwrap();
    }
    let refused = LINES_OF_DISKSPD.len() - carried;
    holds_to_page(
        "DISKSPD_LINES.md",
        &format!(
            "# DiskSpd's command lines as plans\n\nMade by a test from lines in the forms of DiskSpd's documentation: {carried} are carried over,\n{refused} are refused with the switch that a plan has no word for. None writes where the original\nreads.\n\n| line | carried over |\n|---|---|\n{table}"
        ),
    );
}

/// What fio itself does by `rw` and `readwrite`, by a reader of a few lines: whether any
/// job of a file may write.
fn may_write(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        let Some((key, value)) = line.split_once('=') else {
            return false;
        };
        matches!(key.trim(), "rw" | "readwrite") && !matches!(value.trim(), "read" | "randread")
    })
}

/// The table of fio's examples, from the folder that they are in. They are another
/// project's text, so they are not here: `STRIPEWISE_FIO_EXAMPLES` names the folder, and
/// `STRIPEWISE_WRITE_TABLES` has the table written instead of compared.
#[test]
fn fios_own_examples_are_carried_over_or_refused_and_none_writes_where_it_reads() {
    let Ok(folder) = std::env::var("STRIPEWISE_FIO_EXAMPLES") else {
        return skip_unasked("fios_own_examples", "STRIPEWISE_FIO_EXAMPLES");
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "fio"))
        .collect();
    files.sort();
    let mut table = String::new();
    let (mut carried, mut refused) = (0, 0);
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let name = path.file_name().unwrap().to_string_lossy();
        let (what, writes) = fate(&converted(Tool::Fio, &text));
        assert!(
            writes != Some(true) || may_write(&text),
            "{name} writes where fio reads"
        );
        match writes {
            Some(_) => carried += 1,
            None => refused += 1,
        }
        writeln!(table, "| `{name}` | {what} |").unwrap();
    }
    let head = format!(
        "# fio's examples as plans\n\nMade by a test from the {} job files in fio's folder `examples`: {carried} are carried\nover, {refused} are refused with the option that a plan has no word for. None writes where\nthe original reads.\n\n| file | carried over |\n|---|---|\n",
        files.len()
    );
    holds_to_page("FIO_EXAMPLES.md", &(head + &table));
}
