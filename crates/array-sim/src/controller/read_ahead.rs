//! The controller's read-ahead: it detects streams of reads and prefetches data into its memory, so
//! that such reads pay neither the latency of a command to a drive nor the wait for one.
//!
//! Two consecutive reads make a stream. From then on it prefetches a window ahead of the reader, in
//! stripe units, and reads wait for data in transit. A write into a stream's range ends the stream,
//! and so does a new read position when all slots are taken (least recently used first). Not
//! modelled: a limit on the memory for all streams, and data that is read again.

use std::collections::VecDeque;

/// Concurrent streams.
const STREAMS: usize = 16;

/// A range to prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// First byte (array address).
    pub offset_bytes: u64,
    /// Its length.
    pub length_bytes: u64,
    stream: u32,
    generation: u64,
}

/// How a read is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// From the drives.
    Drives,
    /// From memory.
    Ready,
    /// Its data is in transit; the operation waits.
    Waits,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    /// Distinguishes this stream's fetches from those of an earlier one.
    generation: u64,
    /// Expected offset of the next read.
    next: u64,
    /// Data requested and still in memory: from here ...
    from: u64,
    /// ... to here; nothing yet where the two are equal.
    to: u64,
    /// Data in memory ends here.
    ready: u64,
    /// Ends of the fetches beyond `ready`, in order, and whether each has completed.
    fetches: VecDeque<(u64, bool)>,
    /// Waiting reads: operation and end.
    waiting: Vec<(u32, u64)>,
    used: u64,
}

/// The streams of one controller.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    window_bytes: u64,
    unit_bytes: u64,
    /// The end of the array: nothing is fetched beyond it.
    end_bytes: u64,
    streams: Vec<Stream>,
    uses: u64,
    /// Fetches that the array has to send.
    pub fetches: Vec<Fetch>,
    /// Operations whose data has arrived; the array takes them.
    pub served: Vec<u32>,
    /// Operations whose stream has ended; the array reads from the drives.
    pub orphans: Vec<u32>,
}

impl Streams {
    /// For an array of `end_bytes`. A window of 0 disables prefetching.
    pub(crate) fn new(window_bytes: u64, unit_bytes: u64, end_bytes: u64) -> Self {
        let streams = if window_bytes == 0 { 0 } else { STREAMS };
        Streams {
            window_bytes,
            unit_bytes: unit_bytes.max(512),
            end_bytes,
            streams: vec![Stream::default(); streams],
            uses: 0,
            fetches: Vec::new(),
            served: Vec::new(),
            orphans: Vec::new(),
        }
    }

    pub(crate) fn enabled(&self) -> bool {
        self.window_bytes > 0
    }

    /// A host read, by the index of its operation.
    pub(crate) fn read(&mut self, operation: u32, offset_bytes: u64, length_bytes: u64) -> Read {
        self.uses += 1;
        let end = offset_bytes + length_bytes;
        let follows = |stream: &Stream| {
            stream.used > 0
                && (offset_bytes == stream.next || (stream.from..stream.to).contains(&offset_bytes))
        };
        let Some(number) = self.streams.iter().position(follows) else {
            self.begin(end);
            return Read::Drives;
        };
        let first = self.streams[number].from == self.streams[number].to;
        let stream = &mut self.streams[number];
        stream.used = self.uses;
        stream.next = stream.next.max(end);
        if first {
            // The drives serve the second read of a stream; the data after it is prefetched.
            (stream.from, stream.to, stream.ready) = (end, end, end);
            self.top_up(number);
            return Read::Drives;
        }
        self.top_up(number);
        let window = self.window_bytes;
        let stream = &mut self.streams[number];
        // The same amount stays in memory behind the reader as is fetched ahead of it.
        let oldest_kept = stream.next.saturating_sub(window).min(stream.ready);
        stream.from = stream.from.max(oldest_kept);
        if end <= stream.ready {
            return Read::Ready;
        }
        stream.waiting.push((operation, end));
        Read::Waits
    }

    /// Requests the missing part of the window.
    fn top_up(&mut self, number: usize) {
        let stream = &mut self.streams[number];
        let wanted = (stream.next + self.window_bytes).min(self.end_bytes);
        while stream.to < wanted {
            let end = (stream.to / self.unit_bytes + 1) * self.unit_bytes;
            let end = end.min(self.end_bytes);
            self.fetches.push(Fetch {
                offset_bytes: stream.to,
                length_bytes: end - stream.to,
                stream: number as u32,
                generation: stream.generation,
            });
            stream.fetches.push_back((end, false));
            stream.to = end;
        }
    }

    /// A first read: replaces the least recently used stream, unless reads wait for that one.
    fn begin(&mut self, next: u64) {
        let free = self.streams.iter_mut().filter(|s| s.waiting.is_empty());
        if let Some(stream) = free.min_by_key(|stream| stream.used) {
            stream.end();
            stream.next = next;
            stream.used = self.uses;
        }
    }

