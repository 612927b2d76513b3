//! SQLIO's command line: switches with their values attached.
//!
//! Letters are case-sensitive where both cases are switches (`-d -D`, `-s -S`, `-b -B`, `-f -F`,
//! `-r`-less `-R`); values may be in either case. The last of repeated switches counts. What is not
//! supported is refused with the reason; what does not affect the measurement is noted and skipped.

use super::Operation;
use crate::Error;
use stripewise_units::typeset;

/// Most threads in total.
pub const THREADS_MAX: u32 = 256;
/// Most files in total, including drives and raw targets.
pub const FILES_MAX: usize = 256;
/// Most characters of a file name.
const NAME_MAX: usize = 256;
/// Larger values are not plausible block sizes.
const BLOCK_KIB_MAX: u64 = 64 << 10;
/// A year.
const SECONDS_MAX: u64 = 366 * 24 * 3600;

/// `-f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `-frandom`.
    Random,
    /// `-fsequential`.
    Sequential,
    /// `-fN`: N blocks from one operation of a run to the next.
    Stripe(u64),
}

/// `-p` and `-a`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// Any processor.
    #[default]
    None,
    /// `-pN`: all threads on this one.
    Processor {
        /// From 0.
        number: u32,
        /// `-pI`: preferred, not enforced.
        ideal: bool,
    },
    /// `-aM`: on the processors of a mask.
    Mask {
        /// Bit n is processor n.
        mask: u64,
        /// `-aR`: each thread on one of them, in turn.
        round_robin: bool,
        /// `-aRI`: preferred, not enforced.
        ideal: bool,
    },
}

/// `-L`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencySwitch {
    /// `P`: the processor's counter rather than the system's.
    pub processor_timer: bool,
    /// `i`: also the initiation latency.
    pub initiation: bool,
}

/// `-B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// `-BN`: neither file cache nor disk cache.
    None,
    /// `-BY`: both.
    Yes,
    /// `-BH`: the disk's only.
    Hardware,
    /// `-BS`: the file cache only.
    Software,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// `-k`.
    pub operation: Operation,
    /// `-t`.
    pub threads: u32,
    /// `-s`.
    pub seconds: u64,
    /// `-d`, in the order given.
    pub drives: Vec<char>,
    /// `-R`: `D:`, `9:`.
    pub raw: Vec<String>,
    /// `-f`.
    pub access: Access,
    /// `-p`, `-a`.
    pub affinity: Affinity,
    /// `-o`; `None`: each thread waits for each operation.
    pub outstanding: Option<u32>,
    /// `-b`, units of 1,024 bytes.
    pub block_kib: u64,
    /// `-i`: operations of one run along a column.
    pub run_length: u64,
    /// `-L`.
    pub latency: Option<LatencySwitch>,
    /// `-U`; `Some(true)`: processor by processor.
    pub utilisation: Option<bool>,
    /// `-B`; `None`: not given, equivalent to `-BN`.
    pub buffering: Option<Buffering>,
    /// `-S`, in blocks.
    pub start_blocks: u64,
    /// `-F`.
    pub parameter_file: Option<String>,
    /// Arguments that are not switches.
    pub files: Vec<String>,
    /// `-?`.
    pub help: bool,
    /// What was skipped, and why.
    pub notes: Vec<String>,
}

impl Default for Command {
    fn default() -> Self {
        Command {
            operation: Operation::Read,
            threads: 1,
            seconds: 30,
            drives: Vec::new(),
            raw: Vec::new(),
            access: Access::Stripe(64),
            affinity: Affinity::None,
            outstanding: None,
            block_kib: 2,
            run_length: 64,
            latency: None,
            utilisation: None,
            buffering: None,
            start_blocks: 0,
            parameter_file: None,
            files: Vec::new(),
            help: false,
            notes: Vec::new(),
        }
    }
}

/// `/kR`, `/s2`: switches in the style of other Windows tools. As a name it would be a file
/// directly in the root directory, where no one keeps test files.
fn is_slash_switch(word: &str) -> bool {
    word.strip_prefix('/')
        .is_some_and(|rest| !rest.contains(['/', '\\']))
}

