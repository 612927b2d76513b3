//! Random arrays and disks, with their truth.

use super::device::OtherLoad;
use anyhow::{Context, Result};
use stripewise_array_sim::ArraySpec;
use stripewise_stats::Random;

pub struct GeneratedArray {
    pub text: String,
    pub spec: ArraySpec,
    pub unit_bytes: u64,
    pub phase_bytes: u64,
    pub columns: u32,
    pub level: String,
    /// The rotation of parity, where a listed layout has to include it.
    pub rotation: Option<&'static str>,
    pub load: Option<OtherLoad>,
}

pub fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

/// Drift, caches, slow outliers, a cap, a file system: some arrays have some of them.
fn conditions(random: &mut Random, keys: &mut Vec<String>) {
    if random.below(3) == 0 {
        keys.push(format!("drift_percent_per_hour={}", random.below(300)));
    }
    if random.below(3) == 0 {
        keys.push("cache.size=128M&cache.nonvolatile=true&controller.prefetch=1M".into());
    }
    if random.below(3) == 0 {
        keys.push(
            "faults.spikes_per_million=3000&faults.spike_min=5ms&faults.spike_max=200ms".into(),
        );
    }
    if random.below(4) == 0 {
        keys.push("limit.drive_iops=150".into());
    }
    if random.below(4) == 0 {
        keys.push("allocation_unit=4K".into());
    }
}

/// For every third array, other load of a twentieth to a third of the array's capacity.
fn other_load(random: &mut Random, shape: Shape) -> Option<OtherLoad> {
    if random.below(3) > 0 {
        return None;
    }
    let share = 0.05 + 0.28 * random.uniform();
    let bytes = pick(random, &[4096, 8192, 65_536]);
    let writes = pick(random, &[0.0, 0.3]);
    // Disk accesses per operation: one per unit it touches; a write also updates the copy, or reads
    // and writes parity.
    let pieces = 1.0 + f64::from(bytes) / shape.unit_bytes as f64;
    let accesses = pieces * (1.0 - writes + writes * shape.write_accesses);
    Some(OtherLoad {
        per_second: share * 80.0 * shape.disks as f64 / accesses,
        bytes,
        writes,
    })
}

/// Properties that determine the array's maximum rate.
struct Shape {
    disks: u64,
    unit_bytes: u64,
    /// Accesses for a write of one piece.
    write_accesses: f64,
}

impl Shape {
    fn of(level: &str, disks: u64, unit_bytes: u64) -> Shape {
        Shape {
            disks,
            unit_bytes,
            // Parity is kept in pages: an unaligned write partly changes two.
            write_accesses: match level {
                "10" => 2.0,
                "5" => 8.0,
                "6" => 12.0,
                _ => 1.0,
            },
        }
    }
}

/// A stripe unit of 4K to 1M, log-uniform; half of them powers of two.
fn stripe_unit(random: &mut Random, grain: u64) -> u64 {
    let power = 12 + random.below(9) as u32;
    let unit = 1u64 << power;
    if random.below(2) > 0 {
        return unit;
    }
    let unit = (unit + random.below(unit as usize) as u64) / grain * grain;
    unit.clamp(4096, 1 << 20)
}

/// A RAID 0, 10 or 5 of rotating disks.
pub fn striped(seed: u64) -> Result<GeneratedArray> {
    let mut random = Random::new(seed);
    let level = pick(&mut random, &["0", "10", "5"]);
    let parity = level == "5";
    let mut disks = 2 + random.below(23) as u64;
    match level {
        "10" => disks = (disks.max(4) / 2) * 2,
        "5" => disks = disks.max(3),
        _ => {}
    }
    let unit = stripe_unit(&mut random, if parity { 4096 } else { 512 });
    let offset = random.below(1 << 13) as u64 * 512;
    let mut keys = vec![
        format!("level={level}"),
        format!("disks={disks}"),
        format!("stripe_unit={unit}"),
        format!("offset={offset}"),
    ];
    let base = drives(&mut random, seed, &mut keys);
    conditions(&mut random, &mut keys);
    let load = other_load(&mut random, Shape::of(level, disks, unit));
    let text = format!("{base}?{}", keys.join("&"));
    Ok(GeneratedArray {
        columns: if level == "10" { disks / 2 } else { disks } as u32,
        level: level.to_owned(),
        load,
        ..made(text, unit)?
    })
}

