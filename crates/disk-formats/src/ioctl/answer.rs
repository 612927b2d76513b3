//! Bounds-checked reading of one answer: anything outside is an error, not a zero.

use super::{Decoded, Malformed};

/// The bytes of an answer, and the expected structure.
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    pub bytes: &'a [u8],
    question: &'static str,
}

impl<'a> Answer<'a> {
    /// An answer of at least `least` bytes.
    pub fn new(bytes: &'a [u8], question: &'static str, least: usize) -> Decoded<Self> {
        let answer = Answer { bytes, question };
        if bytes.len() < least {
            return Err(answer.wrong(format!(
                "{} bytes, where at least {least} were expected",
                bytes.len()
            )));
        }
        Ok(answer)
    }

    /// The error for this problem.
    pub fn wrong(&self, problem: impl Into<String>) -> Malformed {
        Malformed {
            question: self.question,
            problem: problem.into(),
        }
    }

    fn array<const N: usize>(&self, at: usize) -> Decoded<[u8; N]> {
        at.checked_add(N)
            .and_then(|end| self.bytes.get(at..end))
            .and_then(|piece| piece.try_into().ok())
            .ok_or_else(|| self.wrong(format!("it ends before byte {}", at.saturating_add(N))))
    }

    pub fn byte(&self, at: usize) -> Decoded<u8> {
        self.array::<1>(at).map(|[byte]| byte)
    }

    pub fn u32(&self, at: usize) -> Decoded<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    pub fn i64(&self, at: usize) -> Decoded<i64> {
        self.array(at).map(i64::from_le_bytes)
    }

    /// A signed number used as a size or position.
    pub fn size(&self, at: usize, what: &str) -> Decoded<u64> {
        let number = self.i64(at)?;
        u64::try_from(number).map_err(|_| self.wrong(format!("{what} is {number}")))
    }

    /// A GUID in upper case; `None` for all zeros.
    pub fn guid(&self, at: usize) -> Decoded<Option<String>> {
        let bytes: [u8; 16] = self.array(at)?;
        Ok(crate::tables::guid(&bytes))
    }

    /// The number of entries of `entry` bytes that fit from `start` on, checked against the
    /// `claimed` number.
    pub fn count(&self, claimed: u32, start: usize, entry: usize, most: usize) -> Decoded<usize> {
        let there = self.bytes.len().saturating_sub(start) / entry;
        match usize::try_from(claimed) {
            Ok(count) if count > most => {
                Err(self.wrong(format!("{count} entries, more than {most}")))
            }
            Ok(count) if count <= there => Ok(count),
            _ => Err(self.wrong(format!("{claimed} entries are claimed, {there} are there"))),
        }
    }
}
