//! Mistakes and refusals, whole: what failed, on what, why, and a hint.

use super::{Case, all_golden};
use crate::support::{Desk, here, users_file};

const MISTAKES_IN_SWITCHES_ARE_NAMED_WITH_WHAT_IS_RIGHT: &[Case] = &[
    (
        &["run", "sim:nvme", "--block", "0"],
        r"
exit 2
--- stderr
error: --block 0 is outside of 512 bytes to 64 MiB
hint: 8K is what most databases read and write
",
    ),
    (
        &["run", "sim:nvme", "--threads", "0"],
        r"
exit 2
--- stderr
error: --threads 0 is outside of 1 to 4096
hint: one thread is the default
",
    ),
    (
        &["run", "sim:nvme", "--outstanding", "5000"],
        r"
exit 2
--- stderr
error: --outstanding 5000 is outside of 1 to 4096
hint: it counts for each thread; add --threads
",
    ),
    (
        &["run", "sim:nvme", "--read-percent", "170"],
        r"
exit 2
--- stderr
error: invalid value '170' for '--read-percent <N>': `170` is not a valid percentage
hint: a percentage is a whole number from 0 to 100
",
    ),
    (
        &["run", "sim:nvme", "--duration", "x"],
        r"
exit 2
--- stderr
error: invalid value 'x' for '--duration <TIME>': `x` is not a valid duration
hint: a duration is a number with ns, us, ms, s, m (minutes) or h; seconds without: 10s, 1.5s, 500ms, 20us, 2m, 1h, 1m30s
",
    ),
    (
        &["run", "sim:nvme", "--cursor", "shared"],
        r"
exit 2
--- stderr
error: --cursor shared applies to sequential and strided positions only
hint: add --sequential or --stride, or leave it out
",
    ),
    (
        &["run", "sim:nvme", "--arrivals", "poisson"],
        r"
exit 2
--- stderr
error: --arrivals poisson needs a rate
hint: add --rate IOPS, or leave it out
",
    ),
    (
        &["run", "sim:nvme", "--cache", "slow"],
        r"
exit 2
--- stderr
error: invalid value 'slow' for '--cache <MODE>': `slow` is not a cache mode
hint: use one of direct, direct-sync, buffered, buffered-sync, dontcache
",
    ),
    (
        &["run", "sim:nvme", "--engine", "libaio"],
        r"
exit 2
--- stderr
error: invalid value 'libaio' for '--engine <NAME>': `libaio` is not an engine: it is auto, uring, nvme, iocp, threads or null; did you mean uring?
hint: `stripewise run --help` explains every switch
",
    ),
    (
        &["run", "sim:nvme", "--read", "--write"],
        r"
exit 2
--- stderr
error: the argument '--read' cannot be used with '--write'
hint: `stripewise run --help` explains every switch
",
    ),
    (
        &["run", "sim:nvme", "--require", "p99.5<1ms"],
        r"
exit 2
--- stderr
error: invalid value 'p99.5<1ms' for '--require <WHAT>': `p99.5<1ms` is not a valid requirement: `p99.5` is not a metric
hint: a requirement is [name] metric op value: 'read_iops>=20000', 'log p99<1ms', 'mib_per_s>500'; metrics are iops, mib_per_s, mean, p50, p90, p95, p99, p99.9, max, each also with read_ or write_ before it (in quotes, as the shell takes < and > for itself)
",
    ),
    (
        &["bench", "sim:nvme", "--slo", "p99<5"],
        r"
exit 2
--- stderr
error: invalid value 'p99<5' for '--slo <LIMIT>': `p99<5` has no unit of time (at `5`)
hint: a latency limit is one of mean, p50, p90, p95, p99, p99.9 or max, then < or <=, then a time: 'p99<5ms' (in quotes, as the shell takes < for itself; p99:5ms means p99<=5ms)
",
    ),
    (
        &["bench", "sim:nvme", "--thread", "4"],
        r"
exit 2
--- stderr
error: unexpected argument '--thread' found
hint: did you mean --threads? use `stripewise run`: it has --threads, `stripewise bench` does not
",
    ),
    (
        &["bench", "sim:nvme", "--series", "random-reads"],
        r"
exit 2
--- stderr
error: invalid value 'random-reads' for '--series <LIST>'
  [possible values: random-read, random-write, sequential-read, sequential-write, log]
hint: did you mean random-read?
",
    ),
    (
        &["bench", "sim:nvme", "--expect", "sim:nvme9"],
        r"
exit 2
--- stderr
error: simulated array `nvme9`: there is no such array
hint: did you mean `nvme`? The arrays are oja-nisula-2007, eva8100-2009, mssqltips-2127, van-dyke-2009, shea-2007, raid10-10k, raid5-7k2, disk-15k, disk-7k2, nvme, nvme-consumer, sata-ssd, ebs-gp3, ebs-gp2-100, ebs-gp2-500, ebs-st1, azure-p10, or a file that ends in .toml
",
    ),
    (
        &["compare"],
        r"
exit 2
--- stderr
error: the following required arguments were not provided:
  <A>
hint: `stripewise compare --help` explains every switch
",
    ),
    (
        &["qualify", "sim:nvme"],
        r"
exit 2
--- stderr
error: the following required arguments were not provided:
  --for <PRODUCT>
hint: `stripewise qualify --list` prints the products; --for FILE.toml takes requirements of your own
",
    ),
    (
        &["history", "--since", "yesterday"],
        r"
exit 2
--- stderr
error: `yesterday` is not a valid time
hint: give a day ([DATE]), a time in UTC ([DATE]T08:00), or an age: 24h, 90m
",
    ),
    (
        &["baseline", "sett", "last"],
        r"
exit 2
--- stderr
error: unrecognized subcommand 'sett'

Usage: stripewise baseline [OPTIONS] [COMMAND]
hint: did you mean set?
",
    ),
    (
        &["wrong"],
        r"
exit 2
--- stderr
error: unrecognized subcommand 'wrong'

Usage: stripewise [OPTIONS] <COMMAND>
hint: `stripewise --help` lists the commands
",
    ),
];

