//! Derives verdict, checks and costs from a volume's location.

use super::{
    Boundary, Check, CheckOutcome, Cost, Judgement, LayoutVerdict, Nature, Place, Subject, Usage,
    phase,
};
use stripewise_disk_formats::crossing::{Crossing, PARITY_PAGE_BYTES, power_of_two_in};
use stripewise_units::{ByteSize, format_bytes};

/// Largest physical sector that SQL Server accepts.
const SECTOR_BYTES_MAX: u32 = 4096;

/// Judges a volume for operations of these sizes. It is a finding if the volume starts inside a
/// physical sector, if the size up to which nothing crosses is below the largest of these, or if
/// the layers below are unknown and may be crossed; never if its location does not matter.
pub fn judge(subject: &Subject, block_sizes_bytes: &[u64]) -> Judgement {
    let mut checks = Vec::new();
    let split = sectors(subject, &mut checks);
    let worst = worst(&subject.boundaries);
    let suspicion = suspicion(subject, block_sizes_bytes);
    let verdict = verdict(subject, split, worst, suspicion.as_ref());
    let mut boundaries = subject.boundaries.iter();
    let crosses = boundaries.any(|boundary| boundary.is_misaligned_for(block_sizes_bytes));
    let finding = match verdict {
        _ if split => matters(subject.usage),
        LayoutVerdict::Suspect(_) => matters(subject.usage),
        _ => crosses && crossing_matters(subject.usage),
    };
    for boundary in &subject.boundaries {
        checks.push(stripe_check(boundary, block_sizes_bytes, subject.usage));
        checks.extend(parity_checks(boundary));
        for check in unit_check(boundary, subject) {
            // Several boundaries may have the same unit.
            if !checks.contains(&check) {
                checks.push(check);
            }
        }
    }
    if let LayoutVerdict::UnknownStripeUnit(suits) = verdict {
        checks.push(unknown_check(subject, suits));
    }
    if let (LayoutVerdict::Suspect(_), Some(suspicion)) = (verdict, &suspicion) {
        checks.push(suspicion.check(subject.usage));
    }
    checks.extend(place_checks(subject));
    if let Some(suspect) = subject.suspect {
        let (name, text) = suspect.words();
        checks.push(Check {
            name,
            result: CheckOutcome::Warning,
            text: text.to_owned(),
        });
    }
    if subject.usage == Usage::Exempt {
        checks.push(Check {
            name: "exempt",
            result: CheckOutcome::Information,
            text: "its place does not matter: nothing is read from it in normal work".to_owned(),
        });
    }
    Judgement {
        verdict,
        finding,
        checks,
        costs: costs(subject, block_sizes_bytes),
    }
}

/// Whether the location of a volume matters. An empty partition counts: it will be used, and can
/// still be moved now.
fn matters(usage: Usage) -> bool {
    usage != Usage::Exempt
}

/// The same for crossing stripe units: swap and members of inactive arrays do not use the requested
/// operation sizes.
fn crossing_matters(usage: Usage) -> bool {
    matters(usage) && usage != Usage::Other
}

fn verdict(
    subject: &Subject,
    split: bool,
    worst: Option<&Boundary>,
    suspicion: Option<&Suspicion>,
) -> LayoutVerdict {
    if split {
        return LayoutVerdict::SectorSplit;
    }
    if let Some(above) = worst.and_then(Boundary::splits_above) {
        return LayoutVerdict::SplitsAbove(above);
    }
    if let Some(suspicion) = suspicion {
        return LayoutVerdict::Suspect(suspicion.suits_bytes);
    }
    let may_hide = subject
        .places
        .iter()
        .any(|place| place.nature == Nature::MayBeArray);
    match subject.boundaries.is_empty() {
        false => LayoutVerdict::Aligned,
        true if may_hide
            || subject.suspect.is_some()
            || subject.incomplete
            || subject.places.is_empty() =>
        {
            let suits = subject
                .places
                .iter()
                .filter_map(|place| power_of_two_in(place.offset_bytes))
                .min();
            LayoutVerdict::UnknownStripeUnit(suits)
        }
        true => LayoutVerdict::NotStriped,
    }
}

