//! SQLIO's command line and parameter file, and what they mean.

use stripewise_compat::sqlio::command::{Access, Affinity, Buffering, Command};
use stripewise_compat::sqlio::{Operation, param_file, setup};
use stripewise_workload::{CacheMode, CursorKind, Distribution, Pattern};

fn parse(words: &str) -> Command {
    let words: Vec<&str> = words.split_whitespace().collect();
    Command::parse(&words).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let error = Command::parse(&words).unwrap_err();
    assert!(!error.hint().is_empty(), "{error}");
    error.to_string()
}

#[test]
fn without_switches_everything_is_as_sqlio_had_it() {
    let command = parse("");
    assert_eq!(command, Command::default());
    assert_eq!(command.target_names(), ["testfile.dat"]);
    let setup = setup(&command, None).unwrap();
    let load = &setup.jobs[0].workload;
    assert_eq!(
        (load.read_percent, load.threads, load.outstanding),
        (100, 1, 1)
    );
    assert_eq!(
        (load.block_size_bytes, load.duration_ns),
        (2048, 30_000_000_000)
    );
    assert_eq!(load.cache, CacheMode::DirectSync);
    let columns = Pattern::Stride {
        stride_bytes: 64 * 2048,
        cursor: CursorKind::Columns,
    };
    assert_eq!(load.pattern, columns);
    // 64 columns of 64 blocks of 2 KB: 8 MB.
    assert_eq!(load.size_bytes, Some(8 << 20));
    assert_eq!(setup.files[0].needed_bytes, 8 << 20);
}

#[test]
fn switches_are_read_with_their_values_glued_to_them() {
    let command =
        parse("-kW -t16 -s120 -dEf -frandom -o8 -b64 -i32 -LPi -Up -BH -S100 \\data\\a.dat");
    assert_eq!(
        (command.operation, command.threads, command.seconds),
        (Operation::Write, 16, 120)
    );
    assert_eq!(
        command.target_names(),
        ["E:\\data\\a.dat", "f:\\data\\a.dat"]
    );
    assert_eq!(
        (command.access, command.outstanding),
        (Access::Random, Some(8))
    );
    assert_eq!(
        (command.block_kib, command.run_length, command.start_blocks),
        (64, 32, 100)
    );
    let latency = command.latency.unwrap();
    assert!(latency.processor_timer && latency.initiation);
    assert_eq!(
        (command.utilisation, command.buffering),
        (Some(true), Some(Buffering::Hardware))
    );
    // Values in either case; of two, the last one counts; -o0 is what none is.
    let command = parse(
        "-kr -fSequential -bn4 -o0 -t2 -t3"
            .replace("-bn4", "-b4 -Bn")
            .as_str(),
    );
    assert_eq!((command.access, command.threads), (Access::Sequential, 3));
    assert_eq!(
        (command.buffering, command.outstanding),
        (Some(Buffering::None), None)
    );
}

#[test]
fn letters_of_both_cases_mean_different_things() {
    assert_eq!(parse("-s5 -S7").start_blocks, 7);
    assert_eq!(parse("-s5 -S7").seconds, 5);
    assert_eq!(parse("-b8 -BY").block_kib, 8);
    let command = parse("-f16 -Fp.txt");
    assert_eq!(
        (command.access, command.parameter_file.as_deref()),
        (Access::Stripe(16), Some("p.txt"))
    );
    let command = parse("-dX -D50 a.dat");
    assert_eq!(command.drives, ['X']);
    assert!(command.notes[0].starts_with("-D50"));
}

#[test]
fn raw_targets_are_letters_and_numbers_with_and_without_commas() {
    for (words, names) in [
        ("-RDEF123", "D: E: F: 1: 2: 3:"),
        ("-RD,E,F,1,2,3", "D: E: F: 1: 2: 3:"),
        ("-RD,12", "D: 12:"),
        ("-R9:", "9:"),
        ("-R1 a.dat", "a.dat 1:"),
    ] {
        assert_eq!(parse(words).target_names().join(" "), names, "{words}");
    }
}

#[test]
fn affinity_is_a_processor_or_a_mask() {
    let of = |words| parse(words).affinity;
    assert_eq!(
        of("-p3"),
        Affinity::Processor {
            number: 3,
            ideal: false
        }
    );
    assert_eq!(
        of("-pI3"),
        Affinity::Processor {
            number: 3,
            ideal: true
        }
    );
    let mask = |mask, round_robin, ideal| Affinity::Mask {
        mask,
        round_robin,
        ideal,
    };
    assert_eq!(of("-a0xF"), mask(15, false, false));
    assert_eq!(of("-a15"), mask(15, false, false));
    assert_eq!(of("-aR0xF0"), mask(0xF0, true, false));
    assert_eq!(of("-aRI3"), mask(3, true, true));
    assert_eq!(of("-a0"), Affinity::None);
}

#[test]
fn what_cannot_be_done_is_refused_with_the_reason() {
    for (words, reason) in [
        ("-mC4", "several buffers"),
        ("-mS4", "several buffers"),
        ("-v1.1.1", "bug of SQLIO 1.1.1"),
        ("-64", "Alpha"),
        ("-kWR", "never both"),
        ("-k", "directly after its switch"),
        ("-t", "directly after its switch"),
        ("-t0", "outside of 1 to 256"),
        ("-t257", "outside of 1 to 256"),
        ("-s0", "outside"),
        ("-b0", "outside"),
        ("-fbackwards", "no value that SQLIO knows"),
        ("-L", "no value"),
        ("-BX", "no value"),
        ("-q", "not a switch of SQLIO"),
        ("-t+4", "no value"),
        ("-d1 a.dat", "no value"),
        ("-dDE a.dat b.dat", "one file name"),
        ("-t2 -f1 a.dat", "columns for 1 threads"),
        ("-t99999999999999999999", "no value"),
        ("-", "not a switch"),
    ] {
        let words_typed: Vec<&str> = words.split_whitespace().collect();
        let error = Command::parse(&words_typed).unwrap_err();
        let expected_text = format!("{error} {}", error.hint());
        assert!(expected_text.contains(reason), "{words}: {expected_text}");
    }
    let long = "x".repeat(257);
    assert!(refused(&long).contains("256 characters"));
}

