//! `-U`: processor utilisation. No known result shows SQLIO's own
//! format; these lines are Stripewise's.

use stripewise_conductor::context::Context;
use stripewise_machine::System;
use stripewise_machine::observe::Snapshot;
use stripewise_results::RunRecord;

/// Measures from before a run.
pub struct Watch {
    before: Snapshot,
}

/// The result, in thousandths of all processors' time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utilisation {
    busy: u64,
    user: u64,
    system: u64,
}

fn snapshot() -> Snapshot {
    Snapshot::take(&System::live(), &[], &[])
}

impl Watch {
    pub fn start() -> Watch {
        Watch { before: snapshot() }
    }

    pub fn finish(self) -> Utilisation {
        let seen = self.before.difference(&snapshot());
        let all = seen.cpu_busy_ns + seen.cpu_idle_ns;
        let share = |ns: u64| (ns.saturating_mul(1000) + all / 2) / all.max(1);
        Utilisation {
            busy: share(seen.cpu_busy_ns),
            user: share(seen.own_cpu_user_ns),
            system: share(seen.own_cpu_system_ns),
        }
    }
}

impl Utilisation {
    /// Lines after the results. Simulated runs do not use the processor themselves.
    pub fn lines(self, context: &Context, record: &RunRecord, per_processor: bool) -> Vec<String> {
        let simulated = record
            .jobs
            .iter()
            .any(|job| job.target.simulation.is_some());
        if simulated {
            context.note("-U is left out: a simulated run says nothing about processors");
            return Vec::new();
        }
        if per_processor {
            context.note("-Up: processors are counted together, not one by one");
        }
        let percent = |share: u64| format!("{:>5}.{}", share / 10, share % 10);
        vec![
            "system utilization:".to_owned(),
            format!("All processors, busy (%): {}", percent(self.busy)),
            format!("This program, user (%):   {}", percent(self.user)),
            format!("This program, system (%): {}", percent(self.system)),
        ]
    }
}
