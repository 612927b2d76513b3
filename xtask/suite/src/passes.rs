//! Passes over tests in random order, and the file that records which parts of them are done: a
//! commit's pass can be continued later, and passes accumulate.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Tests per process, in threads: so each has different siblings in each pass.
const GROUP_TESTS: usize = 24;

/// Which tests are run, and under which load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All tests, without load.
    Quiet,
    /// All tests, under load.
    Loaded,
    /// Tests of binaries that start processes, without load.
    Processes,
    /// Tests that were ever unsteady, under load.
    Unsteady,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Quiet, Kind::Loaded, Kind::Processes, Kind::Unsteady];

    pub fn is_loaded(self) -> bool {
        matches!(self, Kind::Loaded | Kind::Unsteady)
    }

    /// Its name as a switch and in the file.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Quiet => "quiet",
            Kind::Loaded => "loaded",
            Kind::Processes => "processes",
            Kind::Unsteady => "unsteady",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Kind::Quiet => "all tests, quiet",
            Kind::Loaded => "all tests, under load",
            Kind::Processes => "tests that start processes, quiet",
            Kind::Unsteady => "tests that were ever unsteady, under load",
        }
    }
}

/// Tests of one program that run in one process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// Index of the program.
    pub program: usize,
    pub tests: Vec<String>,
}

/// All tests in the order of a pass: determined by the seed, so that a pass can be continued later.
/// `tests` has the program and the name of each.
pub fn order(seed: &str, tests: &[(usize, String)]) -> Vec<Group> {
    let key = |program: usize, name: &str| {
        let mut hasher = DefaultHasher::new();
        (seed, program, name).hash(&mut hasher);
        hasher.finish()
    };
    let mut shuffled: Vec<_> = tests.to_vec();
    shuffled.sort_by_cached_key(|(program, name)| (*program, key(*program, name)));
    let mut groups: Vec<Group> = Vec::new();
    for (program, name) in shuffled {
        match groups.last_mut() {
            Some(last) if last.program == program && last.tests.len() < GROUP_TESTS => {
                last.tests.push(name);
            }
            _ => groups.push(Group {
                program,
                tests: vec![name],
            }),
        }
    }
    groups.sort_by_cached_key(|group| key(group.program, &group.tests.concat()));
    groups
}

/// A completed group of a pass.
#[derive(Clone, Debug)]
pub struct Done {
    pub kind: Kind,
    /// From 1.
    pub pass: u32,
    /// Index of the group in the pass.
    pub group: usize,
    /// Number of groups in the pass.
    pub groups: usize,
    pub passed: u64,
    /// Names of failed tests, with their output.
    pub failures: Vec<(String, String)>,
    /// Skipped parts of passing tests, by the missing tool.
    pub skips: BTreeMap<String, Vec<String>>,
}

impl Done {
    fn line(&self, commit: &str) -> String {
        let Done {
            kind,
            pass,
            group,
            groups,
            passed,
            failures,
            skips,
        } = self;
        let kind = kind.name();
        let line = json!({"commit": commit, "kind": kind, "pass": pass, "group": group,
            "groups": groups, "passed": passed, "failures": failures, "skips": skips});
        format!("{line}\n")
    }

    /// From a complete line about this commit.
    fn parse(line: &str, commit: &str) -> Option<Done> {
        let line: Value = serde_json::from_str(line).ok()?;
        if line["commit"] != commit {
            return None;
        }
        let count = |name: &str| line[name].as_u64();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let failures = line["failures"].as_array()?.iter();
        Some(Done {
            kind: *(Kind::ALL.iter()).find(|kind| line["kind"] == kind.name())?,
            pass: count("pass")?.try_into().ok()?,
            group: count("group")?.try_into().ok()?,
            groups: count("groups")?.try_into().ok()?,
            passed: count("passed")?,
            failures: failures
                .map(|failure| Some((text(&failure[0])?, text(&failure[1])?)))
                .collect::<Option<_>>()?,
            skips: (line["skips"].as_object()?.iter())
                .map(|(needs, tests)| {
                    let tests = tests.as_array()?.iter().map(text);
                    Some((needs.clone(), tests.collect::<Option<_>>()?))
                })
                .collect::<Option<_>>()?,
        })
    }
}

