//! Every completion of many arrays under many loads, pinned: what makes the simulator
//! faster must not move one of them by a nanosecond.
//!
//! Each case is a bundled array with some keys changed and a load, both drawn from the
//! number of the case.

use crate::determinism::Digest;
use crate::request;
use stripewise_array_sim::random::{Entity, below, draw};
use stripewise_array_sim::{Array, ArraySpec, Finished, Kind, Request, Simulate, bundled};

/// Keys and values that change what an array does, by what they concern.
const CHANGES: [&[&str]; 14] = [
    &[
        "level=0&disks=3",
        "level=1&disks=2",
        "level=1&disks=3",
        "level=10&disks=8",
        "level=5&disks=3",
        "level=5&disks=5",
        "level=6&disks=4",
        "level=6&disks=9",
        "level=linear&disks=2",
        "level=0&disks=1000",
        "level=10&disks=1000",
    ],
    &[
        "stripe_unit=4K",
        "stripe_unit=16K",
        "stripe_unit=48K",
        "stripe_unit=256K&chunklet=1M",
    ],
    &["offset=63s", "offset=36K", "sector=4K&offset=1M"],
    &["size=64M", "size=2G", "fragments=500"],
    &[
        "scheduling=first-come",
        "queue_depth=1",
        "queue_depth=2",
        "queue_depth=7",
        "queue_depth=64",
        "queue_depth=300",
    ],
    &[
        "rotation_weight=0",
        "rotation_weight=1",
        "rotation_weight=0.5&write_settle=0",
        "wait_limit=40ms",
        "occupancy=0&write_settle=3ms",
    ],
    &[
        "read_ahead=0",
        "read_ahead=64K&segments=3",
        "read_ahead=512K&segments=40",
        "read_ahead=1M&segments=1",
    ],
    &[
        "disk.zones=5",
        "placement=1.7",
        "heads=1&cylinders=2000&seek_average=3ms&seek_full=6ms",
        "seek_scale=0.1&head_switch=0",
        "seek_track=0&seek_average=0&seek_full=0",
    ],
    &[
        "mirror_read=nearest",
        "mirror_read=nearest-idle",
        "mirror_read=shortest",
        "mirror_read=hash",
    ],
    &[
        "parity_write=read-modify-write",
        "parity_write=reconstruct-write",
        "parity_page=512",
        "parity_rotation=right-asymmetric",
    ],
    &[
        "command_cap=8",
        "queue_cpu=5us&access_share=0.3",
        "split_cpu=30us&link=200M",
        "prefetch=512K",
        "operation_cpu=0&command_latency=0&completion_latency=0",
    ],
    &[
        "cache=1M&slots=2",
        "cache=16M&slots=8&merge=256K",
        "cache=4M&nonvolatile=true",
    ],
    &[
        "iops=700&burst_operations=100&burst_iops=2000",
        "drive_iops=150",
        "drift_percent_per_hour=900&age=30m",
    ],
    &[
        "failed_per_million=20000",
        "spikes_per_million=50000&spike_max=20ms&stall_interval=700ms&stall=90ms",
    ],
];

const OUTSTANDING: [u64; 7] = [1, 2, 5, 32, 100, 256, 1_500];

/// Numbers that follow from the case's.
struct SeededRng {
    case: u64,
    drawn: u64,
}

impl SeededRng {
    fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        below(draw(63, Entity::Load, self.case, self.drawn), bound)
    }
}

/// What a case does to its array.
struct Load {
    outstanding: u64,
    /// Of 8 operations.
    writes: u64,
    syncs: bool,
    /// Streams mixed with random positions; this many of 8 operations belong to one.
    streams: Vec<u64>,
    sequential: u64,
    /// Of the volume; the rest is left alone.
    span_bytes: u64,
    /// 512 to the power of two.
    block_log2: u64,
    mixed_blocks: bool,
    /// Between arrivals that no completion causes; 0: a closed loop.
    arrival_ns: u64,
}

impl Load {
    fn draw(rng: &mut SeededRng, array: &Array) -> Load {
        let size_bytes = array.size_bytes();
        Load {
            outstanding: OUTSTANDING[rng.below(7) as usize],
            writes: [0, 0, 2, 4, 8][rng.below(5) as usize],
            syncs: rng.below(4) == 0,
            streams: vec![0; 1 + rng.below(12) as usize],
            sequential: [0, 0, 4, 7, 8][rng.below(5) as usize],
            span_bytes: size_bytes >> [0, 0, 0, 4, 9][rng.below(5) as usize],
            block_log2: [3, 4, 4, 4, 7, 8][rng.below(6) as usize],
            mixed_blocks: rng.below(4) == 0,
            arrival_ns: [0, 0, 400_000, 9_000_000][rng.below(4) as usize],
        }
    }

