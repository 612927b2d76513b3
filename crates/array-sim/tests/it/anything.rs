//! Any bytes as an array file, and what must hold of whatever is accepted. A fuzz target
//! has it, too.

use stripewise_array_sim::{ArraySpec, Kind, Request, Simulate};

/// What is accepted must describe itself, read back, build and serve a request.
///
/// # Panics
/// On a bug, and only then.
pub fn array_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match ArraySpec::parse(text, "fuzz.toml") {
        Err(error) => assert!(!error.hint().is_empty() && !error.to_string().is_empty()),
        Ok(mut spec) => {
            let described = spec.describe();
            match ArraySpec::parse(&described, "described.toml") {
                Ok(again) => assert_eq!(again.describe(), described),
                Err(error) => panic!("a description does not read back: {error}\n{described}"),
            }
            // Thousands of drives and gigabytes of cache are fine, but slow to build.
            spec.cache.size_bytes = spec.cache.size_bytes.min(1 << 20);
            if spec.disks > 16 || spec.ssd.buffer_bytes > 1 << 30 {
                return;
            }
            let mut array = spec.build();
            let length_bytes = array.sector_bytes();
            let last = array.size_bytes() - u64::from(length_bytes);
            for (token, offset_bytes) in [(1, 0), (2, last)] {
                for kind in [Kind::Write, Kind::Read, Kind::Sync] {
                    let request = Request {
                        token,
                        kind,
                        durable: true,
                        offset_bytes,
                        length_bytes,
                    };
                    array.submit(0, request);
                }
            }
            let mut done = 0;
            while let Some(next_ns) = array.next_event_ns() {
                array.advance(next_ns, &mut |_| done += 1);
            }
            assert_eq!(done, 6, "every request completes\n{described}");
        }
    }
}
