//! Pages as a kernel writes them, made here: a small writer of `format` files and of
//! ring-buffer pages, and what must come of them.

use super::*;
use crate::event::{Direction, Event, Step};

const ISSUE: u16 = 2_104;
const COMPLETE: u16 = 2_107;

/// The text of a `format` file: name, number, and each field as declaration, offset, size.
pub fn format_text(name: &str, id: u16, fields: &[(&str, usize, usize)]) -> String {
    let mut text = format!("name: {name}\nID: {id}\nformat:\n");
    let common = [
        ("unsigned short common_type", 0, 2),
        ("unsigned char common_flags", 2, 1),
        ("unsigned char common_preempt_count", 3, 1),
        ("int common_pid", 4, 4),
    ];
    for (k, (declaration, offset, size)) in common.iter().chain(fields).enumerate() {
        if k == common.len() {
            text += "\n";
        }
        let signed = u8::from(declaration.starts_with("int "));
        text +=
            &format!("\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
    }
    text + "\nprint fmt: \"%d\", REC->dev\n"
}

fn formats() -> Vec<EventFormat> {
    let place = [
        ("dev_t dev", 8, 4),
        ("sector_t sector", 16, 8),
        ("unsigned int nr_sector", 24, 4),
    ];
    let issue = [("char rwbs[10]", 34, 10), ("char comm[16]", 44, 16)];
    let complete = [("int error", 28, 4), ("char rwbs[10]", 34, 10)];
    let end = [("__data_loc char[] cmd", 60, 4)];
    let text = |name, id, own: &[(&str, usize, usize)]| {
        format_text(name, id, &[&place, own, &end].concat())
    };
    [
        text("block_rq_issue", ISSUE, &issue),
        text("block_rq_complete", COMPLETE, &complete),
    ]
    .iter()
    .map(|text| EventFormat::parse(text).unwrap())
    .collect()
}

/// A record of one of the two.
fn record(id: u16, sector: u64, sectors: u32, letters: &str) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..2].copy_from_slice(&id.to_le_bytes());
    bytes[4..8].copy_from_slice(&4_711i32.to_le_bytes());
    bytes[8..12].copy_from_slice(&(8u32 << 20 | 17).to_le_bytes());
    bytes[16..24].copy_from_slice(&sector.to_le_bytes());
    bytes[24..28].copy_from_slice(&sectors.to_le_bytes());
    bytes[34..34 + letters.len()].copy_from_slice(letters.as_bytes());
    if id == ISSUE {
        bytes[44..47].copy_from_slice(b"fio");
    }
    bytes
}

/// Writes pages.
struct PageWriter {
    at_ns: u64,
    data: Vec<u8>,
    flags: u64,
}

impl PageWriter {
    fn new() -> Self {
        PageWriter {
            at_ns: 0,
            data: Vec::new(),
            flags: 0,
        }
    }

    fn entry(&mut self, kind: u32, delta: u32, rest: &[u8]) -> &mut Self {
        self.data.extend((delta << 5 | kind).to_le_bytes());
        self.data.extend(rest);
        self
    }

    fn record(&mut self, delta: u32, bytes: &[u8]) -> &mut Self {
        self.entry(bytes.len() as u32 / 4, delta, bytes)
    }

    fn page(&self, size: usize) -> Vec<u8> {
        let mut page = self.at_ns.to_le_bytes().to_vec();
        page.extend((self.data.len() as u64 | self.flags).to_le_bytes());
        page.extend(&self.data);
        page.resize(size.max(page.len()), 0xee);
        page
    }
}

fn times(page: &[u8]) -> Vec<u64> {
    let page = Page::parse(page, PageFormat::default()).unwrap();
    page.records().map(|record| record.unwrap().at_ns).collect()
}

