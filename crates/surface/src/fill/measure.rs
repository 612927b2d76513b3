//! Fills a device, step by step.

use super::{Curve, Step, Written};
use crate::device::{Device, ProbeIo, ProbeResult, StopReason};

/// Bytes of one write.
const PIECE_BYTES: u64 = 512 << 10;
/// Most writes started together.
const PIECES_MAX: u64 = 32;
/// Fewest steps of a whole fill, unless pieces would have to be smaller.
const STEPS: u64 = 512;
/// Writing after a rest ends when this many consecutive steps are slow.
const SLOW_STEPS: usize = 16;
/// Failed bytes after which the fill is abandoned.
const FAILED_BYTES_MAX: u64 = 64 << 20;

/// Amount to write.
#[derive(Clone, Copy, Debug)]
pub struct FillPlan {
    /// From byte 0.
    pub bytes: u64,
    /// Time limit for writing.
    pub time_ns_max: u64,
}

/// Bytes of one step of a fill of `bytes`.
pub fn step_bytes(bytes: u64) -> u64 {
    (bytes / STEPS / PIECE_BYTES).clamp(4, PIECES_MAX) * PIECE_BYTES
}

/// Writes from byte 0, once. `temperature` is called after each step.
pub fn write<D: Device>(
    device: &mut D,
    plan: &FillPlan,
    temperature: &mut dyn FnMut() -> Option<i64>,
) -> Written {
    let mut writer = Writer::new(device, plan, temperature);
    let ended = writer.until(plan.bytes, |_| false);
    writer.written(ended)
}

/// Rests, then writes again from byte 0, until the rate is that after the fast part of `curve`, or
/// a fifth more than the former fast amount is written.
pub fn write_after_rest<D: Device>(
    device: &mut D,
    plan: &FillPlan,
    rest_ns: u64,
    curve: &Curve,
    temperature: &mut dyn FnMut() -> Option<i64>,
) -> Written {
    let Some(fast) = curve.fast_part() else {
        return Written::default();
    };
    let (between, fast_bytes) = (fast.between_bytes_per_s(), fast.end.at_bytes);
    let most = fast_bytes + fast_bytes / 5 + SLOW_STEPS as u64 * step_bytes(plan.bytes);
    let mut writer = Writer::new(device, plan, temperature);
    let ended = writer.device.rest(rest_ns).and_then(|()| {
        writer.until(most.min(plan.bytes), |steps| {
            let last = steps.len().checked_sub(SLOW_STEPS);
            last.is_some_and(|from| steps[from..].iter().all(|s| s.bytes_per_s() < between))
        })
    });
    writer.written(ended)
}

struct Writer<'d, D> {
    device: &'d mut D,
    temperature: &'d mut dyn FnMut() -> Option<i64>,
    deadline_ns: u64,
    step_bytes: u64,
    requests: Vec<ProbeIo>,
    answers: Vec<ProbeResult>,
    written: Written,
}

impl<'d, D: Device> Writer<'d, D> {
    fn new(
        device: &'d mut D,
        plan: &FillPlan,
        temperature: &'d mut dyn FnMut() -> Option<i64>,
    ) -> Self {
        Writer {
            deadline_ns: device.now_ns().saturating_add(plan.time_ns_max),
            step_bytes: step_bytes(plan.bytes),
            device,
            temperature,
            requests: Vec::new(),
            answers: Vec::new(),
            written: Written::default(),
        }
    }

    fn written(self, ended: Result<(), StopReason>) -> Written {
        Written {
            stop_reason: ended.err(),
            ..self.written
        }
    }

    fn until(&mut self, bytes: u64, enough: impl Fn(&[Step]) -> bool) -> Result<(), StopReason> {
        let sector = u64::from(self.device.sector_bytes());
        let end = bytes.min(self.device.size_bytes()) / sector * sector;
        let mut from = 0;
        while from < end && !enough(&self.written.steps) {
            let to = (from + self.step_bytes).min(end);
            self.step(from, to)?;
            from = to;
        }
        Ok(())
    }

    fn step(&mut self, from: u64, to: u64) -> Result<(), StopReason> {
        let begun_ns = self.device.now_ns();
        if begun_ns >= self.deadline_ns {
            return Err(StopReason::OutOfTime);
        }
        self.requests.clear();
        let mut at = from;
        while at < to {
            let length = PIECE_BYTES.min(to - at);
            self.requests.push(ProbeIo {
                offset_bytes: at,
                length_bytes: length as u32,
                write: true,
            });
            at += length;
        }
        self.device.run_batch(&self.requests, &mut self.answers)?;
        let pairs = self.requests.iter().zip(&self.answers);
        let failed: u64 = pairs
            .filter(|(_, answer)| !answer.whole)
            .map(|(io, _)| u64::from(io.length_bytes))
            .sum();
        self.written.failed_bytes += failed;
        self.written.steps.push(Step {
            from_bytes: from,
            length_bytes: to - from,
            duration_ns: self.device.now_ns() - begun_ns,
            temperature_millicelsius: (self.temperature)(),
        });
        match self.written.failed_bytes {
            0..=FAILED_BYTES_MAX => Ok(()),
            bytes => Err(StopReason::Gone(format!(
                "{} could not be written",
                stripewise_units::format_bytes(bytes)
            ))),
        }
    }
}
