//! Models of loads that are known, and of files that are damaged.

use super::*;
use crate::runs::Runs;
use stripewise_stats::Random;

const S: u64 = 1_000_000_000;

/// Two streams of runs, random reads in between, and a sync each second, for 20 s.
fn load() -> Vec<Request> {
    let mut random = Random::new(3);
    let mut next = [0u64, 1 << 40];
    let mut all = Vec::new();
    for at in (0..20 * S).step_by(2_500_000) {
        let at_ns = at + random.below(2_500_000) as u64;
        let which = random.below(4);
        all.push(match which {
            0 | 1 => {
                let size_bytes = if random.below(5) == 0 {
                    131_072
                } else {
                    65_536
                };
                if random.below(50) == 0 {
                    next[which] += (1 + random.below(1_000) as u64) << 20;
                }
                let offset_bytes = next[which];
                next[which] += size_bytes;
                let kind = if which == 0 { Kind::Read } else { Kind::Write };
                Request {
                    at_ns,
                    kind,
                    offset_bytes,
                    size_bytes,
                }
            }
            _ => {
                let offset_bytes = (1 << 41) + random.below(1 << 20) as u64 * 8_192;
                Request {
                    at_ns,
                    kind: Kind::Read,
                    offset_bytes,
                    size_bytes: 8_192,
                }
            }
        });
        if at.is_multiple_of(S) {
            all.push(Request {
                at_ns,
                kind: Kind::Sync,
                offset_bytes: 0,
                size_bytes: 0,
            });
        }
    }
    all.sort_by_key(|one| one.at_ns);
    all
}

fn count_runs(requests: &[Request]) -> u64 {
    let mut runs = Runs::default();
    for one in requests.iter().filter(|one| one.kind != Kind::Sync) {
        runs.next(one.kind, one.offset_bytes, one.end_bytes());
    }
    runs.count()
}

#[test]
fn a_model_says_what_its_load_is() {
    let load = load();
    let model = extract(load.iter().copied()).unwrap();
    assert_eq!(model.operations(), load.len() as u64);
    assert_eq!(model.duration_ns(), 20 * S);
    let end = load.iter().map(Request::end_bytes).max().unwrap();
    assert_eq!(model.span_bytes(), end);
}

