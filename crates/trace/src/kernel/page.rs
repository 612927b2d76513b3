//! One page of a ring buffer: a header, then records that each begin with four bytes of type and
//! time (`include/linux/ring_buffer.h`).
//!
//! | type | what it is |
//! |---|---|
//! | 0 | a record whose length is the next word |
//! | 1 to 28 | a record of so many words |
//! | 29 | padding; with a time of 0 the end of the page |
//! | 30 | time goes on by more than 27 bits hold |
//! | 31 | an absolute time, without its top five bits |

use super::format::PageFormat;
use thiserror::Error;

const LENGTH_MASK: u64 = 0xf_ffff;
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
/// Bits of an absolute time; the others come from the page.
const ABSOLUTE_BITS: u32 = 59;

/// Why a page is unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PageError {
    /// Shorter than its header.
    #[error("the page is shorter than its header")]
    Short,
    /// Its records would extend past its end.
    #[error("the page says that it holds {length} bytes, more than it has")]
    Length {
        /// Length according to the header.
        length: u64,
    },
    /// A record would extend past the end, or is shorter than its own header.
    #[error("a record at byte {at} has an impossible length")]
    Record {
        /// Position in the page's data.
        at: usize,
    },
}

/// One page.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    at_ns: u64,
    records: &'a [u8],
    /// Events were lost before this page.
    pub is_after_loss: bool,
    /// Their number, if the kernel had space to store it; often it has not, and sometimes it is 0:
    /// the losses are in `per_cpu/cpuN/stats`.
    pub lost_events: Option<u64>,
}

/// One record of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Time on the buffer's clock.
    pub at_ns: u64,
    /// Its bytes, from `common_type` on.
    pub bytes: &'a [u8],
}

impl<'a> Page<'a> {
    /// Reads the header of a page.
    ///
    /// # Errors
    /// If the page is shorter than its header, or than declared.
    pub fn parse(page: &'a [u8], format: PageFormat) -> Result<Self, PageError> {
        let (at_ns, commit, data) = format.split(page).ok_or(PageError::Short)?;
        let length = commit & LENGTH_MASK;
        let records = data
            .get(..length as usize)
            .ok_or(PageError::Length { length })?;
        let is_after_loss = commit & MISSED != 0;
        let stored = (commit & MISSED_STORED != 0 && is_after_loss)
            .then(|| data.get(length as usize..length as usize + 8))
            .flatten()
            .and_then(|bytes| bytes.try_into().ok())
            .map(u64::from_le_bytes);
        Ok(Page {
            at_ns,
            records,
            is_after_loss,
            lost_events: stored,
        })
    }

    /// The records, in the order written. The first damage ends them.
    pub fn records(&self) -> Records<'a> {
        Records {
            page_ns: self.at_ns,
            at_ns: self.at_ns,
            bytes: self.records,
            at: 0,
        }
    }
}

/// The records of a page.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    page_ns: u64,
    at_ns: u64,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    fn word(&mut self) -> Option<u32> {
        let word = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        Some(u32::from_le_bytes(word.try_into().ok()?))
    }

    /// Takes this many bytes.
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// The next record; inner None if the entry carries none.
    fn entry(&mut self, header: u32) -> Option<Option<Record<'a>>> {
        let delta = u64::from(header >> 5);
        match header & 31 {
            29 => {
                if delta == 0 {
                    self.at = self.bytes.len();
                    return Some(None);
                }
                let length = self.word()? as usize;
                // The length includes its own word.
                self.take(length.checked_sub(4)?)?;
                self.at_ns = self.at_ns.wrapping_add(delta);
                Some(None)
            }
            30 => {
                let high = u64::from(self.word()?) << 27;
                self.at_ns = self.at_ns.wrapping_add(high + delta);
                Some(None)
            }
            31 => {
                let low = (u64::from(self.word()?) << 27) + delta;
                let top = self.page_ns & !((1 << ABSOLUTE_BITS) - 1);
                self.at_ns = (low & ((1 << ABSOLUTE_BITS) - 1)) | top;
                Some(None)
            }
            kind => {
                let length = match kind {
                    0 => (self.word()? as usize).checked_sub(4)?,
                    words => words as usize * 4,
                };
                self.at_ns = self.at_ns.wrapping_add(delta);
                let bytes = self.take(length)?;
                let at_ns = self.at_ns;
                Some(Some(Record { at_ns, bytes }))
            }
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, PageError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.at;
            let header = self.word()?;
            match self.entry(header) {
                Some(None) => {}
                Some(Some(record)) => return Some(Ok(record)),
                None => {
                    self.at = self.bytes.len();
                    return Some(Err(PageError::Record { at }));
                }
            }
        }
    }
}
