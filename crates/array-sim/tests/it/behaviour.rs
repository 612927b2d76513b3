//! What each setting is there for.

use crate::{drain, one, request, run, spec, target};
use stripewise_array_sim::layout::Level;
use stripewise_array_sim::{Kind, Request, Simulate, WriteFault};

#[test]
fn requests_that_cannot_be_fail_with_einval_and_hold_nothing_up() {
    let mut array = target("disk-15k?size=1M&command_cap=1").build();
    let bad = [
        Request {
            offset_bytes: 1 << 20,
            ..request(Kind::Read, 0)
        },
        Request {
            offset_bytes: (1 << 20) - 4_096,
            ..request(Kind::Write, 0)
        },
        Request {
            offset_bytes: 100,
            ..request(Kind::Read, 0)
        },
        Request {
            length_bytes: 0,
            ..request(Kind::Read, 0)
        },
        Request {
            length_bytes: 700,
            ..request(Kind::Read, 0)
        },
        Request {
            offset_bytes: u64::MAX - 511,
            ..request(Kind::Read, 0)
        },
    ];
    for request in bad {
        let finished = one(&mut array, 0, request);
        assert_eq!(finished.len(), 1);
        assert_eq!(finished[0].result, -22, "{request:?}");
    }
    let good = one(&mut array, 0, request(Kind::Read, (1 << 20) - 8_192));
    assert_eq!(good[0].result, 8_192);
}

#[test]
fn an_array_says_what_it_is_made_of() {
    let facts = target("raid10-10k?offset=63s&stripe_unit=256K&disks=6")
        .build()
        .facts();
    assert_eq!(facts.level, Level::Raid10);
    assert_eq!(facts.stripe_width_bytes, 3 * 256 * 1024);
    assert_eq!(
        (facts.partition_offset_bytes, facts.sector_bytes),
        (32_256, 512)
    );
    assert!(facts.rotational);
    assert_eq!(target("disk-15k").facts().stripe_unit_bytes, 0);
}

#[test]
fn the_volume_runs_from_the_offset_to_the_end_unless_a_size_is_given() {
    let whole = target("raid10-10k?offset=0").build().size_bytes();
    assert_eq!(
        target("raid10-10k?offset=1G").build().size_bytes(),
        whole - (1 << 30)
    );
    assert_eq!(target("raid10-10k?size=5G").build().size_bytes(), 5 << 30);
    let one = target("disk-15k?offset=0").build().size_bytes();
    for (level, disks, times) in [
        ("0", 6, 6),
        ("linear", 3, 3),
        ("1", 3, 1),
        ("10", 6, 3),
        ("5", 6, 5),
        ("6", 6, 4),
    ] {
        let array = target(&format!("disk-15k?offset=0&level={level}&disks={disks}")).build();
        assert_eq!(array.size_bytes(), one * times, "level {level}");
    }
    // Every last byte can be read.
    let mut array = target("raid5-7k2?offset=63s").build();
    let last = (array.size_bytes() - 8_192) / 512 * 512;
    assert_eq!(one_result(&mut array, last), 8_192);
}

fn one_result(array: &mut stripewise_array_sim::Array, offset: u64) -> i32 {
    one(array, 0, request(Kind::Read, offset))[0].result
}

#[test]
fn sequential_reads_stream_with_read_ahead_and_lose_revolutions_without() {
    let rate = |read_ahead: &str| {
        let mut array = target(&format!("disk-15k?read_ahead={read_ahead}")).build();
        let (mut at_ns, mut offset) = (0, 0);
        for _ in 0..4_000 {
            let finished = one(&mut array, at_ns, request(Kind::Read, offset));
            at_ns = finished[0].at_ns;
            offset += 8_192;
        }
        offset as f64 / (at_ns as f64 / 1e9) / 1e6
    };
    // 977 sectors a track at 250 revolutions a second: 125 MB/s less the skew.
    let streaming = rate("1M");
    assert!((40.0..126.0).contains(&streaming), "{streaming} MB/s");
    let missing = rate("0");
    assert!(
        (1.5..2.6).contains(&missing),
        "one revolution each: {missing} MB/s"
    );
}

#[test]
fn large_sequential_reads_reach_the_data_sheet() {
    // 125 MB/s on the outermost track; a head switch per track takes its part.
    let mut array = target("disk-15k?read_ahead=0").build();
    for number in 0..200u64 {
        array.submit(
            0,
            Request {
                length_bytes: 1 << 20,
                ..request(Kind::Read, number << 20)
            },
        );
    }
    let end_ns = drain(&mut array).last().unwrap().at_ns;
    let rate = (200u64 << 20) as f64 / (end_ns as f64 / 1e9) / 1e6;
    let expected = 125.0 * 4.0 / 4.3;
    assert!(
        (rate / expected - 1.0).abs() < 0.03,
        "{rate} MB/s, {expected} expected"
    );
}

