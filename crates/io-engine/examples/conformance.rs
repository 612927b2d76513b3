//! The conformance suite on block devices, for ways that files do not have: polled
//! completions, and commands passed through to NVMe namespaces. It is run in a guest whose
//! disks hold nothing (`tests/vm/guest/nvme.sh`).
//!
//! `conformance ENGINE --destroy DEVICE...` where ENGINE is `uring`, `uring-polled`, `nvme`
//! or `nvme-polled`, and each DEVICE is a block device of which the first MiB are
//! overwritten; for `nvme` their generic character devices are used as well. Each is claimed
//! (`O_EXCL`) before the first byte and until the end: what is mounted, or is part of an array
//! or of a volume, is refused by the kernel.

#[cfg(target_os = "linux")]
mod devices {
    use std::any::Any;
    use std::cell::{Cell, RefCell};
    use std::fs::{File, OpenOptions};
    use std::io::{Error, Write};
    use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};

    use stripewise_io_engine::backend::linux_io_uring::{Nvme, Uring};
    use stripewise_io_engine::conformance::asked::{Polled, With};
    use stripewise_io_engine::conformance::{Fixture, Report, Scope, patterns, run};

    /// The most that a case wants of a device.
    const BYTES_MAX: u64 = 16 << 20;

    struct Devices {
        names: Vec<String>,
        /// Nobody else has them as long as these are open.
        _claims: Vec<File>,
        is_generic: bool,
        next: Cell<usize>,
        /// What is open: number of the node, its block device, and the bytes in use.
        open: RefCell<Vec<(u64, String, u64)>>,
    }

    /// Claims a block device that nobody uses, without changing anything.
    fn claimed(name: &String) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(libc::O_EXCL).open(name)?;
        match file.metadata()?.file_type().is_block_device() {
            true => Ok(file),
            false => Err(Error::other("is not a block device")),
        }
    }

    impl Devices {
        /// Makes the next device hold the pattern, and opens it.
        fn filled(&self, size_bytes: u64, writes: bool) -> File {
            assert!(size_bytes <= BYTES_MAX, "{size_bytes} bytes");
            let name = &self.names[self.next.get() % self.names.len()];
            self.next.set(self.next.get() + 1);
            let mut block = File::options().write(true).open(name).expect("the device");
            block.write_all(&patterns(0..size_bytes)).expect("written");
            block.sync_all().expect("flushed");
            drop(block);
            let (path, flags) = if self.is_generic {
                (name.replace("/nvme", "/ng"), 0)
            } else {
                (name.clone(), libc::O_DIRECT)
            };
            let mut options = OpenOptions::new();
            options.read(true).write(writes).custom_flags(flags);
            let file = options.open(path).expect("opened");
            let number = file.metadata().expect("its number").rdev();
            let mut open = self.open.borrow_mut();
            open.retain(|(known, ..)| *known != number);
            open.push((number, name.clone(), size_bytes));
            file
        }
    }

    impl Fixture for Devices {
        fn file(&self, size_bytes: u64) -> File {
            self.filled(size_bytes, true)
        }

        fn read_only(&self, size_bytes: u64) -> File {
            self.filled(size_bytes, false)
        }

        fn direct(&self, size_bytes: u64) -> Result<File, String> {
            Ok(self.file(size_bytes))
        }

        fn interrupt_me(&self) -> Result<Box<dyn Any>, String> {
            Err("signals, which the suite on files has".to_owned())
        }

        /// By the block device, with nothing of it in the page cache.
        fn contents(&self, file: &File) -> Vec<u8> {
            let number = file.metadata().expect("its number").rdev();
            let open = self.open.borrow();
            let (_, name, bytes) = open
                .iter()
                .find(|(known, ..)| *known == number)
                .expect("opened here");
            let mut found = vec![0; *bytes as usize];
            let block = File::open(name).expect("the device");
            // SAFETY: advice about an open descriptor.
            unsafe {
                use std::os::fd::AsRawFd;
                libc::posix_fadvise(block.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
            }
            block.read_exact_at(&mut found, 0).expect("read");
            found
        }
    }

    pub fn main() {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [engine, permission, names @ ..] = &arguments[..] else {
            return usage();
        };
        if permission != "--destroy" || names.is_empty() {
            return usage();
        }
        let mut claims = Vec::new();
        for name in names {
            match claimed(name) {
                Ok(claim) => claims.push(claim),
                Err(error) => {
                    eprintln!("{name}: {error}; nothing was written");
                    std::process::exit(3);
                }
            }
        }
        let devices = Devices {
            names: names.to_vec(),
            _claims: claims,
            is_generic: engine.starts_with("nvme"),
            next: Cell::new(0),
            open: RefCell::default(),
        };
        let found = match &engine[..] {
            "uring-polled" => run::<With<Uring, Polled>>(&devices, Scope::PolledBlocks),
            "nvme" => run::<Nvme>(&devices, Scope::Commands),
            "nvme-polled" => run::<With<Nvme, Polled>>(&devices, Scope::PolledBlocks),
            "uring" => run::<Uring>(&devices, Scope::Commands),
            _ => return usage(),
        };
        match found {
            Ok(Report { passed, skipped }) => {
                for (name, needs) in &skipped {
                    println!("skipped: {name}: needs {needs}");
                }
                println!(
                    "{engine}: {} passed, {} skipped",
                    passed.len(),
                    skipped.len()
                );
            }
            Err(reason) => {
                eprintln!("{engine}: {reason}");
                std::process::exit(1);
            }
        }
    }

    fn usage() {
        eprintln!("usage: conformance uring|uring-polled|nvme|nvme-polled --destroy DEVICE...");
        std::process::exit(2);
    }
}

#[cfg(target_os = "linux")]
use devices::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("these ways exist on Linux only");
}
