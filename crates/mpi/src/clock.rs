//! Offset between two clocks: of many round trips, the fastest is the most precise, because an
//! answer cannot be given before the question arrives, nor after the
//! answer arrives (Cristian 1989; Hunold and Carpen-Amarie 2015 on why barriers are
//! unsuitable).

use stripewise_conductor::start::ClockOffset;
use stripewise_units::WallTime;

/// Number of round trips.
pub const ROUND_TRIPS: u32 = 100;

/// The result of the round trips so far.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    best: Option<(u64, ClockOffset)>,
    /// Number of round trips made.
    pub trips: u32,
}

impl Comparison {
    /// Adds a round trip: when the question left and the answer arrived by this clock,
    /// and the other clock's reading in between. Ignores it if a clock was set back
    /// meanwhile.
    pub fn add(&mut self, sent_at: WallTime, answered: WallTime, other: WallTime) {
        self.trips += 1;
        let Some(trip_ns) = answered.ns().checked_sub(sent_at.ns()) else {
            return;
        };
        if self.best.is_some_and(|(best_ns, _)| best_ns <= trip_ns) {
            return;
        }
        let middle = WallTime(sent_at.ns() + trip_ns / 2);
        let offset = ClockOffset {
            offset_ns: other.since(middle),
            error_ns: trip_ns.div_ceil(2),
        };
        self.best = Some((trip_ns, offset));
    }

    /// The other clock minus this one, from the fastest round trip.
    pub fn offset(&self) -> Option<ClockOffset> {
        self.best.map(|(_, offset)| offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_round_trip_decides_and_bounds_the_error() {
        let mut comparison = Comparison::default();
        assert_eq!(comparison.offset(), None);
        let ahead_ns = 3_000_000_000;
        // Out in 5 us, back in 300 us; then 20 us and 30 us; then slow again.
        for (at, out_ns, back_ns) in [
            (0, 5_000, 300_000),
            (10, 20_000, 30_000),
            (20, 900_000, 1_000),
        ] {
            let sent_at = WallTime(1_000_000_000 + at * 1_000_000);
            let other = sent_at.shifted(out_ns + ahead_ns);
            let answered = sent_at.shifted(out_ns + back_ns);
            comparison.add(sent_at, answered, other);
        }
        let offset = comparison.offset().unwrap();
        assert_eq!(offset.error_ns, 25_000);
        let wrong_by = (offset.offset_ns - ahead_ns).unsigned_abs();
        assert!(wrong_by <= offset.error_ns, "{wrong_by}");
        assert_eq!(comparison.trips, 3);
    }

    #[test]
    fn a_clock_that_was_set_back_is_not_believed() {
        let mut comparison = Comparison::default();
        comparison.add(WallTime(1_000), WallTime(999), WallTime(5));
        assert_eq!((comparison.offset(), comparison.trips), (None, 1));
    }
}
