//! Sizes in sentences. Three digits are enough in prose; exact bytes are in the
//! data beside it.

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// `1.5 GiB`, `512 B`, `16 EiB`: at most one decimal, rounded down so that free
/// space is never promised that is not there.
pub(crate) fn bytes(value: u64) -> String {
    let step = (value.max(1).ilog2() / 10) as usize;
    let unit = 1u64 << (10 * step);
    let (whole, rest) = (value / unit, value % unit);
    // Below 1 EiB the product fits; at EiB the remainder is scaled down first.
    let tenth = (rest >> 4).saturating_mul(10) / (unit >> 4).max(1);
    if step == 0 || tenth == 0 || whole >= 100 {
        format!("{whole} {}", UNITS[step])
    } else {
        format!("{whole}.{tenth} {}", UNITS[step])
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_read_as_people_write_them() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (2 << 30, "2 GiB"),
            ((8 << 30) - 1, "7.9 GiB"),
            (123 << 30, "123 GiB"),
            (u64::MAX, "15.9 EiB"),
        ];
        for (value, want) in cases {
            assert_eq!(bytes(value), want, "{value}");
        }
    }
}
