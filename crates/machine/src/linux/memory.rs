//! System memory allocation with a readable error message when memory runs out.
//!
//! The standard library aborts when an allocation fails: a core dump instead of a message and,
//! where a backtrace was requested, a deadlocked process. [`Memory`] writes one line and ends the
//! process with exit code 3, as for any other resource that the machine refuses. It allocates
//! nothing, takes no lock and runs no exit handlers, so that it cannot hang. Results are stored as
//! after SIGKILL: the next command marks the interrupted run as partial.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exit code: the machine refused a resource.
const REFUSED: i32 = 3;

const HINT: &[u8] =
    b"\nhint: raise the limits of memory, stack and threads (`ulimit -v`, `ulimit -s`, `ulimit -u`), or use \
fewer threads, fewer operations in flight or a smaller block size; runs that were finished \
are stored\n";

/// A smaller stack overflows while the command line is parsed, which aborts.
const STACK_BYTES_MIN: u64 = 1 << 20;

/// The system's allocator; ends the process with a message when an allocation fails. For
/// `#[global_allocator]` of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory;

// SAFETY: every call goes to the system's allocator as it came, and what that returns
// is returned, unless the process ends.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise, handed on.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise, handed on.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise, handed on.
        given(unsafe { System.realloc(start, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, handed on.
        unsafe { System.dealloc(start, layout) }
    }
}

#[inline]
fn given(start: *mut u8, bytes: usize) -> *mut u8 {
    if start.is_null() {
        end(bytes);
    }
    start
}

/// Ends the process with the same message where the standard library panics for lack of memory:
/// when the system refuses a thread, or a new thread its signal stack. Unwinding needs memory as
/// well, so such a panic would end in an abort. All other panics are unchanged. Exits at once if
/// the stack is too small.
pub fn describe_out_of_memory() {
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack);
    if stack.current.is_some_and(|bytes| bytes < STACK_BYTES_MIN) {
        end_with(&[b"a stack of 1 MiB"]);
    }
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        match text.and_then(lacking) {
            Some(what) => end_with(&[what]),
            None => usual(info),
        }
    }));
}

/// The refused resource, recognised by the text of a panic.
fn lacking(panic: &str) -> Option<&'static [u8]> {
    let known: [(&str, &[u8]); 3] = [
        (
            "failed to allocate an alternative stack",
            b"a stack for a thread",
        ),
        (
            "failed to set up alternative stack guard page",
            b"a stack for a thread",
        ),
        ("failed to spawn thread", b"another thread"),
    ];
    let found = known.iter().find(|(words, _)| panic.contains(words));
    found.map(|(_, what)| *what)
}

/// Reports that `bytes` could not be allocated, and ends the process.
#[cold]
fn end(bytes: usize) -> ! {
    let mut digits = [0; 20];
    end_with(&[decimal(bytes, &mut digits), b" more bytes"])
}

/// Reports the refused resource, and ends the process.
fn end_with(what: &[&[u8]]) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Ordering::AcqRel) {
        // Another thread writes the line and ends the process.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    // Another thread may run out of memory in the C library, which aborts: make it wait, too.
    // SAFETY: the handler only waits, which is allowed in a handler.
    unsafe {
        libc::signal(
            libc::SIGABRT,
            wait_for_the_end as *const () as libc::sighandler_t,
        )
    };
    let stderr = rustix::stdio::stderr();
    let lead: &[u8] = match std::io::stderr().is_terminal() {
        // On a new line, below the progress line.
        true => b"\nerror: out of memory: the system refused ",
        false => b"error: out of memory: the system refused ",
    };
    for piece in [lead].into_iter().chain(what.iter().copied()).chain([HINT]) {
        // A failure cannot be reported any more.
        let _ = rustix::io::write(stderr, piece);
    }
    // SAFETY: it ends the process; nothing of it runs afterwards.
    unsafe { libc::_exit(REFUSED) }
}

/// Keeps a thread from ending the process before the message is written.
extern "C" fn wait_for_the_end(_signal: libc::c_int) {
    loop {
        // SAFETY: it takes nothing and touches nothing.
        unsafe { libc::pause() };
    }
}

/// `number` in decimal digits, at the end of `digits`.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{decimal, lacking};

    #[test]
    fn panics_for_want_of_memory_are_known_by_their_words() {
        let panic = "failed to allocate an alternative stack: Cannot allocate memory (os error 12)";
        assert_eq!(lacking(panic), Some(&b"a stack for a thread"[..]));
        let panic = "failed to spawn thread: Os { code: 11, kind: WouldBlock }";
        assert_eq!(lacking(panic), Some(&b"another thread"[..]));
        assert_eq!(lacking("index out of bounds"), None);
    }

    #[test]
    fn numbers_are_written_without_an_allocation() {
        for number in [0, 7, 10, 4096, 65_536_000, usize::MAX] {
            let mut digits = [0; 20];
            assert_eq!(decimal(number, &mut digits), number.to_string().as_bytes());
        }
    }
}
