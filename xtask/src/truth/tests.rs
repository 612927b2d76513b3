//! A part of the truth for every change: the same studies with fewer trials.
//! Seeds are fixed, so nothing here fails by chance; bounds are those of the
//! smaller numbers (2.75 standard deviations from 95 %).

use super::answers::at_a_soft_knee;
use super::arrays::{DISKS, FLASH, array, faster};
use super::layouts::experiments;
use super::observed::{Culprit, closed_loads, closednesses, open_loads, tally};
use super::patterns::{Family, ProfileErrors, Verdict, filled, profiles, verdicts};
use super::simulated::measure;
use super::studies::{aligned_trials, coverage_trials, drift_trials, ground};
use super::trial::Trial;
use stripewise_workload::Workload;

const SEED: u64 = 1;

fn count(trials: &[Trial], holds: impl Fn(&Trial) -> bool) -> usize {
    trials.iter().filter(|trial| holds(trial)).count()
}

#[test]
fn nothing_is_found_between_an_array_and_itself_more_often_than_promised() {
    let trials = coverage_trials(SEED, 0.0, 100).expect("trials");
    // 5 % of 100 and 2.75 standard deviations.
    let alarms = count(&trials, Trial::any_found);
    assert!(alarms <= 11, "{alarms}");
    // Seeds differ from run to run: no two sides are exactly alike.
    assert_eq!(
        count(&trials, |trial| trial.rows[0].width_percent() == 0.0),
        0
    );
}

#[test]
fn intervals_cover_a_true_effect() {
    let trials = coverage_trials(SEED, 5.0, 60).expect("trials");
    let covered = count(&trials, |trial| trial.rows[0].covers(5.0));
    assert!(covered >= 52, "{covered}");
    // 5 % is five times what the intervals can tell.
    assert_eq!(count(&trials, Trial::any_found), 60);
}

#[test]
fn aligned_offsets_raise_no_alarm() {
    let trials = aligned_trials(SEED, 4).expect("trials");
    assert_eq!(count(&trials, Trial::any_found), 0);
}

#[test]
fn drift_is_not_taken_for_a_difference() {
    let trials = drift_trials(SEED, 60).expect("trials");
    let alarms = count(&trials, Trial::any_found);
    assert!(alarms <= 8, "{alarms}");
}

#[test]
fn an_array_made_faster_is_faster_by_just_that() {
    for (number, name) in [(0, DISKS), (1, FLASH)] {
        let spec = array(name, SEED).expect("an array");
        let (_, workload) = ground(number, SEED).expect("a load");
        let iops = |faster_by: f64| {
            let long = Workload {
                duration_ns: 12 * workload.duration_ns,
                ..workload.clone()
            };
            let run = measure(&faster(&spec, faster_by), &long).expect("a run");
            run.jobs[0].outcome.iops
        };
        // The same seed, and no end effects but those of a few operations.
        let percent = 100.0 * (iops(12.5) / iops(0.0) - 1.0);
        assert!((percent - 12.5).abs() < 1.0, "{name}: {percent}");
    }
}

#[test]
fn the_answers_of_benches_are_in_their_intervals() {
    let (covered, half_width_percent) = at_a_soft_knee(SEED, 100).expect("trials");
    // 95 % of 100 and 2.75 standard deviations.
    assert!(covered >= 89, "{covered}");
    assert!(half_width_percent <= 10.0, "{half_width_percent}");
}

#[test]
fn the_best_layout_is_in_the_set_and_effects_are_covered() {
    for in_slots in [false, true] {
        let all = experiments(SEED, 30, false, in_slots).expect("experiments");
        let kept = all.iter().filter(|outcomes| outcomes.has_best).count();
        // 5 % of 30 and 2.75 standard deviations.
        assert!(
            all.len() >= 20 && all.len() - kept <= 4,
            "{kept} of {}",
            all.len()
        );
        let covered: usize = all.iter().map(|outcomes| outcomes.covered[0]).sum();
        let effects: usize = all.iter().map(|outcomes| outcomes.covered[1]).sum();
        assert!(covered * 100 >= effects * 92, "{covered} of {effects}");
        let false_gains = all.iter().filter(|outcomes| outcomes.false_gain).count();
        assert!(false_gains <= 4, "{false_gains}");
    }
    let equal = experiments(SEED, 30, true, false).expect("experiments");
    let alarms = equal.iter().filter(|outcomes| outcomes.any_effect).count();
    assert!(alarms <= 4, "{alarms}");
}

#[test]
fn patterns_of_arrays_are_exact() {
    let found = verdicts(SEED, 2, Family::Bare).expect("arrays");
    assert_eq!(found, vec![Verdict::Exact; 2]);
}

#[test]
fn patterns_that_are_not_there_are_not_found() {
    // Where parity is in the way there may be no answer, but none that is wrong.
    let found = verdicts(SEED, 2, Family::Rotated).expect("arrays");
    let is_right = |found: &Verdict| matches!(found, Verdict::Exact | Verdict::Refused);
    assert!(found.iter().all(is_right), "{found:?}");
    let nothing = verdicts(SEED, 3, Family::Without).expect("targets");
    assert_eq!(nothing, vec![Verdict::Refused; 3]);
}

#[test]
fn zones_seeks_and_rotation_of_disks_are_within_their_bounds() {
    let all = profiles(SEED, 4).expect("disks");
    let within = |off: &ProfileErrors| {
        off.zones_percent < 2.0 && off.seek_percent < 5.0 && off.rotation_percent < 0.1
    };
    assert!(all.iter().all(within), "{all:?}");
}

#[test]
fn fast_parts_of_drives_and_what_comes_back_lie_in_their_intervals() {
    let all = filled(SEED, 4).expect("drives");
    assert!(all.iter().all(|held| held.fast && held.back), "{all:?}");
}

#[test]
fn loads_that_wait_are_told_from_those_that_do_not() {
    let closed = closednesses(SEED, 110, &closed_loads(), 28).expect("loads");
    let open = closednesses(SEED, 111, &open_loads(), 20).expect("loads");
    let called = closed.iter().filter(|one| one.structure.is_closed());
    assert!(called.count() >= 25);
    assert!(closed.iter().all(|one| !one.structure.is_open()));
    assert!(open.iter().all(|one| !one.structure.is_closed()));
}

#[test]
fn culprits_are_named() {
    for culprit in Culprit::SINGLE {
        let found = tally(culprit, SEED, 10).expect("captures");
        let is_good = found.right_percent >= 80.0 && found.wrong_percent <= 10.0;
        assert!(is_good, "{culprit:?}: {found:?}");
    }
}
