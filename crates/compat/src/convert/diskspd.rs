//! DiskSpd's command lines, one job for each. Switches of the same letter differ in meaning from
//! SQLIO's (`-s -d -f -B -S -i -R -D`), and so do the defaults: 64K blocks, two outstanding, 10 s
//! after 5 s of warm-up, caches on.

use super::Surroundings;
use super::calls::{Words, add_target, behind_program, dashes, each_call, wrong_keyword};
use super::plan::{JobText, PlanText};
use crate::Error;
use crate::quantity::number_and_unit;
use stripewise_workload::CacheMode;

const NS_PER_S: u64 = 1_000_000_000;

#[derive(Default)]
struct Load {
    block: u64,
    outstanding: u64,
    threads: u64,
    threads_in_all: Option<u64>,
    /// In flight for each of the pool's threads, over all targets (`-O`).
    requests_of_thread: Option<u64>,
    /// Threads start at an interval from each other (`-T`).
    apart: bool,
    seconds: u64,
    ramp_seconds: u64,
    write_percent: u64,
    random: bool,
    /// `-s` was given.
    sequential: bool,
    step: Option<u64>,
    shared: bool,
    cache: Caches,
    offset: u64,
    /// Bytes from the base offset (`-B`).
    length: Option<u64>,
    /// Bytes from the start of the target (`-f`): an end, independent of the offset.
    end: Option<u64>,
    seed: Option<u64>,
    /// `-Z`: zeros; `-Zr`: new random data each time; otherwise noted.
    zeros: bool,
    fresh_data: bool,
    /// Switches that DiskSpd accepts only once.
    once: Vec<&'static str>,
    targets: Vec<String>,
}

pub(super) fn read(
    text: &str,
    source_name: &str,
    surroundings: &Surroundings<'_>,
    plan: &mut PlanText,
) -> Result<(), Error> {
    let words = Words {
        bad_call: "fix or remove these lines",
        no_call: "contains no call of diskspd",
        example: "diskspd -b8K -d60 -t8 -o4 -r -w25 -Sh -L D:\\test.dat",
    };
    each_call(text, source_name, &words, plan, |line, words, plan| {
        let Some(call) = call_in(words) else {
            return dashes(words, &["diskspd64", "diskspd32", "diskspd"]).map(Err);
        };
        let load = match load_of(call, line.number, plan) {
            Ok(load) => load,
            Err(reason) => return Some(Err(reason)),
        };
        let job = job_of(&load, call, line.number, surroundings, plan);
        Some(job.map(|job| plan.jobs.push(job)))
    })
}

/// The rest of a line after a call of `diskspd`.
fn call_in(words: &str) -> Option<&str> {
    behind_program(words, &["diskspd64", "diskspd32", "diskspd"], |rest| {
        rest.starts_with(['-', '/'])
    })
}

fn load_of(call: &str, line: u64, plan: &mut PlanText) -> Result<Load, String> {
    // DiskSpd's defaults.
    let mut load = Load {
        block: 64 << 10,
        outstanding: 2,
        threads: 1,
        seconds: 10,
        ramp_seconds: 5,
        ..Load::default()
    };
    let words = crate::sqlio::words_of_call(call);
    if words.redirected {
        plan.note(
            line,
            "output is not redirected to files: results are kept in the store",
        );
    }
    if let Some(why) = words.words.iter().find_map(|word| wrong_keyword(word)) {
        return Err(why);
    }
    // DiskSpd reads the block size first: other switches use it as a unit.
    let is_size = |word: &&String| !switch_of(word).is_some_and(|switch| switch.starts_with("bs"));
    for word in words.words.iter().filter(is_size) {
        if let Some(size) = switch_of(word).and_then(|switch| switch.strip_prefix('b')) {
            load.block = sized(size, 1).ok_or_else(|| format!("has no size in {word}"))?;
        }
    }
    for word in &words.words {
        let switch = switch_of(word);
        if switch.is_some() && !load.targets.is_empty() {
            return Err(format!(
                "has {word} behind a target: DiskSpd takes switches before targets only"
            ));
        }
        match switch.and_then(|switch| Some((switch.chars().next()?, switch))) {
            None => load.targets.push(word.clone()),
            Some((letter, switch)) => {
                let value = &switch[letter.len_utf8()..];
                if let Some(what) = of_2_3(letter, value) {
                    plan.note(line, format!("{word} {what}"));
                    continue;
                }
                one(&mut load, letter, value, word, line, plan)?;
            }
        }
    }
    if load.targets.is_empty() {
        return Err("names no target".to_owned());
    }
    if load.threads_in_all.is_some() && load.threads > 1 {
        return Err("has -F and -t, and DiskSpd refuses both together".to_owned());
    }
    Ok(load)
}

