//! A disk array that does not tell how it is laid out: a file that this process serves
//! through FUSE. Each of its disks takes one read after the other, and each read so long.
//! A loop device over it, past the page cache, is to the program what a hardware RAID is.

use super::{directory, text, try_run};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How the array is laid out, and what a read takes.
#[derive(Clone, Copy, Debug)]
pub struct SlowArray {
    pub size_bytes: u64,
    pub disks: u64,
    pub unit_bytes: u64,
    /// Where the first stripe unit begins.
    pub first_unit_bytes: u64,
    /// Sector at which its only partition begins.
    pub partition_sector: u32,
    pub read: Duration,
    /// It disappears behind so many reads: from then on none succeeds.
    pub reads_max: u64,
}

impl SlowArray {
    fn disk_of(&self, offset: u64) -> usize {
        let unit = (offset + self.unit_bytes - self.first_unit_bytes) / self.unit_bytes;
        (unit % self.disks) as usize
    }

    /// A table with one partition, and noise.
    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let word = |at: u64| {
            (at / 8 + 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .to_le_bytes()
        };
        let byte = |at: u64| match at {
            0..512 => self.table()[at as usize],
            _ => word(at)[(at % 8) as usize],
        };
        let end = (offset + length as u64).min(self.size_bytes);
        (offset..end).map(byte).collect()
    }

    /// An MBR.
    pub fn table(&self) -> [u8; 512] {
        let mut table = [0; 512];
        let sectors = (self.size_bytes / 512) as u32 - self.partition_sector;
        // Kind 0x83, Linux.
        table[446 + 4] = 0x83;
        table[446 + 8..][..4].copy_from_slice(&self.partition_sector.to_le_bytes());
        table[446 + 12..][..4].copy_from_slice(&sectors.to_le_bytes());
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        table
    }
}

/// The file, for as long as this lives.
pub struct Served {
    directory: TempDir,
}

impl Served {
    /// `None` where this kernel has no FUSE, or nobody may mount.
    pub fn start(array: SlowArray) -> Option<Served> {
        let fuse = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .ok()?;
        let directory = directory();
        let mounted = Command::new("mount")
            .args(["-i", "-t", "fuse", "-o"])
            .arg("fd=0,rootmode=040000,user_id=0,group_id=0,allow_other")
            .args(["slow-array", text(directory.path())])
            .stdin(fuse.try_clone().ok()?)
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            return None;
        }
        std::thread::spawn(move || Server::new(fuse, array).serve());
        Some(Served { directory })
    }

    pub fn file(&self) -> PathBuf {
        self.directory.path().join("array")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let path: &Path = self.directory.path();
        let _ = try_run("umount", &["--lazy", text(path)]);
    }
}

/// A read that waits for its disk.
struct Waiting {
    arrived: Instant,
    unique: u64,
    offset: u64,
    length: usize,
}

/// Answers what the kernel asks (`linux/fuse.h`, version 7.31).
struct Server {
    fuse: Arc<File>,
    array: SlowArray,
    disks: Vec<Sender<Waiting>>,
    reads: AtomicU64,
}

const ROOT: u64 = 1;
const FILE: u64 = 2;
const ENOENT: i32 = 2;
const EIO: i32 = 5;
const ENOSYS: i32 = 38;

impl Server {
    fn new(fuse: File, array: SlowArray) -> Server {
        let fuse = Arc::new(fuse);
        let disk = |_| {
            let (sender, receiver) = channel();
            let fuse = Arc::clone(&fuse);
            std::thread::spawn(move || spin(&fuse, &array, &receiver));
            sender
        };
        let disks = (0..array.disks).map(disk).collect();
        Server {
            fuse,
            array,
            disks,
            reads: AtomicU64::new(0),
        }
    }