/// Flash and sectors behind USB bridges are written in units of this size, whatever is reported.
const PAGE_BYTES: u64 = 4096;

/// An offset from which operations may cross unknown units below.
struct Suspicion<'a> {
    place: &'a Place,
    /// The largest power of two that divides the offset: any unit up to it is aligned.
    suits_bytes: u64,
}

/// The worst place that may hide stripe units or pages and is not a multiple of a power of two up
/// to the largest requested size. A multiple is harmless for operations of these sizes, whatever
/// the unit below, as long as that is a power of two.
fn suspicion<'a>(subject: &'a Subject, block_sizes_bytes: &[u64]) -> Option<Suspicion<'a>> {
    let largest = block_sizes_bytes.iter().copied().max().unwrap_or(0);
    // What is striped above a disk arrives there in pieces of at most these units.
    let arrives = |place: &Place| {
        let above = subject
            .boundaries
            .iter()
            .filter(|boundary| boundary.layer != place.disk);
        above
            .filter_map(|boundary| power_of_two_in(boundary.unit_bytes))
            .fold(largest, u64::min)
    };
    let is_known = |place: &Place| {
        let mut boundaries = subject.boundaries.iter();
        boundaries.any(|boundary| boundary.layer == place.disk)
    };
    let may_harm = |place: &&Place| match place.nature {
        Nature::MayBeArray => !is_known(place),
        Nature::Single => place.may_hide_pages,
    };
    subject
        .places
        .iter()
        .filter(may_harm)
        .filter_map(|place| {
            let limit = match place.nature {
                Nature::MayBeArray => arrives(place),
                Nature::Single => PAGE_BYTES,
            };
            let from = place
                .offset_bytes
                .checked_sub(place.alignment_offset_bytes)
                .unwrap_or(place.offset_bytes);
            let suits_bytes = power_of_two_in(from).filter(|bytes| *bytes < limit)?;
            Some(Suspicion { place, suits_bytes })
        })
        .min_by_key(|suspicion| suspicion.suits_bytes)
}

impl Suspicion<'_> {
    /// What is wrong with the offset, and what would resolve it.
    fn check(&self, usage: Usage) -> Check {
        let disk = &self.place.disk;
        let offset = self.place.offset_bytes;
        let suits = size(self.suits_bytes);
        let why = match self.place.nature {
            Nature::MayBeArray => format!(
                "an array (RAID, SAN, virtual disk) may lie below, whose stripe unit is not known; \
                 with one above {suits}, aligned operations above {suits} touch two disks. To \
                 settle it: give --stripe-unit (the controller's manual calls it strip or chunk), \
                 or --raid single if it is one disk; or measure what the offset costs with \
                 `stripewise align`"
            ),
            Nature::Single => format!(
                "flash, and disks behind a USB bridge, write in units of 4K or more although this \
                 one reports sectors of {}; then aligned operations above {suits} touch two units. \
                 To settle it: measure what the offset costs with `stripewise align`, or start at \
                 a multiple of 1M",
                self.place
                    .physical_sector_bytes
                    .or(self.place.logical_sector_bytes)
                    .unwrap_or(512)
            ),
        };
        Check {
            name: "suspect-offset",
            result: if matters(usage) {
                CheckOutcome::Finding
            } else {
                CheckOutcome::Information
            },
            text: format!(
                "{disk}: {offset} is a multiple of {suits} and of no larger power of two: {why}"
            ),
        }
    }
}

/// The boundary crossed by the smallest operations.
fn worst(boundaries: &[Boundary]) -> Option<&Boundary> {
    boundaries
        .iter()
        .min_by_key(|boundary| boundary.splits_above().unwrap_or(u64::MAX))
}

