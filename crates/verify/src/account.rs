//! Compares what a pass over a copy found with the records of the runs that wrote it.
//!
//! A record of a finished run lists the bytes it wrote, so zeros, data without a stamp, data of
//! other runs and a missing end are faults there. It also records the contents of each part at the
//! end. If the copy is of that moment, older data in it is a fault as well; it is if the newest
//! writes of at least half of the workers are in it. A copy of an earlier moment, such as a
//! snapshot during a run, legitimately has older data everywhere.

use crate::finished::FinishedState;
use crate::ledger::{content_of, run_text};
use crate::survey::{FAULTS_MAX, OlderSectors, Owner, RangeContent, Row, Survey, Tally};
use std::collections::BTreeMap;
use std::ops::Range;
use stripewise_results::faults::{Class, Content, Fault};

/// The reference for a run's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The record of its end.
    End,
    /// Only the record of what was written: the copy is of an earlier moment.
    EarlierMoment,
}

/// Result for a copy.
#[derive(Debug, Default)]
pub struct Account {
    /// By location.
    pub faults: Vec<Fault>,
    /// Further ones, which are not stored.
    pub faults_more: u64,
    /// The runs whose records were compared with the copy, by number.
    pub basis: BTreeMap<u64, Basis>,
    /// Ranges without proof by record or stamp: sectors without a stamp, and sectors that are older
    /// than a write around them. Ascending.
    pub unproven: Vec<Range<u64>>,
}

impl Account {
    /// Unproven bytes.
    pub fn unproven_bytes(&self) -> u64 {
        self.unproven.iter().map(|span| span.end - span.start).sum()
    }

    fn fault(&mut self, fault: Fault) {
        match self.faults.len() >= FAULTS_MAX {
            true => self.faults_more += 1,
            false => self.faults.push(fault),
        }
    }
}

impl Survey {
    /// Determines the faults of a copy, and what remains open. `size_bytes` is its size if it was
    /// read completely; without it, missing or old data is not a fault.
    pub fn judge(mut self, size_bytes: Option<u64>) -> Account {
        let mut account = Account {
            faults: std::mem::take(&mut self.faults),
            faults_more: self.faults_more,
            ..Account::default()
        };
        self.rows.sort_by_key(|row| row.span.start);
        // Those of adjacent stretches, which were read in any order, are one.
        self.rows.dedup_by(|next, row| {
            let is_same = next.holds == row.holds && next.span.start == row.span.end;
            if is_same {
                row.span.end = next.span.end;
            }
            is_same
        });
        self.older.sort_by_key(|older| older.span.start);
        let owners = self.owners();
        let segments = segments(&owners, &self.known);
        for row in &self.rows {
            hold_row(&mut account, row, &segments);
        }
        if let Some(size_bytes) = size_bytes {
            for (span, owner) in &segments {
                let missing = span.start.max(size_bytes)..span.end;
                if !missing.is_empty() {
                    let what = "nothing: the copy ends before it";
                    account.fault(gap(Class::LostWrite, missing, *owner, what.to_owned()));
                }
            }
        }
        for owner in owners {
            let (state, tally) = (&self.known[&owner], &self.tallies[&owner]);
            let basis = basis(state, tally);
            account.basis.insert(owner.0, basis);
            if basis == Basis::End && size_bytes.is_some() {
                let mine = segments.iter().filter(|(_, of)| *of == owner);
                let spans: Vec<_> = mine.map(|(span, _)| span.clone()).collect();
                let known = (owner, state, tally);
                hold_parts(&mut account, known, &spans, &self.older, self.sector_bytes);
            }
        }
        for older in &self.older {
            if account.basis.get(&older.newer.run) != Some(&Basis::End) {
                account.unproven.push(older.span.clone());
            }
        }
        account.unproven.sort_by_key(|span| span.start);
        account.faults.sort_by_key(|fault| fault.offset_bytes);
        account
    }

    /// The runs that the target belongs to, newest first: those of which at least half is there,
    /// and the one of which most is there. Others left a stray part.
    fn owners(&self) -> Vec<Owner> {
        let most = self.runs().values().map(|left| left.sectors).max();
        let is_there = |(owner, tally): &(&Owner, &Tally)| {
            let bytes = tally.sectors * u64::from(self.sector_bytes);
            bytes >= self.known[*owner].bytes() / 2 || Some(tally.sectors) >= most
        };
        let mut owners: Vec<_> = self.tallies.iter().filter(is_there).collect();
        owners.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.newest_ns));
        owners.into_iter().map(|(owner, _)| *owner).collect()
    }
}

