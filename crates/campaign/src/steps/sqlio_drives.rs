//! Resolves SQLIO's names: drive letters and disk numbers, as mapped by the
//! user.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_units::{NameText, is_sim_target};

/// A resolved name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedPlace {
    /// A file, existing or to be made.
    File(PathBuf),
    /// A volume or disk, as its device.
    Raw(PathBuf),
    /// `sim:NAME`.
    Simulated(String),
}

impl NamedPlace {
    /// As it would be passed to `run`.
    pub fn text(&self) -> String {
        match self {
            NamedPlace::File(path) | NamedPlace::Raw(path) => path.as_text(),
            NamedPlace::Simulated(text) => text.clone(),
        }
    }
}

/// Looks up an environment variable, supplied by the front end.
pub type Environment = dyn Fn(&str) -> Option<String>;

/// The drive mappings.
pub struct Drives {
    given: Vec<(String, String)>,
    /// Supplies the mapping of a drive that was not given.
    environment: Box<Environment>,
    /// Unmapped drives are this machine's own: it runs Windows.
    native: bool,
}

impl Drives {
    /// Parses `L=PATH` and so on; the environment supplies other drives.
    ///
    /// # Errors
    /// If a mapping is invalid.
    pub fn parse(mappings: &[String], environment: Box<Environment>) -> Outcome<Drives> {
        let mut drives = Drives {
            given: Vec::new(),
            environment,
            native: std::path::MAIN_SEPARATOR == '\\',
        };
        for mapping in mappings {
            let parts = mapping.split_once('=');
            let Some((drive, path)) =
                parts.filter(|(drive, path)| is_drive(drive) && !path.is_empty())
            else {
                return Err(Failure::usage(
                    format!("--drive {mapping} maps nothing"),
                    "give a letter (or the number of a disk) and where it leads: --drive L=/mnt/data",
                ));
            };
            let drive = drive.trim_end_matches(':').to_ascii_uppercase();
            drives.given.push((drive, path.to_owned()));
        }
        Ok(drives)
    }

    /// The mapping of a drive; the last one given counts, then the environment.
    fn of(&self, drive: &str) -> Option<String> {
        let given = self.given.iter().rev().find(|(known, _)| *known == drive);
        given
            .map(|(_, path)| path.clone())
            .or_else(|| (self.environment)(&variable_of(drive)).filter(|path| !path.is_empty()))
    }

    /// Resolves a name: `L:testfile.dat`, `l:\dir\a.dat`, `a.dat`, and the raw
    /// targets `L:` and `9:`. Drives of files must be existing directories.
    pub fn place(&self, name: &str, raw: bool) -> Outcome<NamedPlace> {
        let letter = name.split_once(':').filter(|(drive, _)| is_drive(drive));
        if let (Some((drive, _)), false) = (letter, raw)
            && let Some(base) = self.of(&drive.to_ascii_uppercase())
            && !is_sim_target(&base)
            && !Path::new(&base).is_dir()
        {
            return Err(Failure::usage(
                format!("{name}: drive {drive}: is {base}, which is not a directory"),
                "map the drive to a directory; devices go with -R",
            ));
        }
        self.named(name, raw)
    }

    /// The path of a file that is only read, whose name may have a drive or
    /// Windows backslashes.
    pub fn text_file(&self, name: &str) -> PathBuf {
        let has_drive = name
            .split_once(':')
            .is_some_and(|(drive, _)| is_drive(drive));
        if has_drive && let Ok(NamedPlace::File(path)) = self.named(name, false) {
            return path;
        }
        // A Linux name may contain backslashes of its own.
        let slashed = PathBuf::from(name.replace('\\', "/"));
        if slashed.exists() {
            slashed
        } else {
            PathBuf::from(name)
        }
    }

