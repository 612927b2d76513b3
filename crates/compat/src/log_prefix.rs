//! What logs put before each line: a time, the name of a container, a program and its process.

/// A text with prefixes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Logged {
    /// The text without them: all lines have one.
    Whole(String),
    /// Most lines have one; the number of the first that has none, from 1.
    Partly(u64),
}

/// Lines among which one has a prefix if most lines have.
const FIRST_LINES: usize = 8;

/// Parts of a prefix.
const SOURCE: u8 = 1;
const DATE: u8 = 2;
const CLOCK: u8 = 4;
const STREAM: u8 = 8;
const PROGRAM: u8 = 16;

/// A part, and what is behind it in a text that begins with it.
type Part = (u8, fn(&str) -> Option<&str>);

const PARTS: [Part; 5] = [
    (SOURCE, source),
    (DATE, date),
    (CLOCK, time_of_day),
    (STREAM, stream),
    (PROGRAM, program),
];

const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// What a log put before the lines of a text, if anything: by `docker logs -t`, `docker compose`,
/// `kubectl logs`, container runtimes, `journalctl`, syslog, `ts` and CI systems.
pub(crate) fn without_prefix(text: &str) -> Option<Logged> {
    let filled = text.lines().filter(|line| !is_outside(line));
    let shape = filled
        .take(FIRST_LINES)
        .find_map(|line| Some(prefix(line.trim_end())?.0))?;
    let mut bare = String::with_capacity(text.len());
    let (mut with, mut without, mut first) = (0_u64, 0_u64, None);
    for (number, line) in (1_u64..).zip(text.split_inclusive('\n')) {
        let from = match prefix(line.trim_end()) {
            Some((of_line, end)) if of_line == shape => {
                with += 1;
                end
            }
            _ if is_outside(line) => 0,
            _ => {
                without += 1;
                first.get_or_insert(number);
                0
            }
        };
        bare.push_str(&line[from..]);
    }
    match first {
        None => Some(Logged::Whole(bare)),
        // Tools themselves print the time of day before lines.
        Some(line) if with > without && shape != CLOCK => Some(Logged::Partly(line)),
        Some(_) => None,
    }
}

/// Whether a line is no line of what was logged: an empty one, or journalctl's own.
fn is_outside(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with("-- ")
}

/// The parts of a line's prefix, and where it ends.
fn prefix(line: &str) -> Option<(u8, usize)> {
    let (mut parts, mut rest) = (0, line);
    for (part, of) in PARTS {
        // A stream and a program follow a date; a time of day behind a name may be the tool's.
        let may_be = match part {
            CLOCK => parts == 0,
            STREAM | PROGRAM => parts & DATE != 0,
            _ => true,
        };
        let behind = of(rest).filter(|text| text.is_empty() || text.starts_with([' ', '\t']));
        if let Some(behind) = behind.filter(|_| may_be) {
            parts |= part;
            rest = behind.get(1..).unwrap_or_default();
        }
    }
    (parts != 0).then_some((parts, line.len() - rest.len()))
}

/// Behind `[pod/name/container]`, `container  |`, or the job and step that `gh run view --log`
/// prints.
fn source(text: &str) -> Option<&str> {
    if let Some(pod) = text.strip_prefix("[pod/") {
        return Some(pod.split_once(']')?.1);
    }
    let step = text.match_indices('\t').nth(1).map(|(at, _)| &text[at..]);
    if let Some(step) = step.filter(|step| date(&step[1..]).is_some()) {
        return Some(step);
    }
    let (name, behind) = text.split_once('|')?;
    let bare = name.trim_end();
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"_.-".contains(&sign);
    (!bare.is_empty() && bare.len() < name.len() && bare.bytes().all(is_sign)).then_some(behind)
}

/// Behind a day and a time of day: `2026-11-28T08:00:00.5Z`, `[2026/11/28 08:00:00]`,
/// `Nov 28 08:00:00`.
fn date(text: &str) -> Option<&str> {
    bracketed(text, |text| {
        let behind = digits(text, "0000-00-00").or_else(|| digits(text, "0000/00/00"));
        if let Some(behind) = behind {
            return clock(behind.strip_prefix(['T', ' '])?);
        }
        let month = text.get(..3).filter(|name| MONTHS.contains(name))?;
        let day = text[month.len()..].strip_prefix(' ')?;
        let behind = digits(day, "00").or_else(|| digits(day, " 0"));
        clock(behind?.strip_prefix(' ')?)
    })
}

/// Behind a time of day, which may be in brackets.
fn time_of_day(text: &str) -> Option<&str> {
    bracketed(text, clock)
}