/// A RAID 5 with a parity rotation other than left-symmetric, or a RAID 6.
pub fn rotated(seed: u64) -> Result<GeneratedArray> {
    const ROTATIONS: [&str; 5] = [
        "left-asymmetric",
        "right-symmetric",
        "right-asymmetric",
        "parity-last",
        "left-symmetric",
    ];
    let mut random = Random::new(seed ^ 0x60_60_00);
    let level = pick(&mut random, &["5", "6"]);
    // Left-symmetric RAID 5 is among those that read like RAID 0.
    let rotation = ROTATIONS[random.below(if level == "6" { 5 } else { 4 })];
    let parities = if level == "6" { 2 } else { 1 };
    // With the minimum of disks, consecutive units are on one disk, and look like larger units.
    let disks = 3 + parities + random.below(9) as u64;
    let unit = stripe_unit(&mut random, 4096);
    let mut keys = vec![
        format!("level={level}"),
        format!("disks={disks}"),
        format!("parity_rotation={rotation}"),
        format!("stripe_unit={unit}"),
        format!("offset={}", random.below(1 << 13) * 512),
    ];
    let base = drives(&mut random, seed, &mut keys);
    conditions(&mut random, &mut keys);
    let load = other_load(&mut random, Shape::of(level, disks, unit));
    let text = format!("{base}?{}", keys.join("&"));
    let (columns, level, rotation) = match rotation {
        // All data on the same disks: like RAID 0 of these, and RAID 4 with one more disk.
        "parity-last" if level == "5" => (disks - 1, "4", "parity on one disk"),
        "parity-last" => (disks - 2, "6", "parity on two disks"),
        rotation => (disks, level, rotation),
    };
    Ok(GeneratedArray {
        columns: columns as u32,
        level: level.to_owned(),
        rotation: Some(rotation),
        load,
        ..made(text, unit)?
    })
}

fn made(text: String, unit: u64) -> Result<GeneratedArray> {
    let spec = spec_of(&text)?;
    let facts = spec.facts();
    let begins = facts.partition_offset_bytes + facts.file_offset_bytes;
    Ok(GeneratedArray {
        text,
        spec,
        unit_bytes: unit,
        phase_bytes: (unit - begins % unit) % unit,
        columns: 0,
        level: String::new(),
        rotation: None,
        load: None,
    })
}

/// Type and behaviour of the drives; the bundled array they are based on.
fn drives(random: &mut Random, seed: u64, keys: &mut Vec<String>) -> &'static str {
    let base = pick(
        random,
        &[
            "disk-15k",
            "disk-7k2",
            "raid10-10k",
            "raid5-7k2",
            "oja-nisula-2007",
            "mssqltips-2127",
        ],
    );
    keys.extend([
        "size=0".to_owned(),
        format!("seed={}", seed + 7),
        format!(
            "mirror_read={}",
            pick(random, &["nearest", "nearest-idle", "shortest", "hash"])
        ),
        format!(
            "disk.scheduling={}",
            pick(random, &["blend", "blend", "first-come"])
        ),
        format!(
            "disk.rotation_weight={}",
            pick(random, &["0.1", "0.3", "1"])
        ),
        format!("disk.read_ahead={}", pick(random, &["0", "256K", "1M"])),
        format!("disk.queue_depth={}", pick(random, &[4, 16, 32])),
        format!("disk.cylinders={}", 20_000 + random.below(100_000)),
        format!("disk.occupancy={}us", 50 + random.below(400)),
        format!("disk.zones={}", pick(random, &[0, 0, 8, 24])),
    ]);
    base
}

