//! Function tests over captured trees; the processes themselves are in `tests/it`.

use super::mappings::Mappings;
use super::proc_scan::ProcScan;
use super::{FIRST_NAMESPACE, Openers, Unverified};
use crate::linux::file_or_devices::FileOrDevices;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use stripewise_units::DeviceNumber;

/// A `/proc` of our own, seen by process 10. Nothing is open in process 1.
struct Proc(tempfile::TempDir);

impl Proc {
    fn new() -> Proc {
        let proc = Proc(tempfile::tempdir().expect("a directory"));
        proc.process(1, b"init", &[]);
        let namespaces = proc.path("self/ns");
        std::fs::create_dir_all(&namespaces).expect("a directory");
        symlink(FIRST_NAMESPACE, namespaces.join("pid")).expect("a link");
        proc
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file that processes may have open.
    fn file(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, name).expect("a file");
        path
    }

    /// A process with files that it has open with these flags, in octal.
    fn process(&self, pid: u32, name: &[u8], files: &[(&Path, &str)]) {
        let process = self.path(&pid.to_string());
        let (links, facts) = (process.join("fd"), process.join("fdinfo"));
        std::fs::create_dir_all(&links).expect("a directory");
        std::fs::create_dir(&facts).expect("a directory");
        let line = [name, b"\n"].concat();
        std::fs::write(process.join("comm"), line).expect("its name");
        for (number, (file, flags)) in files.iter().enumerate() {
            symlink(file, links.join(number.to_string())).expect("a link");
            let text = format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t29\n");
            std::fs::write(facts.join(number.to_string()), text).expect("its flags");
        }
    }

    /// A line of a process's `maps`, and its link in `map_files` where it has one.
    fn map(&self, pid: u32, addresses: &str, what: &str, link: Option<(&str, &Path)>) {
        let process = self.path(&pid.to_string());
        let path = process.join("maps");
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        let line = format!("{addresses} rw-s 00000000 {what}\n");
        std::fs::write(path, before + &line).expect("its mappings");
        if let Some((name, to)) = link {
            let links = process.join("map_files");
            std::fs::create_dir_all(&links).expect("a directory");
            symlink(to, links.join(name)).expect("a link");
        }
    }

    /// What a descriptor's `fdinfo` says, and where it leads.
    fn descriptor(&self, folder: &str, number: u32, to: &str, facts: &str) {
        let folder = self.path(folder);
        for part in ["fd", "fdinfo"] {
            std::fs::create_dir_all(folder.join(part)).expect("a directory");
        }
        symlink(to, folder.join(format!("fd/{number}"))).expect("a link");
        std::fs::write(folder.join(format!("fdinfo/{number}")), facts).expect("its facts");
    }

    fn openers(&self, wanted: &FileOrDevices) -> Openers {
        let found = Mutex::default();
        let names = ["ram7".to_owned()];
        ProcScan::live(self.0.path(), 10, wanted, &names, &found)
            .with_threads(|one, other| Some(one.max(other) < 1_000))
            .at_all();
        let mut found = found.into_inner().expect("not poisoned");
        found.others.sort_unstable();
        found
    }
}

fn wanted(path: &Path) -> FileOrDevices {
    let found = std::fs::metadata(path).expect("there");
    FileOrDevices::File {
        device: DeviceNumber::from_raw(found.dev()),
        inode: found.ino(),
    }
}

