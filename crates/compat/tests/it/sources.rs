//! Properties of a whole file: its tool, its encoding, and the errors for files that cannot be
//! read.

use crate::sqlio_output::{GROW, PLAIN};
use crate::tools::{DISKSPD_TEXT, DISKSPD_XML, FIO};
use stripewise_compat::{Error, Import, ImportedFile, import};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn results_that_are_not_read_are_refused_by_the_name_of_what_they_are() {
    for (text, problem, hint) in [
        (
            "reads: (g=0): rw=randread, bs=(R) 8192B-8192B, ioengine=libaio, iodepth=4\nfio-3.33\n",
            "without a result",
            "--output-format=json",
        ),
        (
            "reads: (groupid=0, jobs=1): err= 0: pid=7\n  read: IOPS=4000, BW=31.2MiB/s\n",
            "it is truncated",
            "--output-format=json",
        ),
        (
            "3;fio-3.33;reads;0;0;1000;2000;500;10;0;0\n",
            "fewer values than a line of fio's terse output",
            "as they were written",
        ),
        (
            "[global]\nioengine=libaio\n[a]\nrw=read\n",
            "is a job file of fio",
            "convert --from fio",
        ),
        (
            "fio: engine x not loadable\n",
            "without a result",
            "--output-format=json",
        ),
        (
            "Copyright (c) 2000, 2018.\nVdbench summary report, created 10:11:12\n",
            "vdbench without an average",
            "summary.html",
        ),
        (
            "OPERATION   RESULT TYPE         FIRST DONE  LAST DONE\nREAD  IOPS : 1 2\n",
            "elbencho's printed output",
            "--csvfile",
        ),
        (
            "'Test Type,Test Description\n'Version\n'Time Stamp\n",
            "Iometer without results",
            "results.csv",
        ),
        (
            "'Test Type;Test Description\n0;two disks\n'Version\n1.1.0\n",
            "with other separators than commas",
            "results.csv",
        ),
        (
            "ISO date;label;path type;paths;hosts\n2026-03-02T10:20:30.123+0100;x;file;1;1\n",
            "with other separators than commas",
            "--csvfile",
        ),
        (
            "ISO date\tlabel\tpath type\tpaths\n2026-03-02T10:20:30.123+0100\tx\tfile\t1\n\
             2026-03-02T10:20:31.123+0100\tx\tfile\t1\n2026-03-02T10:20:32.123+0100\tx\tfile\t1\n",
            "with other separators than commas",
            "--csvfile",
        ),
        (
            "Results for timespan 1:\n***\nactual test time:\t30.00s\nTotal IO\n",
            "without its `Input parameters:`",
            "Command Line:",
        ),
        (
            "{\n  \"schema_version\": 1,\n  \"runs\": []\n}\n",
            "document of Stripewise",
            "compare",
        ),
        (
            "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n",
            "is output of sysbench",
            "fio",
        ),
        (
            "\n--- . (ext4 /dev/sda1 98.3 GiB) ioping statistics ---\n",
            "is output of ioping",
            "fio",
        ),
        (
            "Version  1.98       ------Sequential Output------ --Sequential Input- --Random-\n",
            "is output of bonnie++",
            "fio",
        ),
        (
            "\tIozone: Performance Test of File I/O\n",
            "is output of IOzone",
            "fio",
        ),
        (
            "/dev/sda:\n Timing buffered disk reads:  74 MB in  3.01 seconds =  24.59 MB/sec\n",
            "is output of hdparm",
            "fio",
        ),
        (
            "536870912 bytes (537 MB, 512 MiB) copied, 35.3134 s, 15.2 MB/s\n",
            "is output of dd",
            "fio",
        ),
        (
            "AS SSD Benchmark 2.0.6485.19676\n",
            "is output of AS SSD",
            "fio",
        ),
        ("hello\n", "not written by a known tool", "SQLIO, DiskSpd"),
        (
            "# Notes\nRun vdbench, elbencho or Iometer.\n",
            "not written by a known tool",
            "SQLIO, DiskSpd",
        ),
    ] {
        let error = import(text.as_bytes(), "x.txt").unwrap_err();
        assert!(error.to_string().contains(problem), "{problem}: {error}");
        assert!(error.hint().contains(hint), "{hint}: {}", error.hint());
        let is_known = problem.contains("truncated") || problem.contains("terse");
        assert_eq!(error.is_of_no_tool(), !is_known, "{error}");
    }
}

#[test]
fn results_of_several_tools_in_one_file_are_all_read() {
    for (first, second, names, runs) in [
        (
            DISKSPD_TEXT,
            PLAIN,
            ["DiskSpd text from line 2", "SQLIO output from line 71"],
            2,
        ),
        (
            PLAIN,
            FIO,
            ["SQLIO output from line 1", "fio JSON from line"],
            3,
        ),
        (
            FIO,
            DISKSPD_XML,
            ["fio JSON from line", "DiskSpd XML from line"],
            3,
        ),
    ] {
        let file = import([first, second].concat().as_bytes(), "x").unwrap();
        let expected_text = file.notes[0].message.clone();
        for name in names {
            assert!(expected_text.contains(name), "{name}: {expected_text}");
        }
        assert_eq!(file.runs.len(), runs, "{expected_text}");
        // Line numbers in records and messages are those of the file.
        let alone = import(second.as_bytes(), "x").unwrap();
        let line = |file: &ImportedFile| file.runs.last()?.imported.as_ref()?.line;
        let above = first.matches('\n').count() as u64;
        assert_eq!(line(&file), line(&alone).map(|line| line + above));
    }
    let broken = DISKSPD_TEXT.replace("2000.00 |   16", "2000.00");
    let error = import([PLAIN, &broken].concat().as_bytes(), "x").unwrap_err();
    let above = PLAIN.matches('\n').count() as u64;
    assert!(error.lines()[0].line > above, "{error}");
    // A tool's name in a batch's message is no result of it.
    let quoted = format!("echo now diskspd, Input parameters: none\n{PLAIN}");
    assert_eq!(import(quoted.as_bytes(), "x").unwrap().runs.len(), 1);
}

