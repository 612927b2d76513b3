//! Thermal data of an NVMe drive: log page 0x02 (SMART / health information, NVM Express base
//! specification). Only the fields that indicate throttling are decoded.
//!
//! Layout, little endian: composite temperature in kelvins at 1 (16 bits); minutes above the
//! warning and the critical temperature at 192 and 196 (32 bits each); number of transitions to
//! light and heavy throttling (thermal management temperatures 1 and 2) at 216 and 220, and seconds
//! spent in each at 224 and 228 (32 bits each).

/// Log page identifier.
pub const LOG_PAGE: u8 = 0x02;
/// Size of the page in bytes.
pub const PAGE_BYTES: usize = 512;
const ZERO_CELSIUS: i64 = 273;

/// The decoded page. All values but the temperature only increase over the drive's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthLog {
    /// Degrees Celsius; `None` if the drive does not report it.
    pub temperature_celsius: Option<i64>,
    /// Minutes above the warning temperature.
    pub warm_minutes: u32,
    /// Minutes above the critical temperature.
    pub hot_minutes: u32,
    /// Number of times the drive throttled, lightly or heavily.
    pub slowdowns: u64,
    /// Seconds throttled, lightly or heavily.
    pub slowed_s: u64,
}

/// Decodes a page; `None` if it is truncated.
pub fn decode(page: &[u8]) -> Option<HealthLog> {
    let word = |at: usize| {
        let bytes = page.get(at..at + 4)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    };
    let both = |at: usize| Some(u64::from(word(at)?) + u64::from(word(at + 4)?));
    let kelvins = u16::from_le_bytes(page.get(1..3)?.try_into().ok()?);
    page.get(PAGE_BYTES - 1)?;
    Some(HealthLog {
        temperature_celsius: (kelvins > 0).then(|| i64::from(kelvins) - ZERO_CELSIUS),
        warm_minutes: word(192)?,
        hot_minutes: word(196)?,
        slowdowns: both(216)?,
        slowed_s: both(224)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_where_the_layout_says() {
        let mut page = vec![0; PAGE_BYTES];
        page[1..3].copy_from_slice(&(273u16 + 41).to_le_bytes());
        for (at, value) in [
            (192, 7u32),
            (196, 8),
            (216, 1),
            (220, 2),
            (224, 30),
            (228, 4),
        ] {
            page[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        let expected = HealthLog {
            temperature_celsius: Some(41),
            warm_minutes: 7,
            hot_minutes: 8,
            slowdowns: 3,
            slowed_s: 34,
        };
        assert_eq!(decode(&page), Some(expected));
    }

    #[test]
    fn a_page_that_is_cut_short_is_none_and_zeros_say_nothing() {
        assert_eq!(decode(&[0; PAGE_BYTES - 1]), None);
        assert_eq!(decode(&[0; PAGE_BYTES]), Some(HealthLog::default()));
    }
}
