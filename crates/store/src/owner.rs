//! The process that writes a run, and whether it is alive.
//!
//! A process id alone is ambiguous: ids are reused, and other containers and hosts count their own.
//! Combined with the boot id, the pid namespace and the start time of the process, an answer of
//! "gone" is certain; in all other cases the run is left alone.

use std::fs;

/// The process that writes a run. Empty strings mean "unknown".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// When the process started, in the kernel's ticks since boot.
    pub process_start: String,
    /// Random id of this boot.
    pub boot_id: String,
    /// Pid namespace of `pid`.
    pub pid_namespace: String,
    /// Host name.
    pub host: String,
}

impl Owner {
    /// This process according to `/proc`; without `/proc`, only the process id and the given host
    /// name are known.
    pub fn of_this_process(host: &str) -> Owner {
        Owner {
            pid: std::process::id(),
            process_start: process_start("self").unwrap_or_default(),
            boot_id: fs::read_to_string("/proc/sys/kernel/random/boot_id")
                .map(|text| text.trim().to_owned())
                .unwrap_or_default(),
            pid_namespace: fs::read_link("/proc/self/ns/pid")
                .map(|link| link.to_string_lossy().into_owned())
                .unwrap_or_default(),
            host: host.to_owned(),
        }
    }

    /// Whether `other` is certainly gone, seen from this process. `false` if that cannot be
    /// determined: another host, another container.
    pub(crate) fn sees_gone(&self, other: &Owner) -> bool {
        self.sees_gone_with(other, &|pid| process_start(&pid.to_string()))
    }

    /// Whether `other` is certainly alive, seen from this process.
    pub fn sees_alive(&self, other: &Owner) -> bool {
        let same_place = !self.boot_id.is_empty()
            && self.boot_id == other.boot_id
            && self.pid_namespace == other.pid_namespace;
        same_place && !self.sees_gone(other)
    }

    /// Whether `other` is another process, which is certainly alive.
    pub(crate) fn sees_alive_elsewhere(&self, other: &Owner) -> bool {
        let is_here = (other.pid, &other.process_start) == (self.pid, &self.process_start);
        !is_here && self.sees_alive(other)
    }

    fn sees_gone_with(&self, other: &Owner, start_of: &dyn Fn(u32) -> Option<String>) -> bool {
        if self.boot_id.is_empty() || other.boot_id.is_empty() {
            return false;
        }
        if self.boot_id != other.boot_id {
            // The same machine has rebooted since; others cannot be judged from here.
            return !other.host.is_empty() && self.host == other.host;
        }
        if self.pid_namespace != other.pid_namespace {
            return false;
        }
        start_of(other.pid).is_none_or(|start| start != other.process_start)
    }
}

/// Start of a process in ticks since boot; `None` if there is no such process or only its exit
/// status is left (a zombie).
fn process_start(pid: &str) -> Option<String> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&stat))
}

/// Field 22 of `/proc/PID/stat`. The command name (field 2) may contain any bytes, including spaces
/// and parentheses, so counting starts after the last closing one.
fn parse_stat(stat: &str) -> Option<String> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(pid: u32, start: &str, boot: &str, namespace: &str, host: &str) -> Owner {
        Owner {
            pid,
            process_start: start.into(),
            boot_id: boot.into(),
            pid_namespace: namespace.into(),
            host: host.into(),
        }
    }

    #[test]
    fn a_process_is_gone_only_when_that_is_certain() {
        let here = owner(1, "1", "boot", "ns", "host");
        let alive = |pid: u32| (pid == 7).then(|| "70".to_owned());
        let cases = [
            (
                owner(7, "70", "boot", "ns", "host"),
                false,
                "the same process runs",
            ),
            (
                owner(7, "69", "boot", "ns", "host"),
                true,
                "its id was used again",
            ),
            (
                owner(8, "80", "boot", "ns", "host"),
                true,
                "no such process",
            ),
            (
                owner(8, "80", "boot", "other", "host"),
                false,
                "another container",
            ),
            (
                owner(8, "80", "old", "ns", "host"),
                true,
                "the machine restarted",
            ),
            (
                owner(8, "80", "old", "ns", "elsewhere"),
                false,
                "another machine",
            ),
            (owner(8, "80", "", "", "host"), false, "nothing is known"),
        ];
        for (other, gone, why) in cases {
            assert_eq!(here.sees_gone_with(&other, &alive), gone, "{why}");
        }
    }

    #[test]
    fn the_start_is_found_behind_a_command_name_with_spaces_and_parentheses() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
        assert_eq!(
            parse_stat(&format!("9 (a) b) {tail}")).as_deref(),
            Some("4242")
        );
        assert_eq!(
            parse_stat(&format!("9 (a) {}", tail.replacen('S', "Z", 1))),
            None
        );
        assert_eq!(parse_stat("nonsense"), None);
    }
}