    /// Resolves a name on the machine that a plan is made for, which need not
    /// be this one.
    pub fn named(&self, name: &str, raw: bool) -> Outcome<NamedPlace> {
        if is_sim_target(name) {
            return Ok(NamedPlace::Simulated(name.to_owned()));
        }
        if name.starts_with("\\\\") {
            if self.native {
                return Ok(NamedPlace::File(PathBuf::from(name)));
            }
            return Err(Failure::usage(
                format!("{name} is a share of a Windows network"),
                "mount it, and map a drive letter to where: --drive S=/mnt/share",
            ));
        }
        let letter = name.split_once(':').filter(|(drive, _)| is_drive(drive));
        let Some((drive, rest)) = letter else {
            return Ok(NamedPlace::File(below(Path::new(""), name)?));
        };
        let drive = &drive.to_ascii_uppercase();
        let base = match self.of(drive) {
            Some(base) => base,
            None if self.native => return Ok(native_place(name, drive, raw)),
            None => return Err(unmapped(drive)),
        };
        if is_sim_target(&base) {
            return Ok(NamedPlace::Simulated(base));
        }
        if raw {
            return raw_place(name, base);
        }
        let path = below(Path::new(&base), rest)?;
        Ok(NamedPlace::File(as_windows_finds(Path::new(&base), &path)))
    }
}

/// The environment variable of a drive's mapping.
fn variable_of(drive: &str) -> String {
    format!("STRIPEWISE_DRIVE_{drive}")
}

fn unmapped(drive: &str) -> Failure {
    let variable = variable_of(drive);
    Failure::usage(
        format!("there is no drive {drive}: here"),
        format!(
            "say what it stands for: --drive {drive}=/mnt/data (or set {variable}); --drive {drive}=sim:NAME simulates it"
        ),
    )
}

/// A name of this machine, which runs Windows: raw targets are the volume of
/// the letter, or the disk of the number.
fn native_place(name: &str, drive: &str, raw: bool) -> NamedPlace {
    let is_number = drive.bytes().all(|byte| byte.is_ascii_digit());
    match (raw, is_number) {
        (false, _) => NamedPlace::File(PathBuf::from(name)),
        (true, true) => NamedPlace::Raw(PathBuf::from(format!("\\\\.\\PhysicalDrive{drive}"))),
        (true, false) => NamedPlace::Raw(PathBuf::from(format!("\\\\.\\{drive}:"))),
    }
}

fn raw_place(name: &str, base: String) -> Outcome<NamedPlace> {
    let path = PathBuf::from(base);
    if path.is_dir() {
        return Err(Failure::usage(
            format!(
                "{name} is a raw target, and its drive is the directory {}",
                path.as_text()
            ),
            "map the drive to the block device: --drive L=/dev/sdb1",
        ));
    }
    Ok(NamedPlace::Raw(path))
}

/// A letter, or the number of a disk.
fn is_drive(text: &str) -> bool {
    let text = text.trim_end_matches(':');
    let letter = text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    letter || number
}

/// A Windows path below a directory, without a way out of it.
fn below(base: &Path, rest: &str) -> Outcome<PathBuf> {
    let slashes = rest.replace('\\', "/");
    let relative = if base.as_os_str().is_empty() {
        slashes.as_str()
    } else {
        slashes.trim_start_matches('/')
    };
    let path = base.join(relative);
    let leaves = Path::new(relative)
        .components()
        .any(|part| part == Component::ParentDir);
    if leaves && !base.as_os_str().is_empty() {
        return Err(Failure::usage(
            format!("{rest} leads out of its drive"),
            "name the file without `..`",
        ));
    }
    Ok(path)
}

/// On a Windows drive, `ONE.DAT` is the file `one.dat`: if no entry has the exact
/// name, the only one that differs in case is meant.
fn as_windows_finds(base: &Path, path: &Path) -> PathBuf {
    let Ok(rest) = path.strip_prefix(base) else {
        return path.to_owned();
    };
    let mut found = base.to_owned();
    for part in rest.components() {
        let typed = found.join(part);
        found = match typed.symlink_metadata() {
            Ok(_) => typed,
            Err(_) => in_other_letters(&found, part.as_os_str()).unwrap_or(typed),
        };
    }
    found
}

