//! What every command works with: switches, and the context of its use case.

use crate::multi_host::MultiHost;
use crate::show::observer::{Lines, Terminal};
use crate::show::style::Style;
use crate::show::terminal::Output;
use crate::surroundings::{Surroundings, Variable};
use crate::switches::Global;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use stripewise_campaign::live::View;
use stripewise_campaign::steps::sqlio_drives::Drives;
use stripewise_campaign::{Clock, Event, Observer, Outcome};
use stripewise_disk_inspect::System;
use stripewise_report::{RunsLook, Sheet, again, go_on_by, sheet_text_painted, wrapped_at};
use stripewise_runner::session::host_facts;
use stripewise_units::{NameText, Percentile, WallTime, shell_word};

/// The program's version, as stored in records.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What every command works with.
pub struct Context {
    pub global: Global,
    pub style: Style,
    /// The output streams.
    pub output: Rc<Output>,
    /// The other hosts, if several do the same.
    pub multi_host: Option<Rc<dyn MultiHost>>,
    variable: Variable,
    /// The context of the use case.
    inner: stripewise_campaign::Context,
}

impl Deref for Context {
    type Target = stripewise_campaign::Context;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

/// The system's clock.
struct SystemClock {
    started: Instant,
}

impl Clock for SystemClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn timestamp(&self) -> String {
        let now = in_calendar(SystemTime::now());
        now.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }

    fn wall(&self) -> WallTime {
        let ns = in_calendar(SystemTime::now()).as_nanosecond();
        WallTime(u64::try_from(ns.max(0)).unwrap_or(u64::MAX))
    }
}

/// A time of the system's clock, which may be set to any value; outside the calendar's range, the
/// nearest valid one (30 December 9999, or 9999 BC).
fn in_calendar(now: SystemTime) -> jiff::Timestamp {
    jiff::Timestamp::try_from(now).unwrap_or(match now < SystemTime::UNIX_EPOCH {
        true => jiff::Timestamp::MIN,
        false => jiff::Timestamp::MAX,
    })
}

/// The clock of this host, relative to now.
pub fn system_clock() -> Box<dyn Clock> {
    Box::new(SystemClock {
        started: Instant::now(),
    })
}

/// Name of this host, as stored in records.
pub fn host_name() -> String {
    host_facts(&System::live()).name
}

/// Processes messages of other hosts whenever an event occurs here. Only the leading
/// host shows events; the others show only what rank 0 can no longer report.
struct HostPollingObserver {
    inner: Box<dyn Observer>,
    multi_host: Rc<dyn MultiHost>,
}

impl Observer for HostPollingObserver {
    fn on_event(&self, event: &Event<'_>) {
        self.multi_host.look();
        // Without rank 0, no other process reports it.
        let is_alone =
            || matches!(event, Event::Note { .. }) && !self.multi_host.losses().is_empty();
        if self.multi_host.is_leader() || is_alone() {
            self.inner.on_event(event);
        }
    }
}

impl Context {
    /// A context for a command line in these surroundings; `typed` is what records store of it.
    pub fn new(
        global: Global,
        surroundings: Surroundings,
        typed: &[OsString],
        output: Rc<Output>,
    ) -> std::io::Result<Self> {
        // The standard library's hasher is seeded from the system: enough to
        // distinguish processes started within one second.
        let random_seed = RandomState::new();
        let observer: Box<dyn Observer> = match global.events {
            true => Box::new(Lines(Rc::clone(&output))),
            false => Box::new(Terminal::new(Rc::clone(&output), global.quiet)),
        };
        let multi_host = surroundings.multi_host;
        let observer: Box<dyn Observer> = match &multi_host {
            Some(multi_host) => Box::new(HostPollingObserver {
                inner: observer,
                multi_host: Rc::clone(multi_host),
            }),
            None => observer,
        };
        let variable = surroundings.variable;
        let usual = || stripewise_store::default_path(|name| variable(name));
        let no_colour = variable("NO_COLOR").is_some_and(|value| !value.is_empty())
            || variable("TERM").is_some_and(|value| value == "dumb");
        let inner = stripewise_campaign::Surroundings {
            clock: system_clock(),
            observer,
            interrupt: surroundings.interrupt?,
            store: global.store.clone().or_else(usual),
            store_is_named: global.store.is_some(),
            command: command_line(typed),
            version: VERSION.to_owned(),
            random_seed: [
                random_seed.hash_one(std::process::id()),
                random_seed.hash_one("step"),
            ],
            file_system_size: surroundings.file_system_size,
        };
        Ok(Context {
            style: Style::of(&global, output.stdout_is_terminal(), no_colour),
            global,
            output,
            multi_host,
            variable,
            inner: stripewise_campaign::Context::new(inner),
        })
    }

