//! What must hold of any bytes, and of the inputs that fuzzing starts from.

mod anything;

use anything::trace_anything;

#[test]
fn damaged_traces_are_read_up_to_the_damage_or_refused() {
    let msr = "128166372003061629,usr,0,Read,7014609920,24576,41286\n".repeat(20);
    let mut bytes = msr.into_bytes();
    // Each byte in turn is something else.
    for at in 0..bytes.len() {
        let was = bytes[at];
        for other in [b',', b'9', 0xff] {
            bytes[at] = other;
            trace_anything(&bytes);
        }
        bytes[at] = was;
    }
}

#[test]
fn a_file_of_any_length_needs_the_same_memory_and_each_row_once() {
    use std::io::Read;
    use stripewise_trace::files::open;

    /// Rows without end, until `left` of them were made.
    struct Rows {
        left: u32,
        row: Vec<u8>,
    }
    impl Read for Rows {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.row.is_empty() && self.left > 0 {
                self.left -= 1;
                let at_us = 1_577_808_000_000_000 + u64::from(1_000_000 - self.left);
                self.row = format!("0,R,4096,4096,{at_us}\n").into_bytes();
            }
            let count = self.row.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.row[..count]);
            self.row.drain(..count);
            Ok(count)
        }
    }
    let rows = Rows {
        left: 300_000,
        row: Vec::new(),
    };
    let mut file = open(rows, None).expect("a trace");
    assert_eq!(file.by_ref().count(), 300_000);
    assert_eq!(file.report().rows, 300_000);
}