    fn request(&mut self, rng: &mut SeededRng, array: &Array, token: u64) -> Request {
        let sector_bytes = u64::from(array.sector_bytes());
        let log2 = match self.mixed_blocks {
            true => rng.below(self.block_log2 + 1),
            false => self.block_log2,
        };
        let length_bytes = (512 << log2).max(sector_bytes);
        let sectors = (self.span_bytes.max(1 << 22).min(array.size_bytes()) - length_bytes)
            / sector_bytes
            + 1;
        let blocks = length_bytes / sector_bytes;
        let streams = self.streams.len() as u64;
        let sector = if rng.below(8) < self.sequential {
            let stream = rng.below(streams);
            let at = &mut self.streams[stream as usize];
            *at += blocks;
            (stream * (sectors / streams) + *at) % sectors
        } else {
            rng.below(sectors) / blocks * blocks
        };
        let kind = match rng.below(8) {
            number if number < self.writes => Kind::Write,
            _ if self.syncs && rng.below(10) == 0 => Kind::Sync,
            _ => Kind::Read,
        };
        Request {
            token,
            durable: kind == Kind::Write && rng.below(4) == 0,
            length_bytes: length_bytes as u32,
            ..request(kind, sector * sector_bytes)
        }
    }
}

/// The bundled arrays that cases are drawn from. Later ones come behind them, so that the
/// cases stay what they are.
const DRAWN_FROM: usize = 12;

/// A bundled array with those of the drawn changes that fit together.
fn array_of(rng: &mut SeededRng) -> (String, ArraySpec) {
    let bundled = &bundled()[..DRAWN_FROM];
    let known = &bundled[rng.below(bundled.len() as u64) as usize];
    let mut name = format!("{}?seed={}", known.name, rng.below(1_000));
    let mut spec = known.spec();
    for changes in CHANGES {
        if rng.below(3) > 0 {
            continue;
        }
        let change = changes[rng.below(changes.len() as u64) as usize];
        let changed = format!("{name}&{change}");
        if let Ok(accepted) = ArraySpec::bundled(&changed) {
            (name, spec) = (changed, accepted);
        }
    }
    (name, spec)
}

/// Of all completions of a case and what its array says in the end; and its name.
pub fn case(number: u64) -> (String, u64) {
    let mut rng = SeededRng {
        case: number,
        drawn: 0,
    };
    let (name, spec) = array_of(&mut rng);
    let mut array = spec.build();
    let mut load = Load::draw(&mut rng, &array);
    let operations = 200 + 2 * load.outstanding;
    let mut digest = Digest::new();
    let (mut issued, mut done) = (0, 0);
    let mut batch: Vec<Finished> = Vec::new();
    while issued < load.outstanding {
        let request = load.request(&mut rng, &array, issued);
        array.submit(0, request);
        issued += 1;
    }
    let open = load.arrival_ns > 0;
    let mut due_ns = if open { load.arrival_ns } else { u64::MAX };
    while done < operations {
        let next_ns = match number.is_multiple_of(2) {
            true => array.settle(due_ns - 1),
            false => array.next_event_ns(),
        };
        let now_ns = next_ns.unwrap_or(u64::MAX).min(due_ns);
        array.advance(now_ns, &mut |finished| batch.push(finished));
        if now_ns == due_ns {
            let request = load.request(&mut rng, &array, issued);
            array.submit(now_ns, request);
            issued += 1;
            due_ns = match issued < operations {
                true => due_ns + load.arrival_ns,
                false => u64::MAX,
            };
        }
        for finished in batch.drain(..) {
            digest.add(finished.token);
            digest.add(finished.result as u64);
            digest.add(finished.at_ns);
            done += 1;
            if !open && issued < operations {
                let request = load.request(&mut rng, &array, issued);
                array.submit(finished.at_ns, request);
                issued += 1;
            }
        }
    }
    let totals = array.totals();
    digest.add(totals.accesses);
    digest.add(totals.pages_moved);
    array
        .drives_busy_ns()
        .for_each(|busy_ns| digest.add(busy_ns));
    (name, digest.value())
}

/// Cases that share a digest.
const GROUP: u64 = 20;

#[test]
fn completions_of_many_arrays_are_the_pinned_ones() {
    // Changing one of these is a change of measurement: say so in the changelog.
    let pinned: [u64; 16] = [
        0xa85f_e208_1703_3cc0,
        0xe5a0_eae0_9e2e_2b0f,
        0x96fc_3fb2_ad48_b9d6,
        0xd22e_f6e3_23a4_328d,
        0xf7af_db8e_5a3f_532d,
        0x0048_5d33_91f5_304c,
        0x1c18_8424_18a9_72c5,
        0xda6b_2e05_bd1a_b6c8,
        0xee74_9334_2fe9_7d85,
        0xc77c_c707_4804_d02e,
        0x2a81_6af0_0ade_7fb7,
        0x03f8_0857_a4fa_4cea,
        0xa345_8fd1_e084_b5c8,
        0xea51_6772_0297_81f7,
        0x5a60_b81f_2a76_38e0,
        0x835c_c455_1bd6_28be,
    ];
    let found: Vec<u64> = (0..pinned.len() as u64)
        .map(|group| {
            let mut digest = Digest::new();
            for number in group * GROUP..(group + 1) * GROUP {
                digest.add(case(number).1);
            }
            digest.value()
        })
        .collect();
    assert_eq!(found, pinned);
}
