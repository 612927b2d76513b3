//! Finds the known word that an unknown one was probably meant to be.

use strsim::osa_distance;

/// The shortest of `known` with all words of `typed`, if there are several: `oja-nisula-2007` for
/// `oja-2007`. Otherwise the nearest with at most one typing error per four letters (a letter too
/// many, missing or wrong, or two swapped); otherwise the first with additional or missing words at
/// one end: `postgresql` for `postgresql-oltp`, `sqlserver-oltp` for `oltp`.
///
/// ```
/// use stripewise_units::nearest;
///
/// assert_eq!(nearest("etdc", ["consul", "etcd"]), Some("etcd"));
/// assert_eq!(nearest("version", ["verify", "witness"]), None);
/// ```
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase().replace('_', "-");
    let known: Vec<&str> = known.into_iter().collect();
    let near = known.iter().map(|word| (osa_distance(&typed, word), *word));
    let near = near.filter(|(errors, word)| *errors <= word.len().div_ceil(4));
    let has_more = |long: &str, short: &str| {
        let before = long.strip_suffix(short);
        let behind = long.strip_prefix(short);
        !short.is_empty()
            && (behind.is_some_and(|rest| rest.starts_with('-'))
                || before.is_some_and(|rest| rest.ends_with('-')))
    };
    let extended = || {
        let mut words = known.iter().copied();
        words.find(|word| has_more(&typed, word) || has_more(word, &typed))
    };
    let has_all_words = |word: &&str| {
        let mut words = typed.split('-');
        typed.contains('-') && words.all(|part| word.split('-').any(|own| own == part))
    };
    let fuller = known.iter().copied().filter(has_all_words);
    let fuller = fuller.min_by_key(|word| word.len());
    fuller
        .or_else(|| near.min().map(|(_, word)| word))
        .or_else(extended)
}

/// The field or value that an unknown one was probably meant to be, by what serde says of it; of
/// those that differ in a number alone, the one with the nearest.
///
/// ```
/// use stripewise_units::nearest_field;
///
/// let message = "unknown field `naem`, expected one of `about`, `name`";
/// assert_eq!(nearest_field(message), Some("name"));
/// let message = "unknown variant `p98`, expected one of `p90`, `p99`";
/// assert_eq!(nearest_field(message), Some("p99"));
/// assert_eq!(nearest_field("missing field `name`"), None);
/// ```
pub fn nearest_field(message: &str) -> Option<&str> {
    let of_field = message.split_once("unknown field `");
    let (_, quoted) = of_field.or_else(|| message.split_once("unknown variant `"))?;
    let mut words = quoted.split('`').step_by(2);
    let typed = words.next()?;
    let known: Vec<&str> = words.collect();
    if let Some((letters, number)) = with_number(typed) {
        let alike = known.iter().filter_map(|word| {
            let (its, other) = with_number(word)?;
            (its == letters).then_some((number.abs_diff(other), *word))
        });
        if let Some((_, word)) = alike.min() {
            return Some(word);
        }
    }
    nearest_key(typed, known)
}

/// As [`nearest`], of words with `_` between their parts.
pub fn nearest_key<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Of two spellings of a word boundary, `nearest` knows one.
    let known = known.into_iter();
    let known: Vec<(String, &str)> = known.map(|word| (word.replace('_', "-"), word)).collect();
    let near = nearest(typed, known.iter().map(|(dashed, _)| dashed.as_str()))?;
    let found = known.iter().find(|(dashed, _)| dashed.as_str() == near);
    found.map(|(_, word)| *word)
}

/// The hint for what serde says of an unknown field or value: the nearest one, or `otherwise`.
pub fn field_hint(message: &str, otherwise: &str) -> String {
    match nearest_field(message) {
        Some(field) => format!("did you mean `{field}`?"),
        None => otherwise.to_owned(),
    }
}

/// `p99` as `p` and 99.
fn with_number(word: &str) -> Option<(&str, u64)> {
    let at = word.find(|sign: char| sign.is_ascii_digit())?;
    Some((&word[..at], word[at..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_field_has_its_nearest_one() {
        let known = "expected one of `mib_per_s`, `iops`, `iops_per_gib`";
        for (typed, expected) in [
            ("mib_per_sec", Some("mib_per_s")),
            ("iop", Some("iops")),
            ("colour", None),
        ] {
            let message = format!("unknown field `{typed}`, {known}");
            assert_eq!(nearest_field(&message), expected, "{typed}");
        }
        let two = "unknown field `host`, expected `hosts` or `ranks`";
        assert_eq!(nearest_field(two), Some("hosts"));
        let known = "expected one of `p50`, `p90`, `p95`, `p99`, `p999`, `mean`, `iops`";
        for (typed, expected) in [
            ("p98", Some("p99")),
            ("p51", Some("p50")),
            ("p99.9", Some("p999")),
            ("meen", Some("mean")),
            ("bandwidth", None),
        ] {
            let message = format!("unknown variant `{typed}`, {known}");
            assert_eq!(nearest_field(&message), expected, "{typed}");
        }
    }

    #[test]
    fn a_name_with_all_typed_words_comes_before_one_with_a_few_other_letters() {
        let known = ["shea-2007", "oja-nisula-2007", "oja-nisula-2007-offset"];
        assert_eq!(nearest("oja-2007", known), Some("oja-nisula-2007"));
        assert_eq!(nearest("shae-2007", known), Some("shea-2007"));
    }

    #[test]
    fn typing_errors_find_their_word_and_other_words_do_not() {
        let known = [
            "block",
            "base-offset",
            "outstanding",
            "read",
            "read-percent",
        ];
        for (typed, expected) in [
            ("blok", Some("block")),
            ("Block", Some("block")),
            ("base_offset", Some("base-offset")),
            ("outstandings", Some("outstanding")),
            ("raed", Some("read")),
            ("rad", Some("read")),
            ("raed-percent", Some("read-percent")),
            ("readpercent", Some("read-percent")),
            ("compression", None),
            ("block-size", Some("block")),
            ("base", Some("base-offset")),
            ("offset", Some("base-offset")),
            ("off", None),
            ("-", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
    }
}
