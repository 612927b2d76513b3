//! Input and storage of a witness: which flushes completed before the power failed.
//!
//! A witness's file is a greeting, a header (its length, the run's number, a text), and records of
//! 16 bytes. The stream is the same; over a network a line with the token comes first, and the
//! answer to it is [`READY`]. Anything that is not a record of the run is dropped and counted: a
//! record names its run and has a checksum.

use crate::cut::Durability;
use std::collections::BTreeMap;

/// The first line of a stream and of a file.
pub const GREETING: &[u8] = b"STRIPEWISE-WITNESS 1\n";
/// A witness's answer when it is ready for the head.
pub const READY: &[u8] = b"READY\n";
/// Sent afterwards about twice a second, whenever everything received is on its disk: an empty
/// line, so that a command's final output stays readable.
pub const ALIVE: &[u8] = b"\n";
/// A witness silent for this long is gone: it was stopped, or its network or disk failed.
pub const SILENCE_NS_MAX: u64 = 4_000_000_000;

/// Most of the time between two checks that counts as silence: if this process itself was stopped,
/// the witness's output may not have been read yet.
const LOOK_NS_MAX: u64 = 500_000_000;

/// Whether a witness is alive, from its output: pure, time is a parameter.
#[derive(Clone, Copy, Debug)]
pub struct WitnessLiveness {
    /// Bytes received at the last check.
    bytes_received: u64,
    looked_ns: u64,
    /// How long it has been silent; `None` until output is required.
    silent_ns: Option<u64>,
}

impl WitnessLiveness {
    /// For a witness that reports regularly from now on.
    pub fn expected(now_ns: u64) -> WitnessLiveness {
        WitnessLiveness {
            bytes_received: 0,
            looked_ns: now_ns,
            silent_ns: Some(0),
        }
    }

    /// For a command that may not be `stripewise witness`: only after its first report must it
    /// continue to report.
    pub fn perhaps(now_ns: u64) -> WitnessLiveness {
        WitnessLiveness {
            silent_ns: None,
            ..WitnessLiveness::expected(now_ns)
        }
    }

    /// Whether it is gone, given `bytes_received` bytes received in total. Called a few times a second.
    pub fn is_gone(&mut self, bytes_received: u64, now_ns: u64) -> bool {
        let passed_ns = now_ns.saturating_sub(self.looked_ns).min(LOOK_NS_MAX);
        self.looked_ns = now_ns;
        self.silent_ns = match bytes_received > self.bytes_received {
            true => Some(0),
            false => self.silent_ns.map(|silent_ns| silent_ns + passed_ns),
        };
        self.bytes_received = bytes_received;
        self.silent_ns
            .is_some_and(|silent_ns| silent_ns >= SILENCE_NS_MAX)
    }
}
/// Bytes of a record.
pub const RECORD_BYTES: usize = 16;
/// A header is no longer than this.
pub const HEADER_BYTES_MAX: usize = 1 << 20;
/// Length and run number before the header's text.
const FRAME_BYTES: usize = 12;

/// Content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessEvent {
    /// Writes 1 to `sequence` of a worker are made durable by this; 0: its first pass is.
    Durable(Durability),
    /// `sequence` milliseconds have passed since the run began.
    Clock,
    /// A write or flush of a worker failed; nothing further of it is durable.
    Failed,
    /// The run ended normally: the power did not fail.
    Ended,
}

impl WitnessEvent {
    fn number(self) -> u8 {
        match self {
            WitnessEvent::Durable(durability) => durability as u8,
            WitnessEvent::Clock => 16,
            WitnessEvent::Failed => 17,
            WitnessEvent::Ended => 18,
        }
    }

    fn of(number: u8) -> Option<WitnessEvent> {
        match number {
            16 => Some(WitnessEvent::Clock),
            17 => Some(WitnessEvent::Failed),
            18 => Some(WitnessEvent::Ended),
            other => Durability::of(other).map(WitnessEvent::Durable),
        }
    }
}

/// A 16-byte message to a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The lowest 16 bits of the run's number.
    pub run: u16,
    /// Number of the target.
    pub target: u16,
    /// The worker.
    pub worker: u16,
    /// The event.
    pub news: WitnessEvent,
    /// Writes 1 to this one of that worker had all completed when the flush was issued; 48
    /// bits.
    pub sequence: u64,
}

impl Record {
    /// Its encoding.
    pub fn bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..2].copy_from_slice(&self.run.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.target.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.worker.to_le_bytes());
        bytes[6] = self.news.number();
        bytes[7..13].copy_from_slice(&self.sequence.to_le_bytes()[..6]);
        let sum = crc24(&bytes[..13]).to_le_bytes();
        bytes[13..].copy_from_slice(&sum[..3]);
        bytes
    }

    /// From its bytes; `None` if they are not a record.
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
            news: WitnessEvent::of(bytes[6])?,
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

