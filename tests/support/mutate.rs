//! Bytes changed at random, the same in every run.
//!
//! Integration tests of several crates include this file by its path, so each
//! leaves a part of it unused.

#![allow(dead_code)]

/// xorshift64*, seeded.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % limit
    }

    /// A text with bytes changed, put in or cut off.
    pub fn text(&mut self, text: &str) -> Vec<u8> {
        const PUT_IN: &[u8] = b"{}[]\"=,#9-";
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(5) {
            let at = usize::try_from(self.below(bytes.len() as u64)).unwrap();
            match self.below(3) {
                0 => bytes[at] = self.below(256) as u8,
                1 => bytes.truncate(at + 1),
                _ => {
                    let which = usize::try_from(self.below(PUT_IN.len() as u64)).unwrap();
                    bytes.insert(at, PUT_IN[which]);
                }
            }
        }
        bytes
    }

    /// A disk of 256 KiB or a little more, changed where parsers read.
    pub fn disk(&mut self, disk: &[u8]) -> Vec<u8> {
        const SIZE: u64 = 256 << 10;
        const HOT: [u64; 10] = [
            0,
            446,
            512,
            1024,
            4096,
            4608,
            65_536,
            SIZE - 512,
            SIZE - 4096,
            SIZE - 8192,
        ];
        let mut bytes = disk.to_vec();
        for _ in 0..=self.below(6) {
            let base = HOT[usize::try_from(self.below(HOT.len() as u64)).unwrap()];
            let at = (base + self.below(256)).min(SIZE - 8);
            let at = usize::try_from(at).unwrap();
            let value = [0, 1, 0x7f, 0x80, 0xff, self.below(256) as u8]
                [usize::try_from(self.below(6)).unwrap()];
            let length = [1, 2, 4, 8][usize::try_from(self.below(4)).unwrap()];
            bytes[at..at + length].fill(value);
        }
        if self.below(4) == 0 {
            bytes.truncate(usize::try_from(self.below(SIZE)).unwrap());
        }
        bytes
    }
}
