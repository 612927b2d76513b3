//! Whether threads share their file descriptors.

/// `KCMP_FILES` of `linux/kcmp.h`.
const KCMP_FILES: libc::c_int = 2;

/// Whether two threads (of any process) share one descriptor table, as the threads of a process do
/// unless one called `unshare(CLONE_FILES)`. `None` where the kernel does not tell: no permission,
/// no such thread, or built without kcmp(2).
pub fn share_descriptors(one: u32, other: u32) -> Option<bool> {
    let number = |thread: u32| libc::c_long::from(thread.cast_signed());
    // SAFETY: kcmp only compares; all arguments are numbers, none is a pointer.
    let order = unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            number(one),
            number(other),
            libc::c_long::from(KCMP_FILES),
            0,
            0,
        )
    };
    (order >= 0).then_some(order == 0)
}

#[cfg(test)]
mod tests {
    use super::share_descriptors;

    #[test]
    fn threads_share_their_descriptors_and_processes_do_not() {
        let own = rustix::thread::gettid()
            .as_raw_nonzero()
            .get()
            .cast_unsigned();
        let Some(same) = share_descriptors(own, own) else {
            return crate::skips::skip("share_descriptors", "kcmp(2)");
        };
        assert!(same);
        let other = std::thread::spawn(move || {
            let here = rustix::thread::gettid()
                .as_raw_nonzero()
                .get()
                .cast_unsigned();
            assert_ne!(here, own);
            share_descriptors(own, here)
        });
        assert_eq!(other.join().expect("it ends"), Some(true));
        assert_eq!(share_descriptors(own, 0), None);
    }
}