#[test]
fn who_has_a_file_open_is_named_unless_it_merely_watches() {
    const READING: &str = "0100000";
    const WRITING: &str = "0100002";
    let proc = Proc::new();
    let (data, other) = (proc.file("data"), proc.file("other"));
    let link = proc.path("second-name");
    std::fs::hard_link(&data, &link).expect("a second name");
    let no_path = Path::new("socket:[4711]");
    let odd = std::ffi::OsStr::from_bytes(b"d\xffd");
    // (process, name, what it has open, whether it is named)
    type Open<'a> = &'a [(&'a Path, &'a str)];
    let cases: [(u32, &[u8], Open<'_>, bool); 11] = [
        (10, b"stripewise", &[(&data, WRITING)], false),
        (11, b"cp", &[(&data, READING)], true),
        (12, b"dd", &[(&other, WRITING)], false),
        (13, b"cat", &[(&other, READING), (&link, READING)], true),
        (14, b"twice", &[(&data, READING), (&data, WRITING)], true),
        (15, b"ssh", &[(no_path, WRITING)], false),
        (16, b"smartd", &[(&data, READING)], false),
        (17, b"smartd", &[(&data, WRITING)], true),
        (18, b"smartd", &[(&data, READING), (&data, WRITING)], true),
        (19, b"udisksd", &[(&data, "no number")], true),
        (20, odd.as_bytes(), &[(&data, READING)], true),
    ];
    for (pid, name, files, _) in cases {
        proc.process(pid, name, files);
    }
    // No process: its name is no number.
    std::fs::create_dir_all(proc.path("driver/fd")).expect("a directory");
    symlink(&data, proc.path("driver/fd/0")).expect("a link");
    let named = cases.iter().filter(|(.., named)| *named);
    let named = named.map(|(pid, name, ..)| {
        let name = String::from_utf8_lossy(name);
        format!("{name} (pid {pid})")
    });
    let mut others: Vec<String> = named.collect();
    others.sort_unstable();
    let found = proc.openers(&wanted(&data));
    assert_eq!((found.others.clone(), found.complete()), (others, true));
}

#[test]
fn devices_are_found_by_their_number_and_kind() {
    let proc = Proc::new();
    proc.process(11, b"cat", &[(Path::new("/dev/null"), "0100000")]);
    let null = DeviceNumber { major: 1, minor: 3 };
    for (blocks, characters, open) in [
        (vec![], vec![null], true),
        (vec![null], vec![], false),
        (vec![], vec![DeviceNumber { minor: 5, ..null }], false),
    ] {
        let found = proc.openers(&FileOrDevices::Devices { blocks, characters });
        assert_eq!(found.refusal().is_some(), open, "{found:?}");
    }
}

#[test]
fn where_processes_are_hidden_the_answer_is_not_complete() {
    let gaps: [fn(&Proc); 3] = [
        // Mounted with `hidepid`.
        |proc| std::fs::remove_dir_all(proc.path("1")).expect("gone"),
        // Another user's.
        |proc| std::fs::remove_dir(proc.path("11/fd")).expect("gone"),
        // A container's.
        |proc| {
            let link = proc.path("self/ns/pid");
            std::fs::remove_file(&link).expect("gone");
            symlink("pid:[4026532199]", &link).expect("a link");
        },
    ];
    for (number, gap) in gaps.iter().enumerate() {
        let proc = Proc::new();
        proc.process(11, b"cp", &[]);
        let data = proc.file("data");
        assert!(proc.openers(&wanted(&data)).complete());
        gap(&proc);
        assert!(!proc.openers(&wanted(&data)).complete(), "gap {number}");
    }
}

#[test]
fn a_refusal_names_one_process_and_counts_the_others() {
    let refusal = |others: &[&str]| {
        let others = others.iter().map(|&name| name.to_owned()).collect();
        let unseen = None;
        Openers { others, unseen }.refusal()
    };
    assert_eq!(refusal(&[]), None);
    assert_eq!(refusal(&["a (pid 1)"]).unwrap(), "is open in a (pid 1)");
    let three = refusal(&["a (pid 1)", "b (pid 2)", "c (pid 3)"]);
    assert_eq!(three.unwrap(), "is open in a (pid 1) and 2 more");
}

/// The device that the processes below use: every machine has it. It stands in for a block device,
/// as creating those requires root.
fn null() -> FileOrDevices {
    FileOrDevices::Devices {
        blocks: Vec::new(),
        characters: vec![DeviceNumber { major: 1, minor: 3 }],
    }
}

/// The answer for the device of process 11, which has `comm` "db".
fn check(proc: &Proc, others: &[&str], unseen: Option<&str>) {
    let found = proc.openers(&null());
    assert_eq!(found.others, others);
    let why = found.unseen.map(|why| why.to_string());
    assert_eq!(why.as_deref(), unseen);
}

#[test]
fn a_mapping_counts_whatever_its_name_is() {
    const NODE: &str = "00:06 94                         /dev/ram7";
    const LIBRARY: &str = "fe:00 8 /usr/lib/libc.so.6";
    let device = Path::new("/dev/null");
    let used: &[&str] = &["db (pid 11; mapped into memory)"];
    let unknown = Some("db (pid 11) has mapped into memory what cannot be looked up");
    let with = |addresses, what, link| {
        let proc = Proc::new();
        proc.process(11, b"db", &[]);
        proc.map(
            11,
            "7f00-7f01",
            LIBRARY,
            Some(("7f00-7f01", Path::new("/dev/zero"))),
        );
        proc.map(11, addresses, what, link);
        proc
    };
    // The link counts, and the name does not.
    for what in [
        NODE,
        "00:06 94 /dev/ram7 (deleted)",
        "00:06 94 /tmp/a b\\012c",
        "00:06 94 ",
    ] {
        let proc = with("7f10-7f20", what, Some(("7f10-7f20", device)));
        check(&proc, used, None);
        let other = with(
            "7f10-7f20",
            what,
            Some(("7f10-7f20", Path::new("/dev/zero"))),
        );
        check(&other, &[], None);
    }
    // Links have no zeros in front.
    check(
        &with("00400000-00500000", NODE, Some(("400000-500000", device))),
        used,
        None,
    );
    // Unmapped meanwhile.
    check(&with("7f10-7f20", NODE, None), &[], None);
    // No file is mapped.
    check(&with("7f10-7f20", "00:00 0 [heap]", None), &[], None);
    let without_links = |what| {
        let proc = Proc::new();
        proc.process(11, b"db", &[]);
        proc.map(11, "7f10-7f20", what, None);
        proc
    };
    // Where links may not be followed, the name is what there is.
    check(&without_links("00:06 4 /dev/null"), used, None);
    check(&without_links("00:06 4 /dev/zero"), &[], None);
    check(&without_links("00:06 94 /gone/ram7 (deleted)"), used, None);
    check(
        &without_links("00:06 94 /gone/ram8 (deleted)"),
        &[],
        unknown,
    );
    let ring = "00:10 1033 anon_inode:[io_uring]";
    let no_descriptor = Some("db (pid 11) has an io_uring without a descriptor");
    check(&without_links(ring), &[], no_descriptor);
    let proc = without_links(ring);
    proc.descriptor("11", 5, "anon_inode:[io_uring]", "UserFiles:\t0\n");
    check(&proc, &[], None);
}

#[test]
fn a_mapped_file_is_found_by_its_numbers() {
    let proc = Proc::new();
    let data = proc.file("data");
    let found = std::fs::metadata(&data).expect("there");
    let number = DeviceNumber::from_raw(found.dev());
    let what = |inode: u64| {
        let DeviceNumber { major, minor } = number;
        format!("{major:02x}:{minor:02x} {inode} /gone (deleted)")
    };
    proc.process(11, b"db", &[]);
    proc.map(11, "7f10-7f20", &what(found.ino() + 1), None);
    assert_eq!(proc.openers(&wanted(&data)), Openers::default());
    proc.map(11, "7f20-7f30", &what(found.ino()), None);
    let found = proc.openers(&wanted(&data));
    assert_eq!(found.others, ["db (pid 11; mapped into memory)"]);
}

#[test]
fn what_is_registered_with_a_ring_counts() {
    let used: &[&str] = &["db (pid 11; registered with io_uring)"];
    let unknown = Some("db (pid 11) has registered with io_uring what cannot be looked up");
    let cases: [(&str, &[&str], Option<&str>); 9] = [
        ("UserFiles:\t0\n", &[], None),
        ("UserFiles:\t1\n    0: /dev/null\n", used, None),
        (
            "UserFiles:\t2\n    0: /dev/zero\n    1: /dev/null\n",
            used,
            None,
        ),
        (
            "UserFiles:\t3\n    0: <none>\n    1: socket:[5]\n    2: /memfd:x (deleted)\n",
            &[],
            None,
        ),
        // The kernel's name, of a node that was deleted or by an old kernel.
        ("UserFiles:\t1\n    0: /dev/ram7 (deleted)\n", used, None),
        ("UserFiles:\t1\n    0: ram7\n", used, None),
        ("UserFiles:\t1\n    0: /dev/ram77 (deleted)\n", &[], unknown),
        // Open as well, so it was looked at.
        ("UserFiles:\t1\n    0: /gone/by (deleted)\n", &[], None),
        // In use at every look.
        ("UserFiles:\t1\n", &[], unknown),
    ];
    for (facts, others, unseen) in cases {
        let proc = Proc::new();
        proc.process(11, b"db", &[]);
        proc.descriptor("11", 4, "/gone/by (deleted)", "flags:\t02\n");
        proc.descriptor("11", 5, "anon_inode:[io_uring]", facts);
        check(&proc, others, unseen);
    }
    // A name counts where it leads for the process that registered it.
    let proc = Proc::new();
    proc.process(11, b"db", &[]);
    std::fs::create_dir_all(proc.path("11/root/srv")).expect("a directory");
    symlink("/dev/null", proc.path("11/root/srv/disk-of-vm")).expect("a link");
    let facts = "UserFiles:\t1\n    0: /srv/disk-of-vm\n";
    proc.descriptor("11", 5, "anon_inode:[io_uring]", facts);
    check(&proc, used, None);
}

#[test]
fn threads_with_descriptors_of_their_own_are_looked_at() {
    // Threads from 1000 on have their own descriptor table.
    for (thread, others) in [(12, &[][..]), (1_012, &["db (pid 11)"])] {
        let proc = Proc::new();
        proc.process(11, b"db", &[]);
        proc.descriptor(&format!("11/task/{thread}"), 3, "/dev/null", "flags:\t02\n");
        check(&proc, others, None);
    }
    // The first thread has ended: it shows no mappings either.
    let proc = Proc::new();
    proc.process(11, b"db", &[]);
    let thread = proc.path("11/task/1012");
    std::fs::create_dir_all(thread.join("fd")).expect("a directory");
    std::fs::write(proc.path("11/maps"), "").expect("no mappings");
    let line = "7f10-7f20 rw-s 00000000 00:06 4 /dev/null\n";
    std::fs::write(thread.join("maps"), line).expect("its mappings");
    check(&proc, &["db (pid 11; mapped into memory)"], None);
}

#[test]
fn descriptors_in_flight_are_not_taken_for_nothing() {
    let in_flight =
        "db (pid 11) has not yet received a descriptor that was sent to it (SCM_RIGHTS)";
    for (to, facts, unseen) in [
        ("socket:[5]", "flags:\t02\nscm_fds: 0\n", None),
        ("socket:[5]", "flags:\t02\n", None),
        ("socket:[5]", "flags:\t02\nscm_fds: 2\n", Some(in_flight)),
        ("pipe:[5]", "flags:\t02\nscm_fds: 2\n", None),
    ] {
        let proc = Proc::new();
        proc.process(11, b"db", &[]);
        proc.descriptor("11", 5, to, facts);
        check(&proc, &[], unseen);
        // Of files the kernel's lease knows them.
        let data = proc.file("data");
        assert_eq!(proc.openers(&wanted(&data)), Openers::default());
    }
}

/// What takes time on a large host is looking up: it must grow with what is mapped, not
/// with who maps it.
#[test]
fn each_library_is_looked_up_once_however_many_processes_map_it() {
    let proc = Proc::new();
    let lines = |from: u32| {
        let line = |at| format!("7f{at:02}0-7f{at:02}8 r-xp 00000000 fe:00 {at} /lib/{at}.so\n");
        (from..from + 20).map(line).collect::<String>()
    };
    for pid in 100..400 {
        proc.process(pid, b"worker", &[]);
        let process = proc.path(&pid.to_string());
        std::fs::write(process.join("maps"), lines(10 + pid % 3)).expect("its mappings");
    }
    let (null, found) = (null(), Mutex::default());
    let mut look = ProcScan::live(proc.0.path(), 10, &null, &[], &found);
    look.at_all();
    assert_eq!(look.looked_up(), 22);
    let found = found.into_inner().expect("not poisoned");
    assert_eq!(found.others, Vec::<String>::new());
}

#[test]
fn a_look_without_end_is_given_up() {
    let proc = Proc::new();
    proc.process(11, b"db", &[]);
    let line = "7f10-7f20 rw-s 00000000 00:06 4 /dev/zero\n";
    std::fs::write(proc.path("11/maps"), line.repeat(50)).expect("its mappings");
    let null = null();
    let process = proc.path("11");
    let mapped = |max| Mappings::with_most(&null, &[], max).of(&process, &process);
    assert!(mapped(49).is_none());
    assert_eq!(mapped(50).expect("not too many").lines, 50);
}

#[test]
fn only_what_may_pass_is_worth_another_look() {
    let openers = |others: &[&str], unseen| Openers {
        others: others.iter().map(|&name| name.to_owned()).collect(),
        unseen,
    };
    let something = || Some(Unverified::Something("x", "db (pid 11)".to_owned()));
    for (found, settled) in [
        (openers(&[], None), true),
        (openers(&[], Some(Unverified::Processes)), true),
        (openers(&[], Some(Unverified::TooMany)), true),
        (openers(&[], Some(Unverified::TooSlow)), true),
        (openers(&[], something()), false),
        (openers(&["cp (pid 5)"], None), false),
    ] {
        assert_eq!(found.is_settled(), settled, "{found:?}");
    }
}
