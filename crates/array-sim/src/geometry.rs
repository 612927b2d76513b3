//! Where a sector lies on a rotating disk.
//!
//! Zoned recording is approximated by a linear law: track t holds
//! `outer - (outer - inner) * t / N` sectors, so the sectors before track t are
//! S(t) = outer*t - (outer - inner)*t^2 / (2N). Inverting that quadratic finds
//! the track of a sector without any table. Tracks are skewed against each
//! other by the time of a head switch, so that sequential transfers miss no
//! revolution. Defects, servo sectors and serpentine zones are left out.

/// A sector's position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Position {
    /// Track, counted from the outer edge.
    pub track: u32,
    /// Cylinder: all tracks under the heads at one arm position.
    pub cylinder: u32,
    /// Angle of the sector's start in revolutions, 0 to 1.
    pub angle: f64,
    /// Sectors on this track.
    pub sectors_per_track: f64,
}

/// The shape of one drive's recording surface.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    tracks: u32,
    heads: u32,
    /// Sectors on track 0.
    outer: f64,
    /// k in S(t) = outer*t - k*t^2: half of what each track loses to the one before.
    taper: f64,
    /// Revolutions by which each track starts later than the one before.
    skew: f64,
}

impl Geometry {
    /// `skew` is the head-switch time in revolutions.
    pub(crate) fn new(cylinders: u32, heads: u32, outer: u32, inner: u32, skew: f64) -> Self {
        let tracks = cylinders * heads;
        let taper = f64::from(outer.saturating_sub(inner)) / (2.0 * f64::from(tracks));
        Geometry {
            tracks,
            heads,
            outer: f64::from(outer),
            taper,
            skew,
        }
    }

    /// Skew from one track to the next, in revolutions.
    pub(crate) fn skew(&self) -> f64 {
        self.skew
    }

    /// The cylinder of a track.
    pub(crate) fn cylinder(&self, track: u32) -> u32 {
        track / self.heads
    }

    /// The position of a sector. Solved as t = 2S / (outer + sqrt(outer^2 - 4kS)),
    /// which loses no digits for small S and holds for unzoned disks (k = 0) too.
    pub(crate) fn position(&self, sector: u64) -> Position {
        let before = sector as f64;
        let root = (self.outer * self.outer - 4.0 * self.taper * before)
            .max(0.0)
            .sqrt();
        let exact = 2.0 * before / (self.outer + root);
        let track = (exact as u32).min(self.tracks - 1);
        let whole = f64::from(track);
        let turned = (exact - whole) + whole * self.skew;
        Position {
            track,
            cylinder: self.cylinder(track),
            angle: fraction(turned),
            sectors_per_track: self.outer - 2.0 * self.taper * whole,
        }
    }
}

/// The fractional part of a number that is not negative. A cast truncates
/// exactly on every platform; `floor` may be a library call. (To a signed number,
/// which is one instruction where an unsigned one is a branch.)
pub(crate) fn fraction(value: f64) -> f64 {
    value - (value as i64) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTORS: u64 = 88_600 * 8 * (1055 + 600) / 2;

    fn savvio() -> Geometry {
        Geometry::new(88_600, 8, 1055, 600, 0.05)
    }

    #[test]
    fn the_inverse_agrees_with_the_sum_over_tracks() {
        let geometry = Geometry::new(50, 2, 100, 50, 0.0);
        let mut before = 0.0;
        for track in 0..99u32 {
            let position = geometry.position(before as u64 + 2);
            assert_eq!(position.track, track, "sector {before}");
            assert_eq!(position.cylinder, track / 2);
            let t = f64::from(track) + 1.0;
            before = 100.0 * t - 50.0 * t * t / 200.0;
        }
    }

    #[test]
    fn tracks_never_fall_and_angles_stay_inside_a_revolution() {
        let geometry = savvio();
        let mut last = 0;
        for step in 0..10_000 {
            let sector = SECTORS / 10_000 * step;
            let position = geometry.position(sector);
            assert!(position.track >= last);
            assert!((0.0..1.0).contains(&position.angle));
            assert!((599.9..=1055.0).contains(&position.sectors_per_track));
            last = position.track;
        }
        assert!(last < 88_600 * 8);
    }

    #[test]
    fn neighbouring_sectors_are_one_sector_apart() {
        let geometry = savvio();
        for start in [0, 1_000_000, 300_000_000] {
            let (a, b) = (geometry.position(start), geometry.position(start + 1));
            if a.track == b.track {
                let apart = fraction(b.angle - a.angle + 1.0);
                assert!((apart - 1.0 / a.sectors_per_track).abs() < 1e-5, "{apart}");
            }
        }
    }

    #[test]
    fn an_unzoned_disk_has_the_same_sectors_on_every_track() {
        let geometry = Geometry::new(10, 1, 100, 100, 0.0);
        assert_eq!(geometry.position(550).track, 5);
        assert!((geometry.position(550).angle - 0.5).abs() < 1e-12);
    }
}