    /// Columns of text on stdout: `COLUMNS`, else those of the terminal, else 100.
    pub fn width(&self) -> usize {
        self.output.width()
    }

    /// An id in the shortest form that the store accepts: its suffix if that is enough.
    pub fn short_name(&self, id: &str) -> String {
        let store = self.open_store_to_read();
        store.map_or_else(|_| id.to_owned(), |store| store.short_name(id))
    }

    /// Which parts of runs to show.
    pub fn runs_look<'a>(&self, ladders: bool, percentiles: &'a [Percentile]) -> RunsLook<'a> {
        RunsLook {
            explain: self.global.explain,
            ladders,
            percentiles,
        }
    }

    /// A sheet as text for stdout.
    pub fn sheet_text(&self, sheet: &Sheet) -> String {
        let paint = |emphasis, text: &str| self.style.paint(emphasis, text);
        let pointers = sheet.pointers.iter();
        let pointers = pointers.map(|(name, text)| (name.clone(), self.with_short_ids(text)));
        let mut pointers: Vec<(String, String)> = pointers.collect();
        let store = self.other_store(&pointers);
        pointers.extend(store);
        let sheet = Sheet {
            pointers,
            ..sheet.clone()
        };
        sheet_text_painted(&sheet, self.width(), &paint)
    }

    /// What commands that show an answer again or go on with it need as well: the store, if
    /// another one than the usual one was named.
    fn other_store(&self, pointers: &[(String, String)]) -> Option<(String, String)> {
        let later = [again("").0, go_on_by("").0];
        if !pointers.iter().any(|(name, _)| later.contains(name)) {
            return None;
        }
        let named = self.global.store.as_ref()?;
        let usual = stripewise_store::default_path(|name| (self.variable)(name));
        let switch = format!("--store {}", shell_word(&named.as_text()));
        (usual.as_ref() != Some(named)).then(|| ("Store".to_owned(), switch))
    }

    /// Shortens the ids in a command to what the store accepts; other text stays as it is.
    fn with_short_ids(&self, text: &str) -> String {
        let is_id = |word: &str| {
            let parts: Vec<&str> = word.split('-').collect();
            matches!(parts[..], [day, time, _] if day.len() == 8 && time.len() == 6)
        };
        if !text.contains("stripewise ") || !text.split(' ').any(is_id) {
            return text.to_owned();
        }
        let words = text.split(' ').map(|word| match is_id(word) {
            true => self.short_name(word),
            false => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// A sentence wrapped for stdout.
    pub fn wrapped(&self, text: &str) -> String {
        wrapped_at(text, "  ", self.width())
    }

    /// A read-only view for someone who looks on.
    pub fn view(&self) -> Outcome<View> {
        Ok(View {
            store: self.store_path()?,
            clock: Arc::new(SystemClock {
                started: Instant::now(),
            }),
            host: self.host().name,
        })
    }

    /// The drive letters given by the switches and the environment.
    pub fn drives(&self, mappings: &[String]) -> Outcome<Drives> {
        let variable = Rc::clone(&self.variable);
        let text = move |name: &str| variable(name)?.into_string().ok();
        Drives::parse(mappings, Box::new(text))
    }
}

/// The command line as typed (words that are not UTF-8 in the form of [`NameText`]), in
/// words that run it again: under the name
/// `sqlio`, the program is its own subcommand.
fn command_line(typed: &[OsString]) -> Vec<String> {
    let mut words: Vec<String> = typed.iter().map(|word| word.as_text()).collect();
    if let Some(program) = words.first_mut() {
        let is_sqlio = crate::switches::sqlio::is_sqlio(program.as_ref());
        "stripewise".clone_into(program);
        if is_sqlio {
            words.insert(1, "sqlio".to_owned());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_clock_that_no_calendar_reaches_is_no_panic() {
        const DAY: u64 = 86_400;
        let epoch = SystemTime::UNIX_EPOCH;
        let year = |time: SystemTime| in_calendar(time).strftime("%Y").to_string();
        assert_eq!(year(epoch), "1970");
        assert_eq!(year(epoch + Duration::from_secs(8_029 * 366 * DAY)), "9999");
        assert_eq!(year(epoch + Duration::from_secs(1 << 40)), "9999");
        assert_eq!(year(epoch - Duration::from_secs(1 << 40)), "-9999");
    }
}