/// One disk, a mirror, concatenated disks, a virtualised array, solid-state drives.
pub fn without(seed: u64) -> Result<GeneratedArray> {
    let mut random = Random::new(seed ^ 0xabcd_ef00);
    let kind = random.below(9);
    let seed_key = format!("seed={seed}");
    let outer = 800 + random.below(1500);
    let inner = if random.below(3) == 0 {
        outer
    } else {
        outer / 2 + random.below(outer / 2)
    };
    let disk = format!(
        "disk.rpm={}&disk.cylinders={}&disk.heads={}&disk.sectors_per_track_outer={outer}&disk.sectors_per_track_inner={inner}&disk.scheduling={}&disk.rotation_weight={}&disk.read_ahead={}&offset={}&size=0",
        pick(&mut random, &[5400, 7200, 10_000, 15_000]),
        20_000 + random.below(150_000),
        1 + random.below(8),
        pick(&mut random, &["blend", "first-come"]),
        pick(&mut random, &["0", "0.15", "1"]),
        pick(&mut random, &["0", "256K", "2M"]),
        random.below(4096) * 512,
    );
    let text = match kind {
        0 | 1 => format!("disk-7k2?{seed_key}&{disk}"),
        2 => format!(
            "raid10-10k?level=1&disks={}&{seed_key}&{disk}&mirror_read={}",
            2 + random.below(2),
            pick(&mut random, &["nearest", "shortest", "hash"])
        ),
        3 => format!(
            "raid10-10k?level=linear&disks={}&{seed_key}&{disk}",
            2 + random.below(6)
        ),
        4 | 5 => chunklets(&mut random, &seed_key),
        6 => format!(
            "nvme?{seed_key}&ssd.channels={}&ssd.page_size={}",
            4 << random.below(5),
            4096 << random.below(3)
        ),
        _ => format!(
            "sata-ssd?level={}&disks=4&{seed_key}&stripe_unit=64K&controller.link=0",
            pick(&mut random, &["0", "5", "10"])
        ),
    };
    let mut keys = vec![text];
    if kind < 6 {
        conditions(&mut random, &mut keys);
    }
    let text = keys.join("&");
    let load = other_load(&mut random, Shape::of("single", 1, u64::MAX)).filter(|_| kind < 6);
    Ok(GeneratedArray {
        load,
        ..made(text, 1)?
    })
}

/// Pieces of a few MiB of each disk, each in a different order: a piece has stripes, but there is
/// no overall pattern.
fn chunklets(random: &mut Random, seed_key: &str) -> String {
    format!(
        "raid10-10k?level={}&disks={}&stripe_unit={}K&chunklet={}M&{seed_key}&offset={}&size=0",
        pick(random, &["0", "5", "10"]),
        4 + 2 * random.below(8),
        16 << random.below(5),
        pick(random, &[16, 64, 256, 1024]),
        random.below(4096) * 512,
    )
}

pub fn spec_of(text: &str) -> Result<ArraySpec> {
    ArraySpec::bundled(text).with_context(|| format!("the array {text}"))
}

/// A disk with a known surface.
pub struct Disk {
    pub text: String,
    pub spec: ArraySpec,
    /// First byte of each zone except the first.
    pub boundaries: Vec<f64>,
    /// The mean seek time, including the firmware overhead of each movement.
    pub seek_average_ns: f64,
}

/// A disk with 3 to 12 zones. The innermost tracks are half to two thirds as long as the outermost,
/// and neighbouring zones differ by at least 4 %.
pub fn disk(seed: u64) -> Result<Disk> {
    let mut random = Random::new(seed ^ 0x5175_0000);
    let zones = 3 + random.below(10) as u64;
    let outer = 900 + random.below(1_200) as u64;
    let inner = outer * (50 + random.below(17) as u64) / 100;
    let (cylinders, heads) = (
        40_000 + random.below(140_000) as u64,
        1 + random.below(8) as u64,
    );
    let rpm = pick(&mut random, &[5_400, 5_900, 7_200, 10_000, 15_000]);
    // As in data sheets: full strokes take a little more than twice the average.
    let average_us = 3_300 + random.below(6_000) as u64;
    let full_us = average_us * (200 + random.below(40) as u64) / 100;
    let text = format!(
        "disk-7k2?disk.zones={zones}&disk.sectors_per_track_outer={outer}\
         &disk.sectors_per_track_inner={inner}&disk.cylinders={cylinders}&disk.heads={heads}\
         &disk.rpm={rpm}&disk.seek_average={average_us}us&disk.seek_full={full_us}us\
         &disk.occupancy={}us&offset=0&size=0&seed={seed}",
        50 + random.below(300),
    );
    let spec = spec_of(&text)?;
    let (mut sectors, mut boundaries) = (0.0, Vec::new());
    for zone in 0..zones {
        // The track law at the middle of each zone.
        let part = (zone as f64 + 0.5) / zones as f64;
        let length = outer as f64 - (outer - inner) as f64 * part;
        sectors += length * (cylinders * heads) as f64 / zones as f64;
        boundaries.push(sectors * 512.0);
    }
    boundaries.pop();
    Ok(Disk {
        text,
        boundaries,
        seek_average_ns: (spec.disk.seek_average_ns + spec.disk.occupancy_ns) as f64,
        spec,
    })
}
