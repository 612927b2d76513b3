//! Options that fio's jobs do not give.

use super::options::Options;
use crate::out::Out;
use std::collections::BTreeMap;

/// Options not given by jobs, so that fio's defaults apply: indistinguishable from removed lines.
#[derive(Default)]
pub(super) struct Defaults(BTreeMap<String, Vec<String>>);

impl Defaults {
    /// Most names of one kind in one note.
    const NAMED_MAX: usize = 8;

    pub(super) fn of(&mut self, name: &str, options: &Options, alone: bool, out: &mut Out<'_>) {
        if options.all.is_empty() {
            return out.note_once(format!(
                "job {name}: its options are missing: what it was asked to do is unknown"
            ));
        }
        let mut missing = Vec::new();
        for (option, others) in [
            ("rw", ["rw"].as_slice()),
            ("bs", &["bs", "bsrange", "bssplit"]),
            ("iodepth", &["iodepth"]),
            ("ioengine", &["ioengine"]),
            ("numjobs", &["numjobs"]),
            ("direct", &["direct", "buffered"]),
        ] {
            let requested = match option {
                "numjobs" => alone,
                "direct" => !options.of_header,
                _ => true,
            };
            if requested && !others.iter().any(|name| options.get(name).is_some()) {
                missing.push(option);
            }
        }
        if !missing.is_empty() {
            let jobs = self.0.entry(missing.join(", ")).or_default();
            jobs.push(name.to_owned());
        }
    }

    pub(super) fn note(self, out: &mut Out<'_>) {
        for (missing, jobs) in self.0 {
            let shown = jobs[..jobs.len().min(Self::NAMED_MAX)].join(", ");
            let more = match jobs.len().saturating_sub(Self::NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            out.note_once(format!(
                "jobs {shown}{more}: options that do not name {missing} have fio's defaults for them"
            ));
        }
    }
}
