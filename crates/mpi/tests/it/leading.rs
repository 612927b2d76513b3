//! Commands that decide from result to result: one rank decides, based on all results.

use crate::ranks::{Group, Own, Rank, S, places};
use std::rc::Rc;
use stripewise_campaign::align::{AlignOptions, DesignOptions, align};
use stripewise_campaign::bench::{BenchOptions, bench, planned};
use stripewise_campaign::steps::documents;
use stripewise_campaign::steps::experiment::start::ExperimentOptions;
use stripewise_campaign::{Outcome, Permissions};
use stripewise_conductor::host_group::{HostGroup, follow};
use stripewise_lab::SeriesKind;
use stripewise_mpi::{Carrier, Member};
use stripewise_results::{RunRecord, Status};
use stripewise_store::Filter;

fn hosts(target: &str) -> [Rank; 3] {
    ["alpha", "beta", "gamma"].map(|host| Rank::on(host, target))
}

/// Rank 0 does `lead`, the others follow; returns the result of rank 0, and the number of runs in
/// each store.
fn led<T: Send>(
    group: &Group,
    ranks: &[Rank],
    lead: impl Fn(&mut Own, String, Rc<dyn HostGroup>) -> Outcome<T> + Sync,
) -> Vec<(Option<T>, usize)> {
    group.each(ranks, &|member, own| {
        let ended = one(member, own, ranks, &lead);
        if let Err(failure) = &ended {
            member.report_failure(failure);
        }
        member.close();
        let runs = own.store.list(&Filter::default()).unwrap().len();
        (
            ended.unwrap_or_else(|failure| panic!("{}", failure.chain())),
            runs,
        )
    })
}

fn one<C: Carrier + 'static, T>(
    member: &Rc<Member<C>>,
    own: &mut Own,
    ranks: &[Rank],
    lead: impl Fn(&mut Own, String, Rc<dyn HostGroup>) -> Outcome<T>,
) -> Outcome<Option<T>> {
    let leader = Rc::clone(member) as Rc<dyn HostGroup>;
    if !member.is_leader() {
        follow(
            &own.context,
            &mut own.store,
            &Permissions::default(),
            &leader,
        )?;
        return Ok(None);
    }
    let read = (vec!["{target}".to_owned()], places(ranks));
    let target = member.targets(&own.context, Some(read))?.remove(0);
    lead(own, target, leader).map(Some)
}

/// Total operations in flight over all hosts, for each step.
fn in_flight(run: &RunRecord) -> u64 {
    let load = &run.jobs[0].workload;
    u64::from(load.threads) * u64::from(load.outstanding)
}

#[test]
fn a_ladder_doubles_what_all_hosts_have_in_flight_and_the_answer_is_the_arrays() {
    let group = Group::new();
    let ranks = hosts("sim:raid10-10k");
    let received = led(&group, &ranks, |own, target, leader| {
        let options = BenchOptions {
            series: vec![SeriesKind::RandomRead],
            step_ns: Some(S / 5),
            time_ns: Some(4 * S),
            group: Some(leader),
            ..BenchOptions::of(target)
        };
        let plan = planned(&options)?;
        let benched = bench(
            &own.context,
            &mut own.store,
            &options,
            plan,
            &Permissions::default(),
        )?;
        benched.ended.map(|()| benched.records)
    });
    let records = received[0].0.as_ref().unwrap();
    let climbed: Vec<u64> = (records.iter())
        .filter(|run| run.answer_block.is_none())
        .map(in_flight)
        .collect();
    assert!(climbed.len() > 3, "{climbed:?}");
    assert_eq!(climbed[0], 3, "one on each host");
    assert!(
        climbed.windows(2).all(|pair| pair[1] == 2 * pair[0]),
        "{climbed:?}"
    );
    for run in records {
        let facts = run.merged.as_ref().expect("a record of all hosts");
        assert_eq!((facts.hosts.len(), run.status), (3, Status::Complete));
        let each = facts.hosts.iter().map(|host| host.read.operations);
        assert_eq!(run.jobs[0].outcome.operations, each.sum::<u64>());
    }
    // Each host stores its own runs, and the first one also the combined ones.
    let runs = records.len();
    assert_eq!(
        [received[0].1, received[1].1, received[2].1],
        [2 * runs, runs, runs]
    );
    let document = documents::document(records.clone());
    let series = &document.series[0];
    assert!(series.steps.iter().all(|step| step.threads % 3 == 0));
    assert_eq!(series.steps.len(), climbed.len());
}

#[test]
fn an_experiment_compares_levels_by_what_all_hosts_do() {
    let group = Group::new();
    let ranks = hosts("sim:raid10-10k");
    let received = led(&group, &ranks, |own, target, leader| {
        let options = AlignOptions {
            target,
            design: DesignOptions {
                offsets_bytes: vec![63 * 512, 64 << 10],
                threads: vec![2],
                ..DesignOptions::default()
            },
            measuring: ExperimentOptions {
                blocks: Some(10),
                step_ns: Some(S / 5),
                group: Some(leader),
                ..ExperimentOptions::default()
            },
            ..AlignOptions::default()
        };
        let session = align(
            &own.context,
            &mut own.store,
            &options,
            &Permissions::default(),
        )?;
        session.ended?;
        Ok(session.answer.expect("blocks were finished").records)
    });
    let records = received[0].0.as_ref().unwrap();
    assert!(records.len() >= 20, "{}", records.len());
    for run in records {
        assert_eq!(run.merged.as_ref().unwrap().hosts.len(), 3);
        assert!(run.experiment.is_some());
    }
    assert_eq!(received[1].1, records.len());
}
