//! From open targets to what the workers share: regions, owners, maps, memory.

use super::VerifyOptions;
use super::drive::Post;
use crate::failure::{Failure, Outcome};
use std::sync::Arc;
use stripewise_disk_inspect::System;
use stripewise_targets::Target;
use stripewise_units::format_bytes;
use stripewise_verify::{Crew, Field, Ground, Region, Role, Worker};

/// SQL Server's page: what has a generation, and the unit of writes.
const PAGE_BYTES: u32 = 8 << 10;
/// The largest operation: read-ahead, and the passes over everything.
const LARGEST_BYTES: u32 = 1 << 20;
/// The log takes this share of a target, and never more than this.
const LOG_SHARE: u64 = 16;
const LOG_BYTES_MAX: u64 = 50 << 20;
/// A target smaller than this has no log.
const LOG_TARGET_BYTES_MIN: u64 = 1 << 20;
/// Operations of a log or a scan in flight.
const FEW_OUTSTANDING: u32 = 4;
/// Maps and buffers may take this share of the memory that is available.
const MEMORY_SHARE_MAX: f64 = 0.8;

/// The workers, and what they share.
pub(super) struct Staff {
    pub field: Arc<Field>,
    pub posts: Vec<Post>,
}

/// A worker to be made.
struct Place {
    target: usize,
    region: usize,
    role: Role,
    slots: u32,
}

/// Shares out the targets among workers. `epoch_ns`: nanoseconds since 1970 when the
/// workers' clock shows 0.
pub(super) fn staff(
    targets: &[Target],
    options: &VerifyOptions,
    run: u64,
    epoch_ns: u64,
) -> Outcome<Staff> {
    let mut places = Vec::new();
    let mut grounds = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        grounds.push(match options.capacity {
            true => whole(number, target, options, &mut places),
            false => ground(number, target, options, &mut places)?,
        });
    }
    check_memory(&grounds, &places)?;
    let workers = u16::try_from(places.len()).map_err(|_| {
        Failure::usage(
            "these are too many workers",
            "give fewer targets or --threads",
        )
    })?;
    let field = Arc::new(Field::new(run, grounds, epoch_ns, workers));
    let posts = places.into_iter().zip(0..).map(|(place, id)| {
        let crew = Crew {
            id,
            target: place.target as u16,
            region: place.region,
            role: place.role,
            slots: place.slots,
            slot_bytes: LARGEST_BYTES,
            seed: options.seed ^ run,
        };
        Post::new(Worker::new(Arc::clone(&field), crew), place.target)
    });
    Ok(Staff {
        posts: posts.collect(),
        field,
    })
}

/// A whole device in the largest operations, and the rest behind them: two bytes a MiB.
fn whole(
    number: usize,
    target: &Target,
    options: &VerifyOptions,
    places: &mut Vec<Place>,
) -> Ground {
    let sector_bytes = target.logical_sector_bytes();
    let size_bytes = target.size_bytes();
    let mut regions = Vec::new();
    let mut start_bytes = 0;
    for block_bytes in [LARGEST_BYTES, sector_bytes] {
        let blocks = (size_bytes - start_bytes) / u64::from(block_bytes);
        if blocks > 0 {
            let id = places.len() as u16;
            places.push(Place {
                target: number,
                region: regions.len(),
                role: Role::Log,
                slots: options.outstanding,
            });
            regions.push(Region::new(start_bytes, block_bytes, blocks, &[id]));
            start_bytes += blocks * u64::from(block_bytes);
        }
    }
    Ground {
        sector_bytes,
        regions,
    }
}

/// One target: pages in front, the log behind them.
fn ground(
    number: usize,
    target: &Target,
    options: &VerifyOptions,
    places: &mut Vec<Place>,
) -> Outcome<Ground> {
    let sector_bytes = target.logical_sector_bytes();
    let size_bytes = target.size_bytes();
    let page_bytes = PAGE_BYTES.max(sector_bytes);
    let log_bytes = match size_bytes {
        0..LOG_TARGET_BYTES_MIN => 0,
        _ => (size_bytes / LOG_SHARE).min(LOG_BYTES_MAX),
    };
    let pages = (size_bytes - log_bytes) / u64::from(page_bytes);
    let threads = u64::from(options.threads);
    if pages < threads {
        let name = &target.facts().name;
        return Err(Failure::usage(
            format!(
                "{name} has {}, which is no room for pages of {} for {threads} threads",
                format_bytes(size_bytes),
                format_bytes(u64::from(page_bytes))
            ),
            "give a larger --size, or fewer --threads",
        ));
    }
    let mut take = |region, role, slots| {
        let id = places.len() as u16;
        places.push(Place {
            target: number,
            region,
            role,
            slots,
        });
        id
    };
    let pages_role = Role::Pages {
        read_percent: u32::from(options.read_percent),
        gathers: false,
    };
    let owners: Vec<u16> = (0..options.threads)
        .map(|_| take(0, pages_role, options.outstanding))
        .collect();
    let mut regions = vec![Region::new(0, page_bytes, pages, &owners)];
    let data_bytes = pages * u64::from(page_bytes);
    let log_sectors = log_bytes / u64::from(sector_bytes);
    if log_sectors > 0 {
        let log = take(1, Role::Log, FEW_OUTSTANDING);
        regions.push(Region::new(data_bytes, sector_bytes, log_sectors, &[log]));
    }
    take(0, Role::Scan, FEW_OUTSTANDING);
    Ok(Ground {
        sector_bytes,
        regions,
    })
}

/// The map and the buffers must fit before the first byte is written.
fn check_memory(grounds: &[Ground], places: &[Place]) -> Outcome<()> {
    let regions = grounds.iter().flat_map(|ground| &ground.regions);
    let map_bytes: u64 = regions.map(|region| region.map.blocks() * 2).sum();
    let slots: u64 = places.iter().map(|place| u64::from(place.slots)).sum();
    let needed = map_bytes + slots * u64::from(LARGEST_BYTES);
    let memory = System::live().host().memory;
    let available = match (memory.available_bytes, memory.limit_bytes) {
        (Some(available), Some(limit)) => Some(available.min(limit)),
        (one, other) => one.or(other),
    };
    match available {
        Some(available) if needed as f64 > available as f64 * MEMORY_SHARE_MAX => {
            Err(Failure::usage(
                format!(
                    "the map of expectations and the buffers take {}, and {} of memory are available",
                    format_bytes(needed),
                    format_bytes(available)
                ),
                "give a smaller --size; `--capacity` needs no map",
            ))
        }
        _ => Ok(()),
    }
}
