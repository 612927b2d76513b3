//! The command line of a rank: removes its own switches, and substitutes what differs from host
//! to host. All ranks are started with the same words.

use crate::places::named;
use std::ffi::OsString;
use std::path::PathBuf;
use stripewise_units::InputError;

/// The remaining arguments, and those for this program itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The arguments of the command, starting with the program's name.
    pub rest: Vec<OsString>,
    /// Two ranks may use one device: `--shared`.
    pub shared: bool,
    /// The map of targets by host: `--map FILE`.
    pub map: Option<PathBuf>,
    /// Some `--destroy` names a device without a host.
    pub destroys_anywhere: bool,
}

const HINT: &str =
    "`stripewise run --help` explains the switches of a run, docs/HOSTS.md those of several hosts";

/// The words for `rank` on `host`: `{host}` and `{rank}` in the name of the
/// store are replaced, and of `--destroy HOST:NAME` only this host's is kept, since
/// write permission is given per host.
///
/// # Errors
/// If `--map` names no file.
pub fn of_rank(
    words: impl IntoIterator<Item = OsString>,
    host: &str,
    rank: u32,
) -> Result<Arguments, InputError> {
    let mut arguments = Arguments::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            arguments.rest.push(word);
            continue;
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (text.to_owned(), None),
        };
        if text == "--shared" {
            arguments.shared = true;
            continue;
        }
        if !["--map", "--store", "--destroy"].contains(&name.as_str()) {
            arguments.rest.push(word);
            continue;
        }
        let value = value.map(OsString::from).or_else(|| words.next());
        let Some(value) = value else {
            return Err(InputError::new(format!("{name} needs a value"), HINT));
        };
        match name.as_str() {
            "--map" => arguments.map = Some(PathBuf::from(value)),
            "--store" => {
                let value = match value.to_str() {
                    Some(text) => OsString::from(named(text, host, rank)),
                    None => value,
                };
                arguments.rest.extend([OsString::from("--store"), value]);
            }
            _ => match value.to_str().and_then(of_host) {
                Some((of, device)) if of == host => {
                    let device = OsString::from(device);
                    arguments.rest.extend([OsString::from("--destroy"), device]);
                }
                // For another host.
                Some(_) => {}
                None => {
                    arguments.destroys_anywhere = true;
                    arguments.rest.extend([OsString::from("--destroy"), value]);
                }
            },
        }
    }
    Ok(arguments)
}

/// `HOST:NAME`; a colon within a path belongs to the path.
fn of_host(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(host, _)| !host.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(words: &[&str], host: &str, rank: u32) -> (Vec<String>, Arguments) {
        let arguments = of_rank(words.iter().map(OsString::from), host, rank).unwrap();
        let rest = arguments.rest.iter();
        let rest = rest.map(|word| word.to_str().unwrap().to_owned());
        (rest.collect(), arguments)
    }

    #[test]
    fn own_switches_are_taken_and_those_of_other_hosts_left_out() {
        let words = [
            "stripewise-mpi",
            "run",
            "{target}",
            "--store",
            "/var/tmp/{host}-{rank}.db",
            "--map=map.toml",
            "--shared",
            "--destroy",
            "alpha:sdb",
            "--destroy=beta:sdc",
            "--write",
        ];
        let (rest, arguments) = resolved(&words, "beta", 3);
        assert_eq!(
            rest,
            [
                "stripewise-mpi",
                "run",
                "{target}",
                "--store",
                "/var/tmp/beta-3.db",
                "--destroy",
                "sdc",
                "--write",
            ]
        );
        assert!(arguments.shared && !arguments.destroys_anywhere);
        assert_eq!(arguments.map, Some(PathBuf::from("map.toml")));
    }

    #[test]
    fn a_device_belongs_to_the_host_that_is_named_with_it() {
        let cases: [(&str, Option<&str>, bool); 4] = [
            ("sdb", Some("sdb"), true),
            ("beta:sdb", Some("sdb"), false),
            ("alpha:sdb", None, false),
            (
                "/dev/disk/by-path/pci-0000:00:1f.2",
                Some("/dev/disk/by-path/pci-0000:00:1f.2"),
                true,
            ),
        ];
        for (given, left, anywhere) in cases {
            let (rest, arguments) = resolved(&["x", "--destroy", given], "beta", 0);
            let expected = left.map_or(vec!["x"], |left| vec!["x", "--destroy", left]);
            assert_eq!(
                (rest, arguments.destroys_anywhere),
                (
                    expected.iter().map(|word| (*word).to_owned()).collect(),
                    anywhere
                ),
                "{given}"
            );
        }
    }

    #[test]
    fn a_switch_without_its_value_is_refused() {
        let error = of_rank(["x", "--map"].map(OsString::from), "a", 0).unwrap_err();
        assert_eq!(error.to_string(), "--map needs a value");
    }
}
