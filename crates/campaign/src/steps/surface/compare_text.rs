//! The comparison of two profiles, for a terminal.

use super::compare::{ProfileComparison, SideFound, SpotCompared};
use super::mib;
use stripewise_report::one_line;
use stripewise_surface::profile::{ChangePercent, SpotChange};
use stripewise_units::{counted, format_bytes, format_duration};

/// A line for each profile, each change and each spot.
pub fn text(compared: &ProfileComparison) -> String {
    let mut text = head(compared);
    for place in &compared.changed_places {
        text.push_str(&format!(
            "  at {}: {} became {}\n",
            format_bytes(place.offset_bytes),
            mib(place.before_bytes_per_s),
            mib(place.after_bytes_per_s)
        ));
    }
    for spot in &compared.spots {
        text.push_str(&format!("  {}\n", spot_change(spot)));
    }
    text
}

/// The profiles and both changes in a line, with how many places and spots changed.
pub fn line(compared: &ProfileComparison) -> String {
    let mut parts: Vec<String> = head(compared).lines().map(one_line).collect();
    let spots = compared.spots.iter();
    let spots = spots.filter(|spot| spot.change != SpotChange::Same).count();
    for (count, one, many) in [
        (
            compared.changed_places.len(),
            "place changed",
            "places changed",
        ),
        (spots, "spot changed", "spots changed"),
    ] {
        if count > 0 {
            parts.push(counted(count, one, many));
        }
    }
    parts.join("; ")
}

/// A line for each profile and each change.
fn head(compared: &ProfileComparison) -> String {
    let side = |side: &SideFound| {
        format!(
            "{} {} of {} ({})",
            side.id,
            side.model.as_ref().unwrap_or(&side.target),
            side.measured_at.get(..10).unwrap_or_default(),
            format_bytes(side.size_bytes)
        )
    };
    let mut text = format!("A  {}\nB  {}\n", side(&compared.a), side(&compared.b));
    let change = |change: &Option<ChangePercent>| match change {
        None => "too little in common".to_owned(),
        Some(change) => {
            let [low, high] = change.interval;
            let found = match change.is_found() {
                true => "",
                false => ": no difference is shown",
            };
            format!("{:+.1} % ({low:+.1} to {high:+.1}){found}", change.percent)
        }
    };
    text.push_str(&format!(
        "  transfer rate  {} over {} places\n  access time    {}\n",
        change(&compared.rate),
        compared.places,
        change(&compared.access)
    ));
    text
}

fn spot_change(spot: &SpotCompared) -> String {
    let what = match spot.change {
        SpotChange::New => "is new",
        SpotChange::Gone => "is gone",
        SpotChange::NowUnreadable => "cannot be read any more",
        SpotChange::ReadableAgain => "can be read again",
        SpotChange::Slower => "became slower",
        SpotChange::Faster => "became faster",
        SpotChange::Same => "is as it was",
    };
    let took = |ns: Option<u64>| match ns {
        None => "no spot".to_owned(),
        Some(0) => "unreadable".to_owned(),
        Some(ns) => format_duration(ns),
    };
    format!(
        "the spot of {} at byte {} {what} ({}, then {})",
        format_bytes(spot.length_bytes),
        spot.offset_bytes,
        took(spot.before_ns),
        took(spot.after_ns)
    )
}