/// What is known to be durable: for each worker, its writes up to this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// By target and worker.
    sequences: BTreeMap<(u16, u16), u64>,
    /// Records taken.
    pub records: u64,
    /// Bytes that were not a record of this run.
    pub dropped_bytes: u64,
    /// The last time reported, milliseconds since the run began.
    pub clock_ms: u64,
    /// Time of the last report of durability, by that clock.
    pub last_flush_ms: u64,
    /// Writes and flushes that failed.
    pub failed: u64,
    /// It ended normally.
    pub ended: bool,
}

impl Covered {
    /// Writes 1 to this one of a worker are durable; 0: its first pass is; `None`: nothing.
    pub fn sequence(&self, target: u16, worker: u16) -> Option<u64> {
        self.sequences.get(&(target, worker)).copied()
    }

    /// Takes the bytes after the header, records of the run with this number; returns how many were
    /// consumed. The rest is the beginning of an incomplete record.
    pub fn take(&mut self, run: u64, bytes: &[u8]) -> usize {
        self.take_and(run, bytes, |_| {})
    }

    /// The same, passing on the bytes of each valid record.
    pub fn take_and(&mut self, run: u64, bytes: &[u8], mut show: impl FnMut(&[u8])) -> usize {
        let mut at = 0;
        while let Some(sixteen) = bytes.get(at..at + RECORD_BYTES) {
            let mut record = [0; RECORD_BYTES];
            record.copy_from_slice(sixteen);
            match Record::of(&record).filter(|record| record.run == run as u16) {
                Some(record) => {
                    self.book(&record);
                    show(sixteen);
                    at += RECORD_BYTES;
                }
                // Records may continue somewhere after it.
                None => {
                    self.dropped_bytes += 1;
                    at += 1;
                }
            }
        }
        at
    }

    fn book(&mut self, record: &Record) {
        self.records += 1;
        match record.news {
            WitnessEvent::Durable(_) => {
                let place = (record.target, record.worker);
                let sequence = self.sequences.entry(place).or_insert(0);
                *sequence = (*sequence).max(record.sequence);
                self.last_flush_ms = self.clock_ms;
            }
            WitnessEvent::Clock => self.clock_ms = self.clock_ms.max(record.sequence),
            WitnessEvent::Failed => self.failed += 1,
            WitnessEvent::Ended => self.ended = true,
        }
    }
}

/// The head of a stream or a file.
pub fn head(run: u64, header: &str) -> Vec<u8> {
    let mut bytes = GREETING.to_vec();
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&run.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes
}

/// Why bytes are not from a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessFormatError {
    /// Invalid greeting.
    Greeting,
    /// The header is too long, or not text.
    Header,
}

/// The beginning of a stream or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// The run's number.
    pub run: u64,
    /// The header's text.
    pub header: &'a str,
    /// Its length in bytes; records follow.
    pub bytes: usize,
}

/// The head, once it is complete; `None` until then.
///
/// # Errors
/// If these bytes cannot begin one.
pub fn parse_head(bytes: &[u8]) -> Result<Option<Head<'_>>, WitnessFormatError> {
    let begun = bytes.len().min(GREETING.len());
    if bytes[..begun] != GREETING[..begun] {
        return Err(WitnessFormatError::Greeting);
    }
    let Some(frame) = bytes.get(GREETING.len()..GREETING.len() + FRAME_BYTES) else {
        return Ok(None);
    };
    let (length, run) = frame.split_at(4);
    let number = |bytes: &[u8]| {
        let little_end_first = bytes.iter().rev();
        little_end_first.fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let length = number(length) as usize;
    if length > HEADER_BYTES_MAX {
        return Err(WitnessFormatError::Header);
    }
    let start = GREETING.len() + FRAME_BYTES;
    let Some(header) = bytes.get(start..start + length) else {
        return Ok(None);
    };
    let header = std::str::from_utf8(header).map_err(|_| WitnessFormatError::Header)?;
    Ok(Some(Head {
        run: number(run),
        header,
        bytes: start + length,
    }))
}

/// A witness's input processing: the head first, then records.
#[derive(Debug, Default)]
pub struct Intake {
    /// Bytes not consumed yet.
    rest: Vec<u8>,
    run: Option<u64>,
    header: String,
    /// Content of the records.
    pub covered: Covered,
}

impl Intake {
    /// Takes bytes as they arrive; passes what belongs in the witness's file to `keep`.
    ///
    /// # Errors
    /// If the stream is not a witness's.
    pub fn take(
        &mut self,
        bytes: &[u8],
        mut keep: impl FnMut(&[u8]),
    ) -> Result<(), WitnessFormatError> {
        self.rest.extend_from_slice(bytes);
        let mut used = 0;
        if self.run.is_none()
            && let Some(head) = parse_head(&self.rest)?
        {
            keep(&self.rest[..head.bytes]);
            (self.run, used) = (Some(head.run), head.bytes);
            self.header = head.header.to_owned();
        }
        if let Some(run) = self.run {
            used += (self.covered).take_and(run, &self.rest[used..], keep);
            self.rest.drain(..used);
        }
        Ok(())
    }

