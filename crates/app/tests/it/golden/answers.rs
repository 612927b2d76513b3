//! Answers, whole.

use super::{Case, all_golden};
use crate::support::{Desk, skip};

/// A disk with a partition at sector 63, in an MBR.
fn image(desk: &Desk, name: &str) {
    let mut sector = vec![0; 512];
    sector[440..444].copy_from_slice(&0xc027_a0b0_u32.to_le_bytes());
    sector[446 + 4] = 0x83;
    sector[446 + 8..446 + 12].copy_from_slice(&63_u32.to_le_bytes());
    sector[446 + 12..446 + 16].copy_from_slice(&100_000_u32.to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    let path = desk.path().join(name);
    std::fs::write(&path, sector).expect("an image");
    let file = std::fs::OpenOptions::new().write(true).open(&path);
    file.expect("the image")
        .set_len(64 << 20)
        .expect("its size");
}

const A_GRID_HAS_A_ROW_FOR_EACH_RUN_AND_NUMBERS_OF_WARNINGS_IN_THE_ROWS_THAT_HAVE_THEM: &[Case] = &[
    (
        &[
            "run",
            "sim:sata-ssd",
            "--write",
            "--block",
            "4K,64K",
            "--outstanding",
            "1,32",
            "--duration",
            "1s",
        ],
        r"
exit 0
--- stdout
sim:sata-ssd  480.0 GiB, simulated array, direct, 4 s, [DATE] [TIME]

Workload      Block  In flight    IOPS  MiB/s     Mean      p50      p99     p99.9      Max
random write     4K          1  14,992   58.6  66.7 µs  40.4 µs  1.55 ms   2.16 ms  2.24 ms
random write     4K         32  15,379   60.1  2.03 ms   256 µs  39.7 ms   53.3 ms  57.0 ms
random write    64K          1     987   61.7  1.01 ms   151 µs  2.29 ms  n<10,000  2.29 ms  [1]
random write    64K         32     987   61.7  31.4 ms  3.77 ms  68.4 ms  n<10,000  68.7 ms  [1]

Read with care
  - only 987 operations completed  2 of 4 runs [1]  [few-operations]

Again  stripewise history show [END]  (--explain)
",
    ),
    (
        &[
            "run",
            "sim:sata-ssd",
            "--write",
            "--block",
            "4K,64K",
            "--outstanding",
            "1,32",
            "--duration",
            "1s",
            "-q",
        ],
        r"
exit 0
--- stdout
sim:sata-ssd: random write 4K 1 in flight: 14,992 IOPS, p99 1.55 ms; random write 4K 32 in flight: 15,379 IOPS, p99 39.7 ms; random write 64K 1 in flight: 987 IOPS, p99 2.29 ms; random write 64K 32 in flight: 987 IOPS, p99 68.4 ms [[ID]]
",
    ),
];

#[test]
fn a_grid_has_a_row_for_each_run_and_numbers_of_warnings_in_the_rows_that_have_them() {
    let desk = Desk::new();
    all_golden(
        &desk,
        A_GRID_HAS_A_ROW_FOR_EACH_RUN_AND_NUMBERS_OF_WARNINGS_IN_THE_ROWS_THAT_HAVE_THEM,
    );
}

const REPETITIONS_HAVE_A_ROW_WITH_THEIR_MEDIAN_ITS_INTERVAL_AND_THEIR_RANGE: &[Case] = &[(
    &[
        "run",
        "sim:raid10-10k",
        "--outstanding",
        "8",
        "--duration",
        "10s",
        "--repeat",
        "6",
    ],
    r"
exit 0
--- stdout
sim:raid10-10k  559.4 GiB, simulated array, direct, 1 m, [DATE] [TIME]

Workload     Block  In flight  IOPS  MiB/s     Mean      p50      p99     p99.9     Max
random read     8K          8   602    4.7  13.3 ms  9.99 ms  58.8 ms  n<10,000  150 ms
random read     8K          8   599    4.7  13.3 ms  10.1 ms  57.3 ms  n<10,000  188 ms
random read     8K          8   591    4.6  13.5 ms  10.1 ms  58.2 ms  n<10,000  126 ms
random read     8K          8   582    4.5  13.7 ms  10.1 ms  62.8 ms  n<10,000  118 ms
random read     8K          8   601    4.7  13.3 ms  9.95 ms  55.7 ms  n<10,000  112 ms
random read     8K          8   596    4.7  13.4 ms  10.1 ms  56.6 ms  n<10,000  162 ms

Medians      Block  In flight  Runs  IOPS     95 %  Lowest  Highest      p99  Worst p99
random read     8K          8     6   598  582-602     582      602  57.8 ms    62.8 ms
95 %: confidence interval of the median, by order statistics

Read with care
  - no p99.9: 6,021 reads are too few  all runs  [few-for-p999]

Again  stripewise history show [END]  (--explain)
",
)];

#[test]
fn repetitions_have_a_row_with_their_median_its_interval_and_their_range() {
    let desk = Desk::new();
    all_golden(
        &desk,
        REPETITIONS_HAVE_A_ROW_WITH_THEIR_MEDIAN_ITS_INTERVAL_AND_THEIR_RANGE,
    );
}

const A_BENCH_PRINTS_ITS_LADDER_ITS_ANSWER_AND_WHAT_IT_COMES_TO: &[Case] = &[
    (
        &[
            "bench",
            "sim:sata-ssd",
            "--series",
            "random-read,log",
            "--no-report",
        ],
        r"
exit 0
--- stdout
sim:sata-ssd  480.0 GiB, simulated array, direct, 1 m 30 s, [DATE] [TIME]

  Log: 17,373 IOPS until 40.7 MiB are written; below is what lasts

Load         Block   At p99 < 5 ms  95 %        p99  In flight  Ceiling  Verdict
Random read  8 KiB     67,800 IOPS  ±0.1 %   354 µs         16     same  ok
Log          8 KiB  3,820 writes/s  ±0.2 %  1.93 ms          1        -  ok
Ceiling: highest rate at any latency; same: the answer's; -: one load.

Again  stripewise history show [END]  (--ladders, --explain)
",
    ),
    (
        &[
            "bench",
            "sim:sata-ssd",
            "--series",
            "log",
            "--no-report",
            "-q",
        ],
        r"
exit 0
--- stdout
sim:sata-ssd: log: 3,820 writes/s ±0.2 % [[ID]]
",
    ),
    (
        &[
            "bench",
            "sim:raid5-7k2",
            "--series",
            "log",
            "--no-report",
            "--expect",
            "sim:raid10-10k",
        ],
        r"
exit 1
--- stdout
sim:raid5-7k2  1.4 TiB, simulated array, direct-sync, 27 m 41 s, [DATE] [TIME]

Requirement missed
  MISSED: log p50<=12.2 ms: 16.7 ms where sim:raid10-10k gives 6.09 ms; slower than this kind of
    storage

Load           Block  At p99 < 5 ms  95 %        p99  In flight  Verdict
Log            8 KiB           none          16.8 ms          1  missed
  as measured         60.2 writes/s  ±0.2 %  16.8 ms          1

Again  stripewise history show [END]  (--ladders, --explain)
--- stderr
First the same bench on sim:raid10-10k, for comparison
",
    ),
];

/// The load of a bench follows the number of processors.
#[test]
fn a_bench_prints_its_ladder_its_answer_and_what_it_comes_to() {
    if std::thread::available_parallelism().map_or(1, usize::from) != 2 {
        return skip(
            "a_bench_prints_its_ladder_its_answer_and_what_it_comes_to",
            "two processors",
        );
    }
    let desk = Desk::new();
    all_golden(
        &desk,
        A_BENCH_PRINTS_ITS_LADDER_ITS_ANSWER_AND_WHAT_IT_COMES_TO,
    );
}

const THE_FOUR_LINES_OF_CRYSTALDISKMARK_ARE_A_TABLE: &[Case] = &[(
    &[
        "bench",
        "sim:nvme",
        "--like",
        "crystaldiskmark",
        "--no-report",
    ],
    r"
exit 0
--- stdout
sim:nvme  960.0 GiB, simulated array, direct, 40 s, [DATE] [TIME]

             Read MB/s     IOPS     Mean  Read (log)    Write MB/s    IOPS     Mean  Write (log)
SEQ1M Q8T1      3564.7    3,400  2.35 ms  ############       192.1     183  43.5 ms  ########
SEQ1M Q1T1      1738.1    1,658   603 µs  ###########        192.1     183  5.46 ms  ########
RND4K Q32T1     1305.2  318,645   100 µs  ###########        186.5  45,526   701 µs  ########
RND4K Q1T1        49.9   12,175  82.1 µs  ######             185.4  45,271  22.1 µs  ########

Read with care
  ! not steady (35 %): the first writes may be cached  4 of 8 runs  [not-steady]
  - only 916 operations completed                      2 of 8 runs  [few-operations]
  - 1 more warning or note: --explain

Again  stripewise history show [END]  (--explain)
",
)];

#[test]
fn the_four_lines_of_crystaldiskmark_are_a_table() {
    let desk = Desk::new();
    all_golden(&desk, THE_FOUR_LINES_OF_CRYSTALDISKMARK_ARE_A_TABLE);
}

const A_CHECK_SAYS_WHAT_BECAME_WORSE_AND_BY_HOW_MUCH: &[Case] = &[
    (
        &["baseline", "set", "last"],
        r"
exit 0
--- stdout
Saved as the baseline: 6 runs of 1 workload on sim:raid10-10k, from [ID]; a check
  of 6 repetitions takes 30 s and finds a loss of 2.5 % nine times in ten
",
    ),
    (
        &["check", "-q"],
        r"
exit 0
",
    ),
    (
        &[
            "check",
            "sim:raid10-10k?offset=63s",
            "--require",
            "iops>=700",
        ],
        r"
exit 1
--- stdout
sim:raid10-10k?offset=63s  IOPS now against baseline

Requirement missed
  Worse: 8.35 % fewer IOPS (95 % interval 7.22 to 9.82 %)
  MISSED: iops>=700: 680 IOPS (667-691) (random read, 8K, 1 thread of 16; median of 6 runs)

I/O   Pattern  Block  Threads  QD  baseline     now  diff %  estimate % (95 %, n 6)  Verdict
read  random      8K        1  16    742.20  680.00   -8.38  -8.35 (-9.82..-7.22)    worse

Read with care
  - no p99.9: 3,454 reads are too few  all runs  [few-for-p999]

note: also different: offset: 1M then, 31.5K now.
note: also different: target: sim:raid10-10k then, sim:raid10-10k?offset=63s now.
note: Whatever else changed since the baseline was measured is part of the difference.
Again  stripewise history show [END]
",
    ),
    (
        &[
            "check",
            "sim:raid10-10k?offset=63s",
            "-q",
            "--tolerate",
            "20",
        ],
        r"
exit 0
",
    ),
    (
        &["baseline"],
        r"
exit 0
--- stdout
baseline: 6 runs of 1 workload on sim:raid10-10k, from [ID]; a check of 6
  repetitions takes 30 s and finds a loss of 2.5 % nine times in ten
",
    ),
];

#[test]
fn a_check_says_what_became_worse_and_by_how_much() {
    let desk = Desk::new();
    desk.run(&[
        "run",
        "sim:raid10-10k",
        "--outstanding",
        "16",
        "--duration",
        "5s",
        "--repeat",
        "6",
        "-q",
    ])
    .done();
    all_golden(&desk, A_CHECK_SAYS_WHAT_BECAME_WORSE_AND_BY_HOW_MUCH);
}

const THE_HISTORY_HAS_A_LINE_FOR_EVERYTHING_THAT_WAS_DONE: &[Case] = &[
    (
        &["history"],
        r"
exit 0
--- stdout
Run                  Kind   Target         Workload                    IOPS Label
[ID] align  sim:raid10-10k 20 runs; median              833
[ID] grid   sim:sata-ssd   2 runs                           grid,with,a…for,a,column
[ID] repeat sim:raid10-10k 6 runs; median               737 before
[ID] run    sim:raid10-10k random read 8K 16 in flight  738
",
    ),
    (
        &["history", "--label", "before"],
        r"
exit 0
--- stdout
Run                   Kind    Target          Workload        IOPS  Label
[ID]  repeat  sim:raid10-10k  6 runs; median   737  before
",
    ),
];

#[test]
fn the_history_has_a_line_for_everything_that_was_done() {
    let desk = Desk::new();
    desk.run(&[
        "run",
        "sim:raid10-10k",
        "--outstanding",
        "16",
        "--duration",
        "2s",
        "-q",
    ])
    .done();
    desk.run(&[
        "run",
        "sim:raid10-10k",
        "--outstanding",
        "16",
        "--duration",
        "2s",
        "--repeat",
        "6",
        "--label",
        "before",
        "-q",
    ])
    .done();
    desk.run(&[
        "run",
        "sim:sata-ssd",
        "--threads",
        "1,2",
        "--duration",
        "100ms",
        "--label",
        "grid,with,a,label,that,is,too,long,for,a,column",
        "-q",
    ])
    .done();
    desk.run(&[
        "align",
        "sim:raid10-10k",
        "--read",
        "--threads",
        "8",
        "--step",
        "2s",
        "--blocks",
        "10",
        "-q",
    ])
    .ended(1);
    all_golden(&desk, THE_HISTORY_HAS_A_LINE_FOR_EVERYTHING_THAT_WAS_DONE);
}

const AN_OFFSET_IS_JUDGED_BY_ARITHMETIC_AND_BY_MEASURING: &[Case] = &[
    (
        &[
            "disks",
            "old.img",
            "--stripe-unit",
            "64K",
            "--raid",
            "raid5:4",
            "--keep",
        ],
        r"
exit 1
--- stdout
old.img  64 MiB
  sectors 512 logical
  given: stripe unit 64K, raid5 of 4 disks
  partition table mbr, id 0xc027a0b0
  name          start, bytes       sectors        size  type, what is on it
  old.img1             32256            63    48.8 MiB  Linux

Volumes
old.img1  48.8 MiB, no file system known
  starts at 31.5 KiB (32256 bytes) on old.img
  verdict: MISALIGNED: splits above 512
  BAD  old.img: 32256 mod 65536 = 32256 (stripe unit 64K, given): aligned operations up to 512 never
         cross, larger ones do
       old.img: 32256 mod 196608 = 32256 (full stripe 192K): full-stripe writes at multiples of it
         still read first
  warn old.img: 32256 mod 4096 = 3584: writes leave partial pages of parity, which are read first;
         on Linux md that costs a factor of three
       old.img: 32256 mod 1048576 = 32256 (partitioning tools start at a multiple of 1 MiB)
       8K: 1 in 8 operations touches two disks (none if aligned)
       64K: every operation touches two disks (none if aligned)

--- stderr
kept with old.img (0xc027a0b0)
",
    ),
    (
        &[
            "align",
            "sim:raid10-10k",
            "--read",
            "--threads",
            "8",
            "--step",
            "2s",
            "--blocks",
            "10",
        ],
        r"
exit 1
--- stdout
partition offset on sim:raid10-10k

Better: 11.98 % more IOPS (95 % interval 9.18 to 14.81 %), 1M against 31.5K
  Starting at 31.5K (63 sectors) instead of 1M costs this array 10.7 % (8.4-12.9 %) of its
    random-read IOPS (8K 8x4) because 1 in 8 operations touches two disks.
  This volume already starts on a boundary of 1 MiB, as 1M does: there is nothing to gain here.
    31.5K shows what a badly placed one would cost.

I/O   Pattern  Block  Threads  QD   31.5K      1M  diff %  estimate % (95 %, n 10)  Verdict
read  random      8K        8   4  789.75  874.25   10.70  11.98 (9.18..14.81)      better

note: 10 blocks; it ended because the maximum number of blocks was reached.
note: Intervals are at 95 %.
note: While it ran, IOPS with 31.5K did not change by more than 11.3 %.
Saved  10 blocks, 20 runs in 44 s
Again  stripewise lab resume [END]  (continues with --time, --blocks or --precision)
--- stderr
It starts at 1M of the simulated array now.
1 row: 2 levels of partition offset with 1 workload, in random order within each block.
Primary hypothesis: IOPS of random read, 8 threads differ between 31.5K and 1M.
A block is 2 runs and takes 4.40 s; a verdict needs 6 blocks, 26.4 s.
It stops when every interval is narrower than 2 %, after 10 blocks (44 s) at the earliest and 10
  blocks (44 s) at the latest.
All times are simulated: they pass as fast as this machine computes them, usually in seconds.
Measuring ...
",
    ),
];

#[test]
fn an_offset_is_judged_by_arithmetic_and_by_measuring() {
    let desk = Desk::new();
    image(&desk, "old.img");
    all_golden(&desk, AN_OFFSET_IS_JUDGED_BY_ARITHMETIC_AND_BY_MEASURING);
}

const A_HIDDEN_LAYOUT_AND_A_SURFACE_ARE_DESCRIBED_IN_LINES: &[Case] = &[
    (
        &[
            "probe",
            "stripe",
            "sim:raid10-10k?offset=63s&stripe_unit=96K&disks=6",
        ],
        r"
exit 0
--- stdout
sim:raid10-10k?offset=63s&stripe_unit=96K&disks=6

  stripe unit  96K (98304 bytes)
  phase        units begin 66048 bytes after byte 0; byte 0 is 32256 bytes inside one
  disks        3 in the pattern, which repeats after 288 KiB
  layouts      RAID 10 of 6 (mirrored pairs)
  confidence   99.95 %; reads of one disk take 1.39 times as long as reads of two

Whatever starts at a multiple of 96K here starts inside a stripe unit: it is misaligned.
36,824 reads in 1 m 40 s of virtual time.
--- stderr
Reading single sectors at random places of sim:raid10-10k?offset=63s&stripe_unit=96K&disks=6, for 15
  m at most; nothing is written
",
    ),
    (
        &["profile", "sim:disk-7k2", "--places", "16"],
        r"
exit 0
--- stdout
sim:disk-7k2  471.0 GiB · [DATE]

  slowest             55.7 MiB/s
  median              82.6 MiB/s
  fastest             100.4 MiB/s
  access time         11.87 ms, p99 21.92 ms
  average seek        7.69 ms ± 0.09
  track, full stroke  0.38 ms, 17.35 ms
  rotation            7201 rpm
  from the cache      694.4 MiB/s
  zones               none: the rate falls evenly, or not at all

Read 128 MiB in 37.5 s of virtual time.
Again  stripewise history show [END]
--- stderr
Reading 128 MiB of sim:disk-7k2 in random order, and 1024 single blocks or more; nothing is written
",
    ),
];

#[test]
fn a_hidden_layout_and_a_surface_are_described_in_lines() {
    let desk = Desk::new();
    all_golden(&desk, A_HIDDEN_LAYOUT_AND_A_SURFACE_ARE_DESCRIBED_IN_LINES);
}
