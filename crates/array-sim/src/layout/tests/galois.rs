//! RAID 6 arithmetic: bytes as elements of GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1.
//!
//! P is the XOR of the data bytes D_0, D_1, ..., Q the sum of 2^i * D_i. Any two
//! lost bytes of (D.., P, Q) follow from the rest (H. P. Anvin, "The mathematics
//! of RAID-6", the algorithm of Linux md). Slow and plain: the simulator needs
//! it to prove its layouts, not to move data.

/// The product of two elements.
pub const fn multiply(a: u8, b: u8) -> u8 {
    let (mut a, mut b, mut product) = (a as u16, b, 0u16);
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a <<= 1;
        // Reduce by the field's polynomial when x^8 appears.
        if a & 0x100 != 0 {
            a ^= 0x11D;
        }
        b >>= 1;
    }
    product as u8
}

/// 2 to the power `exponent`: the weight of data disk `exponent` in Q.
pub const fn weight(exponent: u32) -> u8 {
    let (mut power, mut left) = (1, exponent % 255);
    while left > 0 {
        power = multiply(power, 2);
        left -= 1;
    }
    power
}

/// The inverse of an element; 0 for 0, which has none.
pub const fn inverse(a: u8) -> u8 {
    // a^254 = a^-1, since a^255 = 1.
    let (mut result, mut left) = (1, 254);
    while left > 0 {
        result = multiply(result, a);
        left -= 1;
    }
    result
}

/// P and Q of one byte from each data disk.
pub fn parities(data: impl IntoIterator<Item = u8>) -> (u8, u8) {
    let (mut p, mut q) = (0, 0);
    for (place, byte) in data.into_iter().enumerate() {
        p ^= byte;
        q ^= multiply(weight(place as u32), byte);
    }
    (p, q)
}

/// Restores lost data bytes of one column; `None` where too much is missing.
///
/// `data` has a byte for each data disk, `None` where lost; `p` and `q` are
/// `None` where lost, or where the level has no Q.
pub fn restore(data: &[Option<u8>], p: Option<u8>, q: Option<u8>) -> Option<Vec<u8>> {
    let lost: Vec<usize> = (0..data.len()).filter(|&i| data[i].is_none()).collect();
    let known = data.iter().map(|byte| byte.unwrap_or(0));
    let mut restored: Vec<u8> = known.clone().collect();
    let (known_p, known_q) = parities(known);
    match (lost.as_slice(), p, q) {
        ([], _, _) => {}
        (&[x], Some(p), _) => restored[x] = p ^ known_p,
        (&[x], None, Some(q)) => {
            restored[x] = multiply(q ^ known_q, inverse(weight(x as u32)));
        }
        (&[x, y], Some(p), Some(q)) => {
            // Dx + Dy = p', gx*Dx + gy*Dy = q'.
            let (p, q) = (p ^ known_p, q ^ known_q);
            let (gx, gy) = (weight(x as u32), weight(y as u32));
            let dx = multiply(q ^ multiply(gy, p), inverse(gx ^ gy));
            restored[x] = dx;
            restored[y] = p ^ dx;
        }
        _ => return None,
    }
    Some(restored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_but_zero_has_an_inverse_and_weights_differ() {
        for a in 1..=255 {
            assert_eq!(multiply(a, inverse(a)), 1, "{a}");
        }
        let mut seen = [false; 256];
        for exponent in 0..255 {
            assert!(!std::mem::replace(
                &mut seen[weight(exponent) as usize],
                true
            ));
        }
        // Known values of the md field.
        assert_eq!(multiply(0x80, 2), 0x1D);
        assert_eq!(weight(8), 0x1D);
    }

    #[test]
    fn three_losses_are_refused() {
        assert_eq!(
            restore(&[None, None, None, Some(1)], Some(0), Some(0)),
            None
        );
        assert_eq!(restore(&[None, None], Some(0), None), None);
        assert_eq!(restore(&[None], None, None), None);
    }
}
