//! Splits messages into pieces that MPI sends immediately.
//!
//! A larger message waits for its receiver, and receiving one waits for its sender: a
//! stopped host would block the others. Pieces below the smallest eager limit
//! of Open MPI's transports (4 KiB for shared memory, headers included) are sent
//! without waiting.

/// Maximum bytes of a piece, including the marker at its end.
pub const PIECE_BYTES_MAX: usize = 3_072;

const MORE: u8 = 1;
const LAST: u8 = 0;

/// The pieces of a message.
pub fn cut(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let pieces = bytes.len().div_ceil(PIECE_BYTES_MAX - 1).max(1);
    (0..pieces).map(move |number| {
        let from = number * (PIECE_BYTES_MAX - 1);
        let to = bytes.len().min(from + PIECE_BYTES_MAX - 1);
        let mut piece = bytes[from..to].to_vec();
        piece.push(if number + 1 < pieces { MORE } else { LAST });
        piece
    })
}

/// Reassembles the pieces of one sender, which arrive in order.
#[derive(Clone, Debug, Default)]
pub struct MessageAssembler {
    bytes: Vec<u8>,
}

impl MessageAssembler {
    /// Adds a piece; returns the message if it is the last.
    pub fn add(&mut self, piece: &[u8]) -> Option<Vec<u8>> {
        let (mark, bytes) = piece.split_last()?;
        self.bytes.extend_from_slice(bytes);
        (*mark == LAST).then(|| std::mem::take(&mut self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_whatever_its_length() {
        for length in [
            0,
            1,
            PIECE_BYTES_MAX - 1,
            PIECE_BYTES_MAX,
            3 * PIECE_BYTES_MAX,
            100_000,
        ] {
            let message: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let mut pieces = MessageAssembler::default();
            let mut whole = Vec::new();
            for piece in cut(&message) {
                assert!(piece.len() <= PIECE_BYTES_MAX);
                whole.extend(pieces.add(&piece));
            }
            assert_eq!(whole, [message], "{length}");
        }
    }
}
