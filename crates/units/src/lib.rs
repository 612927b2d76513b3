//! Bytes, sectors, nanoseconds and rates: parsed as users type them, printed in the field's usual
//! form.
//!
//! Everything inside Stripewise is an integer of bytes or nanoseconds with the unit in its name.
//! This crate converts between text and such integers. K, M, G and T are 1024-based on input, as in
//! every storage tool's switches; output uses KiB and MiB/s.
//!
//! Two output formats: `Display` is exact and can be parsed again (`31.5K`, `1.5s`); the `format_`
//! functions are for display (`31.5 KiB`, `1.50 s`) and round. A number they print without decimals
//! is exact.
#![forbid(unsafe_code)]

mod bytes;
mod decimal;
mod device_number;
mod distinct;
mod duration;
mod error;
mod hint;
mod kind;
mod letters;
mod list;
mod named;
mod names;
mod nearest;
mod numbers;
mod percentile;
mod raid_words;
mod text;
mod typeset;
mod utf16;
mod wall;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as platform;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
use other as platform;

pub use bytes::{ByteSize, SECTOR_SIZE_BYTES, format_bytes};
pub use device_number::DeviceNumber;
pub use distinct::distinct;
pub use duration::{Nanoseconds, format_duration, format_duration_beside, format_duration_exact};
pub use error::{InputError, ParseError};
pub use hint::Hint;
pub use kind::Kind;
pub use letters::{acts, in_one_row, shown_instead};
pub use list::{CpuList, List, ListItem, parse_count};
pub use names::{
    NameText, has_text, is_sim_target, name_of, path_of, quoted, shell_word, sim_array,
};
pub use nearest::{field_hint, nearest, nearest_field, nearest_key};
pub use numbers::{
    beside, capitalised, counted, format_count, format_iops, format_iops_beside, format_mib_per_s,
    format_mib_per_s_beside, format_rate_interval, format_rate_interval_beside, format_share,
    format_three_digits, in_flight_words, listed, plural,
};
pub use percentile::Percentile;
/// Selects the text for the system that the program was built for, as remedies have other names on
/// Windows: the first for Linux, the second for Windows.
///
/// ```
/// let log = stripewise_units::advice("look at `dmesg`", "look at Event Viewer");
/// assert!(log.starts_with("look at"));
/// ```
pub use platform::advice;
pub use raid_words::with_raid_words;
pub use typeset::{Typeset, is_typeset_dash, typeset, typeset_quote_at};
pub use utf16::{utf16_text, utf16_units};
pub use wall::WallTime;
