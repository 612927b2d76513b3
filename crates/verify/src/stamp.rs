//! The stamp at the start of every logical sector, and the whole sector.
//!
//! Drives tear at sectors, so each sector identifies itself. The identity of a write is in the
//! stamp, never inferred from a position in a stream of random numbers.

use crate::stream::{Sum, four_words, key, word, word_at, words_of};

/// Bytes of a stamp.
pub const STAMP_BYTES: usize = 64;
/// The smallest sector size.
pub const SECTOR_BYTES_MIN: u32 = 512;
/// "STRIPEW" and the layout version.
const MAGIC: u64 = u64::from_le_bytes(*b"STRIPEW\x01");
const WORDS: usize = STAMP_BYTES / 8;

/// The kind of operation that wrote a sector. Part of the format: numbers must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Origin {
    /// The first pass over everything.
    Fill = 0,
    /// A page at a random location.
    Page = 1,
    /// A checkpoint's burst.
    Checkpoint = 2,
    /// An append to the log.
    Log = 3,
    /// Pages gathered from many places in memory.
    Gather = 4,
    /// The pass over a whole device.
    Capacity = 5,
    /// A write before a power cut that a flush covers.
    Cut = 6,
    /// A page in a file that grows and shrinks.
    Grow = 7,
    /// A write of a measured workload.
    Load = 8,
}

// In the order of their numbers; named as in records.
stripewise_units::named!(
    Origin,
    Fill = "fill",
    Page = "page-write",
    Checkpoint = "checkpoint",
    Log = "log-append",
    Gather = "gather-write",
    Capacity = "capacity",
    Cut = "power-cut",
    Grow = "growing-file",
    Load = "load"
);

impl Origin {
    fn of(number: u16) -> Option<Origin> {
        Origin::ALL.get(usize::from(number)).copied()
    }
}

/// Contents of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The run that wrote it.
    pub run: u64,
    /// Number of the target within the run.
    pub target: u16,
    /// What kind of operation it was.
    pub origin: Origin,
    /// Generation of the block, from 1.
    pub generation: u32,
    /// The offset that it belongs to.
    pub offset_bytes: u64,
    /// The writing worker.
    pub worker: u16,
    /// Sequence number of that worker's write, 48 bits.
    pub sequence: u64,
    /// Sectors of the operation before this one.
    pub before: u32,
    /// Sectors of the operation.
    pub sectors: u32,
    /// Time of writing, nanoseconds since 1970.
    pub written_ns: u64,
}

impl Stamp {
    /// Start and end of its operation.
    pub fn operation(&self, sector_bytes: u32) -> std::ops::Range<u64> {
        let sector = u64::from(sector_bytes);
        let start = (self.offset_bytes).saturating_sub(u64::from(self.before) * sector);
        start..start.saturating_add(u64::from(self.sectors) * sector)
    }

    fn words(&self) -> [u64; WORDS] {
        let origin = self.origin as u64;
        [
            MAGIC,
            self.run,
            u64::from(self.target) | origin << 16 | u64::from(self.generation) << 32,
            self.offset_bytes,
            u64::from(self.worker) << 48 | (self.sequence & SEQUENCE_MAX),
            u64::from(self.before) | u64::from(self.sectors) << 32,
            self.written_ns,
            0,
        ]
    }

    fn of(bytes: &[u8]) -> Option<Stamp> {
        let at = |index| word_at(bytes, index);
        if at(0) != MAGIC {
            return None;
        }
        Some(Stamp {
            run: at(1),
            target: at(2) as u16,
            origin: Origin::of((at(2) >> 16) as u16)?,
            generation: (at(2) >> 32) as u32,
            offset_bytes: at(3),
            worker: (at(4) >> 48) as u16,
            sequence: at(4) & SEQUENCE_MAX,
            before: at(5) as u32,
            sectors: (at(5) >> 32) as u32,
            written_ns: at(6),
        })
    }
}

/// The largest sequence number of a worker's write.
pub const SEQUENCE_MAX: u64 = (1 << 48) - 1;

/// Writes a whole sector: the stamp and its stream.
///
/// # Panics
/// If `sector` is not a multiple of 32 bytes or is shorter than a stamp.
#[inline]
pub fn write_sector(stamp: &Stamp, sector: &mut [u8]) {
    let mut words = stamp.words();
    let key = key(stamp.run, stamp.offset_bytes, stamp.generation);
    let mut sum = Sum::new();
    sum.add([words[0], words[1], words[2], words[3]]);
    sum.add([words[4], words[5], words[6], 0]);
    let (head, data) = sector.split_at_mut(STAMP_BYTES);
    let (data, rest) = data.as_chunks_mut::<32>();
    assert!(rest.is_empty(), "sectors are whole words");
    let mut index = 0;
    for bytes in data {
        let four = four_words(key, index);
        sum.add(four);
        put(four, bytes.as_chunks_mut().0);
        index += 4;
    }
    words[WORDS - 1] = sum.value();
    put(words, head.as_chunks_mut().0);
}

