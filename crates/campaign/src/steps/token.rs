//! Tokens: 256 random bits as text, compared in constant time.

/// Bytes of a token.
const BYTES: usize = 32;

/// The system's random source failed.
pub type RandomSourceError = getrandom::Error;

/// A new token: 64 hexadecimal digits.
///
/// # Errors
/// If the system's random source fails.
pub fn new() -> Result<String, RandomSourceError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two texts are equal; takes the same time for any two of the same length.
pub fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let pairs = a.iter().zip(b);
    a.len() == b.len() && pairs.fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}