/// Whether a copy is of the moment when the run ended.
fn basis(state: &FinishedState, tally: &Tally) -> Basis {
    let workers = state.newest.iter();
    let there = workers.filter(|[worker, newest]| tally.newest.get(worker) == Some(newest));
    match there.count() * 2 >= state.newest.len().max(1) {
        true => Basis::End,
        false => Basis::EarlierMoment,
    }
}

/// The run that owns each byte: the newest that wrote there. Ascending.
fn segments(owners: &[Owner], known: &BTreeMap<Owner, FinishedState>) -> Vec<(Range<u64>, Owner)> {
    let mut segments: Vec<(Range<u64>, Owner)> = Vec::new();
    for owner in owners {
        let mut left: Vec<Range<u64>> = (known[owner].spans.iter())
            .map(|[start, end]| *start..*end)
            .collect();
        for (taken, _) in &segments {
            let parts = |span: Range<u64>| {
                let before = span.start..span.end.min(taken.start);
                let behind = span.start.max(taken.end)..span.end;
                [before, behind].into_iter().filter(|part| !part.is_empty())
            };
            left = left.into_iter().flat_map(parts).collect();
        }
        segments.extend(left.into_iter().map(|span| (span, *owner)));
    }
    segments.sort_by_key(|(span, _)| span.start);
    segments
}

/// Compares a row of sectors with its owners' records.
fn hold_row(account: &mut Account, row: &Row, segments: &[(Range<u64>, Owner)]) {
    let is_unstamped = matches!(row.holds, RangeContent::Zeros | RangeContent::NoStamp);
    if segments.is_empty() && is_unstamped {
        account.unproven.push(row.span.clone());
    }
    let first = segments.partition_point(|(span, _)| span.end <= row.span.start);
    let here = segments[first..].iter();
    for (span, owner) in here.take_while(|(span, _)| span.start < row.span.end) {
        let part = span.start.max(row.span.start)..span.end.min(row.span.end);
        let (class, what) = match row.holds {
            RangeContent::Zeros => (Class::Dropped, "zeros".to_owned()),
            RangeContent::NoStamp => (Class::Foreign, "no stamp".to_owned()),
            RangeContent::Data(found) if found == *owner => continue,
            RangeContent::Data((run, target)) if run == owner.0 => {
                (Class::WrongDisk, format!("data of target {target}"))
            }
            RangeContent::Data((run, _)) => {
                (Class::LeftOver, format!("data of run {}", run_text(run)))
            }
            RangeContent::Fault => continue,
        };
        account.fault(gap(class, part, *owner, what));
    }
}

/// Compares the sums of a run's parts with its record. If one differs and no known fault explains
/// it, part of the data is older than it should be.
fn hold_parts(
    account: &mut Account,
    (owner, state, tally): (Owner, &FinishedState, &Tally),
    spans: &[Range<u64>],
    older: &[OlderSectors],
    sector_bytes: u32,
) {
    for part in 0..state.parts() {
        let span = state.part(part);
        let is_all_its_own = |of: &Range<u64>| {
            spans
                .iter()
                .any(|own| own.start <= of.start && of.end <= own.end)
        };
        let differs = state
            .sum(part)
            .is_some_and(|sum| tally.sums.get(part) != Some(&sum));
        if !differs || !is_all_its_own(&span) {
            continue;
        }
        let touches = |of: &Range<u64>| of.start < span.end && span.start < of.end;
        let mut is_explained = (account.faults.iter())
            .any(|fault| touches(&(fault.offset_bytes..fault.offset_bytes + fault.length_bytes)));
        let first = older.partition_point(|older| older.span.end <= span.start);
        let here = older[first..]
            .iter()
            .take_while(|older| older.span.start < span.end);
        for older in here.filter(|older| older.newer.run == owner.0) {
            is_explained = true;
            // One that crosses the end of a part belongs to where it begins.
            if span.contains(&older.span.start) {
                let mut fault = gap(
                    Class::Torn,
                    older.span.clone(),
                    owner,
                    "an older write".to_owned(),
                );
                fault.expected = Content {
                    what: "the rest of a newer one".to_owned(),
                    ..content_of(&older.newer, sector_bytes)
                };
                account.fault(fault);
            }
        }
        if !is_explained {
            let what = "an older write somewhere in this part".to_owned();
            account.fault(gap(Class::LostWrite, span, owner, what));
        }
    }
}

