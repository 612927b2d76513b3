//! Placement of a product's jobs: in a directory, each file is a file of its own; on one device,
//! file or simulated array, the files lie one after the other.

use crate::product::Product;
use serde::{Deserialize, Serialize};
use stripewise_workload::{CacheMode, Workload};

/// Placement of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// All files are parts of one target.
    pub is_one_target: bool,
    /// Without a file system, the page cache's writes are issued directly: whole sectors of this
    /// size. 0: there is a file system.
    pub sector_bytes: u64,
    /// Nothing may be written.
    pub reads_only: bool,
    /// The target is a simulated array, on which the journal of growing files is simulated.
    #[serde(default)]
    pub is_simulated: bool,
}

/// Alignment of files within one target.
const FILE_ALIGNMENT_BYTES: u64 = 1 << 20;

impl Placement {
    /// The load of a job, and the index of its target.
    pub fn place(&self, product: &Product, job: usize) -> (Workload, usize) {
        let own = &product.jobs[job];
        self.place_in(product, own.file, own.workload.clone())
    }

    /// The same of any load on the file of this index.
    pub(super) fn place_in(
        &self,
        product: &Product,
        file: usize,
        workload: Workload,
    ) -> (Workload, usize) {
        if !self.is_one_target {
            return (workload, file);
        }
        let before = product.files[..file].iter();
        let before: u64 = before
            .map(|file| file.size_bytes().next_multiple_of(FILE_ALIGNMENT_BYTES))
            .sum();
        let base_offset_bytes = workload.base_offset_bytes.saturating_add(before);
        let workload = Workload {
            base_offset_bytes,
            ..workload
        };
        (self.without_file_system(workload), 0)
    }

    fn without_file_system(&self, workload: Workload) -> Workload {
        if self.sector_bytes == 0 {
            return workload;
        }
        let cache = match workload.cache {
            CacheMode::Buffered | CacheMode::Dontcache => CacheMode::Direct,
            CacheMode::BufferedSync => CacheMode::DirectSync,
            direct => direct,
        };
        let block_size_bytes = match workload.block_sizes.is_empty() {
            true => workload
                .block_size_bytes
                .next_multiple_of(self.sector_bytes),
            false => workload.block_size_bytes,
        };
        Workload {
            cache,
            block_size_bytes,
            ..workload
        }
    }

    /// Required size of a single target in bytes.
    pub fn size_bytes(product: &Product) -> u64 {
        let sizes = product.files.iter();
        sizes
            .map(|file| file.size_bytes().next_multiple_of(FILE_ALIGNMENT_BYTES))
            .sum()
    }
}
