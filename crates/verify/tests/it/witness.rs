//! What a witness is sent over a network that cuts it anywhere, with whatever in between.

use crate::anything;
use proptest::prelude::*;
use stripewise_verify::cut::Durability;
use stripewise_verify::witness::{Record, WitnessEvent, head};

const RUN: u64 = 0x1234_5678_90ab_cdef;

fn record(worker: u16, sequence: u64) -> Vec<u8> {
    let record = Record {
        run: RUN as u16,
        target: 0,
        worker,
        news: WitnessEvent::Durable(Durability::Flush),
        sequence,
    };
    record.bytes().to_vec()
}

proptest! {
    #[test]
    fn what_is_kept_is_a_stream_however_it_came(
        piece: u8,
        parts in prop::collection::vec(
            prop_oneof![
                (any::<u16>(), 0..1_u64 << 48).prop_map(|(worker, sequence)| record(worker, sequence)),
                prop::collection::vec(any::<u8>(), 0..40),
            ],
            0..20,
        ),
        changed in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut bytes = vec![piece];
        bytes.extend(head(RUN, "{}"));
        bytes.extend(parts.concat());
        if let Some((place, value)) = changed {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        anything::witness(&bytes);
    }
}