    /// A fetch has completed.
    pub(crate) fn fetched(&mut self, fetch: Fetch) {
        let stream = &mut self.streams[fetch.stream as usize];
        if stream.generation != fetch.generation {
            return;
        }
        let end = fetch.offset_bytes + fetch.length_bytes;
        let place = stream.fetches.partition_point(|entry| entry.0 < end);
        if let Some(entry) = stream.fetches.get_mut(place) {
            entry.1 |= entry.0 == end;
        }
        while let Some(&(end, true)) = stream.fetches.front() {
            stream.fetches.pop_front();
            stream.ready = end;
        }
        let ready = stream.ready;
        let served = &mut self.served;
        stream.waiting.retain(|&(operation, end)| {
            if end <= ready {
                served.push(operation);
            }
            end > ready
        });
    }

    /// A write invalidates a stream's data; waiting reads go to the drives.
    pub(crate) fn write(&mut self, offset_bytes: u64, length_bytes: u64) {
        let end = offset_bytes + length_bytes;
        for stream in &mut self.streams {
            if stream.from < end && offset_bytes < stream.to {
                let waiting = stream.waiting.drain(..);
                self.orphans.extend(waiting.map(|(operation, _)| operation));
                stream.end();
            }
        }
    }
}

impl Stream {
    fn end(&mut self) {
        self.generation += 1;
        (self.next, self.from, self.to, self.ready, self.used) = (0, 0, 0, 0, 0);
        self.fetches.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 65_536;

    fn followed() -> Streams {
        let mut streams = Streams::new(2 * UNIT, UNIT, 64 * UNIT);
        assert_eq!(streams.read(0, 0, 8_192), Read::Drives);
        assert!(streams.fetches.is_empty(), "one read is no stream");
        assert_eq!(streams.read(1, 8_192, 8_192), Read::Drives);
        streams
    }

    #[test]
    fn the_second_read_starts_the_stream_and_fetches_end_at_units() {
        let mut streams = followed();
        let ranges: Vec<_> = streams
            .fetches
            .drain(..)
            .map(|fetch| (fetch.offset_bytes, fetch.length_bytes))
            .collect();
        let first = (16_384, UNIT - 16_384);
        assert_eq!(ranges, [first, (UNIT, UNIT), (2 * UNIT, UNIT)]);
    }

    #[test]
    fn reads_wait_for_their_fetch_and_are_served_in_one_piece() {
        let mut streams = followed();
        let fetches: Vec<_> = streams.fetches.drain(..).collect();
        assert_eq!(streams.read(2, 16_384, UNIT), Read::Waits);
        streams.fetched(fetches[1]);
        assert!(streams.served.is_empty(), "the first half is missing");
        streams.fetched(fetches[0]);
        assert_eq!(streams.served.drain(..).collect::<Vec<_>>(), [2]);
        assert_eq!(streams.read(3, 16_384, 8_192), Read::Ready);
    }

    #[test]
    fn a_write_ends_the_stream_and_who_waits_asks_the_drives() {
        let mut streams = followed();
        let fetches: Vec<_> = streams.fetches.drain(..).collect();
        assert_eq!(streams.read(2, 16_384, 8_192), Read::Waits);
        streams.write(20_480, 512);
        assert_eq!(streams.orphans.drain(..).collect::<Vec<_>>(), [2]);
        // Its fetches no longer have an owner.
        streams.fetched(fetches[0]);
        assert!(streams.served.is_empty());
        assert_eq!(streams.read(3, 24_576, 8_192), Read::Drives);
    }

    #[test]
    fn what_lies_a_window_behind_the_reader_is_read_again() {
        let mut streams = followed();
        let mut at = 16_384;
        while at < 16 * UNIT {
            streams.read(2, at, 8_192);
            for fetch in std::mem::take(&mut streams.fetches) {
                streams.fetched(fetch);
            }
            at += 8_192;
        }
        assert_eq!(streams.read(3, 15 * UNIT, 8_192), Read::Ready);
        assert_eq!(streams.read(4, 4 * UNIT, 8_192), Read::Drives);
    }

    #[test]
    fn nothing_is_fetched_beyond_the_end_of_the_array() {
        let end = 3 * UNIT + 4_096;
        let mut streams = Streams::new(4 * UNIT, UNIT, end);
        for at in [0, 8_192] {
            assert_eq!(streams.read(0, at, 8_192), Read::Drives);
        }
        let last = streams.fetches.last().expect("a stream");
        assert_eq!(last.offset_bytes + last.length_bytes, end);
        for fetch in std::mem::take(&mut streams.fetches) {
            streams.fetched(fetch);
        }
        assert_eq!(streams.read(1, end - 4_096, 4_096), Read::Ready);
        assert!(streams.fetches.is_empty());
    }

    #[test]
    fn random_reads_fetch_nothing() {
        let mut streams = Streams::new(UNIT, UNIT, 1 << 40);
        for number in 0..100u64 {
            let offset = number * 7_919 % 101 * (1 << 20);
            assert_eq!(streams.read(number as u32, offset, 8_192), Read::Drives);
        }
        assert!(streams.fetches.is_empty());
    }
}