/// Compares first bytes with physical sectors; returns whether any is split. Identical disks share
/// a check.
fn sectors(subject: &Subject, checks: &mut Vec<Check>) -> bool {
    let mut split = false;
    for (names, place) in alike(&subject.places) {
        let Some(sector) = place.physical_sector_bytes.filter(|bytes| *bytes > 0) else {
            continue;
        };
        let period = u64::from(sector);
        let rest = phase(place.offset_bytes, place.alignment_offset_bytes, period);
        let base = match place.alignment_offset_bytes {
            0 => place.offset_bytes.to_string(),
            shift => format!("({} - {shift})", place.offset_bytes),
        };
        let sum = format!("{names}: {base} mod {sector} = {rest}");
        split |= rest != 0;
        checks.push(Check {
            name: "physical-sector",
            result: match rest {
                0 => CheckOutcome::Good,
                _ if matters(subject.usage) => CheckOutcome::Finding,
                _ => CheckOutcome::Information,
            },
            text: if rest == 0 {
                format!("{sum}: on a boundary of physical sectors")
            } else {
                format!("{sum}: inside a physical sector, so that every write reads first")
            },
        });
        if sector > SECTOR_BYTES_MAX {
            checks.push(Check {
                name: "sector-size",
                result: CheckOutcome::Warning,
                text: format!(
                    "{names}: physical sectors of {sector} bytes; SQL Server does not start on \
                     more than {SECTOR_BYTES_MAX}"
                ),
            });
        }
    }
    split
}

/// Groups places that differ only in their disks, with the disks' names.
fn alike(places: &[Place]) -> Vec<(String, &Place)> {
    let mut groups: Vec<(String, &Place)> = Vec::new();
    for place in places {
        let same = |other: &Place| {
            (
                other.offset_bytes,
                other.physical_sector_bytes,
                other.alignment_offset_bytes,
            ) == (
                place.offset_bytes,
                place.physical_sector_bytes,
                place.alignment_offset_bytes,
            )
        };
        match groups.iter_mut().find(|(_, other)| same(other)) {
            Some((names, _)) => {
                names.push_str(", ");
                names.push_str(&place.disk);
            }
            None => groups.push((place.disk.clone(), place)),
        }
    }
    groups
}

fn size(bytes: u64) -> String {
    ByteSize(bytes).to_string()
}

fn stripe_check(boundary: &Boundary, block_sizes_bytes: &[u64], usage: Usage) -> Check {
    let unit = boundary.unit_bytes;
    let period = boundary.period_bytes();
    let rest = boundary.phase_bytes();
    // The reference point: where the volume begins, or where measured units do.
    let less: String = [boundary.volume_bytes, boundary.first_unit_bytes]
        .into_iter()
        .filter(|bytes| *bytes > 0)
        .map(|bytes| format!(" - {bytes}"))
        .collect();
    let base = match less.is_empty() {
        true => boundary.offset_bytes.to_string(),
        false => format!("({}{less})", boundary.offset_bytes),
    };
    let pieces = match boundary.piece_bytes {
        Some(piece) => format!(", in pieces of {} from above", size(piece)),
        None => String::new(),
    };
    let sum = format!(
        "{}: {base} mod {period} = {rest} (stripe unit {}, {}{pieces})",
        boundary.layer,
        size(unit),
        boundary.source.words()
    );
    match boundary.splits_above() {
        None => Check {
            name: "stripe-unit",
            result: CheckOutcome::Good,
            text: match period == unit {
                true => format!("{sum}: on a boundary of stripe units"),
                false if boundary.pieces_fit() => format!("{sum}: no piece crosses"),
                false => format!(
                    "{sum}: aligned operations up to {} never cross, wherever it \
                     starts some larger ones do",
                    size(period)
                ),
            },
        },
        Some(above) => {
            let is_larger = boundary.is_misaligned_for(block_sizes_bytes);
            let costs_more = boundary.costs_more(block_sizes_bytes);
            Check {
                name: "stripe-unit",
                result: if is_larger && crossing_matters(usage) {
                    CheckOutcome::Finding
                } else {
                    CheckOutcome::Information
                },
                text: format!(
                    "{sum}: aligned operations up to {} never cross, larger ones do{}",
                    size(above),
                    if is_larger && !costs_more {
                        " (of the sizes asked for no more often than from a boundary: the unit or \
                         the size is not a power of two)"
                    } else {
                        ""
                    }
                ),
            }
        }
    }
}