#[test]
fn formats_are_read_with_brackets_and_signs() {
    let format = &formats()[0];
    assert_eq!((format.name.as_str(), format.id), ("block_rq_issue", ISSUE));
    let field = |name: &str| format.field(name).map(|field| (field.offset, field.size));
    assert_eq!(field("rwbs"), Some((34, 10)));
    assert_eq!(field("comm"), Some((44, 16)));
    assert_eq!(field("cmd"), Some((60, 4)));
    assert_eq!(field("common_pid"), Some((4, 4)));
    assert!(format.field("common_pid").unwrap().is_signed);
    assert!(!format.field("dev").unwrap().is_signed);
    let damaged = [
        "",
        "name: x\nID: y\n\tfield:int a;\toffset:0;\tsize:4;\n",
        "name: x\nID: 1\n",
        "name: x\nID: 1\n\tfield:int a;\toffset:9999999;\tsize:4;\n",
    ];
    assert!(
        damaged
            .iter()
            .all(|text| EventFormat::parse(text).is_none())
    );
}

#[test]
fn headers_of_pages_of_other_kernels_are_read_from_their_file() {
    let text = |commit: usize, data: usize| {
        format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{commit};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:4080;\tsigned:0;\n"
        )
    };
    assert_eq!(PageFormat::parse(&text(8, 16)), Some(PageFormat::default()));
    let narrow = PageFormat::parse(&text(4, 12)).unwrap();
    let mut page = 77u64.to_le_bytes().to_vec();
    page.extend(8u32.to_le_bytes());
    page.extend([1 | 5 << 5, 0, 0, 0, 1, 2, 3, 4]);
    let page = Page::parse(&page, narrow).unwrap();
    let record = page.records().next().unwrap().unwrap();
    assert_eq!((record.at_ns, record.bytes), (82, &[1u8, 2, 3, 4][..]));
    assert_eq!(PageFormat::parse(&text(8, 12)), None);
    assert_eq!(PageFormat::parse("nothing"), None);
}