impl Command {
    /// Parses the words after `sqlio`.
    ///
    /// # Errors
    /// An unknown switch, an invalid value, an unsupported request; switches that exclude each
    /// other.
    pub fn parse<S: AsRef<str>>(words: &[S]) -> Result<Command, Error> {
        let mut command = Command::default();
        for word in words {
            let word = word.as_ref();
            if let Some(sign) = typeset(word) {
                return Err(refuse(format!("`{word}` was pasted"), sign.hint()));
            }
            match word.strip_prefix('-') {
                Some(switch) => command.switch(word, switch)?,
                None if word.is_empty() => {}
                None if is_slash_switch(word) => {
                    return Err(refuse(
                        format!(
                            "`{word}` is not a switch: SQLIO's begin with `-`, and no file is made in the root directory"
                        ),
                        format!("write -{}; or name a file in a directory", &word[1..]),
                    ));
                }
                None => command.files.push(word.to_owned()),
            }
        }
        if !command.help {
            command.check()?;
        }
        Ok(command)
    }

    fn switch(&mut self, word: &str, switch: &str) -> Result<(), Error> {
        let Some(letter) = switch.chars().next() else {
            return Err(refuse("`-` is not a switch", "see `sqlio -?`"));
        };
        let value = &switch[letter.len_utf8()..];
        match letter {
            'k' | 'K' => self.operation = operation(word, value)?,
            't' | 'T' => self.threads = number(word, value, 1, u64::from(THREADS_MAX))? as u32,
            's' => self.seconds = number(word, value, 1, SECONDS_MAX)?,
            'd' => self.drives = drives(word, value)?,
            'R' | 'r' => self.raw = raw_targets(word, value)?,
            'f' => self.access = access(word, value)?,
            'p' | 'P' => self.affinity = processor(word, value)?,
            'a' | 'A' => self.affinity = mask_switch(word, value)?,
            // -o0 is equivalent to omitting it.
            'o' | 'O' => {
                self.outstanding = match number(word, value, 0, 4_096)? {
                    0 => None,
                    several => Some(several as u32),
                }
            }
            'b' => self.block_kib = number(word, value, 1, BLOCK_KIB_MAX)?,
            'i' | 'I' => self.run_length = number(word, value, 1, u64::from(u32::MAX))?,
            'L' | 'l' => self.latency = Some(latency(word, value)?),
            'U' | 'u' => self.utilisation = Some(utilisation(word, value)?),
            'B' => self.buffering = Some(buffering(word, value)?),
            'S' => self.start_blocks = number(word, value, 0, 1 << 50)?,
            'F' if value.is_empty() => {
                return Err(refuse("`-F` has no file", "write its name directly after it: -Fparam.txt"));
            }
            'F' => self.parameter_file = Some(value.to_owned()),
            '?' | 'h' | 'H' => self.help = true,
            'D' => self.notes.push(format!(
                "{word}: there is no debug output; intervals, percentiles and warnings are in the record, see `stripewise history show last`"
            )),
            'm' | 'M' => {
                return Err(refuse(
                    format!("{word}: operations with several buffers (scatter and gather, or copies) are not supported: each is one request with one buffer"),
                    "leave it out; the disk sees requests of the same size",
                ));
            }
            'v' => {
                return Err(refuse(
                    format!("{word} asks for a bug of SQLIO 1.1.1, which used the same runs again and again: such numbers cannot be compared with any others"),
                    "leave it out",
                ));
            }
            '6' if value == "4" => {
                return Err(refuse(
                    "-64 was for large memory on Alpha processors, and SQLIO v1.5.SG no longer had it",
                    "leave it out: memory has 64 bits anyway",
                ));
            }
            _ => {
                let hint = "`sqlio -?` lists the switches; upper and lower case differ";
                return Err(refuse(format!("{word} is not a switch of SQLIO"), hint));
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Error> {
        if let Some(name) = self
            .files
            .iter()
            .find(|name| name.chars().count() > NAME_MAX)
        {
            let start: String = name.chars().take(40).collect();
            return Err(refuse(
                format!("the name {start}... has more than {NAME_MAX} characters"),
                "use a shorter one, or a link",
            ));
        }
        if self.parameter_file.is_some() {
            self.check_with_parameter_file();
        } else if !self.drives.is_empty() && self.files.len() > 1 {
            return Err(refuse(
                format!(
                    "-d goes with one file name, and {} are given",
                    self.files.len()
                ),
                "name the files with their drives instead: D:\\a.dat E:\\b.dat",
            ));
        }
        if self.target_names().len() > FILES_MAX {
            return Err(refuse(
                format!(
                    "{} files are more than {FILES_MAX}",
                    self.target_names().len()
                ),
                "use fewer at once",
            ));
        }
        if self.parameter_file.is_none() {
            self.check_columns(self.threads)?;
        }
        Ok(())
    }

    /// The parameter file takes precedence; names or numbers given as well are ignored, as SQLIO
    /// did.
    fn check_with_parameter_file(&mut self) {
        let mut conflicting = Vec::new();
        if !self.files.is_empty() {
            conflicting.push("file names");
        }
        if !self.drives.is_empty() {
            conflicting.push("-d");
        }
        if !self.raw.is_empty() {
            conflicting.push("-R");
        }
        if self.threads != 1 {
            conflicting.push("-t");
        }
        if self.affinity != Affinity::None {
            conflicting.push("-p and -a");
        }
        if !conflicting.is_empty() {
            self.notes.push(format!(
                "{} together with -F: the parameter file specifies it instead",
                conflicting.join(", ")
            ));
        }
    }

    /// Threads share the columns of the stripes, so each needs at least one.
    ///
    /// # Errors
    /// If there are more threads than columns.
    pub fn check_columns(&self, threads: u32) -> Result<(), Error> {
        match self.access {
            Access::Stripe(columns) if u64::from(threads) > columns => Err(refuse(
                format!("-f{columns} has columns for {columns} threads, not for {threads}"),
                "raise -f, lower the threads, or use -frandom or -fsequential",
            )),
            _ => Ok(()),
        }
    }

    /// The targets as SQLIO would name them, where there is no parameter file:
    /// `L:testfile.dat`, `D:`, `9:`.
    pub fn target_names(&self) -> Vec<String> {
        let file = self.files.first().map_or("testfile.dat", String::as_str);
        let mut names: Vec<String> = match self.drives.as_slice() {
            [] if self.files.is_empty() && self.raw.is_empty() => vec![file.to_owned()],
            [] => self.files.clone(),
            drives => drives
                .iter()
                .map(|drive| format!("{drive}:{file}"))
                .collect(),
        };
        names.extend(self.raw.iter().cloned());
        names
    }

    /// Blocks that the stripes span: columns times operations of a run.
    pub fn matrix_blocks(&self) -> Option<u64> {
        match self.access {
            Access::Stripe(columns) => Some(columns.saturating_mul(self.run_length)),
            Access::Random | Access::Sequential => None,
        }
    }
}

pub(super) fn refuse(problem: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::new("sqlio", problem, hint)
}

fn no_value(word: &str, example: &str) -> Error {
    refuse(
        format!("{word} has no value that SQLIO knows"),
        format!("write the value directly after its switch: {example}"),
    )
}

fn number(word: &str, value: &str, min: u64, max: u64) -> Result<u64, Error> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let parsed: Option<u64> = digits.then(|| value.parse().ok()).flatten();
    match parsed {
        Some(number) if (min..=max).contains(&number) => Ok(number),
        Some(_) => Err(refuse(
            format!("{word} is outside of {min} to {max}"),
            "see `sqlio -?` for what each switch takes",
        )),
        None => {
            let letter: String = word.chars().take(2).collect();
            Err(no_value(word, &format!("{letter}{}", min.max(4))))
        }
    }
}

fn operation(word: &str, value: &str) -> Result<Operation, Error> {
    match value {
        "R" | "r" => Ok(Operation::Read),
        "W" | "w" => Ok(Operation::Write),
        _ => match value.to_ascii_uppercase().as_str() {
            "RW" | "WR" => Err(refuse(
                format!("{word}: one run reads or writes, never both"),
                "give -kR or -kW; `stripewise run --read-percent 70` mixes them",
            )),
            _ => Err(no_value(word, "-kR or -kW")),
        },
    }
}

fn drives(word: &str, value: &str) -> Result<Vec<char>, Error> {
    let letters: Vec<char> = value
        .chars()
        .filter(|sign| !matches!(sign, ':' | ','))
        .collect();
    if letters.is_empty() || !letters.iter().all(char::is_ascii_alphabetic) {
        return Err(no_value(word, "-dDEF for the drives D, E and F"));
    }
    Ok(letters)
}

/// `DEF123` and `D,E,F,12`: letters and numbers of disks. Without commas each digit is a disk.
fn raw_targets(word: &str, value: &str) -> Result<Vec<String>, Error> {
    let mut targets = Vec::new();
    let commas = value.contains(',');
    for part in value
        .split(',')
        .map(|part| part.trim().trim_end_matches(':'))
    {
        if commas && !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            targets.push(format!("{part}:"));
            continue;
        }
        for sign in part.chars().filter(|sign| *sign != ':') {
            if !sign.is_ascii_alphanumeric() {
                return Err(no_value(word, "-RD,E,1 for the drives D and E and disk 1"));
            }
            targets.push(format!("{sign}:"));
        }
    }
    if targets.is_empty() || targets.iter().any(|name| name.len() > 5) {
        return Err(no_value(word, "-RD,E,1 for the drives D and E and disk 1"));
    }
    Ok(targets)
}

fn access(word: &str, value: &str) -> Result<Access, Error> {
    if value.eq_ignore_ascii_case("random") {
        Ok(Access::Random)
    } else if value.eq_ignore_ascii_case("sequential") {
        Ok(Access::Sequential)
    } else if value.starts_with(|sign: char| sign.is_ascii_digit()) {
        number(word, value, 1, u64::from(u32::MAX)).map(Access::Stripe)
    } else {
        Err(no_value(word, "-frandom, -fsequential or -f64"))
    }
}

fn processor(word: &str, value: &str) -> Result<Affinity, Error> {
    let rest = value.strip_prefix(['I', 'i']);
    let number = number(word, rest.unwrap_or(value), 0, 63)? as u32;
    Ok(Affinity::Processor {
        number,
        ideal: rest.is_some(),
    })
}

fn mask_switch(word: &str, value: &str) -> Result<Affinity, Error> {
    let after = value.strip_prefix(['R', 'r']);
    let round_robin = after.is_some();
    let rest = after.unwrap_or(value);
    let ideal = round_robin.then(|| rest.strip_prefix(['I', 'i'])).flatten();
    let mask = mask(ideal.unwrap_or(rest))
        .ok_or_else(|| no_value(word, "-a0xF, or -aR0xF for one after the other"))?;
    Ok(match mask {
        0 => Affinity::None,
        mask => Affinity::Mask {
            mask,
            round_robin,
            ideal: ideal.is_some(),
        },
    })
}

/// A processor mask, decimal or hexadecimal with `0x`.
pub(super) fn mask(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

fn latency(word: &str, value: &str) -> Result<LatencySwitch, Error> {
    let mut signs = value.chars().map(|sign| sign.to_ascii_lowercase());
    let processor_timer = match signs.next() {
        Some('s') => false,
        Some('p') => true,
        _ => return Err(no_value(word, "-LS")),
    };
    let initiation = match (signs.next(), signs.next()) {
        (None, _) => false,
        (Some('i'), None) => true,
        _ => return Err(no_value(word, "-LS, or -LSi")),
    };
    Ok(LatencySwitch {
        processor_timer,
        initiation,
    })
}

fn utilisation(word: &str, value: &str) -> Result<bool, Error> {
    match value {
        "" => Ok(false),
        "p" | "P" => Ok(true),
        _ => Err(no_value(word, "-U, or -Up for each processor")),
    }
}

fn buffering(word: &str, value: &str) -> Result<Buffering, Error> {
    Ok(match value {
        "N" | "n" => Buffering::None,
        "Y" | "y" => Buffering::Yes,
        "H" | "h" => Buffering::Hardware,
        "S" | "s" => Buffering::Software,
        _ => return Err(no_value(word, "-BN, -BY, -BH or -BS")),
    })
}
