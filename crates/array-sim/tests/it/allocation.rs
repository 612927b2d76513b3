//! No allocation per operation, counted by the allocator.

use crate::target;
use stripewise_array_sim::{Array, Finished, Kind, Request, Simulate};

/// Runs a closed loop of `outstanding` for `operations`; `batch` is reused.
fn churn(
    array: &mut Array,
    batch: &mut Vec<Finished>,
    kind: Kind,
    random: &mut u64,
    operations: u64,
) {
    let blocks = array.size_bytes() / 8_192;
    let mut done = 0;
    while done < operations {
        let next_ns = array
            .next_event_ns()
            .expect("the loop keeps the array busy");
        array.advance(next_ns, &mut |finished| batch.push(finished));
        for finished in batch.drain(..) {
            *random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            done += 1;
            array.submit(
                finished.at_ns,
                Request {
                    token: finished.token,
                    kind,
                    durable: false,
                    offset_bytes: (*random >> 16) % blocks * 8_192,
                    length_bytes: 8_192,
                },
            );
        }
    }
}

#[test]
fn a_steady_load_allocates_nothing() {
    for (name, kind) in [
        ("oja-nisula-2007?offset=63s", Kind::Read),
        ("oja-nisula-2007?offset=63s", Kind::Write),
        ("raid5-7k2?offset=63s&iops=5000", Kind::Write),
        (
            "raid5-7k2?level=6&disks=6&cache=16M&failed_per_million=100",
            Kind::Write,
        ),
        ("disk-15k?scheduling=first-come", Kind::Read),
        ("mssqltips-2127", Kind::Write),
        ("nvme", Kind::Write),
    ] {
        let mut array = target(name).build();
        let mut batch = Vec::with_capacity(4_096);
        let mut random = 1;
        for token in 0..256 {
            array.submit(
                0,
                Request {
                    token,
                    kind,
                    durable: false,
                    offset_bytes: token * 1_048_576,
                    length_bytes: 8_192,
                },
            );
        }
        // Queues grow to their working size first.
        churn(&mut array, &mut batch, kind, &mut random, 5_000);
        let counted = allocation_counter::measure(|| {
            churn(&mut array, &mut batch, kind, &mut random, 20_000);
        });
        assert_eq!(counted.count_total, 0, "{name} {kind:?}");
    }
}
