//! Readers against damaged input: the same mutations each time, from a fixed
//! seed. Whatever comes, they answer with records or with an error that has a
//! hint; fuzz targets of the same readers are in `fuzz/`.

use crate::anything::{convert_anything, import_anything};
use crate::{sqlio_output, tools};

/// xorshift64*: enough chance for choosing bytes.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
    }
}

const PIECES: [&str; 24] = [
    "0",
    "-1",
    "18446744073709551615",
    "99999999999999999999",
    "1e308",
    "NaN",
    "\n",
    "\r",
    "\t",
    "%:",
    "{",
    "}",
    "[",
    "]",
    "<",
    "</a>",
    "&x;",
    "\"",
    "|",
    "total:",
    "sqlio v1.5.SG",
    "\"fio version\"",
    "<Results>",
    "Results:",
];

fn mutate(chance: &mut Chance, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len() + 1);
        match chance.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(..at)),
            2 if at < bytes.len() => bytes[at] = chance.below(256) as u8,
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => {
                let end = at + chance.below(bytes.len() - at + 1).min(400);
                let copy = bytes[at..end].to_vec();
                let into = chance.below(bytes.len() + 1);
                bytes.splice(into..into, copy);
            }
            5 => {
                // A number becomes another one.
                let digits = bytes.iter().skip(at).position(u8::is_ascii_digit);
                let piece = PIECES[chance.below(6)];
                if let Some(digit) = digits {
                    bytes.splice(at + digit..=at + digit, piece.bytes());
                }
            }
            _ => drop(bytes.splice(at..at, PIECES[chance.below(PIECES.len())].bytes())),
        }
    }
    bytes
}

/// Half a second's worth of mutations of these.
fn survive(seeds: &[&str], rounds: u32, mut reader: impl FnMut(&[u8])) {
    let mut chance = Chance(0x5354_5249_5045);
    for seed in seeds {
        reader(seed.as_bytes());
        for _ in 0..rounds {
            reader(&mutate(&mut chance, seed.as_bytes()));
        }
    }
}

fn rounds() -> u32 {
    let more = std::env::var("STRIPEWISE_MUTATIONS").ok();
    more.and_then(|rounds| rounds.parse().ok()).unwrap_or(600)
}

#[test]
fn readers_of_sqlio_survive_damage() {
    let seeds = [
        sqlio_output::PLAIN,
        sqlio_output::GROW,
        sqlio_output::SEVERAL,
        sqlio_output::BATCH,
    ];
    survive(&seeds, rounds(), import_anything);
}

#[test]
fn readers_of_diskspd_survive_damage() {
    survive(
        &[tools::DISKSPD_TEXT, tools::DISKSPD_XML],
        rounds(),
        import_anything,
    );
}

#[test]
fn the_reader_of_fio_survives_damage() {
    survive(&[tools::FIO], rounds(), import_anything);
}

#[test]
fn converters_survive_damage() {
    let seeds = [
        "sqlio -kW -t2 -s60 -frandom -o8 -b64 -BH -LS -dL \"a b.dat\" > x\nsqlio -kR -f64 -i4 -S1 -Fparam.txt\nsqlio -RDE1 -f8\n",
        "diskspd -c10G -b8K -d60 -W10 -t8 -o4 -r -w25 -Sh -B1M:2M -f1G -si64K -z7 #1 D:\\t.dat\n",
        "[global]\ndirect=1\nbs=8k,4k\n[a]\nrw=randrw\nrwmixread=70\niodepth=16\nsize=1g\nrate_iops=10\n[b]\nstonewall\nfdatasync=4\n",
        "d:\\a.dat 2 0x0 100\n#x\n\"e f\" 1 0 5 *x\n",
    ];
    survive(&seeds, rounds() * 3, convert_anything);
}
