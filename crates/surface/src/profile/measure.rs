//! Measures rates, access times, rereads and visits of a device.

use super::analyse::MOVING_NS_MIN;
use super::batches::SETTINGS;
use super::rotation::rotation;
use super::{AccessAt, BatchAt, Measured, Plan, RateAt, Spot};
use crate::device::{Device, ProbeIo, ProbeResult, StopReason};
use stripewise_stats::Random;

/// Bytes per read of a rate measurement.
const PIECE_BYTES: u64 = 512 << 10;
/// Reads started together.
const PIECES: u64 = 16;
/// Number of last reads in a full batch that are ignored.
const PIECES_WAITING: usize = 5;
/// Bytes of a single read.
const ACCESS_BYTES: u64 = 4096;
/// Further accesses are made in lots until the standard error of the average seek is this small a
/// fraction of it, up to this many, within this share of the time.
const ACCESSES_MORE: usize = 256;
const ACCESSES_MAX: usize = 6_144;
const SEEK_ERROR_MAX: f64 = 0.012;
const ACCESS_TIME_MAX: f64 = 0.35;
const FULL_STROKES: usize = 48;
const SHORT_STROKES: usize = 128;
/// A short distance back: beyond read-ahead, and at most a few cylinders.
const SHORT_BYTES: std::ops::Range<u64> = 4 << 20..12 << 20;
/// Batches of each size and number.
const BATCHES: usize = 32;
const REREADS: usize = 40;
const REREAD_BYTES: u64 = 64 << 10;
/// Sectors visited in turn: more than a drive's cache segments.
const SECTORS: u32 = 24;
const VISITS: u32 = 20;
/// A piece slower than this, and than this multiple of the usual time, is rechecked: in total, or
/// relative to the end of the preceding piece.
const SLOW_NS: u64 = 80_000_000;
const SLOW_TIMES: u64 = 8;
/// For the position of each place within its stretch: the same in all profiles.
const ASIDE_SEED: u64 = 1;
/// After this many consecutive failed reads, a place known to be readable is read.
const FAILED_MAX: u32 = 24;

/// The current measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Transfer rates.
    Rates,
    /// Access times.
    Accesses,
    /// Rotation.
    Rotation,
}

/// Measures a device by this plan. Measurements before a halt are kept. `on_progress` is called at the
/// start of each part.
pub fn measure<D: Device>(
    device: &mut D,
    plan: &Plan,
    on_progress: &mut dyn FnMut(Part),
) -> Measured {
    let begun_ns = device.now_ns();
    let mut surveyor = Surveyor {
        deadline_ns: begun_ns.saturating_add(plan.time_ns_max),
        random: Random::new(plan.seed),
        requests: Vec::new(),
        answers: Vec::new(),
        at_bytes: 0,
        readable: None,
        failed: 0,
        spots_before: 0,
        usual_ns: Vec::new(),
        measured: Measured {
            size_bytes: device.size_bytes(),
            ..Measured::default()
        },
        device,
    };
    let ended = surveyor.all(plan, on_progress);
    let mut measured = surveyor.measured;
    measured.stop_reason = ended.err();
    measured.duration_ns = device.now_ns() - begun_ns;
    measured.rates.sort_by_key(|rate| rate.offset_bytes);
    measured.spots = joined(std::mem::take(&mut measured.spots));
    measured
}

/// Adjacent spots of one type are merged, in whatever order they were found.
fn joined(mut spots: Vec<Spot>) -> Vec<Spot> {
    spots.sort_by_key(|spot| spot.offset_bytes);
    let mut all: Vec<Spot> = Vec::new();
    for spot in spots {
        match all.last_mut() {
            Some(last) if last.is_followed_by(&spot) => {
                last.length_bytes += spot.length_bytes;
                last.latency_ns = last.latency_ns.max(spot.latency_ns);
            }
            _ => all.push(spot),
        }
    }
    all
}

struct Surveyor<'d, D> {
    device: &'d mut D,
    deadline_ns: u64,
    random: Random,
    requests: Vec<ProbeIo>,
    answers: Vec<ProbeResult>,
    /// Position of the last read.
    at_bytes: u64,
    /// A place known to be readable.
    readable: Option<ProbeIo>,
    /// Consecutive failed reads.
    failed: u32,
    /// Number of spots known at that time.
    spots_before: usize,
    /// Durations of batches of pieces.
    usual_ns: Vec<u64>,
    measured: Measured,
}