fn targets(text: &str, words: &str) -> Result<Vec<param_file::Target>, String> {
    param_file::read(text.as_bytes(), "param.txt", &parse(words)).map_err(|error| error.to_string())
}

#[test]
fn every_line_of_a_parameter_file_has_threads_of_its_own() {
    let text = "# two disks\r\nd:\\a.dat 2 0x0 100\r\n\r\n\"e:\\my file.dat\" 4 3 200 * the fast one\n#f:\\c.dat 1\ng:\\d.dat 1\n";
    let command = parse("-kW -frandom -o2 -t9 -Fparam.txt");
    assert!(command.notes[0].contains("-t together with -F"));
    let targets = targets(text, "-frandom -Fparam.txt").unwrap();
    let shown: Vec<_> = targets
        .iter()
        .map(|target| {
            (
                target.file.as_str(),
                target.threads,
                target.mask,
                target.megabytes,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("d:\\a.dat", 2, 0, Some(100)),
            ("e:\\my file.dat", 4, 3, Some(200)),
            ("g:\\d.dat", 1, 0, None),
        ]
    );
    let setup = setup(&command, Some(&targets)).unwrap();
    assert_eq!((setup.jobs.len(), setup.threads()), (3, 7));
    assert_eq!(setup.jobs[0].workload.size_bytes, Some(100 << 20));
    let report = setup.report(&command, 1);
    let pools: Vec<_> = report
        .pools
        .iter()
        .map(|pool| (pool.first, pool.last, pool.mask))
        .collect();
    assert_eq!(
        pools,
        [(0, 1, 0), (2, 5, 3), (6, 6, 0)],
        "numbered over all lines"
    );
}

#[test]
fn lines_that_break_the_grammar_are_named() {
    let error = targets(
        "a.dat\nb.dat x\nc.dat 2 0xZZ\nd.dat 2 0 ten\ne.dat 2 0 10 more\nf.dat 300\n",
        "-frandom",
    )
    .unwrap_err();
    for line in 1..=6 {
        assert!(error.contains(&format!("line {line}: ")), "{error}");
    }
    assert!(
        targets("a.dat 2 0 10\n", "-f64")
            .unwrap_err()
            .contains("-frandom and -fsequential only")
    );
    let pasted = targets("\u{201c}a.dat\u{201d} 2\n", "-frandom").unwrap_err();
    assert!(pasted.contains("U+201C"), "{pasted}");
    assert!(
        targets("#a.dat 2\n", "-frandom")
            .unwrap_err()
            .contains("names no target")
    );
    assert!(
        targets("a 200\nb 100\n", "-frandom")
            .unwrap_err()
            .contains("256 threads")
    );
    assert!(targets("a 2\n", "-f1").unwrap_err().contains("columns"));
}

#[test]
fn patterns_are_those_of_sqlio() {
    let of = |words: &str| setup(&parse(words), None).unwrap().jobs.remove(0).workload;
    let random = Pattern::Random {
        distribution: Distribution::Uniform,
    };
    assert_eq!(of("-frandom -b8").pattern, random);
    // One position of each file for all threads.
    let shared = Pattern::Sequential {
        cursor: CursorKind::Shared,
    };
    assert_eq!(of("-fsequential -b8").pattern, shared);
    // A row of one block is walked block by block.
    let single = of("-f1 -i16 -b4");
    assert_eq!(single.size_bytes, Some(16 * 4096));
    // Several files without -o are visited in turn.
    assert!(of("-frandom -dDE a.dat").in_turn);
    assert!(!of("-frandom -o2 -dDE a.dat").in_turn);
    assert_eq!(of("-frandom -b8 -S128").base_offset_bytes, 1 << 20);
    for (buffering, cache) in [
        ("-BN", CacheMode::DirectSync),
        ("-BH", CacheMode::Direct),
        ("-BY", CacheMode::Buffered),
        ("-BS", CacheMode::BufferedSync),
    ] {
        assert_eq!(of(&format!("-frandom {buffering}")).cache, cache);
    }
}

#[test]
fn a_raw_target_needs_a_size_where_its_pattern_does() {
    let error = setup(&parse("-RE -frandom"), None).unwrap_err();
    assert!(error.to_string().contains("need its size"), "{error}");
    let setup = setup(&parse("-RE -f64"), None).unwrap();
    assert!(setup.files[0].raw);
}

#[test]
fn switches_with_a_slash_are_no_files_in_the_root_directory() {
    for (words, expected_text) in [
        ("/kR /s2 /frandom t.dat", "`/kR` is not a switch"),
        ("-kR /s2 t.dat", "`/s2` is not a switch"),
        ("-kR /testfile.dat", "`/testfile.dat` is not a switch"),
        ("/?", "`/?` is not a switch"),
    ] {
        let error = refused(words);
        assert!(error.contains(expected_text), "{words}: {error}");
        assert!(error.contains("root directory"), "{words}: {error}");
    }
    let command = parse("-kR -s2 /data/t.dat ./t.dat \\\\server\\t.dat");
    assert_eq!(command.files.len(), 3);
}