/// Behind `08:00:00`, with decimals and a zone.
fn clock(text: &str) -> Option<&str> {
    let mut rest = digits(text, "00:00:00")?;
    if let Some(decimals) = rest.strip_prefix(['.', ',']) {
        rest = decimals.trim_start_matches(|sign: char| sign.is_ascii_digit());
    }
    if let Some(zone) = rest.strip_prefix(['+', '-']) {
        return digits(zone, "00:00").or_else(|| digits(zone, "0000"));
    }
    Some(rest.strip_prefix('Z').unwrap_or(rest))
}

/// Behind the stream that container runtimes and GitLab name: `stdout F`, `00O`.
fn stream(text: &str) -> Option<&str> {
    let of_runtime = ["stdout F", "stderr F"];
    let of_runtime = of_runtime.iter().find_map(|name| text.strip_prefix(*name));
    of_runtime.or_else(|| digits(text, "00")?.strip_prefix(['O', 'E']))
}

/// Behind `host program[1234]:`.
fn program(text: &str) -> Option<&str> {
    let (host, rest) = text.split_once(' ')?;
    let (name, behind) = rest.split_once("]:")?;
    let (name, process) = name.split_once('[')?;
    let is_number = !process.is_empty() && process.bytes().all(|sign| sign.is_ascii_digit());
    (!host.is_empty() && !name.contains(' ') && is_number).then_some(behind)
}

/// Behind what `of` finds, which may be in brackets.
fn bracketed(text: &str, of: impl Fn(&str) -> Option<&str>) -> Option<&str> {
    match text.strip_prefix('[') {
        Some(inner) => of(inner)?.strip_prefix(']'),
        None => of(text),
    }
}

/// Behind this pattern, in which a 0 is any digit.
fn digits<'a>(text: &'a str, pattern: &str) -> Option<&'a str> {
    let found = text.get(..pattern.len())?;
    let mut pairs = found.bytes().zip(pattern.bytes());
    let fits = pairs.all(|(sign, wanted)| match wanted {
        b'0' => sign.is_ascii_digit(),
        _ => sign == wanted,
    });
    fits.then_some(&text[pattern.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_logs_are_recognised_by_their_parts() {
        for (prefix, parts) in [
            ("2026-11-28T08:00:00.123456789Z ", DATE),
            ("2026-11-28T08:00:00+01:00 stdout F ", DATE | STREAM),
            ("2026-11-28T08:00:00.5Z 00O ", DATE | STREAM),
            ("[2026-11-28 08:00:00,123] ", DATE),
            ("2026/11/28 08:00:00 ", DATE),
            ("[08:00:00] ", CLOCK),
            ("Nov 28 08:00:00 db1 fio[1234]: ", DATE | PROGRAM),
            ("Nov  8 08:00:00 db1 run.sh[7]: ", DATE | PROGRAM),
            ("[pod/fio-x7/fio] ", SOURCE),
            ("[pod/fio-x7/fio] 2026-11-28T08:00:00Z ", SOURCE | DATE),
            ("fio-1  | ", SOURCE),
            ("bench\tRun fio\t2026-11-28T08:00:00.1Z ", SOURCE | DATE),
        ] {
            for text in ["", "{", "  read: IOPS=1", "3;fio-3.33;x"] {
                let line = format!("{prefix}{text}");
                assert_eq!(super::prefix(&line), Some((parts, prefix.len())), "{line}");
            }
            let bare = prefix.trim_end();
            assert_eq!(super::prefix(bare), Some((parts, bare.len())), "{bare}");
        }
        for line in [
            "3;fio-3.33;reads;0;0",
            "     | 50.00th=[ 49]",
            "reads: (groupid=0, jobs=1): err= 0: pid=7: Sun Nov 22 19:59:45 2026",
            "2026-11-28",
            "[Read]",
        ] {
            assert_eq!(super::prefix(line), None, "{line}");
        }
    }

    #[test]
    fn a_text_has_a_prefix_where_all_its_lines_have() {
        let whole = |text: &str| Some(Logged::Whole(text.to_owned()));
        let logged = "-- Boot 1 --\nNov 28 08:00:00 a b[1]: {\r\n\nNov 28 08:00:01 a b[1]:\n";
        assert_eq!(without_prefix(logged), whole("-- Boot 1 --\n{\r\n\n\n"));
        let partly = "2026-11-28 08:00:00 a\n2026-11-28 08:00:01 b\nc\n";
        assert_eq!(without_prefix(partly), Some(Logged::Partly(3)));
        assert_eq!(without_prefix("08:00:00 a\n08:00:01 b\nc\n"), None);
        assert_eq!(without_prefix("a\nb\n"), None);
        assert_eq!(without_prefix(""), None);
    }
}