impl<D: Device> Surveyor<'_, D> {
    /// Short measurements first: a full read may be interrupted.
    fn all(&mut self, plan: &Plan, on_progress: &mut dyn FnMut(Part)) -> Result<(), StopReason> {
        on_progress(Part::Rotation);
        self.rereads()?;
        self.visits()?;
        on_progress(Part::Accesses);
        self.accesses(plan.accesses)?;
        self.more_accesses(plan)?;
        self.strokes()?;
        if self.nothing_moves() {
            self.batches_of_sizes()?;
        }
        on_progress(Part::Rates);
        self.rates(plan)
    }

    fn submit(&mut self) -> Result<(), StopReason> {
        if self.device.now_ns() >= self.deadline_ns {
            return Err(StopReason::OutOfTime);
        }
        self.device.run_batch(&self.requests, &mut self.answers)?;
        for (io, answer) in self.requests.iter().zip(&self.answers) {
            match answer.whole {
                true => {
                    (self.failed, self.readable) = (0, Some(*io));
                    self.spots_before = self.measured.spots.len();
                }
                false => self.failed += 1,
            }
        }
        match self.failed >= FAILED_MAX {
            true => self.is_still_there(),
            false => Ok(()),
        }
    }

    /// Whether a place that was readable still is: bad spots are local, while a device that has
    /// gone fails everywhere.
    fn is_still_there(&mut self) -> Result<(), StopReason> {
        if let Some(readable) = self.readable {
            let mut answers = Vec::new();
            self.device.run_batch(&[readable], &mut answers)?;
            if answers.iter().all(|answer| answer.whole) {
                self.failed = 0;
                return Ok(());
            }
        }
        // Failures since it went are not spots of the disk.
        self.measured.spots.truncate(self.spots_before);
        Err(StopReason::Gone(match self.readable {
            Some(readable) => format!(
                "the device is gone: the last {} reads failed, and so does one at byte {}, which could be read before",
                self.failed, readable.offset_bytes
            ),
            None => format!("nothing can be read: all of {} reads failed", self.failed),
        }))
    }

    /// One read of whole sectors; returns its latency if it succeeded.
    fn one(&mut self, offset_bytes: u64, length_bytes: u64) -> Result<Option<u64>, StopReason> {
        self.requests.clear();
        self.requests
            .push(ProbeIo::read(offset_bytes, length_bytes as u32));
        self.submit()?;
        let answer = self.answers[0];
        self.at_bytes = offset_bytes;
        Ok(answer.whole.then_some(answer.latency_ns))
    }

    fn access(&mut self, offset_bytes: u64) -> Result<Option<AccessAt>, StopReason> {
        let from_bytes = self.at_bytes;
        let latency_ns = self.one(offset_bytes, ACCESS_BYTES)?;
        if latency_ns.is_none() {
            self.look_again(offset_bytes, ACCESS_BYTES)?;
        }
        Ok(latency_ns.map(|latency_ns| AccessAt {
            from_bytes,
            offset_bytes,
            latency_ns,
        }))
    }

    /// A random offset at which `length_bytes` fit, between two positions.
    fn place(&mut self, from: u64, to: u64) -> u64 {
        let room = to.saturating_sub(from + ACCESS_BYTES) / ACCESS_BYTES;
        let from = from / ACCESS_BYTES * ACCESS_BYTES;
        from + self.random.below(room as usize + 1) as u64 * ACCESS_BYTES
    }

    fn accesses(&mut self, count: usize) -> Result<(), StopReason> {
        let size = self.measured.size_bytes;
        for _ in 0..count {
            let at = self.place(0, size);
            let access = self.access(at)?;
            self.measured.accesses.extend(access);
        }
        Ok(())
    }

    /// Adds accesses if the average seek is not known accurately enough: if it is short and a
    /// revolution long, most of a read's latency is rotational delay.
    fn more_accesses(&mut self, plan: &Plan) -> Result<(), StopReason> {
        let Some(rotation) = rotation(&self.measured.visits) else {
            return Ok(());
        };
        let begun_ns = self.device.now_ns();
        let until_ns = begun_ns.saturating_add((plan.time_ns_max as f64 * ACCESS_TIME_MAX) as u64);
        while self.measured.accesses.len() < ACCESSES_MAX
            && self.device.now_ns() < until_ns
            && !self.seek_is_known(rotation.revolution_ns)
        {
            self.accesses(ACCESSES_MORE)?;
        }
        Ok(())
    }

    /// The relative accuracy of the mean latency minus half a revolution.
    fn seek_is_known(&self, revolution_ns: f64) -> bool {
        let times = self
            .measured
            .accesses
            .iter()
            .map(|one| one.latency_ns as f64);
        let times: Vec<f64> = times.collect();
        let n = times.len().max(2) as f64;
        let mean_ns = times.iter().sum::<f64>() / n;
        let squares: f64 = times.iter().map(|time| (time - mean_ns).powi(2)).sum();
        let error_ns = libm::sqrt(squares / (n - 1.0) / n);
        error_ns < SEEK_ERROR_MAX * (mean_ns - revolution_ns / 2.0)
    }

    /// The median of random reads is too short for moving parts.
    fn nothing_moves(&self) -> bool {
        let accesses = self.measured.accesses.iter();
        let mut times: Vec<u64> = accesses.map(|access| access.latency_ns).collect();
        times.sort_unstable();
        let middle_ns = times.get(times.len() / 2);
        middle_ns.is_some_and(|middle_ns| *middle_ns < MOVING_NS_MIN)
    }

    /// Reads of several sizes and numbers, in random order.
    fn batches_of_sizes(&mut self) -> Result<(), StopReason> {
        let size = self.measured.size_bytes;
        let mut order: Vec<(u32, u32)> = SETTINGS.repeat(BATCHES);
        self.random.shuffle(&mut order);
        for (bytes, reads) in order {
            let room = size.saturating_sub(u64::from(bytes) - ACCESS_BYTES);
            let places: Vec<u64> = (0..reads).map(|_| self.place(0, room)).collect();
            self.requests.clear();
            self.requests
                .extend(places.iter().map(|&at| ProbeIo::read(at, bytes)));
            self.submit()?;
            let last_ns = self.answers.iter().map(|answer| answer.latency_ns).max();
            if let Some(took_ns) = last_ns
                && self.answers.iter().all(|answer| answer.whole)
            {
                self.measured.batches.push(BatchAt {
                    bytes,
                    reads,
                    took_ns,
                });
            }
        }
        Ok(())
    }

    fn strokes(&mut self) -> Result<(), StopReason> {
        let size = self.measured.size_bytes;
        for number in 0..FULL_STROKES {
            let part = size / 200;
            let at = match number % 2 {
                0 => self.place(0, part),
                _ => self.place(size - part, size),
            };
            let access = self.access(at)?;
            // The first begins anywhere.
            if number > 0 {
                self.measured.full_strokes.extend(access);
            }
        }
        for _ in 0..SHORT_STROKES {
            let room = SHORT_BYTES.end.min(size / 8);
            let start = self.place(room, size);
            self.access(start)?;
            let back = self.place(SHORT_BYTES.start.min(room / 2), room);
            let at = (start - back.min(start)) / ACCESS_BYTES * ACCESS_BYTES;
            let access = self.access(at)?;
            self.measured.short_strokes.extend(access);
        }
        Ok(())
    }

    fn rereads(&mut self) -> Result<(), StopReason> {
        let size = self.measured.size_bytes;
        for bytes in [
            ACCESS_BYTES,
            REREAD_BYTES.min(size / 2 / ACCESS_BYTES * ACCESS_BYTES),
        ] {
            let at = self.place(0, size - bytes);
            for number in 0..REREADS {
                let latency_ns = self.one(at, bytes)?;
                if number > 0
                    && let Some(latency_ns) = latency_ns
                {
                    self.measured.rereads.push((bytes as u32, latency_ns));
                }
            }
        }
        Ok(())
    }

    fn visits(&mut self) -> Result<(), StopReason> {
        let size = self.measured.size_bytes;
        // Close together, so that seeks are short, but beyond read-ahead.
        let apart = (64u64 << 20).min(size / u64::from(SECTORS) / 2) / ACCESS_BYTES * ACCESS_BYTES;
        // In a different order each time: equal intervals would fit many periods.
        let mut order: Vec<u32> = (0..SECTORS).collect();
        for _ in 0..VISITS {
            self.random.shuffle(&mut order);
            for &number in &order {
                let begun_ns = self.device.now_ns();
                let at = u64::from(number) * apart;
                if let Some(latency_ns) = self.one(at, ACCESS_BYTES)? {
                    self.measured.visits.push((number, begun_ns + latency_ns));
                }
            }
        }
        Ok(())
    }

    fn rates(&mut self, plan: &Plan) -> Result<(), StopReason> {
        let size = self.measured.size_bytes;
        let batch = PIECES * PIECE_BYTES;
        let places = plan.places.max(1) as u64;
        // In a full read each stretch is read whole, otherwise a random part of it: evenly spaced
        // parts would begin at slowly drifting track angles, and the effect on rates looks like
        // zones. Two profiles of one disk read the same places.
        let stretch = (size / places).max(1);
        let length = match plan.full {
            true => stretch,
            false => batch.min(stretch),
        };
        let mut aside = Random::new(ASIDE_SEED);
        let mut order: Vec<(u64, u64)> = (0..places)
            .map(|number| (number, aside.below((stretch - length) as usize + 1) as u64))
            .collect();
        self.random.shuffle(&mut order);
        for (number, aside) in order {
            let from = size / places * number + aside;
            let from = from / ACCESS_BYTES * ACCESS_BYTES;
            let to = match plan.full && number + 1 == places {
                true => size,
                false => (from + length).min(size),
            };
            self.stretch(from, to)?;
        }
        Ok(())
    }

    /// The rate of a stretch: bytes after the first piece over the time after it, so that the
    /// initial seek is excluded.
    fn stretch(&mut self, from: u64, to: u64) -> Result<(), StopReason> {
        let sector = u64::from(self.device.sector_bytes());
        let (mut at, mut bytes, mut time_ns) = (from, 0u64, 0u64);
        while at < to {
            let end = (at + PIECES * PIECE_BYTES).min(to) / sector * sector;
            if end <= at {
                break;
            }
            let (counted, took_ns) = self.batch(at, end)?;
            bytes += counted;
            time_ns += took_ns;
            at = end;
        }
        if bytes > 0 && time_ns > 0 {
            self.measured.rates.push(RateAt {
                offset_bytes: from,
                length_bytes: to - from,
                bytes_per_s: bytes as f64 * 1e9 / time_ns as f64,
            });
        }
        Ok(())
    }

    /// One batch of pieces: the bytes that count, and their time.
    fn batch(&mut self, from: u64, to: u64) -> Result<(u64, u64), StopReason> {
        self.requests.clear();
        let mut at = from;
        while at < to {
            let length = PIECE_BYTES.min(to - at);
            self.requests.push(ProbeIo::read(at, length as u32));
            at += length;
        }
        self.submit()?;
        self.at_bytes = to;
        let answers = self.answers.clone();
        let requests = self.requests.clone();
        let whole = requests
            .iter()
            .zip(&answers)
            .filter(|(_, answer)| answer.whole);
        let read_bytes: u64 = whole.map(|(io, _)| u64::from(io.length_bytes)).sum();
        self.measured.bytes_read += read_bytes;
        let last_ns = answers.iter().map(|answer| answer.latency_ns).max();
        let last_ns = last_ns.unwrap_or(0);
        self.look_for_spots(&requests, &answers, last_ns)?;
        if read_bytes < to - from {
            // The time until a read fails is not a rate.
            return Ok((0, 0));
        }
        Ok(in_a_row(&requests, &answers).unwrap_or((to - from, last_ns)))
    }

    /// Rereads pieces that failed or took far longer than usual, individually.
    fn look_for_spots(
        &mut self,
        requests: &[ProbeIo],
        answers: &[ProbeResult],
        last_ns: u64,
    ) -> Result<(), StopReason> {
        let usual_ns = self.usual_ns.get(self.usual_ns.len() / 2).copied();
        let usual_ns = usual_ns.unwrap_or(SLOW_NS / SLOW_TIMES);
        let slow_ns = (usual_ns * SLOW_TIMES).max(SLOW_NS);
        let slow_behind_ns = (usual_ns / PIECES * SLOW_TIMES).max(SLOW_NS);
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|&piece| answers[piece].latency_ns);
        let mut before_ns = 0;
        for piece in order {
            let (io, answer) = (requests[piece], answers[piece]);
            let behind_ns = answer.latency_ns.saturating_sub(before_ns);
            before_ns = answer.latency_ns;
            if !answer.whole || answer.latency_ns > slow_ns || behind_ns > slow_behind_ns {
                self.look_again(io.offset_bytes, u64::from(io.length_bytes))?;
            }
        }
        let place = self.usual_ns.partition_point(|known| *known < last_ns);
        self.usual_ns.insert(place, last_ns);
        Ok(())
    }

    /// Narrows a slow piece down to its slow sixteenths. If the first or the last of them is slow,
    /// the adjacent area may be too: concurrent slow pieces end together, and the second one does
    /// not stand out.
    fn look_again(&mut self, offset_bytes: u64, length_bytes: u64) -> Result<(), StopReason> {
        let sector = u64::from(self.device.sector_bytes());
        let part = length_bytes / 16 / sector * sector;
        let part = part.max(ACCESS_BYTES).min(length_bytes);
        let end = offset_bytes + length_bytes;
        let (mut first, mut last) = (None, false);
        let mut at = offset_bytes;
        while at < end {
            last = self.is_spot(at, part.min(end - at))?;
            first.get_or_insert(last);
            at += part;
        }
        let beyond = (end + length_bytes).min(self.device.size_bytes()) / sector * sector;
        at = end;
        while last && at < beyond {
            last = self.is_spot(at, part.min(beyond - at))?;
            at += part;
        }
        let (mut first, mut at) = (first == Some(true), offset_bytes);
        while first && at >= part && at + length_bytes > offset_bytes {
            at -= part;
            first = self.is_spot(at, part)?;
        }
        Ok(())
    }

    /// Three reads of a place; a spot if none of them is fast. A failure for a reason other than
    /// the medium says nothing about the place.
    fn is_spot(&mut self, at: u64, length: u64) -> Result<bool, StopReason> {
        let known = |spot: &Spot| spot.offset_bytes == at;
        if self.measured.spots.iter().any(known) {
            return Ok(true);
        }
        let mut fastest_ns = None;
        for _ in 0..3 {
            let begun_ns = self.device.now_ns();
            let took_ns = self.one(at, length)?;
            if let Some(took_ns) = took_ns {
                fastest_ns = Some(fastest_ns.map_or(took_ns, |other: u64| other.min(took_ns)));
                if took_ns < SLOW_NS {
                    return Ok(false);
                }
            } else if !self.answers[0].medium_error {
                return Ok(false);
            } else if self.device.now_ns() - begun_ns > 10_000_000_000 {
                // Long retries are not repeated three times.
                break;
            }
        }
        self.measured.spots.push(Spot {
            offset_bytes: at,
            length_bytes: length,
            latency_ns: fastest_ns.unwrap_or(0),
            unreadable: fastest_ns.is_none(),
        });
        Ok(true)
    }
}