#[test]
fn all_types_of_entries_move_the_time_as_they_should() {
    let mut writer = PageWriter::new();
    writer.at_ns = (3 << 60) + 1_000;
    writer
        .record(5, &[0; 4])
        // 2^27 * 2 + 7 later.
        .entry(30, 7, &2u32.to_le_bytes())
        .record(1, &[0; 8])
        // A discarded record of eight bytes behind its word of length.
        .entry(29, 10, &[12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        // A record whose length is in the next word.
        .entry(0, 2, &[12, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9])
        // An absolute time: 2^27 * 3 + 4, with the top bits of the page.
        .entry(31, 4, &3u32.to_le_bytes())
        .record(6, &[0; 4]);
    let page = writer.page(4_096);
    let start = (3u64 << 60) + 1_000;
    let extended = start + 5 + (2 << 27) + 7;
    assert_eq!(
        times(&page),
        [
            start + 5,
            extended + 1,
            extended + 1 + 10 + 2,
            (3 << 60) + (3 << 27) + 4 + 6
        ]
    );
    let long = Page::parse(&page, PageFormat::default()).unwrap();
    let third = long.records().nth(2).unwrap().unwrap();
    assert_eq!(third.bytes, [9; 8]);
}

#[test]
fn padding_without_time_ends_a_page() {
    let mut writer = PageWriter::new();
    writer.record(5, &[0; 4]).entry(29, 0, &[0xff; 40]);
    assert_eq!(times(&writer.page(4_096)), [5]);
    // Pages of other kernels are larger.
    assert_eq!(times(&writer.page(65_536)), [5]);
}

#[test]
fn losses_are_flagged_whether_or_not_the_kernel_says_how_many() {
    let mut writer = PageWriter::new();
    writer.record(5, &[0; 4]);
    let read = |writer: &PageWriter| {
        let page = writer.page(4_096);
        let page = Page::parse(&page, PageFormat::default()).unwrap();
        (page.is_after_loss, page.lost_events)
    };
    assert_eq!(read(&writer), (false, None));
    writer.flags = 1 << 31;
    assert_eq!(read(&writer), (true, None));
    let mut stored = writer.page(24);
    stored[11] |= 0x40;
    stored.extend(122_334u64.to_le_bytes());
    let page = Page::parse(&stored, PageFormat::default()).unwrap();
    assert_eq!(
        (page.is_after_loss, page.lost_events),
        (true, Some(122_334))
    );
}

#[test]
fn damage_ends_a_page_and_is_reported() {
    let parse = |bytes: &[u8]| Page::parse(bytes, PageFormat::default()).map(|_| ());
    assert_eq!(parse(&[0; 15]), Err(PageError::Short));
    let mut writer = PageWriter::new();
    writer.flags = 5_000;
    assert_eq!(
        parse(&writer.page(4_096)),
        Err(PageError::Length { length: 5_000 })
    );
    for rest in [&[0u8, 0, 0, 0][..], &[255, 255, 255, 255]] {
        let mut writer = PageWriter::new();
        writer.record(5, &[0; 4]).entry(0, 1, rest);
        let page = writer.page(4_096);
        let page = Page::parse(&page, PageFormat::default()).unwrap();
        let all: Vec<_> = page.records().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[1], Err(PageError::Record { at: 8 }));
    }
}

fn drain(recording: &mut Recording) -> Vec<Event> {
    std::iter::from_fn(|| recording.next_event()).collect()
}

#[test]
fn two_processors_are_merged_by_time() {
    let mut recording = Recording::new(PageFormat::default(), &formats(), 1_000);
    let mut one = PageWriter::new();
    one.record(100, &record(ISSUE, 8, 16, "WS"))
        .record(200, &record(COMPLETE, 80, 8, "R"));
    let mut other = PageWriter::new();
    other
        .record(50, &record(ISSUE, 80, 8, "R"))
        .record(5_000, &record(COMPLETE, 8, 16, "WS"))
        .record(1, &[0; 8]);
    assert_eq!(recording.page(&one.page(4_096)), Ok(false));
    assert!(drain(&mut recording).is_empty());
    assert_eq!(recording.page(&other.page(4_096)), Ok(false));
    let early: Vec<u64> = drain(&mut recording).iter().map(|one| one.at_ns).collect();
    assert_eq!(early, [50, 100, 300]);
    // Late by more than the window: left out, and counted.
    recording.page(&one.page(4_096)).unwrap();
    let last = recording.last_event().unwrap();
    assert_eq!(last.at_ns, 300);
    let last = recording.last_event().unwrap();
    assert_eq!((last.at_ns, last.step), (5_050, Step::Complete));
    assert_eq!((last.device.major, last.device.minor), (8, 17));
    assert_eq!(last.letters.direction, Direction::Write);
    assert_eq!((last.sector, last.sectors, last.pid), (8, 16, 4_711));
    assert!(last.comm.is_empty());
    let report = recording.report();
    assert_eq!((report.pages, report.late_events), (3, 1));
    assert_eq!((report.other_records, report.damaged), (1, 0));
}

#[test]
fn of_getrq_and_io_start_only_the_later_kernel_s_counts() {
    let place = [("dev_t dev", 8, 4), ("sector_t sector", 16, 8)];
    let both = ["block_getrq", "block_io_start"].map(|name| {
        let id = if name == "block_getrq" { 1 } else { 2 };
        EventFormat::parse(&format_text(name, id, &place)).unwrap()
    });
    let count = |formats: &[EventFormat]| {
        let mut recording = Recording::new(PageFormat::default(), formats, 0);
        let mut writer = PageWriter::new();
        writer
            .record(1, &record(1, 0, 0, ""))
            .record(1, &record(2, 0, 0, ""));
        recording.page(&writer.page(4_096)).unwrap();
        recording.report().events
    };
    assert_eq!(count(&both), 1);
    assert_eq!(count(&both[..1]), 1);
}
