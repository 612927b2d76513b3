//! The two rings shared with the kernel, and the one system call.
//!
//! Submission entry number `s` belongs to slot `s` permanently: the ring has at least as many
//! entries as the engine has slots, and the index array, which libraries fill with 0, 1, 2...,
//! names the slots in the order of submission. So an entry is written in place, only where it
//! changes, and nothing is copied (the kernel has taken what it needs of an entry when
//! `io_uring_enter` returns; `IORING_FEAT_SUBMIT_STABLE`, Linux 5.5).
//!
//! The completion ring cannot overflow: it has twice the entries, and no slot has more than one
//! operation in flight. Opcodes, flags and layouts are those of `linux/io_uring.h`. Passthrough
//! commands have entries and completions of twice the size ([`Entry`]).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io_uring as kernel;
use rustix::io_uring::{
    IoringEnterFlags as Enter, IoringFeatureFlags as Feature, IoringRegisterOp as Register,
    IoringSetupFlags as Setup,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The most entries that Linux allows per ring.
pub(super) const ENTRIES_MAX: u32 = 32_768;

/// `IORING_FEAT_MIN_TIMEOUT`, Linux 6.12.
const FEATURE_MIN_TIMEOUT: Feature = Feature::from_bits_retain(1 << 15);

/// A submission queue entry.
pub trait Entry {
    /// Setup flags for entries and completions of this size.
    const SETUP: Setup;
    /// [`CompletionEntry`] units per completion, as a power of two.
    const COMPLETION_SHIFT: u32;
}

impl Entry for Submission {
    const SETUP: Setup = Setup::empty();
    const COMPLETION_SHIFT: u32 = 0;
}

/// A submission queue entry, cut to the words used by reads, writes, syncs and discards; the others
/// stay zero.
#[repr(C)]
pub struct Submission {
    /// Opcode (bits 0-7), flags (8-15), priority (16-31), file (32-63).
    pub head: u64,
    pub offset_bytes: u64,
    pub address: u64,
    /// Length (bits 0-31) and flags of the opcode (32-63).
    pub length: u64,
    pub user_data: u64,
    /// Index of the registered buffer (bits 0-15).
    pub buffer: u64,
    /// Length of a discard of a block device.
    pub further: u64,
    unused: u64,
}

/// A completion queue entry.
#[repr(C)]
struct CompletionEntry {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// A mapping of the ring's descriptor.
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(fd: &OwnedFd, length: usize, offset: u64) -> io::Result<Self> {
        // SAFETY: a new shared mapping at an address of the kernel's choice.
        let start = unsafe {
            mmap(
                null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                fd,
                offset,
            )
        }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, length })
    }

    /// The address of the `T` that the kernel placed at `offset`.
    fn at<T>(&self, offset: u32) -> *mut T {
        let offset = offset as usize;
        assert!(offset + size_of::<T>() <= self.length, "ring offset");
        // SAFETY: inside the mapping, as just checked.
        let address = unsafe { self.start.as_ptr().add(offset) }.cast::<T>();
        assert!(address.is_aligned(), "ring alignment");
        address
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the pointers into it die with `Ring`.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// How long [`Ring::enter`] waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Overall limit.
    pub timeout_ns: u64,
    /// After this a single completion suffices, however many were requested; only if
    /// [`Ring::waits_for_batches`], otherwise 0.
    pub batch_wait_us: u32,
}

impl Limits {
    /// No limit.
    pub(super) const NONE: Limits = Limits {
        timeout_ns: u64::MAX,
        batch_wait_us: 0,
    };
}

/// The rings of one worker. Not `Send`: deferred task running ties them to the
/// thread that made them.
pub struct Ring<S> {
    submissions: *mut S,
    submission_indices: *mut u32,
    submission_tail: *const AtomicU32,
    submission_mask: u32,
    /// The program's end of the submission ring; published by [`Ring::publish`].
    tail: u32,
    /// Entries that the kernel has taken, modulo 2^32 like the tail.
    taken: u32,
    completions: *const CompletionEntry,
    completion_head: *const AtomicU32,
    completion_tail: *const AtomicU32,
    completion_mask: u32,
    enter_fd: RawFd,
    enter_flags: Enter,
    waits_for_batches: bool,
    fd: OwnedFd,
    // Unmapped after everything above is dropped.
    _rings: Mapping,
    _entries: Mapping,
}