    /// Until it is unmounted.
    fn serve(&self) {
        let mut buffer = vec![0; 256 << 10];
        loop {
            match (&*self.fuse).read(&mut buffer) {
                Ok(length) => self.answer(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A request that was taken back while it was read.
                Err(error) if error.raw_os_error() == Some(ENOENT) => {}
                Err(_) => return,
            }
        }
    }

    fn answer(&self, request: &[u8]) {
        let (operation, unique) = (number(request, 4) as u32, number(request, 8));
        let node = number(request, 16);
        let body = &request[40..];
        match operation {
            // FORGET, INTERRUPT and BATCH_FORGET want no answer.
            2 | 36 | 42 => {}
            // LOOKUP
            1 if body.starts_with(b"array\0") => reply(&self.fuse, unique, 0, &self.entry()),
            1 => reply(&self.fuse, unique, ENOENT, &[]),
            // GETATTR
            3 => {
                let attributes = [vec![0; 16], self.attributes(node)].concat();
                reply(&self.fuse, unique, 0, &attributes);
            }
            // OPEN, OPENDIR
            14 | 27 => reply(&self.fuse, unique, 0, &[0; 16]),
            // READ
            15 if self.reads.fetch_add(1, Ordering::Relaxed) >= self.array.reads_max => {
                reply(&self.fuse, unique, EIO, &[]);
            }
            15 => {
                let (offset, length) = (number(body, 8), number(body, 16) as u32 as usize);
                let waiting = Waiting {
                    arrived: Instant::now(),
                    unique,
                    offset,
                    length,
                };
                let _ = self.disks[self.array.disk_of(offset)].send(waiting);
            }
            // RELEASE, FSYNC, FLUSH, RELEASEDIR
            18 | 20 | 25 | 29 => reply(&self.fuse, unique, 0, &[]),
            // INIT
            26 => reply(&self.fuse, unique, 0, &init(number(body, 8) as u32)),
            _ => reply(&self.fuse, unique, ENOSYS, &[]),
        }
    }

    fn entry(&self) -> Vec<u8> {
        let mut entry = vec![0; 40];
        entry[..8].copy_from_slice(&FILE.to_le_bytes());
        // Valid for a minute, name and attributes.
        entry[16] = 60;
        entry[24] = 60;
        entry.extend(self.attributes(FILE));
        entry
    }

    fn attributes(&self, node: u64) -> Vec<u8> {
        let (size, mode): (u64, u32) = match node {
            ROOT => (0, 0o040_755),
            _ => (self.array.size_bytes, 0o100_600),
        };
        let mut attributes = Vec::new();
        for value in [node, size, size / 512, 0, 0, 0] {
            attributes.extend(value.to_le_bytes());
        }
        // Nanoseconds of three times, mode, links, user, group, device, block size, flags.
        for value in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
            attributes.extend(value.to_le_bytes());
        }
        attributes
    }
}

/// The reads of one disk, one after the other. Its own clock goes on from read to read, so
/// that a busy machine makes some of them late and none of them slow.
fn spin(fuse: &File, array: &SlowArray, reads: &Receiver<Waiting>) {
    let mut free = Instant::now();
    for read in reads {
        free = free.max(read.arrived) + array.read;
        std::thread::sleep(free.saturating_duration_since(Instant::now()));
        let bytes = array.bytes(read.offset, read.length);
        reply(fuse, read.unique, 0, &bytes);
    }
}

/// What this server does: many reads at once, also of those who read past the page cache.
fn init(readahead: u32) -> Vec<u8> {
    const ASYNC_READ: u32 = 1;
    const ASYNC_DIO: u32 = 1 << 15;
    let mut answer = Vec::new();
    for value in [7, 31, readahead, ASYNC_READ | ASYNC_DIO] {
        answer.extend(value.to_le_bytes());
    }
    // Requests in the background, and from how many on it is congested.
    answer.extend(64_u16.to_le_bytes());
    answer.extend(48_u16.to_le_bytes());
    // The longest write; grain of times.
    answer.extend(131_072_u32.to_le_bytes());
    answer.extend(1_u32.to_le_bytes());
    answer.resize(64, 0);
    answer
}

fn reply(mut fuse: &File, unique: u64, error: i32, body: &[u8]) {
    let mut answer = Vec::with_capacity(16 + body.len());
    answer.extend((16 + body.len() as u32).to_le_bytes());
    answer.extend((-error).to_le_bytes());
    answer.extend(unique.to_le_bytes());
    answer.extend(body);
    // Whoever asked may be gone.
    let _ = fuse.write_all(&answer);
}

/// Eight bytes of a request as a number.
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    let end = bytes.len().min(at + 8);
    word[..end - at].copy_from_slice(&bytes[at..end]);
    u64::from_le_bytes(word)
}