#[test]
fn a_volatile_cache_acknowledges_writes_but_not_durable_ones_and_syncs_wait() {
    let latency = |array: &mut stripewise_array_sim::Array, now_ns, kind, durable, offset| {
        let finished = one_until(
            array,
            now_ns,
            Request {
                durable,
                ..request(kind, offset)
            },
        );
        finished - now_ns
    };
    let mut volatile = target("disk-7k2").build();
    let second = 1_000_000_000;
    assert!(latency(&mut volatile, 0, Kind::Write, false, 1 << 30) < 200_000);
    assert!(latency(&mut volatile, second, Kind::Write, true, 5 << 30) > 1_000_000);
    let mut array = target("disk-7k2").build();
    latency(&mut array, 0, Kind::Write, false, 1 << 30);
    assert!(
        latency(&mut array, 20_000, Kind::Sync, false, 0) > 1_000_000,
        "dirty data goes first"
    );
    drain(&mut array);
    assert!(
        latency(&mut array, 5 * second, Kind::Sync, false, 0) < 200_000,
        "nothing is dirty"
    );
    let mut battery = target("disk-7k2?cache.nonvolatile=true").build();
    assert!(latency(&mut battery, 0, Kind::Write, true, 1 << 30) < 200_000);
    assert!(latency(&mut battery, second, Kind::Sync, false, 0) < 200_000);
}

/// Submits and returns when that operation completes; the array may stay busy.
fn one_until(array: &mut stripewise_array_sim::Array, now_ns: u64, request: Request) -> u64 {
    array.submit(now_ns, request);
    let mut at_ns = None;
    while at_ns.is_none() {
        let next_ns = array.next_event_ns().expect("the operation is in progress");
        array.advance(next_ns, &mut |finished| {
            if finished.token == request.token {
                at_ns = Some(finished.at_ns);
            }
        });
    }
    at_ns.unwrap()
}

#[test]
fn a_full_cache_writes_at_the_speed_of_the_drives() {
    let random = run(
        &target("disk-7k2?size=100G"),
        Kind::Write,
        8_192,
        32,
        30_000,
    )
    .iops();
    let direct = run(
        &target("disk-7k2?size=100G&cache=0"),
        Kind::Write,
        8_192,
        32,
        30_000,
    )
    .iops();
    assert!(
        random < 2.5 * direct,
        "{random} against {direct}: sorting helps, magic does not"
    );
    assert!(random > direct, "{random} against {direct}");
}

#[test]
fn caps_hold_and_burst_credit_runs_out() {
    let capped = run(&target("nvme?iops=3000"), Kind::Read, 8_192, 64, 9_000);
    assert!((capped.iops() - 3_000.0).abs() < 5.0, "{}", capped.iops());
    let narrow = run(&target("nvme?bandwidth=64M"), Kind::Read, 65_536, 64, 5_000);
    assert!((narrow.iops() - 1_024.0).abs() < 5.0, "{}", narrow.iops());
    let rate = |operations| {
        let spec = target("nvme?iops=1000&burst_operations=20000&burst_iops=5000");
        let mut array = spec.build();
        let load = crate::accuracy::Load {
            kind: Kind::Read,
            positions: crate::accuracy::Positions::Random,
            block_bytes: 8_192,
            outstanding: 32,
            warm_up: 0,
            operations,
            seed: 1,
        };
        crate::accuracy::closed_loop(&mut array, &load).iops()
    };
    assert!((rate(15_000) - 5_000.0).abs() < 50.0, "{}", rate(15_000));
    assert!(rate(200_000) < 1_200.0, "{}", rate(200_000));
}

#[test]
fn drift_slows_service_by_its_percentage_an_hour() {
    let latency_at_hour = |hour: u64, age: &str| {
        let overrides = format!("drift_percent_per_hour=10&age={age}");
        let mut array = target(&format!("raid10-10k?{overrides}")).build();
        let (mut sum, mut at_ns) = (0, hour * 3_600_000_000_000);
        for number in 0..12_000u64 {
            let offset = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24 << 13;
            let finished = one(&mut array, at_ns, request(Kind::Read, offset % (100 << 30)));
            sum += finished[0].at_ns - at_ns;
            at_ns = finished[0].at_ns + 1_234_567;
        }
        sum as f64
    };
    let ratio = latency_at_hour(2, "0s") / latency_at_hour(0, "0s");
    assert!((ratio - 1.2).abs() < 0.02, "{ratio}");
    // An array that begins two hours old has drifted for two hours.
    let ratio = latency_at_hour(0, "2h") / latency_at_hour(0, "0s");
    assert!((ratio - 1.2).abs() < 0.02, "{ratio}");
}