/// Results for a commit.
#[derive(Debug)]
pub struct Ledger {
    pub commit: String,
    /// The file it is kept in; none if it is not to be continued.
    path: Option<PathBuf>,
    done: Vec<Done>,
}

impl Ledger {
    /// Reads a commit's results from a file. A line truncated by a power loss is ignored.
    pub fn read(path: &Path, commit: &str) -> Result<Ledger> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let done = text.lines().filter_map(|line| Done::parse(line, commit));
        Ok(Ledger {
            commit: commit.to_owned(),
            path: Some(path.to_owned()),
            done: done.collect(),
        })
    }

    /// In memory only.
    pub fn in_memory() -> Ledger {
        Ledger {
            commit: String::new(),
            path: None,
            done: Vec::new(),
        }
    }

    /// Records a group, in the file first.
    pub fn keep(&mut self, done: Done) -> Result<()> {
        if let Some(path) = &self.path {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut file = File::options().create(true).append(true).open(path)?;
            // A truncated line must not corrupt this one.
            file.write_all(format!("\n{}", done.line(&self.commit)).as_bytes())?;
        }
        self.done.push(done);
        Ok(())
    }

    /// Completed groups of a pass.
    pub fn groups(&self, kind: Kind, pass: u32) -> BTreeSet<usize> {
        self.of(kind)
            .filter(|done| done.pass == pass)
            .map(|done| done.group)
            .collect()
    }

    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Done> {
        self.done.iter().filter(move |done| done.kind == kind)
    }

    /// Passes with all groups completed.
    pub fn whole_passes(&self, kind: Kind) -> u32 {
        let passes: BTreeSet<(u32, usize)> =
            (self.of(kind).map(|done| (done.pass, done.groups))).collect();
        let whole = passes
            .iter()
            .filter(|(pass, groups)| self.groups(kind, *pass).len() == *groups);
        u32::try_from(whole.count()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests() -> Vec<(usize, String)> {
        let of = |program, count| (0..count).map(move |test| (program, format!("t{test}")));
        of(0, 60).chain(of(1, 3)).collect()
    }

    #[test]
    fn a_pass_has_every_test_once_and_another_order_than_the_next() {
        let first = order("1", &tests());
        let mut seen: Vec<(usize, String)> = first
            .iter()
            .flat_map(|group| group.tests.iter().map(|test| (group.program, test.clone())))
            .collect();
        seen.sort();
        let mut expected = tests();
        expected.sort();
        assert_eq!(seen, expected);
        assert!(first.iter().all(|group| group.tests.len() <= GROUP_TESTS));
        assert_eq!(first, order("1", &tests()), "it can go on later");
        assert_ne!(first, order("2", &tests()));
    }

    #[test]
    fn passes_add_up_over_what_the_file_has() {
        let path = std::env::temp_dir().join(format!("passes-{}", std::process::id()));
        let done = |pass, group| Done {
            kind: Kind::Quiet,
            pass,
            group,
            groups: 2,
            passed: 1,
            failures: vec![("a".to_owned(), "why\n\"so\"".to_owned())],
            skips: BTreeMap::from([("fio".to_owned(), vec!["b".to_owned()])]),
        };
        let mut ledger = Ledger::read(&path, "c").unwrap();
        for (pass, group) in [(1, 0), (1, 1), (2, 1)] {
            ledger.keep(done(pass, group)).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap() + "{\"commit\":\"c";
        std::fs::write(&path, text).unwrap();
        let mut again = Ledger::read(&path, "c").unwrap();
        again.keep(done(2, 0)).unwrap();
        let again = Ledger::read(&path, "c").unwrap();
        let other = Ledger::read(&path, "d").unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again.whole_passes(Kind::Quiet), 2);
        assert_eq!(again.whole_passes(Kind::Loaded), 0);
        assert_eq!(again.groups(Kind::Quiet, 2), BTreeSet::from([0, 1]));
        let kept = again.of(Kind::Quiet).next().unwrap();
        assert_eq!(kept.failures, done(1, 0).failures);
        assert_eq!(kept.skips, done(1, 0).skips);
        assert_eq!(other.whole_passes(Kind::Quiet), 0, "of another commit");
    }
}