#[test]
fn what_is_generated_has_the_same_counts_kinds_sizes_and_runs() {
    let load = load();
    let model = extract(load.iter().copied()).unwrap();
    let again: Vec<Request> = model.requests(1).collect();
    assert_eq!(again.len(), load.len());
    assert!(again.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    let first = load[0].at_ns;
    let bin = |at_ns: u64| at_ns / BIN_NS;
    for k in 0..200 {
        let count = |all: &[Request], shift: u64| {
            all.iter().filter(|one| bin(one.at_ns - shift) == k).count()
        };
        assert_eq!(count(&again, 0), count(&load, first), "{k}");
    }
    let mut kinds = [[0i64; 4]; 2];
    for (k, all) in [&load, &again].into_iter().enumerate() {
        all.iter().for_each(|one| kinds[k][one.kind.index()] += 1);
    }
    // The last window may be cut, by the runs that it holds.
    let near = kinds[0]
        .iter()
        .zip(&kinds[1])
        .all(|(a, b)| (a - b).abs() < 300);
    assert!(near, "{kinds:?}");
    let runs = [count_runs(&load), count_runs(&again)];
    assert!(runs[0].abs_diff(runs[1]) * 20 < runs[0], "{runs:?}");
    let syncs = again.iter().filter(|one| one.kind == Kind::Sync);
    assert!(syncs.clone().count() > 10 && syncs.clone().all(|one| one.size_bytes == 0));
}

#[test]
fn a_seed_gives_the_same_load_again_and_another_a_different_one() {
    let model = extract(load().into_iter()).unwrap();
    let all = |seed| model.requests(seed).collect::<Vec<Request>>();
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn a_file_gives_the_model_back_and_is_small() {
    let load = load();
    let model = extract(load.iter().copied()).unwrap();
    let mut bytes = Vec::new();
    write(&model, &mut bytes).unwrap();
    let back = read(&bytes[..]).unwrap();
    let rounded = |probability: f64| (probability * 1e9).round() / 1e9;
    assert_eq!(back.interrupted, rounded(model.interrupted));
    assert_eq!((&back.runs, &back.counts), (&model.runs, &model.counts));
    assert_eq!(
        (&back.donors, back.open_max),
        (&model.donors, model.open_max)
    );
    assert!(bytes.len() < load.len() * 12, "{}", bytes.len());
    // What was rounded is written the same.
    let mut again = Vec::new();
    write(&back, &mut again).unwrap();
    assert_eq!(again, bytes);
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut out, content).unwrap();
    out.finish().unwrap()
}

#[test]
fn a_file_says_whether_the_load_waited_since_version_2() {
    let mut model = extract(load().into_iter().take(200)).unwrap();
    model.waited = true;
    let mut bytes = Vec::new();
    write(&model, &mut bytes).unwrap();
    assert!(read(&bytes[..]).unwrap().waited);
    // Version 1 has no such number behind the three probabilities and the open runs.
    let mut content = Vec::new();
    let mut unpacked = flate2::read::GzDecoder::new(&bytes[..]);
    std::io::Read::read_to_end(&mut unpacked, &mut content).unwrap();
    let numbers = (9..content.len()).filter(|&at| content[at] < 0x80);
    let place = numbers.take(4).last().unwrap() + 1;
    assert_eq!((content[8], content.remove(place)), (2, 1));
    content[8] = 1;
    let old = read(&packed(&content)[..]).unwrap();
    assert!(!old.waited);
    assert_eq!((&old.runs, &old.counts), (&model.runs, &model.counts));
}

#[test]
fn damaged_files_are_refused() {
    let model = extract(load().into_iter().take(200)).unwrap();
    let mut bytes = Vec::new();
    write(&model, &mut bytes).unwrap();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
    assert!(matches!(
        read(&b"SWMODEL\n\x01, not packed"[..]),
        Err(ModelFileError::Magic)
    ));
    let table: [(&[u8], &str); 6] = [
        (b"SWMODEX\n\x01", "not a workload model"),
        (b"SWMODEL\n\x03", "version 3"),
        (
            b"SWMODEL\n\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "probability",
        ),
        // Bins of more than a week.
        (
            b"SWMODEL\n\x01\x00\x00\x00\x01\xff\xff\xff\xff\x0f",
            "number of bins",
        ),
        // One run of one size without operations.
        (
            b"SWMODEL\n\x01\x00\x00\x00\x01\x00\x00\x01\x00\x00\x01\x08\x00",
            "end of a run",
        ),
        (
            b"SWMODEL\n\x01\x00\x00\x00\x01\x00\x00\x01\x00\x00\x00",
            "length of a run",
        ),
    ];
    for (content, expected) in table {
        let error = read(&packed(content)[..]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_cannot_be_modelled_is_refused() {
    assert_eq!(extract(std::iter::empty()), Err(ModelError::Empty));
    let at = |at_ns| Request {
        at_ns,
        kind: Kind::Read,
        offset_bytes: 0,
        size_bytes: 512,
    };
    let week = 8 * 86_400 * S;
    assert_eq!(
        extract([at(0), at(week)].into_iter()),
        Err(ModelError::TooLong)
    );
    let far = Request {
        offset_bytes: u64::MAX - 1,
        ..at(0)
    };
    assert_eq!(extract([far].into_iter()), Err(ModelError::Impossible));
    let many = (0..OPERATIONS_MAX as u64 + 1).map(at);
    assert_eq!(extract(many), Err(ModelError::TooMany));
    // Times count from the first, and one that comes late counts where the last one was.
    let model = extract([at(7 * S), at(9 * S), at(8 * S)].into_iter()).unwrap();
    assert_eq!(model.counts.iter().sum::<u32>(), 3);
    assert_eq!(model.counts[20], 2);
}
