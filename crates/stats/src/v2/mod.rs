//! Histograms as bytes: HdrHistogram's V2 encoding and a custom trailer.
//!
//! The blob starts with a plain (not deflated) V2 histogram, lowest value 1, three significant
//! digits, which any HdrHistogram library reads; such readers take the payload's length from the
//! header and ignore what follows. After it come 36 bytes that V2 cannot hold: the magic `SWx1`,
//! then exact minimum and maximum (u64 each) and exact sum (u128), big-endian.
//!
//! Exactness: HDR has 1,024 buckets per octave for three digits, this histogram 512 with the same
//! edges, so each HDR bucket is within one of these and counts are restored unchanged. Implemented
//! here rather than with the `hdrhistogram` crate, because its decoder trusts the length in the
//! header (4 GiB) and needs 270 KiB per histogram; the tests compare both.

use crate::histogram::{Histogram, VALUE_MAX};

const COOKIE: u32 = 0x1c84_9303 | 0x10;
const HEADER_BYTES: usize = 40;
const TRAILER_MAGIC: &[u8; 4] = b"SWx1";
const TRAILER_BYTES: usize = 36;
const DIGITS: u32 = 3;
/// Index of HDR's bucket of `u64::MAX`: no histogram has more.
const HDR_INDEX_MAX: usize = hdr_index(u64::MAX);

/// Why bytes are not a valid histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum V2Error {
    /// Fewer bytes than the header or its payload length needs.
    #[error("the histogram is cut short: {needed} bytes are needed, {present} are there")]
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        present: usize,
    },
    /// The first four bytes are not V2's cookie.
    #[error("not an uncompressed HdrHistogram V2 histogram (it starts with {cookie:#010x})")]
    Cookie {
        /// The value found.
        cookie: u32,
    },
    /// Significant digits other than 3, lowest value other than 1, a normalizing offset or a ratio
    /// other than 1: its buckets do not nest in this histogram's.
    #[error("the histogram's {field} is not what Stripewise stores")]
    Unsupported {
        /// Name of the header's field.
        field: &'static str,
    },
    /// A count beyond the last bucket, counts that add up to 2^64 or more, or a
    /// number that ends in the middle.
    #[error("the histogram's counts are damaged at byte {at}")]
    Counts {
        /// Position in the blob.
        at: usize,
    },
    /// Bytes after the payload that are not a trailer, or one that contradicts the counts.
    #[error("the histogram's exact minimum, maximum and sum do not fit its counts")]
    Trailer,
}

impl Histogram {
    /// The histogram as HdrHistogram V2 bytes followed by the exact extremes.
    ///
    /// An empty one takes 40 bytes, others 76 plus about a byte per bucket in use. Counts of 2^63
    /// and more, which the format cannot hold, are written as 2^63 - 1.
    ///
    /// ```
    /// use stripewise_stats::Histogram;
    /// let mut latency_ns = Histogram::new();
    /// latency_ns.record_n(1_234_567, 3);
    /// let bytes = latency_ns.to_v2();
    /// assert_eq!(Histogram::from_v2(&bytes), Ok(latency_ns));
    /// ```
    pub fn to_v2(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + TRAILER_BYTES + 256);
        bytes.extend_from_slice(&COOKIE.to_be_bytes());
        bytes.extend_from_slice(&[0; 4]); // The payload's length, known below.
        bytes.extend_from_slice(&0u32.to_be_bytes()); // Normalizing offset.
        bytes.extend_from_slice(&DIGITS.to_be_bytes());
        bytes.extend_from_slice(&1u64.to_be_bytes()); // Lowest discernible value.
        bytes.extend_from_slice(&VALUE_MAX.to_be_bytes());
        bytes.extend_from_slice(&1f64.to_be_bytes()); // Integer to double ratio.
        let mut next = 0;
        for bucket in self.nonzero() {
            // The midpoint's HDR bucket, so that other readers are at most half a bucket off too.
            let middle = bucket.value_low + (bucket.value_high - bucket.value_low) / 2;
            let index = hdr_index(middle);
            put_zeros(&mut bytes, index - next);
            let count = i64::try_from(bucket.count).unwrap_or(i64::MAX);
            put_number(&mut bytes, count);
            next = index + 1;
        }
        let payload = (bytes.len() - HEADER_BYTES) as u32; // At most 9 x 33,792 bytes.
        bytes[4..8].copy_from_slice(&payload.to_be_bytes());
        if let (Some(min), Some(max)) = (self.min(), self.max()) {
            bytes.extend_from_slice(TRAILER_MAGIC);
            bytes.extend_from_slice(&min.to_be_bytes());
            bytes.extend_from_slice(&max.to_be_bytes());
            bytes.extend_from_slice(&self.sum().to_be_bytes());
        }
        bytes
    }

    /// Reads a histogram from V2 bytes, written by this program or another.
    ///
    /// Stripewise's own come back equal. Without the trailer, minimum and maximum are the edges of
    /// the outermost HDR buckets and the sum is that of their midpoints (each within 0.05 % of the
    /// truth); values above [`VALUE_MAX`] count as it.
    ///
    /// Safe on hostile bytes: never panics, reads each byte once, and allocates at most one 8-byte
    /// entry per bucket (132 KiB).
    ///
    /// # Errors
    /// See [`V2Error`]. Deflated histograms (cookie `0x1c849314`) are not read.
    pub fn from_v2(bytes: &[u8]) -> Result<Histogram, V2Error> {
        let payload_bytes = check_header(bytes)?;
        let (payload, trailer) = bytes[HEADER_BYTES..].split_at(payload_bytes);
        let counts = Counts {
            payload,
            at: 0,
            index: 0,
        };
        let mut histogram = Histogram::new();
        let mut total = 0u64;
        for entry in counts {
            let (index, count, at) = entry?;
            total = total.checked_add(count).ok_or(V2Error::Counts { at })?;
            let (low, high) = hdr_range(index);
            // Several HDR buckets go into each of ours; their midpoints add up to the sum and their
            // outer edges are the extremes.
            histogram.add_bucket(low, high, count);
        }
        if !trailer.is_empty() {
            histogram.take_trailer(trailer)?;
        }
        Ok(histogram)
    }

    fn take_trailer(&mut self, trailer: &[u8]) -> Result<(), V2Error> {
        let exact = trailer
            .strip_prefix(TRAILER_MAGIC)
            .filter(|rest| rest.len() == TRAILER_BYTES - 4)
            .ok_or(V2Error::Trailer)?;
        let min = be_u64(&exact[0..8]);
        let max = be_u64(&exact[8..16]);
        let sum = u128::from(be_u64(&exact[16..24])) << 64 | u128::from(be_u64(&exact[24..32]));
        if self.set_exact(min, max, sum) {
            Ok(())
        } else {
            Err(V2Error::Trailer)
        }
    }
}