impl<S: Entry> Ring<S> {
    /// Creates a ring for `slots` operations.
    pub(super) fn new(slots: u32, flags: Setup) -> io::Result<Self> {
        let mut params = kernel::io_uring_params::default();
        params.flags = flags | S::SETUP;
        // SAFETY: no flag here makes the kernel read other fields of `params`.
        let fd = unsafe { kernel::io_uring_setup(slots.next_power_of_two(), &mut params) }?;
        let needed =
            Feature::SINGLE_MMAP | Feature::NODROP | Feature::SUBMIT_STABLE | Feature::EXT_ARG;
        if !params.features.contains(needed) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (sq, cq) = (&params.sq_off, &params.cq_off);
        let submissions_end = sq.array as usize + params.sq_entries as usize * size_of::<u32>();
        let completions_end = cq.cqes as usize
            + ((params.cq_entries as usize * size_of::<CompletionEntry>()) << S::COMPLETION_SHIFT);
        let rings = Mapping::new(
            &fd,
            submissions_end.max(completions_end),
            kernel::IORING_OFF_SQ_RING,
        )?;
        let entries = Mapping::new(
            &fd,
            params.sq_entries as usize * size_of::<S>(),
            kernel::IORING_OFF_SQES,
        )?;
        // SAFETY: the kernel wrote these two words before the ring was returned
        // and never changes them.
        let (submission_mask, completion_mask) = unsafe {
            (
                *rings.at::<u32>(sq.ring_mask),
                *rings.at::<u32>(cq.ring_mask),
            )
        };
        let mut ring = Ring {
            submissions: entries.at(0),
            submission_indices: rings.at(sq.array),
            submission_tail: rings.at(sq.tail),
            submission_mask,
            tail: 0,
            taken: 0,
            completions: rings.at(cq.cqes),
            completion_head: rings.at(cq.head),
            completion_tail: rings.at(cq.tail),
            completion_mask,
            enter_fd: 0,
            enter_flags: Enter::GETEVENTS,
            waits_for_batches: params.features.contains(FEATURE_MIN_TIMEOUT),
            fd,
            _rings: rings,
            _entries: entries,
        };
        ring.register_itself();
        Ok(ring)
    }

    /// Whether [`Limits::batch_wait_us`] works (Linux 6.12).
    pub(super) fn waits_for_batches(&self) -> bool {
        self.waits_for_batches
    }

    /// Lets `io_uring_enter` skip the descriptor look-up (Linux 5.18); if that fails, the
    /// descriptor itself is used.
    fn register_itself(&mut self) {
        use std::os::fd::AsRawFd;
        self.enter_fd = self.fd.as_raw_fd();
        let Ok(fd) = u64::try_from(self.enter_fd) else {
            return;
        };
        // `struct io_uring_rsrc_update`: offset (any), reserved, descriptor.
        let mut update = [u64::from(u32::MAX), fd];
        // SAFETY: one entry of 16 bytes, writable, as this opcode wants it.
        let done = unsafe {
            kernel::io_uring_register(
                &self.fd,
                Register::RegisterRingFds,
                (&raw mut update).cast(),
                1,
            )
        };
        // The kernel returns the index in the low word.
        let index = RawFd::try_from(update[0] & u64::from(u32::MAX));
        if let (Ok(1), Ok(index)) = (done, index) {
            self.enter_fd = index;
            self.enter_flags |= Enter::REGISTERED_RING;
        }
    }

    /// Registers files, buffers and the like; `Ok` whatever count is returned.
    ///
    /// # Safety
    /// `argument` and `count` are what `operation` expects, and registered memory outlives the
    /// ring.
    pub(super) unsafe fn register<T>(
        &self,
        operation: Register,
        argument: &[T],
        count: usize,
    ) -> io::Result<()> {
        let count = u32::try_from(count).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the caller's promise.
        unsafe { kernel::io_uring_register(&self.fd, operation, argument.as_ptr().cast(), count) }?;
        Ok(())
    }

