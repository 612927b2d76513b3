//! Each format from bytes made here, and the errors for files that are truncated, compressed, in
//! another format or hostile.

use super::*;
use crate::event::Flags;
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use std::io::Write;
use stripewise_units::Kind;

fn read(bytes: &[u8]) -> (Vec<Operation>, FileReport) {
    let mut file = open(bytes, None).unwrap();
    let all: Vec<Operation> = file.by_ref().collect();
    (all, file.report())
}

/// Time, kind, offset, size, latency.
type Short = (u64, Kind, u64, u64, Option<u64>);

fn short(operations: &[Operation]) -> Vec<Short> {
    let one = |one: &Operation| {
        (
            one.arrived_ns,
            one.kind,
            one.offset_bytes,
            one.size_bytes,
            one.latency_ns(),
        )
    };
    operations.iter().map(one).collect()
}

const MSR: &str = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                   128166372016382155,usr,1,Write,1317441536,8192,1963\n\
                   128166372026382245,usr,0,Read,2436440064,4096,1835\n";

#[test]
fn msr_cambridge() {
    let mut file = open(MSR.as_bytes(), None).unwrap();
    assert_eq!(file.format(), Format::MsrCambridge);
    let all: Vec<Operation> = file.by_ref().collect();
    let first = 12_816_637_200_306_162_900;
    assert_eq!(
        short(&all),
        [
            (first, Kind::Read, 7_014_609_920, 24_576, Some(4_128_600)),
            (
                first + 1_332_052_600,
                Kind::Write,
                1_317_441_536,
                8_192,
                Some(196_300)
            ),
            (
                first + 2_332_061_600,
                Kind::Read,
                2_436_440_064,
                4_096,
                Some(183_500)
            ),
        ]
    );
    assert_eq!(file.device_name(all[0].device), Some("usr.0"));
    assert_eq!(file.device_name(all[1].device), Some("usr.1"));
    assert_eq!(all[0].device, all[2].device);
    let report = file.report();
    assert_eq!((report.rows, report.skipped, report.cut), (3, 0, None));
    assert_eq!(report.resolution_ns, Some(200));
}

#[test]
fn alibaba_with_and_without_its_header() {
    let rows = "0,R,126703661056,4096,1577808000000046\n1,W,19496058880,77824,1577808000000426\n";
    let expected = [
        (
            1_577_808_000_000_046_000,
            Kind::Read,
            126_703_661_056,
            4_096,
            None,
        ),
        (
            1_577_808_000_000_426_000,
            Kind::Write,
            19_496_058_880,
            77_824,
            None,
        ),
    ];
    let (all, _) = read(rows.as_bytes());
    assert_eq!(short(&all), expected);
    let with_header = format!("device_id,opcode,offset,length,timestamp\n{rows}");
    let mut file = open(with_header.as_bytes(), None).unwrap();
    assert_eq!(file.format(), Format::Alibaba);
    assert_eq!(file.by_ref().count(), 2);
    assert_eq!(file.report().skipped, 0);
}

#[test]
fn headings_are_no_rows() {
    for (heading, rows) in [
        (
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
            MSR,
        ),
        (
            "\"device_id\",\"opcode\",\"offset\",\"length\",\"timestamp\"\n",
            "0,R,126703661056,4096,1577808000000046\n1,W,0,4096,1577808000000047\n",
        ),
        (
            "Timestamp,Offset,Size,IOType,VolumeID\n",
            "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n",
        ),
    ] {
        let (all, plain) = read(rows.as_bytes());
        // Joined files have it twice.
        for repeats in [1, 2] {
            let (found, report) = read(format!("{heading}{rows}").repeat(repeats).as_bytes());
            assert_eq!(found.len(), repeats * all.len(), "{heading}");
            assert_eq!((plain.skipped, report.skipped), (0, 0), "{heading}");
        }
        // Another row without numbers is damage.
        let many = rows.repeat(LINES_LOOKED_AT);
        let (_, report) = read(format!("{heading}{many}a,b,c,d,e,f,g\n{rows}").as_bytes());
        assert_eq!(report.skipped, 1);
    }
    let columns: Columns = "time=s,op=R/W,offset=bytes,size=bytes".parse().unwrap();
    for (text, skipped) in [
        ("when op lba bytes\n1 R 0 512\n", 0),
        ("when op 7 bytes\n1 R 0 512\n", 1),
        ("when op lba\n1 R 0 512\n", 1),
    ] {
        let mut file = open(text.as_bytes(), Some(&columns)).unwrap();
        assert_eq!((file.by_ref().count(), file.report().skipped), (1, skipped));
    }
}

