//! Messages by MPI: handed over in pieces that are sent at once, and looked for without
//! waiting. Six calls in all.

use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use std::cell::RefCell;
use stripewise_mpi::{Carrier, Pieces, cut};

/// All ranks of the job.
pub struct MpiCarrier {
    world: SimpleCommunicator,
    pieces: RefCell<Vec<Pieces>>,
}

impl MpiCarrier {
    /// Of this communicator.
    pub fn new(world: SimpleCommunicator) -> MpiCarrier {
        let size = usize::try_from(world.size()).unwrap_or(1);
        MpiCarrier {
            pieces: RefCell::new(vec![Pieces::default(); size]),
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
        let Ok(to) = i32::try_from(to) else { return };
        let process = self.world.process_at_rank(to);
        for piece in cut(&bytes) {
            process.buffered_send(piece.as_slice());
        }
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        loop {
            let status = self.world.any_process().immediate_probe()?;
            let from = status.source_rank();
            // It is there as a whole: small pieces are.
            let (piece, _) = self.world.process_at_rank(from).receive_vec::<u8>();
            let from = u32::try_from(from).ok()?;
            let mut pieces = self.pieces.borrow_mut();
            if let Some(bytes) = pieces.get_mut(from as usize)?.add(&piece) {
                return Some((from, bytes));
            }
        }
    }
}