    /// Unregisters files; does nothing if there are none.
    pub(super) fn unregister_files(&self) {
        // SAFETY: this opcode takes no argument, and nothing is in flight that could use the files.
        // If it fails, they stay until the ring is closed.
        let _ = unsafe {
            kernel::io_uring_register(&self.fd, Register::UnregisterFiles, std::ptr::null(), 0)
        };
    }

    /// The entry of a slot, added to the next submission.
    ///
    /// # Safety
    /// `slot` is below the slots passed to [`Ring::new`] and not in flight.
    #[inline]
    pub(super) unsafe fn push(&mut self, slot: u32) -> &mut S {
        // SAFETY: masked, so inside the index array, which only we write.
        unsafe {
            *self
                .submission_indices
                .add((self.tail & self.submission_mask) as usize) = slot;
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the ring has an entry per slot, and the kernel reads it only
        // within `enter`.
        unsafe { &mut *self.submissions.add(slot as usize) }
    }

    /// For pushing many in a row.
    #[inline]
    pub(super) fn pushes(&mut self) -> Pushes<'_, S> {
        Pushes {
            submissions: self.submissions,
            submission_indices: self.submission_indices,
            submission_mask: self.submission_mask,
            tail: self.tail,
            ring: self,
        }
    }

    /// The entries, by slot: a slot's last operation, until the next is pushed.
    #[inline]
    pub(super) fn entries(&self) -> *const S {
        self.submissions
    }

    /// Entries pushed that the kernel has not taken.
    #[inline]
    pub(super) fn not_collected(&self) -> u32 {
        self.tail.wrapping_sub(self.taken)
    }

    /// The kernel took this many more entries.
    #[inline]
    pub(super) fn took(&mut self, count: u32) {
        self.taken = self.taken.wrapping_add(count);
    }

    /// Makes all pushed entries visible to the kernel.
    #[inline]
    pub(super) fn publish(&mut self) {
        // SAFETY: lives as long as the mapping; only we store to it.
        unsafe { &*self.submission_tail }.store(self.tail, Ordering::Release);
    }

    /// The completions that are there; those iterated are taken off the ring on drop.
    #[inline]
    pub(super) fn completed(&mut self) -> Completed<'_, S> {
        // SAFETY: both live as long as the mapping; only we store to the head.
        let (head, tail) = unsafe { (&*self.completion_head, &*self.completion_tail) };
        Completed {
            at: head.load(Ordering::Relaxed),
            end: tail.load(Ordering::Acquire),
            completions: self.completions,
            completion_mask: self.completion_mask,
            ring: self,
        }
    }

    /// Submits `submit` entries and waits for `complete` completions, within `limits`; returns how
    /// many were submitted. A timeout is not an error.
    #[inline]
    pub(super) fn enter(
        &mut self,
        submit: u32,
        complete: u32,
        limits: Limits,
    ) -> rustix::io::Result<u32> {
        // SAFETY: a number that `register_itself` got from the kernel, or our own descriptor;
        // neither is closed while `self` lives.
        let fd = unsafe { BorrowedFd::borrow_raw(self.enter_fd) };
        if limits == Limits::NONE {
            // SAFETY: the entries submitted use memory that outlives them: the
            // engine leaks its buffers rather than free them under the kernel.
            return unsafe { kernel::io_uring_enter(fd, submit, complete, self.enter_flags) };
        }
        // `struct __kernel_timespec`, in whole seconds and nanoseconds.
        let ns = limits.timeout_ns;
        let mut time = [ns / 1_000_000_000, ns % 1_000_000_000];
        let argument = kernel::io_uring_getevents_arg {
            ts: kernel::io_uring_ptr::new((&raw mut time).cast()),
            min_wait_usec: limits.batch_wait_us,
            ..Default::default()
        };
        let flags = self.enter_flags | Enter::EXT_ARG;
        // SAFETY: as above; `argument` and `time` live until the call returns.
        match unsafe { kernel::io_uring_enter_arg(fd, submit, complete, flags, Some(&argument)) } {
            Err(rustix::io::Errno::TIME) => Ok(0),
            other => other,
        }
    }

    /// Asks the kernel to cancel everything in flight, waiting up to `timeout_ns` (Linux 6.0; older
    /// kernels: no effect).
    pub(super) fn cancel_all(&self, timeout_ns: u64) {
        let mut request = kernel::io_uring_sync_cancel_reg::default();
        request.fd = -1;
        request.flags = kernel::IoringAsyncCancelFlags::ALL | kernel::IoringAsyncCancelFlags::ANY;
        request.timeout = kernel::Timespec {
            tv_sec: 0,
            tv_nsec: i64::try_from(timeout_ns.min(999_999_999)).unwrap_or(0),
        };
        // SAFETY: one request of the layout this opcode wants. Its failure
        // means only that operations stay in flight, which the caller counts.
        let _ = unsafe {
            kernel::io_uring_register(
                self.fd.as_fd(),
                Register::RegisterSyncCancel,
                (&raw const request).cast(),
                1,
            )
        };
    }
}

