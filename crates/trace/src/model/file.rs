//! The file of a model, `.swmodel`: described in `docs/TRACES.md`.
//!
//! gzip around numbers, each in groups of seven bits, lowest first. Reading is bounded: numbers are
//! checked before anything of that size is allocated.

use super::arrivals::Donors;
use super::{BIN_NS, END_MAX, OPERATIONS_MAX, Run, SIZE_MAX, WorkloadModel};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, BufReader, Read, Write};
use stripewise_units::Kind;
use thiserror::Error;

const MAGIC: &[u8; 8] = b"SWMODEL\n";
/// Version 1 does not record whether the load waited.
const VERSION: u64 = 2;
/// Bins of a week.
const BINS_MAX: u64 = 7 * 86_400 * 10;
/// Probabilities are stored in billionths.
const PROBABILITY: f64 = 1e9;

/// Why a file is not a valid model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// It could not be read, or is truncated.
    #[error("the model could not be read: {0}")]
    Read(#[from] io::Error),
    /// It does not begin like a model.
    #[error("this is not a workload model of Stripewise")]
    Magic,
    /// A later version wrote it.
    #[error("the model has version {0}, and this program reads versions 1 and 2")]
    Version(u64),
    /// A number in it is impossible.
    #[error("the model is damaged: {0} is out of range")]
    Damaged(&'static str),
}

/// Writes a model.
pub fn write(model: &WorkloadModel, writer: impl Write) -> io::Result<()> {
    let mut out = GzEncoder::new(writer, Compression::default());
    out.write_all(MAGIC)?;
    let mut put = |number: u64| put(&mut out, number);
    put(VERSION)?;
    for probability in [
        model.interrupted,
        model.resumed_after_end,
        model.resumed_after_interruption,
    ] {
        put((probability * PROBABILITY).round() as u64)?;
    }
    put(model.open_max.into())?;
    put(model.waited.into())?;
    put(model.counts.len() as u64)?;
    for &count in &model.counts {
        put(count.into())?;
    }
    put(model.donors.bins.len() as u64)?;
    for bin in &model.donors.bins {
        put(bin.len() as u64)?;
        let mut last = 0;
        for &at in bin {
            put(u64::from(at - last))?;
            last = at;
        }
    }
    put(model.runs.len() as u64)?;
    let mut last = 0;
    for run in &model.runs {
        put(run.kind.index() as u64)?;
        put(zigzag(run.offset_bytes.wrapping_sub(last) as i64))?;
        last = run.offset_bytes;
        put(run.sizes.len() as u64)?;
        for &(size, count) in &run.sizes {
            put(size)?;
            put(count.into())?;
        }
    }
    out.finish()?.flush()
}

/// Reads a model.
///
/// # Errors
/// If it is not a model, is truncated, or contains impossible numbers.
pub fn read(reader: impl Read) -> Result<WorkloadModel, ModelFileError> {
    let mut bytes = BufReader::new(GzDecoder::new(reader));
    let mut magic = [0; 8];
    match bytes.read_exact(&mut magic) {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            return Err(ModelFileError::Magic);
        }
        ended => ended?,
    }
    if &magic != MAGIC {
        return Err(ModelFileError::Magic);
    }
    let mut numbers = Numbers { bytes };
    let version = numbers.take(u64::MAX, "the version")?;
    if !(1..=VERSION).contains(&version) {
        return Err(ModelFileError::Version(version));
    }
    let mut probability = || -> Result<f64, ModelFileError> {
        Ok(numbers.take(PROBABILITY as u64, "a probability")? as f64 / PROBABILITY)
    };
    let (interrupted, resumed_after_end) = (probability()?, probability()?);
    let resumed_after_interruption = probability()?;
    let open_max = numbers.take(OPERATIONS_MAX as u64, "the number of open runs")? as u32;
    let waited = version > 1 && numbers.take(1, "whether the load waited")? == 1;
    let counts = numbers.counts()?;
    let donors = numbers.donors()?;
    let runs = numbers.runs()?;
    // The end of the compressed data has its checksum.
    if !numbers.bytes.fill_buf()?.is_empty() {
        return Err(ModelFileError::Damaged("its end"));
    }
    Ok(WorkloadModel {
        counts,
        donors,
        runs,
        interrupted,
        resumed_after_end,
        resumed_after_interruption,
        open_max,
        waited,
    })
}