/// The part of a switch after its `-` or `/`. A word with another slash or a dot in it is a path.
fn switch_of(word: &str) -> Option<&str> {
    word.strip_prefix('-').or_else(|| {
        let switch = word.strip_prefix('/')?;
        (!switch.contains(['/', '\\', '.'])).then_some(switch)
    })
}

fn one(
    load: &mut Load,
    letter: char,
    value: &str,
    word: &str,
    line: u64,
    plan: &mut PlanText,
) -> Result<(), String> {
    let number = || {
        value
            .parse::<u64>()
            .map_err(|_| format!("has no number in {word}"))
    };
    let block = load.block;
    let size = |text: &str| sized(text, block).ok_or_else(|| format!("has no size in {word}"));
    match letter {
        'b' => {}
        'o' => load.outstanding = number()?,
        't' => load.threads = number()?,
        'F' => load.threads_in_all = Some(number()?),
        'd' => load.seconds = number()?,
        'W' => load.ramp_seconds = number()?,
        'w' if value.is_empty() => {
            return Err("-w has no percentage: some versions of DiskSpd take it as -w0, which only reads, others reject it; write -w0, or the percentage of writes".to_owned());
        }
        'w' => {
            load.write_percent = number()?;
            if load.write_percent > 100 {
                return Err(format!("{word} is more than 100 percent of writes"));
            }
        }
        'r' | 's' => positions(load, letter, value, word)?,
        'h' => load.cache.add("h", word)?,
        'S' => load.cache.add(value, word)?,
        'B' => {
            load.once("-B", word)?;
            let (from, to) = value.split_once(':').unwrap_or((value, ""));
            load.offset = size(from)?;
            if !to.is_empty() {
                load.length = Some(size(to)?);
            }
        }
        'f' if !value.is_empty() && value.bytes().all(|hint| b"rst".contains(&hint)) => {
            plan.note(
                line,
                format!("{word} is left out: it hints to the file cache how the file is read"),
            );
        }
        'f' => {
            load.once("-f", word)?;
            load.end = Some(sized(value, block).ok_or_else(|| format!("{word} has no size"))?);
        }
        'O' => load.requests_of_thread = Some(number()?),
        'T' => {
            load.apart = true;
        }
        'z' if !value.is_empty() => load.seed = Some(number()?),
        'Z' if value.is_empty() => load.zeros = true,
        'Z' if value == "r" => load.fresh_data = true,
        'Z' => {
            load.fresh_data = true;
            plan.note(line, format!("{word}: DiskSpd writes the data of one buffer of that size again and again; a plan's data never comes again"));
        }
        _ => return no_counterpart(letter, value, word, line, plan),
    }
    Ok(())
}

/// `-r` and `-s`: where operations go.
fn positions(load: &mut Load, letter: char, value: &str, word: &str) -> Result<(), String> {
    let block = load.block;
    let size = |text: &str| sized(text, block).ok_or_else(|| format!("has no size in {word}"));
    match letter {
        'r' if value == "s100" => load.random = true,
        'r' if value.starts_with('s') => {
            return Err(format!(
                "{word}: partly random positions have no counterpart"
            ));
        }
        'r' if value.starts_with('d') => {
            return Err(format!(
                "{word}: a plan's `distribution` is another one (hot:PERCENT/PERCENT is near)"
            ));
        }
        'r' => {
            load.random = true;
            if !value.is_empty() && size(value)? != load.block {
                return Err(format!(
                    "{word}: random positions of a plan are multiples of the block size"
                ));
            }
        }
        's' => {
            let rest = value.strip_prefix('i');
            load.sequential = true;
            load.shared = rest.is_some();
            let rest = rest.unwrap_or(value);
            load.step = if rest.is_empty() {
                None
            } else {
                Some(size(rest)?)
            };
        }
        _ => {}
    }
    Ok(())
}

