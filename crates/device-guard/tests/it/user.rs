//! A process that uses a device in one way until its standard input ends: this program
//! once more, as the test `uses_a_device`.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `WAY DEVICE` for the process that uses one.
const TASK: &str = "STRIPEWISE_TEST_USES";
const READY: &str = "uses it";

/// It ends with the test, however that ends.
pub struct User(Child);

impl User {
    /// `None` where this kernel or container does not allow this way.
    pub fn start(way: &str, device: &Path) -> Option<User> {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "user::uses_a_device", "--nocapture"])
            .env(TASK, format!("{way} {}", device.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut user = User(child.expect("it starts"));
        let printed = user.0.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(printed).lines();
        let ready = lines.any(|line| line.expect("text").ends_with(READY));
        // The remaining output is not needed; it may be lost.
        ready.then_some(user)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// No test of its own: what [`User::start`] runs.
#[test]
fn uses_a_device() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let (way, device) = task.split_once(' ').expect("a way and a device");
    let file = OpenOptions::new().read(true).write(true).open(device);
    let file = file.expect("it opens");
    let used = match way {
        "mapped" => map(file),
        "registered" => register(file),
        "thread" => in_a_thread(file, device.to_owned()),
        "in-flight" => send(file),
        _ => panic!("{way}"),
    };
    if used.is_some() {
        println!("{READY}");
        // Ends when the test does, too.
        let _ = std::io::stdin().read(&mut [0]);
    }
}

/// Maps a page and closes the descriptor.
fn map(file: File) -> Option<()> {
    // SAFETY: a new mapping at an address that the kernel chooses; nothing refers to it.
    let page = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            access,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    (page != libc::MAP_FAILED).then_some(())
}

/// Registers it as the only file of a ring and closes the descriptor.
fn register(file: File) -> Option<()> {
    const REGISTER_FILES: libc::c_uint = 2;
    // `struct io_uring_params` has 120 bytes, all of which may be zero.
    let mut parameters = [0u64; 15];
    // SAFETY: the kernel writes the parameters, and nothing else.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) };
    if ring < 0 {
        return None;
    }
    let files = [file.as_raw_fd()];
    // SAFETY: the kernel reads one descriptor from an array of one.
    let registered = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring,
            REGISTER_FILES,
            files.as_ptr(),
            1,
        )
    };
    (registered == 0).then_some(())
}

/// Opens it in a thread that shares its descriptors with no other.
fn in_a_thread(file: File, device: String) -> Option<()> {
    drop(file);
    let (opened, wait) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // SAFETY: this thread uses no descriptor that others have or close.
        let alone = unsafe { libc::unshare(libc::CLONE_FILES) } == 0;
        let file = File::open(device).expect("it opens");
        opened.send(alone).expect("the other waits");
        let _ = std::io::stdin().read(&mut [0]);
        drop(file);
    });
    wait.recv().expect("it is sent").then_some(())
}

/// Sends the descriptor to itself, closes it, and never receives it.
fn send(file: File) -> Option<()> {
    use rustix::net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
        SocketType, sendmsg, socketpair,
    };
    let (flags, kind) = (SocketFlags::CLOEXEC, SocketType::DGRAM);
    let (from, to) = socketpair(AddressFamily::UNIX, kind, flags, None).expect("sockets");
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    let files = [std::os::fd::AsFd::as_fd(&file)];
    assert!(message.push(SendAncillaryMessage::ScmRights(&files)));
    let text = [std::io::IoSlice::new(b"x")];
    sendmsg(&from, &text, &mut message, SendFlags::empty()).expect("it is sent");
    std::mem::forget((from, to));
    let own = std::fs::read_dir("/proc/self/fdinfo").expect("its descriptors");
    let reported = own.flatten().any(|entry| {
        std::fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("scm_fds:"))
    });
    reported.then_some(())
}
