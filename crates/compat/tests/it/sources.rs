//! What a file as a whole is: whose it is, in which encoding, and what is said of
//! files that cannot be read.

use crate::sqlio_output::{GROW, PLAIN};
use crate::tools::{DISKSPD_TEXT, DISKSPD_XML, FIO};
use stripewise_compat::{import, recognise};

#[test]
fn results_that_are_not_read_are_refused_by_the_name_of_what_they_are() {
    for (text, problem, hint) in [
        (
            "reads: (g=0): rw=randread, bs=(R) 8192B-8192B, ioengine=libaio, iodepth=4\nfio-3.33\n",
            "fio's normal output",
            "--output-format=json",
        ),
        (
            "reads: (groupid=0, jobs=1): err= 0: pid=7\n  read: IOPS=4000, BW=31.2MiB/s\n",
            "fio's normal output",
            "--output-format=json",
        ),
        (
            "3;fio-3.33;reads;0;0;1000;2000;500;10;0;0\n",
            "fio's terse output",
            "--output-format=json",
        ),
        (
            "fio: engine x not loadable\n",
            "without a result",
            "--output-format=json",
        ),
        (
            "Copyright (c) 2000, 2018.\nVdbench summary report, created 10:11:12\n",
            "vdbench",
            "stripewise run",
        ),
        (
            "OPERATION   RESULT TYPE         FIRST DONE  LAST DONE\nREAD  IOPS : 1 2\n",
            "elbencho",
            "stripewise run",
        ),
        (
            "'Test Type,Test Description\n'Version\n'Time Stamp\n",
            "Iometer",
            "stripewise run",
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
            "hello\n",
            "not written by a tool that is known",
            "SQLIO, DiskSpd",
        ),
    ] {
        let error = import(text.as_bytes(), "x.txt").unwrap_err();
        assert!(error.to_string().contains(problem), "{problem}: {error}");
        assert!(error.hint().contains(hint), "{hint}: {}", error.hint());
        assert_eq!(recognise(text.as_bytes()), None);
    }
    let client = FIO.replace("\"jobs\":", "\"client_stats\":");
    let error = import(client.as_bytes(), "x").unwrap_err();
    assert!(error.to_string().contains("client mode"), "{error}");
}

#[test]
fn results_of_several_tools_in_one_file_are_refused_with_both_names() {
    for (first, second, names) in [
        (
            DISKSPD_TEXT,
            PLAIN,
            ["DiskSpd text from line 4", "SQLIO output from line 7"],
        ),
        (
            PLAIN,
            FIO,
            ["SQLIO output from line 1", "fio JSON from line"],
        ),
        (
            FIO,
            DISKSPD_XML,
            ["fio JSON from line", "DiskSpd XML from line"],
        ),
    ] {
        let error = import([first, second].concat().as_bytes(), "x").unwrap_err();
        let said = error.to_string();
        for name in names {
            assert!(said.contains(name), "{name}: {said}");
        }
        assert!(error.hint().contains("each tool"));
    }
    // A tool's name in a batch's message is no result of it.
    let quoted = format!("echo now diskspd, Input parameters: none\n{PLAIN}");
    assert_eq!(import(quoted.as_bytes(), "x").unwrap().runs.len(), 1);
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
        let error = import(&mixed, "x").unwrap_err();
        let said = error.to_string();
        assert!(said.contains("changes its encoding"), "{said}");
        assert!(error.hint().contains("UTF-8"));
    }
    // A tail too short to be a result, and a byte too many behind which every sign is
    // another one.
    let short = [marked(PLAIN), b"C:\\>".to_vec()].concat();
    let shifted = [marked(PLAIN), vec![0], utf16(GROW)].concat();
    let odd = [marked(PLAIN), b"x".to_vec(), utf16(GROW)].concat();
    for mixed in [short, shifted, odd] {
        let error = import(&mixed, "x").unwrap_err();
        assert!(
            error.to_string().contains("changes its encoding"),
            "{error}"
        );
    }
    let blank = [marked(PLAIN), b"\r\n".to_vec()].concat();
    assert_eq!(import(&blank, "x").unwrap().runs.len(), 1);
    // Two files of PowerShell in one: the second mark stands in the middle.
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
