//! Tokens: 256 bits of chance as text, compared without telling how far they agree.

/// Bytes of a token.
const BYTES: usize = 32;

/// The system gives no random bytes.
pub type NoChance = getrandom::Error;

/// A new token: 64 hexadecimal digits.
///
/// # Errors
/// If the system gives no random bytes.
pub fn new() -> Result<String, NoChance> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two texts are equal; takes as long for any two of the same length.
#[must_use]
pub fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let pairs = a.iter().zip(b);
    a.len() == b.len() && pairs.fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}