/// Bytes and time of the pieces of a batch that were processed consecutively while others waited:
/// excludes the initial seek and the last ones, between which idle drives miss revolutions. `None`
/// if all of them end nearly at once, as when they are not processed consecutively, or if those
/// that count do: held-back completions that are released together have no rate between them.
fn in_a_row(requests: &[ProbeIo], answers: &[ProbeResult]) -> Option<(u64, u64)> {
    let mut ends: Vec<(u64, u64)> = requests
        .iter()
        .zip(answers)
        .map(|(io, answer)| (answer.latency_ns, u64::from(io.length_bytes)))
        .collect();
    ends.sort_unstable();
    let (first_ns, last_ns) = (ends.first()?.0, ends.last()?.0);
    let one_by_one = ends.len() > 1 && (last_ns - first_ns) * 2 > last_ns;
    let waiting = match ends.len() as u64 {
        PIECES.. => PIECES_WAITING,
        _ => 0,
    };
    let counted = &ends[1..ends.len() - waiting];
    let bytes = counted.iter().map(|end| end.1).sum();
    let took_ns = counted.last()?.0 - first_ns;
    // Consecutive ones take equally long, or half of that.
    let even_ns = (last_ns - first_ns) / (ends.len() as u64 - 1).max(1) * counted.len() as u64;
    (one_by_one && took_ns * 2 > even_ns).then_some((bytes, took_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_were_held_back_and_let_go_together_have_no_rate_of_their_own() {
        let requests: Vec<ProbeIo> = (0..PIECES).map(|at| ProbeIo::read(at, 1 << 20)).collect();
        let rate = |end_ms: &dyn Fn(u64) -> u64| {
            let answers = (0..PIECES).map(|number| ProbeResult {
                latency_ns: end_ms(number) * 1_000_000,
                whole: true,
                medium_error: false,
            });
            in_a_row(&requests, &answers.collect::<Vec<_>>())
        };
        assert_eq!(rate(&|number| 10 + number), Some((10 << 20, 10_000_000)));
        // A limit releases the first, then ten at once, then the last five.
        let released = |number| match number {
            0 => 5,
            1..=10 => 100,
            _ => 200,
        };
        assert!(rate(&released).is_some());
        let burst = |number| match number {
            0..=10 => 100,
            _ => 400,
        };
        assert_eq!(rate(&burst), None);
    }

    #[test]
    fn spots_beside_each_other_are_one_in_whatever_order_they_were_met() {
        let spot = |offset_bytes, latency_ns| Spot {
            offset_bytes,
            length_bytes: 100,
            latency_ns,
            unreadable: latency_ns == 0,
        };
        let found = joined(vec![spot(300, 7), spot(100, 9), spot(200, 8), spot(400, 0)]);
        let expected = Spot {
            length_bytes: 300,
            ..spot(100, 9)
        };
        assert_eq!(found, [expected, spot(400, 0)]);
    }
}
