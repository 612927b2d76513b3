//! Speed of making and checking sectors on one processor, by the clock; on a machine with other
//! load use `time` for the CPU time.
//!
//! `speed [MiB]`: makes and checks a buffer of 8 MiB until that many are done (default 64), once
//! with sectors of 512 bytes and once with 4096, and prints bytes per second.

use std::time::Instant;
use stripewise_verify::stamp::{Origin, Stamp, read_sector, write_sector};

const BUFFER_BYTES: usize = 8 << 20;

fn main() {
    let mib = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let rounds = (mib.unwrap_or(64) << 20) / BUFFER_BYTES as u64;
    let mut buffer = vec![0; BUFFER_BYTES];
    for sector_bytes in [512, 4096] {
        let start = Instant::now();
        for round in 0..rounds {
            fill(&mut buffer, sector_bytes, round);
        }
        let made = rate(rounds, start);
        let start = Instant::now();
        let mut right = 0;
        for _ in 0..rounds {
            let sectors = buffer.chunks_exact(sector_bytes);
            right += sectors
                .filter(|sector| read_sector(sector).is_some())
                .count() as u64;
        }
        let checked = rate(rounds, start);
        assert_eq!(right, rounds * (BUFFER_BYTES / sector_bytes) as u64);
        println!("sectors of {sector_bytes}: made {made:.2} GB/s, checked {checked:.2} GB/s");
    }
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

fn rate(rounds: u64, start: Instant) -> f64 {
    let bytes = (rounds * BUFFER_BYTES as u64) as f64;
    bytes / start.elapsed().as_secs_f64() / 1e9
}
