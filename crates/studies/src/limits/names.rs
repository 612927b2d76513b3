//! Volume types whose published caps match the measured ones: never a certainty, since
//! several types have the same caps.

use super::document::{AppliesTo, BucketUnit, BurstFound, CapKind, LimitsDocument};
use super::text::MIB;
use serde::Deserialize;
use stripewise_units::format_iops;

/// The table that comes with the program.
const BUNDLED: &str = include_str!("volumes.toml");
const MB: f64 = 1_000_000.0;
/// Allowed difference between the published and the delivered rate.
const DELIVERED_SHARE: f64 = 0.03;

/// A dated table of volume types.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeTable {
    /// The date of its numbers.
    pub as_of: String,
    volume: Vec<VolumeType>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeType {
    cloud: String,
    name: String,
    iops: Span,
    #[serde(default)]
    mib_per_s: Option<Span>,
    #[serde(default)]
    mb_per_s: Option<Span>,
    #[serde(default)]
    burst_iops: Option<Span>,
    #[serde(default)]
    burst_mb_per_s: Option<Span>,
    #[serde(default)]
    iops_per_gib: Option<f64>,
    /// For people reading the table.
    #[serde(rename = "source")]
    _source: String,
}

/// One number, or a minimum and a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Span {
    One(f64),
    Between([f64; 2]),
}

impl Span {
    fn most(self) -> f64 {
        match self {
            Span::One(value) | Span::Between([_, value]) => value,
        }
    }

    /// A value of it within an interval: the number itself, or the roundest in range.
    fn within(self, [low, high]: [f64; 2]) -> Option<f64> {
        let near = (low * (1.0 - DELIVERED_SHARE))..=(high * (1.0 + DELIVERED_SHARE));
        match self {
            Span::One(value) => near.contains(&value).then_some(value),
            Span::Between([least, most]) if low.max(least) <= high.min(most) => {
                Some(roundest(low.max(least), high.min(most), 0.5 * (low + high)))
            }
            Span::Between(ends) => ends.into_iter().find(|end| near.contains(end)),
        }
    }
}

/// The number between two that has the fewest digits, and of several the one nearest to a third.
fn roundest(low: f64, high: f64, near: f64) -> f64 {
    let mut step = 1e9;
    while step >= 1.0 {
        let (first, last) = ((low / step).ceil().max(1.0), (high / step).floor());
        if first <= last {
            return (near / step).round().clamp(first, last) * step;
        }
        step /= if step.log10().fract() == 0.0 {
            2.0
        } else {
            5.0
        };
    }
    low
}

impl VolumeTable {
    /// The bundled table.
    ///
    /// # Panics
    /// Never: a test parses it.
    #[must_use]
    pub fn bundled() -> VolumeTable {
        VolumeTable::parse(BUNDLED).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Parses a table.
    ///
    /// # Errors
    /// The first problem, with its line.
    pub fn parse(text: &str) -> Result<VolumeTable, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())
    }

    /// Types of a cloud with the caps of a document. Caps without a limiter match none.
    #[must_use]
    pub fn names(&self, cloud: &str, document: &LimitsDocument) -> Vec<String> {
        let named = self.of_cloud(cloud);
        let named = named.filter_map(|one| one.name_for(document));
        named
            .map(|name| format!("{name} (as of {})", self.as_of))
            .collect()
    }

    /// Whether a type of a cloud has the caps of a document while it bursts.
    #[must_use]
    pub fn has_burst(&self, cloud: &str, document: &LimitsDocument) -> bool {
        let mut types = self.of_cloud(cloud);
        types.any(|one| one.fit(document).is_some_and(|fit| fit.bursts))
    }

    /// Why no type of a cloud has a name here, although caps are named.
    #[must_use]
    pub fn why_none(&self, cloud: &str, document: &LimitsDocument) -> Option<String> {
        if document.caps.is_empty() || !self.names(cloud, document).is_empty() {
            return None;
        }
        if limiter_cap(document, CapKind::Iops).is_none() {
            return Some(format!(
                "No volume type of {cloud} was looked for: only a limiter's IOPS that reads and \
                 writes share are compared."
            ));
        }
        let types: Vec<&str> = self.of_cloud(cloud).map(|one| one.name.as_str()).collect();
        Some(match types.is_empty() {
            true => format!("The table has no volume type of {cloud}."),
            false => format!(
                "No volume type of {cloud} has these caps. The table has, as of {}: {}.",
                self.as_of,
                types.join(", ")
            ),
        })
    }

    fn of_cloud<'a>(&'a self, cloud: &'a str) -> impl Iterator<Item = &'a VolumeType> {
        self.volume.iter().filter(move |one| one.cloud == cloud)
    }
}