/// Options without a counterpart in a plan: left out with a note if the load stays the same,
/// refused if it would change.
fn no_counterpart(
    letter: char,
    value: &str,
    word: &str,
    line: u64,
    plan: &mut PlanText,
) -> Result<(), String> {
    match letter {
        'X' => {
            return Err(format!(
                "{word} reads a profile in XML, which is not converted: write its load as a command line"
            ));
        }
        'c' => plan.note(
            line,
            format!(
                "{word}: a plan does not create files; `stripewise prepare PATH --size {}` does",
                value.trim_end_matches('b')
            ),
        ),
        'a' | 'n' => plan.note(line, format!("{word}: assign processors with `run --cpus`")),
        'g' => {
            return Err(format!(
                "{word} limits each thread's throughput; the `rate` of a plan is an open loop, which is something else"
            ));
        }
        'i' | 'j' => {
            return Err(format!(
                "{word} is a burst or a pause between bursts, which a plan cannot express"
            ));
        }
        'p' => {
            return Err(format!(
                "{word} issues several operations at the same place at once, which a plan cannot express"
            ));
        }
        'I' => plan.note(line, format!("{word}: run stripewise under ionice instead")),
        '?' => {
            return Err(format!(
                "{word} prints how DiskSpd is used, and runs nothing"
            ));
        }
        'R' if value.starts_with('p') => {
            return Err(format!("{word} prints a profile, and runs nothing"));
        }
        'y' if value.starts_with('e') => {
            return Err(format!("{word} sets an event, and runs nothing"));
        }
        'P' | 'L' | 'D' | 'R' | 'v' | 'x' | 'z' | 'C' | 'e' | 'y' | 'l' | 'N' | ':' => plan.note(
            line,
            format!(
                "{word} is left out: it changes what is printed, or how it is done, not the load"
            ),
        ),
        _ => return Err(format!("{word} is not a known switch of DiskSpd")),
    }
    Ok(())
}

/// Switches new in version 2.3 that change how operations are done.
fn of_2_3(letter: char, value: &str) -> Option<&'static str> {
    let digits = |text: &str| text.starts_with(|sign: char| sign.is_ascii_digit());
    match letter {
        'b' if value.starts_with('s') => Some("is left out: buffers are separated by pages here"),
        'o' if value.starts_with('c') => {
            Some("is left out: it selects how completions are retrieved")
        }
        'u' if value.is_empty() || digits(value.trim_start_matches('n')) => {
            Some("is left out: the engine is chosen by the run (--engine)")
        }
        'S' if value.starts_with(['y', 'Y']) => {
            Some("is left out: it selects how a volume is accessed")
        }
        _ => None,
    }
}

/// `8K`, `1M`, `2G`, `64b` (blocks), `4096`.
fn sized(text: &str, block: u64) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let unit = match unit {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        "T" | "t" => 1 << 40,
        "B" | "b" => block,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// The combined meaning of `-S` and `-h`, which DiskSpd accumulates: `-Sw -Su` is `-Suw`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Caches {
    /// Whether the software cache is off; unknown until given.
    is_direct: Option<bool>,
    writes_through: bool,
}

impl Caches {
    /// Adds the letters of one switch.
    ///
    /// # Errors
    /// Letters without a counterpart in a plan, and duplicates, which DiskSpd refuses.
    fn add(&mut self, letters: &str, word: &str) -> Result<(), String> {
        let conflict =
            || format!("{word} conflicts with an earlier -S or -h, and DiskSpd refuses it");
        // -S alone is -Su.
        let letters = if letters.is_empty() { "u" } else { letters };
        for letter in letters.chars() {
            let (is_direct, writes_through) = match letter {
                'u' => (Some(true), false),
                'b' => (Some(false), false),
                'w' => (None, true),
                'h' => (Some(true), true),
                'r' => {
                    return Err(format!(
                        "{word} switches off the near cache of a share only, which a plan cannot express"
                    ));
                }
                'm' => {
                    return Err(format!(
                        "{word} maps files into memory, which a plan cannot express"
                    ));
                }
                _ => return Err(format!("{word} is not a known cache mode")),
            };
            if is_direct.is_some() && self.is_direct.is_some()
                || writes_through && self.writes_through
            {
                return Err(conflict());
            }
            self.is_direct = self.is_direct.or(is_direct);
            self.writes_through |= writes_through;
        }
        Ok(())
    }

    fn mode(self) -> CacheMode {
        CacheMode::of(self.is_direct.unwrap_or(false), self.writes_through)
    }
}