#[test]
fn tencent_has_whole_seconds_and_says_so() {
    let rows = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n\
                1538323203,1904106,384,0,1360\n";
    let mut file = open(rows.as_bytes(), None).unwrap();
    assert_eq!(file.format(), Format::TencentCbs);
    let all: Vec<Operation> = file.by_ref().collect();
    let expected = (
        1_538_323_201_000_000_000,
        Kind::Write,
        6_338_688 * 512,
        4_096,
        None,
    );
    assert_eq!(short(&all)[1], expected);
    assert_eq!(file.report().resolution_ns, Some(1_000_000_000));
}

#[test]
fn vscsi_in_both_versions() {
    let one = |sn: u32, code: u16, sector: u64, us: u64| {
        let mut bytes = Vec::new();
        bytes.extend(sn.to_le_bytes());
        bytes.extend(6_656u32.to_le_bytes());
        bytes.extend(2u32.to_le_bytes());
        bytes.extend(code.to_le_bytes());
        bytes.extend(256u16.to_le_bytes());
        bytes.extend(sector.to_le_bytes());
        bytes.extend(us.to_le_bytes());
        bytes
    };
    let bytes = [
        one(1, 42, 8, 100),
        one(2, 0x28, 16, 90),
        one(3, 0x12, 0, 95),
    ]
    .concat();
    let mut file = open(&bytes[..], None).unwrap();
    assert_eq!(file.format(), Format::CloudPhysicsVscsi);
    let all: Vec<Operation> = file.by_ref().collect();
    assert_eq!(
        short(&all),
        [
            (90_000, Kind::Read, 8_192, 6_656, None),
            (100_000, Kind::Write, 4_096, 6_656, None)
        ]
    );
    let two = |code: u16, us: u64, response_us: u64| {
        let mut bytes = Vec::new();
        bytes.extend(code.to_le_bytes());
        bytes.extend(512u16.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(4_096u32.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(8u64.to_le_bytes());
        bytes.extend(us.to_le_bytes());
        bytes.extend(response_us.to_le_bytes());
        bytes
    };
    let (all, _) = read(&[two(0x8a, 100, 7), two(0x28, 110, 9)].concat());
    assert_eq!(
        short(&all),
        [
            (100_000, Kind::Write, 4_096, 4_096, Some(7_000)),
            (110_000, Kind::Read, 4_096, 4_096, Some(9_000))
        ]
    );
}

#[test]
fn oracle_general_is_refused_with_its_reason() {
    let record = |k: u64| {
        let mut bytes = (k as u32 / 4).to_le_bytes().to_vec();
        bytes.extend((k * 977).to_le_bytes());
        bytes.extend(512u32.to_le_bytes());
        bytes.extend((k + 40).to_le_bytes());
        bytes
    };
    let bytes: Vec<u8> = (0..64).flat_map(record).collect();
    let error = open(&bytes[..], None).err().unwrap();
    assert!(matches!(error, FileError::OracleGeneral));
    assert!(error.to_string().contains("which operations write"));
    assert!(error.hint().contains("MSR"));
}

#[test]
fn fio_iologs_of_both_versions() {
    let two = "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 4096 8192\n\
               /dev/sdb wait 1500 0\n/dev/sdb write 0 512\n/dev/sdb sync 0 0\n\
               /dev/sdb wait 500 0\n/dev/sdb trim 1048576 65536\n/dev/sdb close\n";
    let (all, report) = read(two.as_bytes());
    assert_eq!(
        short(&all),
        [
            (0, Kind::Read, 4_096, 8_192, None),
            (1_500_000, Kind::Write, 0, 512, None),
            (1_500_000, Kind::Sync, 0, 0, None),
            (2_000_000, Kind::Discard, 1_048_576, 65_536, None)
        ]
    );
    assert_eq!((report.rows, report.skipped), (10, 0));
    let three = "fio version 3 iolog\n2 f add\n872 f open\n878 f write 0 16384\n\
                 888 f datasync 0 0\n900 f read 16384 4096\n1000 f close\n";
    let mut file = open(three.as_bytes(), None).unwrap();
    assert_eq!(file.format(), Format::FioIolog3);
    let all: Vec<Operation> = file.by_ref().collect();
    assert_eq!(
        short(&all),
        [
            (878_000, Kind::Write, 0, 16_384, None),
            (888_000, Kind::Sync, 0, 0, None),
            (900_000, Kind::Read, 16_384, 4_096, None)
        ]
    );
    assert_eq!(file.device_name(all[0].device), Some("f"));
    // Without `wait`, version 2 has no time at all.
    let (_, report) = read(b"fio version 2 iolog\nf read 0 512\nf read 512 512\n");
    assert_eq!(report.resolution_ns, None);
}

#[test]
fn blkparse_text() {
    let text = "  8,0    1        1     0.000000000   697  A   W 2048 + 8 <- (8,1) 0\n\
                \x20 8,0    1        2     0.000001000   697  Q   W 2048 + 8 [my prog [x]]\n\
                \x20 8,0    1        3     0.000002000   697  G   W 2048 + 8 [my prog [x]]\n\
                \x20 8,0    1        4     0.000002500   697  P   N [my prog [x]]\n\
                \x20 8,0    1        5     0.000003000   697  I   W 2048 + 8 [my prog [x]]\n\
                \x20 8,0    1        6     0.000009000    12  D   W 2048 + 8 [kworker/1:1H]\n\
                \x20 8,0    1        7     0.000010000    12  D  FN [kworker/1:1H]\n\
                \x20 8,0    0        1     0.001009000     0  C   W 2048 + 8 [0]\n\
                \x20 8,0    0        2     0.002000000     0  C  FN 18446744073709551615 [0]\n\
                CPU0 (sda):\n Reads Queued:           0,        0KiB\n";
    let mut file = open(text.as_bytes(), None).unwrap();
    assert_eq!(file.format(), Format::Blkparse);
    let all: Vec<Operation> = file.by_ref().collect();
    assert_eq!(
        short(&all),
        [
            (1_000, Kind::Write, 1_048_576, 4_096, Some(1_008_000)),
            (10_000, Kind::Sync, 0, 0, Some(1_990_000))
        ]
    );
    assert_eq!(all[0].stages().scheduler, Some(7_000));
    assert_eq!(
        file.tasks().name(all[0].task).as_deref(),
        Some("my prog [x]")
    );
    assert_eq!(file.report().skipped, 0);
    let report = file.report().pairing;
    assert_eq!((report.paired, report.unmatched_completions), (2, 0));
}

/// An inquiry of `smartctl`, as older and newer versions print it, beside a read whose
/// completion has the time that `blkparse -t` prints, and a flush.
#[test]
fn commands_that_programs_pass_through_are_no_operations() {
    for [issued, completed] in [
        [
            "36 (12 00 00 00 24 00 ..) [smartctl]",
            "(12 00 00 00 24 00 ..) [0]",
        ],
        ["36 [smartctl]", "[0]"],
        ["0 () [smartctl]", "() [0]"],
    ] {
        let text = format!(
            "  8,0    1        1     0.000001000   697  D   R {issued}\n\
            \x20 8,0    1        2     0.000002000   697  D   R 36 + 8 [cat]\n\
            \x20 8,0    1        3     0.000003000    12  D  FN [kworker/1:1H]\n\
            \x20 8,0    0        1     0.000101000     0  C   R {completed}\n\
            \x20 8,0    0        2     0.000202000     0  C   R 36 + 8 (  200000) [0]\n\
            \x20 8,0    0        3     0.000303000     0  C  FN 18446744073709551615 (  300000) [0]\n"
        );
        let (all, report) = read(text.as_bytes());
        assert_eq!(
            short(&all),
            [
                (2_000, Kind::Read, 36 * 512, 4_096, Some(200_000)),
                (3_000, Kind::Sync, 0, 0, Some(300_000))
            ],
            "{issued}"
        );
        let pairing = report.pairing;
        assert_eq!((pairing.paired, pairing.unmatched_completions), (2, 0));
        assert_eq!((pairing.in_flight, report.skipped), (0, 0), "{issued}");
    }
    const COMMAND: u64 = 1 << 25;
    let bytes: Vec<u8> = [(1, 7), (2, 8)]
        .into_iter()
        .flat_map(|(at, step)| {
            blktrace_record(false, false, at, step | 1 << 16 | COMMAND, 0, b"\x12\0")
        })
        .collect();
    let (all, report) = read(&bytes);
    assert_eq!((all.len(), report.pairing.paired, report.cut), (0, 0, None));
}

#[test]
fn trace_cmd_text_with_and_without_flags() {
    let plain = "cpus=2\n\
        \x20  my-prog-1234  [001]  1234.567890: block_bio_queue:      8,0 R 2048 + 8 [my-prog]\n\
        \x20  my-prog-1234  [001]  1234.567895: block_rq_issue:       8,0 R 4096 () 2048 + 8 none,0,0 [my-prog]\n\
        \x20  <idle>-0      [000]  1234.567990: block_rq_complete:    8,0 R () 2048 + 8 none,0,0 [0]\n";
    let flags = plain
        .replace("[001]  ", "[001] d..2. ")
        .replace("[000]  ", "[000] d.h1. ");
    let processes = flags
        .replace("my-prog-1234 ", "my-prog-1234 (   1234)")
        .replace("<idle>-0 ", "<idle>-0 (-------)");
    assert_ne!(processes, flags);
    for text in [plain, &flags, &processes] {
        let mut file = open(text.as_bytes(), None).unwrap();
        assert_eq!(file.format(), Format::TraceCmd);
        let all: Vec<Operation> = file.by_ref().collect();
        let expected = (
            1_234_567_890_000,
            Kind::Read,
            1_048_576,
            4_096,
            Some(100_000),
        );
        assert_eq!(short(&all), [expected]);
        assert_eq!(file.tasks().pid(all[0].task), Some(1_234));
    }
}

/// A captured trace of a ring that was too small: the completion of one read, and the issue of
/// the next at the same place, are missing.
#[test]
fn lines_of_lost_events_are_counted_and_nothing_is_paired_across_them() {
    for message in ["CPU:1 [LOST 17 EVENTS]", "CPU:1 [17 EVENTS DROPPED]"] {
        let text = format!(
            "cpus=2\n\
            \x20 fio-12    [001]    10.000000: block_rq_issue:       8,0 R 4096 () 2048 + 8 [fio]\n\
            \x20 <idle>-0  [001]    10.000100: block_rq_complete:    8,0 R () 2048 + 8 [0]\n\
            \x20 fio-12    [001]    10.000200: block_rq_issue:       8,0 R 4096 () 2048 + 8 [fio]\n\
            {message}\n\
            \x20 <idle>-0  [001]    19.000000: block_rq_complete:    8,0 R () 2048 + 8 [0]\n\
            \x20 fio-12    [001]    19.000100: block_rq_issue:       8,0 R 4096 () 2048 + 8 [fio]\n\
            \x20 <idle>-0  [001]    19.000300: block_rq_complete:    8,0 R () 2048 + 8 [0]\n"
        );
        let (all, report) = read(text.as_bytes());
        let took: Vec<Option<u64>> = all.iter().map(Operation::whole_ns).collect();
        assert_eq!(took, [Some(100_000), Some(200_000)], "{message}");
        assert_eq!((report.lost_events, report.pairing.losses), (17, 1));
        assert_eq!((report.pairing.dropped, report.pairing.paired), (1, 2));
        // Beside the lines, which are events as the lost ones are.
        assert_eq!(report.lost(), (18, 18.0 / (report.rows + 18) as f64));
        // Before the first event nothing is missing of what was observed.
        let (_, whole) = read(format!("{message}\n{}", text.replace(message, "")).as_bytes());
        assert_eq!((whole.lost_events, whole.pairing.losses), (0, 0));
        assert_eq!(report.skipped, 0);
    }
    let lost = super::kernel_text::lost;
    assert_eq!(lost("CPU:0 [EVENTS DROPPED]"), Some(1));
    assert_eq!(lost("CPU:11 [LOST EVENTS]"), Some(1));
    for line in [
        "CPU0 (sda):",
        "CPU:x [LOST 1 EVENTS]",
        "CPU:1 [LOST many EVENTS]",
        "CPU:1 ",
    ] {
        assert_eq!(lost(line), None, "{line}");
    }
}

/// A record of blktrace, in either order of bytes and either version.
fn blktrace_record(
    is_wide: bool,
    is_swapped: bool,
    at_ns: u64,
    action: u64,
    sector: u64,
    following: &[u8],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |value: u64, size: usize| {
        let little = value.to_le_bytes();
        let part = &little[..size];
        if is_swapped {
            bytes.extend(part.iter().rev());
        } else {
            bytes.extend(part);
        }
    };
    put(if is_wide { 0x6561_7408 } else { 0x6561_7407 }, 4);
    put(0, 4);
    put(at_ns, 8);
    put(sector, 8);
    put(4_096, 4);
    if is_wide {
        put(77, 4);
        put(action, 8);
    } else {
        put(action, 4);
        put(77, 4);
    }
    put(8 << 20 | 1, 4);
    put(0, 4);
    put(0, 2);
    put(following.len() as u64, 2);
    bytes.resize(if is_wide { 64 } else { 48 }, 0);
    bytes.extend(following);
    bytes
}

#[test]
fn blktrace_records_in_all_layouts() {
    const WRITE: u64 = 2 << 16;
    const SYNC: u64 = 8 << 16;
    for (is_wide, is_swapped) in [(false, false), (false, true), (true, false), (true, true)] {
        let record = |at, action, sector, following: &[u8]| {
            blktrace_record(is_wide, is_swapped, at, action, sector, following)
        };
        let bytes = [
            record(0, 1 << 26, 0, b"postgres\0"),
            record(5, 1 | WRITE | SYNC, 2_048, b""),
            record(9, 7 | WRITE | SYNC, 2_048, b"following that is skipped"),
            record(50, 8 | WRITE | SYNC, 2_048, b""),
        ]
        .concat();
        let mut file = open(&bytes[..], None).unwrap();
        assert_eq!(file.format(), Format::Blktrace);
        let all: Vec<Operation> = file.by_ref().collect();
        assert_eq!(short(&all), [(5, Kind::Write, 1_048_576, 4_096, Some(45))]);
        assert!(all[0].flags.has(Flags::SYNC));
        assert_eq!(file.tasks().name(all[0].task).as_deref(), Some("postgres"));
        assert_eq!(file.report().cut, None);
        // Cut in the last record: what is before it is read, and in flight.
        let mut file = open(&bytes[..bytes.len() - 20], None).unwrap();
        let all: Vec<Operation> = file.by_ref().collect();
        assert_eq!((all.len(), all[0].completed_ns), (1, None));
        assert!(file.report().cut.unwrap().contains("ends within"));
    }
}

/// As Linux 5.4 wrote it: a flush is a read, too, and completes once more as what is neither.
#[test]
fn a_flush_of_blktrace_is_no_read() {
    let record = |at, action| {
        let mut record = blktrace_record(false, false, at, action, 0, b"");
        record[24..28].fill(0);
        record
    };
    let bytes = [
        record(5, 7 | 0x145 << 16),
        record(90, 8 | 0x185 << 16),
        record(92, 8 | 0x189 << 16),
    ];
    let (all, report) = read(&bytes.concat());
    assert_eq!(short(&all), [(5, Kind::Sync, 0, 0, Some(85))]);
    assert_eq!(report.pairing.unmatched_completions, 0);
}

#[test]
fn what_never_completes_is_not_out_of_order() {
    let record = |at_s: u64, step: u64, sector| {
        blktrace_record(
            false,
            false,
            at_s * 1_000_000_000,
            step | 1 << 16,
            sector,
            b"",
        )
    };
    let pair = |at_s| [record(at_s, 7, 8), record(at_s, 8, 8)].concat();
    let bytes = [record(1, 7, 800), pair(2), pair(40), pair(41)].concat();
    let (all, report) = read(&bytes);
    assert_eq!(
        (all.len(), report.pairing.in_flight, report.late),
        (4, 1, 0)
    );
}

#[test]
fn the_parts_of_blktrace_are_one_trace_in_the_order_of_time() {
    let record =
        |at, step: u64, sector| blktrace_record(false, false, at, step | 1 << 16, sector, b"more");
    let issued = [record(5, 7, 8), record(20, 7, 16)].concat();
    let completed = [record(15, 8, 8), record(31, 8, 16)].concat();
    let all_of = |parts: [&[u8]; 3]| {
        let parts = JoinedParts::new(parts.to_vec()).unwrap();
        let mut file = open(parts, None).unwrap();
        let all: Vec<Operation> = file.by_ref().collect();
        let took = all.iter().map(Operation::latency_ns);
        (took.collect::<Vec<_>>(), file.report())
    };
    let (took, report) = all_of([&completed, b"", &issued]);
    assert_eq!((took, report.rows), (vec![Some(10), Some(11)], 4));
    assert_eq!(report.cut, None);
    // Where one of them is cut, all end, as what completed from then on is not known.
    let (took, report) = all_of([&issued, &completed[..completed.len() - 9], b""]);
    assert_eq!(took, [Some(10)]);
    assert!(report.cut.unwrap().contains("ends within"));
    assert!(JoinedParts::new(vec![&b"8,0 1 1 0.000"[..]]).is_err());
    assert_eq!(part_of("sda.blktrace.11"), Some(("sda.blktrace.", 11)));
    for other in ["sda.blktrace", "sda.blktrace.", "sda.blktrace.+1", "1"] {
        assert_eq!(part_of(other), None, "{other}");
    }
}

#[test]
fn blktrace_follows_a_partition_to_its_disk() {
    let mut from = (8u32 << 20 | 2).to_be_bytes().to_vec();
    from.extend((8u32 << 20 | 1).to_be_bytes());
    from.extend(0u64.to_be_bytes());
    let mut queue = blktrace_record(false, false, 1, 1 | 1 << 16, 0, b"");
    queue[36..40].copy_from_slice(&(8u32 << 20 | 2).to_le_bytes());
    let bytes = [
        queue,
        blktrace_record(false, false, 2, 15 | 1 << 16, 2_048, &from),
        blktrace_record(false, false, 3, 7 | 1 << 16, 2_048, b""),
        blktrace_record(false, false, 9, 8 | 1 << 16, 2_048, b""),
    ]
    .concat();
    let (all, _) = read(&bytes);
    assert_eq!(short(&all), [(1, Kind::Read, 1_048_576, 4_096, Some(8))]);
}

#[test]
fn any_text_by_its_columns() {
    let text = "when op lba bytes took\n\
                2026-10-25 02:59:59.5,Get,8,4K-unit,1\n";
    assert!(matches!(
        open(text.as_bytes(), None),
        Err(FileError::Unknown)
    ));
    let columns: Columns =
        "time=local,op=Get/Put/Drop/Commit,offset=sectors,size=4K,latency=ms,-,device"
            .parse()
            .unwrap();
    let text = "when;what;lba;count;took;note;disk\n\
                2026-10-25 02:59:59.5;\"put\";8;2;1.25;x;a\n\
                2026-10-25 03:00:00;get;0;1;1;;b\n\
                2026-10-25 03:00:01;commit;0;0;1;;b\n";
    let mut file = open(text.as_bytes(), Some(&columns)).unwrap();
    let all: Vec<Operation> = file.by_ref().collect();
    let base = all[0].arrived_ns;
    assert_eq!(
        short(&all),
        [
            (base, Kind::Write, 4_096, 8_192, Some(1_250_000)),
            (base + 500_000_000, Kind::Read, 0, 4_096, Some(1_000_000)),
            (base + 1_500_000_000, Kind::Sync, 0, 0, Some(1_000_000))
        ]
    );
    assert_ne!(all[0].device, all[1].device);
    assert_eq!(file.report().resolution_ns, Some(500_000_000));
}

#[test]
fn descriptions_of_columns_are_checked() {
    let table = [
        ("time=us,op=R/W,offset=bytes", "lack size"),
        ("op=R/W,offset=bytes,size=bytes", "lack time"),
        ("time=days,op=R/W,offset=bytes,size=bytes", "a time is in"),
        ("time=s,op=R,offset=bytes,size=bytes", "two to four words"),
        (
            "time=s,op=R/W,offset=bytes,size=0",
            "bytes, sectors, or units",
        ),
        (
            "time=s,op=R/W,offset=bytes,size=bytes,colour=red",
            "no column",
        ),
    ];
    for (text, expected) in table {
        let error = text.parse::<Columns>().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.hint().starts_with("columns are"));
    }
}

#[test]
fn rows_out_of_order_are_put_in_order_and_clocks_that_go_back_are_no_panic() {
    let columns: Columns = "time=s,op=R/W,offset=bytes,size=bytes".parse().unwrap();
    let text = "5 R 0 1\n3 R 0 1\n9 W 0 1\n40 R 0 1\n1 R 0 1\n41 R 0 1\n";
    let all: Vec<u64> = open(text.as_bytes(), Some(&columns))
        .unwrap()
        .map(|one| one.arrived_ns / 1_000_000_000)
        .collect();
    assert_eq!(all, [3, 5, 9, 1, 40, 41]);
}

/// What Windows, and a crash, make of a text.
#[test]
fn every_text_is_read_in_every_encoding() {
    let blkparse = "  8,0    1        2     0.000001000   697  D   W 2048 + 8 [dd]\n\
                    \x20 8,0    0        1     0.001009000     0  C   W 2048 + 8 [0]\n";
    let trace_cmd = "   dd-12  [001]  10.000000: block_rq_issue:    8,0 R 4096 () 2048 + 8 [dd]\n\
                     \x20  <idle>-0  [001]  10.000100: block_rq_complete: 8,0 R () 2048 + 8 [0]\n";
    for text in [
        MSR,
        "device_id,opcode,offset,length,timestamp\n0,R,126703661056,4096,1577808000000046\n",
        "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n",
        "fio version 2 iolog\nf read 0 512\nf wait 9 0\nf write 512 512\n",
        "fio version 3 iolog\n2 f add\n878 f write 0 16384\n",
        "stripewise trace 1\n1 R 0 512 0 1 - - - 5 - sda 1 a\n",
        blkparse,
        trace_cmd,
    ] {
        let plain = read(text.as_bytes());
        assert!(!plain.0.is_empty(), "{text}");
        let windows = text.replace('\n', "\r\n");
        let wide = |mark: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let text = format!("{mark}{windows}");
            text.encode_utf16().flat_map(bytes).collect()
        };
        for other in [
            windows.clone().into_bytes(),
            format!("\u{feff}{text}").into_bytes(),
            wide("\u{feff}", u16::to_le_bytes),
            wide("\u{feff}", u16::to_be_bytes),
            wide("", u16::to_le_bytes),
            [text.as_bytes(), &[0; 1 << 17]].concat(),
            gzip(&wide("\u{feff}", u16::to_le_bytes)),
        ] {
            assert_eq!(read(&other), plain, "{text}");
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A frame of zstd with one block that is not packed (RFC 8878, section 3.1.1).
fn zstd_frame(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    frame.extend((bytes.len() as u32).to_le_bytes());
    frame.extend(&((bytes.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

#[test]
fn what_is_packed_twice_is_refused_as_that() {
    let once = gzip(MSR.as_bytes());
    for twice in [gzip(&once), zstd_frame(&once), gzip(&zstd_frame(b"x"))] {
        let refused = open(&twice[..], None).err();
        assert!(
            matches!(refused, Some(FileError::PackedTwice)),
            "{refused:?}"
        );
    }
}

#[test]
fn packed_files_are_read_in_pieces_and_up_to_where_they_are_cut() {
    let (first, second) = MSR.split_at(MSR.len() / 2);
    let (expected, _) = read(MSR.as_bytes());
    let members = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    let skip = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
    let frames = [
        skip,
        zstd_frame(first.as_bytes()),
        zstd_frame(second.as_bytes()),
    ]
    .concat();
    for (packed, compression) in [(&members, Compression::Gzip), (&frames, Compression::Zstd)] {
        let mut file = open(&packed[..], None).unwrap();
        assert_eq!(file.compression(), compression);
        assert_eq!(file.by_ref().collect::<Vec<_>>(), expected);
        assert_eq!(file.report().cut, None);
        let mut file = open(&packed[..packed.len() - 9], None).unwrap();
        let read: Vec<Operation> = file.by_ref().collect();
        assert!(
            !read.is_empty() && expected.starts_with(&read),
            "{compression:?}"
        );
        assert!(file.report().cut.unwrap().contains("ends within"));
    }
}

/// A frame holds its last window back until it ends.
#[test]
fn of_a_frame_that_is_cut_all_whole_blocks_are_read() {
    let block = |is_last: u32, bytes: &[u8]| {
        let header = (bytes.len() as u32) << 3 | is_last;
        [&header.to_le_bytes()[..3], bytes].concat()
    };
    // A window of 1 MiB, and a checksum.
    let start: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0x04, 10 << 3];
    let blocks = [block(0, MSR.as_bytes()), block(1, MSR.as_bytes())].concat();
    let frame = [&start[..], &blocks[..], &b"sum!"[..]].concat();
    for (cut, count) in [(0, 6), (2, 6), (9, 3)] {
        let (all, report) = read(&frame[..frame.len() - cut]);
        assert_eq!(all.len(), count, "without {cut} bytes");
        assert_eq!(report.cut.is_some(), cut > 0);
    }
}

#[test]
fn windows_of_zstd_are_bounded() {
    // A window of 2 GiB: exponent 21, mantissa 0.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0, 0, 0];
    let error = open(&frame[..], None).err().unwrap();
    assert!(matches!(error, FileError::Read(_)), "{error}");
}

#[test]
fn what_is_no_trace_is_refused() {
    assert!(matches!(open(&b""[..], None), Err(FileError::Empty)));
    let noise: Vec<u8> = (0..9_000u32).map(|k| ((k * k) >> 3) as u8).collect();
    for bytes in [&noise[..], b"hello\n", b"1,2,3,4,5,6\n", b"\n\n\n"] {
        let error = open(bytes, None).err().unwrap();
        assert!(matches!(error, FileError::Unknown));
        assert!(error.hint().contains("time=us,op=R/W"));
    }
}

#[test]
fn a_file_that_turns_into_something_else_is_left() {
    let mut text = MSR.repeat(100);
    for k in 0..5_000 {
        text += &format!("noise {k}\n");
    }
    let (all, report) = read(text.as_bytes());
    assert_eq!(all.len(), 300);
    assert!(report.cut.unwrap().contains("most lines"));
    assert!(report.rows < 3_000);
}

#[test]
fn lines_without_end_do_not_fill_memory() {
    let mut text = MSR.as_bytes().to_vec();
    text.extend(vec![b'7'; 1 << 20]);
    text.extend(b"\n");
    text.extend(MSR.as_bytes());
    let (all, report) = read(&text);
    assert_eq!(
        (all.len(), report.skipped, report.first_skipped),
        (6, 1, Some(4))
    );
}

#[test]
fn counters_of_sql_server() {
    let snapshot = |reads: u64| {
        format!(
            "database_id,file_id,sample_ms,num_of_reads,num_of_bytes_read,io_stall_read_ms,\
             num_of_writes,num_of_bytes_written,io_stall_write_ms,io_stall,size_on_disk_bytes\n\
             5,1,1000,{reads},81920,300,4,32768,8,308,1073741824\n\
             5,2,1000,0,0,0,7,3584,14,14,1073741824\n"
        )
    };
    let first = totals(&snapshot(10)).unwrap();
    let files = &first.files;
    assert_eq!((files.len(), files[0].name.as_str()), (2, "5/1"));
    assert_eq!((files[0].reads, files[0].read_bytes), (10, 81_920));
    assert_eq!(
        (files[0].read_ms, files[1].write_ms),
        (Some(300.0), Some(14.0))
    );
    let later = totals(&snapshot(25).replace(",1000,", ",61000,")).unwrap();
    let (passed_ns, between) = later.since(&first).unwrap();
    assert_eq!((passed_ns, between[0].reads), (60_000_000_000, 15));
    assert_eq!(first.since(&later), Err(TotalsError::NotLater));
    assert_eq!(first.since(&first), Err(TotalsError::NotLater));
    let reset = totals(&snapshot(9).replace(",1000,", ",61000,")).unwrap();
    let error = reset.since(&first).unwrap_err();
    assert!(error.to_string().contains("5/1"));
    let wrapped = snapshot(25).replace(",1000,", ",-2147000000,");
    assert_eq!(totals(&wrapped), Err(TotalsError::Wrapped { line: 2 }));
    let rows = wrapped.lines().enumerate().map(|(k, line)| match k {
        0 => format!("{line},now\n"),
        _ => format!("{line},2026-11-27 11:35:11.500\n"),
    });
    assert!(totals(&rows.collect::<String>()).unwrap().at_ns.is_some());
    let named = snapshot(1)
        .replace("database_id,", "database_name,")
        .replace("file_id,", "physical_name,")
        .replace("\n5,1,", "\nshop,\"D:\\data, old\\shop.mdf\",")
        .replace("\n5,2,", "\nshop,L:\\log\\shop_log.ldf,");
    let named = totals(&named).unwrap();
    let roles = named.files.iter().map(|one| one.role.unwrap().role);
    assert_eq!(roles.collect::<Vec<_>>(), ["data", "log"]);
}

#[test]
fn counters_of_postgresql_before_and_after_18() {
    let old = "backend_type,object,context,reads,read_time,writes,write_time,extends,extend_time,op_bytes,fsyncs,fsync_time\n\
               client backend,relation,normal,100,12.5,10,1.5,5,0.5,8192,,\n\
               checkpointer,relation,normal,,,1000,20,,,8192,7,3.25\n";
    let first = totals(old).unwrap();
    let all = &first.files;
    assert_eq!(all[1].name, "client backend/relation/normal");
    assert_eq!((all[1].writes, all[1].write_bytes), (15, 15 * 8_192));
    assert_eq!((all[1].write_ms, all[1].syncs), (Some(2.0), None));
    assert_eq!((all[0].syncs, all[0].sync_ms), (Some(7), Some(3.25)));
    let new = "\u{feff}backend_type\tobject\tcontext\treads\tread_bytes\tread_time\twrites\twrite_bytes\n\
               walwriter\twal\tnormal\t0\t0\t0\t9\t73728\n";
    let all = totals(new).unwrap().files;
    assert_eq!((all[0].write_bytes, all[0].read_ms), (73_728, None));
    assert_eq!(all[0].role.unwrap().role, "log");
    assert_eq!(first.since(&first), Err(TotalsError::NoTime));
    let at = |time: &str| {
        let rows = old.lines().enumerate().map(|(k, line)| match k {
            0 => format!("now,{line}\n"),
            _ => format!("{time},{line}\n"),
        });
        totals(&rows.collect::<String>()).unwrap()
    };
    let [one, other] = ["2026-11-27 11:35:11.5+00", "2026-11-27 11:36:11.5+00"].map(at);
    assert_eq!(other.since(&one).unwrap().0, 60_000_000_000);
    let of_sql_server = totals("num_of_bytes_read,sample_ms\n1,1\n").unwrap();
    assert_eq!(
        of_sql_server.since(&one),
        Err(TotalsError::Different("PostgreSQL", "SQL Server"))
    );
    assert!(is_snapshot(old) && is_snapshot(new) && !is_snapshot(MSR));
    assert_eq!(totals("a,b\n1,2\n"), Err(TotalsError::Unknown));
    let broken = old.replace("100,12.5", "many,12.5");
    let error = totals(&broken).unwrap_err();
    assert!(error.to_string().contains("line 2: `reads`"), "{error}");
    // As SQL Server Management Studio saves it.
    let wide = std::iter::once(0xfeff).chain(old.encode_utf16());
    let wide: Vec<u8> = wide.flat_map(u16::to_le_bytes).collect();
    assert_eq!(totals(&decoded(&wide)), totals(old));
}