/// The only entry of a directory whose name differs only in case.
fn in_other_letters(directory: &Path, name: &OsStr) -> Option<PathBuf> {
    let wanted = name.to_str()?.to_lowercase();
    let entries = std::fs::read_dir(directory).ok()?;
    let mut alike = entries.filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        name.to_str()
            .is_some_and(|name| name.to_lowercase() == wanted)
    });
    let only = alike.next()?;
    alike.next().is_none().then(|| only.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(mapping: &str) -> Outcome<Drives> {
        Drives::parse(&[mapping.to_owned()], Box::new(|_| None))
    }

    fn place(name: &str, raw: bool) -> Result<NamedPlace, String> {
        let directory = std::env::temp_dir().display().to_string();
        let given = [
            format!("L={directory}"),
            "S=sim:x".to_owned(),
            "1=/dev/null".to_owned(),
        ];
        let environment =
            move |name: &str| (name == "STRIPEWISE_DRIVE_E").then(|| directory.clone());
        let drives = Drives::parse(&given, Box::new(environment)).unwrap();
        drives
            .place(name, raw)
            .map_err(|failure| failure.error.to_string())
    }

    #[test]
    fn names_lead_below_what_their_drive_stands_for() {
        let at = |path: &str| Ok(NamedPlace::File(std::env::temp_dir().join(path)));
        assert_eq!(place("L:testfile.dat", false), at("testfile.dat"));
        assert_eq!(place("l:\\dir\\a.dat", false), at("dir/a.dat"));
        assert_eq!(place("E:\\a.dat", false), at("a.dat"));
        assert_eq!(
            place("S:a.dat", false),
            Ok(NamedPlace::Simulated("sim:x".into()))
        );
        assert_eq!(place("S:", true), Ok(NamedPlace::Simulated("sim:x".into())));
        assert_eq!(place("1:", true), Ok(NamedPlace::Raw("/dev/null".into())));
        assert_eq!(place("a.dat", false), Ok(NamedPlace::File("a.dat".into())));
        assert_eq!(
            place("/x/a.dat", false),
            Ok(NamedPlace::File("/x/a.dat".into()))
        );
    }

    #[test]
    fn on_windows_names_are_the_machines_own_unless_mapped() {
        let drives = Drives {
            given: vec![("S".to_owned(), "sim:x".to_owned())],
            environment: Box::new(|_| None),
            native: true,
        };
        let cases = [
            (
                "E:\\bench\\a.dat",
                false,
                NamedPlace::File("E:\\bench\\a.dat".into()),
            ),
            (
                "\\\\server\\share\\a.dat",
                false,
                NamedPlace::File("\\\\server\\share\\a.dat".into()),
            ),
            ("e:", true, NamedPlace::Raw("\\\\.\\E:".into())),
            ("9:", true, NamedPlace::Raw("\\\\.\\PhysicalDrive9".into())),
            ("S:a.dat", false, NamedPlace::Simulated("sim:x".into())),
        ];
        for (name, raw, expected) in cases {
            assert_eq!(drives.place(name, raw).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn names_on_a_drive_are_found_in_other_letters_as_on_windows() {
        let directory = tempfile::tempdir().unwrap();
        let drives = mapped(&format!("L={}", directory.path().display())).unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path("Data")).unwrap();
        std::fs::write(path("Data/one.dat"), "").unwrap();
        let find = |name: &str| drives.place(name, false).unwrap();
        assert_eq!(
            find("L:data\\ONE.DAT"),
            NamedPlace::File(path("Data/one.dat"))
        );
        assert_eq!(find("L:two.dat"), NamedPlace::File(path("two.dat")));
        // Of two, it is unclear which is meant, so neither is.
        std::fs::write(path("Data/One.dat"), "").unwrap();
        assert_eq!(
            find("L:Data\\ONE.DAT"),
            NamedPlace::File(path("Data/ONE.DAT"))
        );
        assert_eq!(
            find("L:Data\\one.dat"),
            NamedPlace::File(path("Data/one.dat"))
        );
        // A parameter file is looked up there, too.
        let file = drives.text_file("L:\\DATA\\One.dat");
        assert_eq!(file, path("Data/One.dat"));
    }

    #[test]
    fn names_that_lead_nowhere_are_refused() {
        for (name, raw, problem) in [
            ("Q:a.dat", false, "no drive Q:"),
            ("L:..\\a.dat", false, "leads out"),
            ("L:", true, "is a raw target"),
            ("1:a.dat", false, "not a directory"),
            ("\\\\server\\share\\a.dat", false, "share"),
        ] {
            let error = place(name, raw).unwrap_err();
            assert!(error.contains(problem), "{name}: {error}");
        }
        for mapping in ["L", "L=", "=x", "Lx=/mnt"] {
            assert!(mapped(mapping).is_err(), "{mapping}");
        }
    }
}
