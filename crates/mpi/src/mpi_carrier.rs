//! Messages over MPI: sent in pieces immediately, and polled without
//! blocking. Six calls in all.

use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use stripewise_mpi::{Carrier, Heartbeat, MessageAssembler, cut};

/// Interval of heartbeats of a rank that cannot poll its messages.
const BEAT_EVERY: Duration = Duration::from_secs(1);

/// Only one thread of a process at a time may call MPI, and the pieces of one message must not
/// be interleaved with another.
pub type MpiLock = Arc<Mutex<()>>;

fn locked(gate: &MpiLock) -> MutexGuard<'_, ()> {
    gate.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All ranks of the job.
pub struct MpiCarrier {
    world: SimpleCommunicator,
    gate: MpiLock,
    pieces: RefCell<Vec<MessageAssembler>>,
}

impl MpiCarrier {
    /// A carrier on this communicator; `gate` is shared with other threads that call MPI.
    pub fn new(world: SimpleCommunicator, gate: MpiLock) -> MpiCarrier {
        let size = usize::try_from(world.size()).unwrap_or(1);
        MpiCarrier {
            pieces: RefCell::new(vec![MessageAssembler::default(); size]),
            gate,
            world,
        }
    }
}

impl Carrier for MpiCarrier {
    fn rank(&self) -> u32 {
        u32::try_from(self.world.rank()).unwrap_or(0)
    }

    fn size(&self) -> u32 {
        u32::try_from(self.world.size()).unwrap_or(1)
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        send(&self.world, &self.gate, to, &bytes);
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        loop {
            let (from, piece) = {
                let _alone = locked(&self.gate);
                let status = self.world.any_process().immediate_probe()?;
                let from = status.source_rank();
                // It has arrived completely, since pieces are small.
                let (piece, _) = self.world.process_at_rank(from).receive_vec::<u8>();
                (u32::try_from(from).ok()?, piece)
            };
            let mut pieces = self.pieces.borrow_mut();
            if let Some(bytes) = pieces.get_mut(from as usize)?.add(&piece) {
                return Some((from, bytes));
            }
        }
    }
}

fn send(world: &SimpleCommunicator, gate: &MpiLock, to: u32, bytes: &[u8]) {
    let Ok(to) = i32::try_from(to) else { return };
    let _alone = locked(gate);
    let process = world.process_at_rank(to);
    for piece in cut(bytes) {
        process.buffered_send(piece.as_slice());
    }
}

/// Sends heartbeats while the disk blocks this rank; stops when the process's work ends.
pub struct HeartbeatThread {
    end: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl HeartbeatThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(heartbeat: Heartbeat, gate: MpiLock) -> io::Result<HeartbeatThread> {
        let end = Arc::new((Mutex::new(false), Condvar::new()));
        let ends = Arc::clone(&end);
        let thread = std::thread::Builder::new().name("beats".to_owned());
        let thread = thread.spawn(move || beat(&heartbeat, &gate, &ends))?;
        Ok(HeartbeatThread {
            end,
            thread: Some(thread),
        })
    }
}

impl Drop for HeartbeatThread {
    fn drop(&mut self) {
        let (is_over, changed) = &*self.end;
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // Nothing in it panics, and there would be no remedy.
            let _ = thread.join();
        }
    }
}

fn beat(heartbeat: &Heartbeat, gate: &MpiLock, end: &(Mutex<bool>, Condvar)) {
    let world = SimpleCommunicator::world();
    let number = |value: i32| u32::try_from(value).unwrap_or(0);
    let (bytes, to) = Heartbeat::beats(number(world.rank()), number(world.size()));
    let (is_over, changed) = end;
    let mut over = is_over.lock().unwrap_or_else(PoisonError::into_inner);
    while !*over {
        if heartbeat.is_needed() {
            to.clone().for_each(|to| send(&world, gate, to, &bytes));
        }
        let waited = changed.wait_timeout(over, BEAT_EVERY);
        over = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}