fn parity_checks(boundary: &Boundary) -> Vec<Check> {
    let mut checks = Vec::new();
    if !boundary.parity {
        return checks;
    }
    // What is striped above arrives piece by piece, never as a full stripe.
    let full = boundary.full_stripe_bytes.filter(|bytes| *bytes > 0);
    if let Some(full) = full.filter(|_| boundary.piece_bytes.is_none()) {
        let rest = phase(boundary.offset_bytes, boundary.volume_bytes, full);
        checks.push(Check {
            name: "full-stripe",
            result: CheckOutcome::Information,
            text: format!(
                "{}: {} mod {full} = {rest} (full stripe {}): {}",
                boundary.layer,
                boundary.offset_bytes,
                size(full),
                if rest == 0 {
                    "on a boundary of full stripes"
                } else {
                    "full-stripe writes at multiples of it still read first"
                }
            ),
        });
    }
    let rest = phase(
        boundary.offset_bytes,
        boundary.volume_bytes,
        PARITY_PAGE_BYTES,
    );
    if rest != 0 {
        checks.push(Check {
            name: "parity-page",
            result: CheckOutcome::Warning,
            text: format!(
                "{}: {} mod {PARITY_PAGE_BYTES} = {rest}: writes leave partial pages of parity, \
                 which are read first; on Linux md that costs a factor of three",
                boundary.layer, boundary.offset_bytes
            ),
        });
    }
    checks
}

/// Compares the stripe unit with the allocation unit and with the file system's settings.
fn unit_check(boundary: &Boundary, subject: &Subject) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(unit) = subject.allocation_unit_bytes.filter(|bytes| *bytes > 0) {
        let rest = boundary.unit_bytes % unit;
        checks.push(Check {
            name: "allocation-unit",
            result: CheckOutcome::Information,
            text: format!(
                "stripe unit / allocation unit: {} / {} {}",
                size(boundary.unit_bytes),
                size(unit),
                if rest == 0 {
                    format!("= {}", boundary.unit_bytes / unit)
                } else {
                    "is not a whole number: some allocation units cross".to_owned()
                }
            ),
        });
    }
    // A file system is configured for the layer directly below it.
    if let Some(reported) = subject.told_unit_bytes
        && reported != boundary.unit_bytes
        && subject.boundaries.first() == Some(boundary)
    {
        checks.push(Check {
            name: "told-stripe-unit",
            result: CheckOutcome::Information,
            text: format!(
                "the file system was made for a stripe unit of {}, the array has {}",
                size(reported),
                size(boundary.unit_bytes)
            ),
        });
    }
    checks
}

fn unknown_check(subject: &Subject, suits: Option<u64>) -> Check {
    let offset = subject.places.first().map_or(0, |place| place.offset_bytes);
    if subject.incomplete && !subject.places.is_empty() {
        return Check {
            name: "stripe-unit",
            result: CheckOutcome::Information,
            text: "the layers below could not be followed to the end, so their stripe units are not known"
                .to_owned(),
        };
    }
    Check {
        name: "stripe-unit",
        result: CheckOutcome::Information,
        text: match suits {
            None if subject.places.is_empty() => {
                "where it starts on a disk is not known, so neither is its alignment".to_owned()
            }
            None => "starts at 0: any stripe unit suits, aligned operations never cross".to_owned(),
            Some(bytes) if bytes < 4096 => format!(
                "{offset} is a multiple of {bytes} and of no larger power of two: no usual \
                 stripe unit suits, if the disk is an array"
            ),
            Some(bytes) => format!(
                "{offset} is a multiple of {}: stripe units up to that suit, if the disk is an \
                 array; give it with --stripe-unit",
                size(bytes)
            ),
        },
    }
}