    /// The run's number, once the head is complete.
    pub fn run(&self) -> Option<u64> {
        self.run
    }

    /// The header's text, once complete.
    pub fn header(&self) -> Option<&str> {
        self.run.map(|_| self.header.as_str())
    }

    /// Trailing bytes that are not a complete record: dropped, too.
    pub fn unfinished_bytes(&self) -> u64 {
        self.rest.len() as u64
    }
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
            news: WitnessEvent::Durable(Durability::Flush),
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
            prop_assert_eq!(covered.sequence(1, 1), Some(9));
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
        assert_eq!(covered.sequence(1, 1), None);
    }

    #[test]
    fn what_a_witness_keeps_is_the_head_and_the_records() {
        let mut stream = head(7, "{\"request\": {}}");
        let whole = stream.len();
        for sequence in 0..20 {
            stream.extend(record(1, sequence).bytes());
            stream.extend(b"noise");
        }
        stream.extend(&record(1, 99).bytes()[..9]);
        // In pieces of any size.
        for size in [1, 3, 16, 50, stream.len()] {
            let (mut intake, mut file) = (Intake::default(), Vec::new());
            for piece in stream.chunks(size) {
                let taken = intake.take(piece, |bytes| file.extend_from_slice(bytes));
                taken.expect("a stream");
            }
            assert_eq!(intake.run(), Some(7));
            assert_eq!(intake.covered.sequence(1, 1), Some(19));
            assert_eq!(intake.covered.records, 20);
            assert_eq!(
                intake.covered.dropped_bytes + intake.unfinished_bytes(),
                109
            );
            assert_eq!(file.len(), whole + 20 * RECORD_BYTES, "pieces of {size}");
            let parsed = parse_head(&file).expect("a file").expect("all of its head");
            assert_eq!((parsed.run, parsed.bytes), (7, whole));
        }
    }

    #[test]
    fn a_witness_that_says_nothing_any_more_is_gone_within_five_seconds() {
        const TICK: u64 = 100_000_000;
        // Ten checks a second; its output at each; when it was found gone.
        let gone_after = |mut liveness: WitnessLiveness, bytes_received: fn(u64) -> u64| {
            (1..=3_000).find(|tick| liveness.is_gone(bytes_received(*tick), tick * TICK))
        };
        let alive = |tick| tick / 5;
        let stopped = |tick: u64| tick.min(102) / 5;
        let mute = |_| 0;
        assert_eq!(gone_after(WitnessLiveness::expected(0), alive), None);
        assert_eq!(gone_after(WitnessLiveness::perhaps(0), alive), None);
        assert_eq!(gone_after(WitnessLiveness::expected(0), stopped), Some(140));
        assert_eq!(gone_after(WitnessLiveness::perhaps(0), stopped), Some(140));
        assert_eq!(gone_after(WitnessLiveness::expected(0), mute), Some(40));
        assert_eq!(gone_after(WitnessLiveness::perhaps(0), mute), None);
        // A process that was itself stopped has not read the output meanwhile.
        let mut liveness = WitnessLiveness::expected(0);
        assert!(!liveness.is_gone(0, 3_600_000 * TICK));
        assert!(!liveness.is_gone(1, 3_600_001 * TICK));
    }

    #[test]
    fn what_is_no_stream_is_refused_at_once() {
        assert_eq!(
            parse_head(b"#!/bin/sh\n"),
            Err(WitnessFormatError::Greeting)
        );
        assert_eq!(parse_head(b"S"), Ok(None));
        assert_eq!(parse_head(&head(7, "{}")[..30]), Ok(None));
        let mut long = GREETING.to_vec();
        long.extend([0xff; 12]);
        assert_eq!(parse_head(&long), Err(WitnessFormatError::Header));
        let mut intake = Intake::default();
        assert!(intake.take(b"GET / HTTP/1.1", |_| {}).is_err());
    }

    #[test]
    fn time_failures_and_an_orderly_end_are_told() {
        let mut covered = Covered::default();
        let of = |news, sequence| Record {
            news,
            ..record(1, sequence)
        };
        for one in [
            of(WitnessEvent::Clock, 400),
            of(WitnessEvent::Durable(Durability::Fua), 3),
            of(WitnessEvent::Clock, 500),
            of(WitnessEvent::Failed, 4),
            of(WitnessEvent::Ended, 0),
        ] {
            covered.take(7, &one.bytes());
        }
        assert_eq!((covered.clock_ms, covered.last_flush_ms), (500, 400));
        assert_eq!((covered.failed, covered.ended), (1, true));
        assert_eq!(covered.sequence(1, 1), Some(3));
    }
}
