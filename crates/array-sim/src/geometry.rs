//! Maps sectors to positions on a rotating disk.
//!
//! Zoned recording is approximated by a linear law: track t holds `outer - (outer - inner) * t / N`
//! sectors, so the sectors before track t are S(t) = outer*t - (outer - inner)*t^2 / (2N).
//! Inverting that quadratic finds the track of a sector without a table. With a number of zones the
//! law becomes a step function: zones of equally many cylinders, in each of which all tracks have
//! the law's value at the zone's middle. Tracks are skewed against each other by the time of a head
//! switch, so that sequential transfers miss no revolution. Defects, servo sectors and serpentine
//! zones are not modelled.

/// A sector's position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Position {
    /// The sector.
    pub sector: u64,
    /// Track, counted from the outer edge.
    pub track: u32,
    /// Cylinder: all tracks under the heads at one arm position.
    pub cylinder: u32,
    /// Angle of the sector's start in revolutions, 0 to 1.
    pub angle: f64,
    /// Revolutions per sector of this track.
    pub sector_turns: f64,
}

/// The shape of one drive's recording surface.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    tracks: u32,
    heads: u32,
    /// Sectors on track 0.
    outer: f64,
    /// k in S(t) = outer*t - k*t^2: half of the sectors each track loses to the previous one.
    taper: f64,
    /// Offset in revolutions of each track's start from the previous one.
    skew: f64,
    /// Empty: the linear law.
    zones: Vec<Zone>,
}

/// Neighbouring cylinders with equally long tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    /// Its first track.
    pub track: u32,
    /// Sectors before that track.
    pub sector: u64,
    /// Sectors on each of its tracks.
    pub sectors_per_track: u32,
}

/// The zones of a disk, from the outside in, and the total number of sectors.
pub(crate) fn zones(
    count: u32,
    (cylinders, heads): (u32, u32),
    (outer, inner): (u32, u32),
) -> (Vec<Zone>, u64) {
    let mut zones = Vec::new();
    let mut sector = 0;
    let first_track = |number: u32| {
        let cylinder = u64::from(cylinders) * u64::from(number) / u64::from(count);
        cylinder as u32 * heads
    };
    for number in 0..count {
        // The law's value at the zone's middle, rounded.
        let less = u64::from(outer - inner) * (2 * u64::from(number) + 1);
        let less = (less + u64::from(count)) / (2 * u64::from(count));
        let zone = Zone {
            track: first_track(number),
            sector,
            sectors_per_track: outer - less as u32,
        };
        let tracks = first_track(number + 1) - zone.track;
        sector += u64::from(tracks) * u64::from(zone.sectors_per_track);
        if tracks > 0 {
            zones.push(zone);
        }
    }
    (zones, sector)
}

impl Geometry {
    /// The same disk with zones.
    pub(crate) fn with_zones(self, zones: Vec<Zone>) -> Self {
        Geometry { zones, ..self }
    }

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
            zones: Vec::new(),
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

    /// The position of a sector. Solved as t = 2S / (outer + sqrt(outer^2 - 4kS)), which loses no
    /// precision for small S and holds for unzoned disks (k = 0) too.
    pub(crate) fn position(&self, sector: u64) -> Position {
        if !self.zones.is_empty() {
            return self.zoned(sector);
        }
        let before = float(sector);
        let root = (self.outer * self.outer - 4.0 * self.taper * before)
            .max(0.0)
            .sqrt();
        let exact = 2.0 * before / (self.outer + root);
        let track = (exact as u32).min(self.tracks - 1);
        let whole = f64::from(track);
        let turned = (exact - whole) + whole * self.skew;
        Position {
            sector,
            track,
            cylinder: self.cylinder(track),
            angle: fraction(turned),
            sector_turns: 1.0 / (self.outer - 2.0 * self.taper * whole),
        }
    }
}

impl Geometry {
    /// The position of a sector on a disk with zones.
    fn zoned(&self, sector: u64) -> Position {
        let after = self.zones.partition_point(|zone| zone.sector <= sector);
        let zone = self.zones[after.saturating_sub(1)];
        let inside = sector - zone.sector;
        let length = u64::from(zone.sectors_per_track);
        let track = (u64::from(zone.track) + inside / length).min(u64::from(self.tracks - 1));
        let turned = (inside % length) as f64 / length as f64 + track as f64 * self.skew;
        Position {
            sector,
            track: track as u32,
            cylinder: self.cylinder(track as u32),
            angle: fraction(turned),
            sector_turns: 1.0 / length as f64,
        }
    }
}

/// The fractional part of a number from 0 to 2^51. Adding 2^52 rounds it to the nearest whole
/// number, so that the rest is between -1/2 and 1/2; everything else is exact. A cast takes more
/// instructions, as it checks its range, and `floor` may be a library call.
#[inline]
pub(crate) fn fraction(value: f64) -> f64 {
    const WHOLE: f64 = (1u64 << 52) as f64;
    let rest = value - ((value + WHOLE) - WHOLE);
    rest + if rest < 0.0 { 1.0 } else { 0.0 }
}

/// A time truncated to whole nanoseconds. Cast through a signed number, which is one instruction
/// where an unsigned one is a branch: the same below 2^63.
pub(crate) fn whole(value: f64) -> u64 {
    value as i64 as u64
}

/// A time below 2^63 ns as a float; see [`whole`].
pub(crate) fn float(value: u64) -> f64 {
    value as i64 as f64
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
            assert!((599.9..=1055.1).contains(&(1.0 / position.sector_turns)));
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
                assert!((apart - a.sector_turns).abs() < 1e-5, "{apart}");
            }
        }
    }

    #[test]
    fn zones_are_stairs_along_the_linear_law() {
        let (zones, sectors) = zones(4, (100, 2), (1000, 600));
        let lengths: Vec<u32> = zones.iter().map(|zone| zone.sectors_per_track).collect();
        assert_eq!(lengths, [950, 850, 750, 650]);
        assert_eq!(sectors, 50 * (950 + 850 + 750 + 650));
        let geometry = Geometry::new(100, 2, 1000, 600, 0.05).with_zones(zones);
        // The last sector of the first zone and the first of the second.
        let (last, first) = (geometry.position(47_499), geometry.position(47_500));
        assert_eq!((last.track, first.track), (49, 50));
        assert_eq!(
            (last.sector_turns, first.sector_turns),
            (1.0 / 950.0, 1.0 / 850.0)
        );
        assert!((first.angle - fraction(50.0 * 0.05)).abs() < 1e-9);
        let end = geometry.position(sectors - 1);
        assert_eq!((end.track, end.cylinder), (199, 99));
    }

    #[test]
    fn an_unzoned_disk_has_the_same_sectors_on_every_track() {
        let geometry = Geometry::new(10, 1, 100, 100, 0.0);
        assert_eq!(geometry.position(550).track, 5);
        assert!((geometry.position(550).angle - 0.5).abs() < 1e-12);
    }
}