fn place_checks(subject: &Subject) -> Vec<Check> {
    const MEBIBYTE: u64 = 1 << 20;
    let mut checks = Vec::new();
    // In an array the offset in it counts, not the one on each member.
    let starts: Vec<(String, u64)> = match subject.boundaries.first() {
        Some(boundary) => vec![(boundary.layer.clone(), boundary.offset_bytes)],
        None => alike(&subject.places)
            .into_iter()
            .map(|(names, place)| (names, place.offset_bytes))
            .collect(),
    };
    for (name, offset) in starts {
        let rest = offset % MEBIBYTE;
        checks.push(Check {
            name: "mebibyte",
            result: CheckOutcome::Information,
            text: format!(
                "{name}: {offset} mod {MEBIBYTE} = {rest}{}",
                if rest == 0 {
                    ""
                } else {
                    " (partitioning tools start at a multiple of 1 MiB)"
                }
            ),
        });
    }
    for place in &subject.places {
        if let Some(why) = &place.distrusted {
            checks.push(Check {
                name: "hint-distrusted",
                result: CheckOutcome::Information,
                text: format!("{}: not believed: {why}", place.disk),
            });
        }
        if let Some(why) = &place.ends {
            checks.push(Check {
                name: "not-followed",
                result: CheckOutcome::Information,
                text: format!("{}: {why}", place.disk),
            });
        }
    }
    checks
}

/// For each size, the boundary with the most avoidable crossings.
fn costs(subject: &Subject, block_sizes_bytes: &[u64]) -> Vec<Cost> {
    block_sizes_bytes
        .iter()
        .filter_map(|bytes| {
            subject
                .boundaries
                .iter()
                // Larger ones are covered by what splits them above.
                .filter(|boundary| boundary.arriving_bytes(*bytes) == *bytes)
                .filter(|boundary| boundary.pieces_fit() || *bytes <= boundary.period_bytes())
                .filter_map(|boundary| {
                    Some(Cost {
                        layer: boundary.layer.clone(),
                        unit_bytes: boundary.unit_bytes,
                        here: Crossing::new(*bytes, boundary.unit_bytes, boundary.phase_bytes())?,
                        aligned: Crossing::new(*bytes, boundary.unit_bytes, 0)?,
                    })
                })
                .max_by(|a, b| f64::total_cmp(&a.here.units_mean(), &b.here.units_mean()))
        })
        .collect()
}

impl Cost {
    /// `8K: 1 in 8 operations touches two disks (none if aligned)`.
    pub fn words(&self) -> String {
        let (here, aligned) = (&self.here, &self.aligned);
        let bytes = size(here.block_size_bytes);
        if here.block_size_bytes > self.unit_bytes {
            return format!(
                "{bytes}: an operation touches {} stripe units ({} if aligned)",
                mean(here),
                mean(aligned)
            );
        }
        match (here.crossing, here.words()) {
            (0, _) => format!("{bytes}: no operation touches two disks"),
            (_, share) => {
                let noun = if share.starts_with("every") {
                    "every operation touches two disks".to_owned()
                } else if share.starts_with("1 in") {
                    format!("{share} operations touches two disks")
                } else {
                    format!("{share} operations touch two disks")
                };
                format!("{bytes}: {noun} ({} if aligned)", aligned.words())
            }
        }
    }
}

fn mean(crossing: &Crossing) -> String {
    let mean = crossing.units_mean();
    if mean.fract() == 0.0 {
        format!("{mean:.0}")
    } else {
        format!("{mean:.2}")
    }
}

/// For callers that print an offset: `31.5 KiB (32256 bytes)`.
pub(crate) fn both(bytes: u64) -> String {
    format!("{} ({bytes} bytes)", format_bytes(bytes))
}

impl Place {
    /// Its location as text.
    pub fn words(&self) -> String {
        format!("{} on {}", both(self.offset_bytes), self.disk)
    }
}
