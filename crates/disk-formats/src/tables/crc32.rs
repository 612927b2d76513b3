//! CRC-32 of ISO 3309 (polynomial 0xEDB88320 reflected), as GPT uses it.

/// The remainders of all single bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut remainder = index as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 1 == 1 {
                (remainder >> 1) ^ 0xedb8_8320
            } else {
                remainder >> 1
            };
            bit += 1;
        }
        table[index] = remainder;
        index += 1;
    }
    table
};

/// The checksum of a GPT header (with its own field zeroed) or of its entries.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (sum >> 8) ^ TABLE[usize::from(sum as u8 ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_value_of_the_standard_comes_out() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(super::crc32(b""), 0);
    }
}
