//! The kernel's answer to `DM_TABLE_STATUS` (`linux/dm-ioctl.h`): the table of a device-mapper
//! device, as lines of text.

/// `struct dm_target_spec`: start, length, status, next, name of 16 bytes.
const SPEC_BYTES: usize = 40;

/// Four bytes of an answer as a number; 0 beyond its end.
pub fn word(buffer: &[u8], at: usize) -> u32 {
    buffer.get(at..at.saturating_add(4)).map_or(0, |word| {
        u32::from_ne_bytes([word[0], word[1], word[2], word[3]])
    })
}

fn long(buffer: &[u8], at: usize) -> u64 {
    buffer
        .get(at..at.saturating_add(8))
        .and_then(|word| word.try_into().ok())
        .map_or(0, u64::from_ne_bytes)
}

/// The lines of the targets after the header, as printed by `dmsetup table`. Each target gives the
/// start of the next, counted from the first; entries that form a loop or lie beyond the end are
/// skipped. The key of `crypt` is blanked.
pub fn lines(buffer: &[u8]) -> Vec<String> {
    let first = word(buffer, 16) as usize;
    let count = word(buffer, 20).min(4096);
    let mut lines = Vec::new();
    let mut at = first;
    for _ in 0..count {
        let Some(spec) = buffer.get(at..at.saturating_add(SPEC_BYTES)) else {
            break;
        };
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).into_owned()
        };
        let kind = text(&spec[24..40]);
        let arguments = blank_key(&kind, &text(&buffer[at + SPEC_BYTES..]));
        lines.push(format!(
            "{} {} {kind} {arguments}",
            long(spec, 0),
            long(spec, 8)
        ));
        let next = first.saturating_add(word(spec, 20) as usize);
        if next <= at {
            break;
        }
        at = next;
    }
    lines
}

/// The key is the second argument of `crypt`.
fn blank_key(kind: &str, arguments: &str) -> String {
    if kind != "crypt" {
        return arguments.to_owned();
    }
    let words = arguments.split(' ').enumerate();
    let blanked: Vec<&str> = words
        .map(|(index, word)| if index == 1 { "-" } else { word })
        .collect();
    blanked.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_BYTES: usize = 312;

    fn spec(start: u64, length: u64, next: u32, kind: &str, arguments: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(start.to_ne_bytes());
        bytes.extend(length.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend(next.to_ne_bytes());
        let mut name = [0u8; 16];
        name[..kind.len()].copy_from_slice(kind.as_bytes());
        bytes.extend(name);
        bytes.extend(arguments.as_bytes());
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn answer(count: u32, specs: &[u8]) -> Vec<u8> {
        let mut buffer = vec![0u8; HEADER_BYTES];
        buffer[16..20].copy_from_slice(&(HEADER_BYTES as u32).to_ne_bytes());
        buffer[20..24].copy_from_slice(&count.to_ne_bytes());
        buffer.extend(specs);
        buffer
    }

    #[test]
    fn targets_are_read_one_after_the_other_and_keys_are_blanked() {
        let first = spec(0, 100, 64, "linear", "8:1 2048");
        let mut specs = first.clone();
        specs.resize(64, 0);
        specs.extend(spec(100, 50, 0, "crypt", "aes-xts 00ff 0 8:2 4096"));
        assert_eq!(
            lines(&answer(2, &specs)),
            ["0 100 linear 8:1 2048", "100 50 crypt aes-xts - 0 8:2 4096"]
        );
    }

    #[test]
    fn an_answer_that_goes_in_circles_or_ends_early_is_left() {
        let circle = spec(0, 100, 0, "linear", "8:1 0");
        assert_eq!(lines(&answer(u32::MAX, &circle)).len(), 1);
        assert_eq!(lines(&answer(3, &[])).len(), 0);
        assert_eq!(lines(&[]), Vec::<String>::new());
    }
}
