//! How targets are named on the command line.
//!
//! `sim:NAME?key=value&...` and `dataset:NAME` are only parsed here; `array-sim` and `lab`
//! interpret them. Everything else is a path, in the form of [`NameText`]: bytes that are not UTF-8
//! as `\xNN`. A file whose name starts with `sim:` is reached as `./sim:...`.

use crate::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::str::FromStr;
use stripewise_units::{NameText, path_of, sim_array};

/// A target as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// A file, directory or block device.
    Path(PathBuf),
    /// `sim:NAME` or `sim:FILE.toml`, with overrides in the order given.
    Simulated {
        /// Name of a built-in array, or the path of a description.
        name: String,
        /// `?key=value&key=value`; keys are not empty, values may be.
        overrides: Vec<(String, String)>,
    },
    /// `dataset:NAME`: a published table; can be compared, not run.
    Dataset(String),
}

impl FromStr for TargetName {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::Usage`] for an empty name, a NUL byte, or an override
    /// without `=` or key, or given twice.
    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(usage("(empty)", "a target must have a name")
                .with_hint("Give a directory, a file, a block device or `sim:NAME`."));
        }
        if text.contains('\0') {
            return Err(usage(
                text.replace('\0', "\\0"),
                "a name cannot contain a NUL byte",
            ));
        }
        if let Some(rest) = sim_array(text) {
            return parse_simulated(text, rest);
        }
        if let Some(name) = text.strip_prefix("dataset:") {
            if name.is_empty() {
                return Err(usage(text, "the name of the dataset is missing")
                    .with_hint("Write `dataset:NAME`."));
            }
            return Ok(TargetName::Dataset(name.to_owned()));
        }
        Ok(TargetName::Path(path_of(text)))
    }
}

impl std::fmt::Display for TargetName {
    /// As typed, except for bytes that are not UTF-8; parsing the text returns the same name.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TargetName::Path(path) => write!(f, "{}", path.as_text()),
            TargetName::Dataset(name) => write!(f, "dataset:{name}"),
            TargetName::Simulated { name, overrides } => {
                write!(f, "sim:{name}")?;
                for (index, (key, value)) in overrides.iter().enumerate() {
                    let separator = if index == 0 { '?' } else { '&' };
                    write!(f, "{separator}{key}={value}")?;
                }
                Ok(())
            }
        }
    }
}

fn usage(target: impl std::fmt::Display, what: &str) -> Error {
    Error::new(ErrorKind::Usage, target, what)
}

fn parse_simulated(text: &str, rest: &str) -> Result<TargetName> {
    let (name, query) = match rest.split_once('?') {
        Some((name, query)) => (name, Some(query)),
        None => (rest, None),
    };
    if name.is_empty() {
        return Err(
            usage(text, "the name of the simulated array is missing").with_hint(
                "Write `sim:NAME` or `sim:FILE.toml`; `stripewise sim list` shows the names.",
            ),
        );
    }
    let mut overrides: Vec<(String, String)> = Vec::new();
    for part in query.into_iter().flat_map(|query| query.split('&')) {
        let hint = "Write overrides as `?key=value&key=value`.";
        let Some((key, value)) = part.split_once('=') else {
            return Err(usage(text, &format!("the override `{part}` has no `=`")).with_hint(hint));
        };
        if key.is_empty() {
            return Err(usage(text, &format!("the override `{part}` has no key")).with_hint(hint));
        }
        if overrides.iter().any(|(known, _)| known == key) {
            return Err(usage(text, &format!("`{key}` is given twice")).with_hint(hint));
        }
        overrides.push((key.to_owned(), value.to_owned()));
    }
    Ok(TargetName::Simulated {
        name: name.to_owned(),
        overrides,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulated(name: &str, overrides: &[(&str, &str)]) -> TargetName {
        TargetName::Simulated {
            name: name.into(),
            overrides: overrides
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect(),
        }
    }

    #[test]
    fn names_are_taken_apart_and_printed_as_typed() {
        let cases = [
            ("/data", TargetName::Path("/data".into())),
            (".", TargetName::Path(".".into())),
            ("./sim:odd", TargetName::Path("./sim:odd".into())),
            ("/dev/sdb?x=1", TargetName::Path("/dev/sdb?x=1".into())),
            #[cfg(unix)]
            (r"/data/a\xffb", TargetName::Path(path_of(r"/data/a\xffb"))),
            ("sim:hdd-10k", simulated("hdd-10k", &[])),
            (
                "sim:raid10-10k?offset=63s&stripe_unit=64K&disks=4",
                simulated(
                    "raid10-10k",
                    &[("offset", "63s"), ("stripe_unit", "64K"), ("disks", "4")],
                ),
            ),
            (
                "sim:dir/my.toml?seek=",
                simulated("dir/my.toml", &[("seek", "")]),
            ),
            (
                "dataset:oja-nisula-2007-offset",
                TargetName::Dataset("oja-nisula-2007-offset".into()),
            ),
        ];
        for (text, want) in cases {
            let got: TargetName = text.parse().expect(text);
            assert_eq!(got, want, "{text}");
            assert_eq!(got.to_string(), text);
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let Ok(TargetName::Path(path)) = r"a\xffb".parse() else {
                panic!("no path");
            };
            assert_eq!(path.as_os_str().as_bytes(), b"a\xffb");
        }
    }

    #[test]
    fn names_that_make_no_sense_are_usage_errors_with_a_reason() {
        let cases = [
            ("", "must have a name"),
            ("a\0b", "NUL"),
            ("sim:", "missing"),
            ("sim:?a=1", "missing"),
            ("sim:x?", "no `=`"),
            ("sim:x?a", "no `=`"),
            ("sim:x?a=1&", "no `=`"),
            ("sim:x?=1", "no key"),
            ("sim:x?a=1&a=2", "twice"),
            ("dataset:", "missing"),
        ];
        for (text, want) in cases {
            let error = text.parse::<TargetName>().expect_err(text);
            assert_eq!(error.kind, ErrorKind::Usage, "{text}");
            assert!(error.to_string().contains(want), "{text}: {error}");
        }
    }
}
