//! JSON among other text.

use crate::work::Work;

/// End of the document that begins with the brace at `start`; `None` if it is incomplete.
pub(crate) fn json_end(text: &str, start: usize, work: &Work<'_>) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    let mut from = start;
    for chunk in text.as_bytes()[start..].chunks(1 << 16) {
        for (at, byte) in chunk.iter().enumerate() {
            if quoted {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => quoted = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => quoted = true,
                b'{' => depth += 1,
                b'}' if depth <= 1 => {
                    work.visit(at + 1);
                    return Some(from + at + 1);
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
        work.visit(chunk.len());
        from += chunk.len();
    }
    None
}
