//! A source of `merge`: a store, a run of one, or an exported file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::input::{RESULTS_BYTES_MAX, read_text};
use stripewise_conductor::parts::{line_failure, parts_of};
use stripewise_disk_inspect::is_open_here;
use stripewise_lab::hosts::{HostPart, from_line};
use stripewise_store::{ErrorKind, Filter, Owner, Store};
use stripewise_units::path_of;

/// The first bytes of every store.
const STORE_MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HINT: &str = "name a host's store (its latest result is used), STORE#ID, or a file that \
                    `stripewise export --histograms` made";

/// The runs of one host, or of hosts that were merged before, in order.
pub(super) struct Source {
    pub(super) name: String,
    /// The concurrent parts of each run.
    pub(super) runs: Vec<Vec<HostPart>>,
}

/// Reads a source; a file may hold several hosts.
pub(super) fn read(context: &Context, own: &Store, text: &str) -> Outcome<Vec<Source>> {
    let path = path_of(text);
    if path.is_file() {
        return match is_store(&path) {
            true => of_store(context, text, &path, "last").map(|source| vec![source]),
            false => of_file(context, text, &path),
        };
    }
    if let Some((store, name)) = text.rsplit_once('#') {
        let path = path_of(store);
        if path.is_file() && is_store(&path) {
            return of_store(context, text, &path, name).map(|source| vec![source]);
        }
        if !path.exists() {
            return Err(Failure::usage(format!("there is no store {store}"), HINT));
        }
        return Err(Failure::usage(format!("{store} is not a store"), HINT));
    }
    if path.exists() {
        return Err(Failure::usage(
            format!("{text} is neither a store nor a file"),
            HINT,
        ));
    }
    // This host's store contains results merged or imported here.
    let is_known = own
        .full_name(text)
        .and_then(|name| own.resolve(&name))
        .is_ok();
    match is_known || is_series(own, text)? {
        true => runs_of(own, text, text).map(|source| vec![source]),
        false => Err(Failure::usage(
            format!("there is no file or run `{text}`"),
            HINT,
        )),
    }
}

fn is_series(store: &Store, name: &str) -> Outcome<bool> {
    let filter = Filter {
        series: Some(name.to_owned()),
        limit: Some(1),
        ..Filter::default()
    };
    Ok(!store.list(&filter)?.is_empty())
}

fn is_store(path: &Path) -> bool {
    // Reading the store of this process would release its locks.
    if is_open_here(path) {
        return true;
    }
    let mut head = [0; STORE_MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *STORE_MAGIC
}

/// Runs that a killed process left in it become partial, as always when a store
/// is opened; a read-only store will do.
fn of_store(context: &Context, text: &str, path: &Path, name: &str) -> Outcome<Source> {
    let owner = Owner::of_this_process(&context.host().name);
    let store = Store::open(path, owner).or_else(|error| match error.kind() {
        ErrorKind::ReadOnly { .. } | ErrorKind::Full => Store::open_read_only(path),
        _ => Err(error),
    });
    runs_of(&store?, text, name)
}

fn runs_of(store: &Store, text: &str, name: &str) -> Outcome<Source> {
    let name = store.full_name(name)?;
    let filter = Filter::of_series(&name);
    let listed = store.list(&filter)?;
    // Preconditioning overwrites a device but measures nothing.
    let measured = listed
        .into_iter()
        .rev()
        .filter(|run| run.series_part.as_deref() != Some("precondition"));
    let mut ids: Vec<String> = measured.map(|run| run.id).collect();
    if ids.is_empty() {
        ids.push(name);
    }
    let runs = ids.iter().map(|id| {
        let run = store.load(id)?;
        if let Some(imported) = &run.imported {
            return Err(Failure::usage(
                format!(
                    "{} is a result of {}, without intervals",
                    run.id, imported.tool
                ),
                HINT,
            ));
        }
        parts_of(store, run)
    });
    Ok(Source {
        name: text.to_owned(),
        runs: runs.collect::<Outcome<_>>()?,
    })
}

/// Lines of one host are consecutive runs; different hosts are concurrent.
fn of_file(context: &Context, text: &str, path: &Path) -> Outcome<Vec<Source>> {
    let content = read_text(context, path, RESULTS_BYTES_MAX, HINT)?;
    let mut hosts: BTreeMap<(Option<u32>, String), Vec<Vec<HostPart>>> = BTreeMap::new();
    for (number, line) in content.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let parts = from_line(line).map_err(|error| line_failure(text, number + 1, error))?;
        let host = match parts.as_slice() {
            [one] => {
                let start = one.run.start.as_ref();
                let group = start.and_then(|start| start.group.as_ref());
                (group.map(|group| group.rank), one.run.host.name.clone())
            }
            // Merged before.
            _ => (None, String::new()),
        };
        hosts.entry(host).or_default().push(parts);
    }
    if hosts.is_empty() {
        return Err(Failure::new(
            Exit::Usage,
            format!("{text} holds no runs"),
            HINT,
        ));
    }
    let sources = hosts.into_iter().map(|((_, host), runs)| Source {
        name: match host.is_empty() {
            true => text.to_owned(),
            false => format!("{host} in {text}"),
        },
        runs,
    });
    Ok(sources.collect())
}