#[test]
fn spikes_and_stalls_appear_in_the_latency() {
    let slowest = |overrides: &str| {
        let mut array = target(&format!("nvme?{overrides}")).build();
        (0..4_000u64)
            .map(|number| {
                let at_ns = number * 1_000_000;
                one_until(&mut array, at_ns, request(Kind::Read, number * 8_192)) - at_ns
            })
            .fold((0, 0), |(max, over), latency| {
                (latency.max(max), over + u32::from(latency > 900_000))
            })
    };
    assert!(slowest("seed=1").0 < 300_000);
    let (max, over) = slowest("spikes_per_million=10000&spike_min=1ms&spike_max=3ms");
    assert!((1_500_000..3_300_000).contains(&max), "{max}");
    assert!((20..70).contains(&over), "{over}");
    let (max, over) = slowest("stall_interval=1s&stall=100ms");
    assert!((95_000_000..101_000_000).contains(&max), "{max}");
    // Four intervals; a hundred operations come in each stall, and a few more
    // wait behind them.
    assert!((400..=440).contains(&over), "{over}");
}

#[test]
fn silent_write_faults_are_acknowledged_recorded_and_visible_in_the_content() {
    let mut array = spec(
        "level = \"single\"\nsize = \"64M\"\n[faults]\ntorn_per_million = 50000\n\
         lost_per_million = 50000\nmisdirected_per_million = 50000\n",
    )
    .build();
    array.record_content();
    let mut writes = Vec::new();
    let mut at_ns = 0;
    for block in 0..1_000u64 {
        let mut write = request(Kind::Write, block * 8_192);
        write.token = block + 1;
        at_ns = one_until(&mut array, at_ns, write);
        writes.push(write);
    }
    let events = array.fault_events().to_vec();
    assert!((100..200).contains(&events.len()), "{}", events.len());
    let mut kinds = [0; 3];
    for write in &writes {
        let first = write.offset_bytes / 512;
        let stamps: Vec<_> = (first..first + 16)
            .map(|sector| array.stamp(sector))
            .collect();
        let own = stamps
            .iter()
            .filter(|&&stamp| stamp == Some(write.token))
            .count() as u64;
        match events
            .iter()
            .find(|event| event.token == write.token)
            .map(|event| event.fault)
        {
            // Intact, unless a misdirected write has landed on it.
            None => assert!(
                own == 16
                    || stamps
                        .iter()
                        .any(|stamp| { events.iter().any(|event| *stamp == Some(event.token)) })
            ),
            Some(WriteFault::Torn { sectors }) => {
                kinds[0] += 1;
                assert!(sectors < 16 && own <= sectors);
            }
            Some(WriteFault::Lost) => {
                kinds[1] += 1;
                assert_eq!(own, 0);
            }
            Some(WriteFault::Misdirected { offset_bytes }) => {
                kinds[2] += 1;
                let there = offset_bytes / 512;
                assert!(offset_bytes % 512 == 0 && array.stamp(there).is_some());
            }
        }
    }
    assert!(kinds.iter().all(|&count| count > 20), "{kinds:?}");
}

#[test]
fn mirror_policies_differ_where_they_should() {
    let iops = |policy: &str, outstanding| {
        let text = format!("raid10-10k?mirror_read={policy}&size=80G&disks=2");
        run(&target(&text), Kind::Read, 8_192, outstanding, 20_000).iops()
    };
    // With two outstanding, an idle copy is better than a busy near one, and
    // choosing by load better than by hash.
    assert!(iops("shortest", 2) > 1.1 * iops("hash", 2));
    assert!(iops("nearest-idle", 2) > 1.05 * iops("hash", 2));
}

#[test]
fn a_misaligned_partition_costs_an_ssd_its_partial_pages() {
    let iops = |offset: &str| {
        run(
            &target(&format!("sata-ssd?offset={offset}")),
            Kind::Write,
            4_096,
            32,
            60_000,
        )
        .iops()
    };
    let ratio = iops("1M") / iops("63s");
    assert!(ratio > 1.8, "two pages are programmed for one: {ratio}");
}

#[test]
fn a_fresh_ssd_writes_faster_than_one_in_steady_state() {
    let iops = |preconditioned: bool| {
        let text = format!("sata-ssd?size=1G&ssd.size=2G&preconditioned={preconditioned}");
        run(&target(&text), Kind::Write, 4_096, 32, 60_000).iops()
    };
    assert!(
        iops(false) > 2.0 * iops(true),
        "{} {}",
        iops(false),
        iops(true)
    );
}

#[test]
fn the_command_cap_and_the_link_bound_what_is_in_progress() {
    let narrow = run(&target("nvme?command_cap=1"), Kind::Read, 4_096, 64, 20_000);
    let one = run(&target("nvme"), Kind::Read, 4_096, 1, 20_000);
    assert!((narrow.iops() / one.iops() - 1.0).abs() < 0.02);
    let link = run(&target("nvme?link=100M"), Kind::Read, 65_536, 64, 10_000);
    assert!(
        (link.iops() / 1_600.0 - 1.0).abs() < 0.01,
        "{}",
        link.iops()
    );
}