fn gap(class: Class, span: Range<u64>, owner: Owner, what: String) -> Fault {
    Fault {
        class,
        target: owner.1,
        offset_bytes: span.start,
        length_bytes: span.end - span.start,
        expected: Content {
            what: "what the run wrote last".to_owned(),
            run: Some(run_text(owner.0)),
            offset_bytes: Some(span.start),
            ..Content::default()
        },
        found: Content {
            what,
            ..Content::default()
        },
        first_difference_bytes: None,
        rereads: Vec::new(),
        meant_for_bytes: None,
        seen_unix_ns: None,
        seen_by_scan: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::{Origin, Stamp, write_sector};
    use crate::verify_targets::{Region, TargetLayout};

    const SIZE_BYTES: usize = 1 << 20;
    const RUN: u64 = 7;
    const PAGE: u64 = 8192;
    /// Stretches of a pass.
    const STRETCH: usize = 64 << 10;

    /// A run of two workers that write pages, 128 sectors at a time for the second; its data after
    /// each write, and its state.
    struct TestImage {
        bytes: Vec<u8>,
        layout: TargetLayout,
        newest: BTreeMap<u16, u64>,
    }

    impl TestImage {
        fn filled() -> TestImage {
            let pages = Region::new(0, PAGE as u32, SIZE_BYTES as u64 / PAGE, &[0, 1]);
            let mut image = TestImage {
                bytes: vec![0; SIZE_BYTES],
                layout: TargetLayout {
                    sector_bytes: 512,
                    regions: vec![pages],
                },
                newest: BTreeMap::new(),
            };
            for block in (0..128).step_by(8) {
                image.write(u16::from(block >= 64), block, 8);
            }
            image
        }

        /// A write of the newest generation of these blocks.
        fn write(&mut self, worker: u16, first: u64, blocks: u64) {
            let newest = self.newest.entry(worker).or_default();
            *newest += 1;
            for block in first..first + blocks {
                let map = &self.layout.regions[0].map;
                let generation = map.next_generation(block);
                map.succeeded(block, generation);
                for sector in 0..16 {
                    let offset_bytes = block * PAGE + sector * 512;
                    let stamp = Stamp {
                        run: RUN,
                        target: 0,
                        origin: Origin::Page,
                        generation,
                        offset_bytes,
                        worker,
                        sequence: *newest,
                        before: ((block - first) * 16 + sector) as u32,
                        sectors: blocks as u32 * 16,
                        written_ns: 1_000 * *newest,
                    };
                    let at = offset_bytes as usize;
                    write_sector(&stamp, &mut self.bytes[at..at + 512]);
                }
            }
        }

        fn state(&self) -> FinishedState {
            let newest = self
                .newest
                .iter()
                .map(|(worker, newest)| [u64::from(*worker), *newest]);
            FinishedState::of(RUN, &self.layout, newest.collect())
        }
    }

    /// The result of a pass over a copy; stretches in random order.
    fn judged(copy: &[u8], known: &[(Owner, FinishedState)]) -> Account {
        let mut survey = Survey::new(512, known.iter().cloned().collect());
        let stretches: Vec<_> = copy.chunks(STRETCH).enumerate().collect();
        let (even, odd): (Vec<_>, Vec<_>) = stretches.iter().partition(|(at, _)| at % 2 == 0);
        for (number, bytes) in odd.into_iter().chain(even) {
            survey.take((number * STRETCH) as u64, bytes);
        }
        survey.judge(Some(copy.len() as u64))
    }

    fn found(account: &Account) -> Vec<(Class, u64, u64)> {
        let faults = account.faults.iter();
        faults
            .map(|fault| (fault.class, fault.offset_bytes, fault.length_bytes))
            .collect()
    }

    /// A run that continued after the first pass, its data midway and at its end.
    fn run() -> (Vec<u8>, TestImage) {
        let mut image = TestImage::filled();
        for round in 0..40 {
            image.write(0, (round * 7) % 60, 4);
            image.write(1, 64 + (round * 5) % 60, 2);
        }
        let before = image.bytes.clone();
        // Every worker ends with writes that the earlier copy lacks.
        for round in 0..6 {
            image.write(0, round * 4, 4);
            image.write(1, 64 + round * 4, 2);
        }
        (before, image)
    }

    #[test]
    fn a_copy_of_the_end_and_one_of_an_earlier_moment_have_no_fault() {
        let (before, image) = run();
        let known = [((RUN, 0), image.state())];
        for (copy, basis) in [(&image.bytes, Basis::End), (&before, Basis::EarlierMoment)] {
            let account = judged(copy, &known);
            assert_eq!(found(&account), []);
            assert_eq!(account.basis[&RUN], basis);
            assert_eq!(account.unproven_bytes(), 0);
        }
    }

    #[test]
    fn what_is_not_what_the_run_wrote_is_a_fault_where_its_record_is_known() {
        let (before, image) = run();
        let known = [((RUN, 0), image.state())];
        let foreign = {
            let mut other = TestImage::filled();
            let stamps = other.bytes.chunks_exact_mut(512);
            for (at, sector) in (0..).zip(stamps) {
                let stamp = Stamp {
                    run: 8,
                    ..crate::stamp::read_sector(sector).expect("a stamp")
                };
                assert_eq!(stamp.offset_bytes, at * 512);
                write_sector(&stamp, sector);
            }
            other.bytes
        };
        let zeros = vec![0; SIZE_BYTES];
        let ones = vec![0xff; SIZE_BYTES];
        let page = 40 * 8192..41 * 8192;
        let sector = 40 * 8192 + 512..40 * 8192 + 1024;
        let cases: [(&str, &[u8], Range<usize>, Class); 6] = [
            ("zero page", &zeros, page.clone(), Class::Dropped),
            ("zero sector", &zeros, sector.clone(), Class::Dropped),
            ("0xff page", &ones, page.clone(), Class::Foreign),
            ("foreign sector", &ones, sector.clone(), Class::Foreign),
            ("page of another run", &foreign, page, Class::LeftOver),
            ("sector of another run", &foreign, sector, Class::LeftOver),
        ];
        for (name, source, at, class) in cases {
            let mut copy = image.bytes.clone();
            copy[at.clone()].copy_from_slice(&source[at.clone()]);
            let fault = (class, at.start as u64, at.len() as u64);
            assert_eq!(found(&judged(&copy, &known)), [fault], "{name}");
            // Also in a copy of an earlier moment.
            let mut copy = before.clone();
            copy[at.clone()].copy_from_slice(&source[at.clone()]);
            assert_eq!(found(&judged(&copy, &known)), [fault], "{name}, earlier");
            // Without the record nothing is claimed, and ranges without a stamp are listed.
            let account = judged(&copy, &[]);
            assert_eq!(found(&account), [], "{name}");
            let expected = if class == Class::LeftOver {
                0
            } else {
                at.len() as u64
            };
            assert_eq!(account.unproven_bytes(), expected, "{name}");
        }
        let account = judged(&image.bytes[..SIZE_BYTES - 4096], &known);
        let missing = (Class::LostWrite, SIZE_BYTES as u64 - 4096, 4096);
        assert_eq!(found(&account)[0], missing);
    }

    #[test]
    fn older_data_is_a_fault_in_a_copy_of_the_end() {
        let (before, image) = run();
        let known = [((RUN, 0), image.state())];
        let page = |block: u64| (block * PAGE) as usize..((block + 1) * PAGE) as usize;
        let old = |at: Range<usize>| {
            let mut copy = image.bytes.clone();
            copy[at.clone()].copy_from_slice(&before[at]);
            copy
        };
        // A sector, half a page and a page of a write of four pages.
        let start = page(13).start;
        for length in [512, 4096, 8192] {
            let account = judged(&old(start..start + length), &known);
            assert_eq!(account.basis[&RUN], Basis::End);
            let fault = (Class::Torn, start as u64, length as u64);
            assert_eq!(found(&account), [fault], "{length}");
        }
        // A complete write: no stamp reveals it, but the sum of its parts does.
        let account = judged(&old(page(64).start..page(65).end), &known);
        assert!(!account.faults.is_empty());
        for fault in &account.faults {
            assert_eq!(fault.class, Class::LostWrite);
            let place = fault.offset_bytes..fault.offset_bytes + fault.length_bytes;
            assert!(
                place.start < 66 * PAGE && place.end > 64 * PAGE,
                "{place:?}"
            );
        }
        // Without a record it may be a snapshot during a run.
        let account = judged(&old(start..start + 512), &[]);
        assert_eq!(
            (found(&account), account.unproven_bytes()),
            (Vec::new(), 512)
        );
    }

    #[test]
    fn a_later_run_on_less_of_the_target_owns_its_part() {
        let (_, image) = run();
        let mut copy = image.bytes.clone();
        let later = FinishedState {
            spans: vec![[0, 64 << 10]],
            ..FinishedState::default()
        };
        for (at, sector) in (0..128).zip(copy.chunks_exact_mut(512)) {
            let stamp = Stamp {
                run: 9,
                target: 0,
                origin: Origin::Page,
                generation: 1,
                offset_bytes: at * 512,
                worker: 0,
                sequence: 1,
                before: at as u32,
                sectors: 128,
                written_ns: 1 << 60,
            };
            write_sector(&stamp, sector);
        }
        let known = [((RUN, 0), image.state()), ((9, 0), later)];
        assert_eq!(found(&judged(&copy, &known)), []);
        copy[1024..1536].fill(0);
        copy[SIZE_BYTES - 512..].fill(0);
        let last = SIZE_BYTES as u64 - 512;
        let dropped = [(Class::Dropped, 1024, 512), (Class::Dropped, last, 512)];
        assert_eq!(found(&judged(&copy, &known)), dropped);
    }
}
