//! No import cycles: of two modules in one folder at most one depends on the other, also
//! indirectly. A folder includes everything below it. Imports from parent modules do not count:
//! parents declare what their parts share.

use super::config::Config;
use super::{Finding, Source};
use std::collections::{BTreeMap, BTreeSet};

/// A module as its path from the crate's root, which is empty.
type Module = Vec<String>;

pub fn check(sources: &[Source], config: &Config) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, BTreeMap<Module, &Source>> = BTreeMap::new();
    for source in sources {
        if let Some((folder, module)) = module_of(source) {
            crates.entry(folder).or_default().insert(module, source);
        }
    }
    let mut findings = Vec::new();
    let mut borne = BTreeSet::new();
    for (folder, modules) in &crates {
        for circle in circles(modules) {
            let path = format!("{folder}/src/{}", circle.folder.join("/"));
            let path = path.trim_end_matches('/');
            if config.circles.iter().any(|known| known.path == path) {
                borne.insert(path.to_owned());
                continue;
            }
            let message = format!(
                "a circle of imports: {}; move what they share below both",
                circle.steps.join(", ")
            );
            findings.push(Finding::new(path, 0, message));
        }
    }
    for known in &config.circles {
        if !borne.contains(&known.path) {
            let message = format!("no circle of imports in {} any more", known.path);
            findings.push(Finding::new("xtask/tidy.toml", 0, message));
        }
    }
    findings
}

/// The folder of its crate and its path there; `None` for files that are not code of a crate.
fn module_of(source: &Source) -> Option<(&str, Module)> {
    source.code.as_ref().filter(|code| !code.is_empty())?;
    let (folder, file) = source.path.split_once("/src/")?;
    let mut module: Module = file
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    if matches!(module.last()?.as_str(), "mod" | "lib" | "main") {
        module.pop();
    }
    Some((folder, module))
}

struct Circle {
    /// The folder of its modules.
    folder: Module,
    /// `a -> b` with the files that contain the import.
    steps: Vec<String>,
}

fn circles(modules: &BTreeMap<Module, &Source>) -> Vec<Circle> {
    // For each folder: dependencies between its names, and a file that contains each.
    let mut needs: BTreeMap<&[String], BTreeMap<(&str, &str), &Module>> = BTreeMap::new();
    let imports: Vec<(&Module, Module)> = modules
        .iter()
        .flat_map(|(module, source)| {
            let paths = paths(source.code.as_deref().unwrap_or_default());
            paths
                .into_iter()
                .map(move |path| (module, resolve(module, &path, modules)))
        })
        .collect();
    for (from, to) in &imports {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        if let (Some(own), Some(other)) = (from.get(shared), to.get(shared)) {
            let folder = needs.entry(&from[..shared]).or_default();
            folder.entry((own, other)).or_insert(from);
        }
    }
    let mut found = Vec::new();
    for (folder, needs) in needs {
        let arrows: Vec<(&str, &str)> = needs.keys().copied().collect();
        let mut steps = Vec::new();
        for (from, to) in &arrows {
            if reaches(to, from, &arrows) {
                steps.push(format!(
                    "{from} -> {to} ({})",
                    needs[&(*from, *to)].join("/")
                ));
            }
        }
        if !steps.is_empty() {
            found.push(Circle {
                folder: folder.to_vec(),
                steps,
            });
        }
    }
    found
}

/// Whether one name is reachable from another along the arrows.
fn reaches(from: &str, to: &str, arrows: &[(&str, &str)]) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut left = vec![from];
    while let Some(at) = left.pop() {
        if at == to {
            return true;
        }
        let next = arrows.iter().filter(|(start, _)| *start == at);
        left.extend(next.map(|(_, end)| *end).filter(|end| seen.insert(end)));
    }
    false
}

/// The deepest existing module of a path, which begins with `crate`, `super` or `self`.
fn resolve(module: &Module, path: &[String], modules: &BTreeMap<Module, &Source>) -> Module {
    let mut at = module.clone();
    for name in path {
        match name.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            name => {
                at.push(name.to_owned());
                if !modules.contains_key(&at) {
                    at.pop();
                    break;
                }
            }
        }
    }
    at
}