/// The help that is printed then names the commands: a hint that points to it leads nowhere.
#[test]
fn without_a_command_the_hint_says_how_to_begin() {
    let message = |words: &[&str]| here(words).ended(2).stderr;
    let alone = message(&[]);
    assert!(alone.contains("Measure  bench "), "{alone}");
    assert!(
        alone.contains("hint: begin with `stripewise bench DIRECTORY`"),
        "{alone}"
    );
    let half = message(&["sim"]);
    assert!(!half.contains("hint: "), "{half}");
}

#[test]
fn mistakes_in_switches_are_named_with_what_is_right() {
    let desk = Desk::new();
    all_golden(&desk, MISTAKES_IN_SWITCHES_ARE_NAMED_WITH_WHAT_IS_RIGHT);
}

const TARGETS_THAT_CANNOT_BE_USED_ARE_REFUSED_WITH_WHAT_CAN: &[Case] = &[
    (
        &["run", "nowhere"],
        r"
exit 3
--- stderr
error: nowhere: does not exist
hint: Give a directory, in which a test file will be made; `stripewise prepare PATH` makes one that stays.
",
    ),
    (
        &["run", "sim:raid7"],
        r"
exit 2
--- stderr
error: simulated array `raid7`: there is no such array
hint: use one of oja-nisula-2007, eva8100-2009, mssqltips-2127, van-dyke-2009, shea-2007, raid10-10k, raid5-7k2, disk-15k, disk-7k2, nvme, nvme-consumer, sata-ssd, ebs-gp3, ebs-gp2-100, ebs-gp2-500, ebs-st1, azure-p10, or a file that ends in .toml
",
    ),
    (
        &["prepare", "sim:nvme", "--size", "1M"],
        r"
exit 2
--- stderr
error: only a file can be prepared
hint: name a path that does not exist yet
",
    ),
    (
        &["limits", "sim:raid7"],
        r"
exit 2
--- stderr
error: simulated array `raid7`: there is no such array
hint: use one of oja-nisula-2007, eva8100-2009, mssqltips-2127, van-dyke-2009, shea-2007, raid10-10k, raid5-7k2, disk-15k, disk-7k2, nvme, nvme-consumer, sata-ssd, ebs-gp3, ebs-gp2-100, ebs-gp2-500, ebs-st1, azure-p10, or a file that ends in .toml
",
    ),
    (
        &["headroom", "sim:raid7", "--load", "sqlserver-oltp"],
        r"
exit 2
--- stderr
error: simulated array `raid7`: there is no such array
hint: use one of oja-nisula-2007, eva8100-2009, mssqltips-2127, van-dyke-2009, shea-2007, raid10-10k, raid5-7k2, disk-15k, disk-7k2, nvme, nvme-consumer, sata-ssd, ebs-gp3, ebs-gp2-100, ebs-gp2-500, ebs-st1, azure-p10, or a file that ends in .toml
",
    ),
    (
        &["qualify", "sim:raid7", "--for", "etcd"],
        r"
exit 2
--- stderr
error: simulated array `raid7`: there is no such array
hint: use one of oja-nisula-2007, eva8100-2009, mssqltips-2127, van-dyke-2009, shea-2007, raid10-10k, raid5-7k2, disk-15k, disk-7k2, nvme, nvme-consumer, sata-ssd, ebs-gp3, ebs-gp2-100, ebs-gp2-500, ebs-st1, azure-p10, or a file that ends in .toml
",
    ),
    (
        &["qualify", "sim:raid7", "--commit"],
        r"
exit 2
--- stderr
error: simulated array `raid7`: there is no such array
hint: use one of oja-nisula-2007, eva8100-2009, mssqltips-2127, van-dyke-2009, shea-2007, raid10-10k, raid5-7k2, disk-15k, disk-7k2, nvme, nvme-consumer, sata-ssd, ebs-gp3, ebs-gp2-100, ebs-gp2-500, ebs-st1, azure-p10, or a file that ends in .toml
",
    ),
    (
        &["run", "sim:raid10-10k?stripe=64K"],
        r"
exit 2
--- stderr
error: simulated array `raid10-10k`, key `stripe`: there is no such key
hint: `stripewise sim show raid10-10k` shows an array with all of its keys
",
    ),
    (
        &["run", "sim:raid10-10k?disks=3"],
        r"
exit 2
--- stderr
error: simulated array `raid10-10k`, key `disks`: 3 drives do not form pairs
hint: RAID 10 needs an even number
",
    ),
    (
        &["run", "/dev/null"],
        r"
exit 3
--- stderr
error: /dev/null: is a character device, not storage
hint: Disks are block devices: `lsblk` lists them.
",
    ),
    (
        &["run", "/proc"],
        r"
exit 3
--- stderr
error: /proc: is on proc, which is a kernel file system, not storage
hint: Choose a directory on a disk.
",
    ),
    (
        &["run", "theirs.dat", "--write", "--busy-ok"],
        r"
exit 3
--- stderr
error: theirs.dat: writing to this existing file needs `--overwrite`
hint: All of its contents would be lost. Use `--overwrite` if that is intended, or give a directory to have a test file made instead.
",
    ),
    (
        &["run", "theirs.dat", "--size", "1G", "--busy-ok"],
        r"
exit 3
--- stderr
error: theirs.dat: has 4 MiB, less than the 1 GiB that are needed
hint: Ask for less (`--size`, `--base-offset`); files that Stripewise did not make are never extended.
",
    ),
    (
        &["run", "dataset:oja-nisula-2007-offset"],
        r"
exit 2
--- stderr
error: dataset:oja-nisula-2007-offset is a published table: it can be compared, not run
hint: name a directory, a file, a block device or sim:NAME
",
    ),
    (
        &["prepare", "theirs.dat", "--size", "8M", "--busy-ok"],
        r"
exit 3
--- stderr
error: theirs.dat: already exists and is not replaced
hint: Choose another name, or remove it yourself.
",
    ),
    (
        &["align", "sim:nvme", "--engine", "null"],
        r"
exit 2
--- stderr
error: --engine null measures no storage, so offsets have no effect
hint: leave it out, or name uring or threads
",
    ),
    (
        &["align", "sim:nvme", "--offsets", "100,1M"],
        r"
exit 2
--- stderr
error: 100 cannot be reached on a target that starts at 1M: the logical sector is 512 bytes
hint: 100 sectors are 100s; give --offsets that are multiples of 512, such as 36K,1M; no partition of this disk can start elsewhere
",
    ),
    (
        &["partition", "/dev/null", "--align", "1M"],
        r"
exit 3
--- stderr
error: /dev/null: is not a block device
hint: `lsblk` lists them; an image becomes one with `losetup --find --show FILE`.
",
    ),
    (
        &["verify", "sim:nvme"],
        r"
exit 2
--- stderr
error: sim:nvme is simulated: it has latencies and no data, so there is nothing to verify
hint: name a directory, a file or a block device
",
    ),
    (
        &["probe", "stripe", "nowhere"],
        r"
exit 3
--- stderr
error: nowhere: does not exist
hint: Give a directory, in which a test file will be made; `stripewise prepare PATH` makes one that stays.
",
    ),
];

