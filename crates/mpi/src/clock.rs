//! What two clocks differ by: of many round trips the fastest tells most, because an
//! answer cannot have been given earlier than the question came, nor later than the
//! answer was sent (Cristian 1989; Hunold and Carpen-Amarie 2015 on why barriers do not
//! do).

use stripewise_conductor::start::ClockOffset;
use stripewise_units::WallTime;

/// Round trips that are tried.
pub const ROUND_TRIPS: u32 = 100;

/// Of round trips so far.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    best: Option<(u64, ClockOffset)>,
    /// Round trips that were made.
    pub trips: u32,
}

impl Comparison {
    /// Adds a round trip: when the question went and the answer came by the own clock,
    /// and what the other one showed in between. A clock that was set back meanwhile
    /// proves nothing.
    pub fn add(&mut self, asked: WallTime, answered: WallTime, other: WallTime) {
        self.trips += 1;
        let Some(trip_ns) = answered.ns().checked_sub(asked.ns()) else {
            return;
        };
        if self.best.is_some_and(|(best_ns, _)| best_ns <= trip_ns) {
            return;
        }
        let middle = WallTime(asked.ns() + trip_ns / 2);
        let offset = ClockOffset {
            offset_ns: other.since(middle),
            error_ns: trip_ns.div_ceil(2),
        };
        self.best = Some((trip_ns, offset));
    }

    /// The other clock minus the own one, by the fastest round trip.
    #[must_use]
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
            let asked = WallTime(1_000_000_000 + at * 1_000_000);
            let other = asked.shifted(out_ns + ahead_ns);
            let answered = asked.shifted(out_ns + back_ns);
            comparison.add(asked, answered, other);
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