fn import_whole_results(text: &str) -> Result<ImportedFile, Error> {
    Import::new(text.as_bytes(), "x").whole_results().all()
}

#[test]
fn what_is_whole_can_be_taken_and_the_rest_is_named() {
    let broken = PLAIN.replace("MBs/sec:", "MBs:");
    assert_ne!(broken, PLAIN);
    let text = [GROW, broken.as_str(), DISKSPD_TEXT].concat();
    assert!(import(text.as_bytes(), "x").is_err());
    let file = import_whole_results(&text).unwrap();
    assert_eq!(file.runs.len(), 2);
    let note = &file.notes[0];
    let line = GROW.matches('\n').count() as u64 + 1;
    assert!(note.message.contains("is left out"), "{note}");
    assert!((line..line + 3).contains(&note.line.unwrap()), "{note}");
    // What is left is read with its own lines.
    let lines: Vec<u64> = file
        .runs
        .iter()
        .map(|run| run.imported.as_ref().unwrap().line.unwrap())
        .collect();
    let whole = import([GROW, PLAIN, DISKSPD_TEXT].concat().as_bytes(), "x").unwrap();
    let of_whole = |at: usize| whole.runs[at].imported.as_ref().unwrap().line.unwrap();
    assert_eq!(lines, [of_whole(0), of_whole(2)]);
    // One that is not whole alone is an error, as ever; a whole file is the same.
    assert!(import_whole_results(&broken).is_err());
    assert_eq!(
        import_whole_results(FIO).unwrap(),
        import(FIO.as_bytes(), "x").unwrap()
    );
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn nothing_is_lost_where_two_shells_wrote_to_one_file() {
    let marked = |text: &str| [b"\xff\xfe".to_vec(), utf16(text)].concat();
    // PowerShell's `>`, then cmd's `>>`, and the other way round.
    for mixed in [
        [marked(PLAIN), GROW.as_bytes().to_vec()].concat(),
        [PLAIN.as_bytes().to_vec(), utf16(GROW)].concat(),
    ] {
        let file = import(&mixed, "x").unwrap();
        assert_eq!(file.runs.len(), 2);
        let expected_text = file.notes[0].message.clone();
        assert!(
            expected_text.contains("changes its encoding at line"),
            "{expected_text}"
        );
        assert_eq!(
            file.runs[1].jobs,
            import(GROW.as_bytes(), "x").unwrap().runs[0].jobs
        );
    }
    // A tail too short to be a result; and to and fro.
    let short = [marked(PLAIN), b"C:\\>".to_vec()].concat();
    let file = import(&short, "x").unwrap();
    assert_eq!(file.runs.len(), 1);
    assert!(file.notes[0].message.contains("changes its encoding"));
    // A byte too many, behind which every sign is another one.
    let shifted = [marked(PLAIN), vec![0], utf16(GROW)].concat();
    let odd = [marked(PLAIN), b"x".to_vec(), utf16(GROW)].concat();
    for mixed in [shifted, odd] {
        let error = import(&mixed, "x").unwrap_err();
        assert!(!error.hint().is_empty(), "{error}");
    }
    let thrice = [marked(PLAIN), DISKSPD_TEXT.as_bytes().to_vec(), utf16(GROW)].concat();
    assert_eq!(import(&thrice, "x").unwrap().runs.len(), 3);
    let blank = [marked(PLAIN), b"\r\n".to_vec()].concat();
    assert_eq!(import(&blank, "x").unwrap().runs.len(), 1);
    // Two PowerShell files in one: the second BOM is in the middle.
    let joined = [marked(PLAIN), marked(GROW)].concat();
    assert_eq!(import(&joined, "x").unwrap().runs.len(), 2);
    let joined = [PLAIN, GROW].map(|text| format!("\u{feff}{text}")).concat();
    assert_eq!(import(joined.as_bytes(), "x").unwrap().runs.len(), 2);
    let other: Vec<u8> = GROW.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let joined = [marked(PLAIN), b"\xfe\xff".to_vec(), other].concat();
    let error = import(&joined, "x").unwrap_err();
    assert!(error.to_string().contains("byte order"), "{error}");
    let error = import(&utf16(PLAIN), "x").unwrap_err();
    assert!(
        error.to_string().contains("without a byte order mark"),
        "{error}"
    );
}

#[test]
fn a_code_page_that_was_assumed_is_named() {
    let text = PLAIN.replace("data.tst", "Pr\u{81}fung.tst");
    let bytes: Vec<u8> = text.chars().map(|sign| sign as u8).collect();
    let file = import(&bytes, "x").unwrap();
    assert!(
        file.notes[0].message.contains("Latin-1"),
        "{:?}",
        file.notes
    );
    assert!(import(PLAIN.as_bytes(), "x").unwrap().notes.is_empty());
}
