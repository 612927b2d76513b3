//! What a witness is told, and what it keeps: which flushes completed before the power went.
//!
//! A stream is a line that says what it is, a token, a header, and records of 16 bytes; the
//! file that a witness keeps is the same without the token. Whatever is no record of the
//! run is dropped and counted: a record names its run and has a checksum.

use crate::cut::Durability;
use std::collections::BTreeMap;

/// The first line of a stream and of a file.
pub const GREETING: &[u8] = b"STRIPEWISE-WITNESS 1\n";
/// Bytes of a record.
pub const RECORD_BYTES: usize = 16;
/// A header is no longer than this.
pub const HEADER_BYTES_MAX: usize = 1 << 20;

/// A flush, or a write that is durable by itself, has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The lowest 16 bits of the run's number.
    pub run: u16,
    /// Number of the target.
    pub target: u16,
    /// Whose writes it covers.
    pub worker: u16,
    /// By what.
    pub kind: Durability,
    /// Writes 1 to this one of that worker had all completed when the flush was issued; 48
    /// bits.
    pub sequence: u64,
}

impl Record {
    /// As it is sent.
    #[must_use]
    pub fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..2].copy_from_slice(&self.run.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.target.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.worker.to_le_bytes());
        bytes[6] = self.kind as u8;
        bytes[7..13].copy_from_slice(&self.sequence.to_le_bytes()[..6]);
        let sum = crc24(&bytes[..13]).to_le_bytes();
        bytes[13..].copy_from_slice(&sum[..3]);
        bytes
    }

    /// From its bytes; `None` where they are no record.
    #[must_use]
    pub fn of(bytes: &[u8; RECORD_BYTES]) -> Option<Record> {
        let sum = u32::from_le_bytes([bytes[13], bytes[14], bytes[15], 0]);
        if crc24(&bytes[..13]) != sum {
            return None;
        }
        let mut sequence = [0; 8];
        sequence[..6].copy_from_slice(&bytes[7..13]);
        Some(Record {
            run: u16::from_le_bytes([bytes[0], bytes[1]]),
            target: u16::from_le_bytes([bytes[2], bytes[3]]),
            worker: u16::from_le_bytes([bytes[4], bytes[5]]),
            kind: Durability::of(bytes[6])?,
            sequence: u64::from_le_bytes(sequence),
        })
    }
}

/// The 24-bit checksum of OpenPGP (RFC 4880, section 6.1).
fn crc24(bytes: &[u8]) -> u32 {
    let mut crc = 0x00b7_04ce_u32;
    for byte in bytes {
        crc ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= 0x0186_4cfb;
            }
        }
    }
    crc & 0x00ff_ffff
}

/// What is known to be durable: of each worker, its writes up to this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// By target and worker.
    sequences: BTreeMap<(u16, u16), u64>,
    /// Records that were taken.
    pub records: u64,
    /// Bytes that were no record of this run.
    pub dropped_bytes: u64,
}

impl Covered {
    /// Writes 1 to this one of a worker are durable; 0: none.
    #[must_use]
    pub fn sequence(&self, target: u16, worker: u16) -> u64 {
        self.sequences.get(&(target, worker)).copied().unwrap_or(0)
    }

    /// Takes what follows the header, records of the run with this number; returns how many
    /// bytes were used up. What is left is the beginning of a record that is not all there.
    pub fn take(&mut self, run: u64, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(sixteen) = bytes.get(at..at + RECORD_BYTES) {
            let mut record = [0; RECORD_BYTES];
            record.copy_from_slice(sixteen);
            match Record::of(&record).filter(|record| record.run == run as u16) {
                Some(record) => {
                    let place = (record.target, record.worker);
                    let sequence = self.sequences.entry(place).or_insert(0);
                    *sequence = (*sequence).max(record.sequence);
                    self.records += 1;
                    at += RECORD_BYTES;
                }
                // Somewhere behind it the records may go on.
                None => {
                    self.dropped_bytes += 1;
                    at += 1;
                }
            }
        }
        at
    }
}

/// A header in front of records: its length, and itself.
#[must_use]
pub fn framed(header: &str) -> Vec<u8> {
    let mut bytes = (header.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes
}

/// Why a witness's file is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWitness {
    /// It does not begin as one.
    Greeting,
    /// Its header is cut off, or too long, or no text.
    Header,
}

/// The header of a witness's file, and the records behind it.
///
/// # Errors
/// Where the file is none of a witness.
pub fn parse_file(bytes: &[u8]) -> Result<(&str, &[u8]), NoWitness> {
    let rest = bytes.strip_prefix(GREETING).ok_or(NoWitness::Greeting)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(NoWitness::Header)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > HEADER_BYTES_MAX {
        return Err(NoWitness::Header);
    }
    let (header, records) = rest.split_at_checked(length).ok_or(NoWitness::Header)?;
    let header = std::str::from_utf8(header).map_err(|_| NoWitness::Header)?;
    Ok((header, records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(worker: u16, sequence: u64) -> Record {
        Record {
            run: 7,
            target: 1,
            worker,
            kind: Durability::Flush,
            sequence,
        }
    }

    proptest! {
        #[test]
        fn records_come_back(target: u16, worker: u16, sequence in 0..1_u64 << 48) {
            let one = Record { target, ..record(worker, sequence) };
            prop_assert_eq!(Record::of(&one.bytes()), Some(one));
        }

        #[test]
        fn no_changed_bit_is_a_record(at in 0..128_usize, sequence in 0..1_u64 << 48) {
            let mut bytes = record(3, sequence).bytes();
            bytes[at / 8] ^= 1 << (at % 8);
            prop_assert_eq!(Record::of(&bytes), None);
        }

        #[test]
        fn whatever_is_between_records_is_dropped_and_counted(noise in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut stream = record(1, 5).bytes().to_vec();
            stream.extend(&noise);
            stream.extend(record(1, 9).bytes());
            let mut covered = Covered::default();
            covered.take(7, &stream);
            prop_assert_eq!(covered.sequence(1, 1), 9);
            prop_assert_eq!(covered.records, 2);
            prop_assert_eq!(covered.dropped_bytes, noise.len() as u64);
        }
    }

    #[test]
    fn records_of_another_run_and_half_ones_cover_nothing() {
        let mut covered = Covered::default();
        let other = Record {
            run: 8,
            ..record(1, 100)
        };
        assert_eq!(
            covered.take(7, &other.bytes()),
            1,
            "the rest may begin a record"
        );
        assert_eq!(covered.take(7, &record(1, 5).bytes()[..15]), 0);
        assert_eq!(covered.sequence(1, 1), 0);
    }

    #[test]
    fn a_file_is_a_greeting_a_header_and_records() {
        let mut file = GREETING.to_vec();
        file.extend(framed("{}"));
        file.extend(record(1, 5).bytes());
        let (header, records) = parse_file(&file).expect("a file");
        assert_eq!((header, records.len()), ("{}", 16));
        assert_eq!(parse_file(b"#!/bin/sh\n"), Err(NoWitness::Greeting));
        assert_eq!(parse_file(&file[..22]), Err(NoWitness::Header));
    }
}
