//! Any bytes as what a witness is sent, and what must hold of what it keeps. A fuzz target
//! has it, too.

use stripewise_verify::witness::{Intake, WitnessFormatError};

/// What an intake made of a stream.
#[derive(Debug, PartialEq, Eq)]
struct Taken {
    received: Vec<u8>,
    run: Option<u64>,
    header: Option<String>,
    records: u64,
    dropped_bytes: u64,
    unfinished_bytes: u64,
}

/// The stream in pieces of up to this many bytes.
fn taken(bytes: &[u8], piece: usize) -> Result<Taken, WitnessFormatError> {
    let mut intake = Intake::default();
    let mut received = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        intake.take(piece, |bytes| received.extend_from_slice(bytes))?;
    }
    Ok(Taken {
        run: intake.run(),
        header: intake.header().map(str::to_owned),
        records: intake.covered.records,
        dropped_bytes: intake.covered.dropped_bytes,
        unfinished_bytes: intake.unfinished_bytes(),
        received,
    })
}

/// The first byte says into how large pieces the network cuts the rest.
pub fn witness(bytes: &[u8]) {
    let Some((piece, stream)) = bytes.split_first() else {
        return;
    };
    let whole = taken(stream, stream.len());
    assert_eq!(whole, taken(stream, usize::from(*piece)), "cut otherwise");
    let Ok(whole) = whole else { return };
    let accounted = whole.received.len() as u64 + whole.dropped_bytes + whole.unfinished_bytes;
    assert_eq!(accounted, stream.len() as u64, "{whole:?}");
    if whole.run.is_none() {
        assert!(whole.received.is_empty(), "{whole:?}");
        return;
    }
    // The stored stream is equivalent, and has nothing else.
    let again = taken(&whole.received, whole.received.len()).expect("a stream");
    let expected = Taken {
        dropped_bytes: 0,
        unfinished_bytes: 0,
        ..whole
    };
    assert_eq!(again, expected);
}
