//! `stripewise-mpi`: the binary. All calls to MPI are here and in
//! `mpi_carrier.rs`; the rest is in the library, and tested without it.
#![forbid(unsafe_code)]

mod mpi_carrier;

use mpi::Threading;
use mpi::traits::Communicator;
use mpi_carrier::{HeartbeatThread, MpiCarrier, MpiLock};
use std::process::ExitCode;
use std::rc::Rc;
use stripewise_cli::{Output, Surroundings, VERSION, host_name, refuse, run, system_clock};
use stripewise_mpi::{GroupMember, Member, Settings, Shutdown, Timeouts, of_rank};

/// Buffer for messages that wait for their receiver: a host that is stopped for the
/// six-second limit gets few.
const BUFFER_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let sent_at = mpi::initialize_with_threading(Threading::Serialized);
    let Some((mut universe, threading)) = sent_at else {
        return refused(
            "MPI was initialised before",
            "start the program with mpirun or srun",
        );
    };
    universe.set_buffer_size(BUFFER_BYTES);
    let world = universe.world();
    let rank = u32::try_from(world.rank()).unwrap_or(0);
    let host = host_name();
    let arguments = match of_rank(std::env::args_os(), &host, rank) {
        Ok(arguments) => arguments,
        // All ranks have the same words.
        Err(error) if rank == 0 => return refused(&error.to_string(), error.hint()),
        Err(_) => return ExitCode::SUCCESS,
    };
    let clock = system_clock();
    // No other group begins in this nanosecond with this process id.
    let group = format!("group-{:x}-{:x}", clock.wall().ns(), std::process::id());
    let settings = Settings {
        // Read at run time, not constant-folded: the failing-hosts campaign makes
        // a program of another version by changing that text.
        version: std::hint::black_box(VERSION).to_owned(),
        host,
        shared: arguments.shared,
        destroys_anywhere: arguments.destroys_anywhere,
        group,
        patience: match threading >= Threading::Serialized {
            true => Timeouts::default(),
            false => Timeouts::default().without_heartbeat(),
        },
    };
    let gate = MpiLock::default();
    let carrier = MpiCarrier::new(universe.world(), MpiLock::clone(&gate));
    let member = Rc::new(Member::new(carrier, clock, settings));
    // With a single-threaded MPI, a rank whose disk blocks it for long during
    // preparation counts as lost: the run ends before it begins.
    let beater = (threading >= Threading::Serialized)
        .then(|| HeartbeatThread::start(member.heartbeat(), gate));
    let multi_host = GroupMember::new(Rc::clone(&member), arguments.map);
    let surroundings = Surroundings {
        multi_host: Some(Rc::new(multi_host)),
        typed: Some(std::env::args_os().collect()),
        ..Surroundings::of_process()
    };
    let code = run(arguments.rest, surroundings, Output::of_process()).code();
    let closing = member.close();
    drop(beater);
    if closing == Shutdown::WithoutAll {
        // An orderly end would wait for the rank that does not answer.
        world.abort(i32::from(code));
    }
    // Rank 0 knows about this rank, and reports for all.
    ExitCode::from(if rank == 0 { code } else { 0 })
}

fn refused(text: &str, hint: &str) -> ExitCode {
    ExitCode::from(refuse(&Output::of_process(), text, hint).code())
}