#[test]
fn targets_that_cannot_be_used_are_refused_with_what_can() {
    let desk = Desk::new();
    users_file(&desk.file("theirs.dat"), 4 << 20);
    all_golden(&desk, TARGETS_THAT_CANNOT_BE_USED_ARE_REFUSED_WITH_WHAT_CAN);
}

const MISTAKES_IN_A_PLAN_ARE_NAMED_WITH_THEIR_LINE: &[Case] = &[
    (
        &["run", "--plan", "key.toml"],
        r"
exit 2
--- stderr
error: key.toml: line 4: `thread` is not a key of a job
hint: did you mean `threads`? The keys are name, target, engine, cpus, read, write, read-percent, discard, discard-percent, random, sequential, stride, block, threads, outstanding, in-turn, base-offset, size, cache, sync, atomic, dsync, poll, think-time, rate, arrivals, distribution, cursor, compressible, dedupable, seed, duration, ramp
",
    ),
    (
        &["run", "--plan", "value.toml"],
        r"
exit 2
--- stderr
error: value.toml: line 4: block: `8X` has an unknown unit (at `X`)
hint: a size is a number of bytes, or a number with K, M, G or T (powers of 1,024) or s (sectors of 512 bytes): 4096, 8K, 31.5K, 1M, 1.5G, 63s
",
    ),
    (
        &["run", "--plan", "destroy.toml"],
        r"
exit 2
--- stderr
error: destroy.toml: line 4: `destroy` is not a key of a job
hint: permissions are given on the command line, each time: --destroy
",
    ),
    (
        &["run", "--plan", "none.toml"],
        r"
exit 2
--- stderr
error: cannot read none.toml: No such file or directory (os error 2)
hint: check the path given to --plan
",
    ),
    (
        &["lab", "run", "factor.toml"],
        r"
exit 2
--- stderr
error: factor.toml: line 2: `offsets` is not a factor
hint: a factor is offset or one of read, write, read-percent, discard, discard-percent, random, sequential, stride, block, threads, outstanding, in-turn, base-offset, size, cache, sync, atomic, dsync, poll, think-time, rate, arrivals, distribution, cursor, compressible, dedupable
",
    ),
];