/// The payload's length, if the header is supported.
fn check_header(bytes: &[u8]) -> Result<usize, V2Error> {
    let present = bytes.len();
    if present < HEADER_BYTES {
        return Err(V2Error::Truncated {
            needed: HEADER_BYTES,
            present,
        });
    }
    let cookie = be_u32(&bytes[0..4]);
    if cookie != COOKIE {
        return Err(V2Error::Cookie { cookie });
    }
    let expected = [
        ("normalizing offset", &bytes[8..12], &[0u8, 0, 0, 0][..]),
        (
            "number of significant digits",
            &bytes[12..16],
            &DIGITS.to_be_bytes(),
        ),
        ("lowest value", &bytes[16..24], &1u64.to_be_bytes()),
        (
            "integer to double ratio",
            &bytes[32..40],
            &1f64.to_be_bytes(),
        ),
    ];
    for (field, found, wanted) in expected {
        if found != wanted {
            return Err(V2Error::Unsupported { field });
        }
    }
    let payload = be_u32(&bytes[4..8]) as usize;
    let needed = HEADER_BYTES.saturating_add(payload);
    if needed > present {
        return Err(V2Error::Truncated { needed, present });
    }
    Ok(payload)
}

/// The counts of a payload: (HDR index, count above 0, position in the blob).
struct Counts<'a> {
    payload: &'a [u8],
    at: usize,
    index: usize,
}

impl Counts<'_> {
    /// One LEB128-64b9B number: seven bits a byte, all eight of the ninth.
    fn number(&mut self) -> Option<i64> {
        let mut value = 0u64;
        for k in 0..9 {
            let byte = *self.payload.get(self.at)?;
            self.at += 1;
            if k == 8 {
                value |= u64::from(byte) << 56;
            } else {
                value |= u64::from(byte & 0x7f) << (7 * k);
                if byte & 0x80 == 0 {
                    break;
                }
            }
        }
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

impl Iterator for Counts<'_> {
    type Item = Result<(usize, u64, usize), V2Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.payload.len() {
            let at = HEADER_BYTES + self.at;
            let Some(number) = self.number() else {
                return Some(Err(V2Error::Counts { at }));
            };
            let index = self.index;
            // A negative number skips that many empty buckets.
            let steps = usize::try_from(number.min(0).unsigned_abs()).unwrap_or(usize::MAX);
            self.index = index.saturating_add(steps.max(1));
            if number > 0 {
                if index > HDR_INDEX_MAX {
                    return Some(Err(V2Error::Counts { at }));
                }
                return Some(Ok((index, number.unsigned_abs(), at)));
            }
        }
        None
    }
}

/// The index of a value in an HDR histogram of three digits from 1.
const fn hdr_index(value: u64) -> usize {
    let shift = 53u32.saturating_sub((value | 1).leading_zeros());
    ((shift as usize) << 10) + (value >> shift) as usize
}

/// Smallest and largest value of an HDR bucket.
const fn hdr_range(index: usize) -> (u64, u64) {
    let shift = if index < 2048 { 0 } else { (index >> 10) - 1 };
    let low = ((index - (shift << 10)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

fn put_zeros(bytes: &mut Vec<u8>, zeros: usize) {
    match zeros {
        0 => {}
        1 => put_number(bytes, 0),
        more => put_number(bytes, -(more as i64)),
    }
}

fn put_number(bytes: &mut Vec<u8>, number: i64) {
    let mut value = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if value < 0x80 {
            bytes.push(value as u8);
            return;
        }
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn be_u32(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn be_u64(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests;
