//! How much of a file is in the page cache: cachestat(2) since Linux 6.5, else mincore(2).

use rustix::fs::FileType;
use std::fs::File;
use std::os::fd::AsRawFd;

/// cachestat(2) has this number on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;
/// mincore checks each page; above this size it would take seconds.
const MINCORE_BYTES_MAX: u64 = 64 << 30;
const WINDOW_BYTES: u64 = 1 << 30;

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct CachedPages {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Bytes of an open regular file or block device in the page cache, in whole pages.
pub fn cached_bytes(file: &File) -> Option<u64> {
    let page = u64::try_from(rustix::param::page_size()).ok()?;
    by_cachestat(file)
        .or_else(|| by_mincore(file, page))
        .map(|pages| pages.saturating_mul(page))
}

fn by_cachestat(file: &File) -> Option<u64> {
    // Length 0 means to the end.
    let range = Range {
        offset: 0,
        length: 0,
    };
    let mut found = CachedPages::default();
    // SAFETY: the descriptor is open for the length of the call; both pointers
    // are to live structures of the layout that cachestat(2) documents, of which
    // it reads the first and writes the second. A kernel without the call
    // returns ENOSYS and touches neither.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut found,
            0,
        )
    };
    (result == 0).then_some(found.cached)
}

/// Pages resident according to mincore. Since Linux 5.2 it reports every page of another user's
/// file as resident; such files give `None`.
fn by_mincore(file: &File, page: u64) -> Option<u64> {
    let stat = rustix::fs::fstat(file).ok()?;
    let user = rustix::process::geteuid();
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let size = u64::try_from(stat.st_size).ok()?;
    let ours = user.is_root() || user.as_raw() == stat.st_uid;
    if !regular || !ours || size > MINCORE_BYTES_MAX {
        return None;
    }
    let mut pages = 0;
    let mut offset = 0;
    while offset < size {
        let length = WINDOW_BYTES.min(size - offset);
        pages += window(file, offset, usize::try_from(length).ok()?, page)?;
        offset += length;
    }
    Some(pages)
}

fn window(file: &File, offset: u64, length: usize, page: u64) -> Option<u64> {
    let mut resident = vec![0u8; length.div_ceil(usize::try_from(page).ok()?)];
    // SAFETY: a new mapping at an address of the kernel's choice, never read or
    // written through, unmapped below; `resident` has one byte for each page of
    // it, as mincore wants. The file may shrink meanwhile: nothing is touched.
    let filled = unsafe {
        let address = libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            libc::off_t::try_from(offset).ok()?,
        );
        if address == libc::MAP_FAILED {
            return None;
        }
        let result = libc::mincore(address, length, resident.as_mut_ptr());
        libc::munmap(address, length);
        result == 0
    };
    filled.then(|| resident.iter().map(|byte| u64::from(byte & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// An unlinked temporary file on the volume of the sources: a temporary directory may be tmpfs,
    /// where everything is "cached".
    fn scratch() -> File {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR;
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        match rustix::fs::open(path, flags, mode) {
            Ok(descriptor) => File::from(descriptor),
            Err(_) => tempfile(),
        }
    }

    fn tempfile() -> File {
        rustix::fs::memfd_create("scratch", rustix::fs::MemfdFlags::CLOEXEC)
            .map(File::from)
            .expect("memory for a small file")
    }

    #[test]
    fn what_was_just_written_through_the_cache_is_in_it_by_both_methods() {
        let mut file = scratch();
        file.write_all(&[7; 40_000]).expect("room for 40 kB");
        let page = rustix::param::page_size() as u64;
        let wanted = 40_000u64.div_ceil(page);
        assert_eq!(by_mincore(&file, page), Some(wanted));
        if let Some(pages) = by_cachestat(&file) {
            assert_eq!(pages, wanted);
        } else {
            crate::skips::skip_kernel("cachestat_agrees_with_mincore", "cachestat (Linux 6.5)");
        }
        assert_eq!(cached_bytes(&file), Some(wanted * page));
    }

    #[test]
    fn an_empty_file_and_a_directory_have_nothing_cached() {
        assert_eq!(by_mincore(&scratch(), 4096), Some(0));
        let directory = File::open("/").expect("the root directory");
        assert_eq!(by_mincore(&directory, 4096), None);
    }
}