/// The interval of a limiter's cap that reads and writes share, as far as that is known.
fn limiter_cap(document: &LimitsDocument, kind: CapKind) -> Option<[f64; 2]> {
    let shared = |to| matches!(to, AppliesTo::Both | AppliesTo::ReadsUntestedWrites);
    let mut caps = document.caps.iter();
    let found =
        caps.find(|cap| cap.kind == kind && cap.limiter == Some(true) && shared(cap.applies_to));
    found.map(|cap| [cap.per_s_low, cap.per_s_high])
}

/// How the caps of a document fit a type.
struct Fit {
    /// The cap on operations is that of its burst.
    bursts: bool,
    /// The cap on operations as the provider writes it, unless it bursts.
    iops: Option<f64>,
    /// The cap on bytes with its unit, where one was found.
    rate: Option<String>,
}

impl VolumeType {
    fn fit(&self, document: &LimitsDocument) -> Option<Fit> {
        let measured = limiter_cap(document, CapKind::Iops)?;
        let bytes = limiter_cap(document, CapKind::BytesPerS);
        let burst = self.burst_iops.and_then(|burst| burst.within(measured));
        let bursts = burst.is_some();
        let iops = self.iops.within(measured).filter(|_| !bursts);
        let ended = document.burst.as_ref();
        let excluded = ended.is_some_and(|burst| !bursts || !self.sustains(burst));
        if iops.is_none() && !bursts || excluded {
            return None;
        }
        let mb = match bursts {
            true => self.burst_mb_per_s.or(self.mb_per_s),
            false => self.mb_per_s,
        };
        let (span, unit_bytes, unit) = match (self.mib_per_s, mb) {
            (Some(span), _) => (span, MIB, "MiB/s"),
            (None, span) => (span?, MB, "MB/s"),
        };
        let rate = match bytes {
            Some(ends) => {
                let rate = span.within(ends.map(|end| end / unit_bytes))?;
                Some(format!("{} {unit}", format_iops(rate)))
            }
            None => None,
        };
        // A cap that was not reached: nothing can have moved more.
        let cells = document.cells.iter().map(|cell| cell.bytes_per_s);
        let most = cells.fold(0.0, f64::max) / unit_bytes;
        let exceeds = bytes.is_none() && most > span.most() * (1.0 + DELIVERED_SHARE);
        (!exceeds).then_some(Fit { bursts, iops, rate })
    }

    /// Whether its rate behind a burst may be the one that was measured.
    fn sustains(&self, burst: &BurstFound) -> bool {
        match burst.bucket_unit {
            BucketUnit::Operations => self.iops.within([burst.sustained_per_s; 2]).is_some(),
            BucketUnit::Bytes => self.burst_mb_per_s.is_some(),
        }
    }

