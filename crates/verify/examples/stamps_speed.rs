//! Speed of making and checking sectors, beside that of copying memory in the same seconds.
//!
//! `stamps_speed [MiB]`: makes, checks, poisons and checks, and copies a buffer until that many MiB
//! are done (default 64), for sectors of 512 and 4096 bytes and for buffers of 128 KiB, which stay
//! in a cache, and of 64 MiB, which do not. Rates are per second of the thread's processor time
//! (`/proc/thread-self/schedstat`), the best of three.

use std::hint::black_box;
use stripewise_verify::sector_reading::fill_with_poison;
use stripewise_verify::stamp::{Origin, Stamp, read_sector, write_sector};

const BUFFERS: [usize; 2] = [128 << 10, 64 << 20];
const ATTEMPTS: usize = 3;

fn main() {
    let mib = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let total = mib.unwrap_or(64_u64) << 20;
    for buffer_bytes in BUFFERS {
        let rounds = total.div_ceil(buffer_bytes as u64);
        let mut buffer = vec![1; buffer_bytes];
        let mut copy = vec![2; buffer_bytes];
        let rate = |work: &mut dyn FnMut(u64)| {
            let attempt = |work: &mut dyn FnMut(u64)| {
                let start = processor_ns();
                (0..rounds).for_each(work);
                (rounds * buffer_bytes as u64) as f64 / (processor_ns() - start) as f64
            };
            (0..ATTEMPTS).map(|_| attempt(work)).fold(0.0, f64::max)
        };
        for sector_bytes in [512, 4096] {
            let made = rate(&mut |round| fill(&mut buffer, sector_bytes, round));
            let checked = rate(&mut |_| check(&buffer, sector_bytes));
            let poisoned = rate(&mut |round| fill_with_poison(round, black_box(&mut copy)));
            let copied = rate(&mut |_| black_box(&mut copy).copy_from_slice(&buffer));
            let both = 1.0 / (1.0 / checked + 1.0 / poisoned);
            println!(
                "{:6} KiB, sectors of {sector_bytes:4}: made {made:.2} GB/s, checked {checked:.2}, \
                 poisoned {poisoned:.2}, poisoned and checked {both:.2}, copied {copied:.2}",
                buffer_bytes >> 10
            );
        }
    }
}

fn check(buffer: &[u8], sector_bytes: usize) {
    let mut sectors = black_box(buffer).chunks_exact(sector_bytes);
    assert!(sectors.all(|sector| read_sector(sector).is_some()));
}

fn fill(buffer: &mut [u8], sector_bytes: usize, round: u64) {
    let mut stamp = Stamp {
        run: 1,
        target: 0,
        origin: Origin::Fill,
        generation: round as u32 + 1,
        offset_bytes: 0,
        worker: 0,
        sequence: round,
        before: 0,
        sectors: (buffer.len() / sector_bytes) as u32,
        written_ns: round,
    };
    for sector in buffer.chunks_exact_mut(sector_bytes) {
        write_sector(&stamp, sector);
        stamp.offset_bytes += sector_bytes as u64;
        stamp.before += 1;
    }
}

/// Processor time of this thread.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let first = text.split_whitespace().next().expect("a number");
    first.parse().expect("a number")
}