/// All crate-relative paths in the code, with groups expanded.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = 0;
    while let Some(at) = code[from..].find("::").map(|at| from + at) {
        from = at + 2;
        let before = code[..at].trim_end_matches(is_word);
        let root = &code[before.len()..at];
        let begins = !before.ends_with("::") && !before.ends_with('$');
        if begins && matches!(root, "crate" | "super" | "self") {
            let end = take(&code[at..], &[root.to_owned()], &mut found);
            from = at + end.max(2);
        }
    }
    found
}

/// Parses `::name::{a, b::c}` from here on; returns its end.
fn take(rest: &str, so_far: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = so_far.to_vec();
    let mut at = 0;
    while let Some(behind) = rest[at..].strip_prefix("::") {
        let open = behind.trim_start();
        if let Some(group) = open.strip_prefix('{') {
            let start = rest.len() - group.len();
            return start + take_group(group, &path, found);
        }
        let length = open
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(open.len());
        path.push(open[..length].to_owned());
        at = rest.len() - open.len() + length;
    }
    found.push(path);
    at
}

/// The items of a group up to its brace; returns its end.
fn take_group(group: &str, path: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    loop {
        let rest = group[at..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        at = group.len() - rest.len();
        if rest.is_empty() || rest.starts_with('}') {
            return (at + 1).min(group.len());
        }
        let length = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let mut item = path.to_vec();
        item.push(rest[..length].to_owned());
        let taken = take(&rest[length..], &item, found);
        // `as name`, `*`: skip to the next item.
        let left = &rest[length + taken..];
        let skip = left.find([',', '}']).unwrap_or(left.len());
        at += length + taken + skip;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::config::Exception;

    fn found(files: &[(&str, &str)], known: &[&str]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(path, text))
            .collect();
        let config = Config {
            circles: known
                .iter()
                .map(|path| Exception {
                    path: (*path).to_owned(),
                    reason: String::new(),
                })
                .collect(),
            ..Config::default()
        };
        let findings = check(&sources, &config);
        findings.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn paths_are_read_with_their_groups() {
        let code = "use crate::{a::{B, c::D}, e as f};\nuse super::*; let x = self::g::h(); $crate::i::j!()";
        let read: Vec<String> = paths(code).iter().map(|path| path.join("/")).collect();
        assert_eq!(
            read,
            ["crate/a/B", "crate/a/c/D", "crate/e", "super/", "self/g/h"]
        );
    }

    #[test]
    fn two_modules_that_need_each_other_are_a_circle() {
        let one = ("crates/x/src/one.rs", "use crate::two::Two;\n");
        for (path, text, circles) in [
            ("crates/x/src/two.rs", "use crate::one::One;\n", 1),
            ("crates/x/src/two.rs", "fn f() { super::one::g() }\n", 1),
            ("crates/x/src/two.rs", "use crate::three::Three;\n", 0),
            // Tests may depend on anything.
            (
                "crates/x/src/two.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::one::One;\n}\n",
                0,
            ),
            ("crates/y/src/two.rs", "use crate::one::One;\n", 0),
        ] {
            assert_eq!(found(&[one, (path, text)], &[]).len(), circles, "{text}");
        }
    }

    #[test]
    fn circles_by_way_of_third_ones_and_of_folders_are_found() {
        let files = [
            ("crates/x/src/a/mod.rs", "mod deep;\n"),
            (
                "crates/x/src/a/deep.rs",
                "use super::Shared;\nuse crate::b::B;\n",
            ),
            ("crates/x/src/b.rs", "use crate::c::C;\n"),
            ("crates/x/src/c.rs", "use crate::a::A;\n"),
        ];
        let messages = found(&files, &[]);
        assert_eq!(messages.len(), 1);
        assert!(messages[0].contains("a -> b (a/deep), b -> c (b), c -> a (c)"));
        assert!(found(&files, &["crates/x/src"]).is_empty());
        assert!(found(&files[..3], &[]).is_empty());
    }

    #[test]
    fn an_exception_without_a_circle_is_a_finding() {
        assert_eq!(found(&[], &["crates/x/src"]).len(), 1);
    }
}