/// The numbers of a file.
struct Numbers<R> {
    bytes: R,
}

impl<R: BufRead> Numbers<R> {
    fn take(&mut self, most: u64, what: &'static str) -> Result<u64, ModelFileError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.bytes.read_exact(&mut byte)?;
            let part = u64::from(byte[0] & 0x7f);
            if shift == 63 && part > 1 {
                return Err(ModelFileError::Damaged(what));
            }
            number |= part << shift;
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        if number > most {
            return Err(ModelFileError::Damaged(what));
        }
        Ok(number)
    }

    fn counts(&mut self) -> Result<Vec<u32>, ModelFileError> {
        let bins = self.take(BINS_MAX, "the number of bins")?;
        let mut left = OPERATIONS_MAX as u64;
        let mut counts = Vec::new();
        for _ in 0..bins {
            let count = self.take(left, "a number of operations")?;
            left -= count;
            counts.push(count as u32);
        }
        Ok(counts)
    }

    fn donors(&mut self) -> Result<Donors, ModelFileError> {
        let count = self.take(BINS_MAX, "the number of bins with gaps")?;
        let mut left = OPERATIONS_MAX as u64;
        let mut bins: Vec<Vec<u32>> = Vec::new();
        for _ in 0..count {
            let arrivals = self.take(left, "a number of gaps")?;
            left -= arrivals;
            let shorter = bins.last().map_or(1, Vec::len) as u64;
            if arrivals < shorter {
                return Err(ModelFileError::Damaged("the order of bins with gaps"));
            }
            let mut bin = Vec::new();
            let mut at = 0;
            for _ in 0..arrivals {
                at += self.take(BIN_NS - 1 - at, "a gap")?;
                bin.push(at as u32);
            }
            bins.push(bin);
        }
        Ok(Donors { bins })
    }

    fn runs(&mut self) -> Result<Vec<Run>, ModelFileError> {
        let count = self.take(OPERATIONS_MAX as u64, "the number of runs")?;
        let mut left = OPERATIONS_MAX as u64;
        let mut last = 0u64;
        let mut runs = Vec::new();
        for _ in 0..count {
            let kind = Kind::ALL[self.take(3, "a kind")? as usize];
            let offset = unzigzag(self.take(u64::MAX, "an offset")?);
            let offset_bytes = last.wrapping_add(offset as u64);
            let entries = self.take(left, "the length of a run")?;
            let mut end = offset_bytes;
            let mut sizes = Vec::new();
            for _ in 0..entries {
                let size = self.take(SIZE_MAX, "a size")?;
                let count = self.take(left, "a number of operations of a size")?;
                left -= count;
                let next = size
                    .checked_mul(count)
                    .and_then(|bytes| end.checked_add(bytes));
                end = next
                    .filter(|&end| count > 0 && end <= END_MAX)
                    .ok_or(ModelFileError::Damaged("the end of a run"))?;
                sizes.push((size, count as u32));
            }
            if sizes.is_empty() {
                return Err(ModelFileError::Damaged("the length of a run"));
            }
            last = offset_bytes;
            runs.push(Run {
                kind,
                offset_bytes,
                sizes,
            });
        }
        Ok(runs)
    }
}

fn put(out: &mut impl Write, mut number: u64) -> io::Result<()> {
    while number >= 0x80 {
        out.write_all(&[number as u8 | 0x80])?;
        number >>= 7;
    }
    out.write_all(&[number as u8])
}

/// Zigzag encoding: small numbers of either sign become small unsigned ones.
const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
