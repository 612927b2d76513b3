//! The conformance suite on block devices, for features that files lack (polled completions, and
//! commands passed through to NVMe namespaces), and on the file systems and devices of other
//! kernels. Run in guests with empty disks (`tests/vm/guest/nvme.sh`, `atomic.sh`, `discards.sh`).
//!
//! `conformance ENGINE --destroy DEVICE...` where ENGINE is `uring`, `uring-polled`,
//! `uring-discards`, `threads-discards`, `nvme` or `nvme-polled`, and each DEVICE is a block device
//! whose first MiB are overwritten; `nvme` also uses their generic character devices. Each is
//! claimed (`O_EXCL`) before the first byte and until the end: the kernel refuses a device that is
//! mounted, or part of an array or a volume.
//!
//! `conformance ENGINE --in DIRECTORY` where ENGINE is `uring-uncached` or `threads-uncached`: on
//! unlinked files made there.

#[cfg(target_os = "linux")]
mod devices {
    use std::any::Any;
    use std::cell::{Cell, RefCell};
    use std::fs::{File, OpenOptions};
    use std::io::{Error, Write};
    use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};

    use stripewise_io_engine::IoFeatures;
    use stripewise_io_engine::backend::linux_io_uring::{Nvme, Uring};
    use stripewise_io_engine::backend::portable_threads::Threads;
    use stripewise_io_engine::conformance::request_log::{
        PLAIN, Polled, RequiredFeatures, WithFeatures,
    };
    use stripewise_io_engine::conformance::{Fixture, Report, Scope, patterns, run};

    /// Discards may be mixed with reads and writes.
    struct Discarding;

    impl RequiredFeatures for Discarding {
        const FEATURES: IoFeatures = IoFeatures {
            discards: true,
            ..PLAIN
        };
    }

    /// Operations leave nothing in the page cache.
    struct Uncached;

    impl RequiredFeatures for Uncached {
        const FEATURES: IoFeatures = IoFeatures {
            dontcache: true,
            ..PLAIN
        };
    }

    /// Largest size that a case needs of a device.
    const BYTES_MAX: u64 = 16 << 20;

    /// Why the signal cases are skipped.
    const WITHOUT_SIGNALS: &str = "signals, which the suite of the tests has";

    /// Where files are made.
    struct Folder(String);

    impl Folder {
        /// An unlinked, synced file that holds the pattern.
        fn filled(&self, size_bytes: u64, flags: i32, writes: bool) -> std::io::Result<File> {
            let path = format!("{}/conformance-{}", self.0, std::process::id());
            let mut new = File::create_new(&path)?;
            new.write_all(&patterns(0..size_bytes))?;
            new.sync_all()?;
            let mut options = OpenOptions::new();
            options.read(true).write(writes).custom_flags(flags);
            let file = options.open(&path);
            std::fs::remove_file(&path)?;
            file
        }
    }

    impl Fixture for Folder {
        fn file(&self, size_bytes: u64) -> File {
            self.filled(size_bytes, 0, true).expect("a file")
        }

        fn read_only(&self, size_bytes: u64) -> File {
            self.filled(size_bytes, 0, false).expect("a file")
        }

        fn direct(&self, size_bytes: u64) -> Result<File, String> {
            self.filled(size_bytes, libc::O_DIRECT, true)
                .map_err(|error| format!("direct I/O ({error})"))
        }

        fn interrupt_me(&self) -> Result<Box<dyn Any>, String> {
            Err(WITHOUT_SIGNALS.to_owned())
        }
    }

    struct Devices {
        names: Vec<String>,
        /// While open, these keep others from using the devices.
        _claims: Vec<File>,
        is_generic: bool,
        next: Cell<usize>,
        /// Open devices: number of the node, its block device, and the bytes used.
        open: RefCell<Vec<(u64, String, u64)>>,
    }

    /// Claims an unused block device, without changing anything.
    fn claimed(name: &String) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(libc::O_EXCL).open(name)?;
        match file.metadata()?.file_type().is_block_device() {
            true => Ok(file),
            false => Err(Error::other("is not a block device")),
        }
    }

    impl Devices {
        /// Fills the next device with the pattern, and opens it.
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
            Err(WITHOUT_SIGNALS.to_owned())
        }

        /// Read through the block device, with its page cache dropped.
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
        let found = match (&permission[..], names) {
            ("--in", [folder]) => on_files(engine, &Folder(folder.clone())),
            ("--destroy", [_, ..]) => on_devices(engine, names),
            _ => return usage(),
        };
        match found {
            None => usage(),
            Some(Ok(Report { passed, skipped })) => {
                for (name, needs) in &skipped {
                    println!("skipped: {name}: needs {needs}");
                }
                println!(
                    "{engine}: {} passed, {} skipped",
                    passed.len(),
                    skipped.len()
                );
            }
            Some(Err(reason)) => {
                eprintln!("{engine}: {reason}");
                std::process::exit(1);
            }
        }
    }

    /// The result; `None` if there is no such engine.
    type Found = Option<Result<Report, String>>;

    fn on_files(engine: &str, folder: &Folder) -> Found {
        match engine {
            "uring-uncached" => Some(run::<WithFeatures<Uring, Uncached>>(folder, Scope::Full)),
            "threads-uncached" => Some(run::<WithFeatures<Threads, Uncached>>(folder, Scope::Full)),
            _ => None,
        }
    }

    fn on_devices(engine: &str, names: &[String]) -> Found {
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
        Some(match engine {
            "uring-polled" => run::<WithFeatures<Uring, Polled>>(&devices, Scope::PolledBlocks),
            "uring-discards" => run::<WithFeatures<Uring, Discarding>>(&devices, Scope::Commands),
            "threads-discards" => {
                run::<WithFeatures<Threads, Discarding>>(&devices, Scope::Commands)
            }
            "nvme" => run::<Nvme>(&devices, Scope::Commands),
            "nvme-polled" => run::<WithFeatures<Nvme, Polled>>(&devices, Scope::PolledBlocks),
            "uring" => run::<Uring>(&devices, Scope::Commands),
            _ => return None,
        })
    }
    fn usage() {
        eprintln!("usage: conformance ENGINE --destroy DEVICE... | ENGINE --in DIRECTORY");
        std::process::exit(2);
    }
}

#[cfg(target_os = "linux")]
use devices::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("these ways exist on Linux only");
}