#[test]
fn mistakes_in_a_plan_are_named_with_their_line() {
    let desk = Desk::new();
    desk.write(
        "key.toml",
        "[[job]]\nname = \"log\"\ntarget = \"sim:nvme\"\nthread = 4\n",
    );
    desk.write(
        "value.toml",
        "[[job]]\nname = \"log\"\ntarget = \"sim:nvme\"\nblock = \"8X\"\n",
    );
    desk.write(
        "destroy.toml",
        "[[job]]\nname = \"log\"\ntarget = \"sim:nvme\"\ndestroy = \"sdb\"\n",
    );
    desk.write("factor.toml", "target = \"sim:nvme\"\nfactor = \"offsets\"\nlevels = [\"63s\", \"1M\"]\n[[cell]]\nname = \"reads\"\n");
    all_golden(&desk, MISTAKES_IN_A_PLAN_ARE_NAMED_WITH_THEIR_LINE);
}

const WHAT_IS_NOT_STORED_IS_MISSED_BY_NAME: &[Case] = &[
    (
        &["history"],
        r"
exit 5
--- stderr
error: there is no store at [DESK]/results.db
hint: check the name given with --store FILE; `stripewise run TARGET` with it makes a store there
",
    ),
    (
        &["history", "show", "20261122-000000-zzzz"],
        r"
exit 2
--- stderr
error: cannot find a run in the store [DESK]/results.db: no run matches `[ID]`
hint: `stripewise history` lists the runs; an id may be cut short as long as it is unique; `last`, `last~1` count back what was measured here, and `last-run` the single runs; imported results have ids only
",
    ),
    (
        &["compare", "last", "before"],
        r"
exit 2
--- stderr
error: cannot find a run in the store [DESK]/results.db: no run matches `before`
hint: `stripewise history` lists the runs; an id may be cut short as long as it is unique; `last`, `last~1` count back what was measured here, and `last-run` the single runs; imported results have ids only
",
    ),
    (
        &["report", "last", "--chart", "trends", "-o", "trend.png"],
        r"
exit 2
--- stderr
error: there is no chart `trends`
hint: available: percentiles, all
",
    ),
    (
        &["report", "last", "-o", "picture.gif"],
        r"
exit 2
--- stderr
error: cannot tell the format from the file name picture.gif
hint: end it in .html, .png, .svg, .csv, .md or .json, or say which with --format
",
    ),
    (
        &["check"],
        r"
exit 2
--- stderr
error: there is no baseline to compare with
hint: keep one first: `stripewise run ... --repeat 6`, then `stripewise baseline set ID`; or state what is required: --require 'read_iops>=20000'
",
    ),
    (
        &["check", "--baseline", "monday"],
        r"
exit 2
--- stderr
error: there is no baseline `monday`
hint: `stripewise baseline set ID` makes one
",
    ),
    (
        &["baseline", "remove", "monday"],
        r"
exit 2
--- stderr
error: there is no baseline `monday`
hint: `stripewise baseline set ID` makes one
",
    ),
    (
        &["baseline", "set", "before"],
        r"
exit 2
--- stderr
error: cannot find a run in the store [DESK]/results.db: no run matches `before`
hint: `stripewise history` lists the runs; an id may be cut short as long as it is unique; `last`, `last~1` count back what was measured here, and `last-run` the single runs; imported results have ids only
",
    ),
    (
        &["import", "notes.txt"],
        r"
exit 2
--- stderr
error: nothing was stored: notes.txt: was not written by a known tool
hint: give results of SQLIO, DiskSpd, fio, Iometer, vdbench, elbencho, CrystalDiskMark or KDiskMark
",
    ),
    (
        &["convert", "--from", "fio", "notes.txt"],
        r"
exit 2
--- stderr
error: notes.txt: line 1: is neither an option nor a section
hint: options are key=value below [global] or [job]; write variables out
",
    ),
    (
        &["compare", "dataset:oja-nisula", "last"],
        r"
exit 2
--- stderr
error: there is no published table `oja-nisula` here
hint: did you mean dataset:oja-nisula-2007-offset? There are dataset:oja-nisula-2007-offset (2007, RAID 10: partition offset 31.5K against 64K, 36 rows); dataset:oja-nisula-2007-allocation-unit (2007, RAID 10: NTFS allocation unit 4K against 64K, 36 rows); dataset:eva8100-2009-offset (2009, HP EVA8100, 150 disks: five partition offsets, 12 rows); dataset:mssqltips-2127 (tip 2127, RAID 5 of four SATA disks: four series to saturation, 33 rows)
",
    ),
    (
        &["lab", "plans"],
        r"
exit 0
--- stdout
No experiment is kept yet; `stripewise align TARGET` or `stripewise lab run PLAN.toml` makes one.
",
    ),
    (
        &["lab", "resume", "20261122-000000-zzzz"],
        r"
exit 2
--- stderr
error: there is no experiment [ID]
hint: `stripewise lab plans` lists them
",
    ),
];

#[test]
fn what_is_not_stored_is_missed_by_name() {
    let desk = Desk::new();
    all_golden(&desk, &WHAT_IS_NOT_STORED_IS_MISSED_BY_NAME[..1]);
    desk.run(&["run", "sim:nvme", "--duration", "1ms", "-q"])
        .done();
    desk.write("notes.txt", "nothing that a tool printed\n");
    all_golden(&desk, &WHAT_IS_NOT_STORED_IS_MISSED_BY_NAME[1..]);
}