    fn name_for(&self, document: &LimitsDocument) -> Option<String> {
        let Fit { bursts, iops, rate } = self.fit(document)?;
        let mut name = format!("a {}", self.name);
        match (iops, self.iops_per_gib, &document.burst) {
            (None, Some(each), Some(burst)) => {
                name.push_str(&format!(" of {:.0} GiB", burst.sustained_per_s / each));
            }
            (Some(iops), ..) => name.push_str(&format!(" of {} IOPS", format_iops(iops))),
            _ => {}
        }
        if bursts {
            name.push_str(" while it bursts");
        }
        if let Some(rate) = rate {
            name.push_str(&format!("{}{rate}", if bursts { ", " } else { " and " }));
        }
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{CapFound, CellFound, LoadKind};
    use super::*;

    fn caps(iops: f64, bytes_per_s: f64, limiter: Option<bool>) -> LimitsDocument {
        let cap = |kind, per_s: f64| CapFound {
            kind,
            applies_to: AppliesTo::Both,
            per_s,
            per_s_low: 0.99 * per_s,
            per_s_high: 1.01 * per_s,
            limiter,
        };
        LimitsDocument {
            caps: vec![
                cap(CapKind::Iops, iops),
                cap(CapKind::BytesPerS, bytes_per_s),
            ],
            ..LimitsDocument::default()
        }
    }

    #[test]
    fn caps_have_the_names_of_those_types_that_have_them() {
        let table = VolumeTable::bundled();
        let gp3 = caps(3_010.0, 125.3 * MIB, Some(true));
        assert_eq!(
            table.names("aws", &gp3),
            [
                "a gp3 of 3,000 IOPS and 125 MiB/s (as of 2026-11)",
                "a gp2 while it bursts, 128 MiB/s (as of 2026-11)",
            ]
        );
        assert_eq!(table.why_none("aws", &gp3), None);
        assert_eq!(table.why_none("aws", &LimitsDocument::default()), None);
        let p30 = caps(5_000.0, 200e6, Some(true));
        let names = table.names("azure", &p30);
        assert_eq!(
            names[0],
            "a premium SSD P30 of 5,000 IOPS and 200 MB/s (as of 2026-11)"
        );
        assert!(
            table
                .names("aws", &caps(90_000.0, 5e9, Some(true)))
                .is_empty()
        );
        assert!(
            table
                .names("aws", &caps(3_010.0, 125.3 * MIB, None))
                .is_empty()
        );
    }

    #[test]
    fn a_burst_that_ended_excludes_types_that_do_not_burst_so() {
        let table = VolumeTable::bundled();
        let ended = |iops, bytes_per_s, sustained_per_s| LimitsDocument {
            burst: Some(BurstFound {
                burst_per_s: iops,
                sustained_per_s,
                bucket: 1e6,
                bucket_low: 1e6,
                bucket_high: 1e6,
                bucket_unit: BucketUnit::Operations,
                refill_per_s: Some(sustained_per_s),
                refill_per_s_low: Some(sustained_per_s),
                refill_per_s_high: Some(sustained_per_s),
                lasts_s: 360.0,
                lasts_s_low: 355.0,
                lasts_s_high: 365.0,
            }),
            ..caps(iops, bytes_per_s, Some(true))
        };
        let gp2 = ended(3_000.0, 128.0 * MIB, 301.0);
        assert_eq!(
            table.names("aws", &gp2),
            ["a gp2 of 100 GiB while it bursts, 128 MiB/s (as of 2026-11)"]
        );
        let p10 = ended(3_500.0, 170e6, 500.0);
        assert_eq!(
            table.names("azure", &p10),
            ["a premium SSD P10 while it bursts, 170 MB/s (as of 2026-11)"]
        );
        assert!(
            table
                .names("aws", &ended(6_000.0, 125.0 * MIB, 300.0))
                .is_empty()
        );
    }

    #[test]
    fn caps_are_those_of_a_burst_where_a_type_bursts_so() {
        let table = VolumeTable::bundled();
        let has = |cloud, iops, limiter| table.has_burst(cloud, &caps(iops, 125.0 * MIB, limiter));
        assert!(has("aws", 3_000.0, Some(true)));
        assert!(!has("aws", 3_000.0, None) && !has("aws", 6_000.0, Some(true)));
        assert!(!has("gcp", 3_000.0, Some(true)));
    }

    #[test]
    fn a_type_that_moves_less_than_was_measured_is_not_named() {
        let table = VolumeTable::bundled();
        let mut document = caps(500.0, 1.0, Some(true));
        document.caps.truncate(1);
        document.cells.push(CellFound {
            block_size_bytes: 1 << 20,
            kind: LoadKind::Reads,
            outstanding: 64,
            iops: 500.0,
            bytes_per_s: 500.0 * MIB,
            runs: 6,
        });
        assert!(table.names("aws", &document).is_empty());
        document.cells[0].bytes_per_s = 250.0 * MIB;
        assert_eq!(
            table.names("aws", &document),
            ["a gp2 of 500 IOPS (as of 2026-11)"]
        );
    }

    #[test]
    fn where_no_type_fits_those_that_were_looked_at_are_listed() {
        let table = VolumeTable::bundled();
        let why = |cloud, limiter| {
            let why = table.why_none(cloud, &caps(90_000.0, 5e9, limiter));
            why.expect("no type of that size")
        };
        assert_eq!(
            why("aws", Some(true)),
            "No volume type of aws has these caps. The table has, as of 2026-11: gp3, gp2."
        );
        assert_eq!(why("x", Some(true)), "The table has no volume type of x.");
        assert!(why("aws", None).starts_with("No volume type of aws was looked for: "));
    }

    #[test]
    fn the_roundest_number_of_an_interval_is_named() {
        assert_eq!(roundest(2_955.0, 3_040.0, 2_998.0), 3_000.0);
        assert_eq!(roundest(4_420.0, 4_560.0, 4_490.0), 4_500.0);
        assert_eq!(roundest(121.3, 128.9, 125.1), 125.0);
        assert_eq!(roundest(126.7, 129.3, 128.1), 128.0);
        assert_eq!(roundest(128.0, 129.3, 127.0), 128.0);
    }

    #[test]
    fn a_table_with_mistakes_is_refused() {
        assert!(VolumeTable::parse("as_of = 1").is_err());
        let unknown = "as_of = \"x\"\n[[volume]]\ncloud = \"aws\"\nname = \"a\"\niops = 1\nsource = \"\"\nprice = 3";
        assert!(VolumeTable::parse(unknown).is_err_and(|error| error.contains("price")));
    }
}
