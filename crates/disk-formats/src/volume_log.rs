//! Statistics of an Amazon EBS volume: NVMe log page 0xD0. How long its own limits and those of the
//! instance were exceeded since it was attached, and latencies as seen by the volume. Instance
//! store drives have the same page with another magic, and only the instance's limits in it.
//!
//! Layout, little endian: magic at 0; totals of reads and writes at 8 (operations), 24 (bytes) and
//! 40 (microseconds); microseconds beyond limits at 56 (volume, IOPS), 64 (volume, bytes), 72 and
//! 80 (the same for the instance); queue length at 88; histograms of read and write latency at 512
//! and 2,056, each a number of bins and 64 bins of lower and upper end in microseconds and a count
//! (32 bits). Checked in November 2026 against `plugins/amzn` of nvme-cli and `ebsnvme` of FreeBSD,
//! which agree; no page of a real volume was available.

/// Log page identifier.
pub const LOG_PAGE: u8 = 0xD0;
/// Size of the page in bytes.
pub const PAGE_BYTES: usize = 4_096;
const MAGIC: u32 = 0x3C23_B510;
const MAGIC_INSTANCE_STORE: u32 = 0xEC2C_0D7E;
const READ_HISTOGRAM: usize = 512;
const WRITE_HISTOGRAM: usize = 2_056;
const BINS_MAX: u64 = 64;
const BIN_BYTES: usize = 24;

/// Reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadWrite {
    /// Reads.
    pub read: u64,
    /// Writes.
    pub write: u64,
}

/// Operations in a latency range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyBin {
    /// Lower end in microseconds.
    pub lower_us: u64,
    /// Upper end in microseconds.
    pub upper_us: u64,
    /// Number of operations.
    pub count: u32,
}

/// The decoded page. All values but the queue length only increase while the volume is attached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeLog {
    /// Operations.
    pub operations: ReadWrite,
    /// Their bytes.
    pub bytes: ReadWrite,
    /// Their time, microseconds.
    pub time_us: ReadWrite,
    /// Microseconds during which demand exceeded the volume's IOPS limit.
    pub volume_iops_exceeded_us: u64,
    /// Microseconds during which demand exceeded the volume's throughput limit.
    pub volume_bytes_exceeded_us: u64,
    /// Microseconds during which demand exceeded the instance's IOPS limit.
    pub instance_iops_exceeded_us: u64,
    /// Microseconds during which demand exceeded the instance's throughput limit.
    pub instance_bytes_exceeded_us: u64,
    /// Operations in flight when the page was read.
    pub queue_length: u64,
    /// Latencies of reads.
    pub read_latencies: Vec<LatencyBin>,
    /// Latencies of writes.
    pub write_latencies: Vec<LatencyBin>,
}

/// Decodes a page; `None` if it is a different page, or truncated.
pub fn decode(page: &[u8]) -> Option<VolumeLog> {
    let magic = page.get(..4)?.try_into().ok().map(u32::from_le_bytes)?;
    if ![MAGIC, MAGIC_INSTANCE_STORE].contains(&magic) || page.len() < PAGE_BYTES {
        return None;
    }
    let pair = |at| {
        Some(ReadWrite {
            read: long(page, at)?,
            write: long(page, at + 8)?,
        })
    };
    Some(VolumeLog {
        operations: pair(8)?,
        bytes: pair(24)?,
        time_us: pair(40)?,
        volume_iops_exceeded_us: long(page, 56)?,
        volume_bytes_exceeded_us: long(page, 64)?,
        instance_iops_exceeded_us: long(page, 72)?,
        instance_bytes_exceeded_us: long(page, 80)?,
        queue_length: long(page, 88)?,
        read_latencies: histogram(page, READ_HISTOGRAM)?,
        write_latencies: histogram(page, WRITE_HISTOGRAM)?,
    })
}

/// The non-empty bins with a valid range; limits the number of bins to the available space.
fn histogram(page: &[u8], at: usize) -> Option<Vec<LatencyBin>> {
    let count = long(page, at)?.min(BINS_MAX) as usize;
    let bins = (0..count).map(|bin| {
        let at = at + 8 + bin * BIN_BYTES;
        Some(LatencyBin {
            lower_us: long(page, at)?,
            upper_us: long(page, at + 8)?,
            count: long(page, at + 16)? as u32,
        })
    });
    bins.filter(|bin| bin.is_none_or(|bin| bin.count > 0 && bin.lower_us <= bin.upper_us))
        .collect()
}

fn long(page: &[u8], at: usize) -> Option<u64> {
    let bytes = page.get(at..at.checked_add(8)?)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A synthetic page: each field has a distinct value.
    fn page() -> Vec<u8> {
        let mut page = vec![0; PAGE_BYTES];
        page[..4].copy_from_slice(&MAGIC.to_le_bytes());
        let mut put = |at: usize, value: u64| {
            page[at..at + 8].copy_from_slice(&value.to_le_bytes());
        };
        for (number, at) in (8..96).step_by(8).enumerate() {
            put(at, 100 + number as u64);
        }
        put(READ_HISTOGRAM, 2);
        for (bin, count) in [(0, 7), (1, 0)] {
            let at = READ_HISTOGRAM + 8 + bin * BIN_BYTES;
            put(at, 100);
            put(at + 8, 200);
            put(at + 16, count);
        }
        page
    }

    #[test]
    fn every_field_is_where_the_layout_says() {
        let log = decode(&page()).unwrap();
        let pair = |read| ReadWrite {
            read,
            write: read + 1,
        };
        assert_eq!(
            (log.operations, log.bytes, log.time_us),
            (pair(100), pair(102), pair(104))
        );
        assert_eq!(
            (log.volume_iops_exceeded_us, log.volume_bytes_exceeded_us),
            (106, 107)
        );
        assert_eq!(
            (
                log.instance_iops_exceeded_us,
                log.instance_bytes_exceeded_us
            ),
            (108, 109)
        );
        assert_eq!(log.queue_length, 110);
        let bin = LatencyBin {
            lower_us: 100,
            upper_us: 200,
            count: 7,
        };
        assert_eq!(
            (log.read_latencies, log.write_latencies),
            (vec![bin], Vec::new())
        );
    }

    #[test]
    fn drives_of_an_instance_have_the_same_page() {
        let mut page = page();
        page[..4].copy_from_slice(&MAGIC_INSTANCE_STORE.to_le_bytes());
        assert_eq!(decode(&page).unwrap().instance_iops_exceeded_us, 108);
    }

    #[test]
    fn what_is_no_such_page_is_none() {
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&vec![0; PAGE_BYTES]), None);
        assert_eq!(decode(&page()[..PAGE_BYTES - 1]), None);
    }

    #[test]
    fn too_many_bins_are_cut() {
        let mut page = page();
        page[WRITE_HISTOGRAM..WRITE_HISTOGRAM + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        page[WRITE_HISTOGRAM + 8..].fill(0xFF);
        let log = decode(&page).unwrap();
        assert!(log.write_latencies.len() <= BINS_MAX as usize);
    }
}
