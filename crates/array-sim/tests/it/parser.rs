//! Hostile array files: the parser answers with a specification that builds or
//! with an error that names a place, never with a panic.

use crate::anything::array_file;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stripewise_array_sim::bundled;

fn fixed() -> Config {
    Config {
        rng_seed: RngSeed::Fixed(63),
        failure_persistence: None,
        ..Config::default()
    }
}

/// One change of a text: what a slip of the hand or a damaged file does.
#[derive(Clone, Debug)]
enum Change {
    Byte(usize, u8),
    Delete(usize, usize),
    Repeat(usize, usize),
    Number(usize, u64),
    Swap(usize, usize),
    Insert(usize, &'static str),
}

fn changes() -> impl Strategy<Value = Change> {
    let pieces = [
        "\"",
        "[",
        "]",
        "[disk]\n",
        "[[x]]\n",
        "= ",
        "\n",
        "-",
        "1e400",
        "nan",
        "\u{0}",
        "'''",
        "{ a = 1 }",
        "18446744073709551615",
        "0x",
        "1979-05-27",
        "16E",
        "584y",
        "#",
    ];
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (any::<usize>(), 1..200usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (any::<usize>(), 1..200usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        (any::<usize>(), any::<u64>()).prop_map(|(at, value)| Change::Number(at, value)),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Change::Swap(a, b)),
        (any::<usize>(), 0..pieces.len())
            .prop_map(move |(at, piece)| Change::Insert(at, pieces[piece])),
    ]
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    if text.is_empty() {
        return;
    }
    let length = text.len();
    match *change {
        Change::Byte(at, byte) => text[at % length] = byte,
        Change::Delete(at, count) => {
            let at = at % length;
            text.drain(at..(at + count).min(length));
        }
        Change::Repeat(at, count) => {
            let at = at % length;
            let part = text[at..(at + count).min(length)].to_vec();
            text.splice(at..at, part);
        }
        Change::Number(at, value) => {
            // Replaces the next number in the text.
            let at = at % length;
            let Some(start) = (at..length).find(|&i| text[i].is_ascii_digit()) else {
                return;
            };
            let end = (start..length)
                .find(|&i| !text[i].is_ascii_digit())
                .unwrap_or(length);
            // Small ones too: they pass more checks.
            let value = value >> (value % 64);
            text.splice(start..end, value.to_string().into_bytes());
        }
        Change::Swap(a, b) => text.swap(a % length, b % length),
        Change::Insert(at, piece) => {
            let at = at % length;
            text.splice(at..at, piece.bytes());
        }
    }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn damaged_files_are_refused_or_understood(
        which in 0..11usize, described in any::<bool>(), all in prop::collection::vec(changes(), 1..6)
    ) {
        let known = bundled()[which];
        let text = if described { known.spec().describe() } else { known.text.to_owned() };
        let mut text = text.into_bytes();
        for change in &all {
            apply(&mut text, change);
        }
        array_file(&text);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_understood(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        array_file(&bytes);
    }

    #[test]
    fn arbitrary_overrides_are_refused_or_understood(text in "[a-z_.=&0-9KMG%-]{0,60}") {
        let _ = stripewise_array_sim::ArraySpec::bundled(&format!("raid10-10k?{text}"));
    }
}