/// The data written.
fn data(load: &Load, line: u64, job: &mut JobText, plan: &mut PlanText) {
    if load.write_percent == 0 {
        return;
    }
    if load.zeros {
        job.number("compressible", 100);
    } else if !load.fresh_data {
        plan.note(line, "without -Zr DiskSpd writes the same bytes again and again, which some devices compress or store once; a plan's data allows neither");
    }
}

impl Load {
    /// Returns an error for a duplicate, which DiskSpd refuses.
    fn once(&mut self, what: &'static str, word: &str) -> Result<(), String> {
        if self.once.contains(&what) {
            return Err(format!(
                "{word} gives {what} for a second time, and DiskSpd refuses it"
            ));
        }
        self.once.push(what);
        Ok(())
    }
}

fn job_of(
    load: &Load,
    call: &str,
    line: u64,
    surroundings: &Surroundings<'_>,
    plan: &mut PlanText,
) -> Result<JobText, String> {
    let mut job = JobText {
        name: format!("line{line}"),
        origin: format!("line {line}: diskspd {call}"),
        ..JobText::default()
    };
    for name in &load.targets {
        add_target(&mut job, name, line, surroundings, plan);
    }
    if load.targets.len() > 1 && load.threads_in_all.is_none() {
        plan.note(line, "DiskSpd gives each target threads of its own; here all threads work on all targets: as much in flight, with fewer threads");
    }
    match load.write_percent {
        0 => job.flag("read"),
        100 => job.flag("write"),
        percent => job.number("read-percent", 100_u64.saturating_sub(percent)),
    }
    if load.random && load.sequential {
        return Err("has -r and -s, and DiskSpd refuses both together".to_owned());
    }
    if load.apart && (load.random || load.threads_in_all.unwrap_or(load.threads) == 1) {
        plan.note(
            line,
            "-T is left out: it has no effect on random positions, or on one thread",
        );
    }
    match (load.random, load.step) {
        (true, _) => job.flag("random"),
        (false, Some(step)) if step != load.block => job.size("stride", step),
        (false, _) => job.flag("sequential"),
    }
    if load.shared && !load.random {
        job.text("cursor", "shared");
    } else if !load.random && load.threads_in_all.unwrap_or(load.threads) > 1 {
        let from = if load.apart {
            "this far apart (-T)"
        } else {
            "at the first byte"
        };
        return Err(format!(
            "-s with {} threads: DiskSpd starts them {from}, a plan's start evenly spaced; use -si, which both have, or -t1",
            load.threads_in_all.unwrap_or(load.threads)
        ));
    }
    job.size("block", load.block);
    job.number("threads", load.threads_in_all.unwrap_or(load.threads));
    job.number("outstanding", outstanding(load)?);
    job.time("duration", load.seconds.saturating_mul(NS_PER_S));
    job.time("ramp", load.ramp_seconds.saturating_mul(NS_PER_S));
    job.text("cache", &load.cache.mode().to_string());
    data(load, line, &mut job, plan);
    if load.offset > 0 {
        job.size("base-offset", load.offset);
    }
    if let Some(bytes) = span(load)? {
        job.size("size", bytes);
    }
    if let Some(seed) = load.seed {
        job.number("seed", seed);
    }
    Ok(job)
}

/// Outstanding of a thread on each target. With `-O`, a pool thread has that many over all targets.
fn outstanding(load: &Load) -> Result<u64, String> {
    let Some(requests) = load.requests_of_thread else {
        return Ok(load.outstanding);
    };
    if load.threads_in_all.is_none() {
        return Err(format!(
            "-O{requests} goes with -F, the number of threads of all targets"
        ));
    }
    let targets = load.targets.len() as u64;
    if !requests.is_multiple_of(targets) || requests == 0 {
        return Err(format!(
            "-O{requests} is for {targets} targets together; a plan has a number for each of them: make it a multiple of {targets}"
        ));
    }
    Ok(requests / targets)
}

/// Bytes used from the base offset: those of `-B`, up to the end given by `-f`.
fn span(load: &Load) -> Result<Option<u64>, String> {
    let Some(end) = load.end else {
        return Ok(load.length);
    };
    let before_end = end.checked_sub(load.offset).filter(|bytes| *bytes > 0);
    let before_end = before_end.ok_or_else(|| {
        format!(
            "-f ends at byte {end}, and -B begins at byte {}: there is nothing in between",
            load.offset
        )
    })?;
    Ok(Some(
        load.length
            .map_or(before_end, |length| length.min(before_end)),
    ))
}