/// Pushes many entries: [`Ring::push`], with its state in registers where the compiler can. Takes
/// effect only at [`Pushes::end`].
pub(super) struct Pushes<'a, S> {
    submissions: *mut S,
    submission_indices: *mut u32,
    submission_mask: u32,
    tail: u32,
    ring: &'a mut Ring<S>,
}

impl<S> Pushes<'_, S> {
    /// As [`Ring::push`].
    ///
    /// # Safety
    /// As for [`Ring::push`].
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, slot: u32) -> &mut S {
        // SAFETY: masked, so inside the index array, which only we write.
        unsafe {
            *self
                .submission_indices
                .add((self.tail & self.submission_mask) as usize) = slot;
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the ring has an entry per slot, and the kernel reads it only
        // within `enter`.
        unsafe { &mut *self.submissions.add(slot as usize) }
    }

    /// Ends the sequence of pushes.
    #[inline]
    pub(super) fn end(self) {
        self.ring.tail = self.tail;
    }
}

/// Completions as (user data, result), in the order of the ring.
pub(super) struct Completed<'a, S> {
    completions: *const CompletionEntry,
    completion_mask: u32,
    at: u32,
    end: u32,
    ring: &'a mut Ring<S>,
}

impl<S> Completed<'_, S> {
    /// How many are left.
    #[inline]
    pub(super) fn remaining(&self) -> u32 {
        self.end.wrapping_sub(self.at)
    }
}

impl<S: Entry> Iterator for Completed<'_, S> {
    type Item = (u64, i32);

    #[inline(always)]
    fn next(&mut self) -> Option<(u64, i32)> {
        if self.at == self.end {
            return None;
        }
        // SAFETY: masked, so inside the ring; the kernel wrote it before it
        // moved the tail, and writes it again only after we moved the head.
        let entry = unsafe {
            &*self
                .completions
                .add(((self.at & self.completion_mask) as usize) << S::COMPLETION_SHIFT)
        };
        self.at = self.at.wrapping_add(1);
        Some((entry.user_data, entry.result))
    }

    /// All remaining ones, in one run or, across the end of the ring, two: three instructions less
    /// for each than with [`Iterator::next`].
    #[inline(always)]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, initial: B, mut each: F) -> B {
        let mut folded = initial;
        while self.at != self.end {
            let from = self.at & self.completion_mask;
            let to_the_end = self.completion_mask - from + 1;
            let count = self.remaining().min(to_the_end);
            for index in from as usize..(from + count) as usize {
                // SAFETY: inside the ring, and written by the kernel, as in `next`.
                let entry = unsafe { &*self.completions.add(index << S::COMPLETION_SHIFT) };
                folded = each(folded, (entry.user_data, entry.result));
            }
            self.at = self.at.wrapping_add(count);
        }
        folded
    }
}

impl<S> Drop for Completed<'_, S> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: lives as long as the mapping; only we store to the head.
        unsafe { &*self.ring.completion_head }.store(self.at, Ordering::Release);
    }
}