#[inline]
fn put<const N: usize>(words: [u64; N], places: &mut [[u8; 8]]) {
    for (place, word) in places.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
}

/// The stamp of a sector with a valid checksum whose bytes all match its stream; `None` for any
/// other sector.
#[inline]
pub fn read_sector(sector: &[u8]) -> Option<Stamp> {
    let stamp = Stamp::of(sector)?;
    let key = key(stamp.run, stamp.offset_bytes, stamp.generation);
    let (head, data) = sector.split_at(STAMP_BYTES);
    let at = |index| word_at(head, index);
    let mut sum = Sum::new();
    sum.add([at(0), at(1), at(2), at(3)]);
    sum.add([at(4), at(5), at(6), 0]);
    let mut different = 0;
    let mut index = 0;
    for bytes in data.as_chunks().0 {
        let four = words_of(bytes);
        sum.add(four);
        for (found, written) in four.into_iter().zip(four_words(key, index)) {
            different |= found ^ written;
        }
        index += 4;
    }
    (different == 0 && sum.value() == at(WORDS - 1)).then_some(stamp)
}

/// The stamp of a sector, whatever the state of the rest: `None` if not even its beginning is that
/// of a stamp.
pub fn claimed(sector: &[u8]) -> Option<Stamp> {
    Stamp::of(sector)
}

/// The data after the stamp in a sector of this run, location and generation.
pub fn data_of(run: u64, offset_bytes: u64, generation: u32, sector_bytes: u32) -> Vec<u8> {
    let key = key(run, offset_bytes, generation);
    (0..u64::from(sector_bytes) / 8 - WORDS as u64)
        .flat_map(|index| word(key, index).to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamps() -> impl Strategy<Value = Stamp> {
        let place = (any::<u64>(), any::<u16>(), any::<u64>(), any::<u32>());
        let write = (any::<u16>(), 0..=SEQUENCE_MAX, any::<u32>(), any::<u32>());
        (place, write, any::<u64>(), 0..8_usize).prop_map(|(place, write, written_ns, origin)| {
            Stamp {
                run: place.0,
                target: place.1,
                origin: Origin::ALL[origin],
                generation: place.3,
                offset_bytes: place.2,
                worker: write.0,
                sequence: write.1,
                before: write.2,
                sectors: write.3,
                written_ns,
            }
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(stamp in stamps(), large in any::<bool>()) {
            let mut sector = vec![0; if large { 4096 } else { 512 }];
            write_sector(&stamp, &mut sector);
            prop_assert_eq!(read_sector(&sector), Some(stamp));
            let data = data_of(stamp.run, stamp.offset_bytes, stamp.generation, sector.len() as u32);
            prop_assert_eq!(&sector[STAMP_BYTES..], &data[..]);
        }

        #[test]
        fn no_flipped_bit_goes_unseen(stamp in stamps(), at in 0..4096_usize) {
            let mut sector = vec![0; 512];
            write_sector(&stamp, &mut sector);
            sector[at / 8] ^= 1 << (at % 8);
            prop_assert_eq!(read_sector(&sector), None);
        }
    }

    #[test]
    fn the_layout_stays_what_it_is() {
        let stamp = Stamp {
            run: 0x1122_3344_5566_7788,
            target: 3,
            origin: Origin::Log,
            generation: 5,
            offset_bytes: 1 << 33,
            worker: 7,
            sequence: 9,
            before: 1,
            sectors: 4,
            written_ns: 1_000_000_007,
        };
        let mut sector = vec![0; 512];
        write_sector(&stamp, &mut sector);
        assert_eq!(&sector[..8], b"STRIPEW\x01");
        assert_eq!(sector[16..24], [3, 0, 3, 0, 5, 0, 0, 0]);
        assert_eq!(sector[32..40], [9, 0, 0, 0, 0, 0, 7, 0]);
        // Images of earlier versions must be readable: these are part of the format.
        let golden = [
            word_at(&sector, 7),
            word_at(&sector, 8),
            word_at(&sector, 63),
        ];
        assert_eq!(golden, GOLDEN, "{golden:x?}");
    }

    const GOLDEN: [u64; 3] = [
        0x5878_dc98_0a14_5f67,
        0xe28d_fe1e_23a1_f5cc,
        0x6af3_fa71_c88f_751b,
    ];
}
