//! Lists: `1,2,4,8` of any parsable type, and CPUs as `0-3,8`.

use crate::ParseError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Values separated by commas; at least one.
///
/// ```
/// use stripewise_units::{ByteSize, List};
///
/// let blocks: List<ByteSize> = "8K,64K".parse()?;
/// assert_eq!(blocks.0, [ByteSize(8192), ByteSize(65_536)]);
/// assert_eq!("1, 2, 4".parse::<List<u32>>()?.0, [1, 2, 4]);
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

/// Types that can be items of a [`List`].
pub trait ListItem: Sized {
    /// Parses one item.
    fn parse_item(text: &str) -> Result<Self, ParseError>;
}

impl ListItem for u32 {
    fn parse_item(text: &str) -> Result<Self, ParseError> {
        parse_count(text).and_then(|count| {
            u32::try_from(count).map_err(|_| ParseError::new(text, "is too large", COUNT_HINT))
        })
    }
}

impl ListItem for u64 {
    fn parse_item(text: &str) -> Result<Self, ParseError> {
        parse_count(text)
    }
}

impl ListItem for crate::ByteSize {
    fn parse_item(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl ListItem for crate::Nanoseconds {
    fn parse_item(text: &str) -> Result<Self, ParseError> {
        text.parse()
    }
}

const COUNT_HINT: &str = "a count is a whole number: 16; a list of them is 1,2,4,8";

/// A whole number without unit or separators.
///
/// # Errors
/// If the text is anything else, or above `u64::MAX`.
pub fn parse_count(text: &str) -> Result<u64, ParseError> {
    let digits = text.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseError::new(text, "is not a whole number", COUNT_HINT));
    }
    digits
        .parse()
        .map_err(|_| ParseError::new(text, "is too large", COUNT_HINT))
}

/// Calls `take` for each comma-separated part.
fn each_part(
    typed: &str,
    hint: &str,
    mut take: impl FnMut(&str) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let mut at = 0;
    for part in typed.split(',') {
        if part.trim().is_empty() {
            return Err(ParseError::new(typed, "has an empty place in its list", hint).at(at));
        }
        take(part.trim()).map_err(|error| error.within(typed))?;
        at += part.len() + 1;
    }
    Ok(())
}

impl<T: ListItem> FromStr for List<T> {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let mut items = Vec::new();
        each_part(
            typed,
            "a list has commas between its values: 1,2,4,8",
            |part| {
                items.push(T::parse_item(part)?);
                Ok(())
            },
        )?;
        Ok(List(items))
    }
}

impl<T: fmt::Display> fmt::Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(T::to_string).collect();
        f.pad(&texts.join(","))
    }
}

/// CPUs by number, ascending, without duplicates; at least one.
///
/// ```
/// use stripewise_units::CpuList;
///
/// let cpus: CpuList = "8,0-3".parse()?;
/// assert_eq!(cpus.cpus(), [0, 1, 2, 3, 8]);
/// assert_eq!(cpus.to_string(), "0-3,8");
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(into = "String", from = "String")]
pub struct CpuList(Vec<u32>);

/// Maximum number of CPUs on Linux.
const CPUS_MAX: u32 = 8192;

const CPU_HINT: &str = "processors are numbers from 0 and ranges of them: 0-3,8";

impl CpuList {
    /// The numbers, ascending.
    pub fn cpus(&self) -> &[u32] {
        &self.0
    }
}

impl FromStr for CpuList {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let mut cpus = Vec::new();
        each_part(typed, CPU_HINT, |part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| {
                text.trim()
                    .parse::<u32>()
                    .map_err(|_| ParseError::new(part, "is not a processor or range", CPU_HINT))
            };
            let (first, last) = (number(first)?, number(last)?);
            if last >= CPUS_MAX {
                let hint = format!("numbers end at {}", CPUS_MAX - 1);
                return Err(ParseError::new(part, "is beyond any processor", hint));
            }
            if first > last {
                return Err(ParseError::new(part, "runs backwards", CPU_HINT));
            }
            cpus.extend(first..=last);
            Ok(())
        })?;
        cpus.sort_unstable();
        cpus.dedup();
        Ok(CpuList(cpus))
    }
}

/// Joins consecutive numbers: `0-3,8`.
impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|one, next| one + 1 == *next);
        let texts: Vec<String> = runs
            .map(|run| match run {
                [only] => only.to_string(),
                _ => format!("{}-{}", run[0], run[run.len() - 1]),
            })
            .collect();
        f.pad(&texts.join(","))
    }
}

impl Serialize for CpuList {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::text::deserialize(deserializer, "processors such as \"0-3,8\"")
    }
}
