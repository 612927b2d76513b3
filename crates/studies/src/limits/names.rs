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
/// Names that are spelled when read, and begin with a vowel then.
const SPELLED_WITH_A_VOWEL: [&str; 2] = ["st1", "sc1"];

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
    /// None where only bytes are capped.
    #[serde(default)]
    iops: Option<Span>,
    #[serde(default)]
    mib_per_s: Option<Span>,
    #[serde(default)]
    mb_per_s: Option<Span>,
    #[serde(default)]
    burst_iops: Option<Span>,
    #[serde(default)]
    burst_mb_per_s: Option<Span>,
    #[serde(default)]
    burst_mib_per_s: Option<Span>,
    #[serde(default)]
    iops_per_gib: Option<f64>,
    #[serde(default)]
    mib_per_s_per_tib: Option<f64>,
    #[serde(default)]
    burst_mib_per_s_per_tib: Option<f64>,
    /// A smaller I/O at a random place counts as so much.
    #[serde(default)]
    io_kib_min: Option<f64>,
    /// A larger I/O counts once for each started part of so much.
    #[serde(default)]
    io_kib_max: Option<f64>,
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
    fn is_possible(self) -> bool {
        let [least, most] = match self {
            Span::One(value) => [value; 2],
            Span::Between(ends) => ends,
        };
        least > 0.0 && least <= most && most.is_finite()
    }

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
    pub fn bundled() -> VolumeTable {
        VolumeTable::parse(BUNDLED).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Parses a table.
    ///
    /// # Errors
    /// The first problem, with its line.
    pub fn parse(text: &str) -> Result<VolumeTable, String> {
        let table: Result<VolumeTable, toml::de::Error> = toml::from_str(text);
        let table = table.map_err(|error| error.to_string())?;
        let mut types = table.volume.iter();
        match types.find(|one| !one.spans().all(Span::is_possible)) {
            Some(one) => Err(format!(
                "{}: a rate is above 0, and the lower of two numbers comes first",
                one.name
            )),
            None => Ok(table),
        }
    }

    /// Types of a cloud with the caps of a document. Caps without a limiter match none.
    pub fn names(&self, cloud: &str, document: &LimitsDocument) -> Vec<String> {
        let named = self.of_cloud(cloud);
        let named = named.filter_map(|one| one.name_for(document));
        named
            .map(|name| format!("{name} (as of {})", self.as_of))
            .collect()
    }

    /// Whether a type of a cloud has the caps of a document while it bursts.
    pub fn has_burst(&self, cloud: &str, document: &LimitsDocument) -> bool {
        let mut types = self.of_cloud(cloud);
        types.any(|one| one.fit(document).is_some_and(|fit| fit.bursts))
    }

    /// Whether caps that no type of a cloud has may be those of a burst: any of its types bursts, as
    /// its machines may then, or none is known.
    pub fn may_burst(&self, cloud: &str) -> bool {
        let mut types = self.of_cloud(cloud).peekable();
        types.peek().is_none() || types.any(VolumeType::has_bursts)
    }

    /// Why no type of a cloud has a name here, although caps are named.
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
    /// All its rates.
    fn spans(&self) -> impl Iterator<Item = Span> {
        let sustained = [self.iops, self.mib_per_s, self.mb_per_s];
        sustained.into_iter().chain(self.bursts()).flatten()
    }

    fn bursts(&self) -> [Option<Span>; 3] {
        [self.burst_iops, self.burst_mib_per_s, self.burst_mb_per_s]
    }

    fn has_bursts(&self) -> bool {
        self.bursts().iter().any(Option::is_some)
    }

    fn fit(&self, document: &LimitsDocument) -> Option<Fit> {
        let measured = limiter_cap(document, CapKind::Iops)?;
        if let Some(io_kib) = self.io_kib_min {
            return self.fit_of_bytes(document, measured, io_kib);
        }
        if self.counts_more(document, measured) {
            return None;
        }
        let bytes = limiter_cap(document, CapKind::BytesPerS);
        let burst = self.burst_iops.and_then(|burst| burst.within(measured));
        let bursts = burst.is_some();
        let iops = self.iops.and_then(|iops| iops.within(measured));
        let iops = iops.filter(|_| !bursts);
        let is_excluded = self.is_excluded_by(document.burst.as_ref(), bursts);
        if iops.is_none() && !bursts || is_excluded {
            return None;
        }
        let mb = match bursts {
            true => self.burst_mb_per_s.or(self.mb_per_s),
            false => self.mb_per_s,
        };
        let (span, unit_bytes, unit) = match (self.mib_per_s, mb) {
            (Some(span), _) => (span, MIB, "MiB/s"),
            (None, Some(span)) => (span, MB, "MB/s"),
            // It caps operations alone: one on bytes is none of its own.
            (None, None) => {
                let rate = None;
                return Some(Fit { bursts, iops, rate });
            }
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

    /// The same for a type that counts each I/O as so much at least: large ones reach its cap as
    /// well, and there is no lower one on bytes.
    fn fit_of_bytes(
        &self,
        document: &LimitsDocument,
        measured: [f64; 2],
        io_kib: f64,
    ) -> Option<Fit> {
        let least = measured[0] * (1.0 - DELIVERED_SHARE);
        let is_large = |bytes: u64| bytes as f64 >= io_kib * 1024.0;
        let mut cells = document.cells.iter();
        let is_reached = cells.any(|cell| is_large(cell.block_size_bytes) && cell.iops >= least);
        if !is_reached || limiter_cap(document, CapKind::BytesPerS).is_some() {
            return None;
        }
        let rates = measured.map(|operations| operations * io_kib / 1024.0);
        let within = |span: Option<Span>| span.and_then(|span| span.within(rates));
        let burst = within(self.burst_mib_per_s);
        let bursts = burst.is_some();
        let ended = document.burst.as_ref();
        if self.is_excluded_by(ended, bursts) {
            return None;
        }
        // A volume that sustains this bursts at that.
        let of_size = ended.and_then(|burst| self.burst_of_size(burst));
        if of_size.is_some_and(|rate| Span::One(rate).within(rates).is_none()) {
            return None;
        }
        let rate = burst.or_else(|| within(self.mib_per_s))?;
        Some(Fit {
            bursts,
            iops: None,
            rate: Some(format!("{} MiB/s", format_iops(rate))),
        })
    }

    /// MiB/s at which the volume that sustains what is left behind a burst does burst.
    fn burst_of_size(&self, burst: &BurstFound) -> Option<f64> {
        let tib = self.in_its_unit(burst) / self.mib_per_s_per_tib?;
        Some((tib * self.burst_mib_per_s_per_tib?).min(self.burst_mib_per_s?.most()))
    }

    /// Whether a load did more than the cap, as this type counts large I/O.
    fn counts_more(&self, document: &LimitsDocument, measured: [f64; 2]) -> bool {
        let Some(io_kib) = self.io_kib_max else {
            return false;
        };
        let most = measured[1] * (1.0 + DELIVERED_SHARE);
        let parts = |bytes: u64| (bytes as f64 / (io_kib * 1024.0)).ceil();
        let mut cells = document.cells.iter();
        cells.any(|cell| cell.iops * parts(cell.block_size_bytes) > most)
    }

    /// A burst ended, and this type does not have it so.
    fn is_excluded_by(&self, ended: Option<&BurstFound>, bursts: bool) -> bool {
        ended.is_some_and(|burst| !bursts || !self.sustains(burst))
    }

    /// Whether its rate behind a burst may be the one that was measured.
    fn sustains(&self, burst: &BurstFound) -> bool {
        let span = match (burst.bucket_unit, self.io_kib_min) {
            (_, Some(_)) => self.mib_per_s,
            (BucketUnit::Operations, None) => self.iops,
            (BucketUnit::Bytes, None) => return self.burst_mb_per_s.is_some(),
        };
        let rate = self.in_its_unit(burst);
        span.is_some_and(|span| span.within([rate; 2]).is_some())
    }

    /// The rate behind a burst: MiB/s of a type that only caps bytes, else in the bucket's unit.
    fn in_its_unit(&self, burst: &BurstFound) -> f64 {
        match (self.io_kib_min, burst.bucket_unit) {
            (Some(io_kib), BucketUnit::Operations) => burst.sustained_per_s * io_kib / 1024.0,
            (Some(_), BucketUnit::Bytes) => burst.sustained_per_s / MIB,
            (None, _) => burst.sustained_per_s,
        }
    }

    fn name_for(&self, document: &LimitsDocument) -> Option<String> {
        let Fit { bursts, iops, rate } = self.fit(document)?;
        let is_spelled = SPELLED_WITH_A_VOWEL.contains(&self.name.as_str());
        let article = if is_spelled { "an" } else { "a" };
        let mut name = format!("{article} {}", self.name);
        if let Some((each, rate)) = self.mib_per_s_per_tib.zip(rate.as_ref()) {
            // What bursts on a small volume is sustained on a large one.
            return Some(match &document.burst {
                Some(burst) => format!(
                    "{name} of {:.1} TiB while it bursts, {rate}",
                    self.in_its_unit(burst) / each
                ),
                None => format!("{name} of {rate}"),
            });
        }
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
        // Where no type has the caps.
        assert!(table.may_burst("aws") && table.may_burst("azure"));
        assert!(!table.may_burst("gcp") && table.may_burst("unknown"));
    }

    #[test]
    fn a_type_that_moves_less_than_was_measured_is_not_named() {
        let table = VolumeTable::bundled();
        let mut document = caps(500.0, 1.0, Some(true));
        document.caps.truncate(1);
        document.cells.push(CellFound {
            block_size_bytes: 256 << 10,
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

    /// A read of 4K at a random place costs as much of an st1's bucket as one of 1M. A gp2 counts
    /// the large one four times.
    #[test]
    fn a_bucket_of_bytes_that_looks_like_one_of_operations_is_no_gp2() {
        let table = VolumeTable::bundled();
        let mut document = caps(250.0, 1.0, Some(true));
        document.caps.truncate(1);
        let cell = |block_size_bytes: u64| CellFound {
            block_size_bytes,
            kind: LoadKind::Reads,
            outstanding: 64,
            iops: 250.0,
            bytes_per_s: 250.0 * block_size_bytes as f64,
            runs: 6,
        };
        document.cells = vec![cell(4 << 10), cell(1 << 20)];
        assert_eq!(
            table.names("aws", &document),
            [
                "an st1 of 250 MiB/s (as of 2026-11)",
                "an sc1 of 250 MiB/s (as of 2026-11)",
            ]
        );
        assert!(table.has_burst("aws", &document));
        document.burst = Some(BurstFound {
            burst_per_s: 250.0,
            sustained_per_s: 40.0,
            bucket: 1e6,
            bucket_low: 1e6,
            bucket_high: 1e6,
            bucket_unit: BucketUnit::Operations,
            refill_per_s: None,
            refill_per_s_low: None,
            refill_per_s_high: None,
            lasts_s: 5_000.0,
            lasts_s_low: 4_900.0,
            lasts_s_high: 5_100.0,
        });
        assert_eq!(
            table.names("aws", &document)[0],
            "an st1 of 1.0 TiB while it bursts, 250 MiB/s (as of 2026-11)"
        );
        // One that sustains as much would burst at more.
        document.burst.as_mut().expect("a burst").sustained_per_s = 80.0;
        let names = table.names("aws", &document);
        assert!(names.iter().all(|name| !name.contains("st1")), "{names:?}");
        // Without large reads nothing tells them apart from a type that caps operations.
        document.cells.truncate(1);
        document.burst = None;
        assert_eq!(
            table.names("aws", &document),
            ["a gp2 of 250 IOPS (as of 2026-11)"]
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
            "No volume type of aws has these caps. The table has, as of 2026-11: gp3, gp2, st1, sc1."
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
    fn a_type_that_caps_operations_alone_is_named_beside_any_bandwidth() {
        let text = "as_of = \"x\"\n[[volume]]\ncloud = \"own\"\nname = \"bronze\"\niops = 500\nsource = \"\"";
        let table = VolumeTable::parse(text).expect("a table");
        let mut document = caps(500.0, 530.0 * MIB, Some(true));
        document.caps[1].limiter = None;
        assert_eq!(
            table.names("own", &document),
            ["a bronze of 500 IOPS (as of x)"]
        );
        document.caps.truncate(1);
        assert_eq!(
            table.names("own", &document),
            ["a bronze of 500 IOPS (as of x)"]
        );
        assert!(table.names("own", &caps(700.0, 1.0, Some(true))).is_empty());
    }

    #[test]
    fn a_table_with_mistakes_is_refused() {
        assert!(VolumeTable::parse("as_of = 1").is_err());
        let unknown = "as_of = \"x\"\n[[volume]]\ncloud = \"aws\"\nname = \"a\"\niops = 1\nsource = \"\"\nprice = 3";
        assert!(VolumeTable::parse(unknown).is_err_and(|error| error.contains("price")));
        for iops in ["0", "-1", "nan", "inf", "[5000, 100]", "[0, 100]"] {
            let text = format!(
                "as_of = \"x\"\n[[volume]]\ncloud = \"aws\"\nname = \"a1\"\niops = {iops}\nsource = \"\""
            );
            let error = VolumeTable::parse(&text).expect_err(iops);
            assert!(error.starts_with("a1: a rate is above 0"), "{error}");
        }
    }
}
