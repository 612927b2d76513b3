//! The time to move the arm.
//!
//! seek(d) = t1 + a*(sqrt(d) - 1) + b*(d - 1) for a distance of d >= 1 cylinders.
//! The track-to-track time t1 is a data-sheet value; a and b follow from two more, the full stroke
//! (d = C) and the average over random pairs of cylinders, with E sqrt(d) = 0.533 sqrt(C) (exactly
//! 8/15) and E d = C/3. After Ruemmler and Wilkes (1994). Short and long seeks share one curve;
//! thermal recalibration and settle differences between heads are not modelled.

/// E sqrt(d) / sqrt(C) for two independent uniform cylinders: 8/15.
const MEAN_ROOT: f64 = 8.0 / 15.0;

/// A drive's seek curve, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeekCurve {
    constant_ns: f64,
    root_ns: f64,
    linear_ns: f64,
}

impl SeekCurve {
    /// The curve through the three data-sheet values (ns) for `cylinders`.
    /// `None` where the three contradict each other: the curve would fall.
    pub(crate) fn through(
        cylinders: u32,
        track_ns: f64,
        average_ns: f64,
        full_ns: f64,
    ) -> Option<Self> {
        let c = f64::from(cylinders);
        if cylinders < 2 {
            return Some(SeekCurve {
                constant_ns: track_ns,
                root_ns: 0.0,
                linear_ns: 0.0,
            });
        }
        let (root_mean, linear_mean) = (MEAN_ROOT * c.sqrt() - 1.0, c / 3.0 - 1.0);
        let (root_full, linear_full) = (c.sqrt() - 1.0, c - 1.0);
        let determinant = root_mean * linear_full - linear_mean * root_full;
        let (mean, full) = (average_ns - track_ns, full_ns - track_ns);
        let root_ns = (mean * linear_full - linear_mean * full) / determinant;
        let linear_ns = (root_mean * full - mean * root_full) / determinant;
        let curve = SeekCurve {
            constant_ns: track_ns - root_ns - linear_ns,
            root_ns,
            linear_ns,
        };
        // The slope is monotone in d, so checking both ends is enough.
        let slope = |d: f64| root_ns / (2.0 * d.sqrt()) + linear_ns;
        (slope(1.0) >= 0.0 && slope(c) >= 0.0).then_some(curve)
    }

    /// Nanoseconds for a distance of at least one cylinder.
    pub(crate) fn time_ns(&self, distance: f64) -> f64 {
        self.constant_ns + self.root_ns * distance.sqrt() + self.linear_ns * distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_passes_through_the_data_sheet() {
        for (cylinders, track, average, full) in [
            (88_600, 0.3e6, 4.5e6, 9.5e6),
            (50_000, 0.2e6, 3.5e6, 7.0e6),
            (200_000, 0.23e6, 8.5e6, 17.1e6),
        ] {
            let curve = SeekCurve::through(cylinders, track, average, full).unwrap();
            assert!((curve.time_ns(1.0) - track).abs() < 1.0);
            assert!((curve.time_ns(f64::from(cylinders)) - full).abs() < 1.0);
            // The mean over the triangular density 2(C - d)/C^2 of distances.
            let c = f64::from(cylinders);
            let (mut sum, steps) = (0.0, 200_000);
            for i in 0..steps {
                let d = (f64::from(i) + 0.5) / f64::from(steps) * c;
                sum += curve.time_ns(d) * 2.0 * (c - d) / (c * c) * c / f64::from(steps);
            }
            assert!(
                (sum / average - 1.0).abs() < 0.003,
                "{sum} against {average}"
            );
        }
    }

    #[test]
    fn contradicting_data_sheets_are_refused() {
        assert!(SeekCurve::through(50_000, 0.3e6, 9.4e6, 9.5e6).is_none());
        assert!(SeekCurve::through(50_000, 0.3e6, 1.0e6, 90.0e6).is_none());
        assert!(SeekCurve::through(1, 0.3e6, 0.3e6, 0.3e6).is_some());
    }
}
