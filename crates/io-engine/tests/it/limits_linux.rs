//! io_uring for ordinary users and in containers: what is refused, what is used instead, and that
//! this is reported.

use std::fs::File;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, Uid, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_thread_uid};
use stripewise_io_engine::backend::linux_io_uring::{Uring, probe};
use stripewise_io_engine::conformance::Fixture;
use stripewise_io_engine::{
    Clock, Completion, Engine, EngineName, ErrorKind, Kind, Next, OpenPlan, Operation, Source,
};

use crate::fixture::{Files, skip};

/// One read on every slot.
struct OneEach {
    issued: u32,
    slots: u32,
    block_bytes: u32,
    results: Vec<i32>,
}

impl Source for OneEach {
    fn next(&mut self, _now_ns: u64) -> Next {
        if self.issued == self.slots {
            return Next::Finished;
        }
        self.issued += 1;
        Next::Operation(Operation {
            slot: self.issued - 1,
            file: 0,
            kind: Kind::Read,
            offset_bytes: 0,
            length_bytes: self.block_bytes,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    fn complete(&mut self, done: Completion) {
        self.results.push(done.result);
    }
}

/// Opens io_uring on a file, reads with it, and returns its capabilities.
fn open_and_read(file: File, slots: u32, block_bytes: u32) -> (bool, bool, Vec<String>) {
    let plan = OpenPlan::new(vec![Arc::new(file)], slots, block_bytes, Clock::start());
    let mut engine = Uring::open(&plan).expect("io_uring itself is not refused");
    let mut source = OneEach {
        issued: 0,
        slots,
        block_bytes,
        results: Vec::new(),
    };
    engine.fill(&mut source, 0);
    while source.results.len() < slots as usize {
        engine.submit_and_wait(1, None).expect("works");
        engine.reap(&mut source);
    }
    assert!(
        source
            .results
            .iter()
            .all(|result| *result == block_bytes.cast_signed())
    );
    let capabilities = engine.capabilities().clone();
    assert_eq!(capabilities.name, "io_uring");
    engine.close(u64::MAX);
    (
        capabilities.registered_buffers,
        capabilities.registered_files,
        capabilities.fallbacks,
    )
}

fn missing(test: &str) -> bool {
    let reason = probe().err();
    if let Some(error) = &reason {
        skip(test, &format!("io_uring ({error})"));
    }
    reason.is_some()
}

/// Whether rings without buffers fit the limit on locked memory.
fn rings_fit() -> bool {
    let mut plan = OpenPlan::new(Vec::new(), 128, 8192, Clock::start());
    plan.register_buffers = false;
    Uring::open(&plan).is_ok()
}

#[test]
fn an_ordinary_user_with_a_small_memlock_limit_gets_plain_buffers() {
    own_process!();
    if missing("an_ordinary_user_with_a_small_memlock_limit_gets_plain_buffers") {
        return;
    }
    let file = Files.file(8192);
    // The kernel counts locked memory by user, over all of its processes (perf's and other
    // programs' rings too): root becomes a user who has no others.
    let root = rustix::process::geteuid().is_root();
    if root {
        let user = Uid::from_raw(40_000 + std::process::id() % 20_000);
        set_thread_uid(user).expect("root becomes another user");
    }
    let limit = Some(64 << 10);
    let limits = Rlimit {
        current: limit,
        maximum: limit,
    };
    setrlimit(Resource::Memlock, limits).expect("limits may be lowered");
    // Root may lock without limit (CAP_IPC_LOCK); others may not.
    let nothing = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, nothing).expect("capabilities may be given up");
    if !root && !rings_fit() {
        skip(
            "an_ordinary_user_with_a_small_memlock_limit_gets_plain_buffers",
            "root, as other programs of this user lock memory",
        );
        return;
    }
    let (buffers, files, fallbacks) = open_and_read(file, 128, 8192);
    assert!(!buffers, "1 MiB does not fit 64 KiB");
    assert!(files, "files are not concerned");
    let fallback = fallbacks.iter().find(|text| text.contains("memlock"));
    let fallback = fallback.expect("the fallback is confessed");
    for part in ["1 MiB", "64 KiB", "ulimit -l", "LimitMEMLOCK"] {
        assert!(fallback.contains(part), "{part} in: {fallback}");
    }
    // Features not requested are not reported as missing.
    let mut plan = OpenPlan::new(Vec::new(), 128, 8192, Clock::start());
    plan.register_buffers = false;
    let engine = Uring::open(&plan).expect("opens");
    assert!(!engine.capabilities().registered_buffers);
    let missed = engine.capabilities().fallbacks.iter();
    assert_eq!(missed.filter(|text| text.contains("buffers")).count(), 0);
}

/// Makes a system call fail for a new thread, as a container's filter does, and
/// runs `body` there. (Filters are a matter of threads, and cannot be undone.)
fn with_refused_call<T: Send>(call: i64, errno: i32, body: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            refuse(call, errno);
            body()
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Installs a filter: load the call's number; if it is `call` answer `errno`,
/// else allow.
fn refuse(call: i64, errno: i32) {
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    let mut steps = [
        step(load, 0, 0, 0),
        step(equal, 0, 1, u32::try_from(call).expect("a system call")),
        step(
            answer,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(),
        ),
        step(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: 4,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: sets a flag of this thread.
    let done = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(done, 0);
    // SAFETY: the kernel copies the four steps.
    let done = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    assert_eq!(done, 0, "a filter can be set");
}

#[test]
fn where_io_uring_is_forbidden_auto_takes_threads_and_says_why() {
    let cases = [(libc::EPERM, "seccomp"), (libc::ENOSYS, "no io_uring")];
    for (errno, part) in cases {
        with_refused_call(libc::SYS_io_uring_setup, errno, || {
            let plan = OpenPlan::new(Vec::new(), 4, 4096, Clock::start());
            let error = Uring::open(&plan).err().expect("refused");
            assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains(part), "{error}");
            assert!(
                error
                    .hint()
                    .is_some_and(|hint| hint.contains("--engine threads"))
            );
            let choice = EngineName::Auto.choose();
            assert_eq!(choice.engine, EngineName::Threads);
            assert!(choice.because.is_some_and(|because| because.contains(part)));
        });
    }
}

#[test]
fn without_registration_everything_still_works() {
    if missing("without_registration_everything_still_works") {
        return;
    }
    let file = Files.file(8192);
    let call = libc::SYS_io_uring_register;
    let (buffers, files, fallbacks) =
        with_refused_call(call, libc::EPERM, || open_and_read(file, 16, 8192));
    assert!(!buffers && !files);
    assert!(
        fallbacks
            .iter()
            .any(|text| text.contains("files are not registered"))
    );
    assert!(
        fallbacks
            .iter()
            .any(|text| text.contains("registered buffers were refused"))
    );
}

#[test]
fn more_slots_than_a_ring_has_are_refused_with_advice() {
    if missing("more_slots_than_a_ring_has_are_refused_with_advice") {
        return;
    }
    for slots in [0, 32_769] {
        let plan = OpenPlan::new(Vec::new(), slots, 512, Clock::start());
        let error = Uring::open(&plan).err().expect("refused");
        assert_eq!(error.kind, ErrorKind::Resources);
        assert!(
            error.hint().is_some_and(|hint| hint.contains("threads")),
            "{error}"
        );
    }
}
