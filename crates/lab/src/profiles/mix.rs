//! A user-defined mix: `random-read=70,log=10,sequential-read:1M=20`.

use super::{Profile, ProfileRow, workload};
use stripewise_units::{InputError, nearest};
use stripewise_workload::WorkloadOptions;

/// The words and their workloads.
const WORDS: [(&str, &str); 8] = [
    ("random-read", "read block=8K threads=C outstanding=8"),
    ("random-write", "write block=8K threads=1 outstanding=32"),
    (
        "sequential-read",
        "read sequential block=64K threads=2 outstanding=4",
    ),
    (
        "sequential-write",
        "write sequential block=64K threads=2 outstanding=4",
    ),
    (
        "log",
        "write sequential block=4K threads=1 outstanding=4 cache=direct-sync",
    ),
    (
        "checkpoint",
        "write block=16K:20,32K:20,64K:20,128K:20,256K:20 threads=1 outstanding=32 cache=direct-sync",
    ),
    (
        "backup-read",
        "read sequential block=1M threads=1 outstanding=6",
    ),
    (
        "backup-write",
        "write sequential block=1M threads=1 outstanding=6",
    ),
];

/// Parses such a mix: words with their shares of the operations, each with an optional
/// block size after a colon. The shares are the user's, so they are not
/// assumed; they need not add up to 100.
///
/// # Errors
/// If a word is unknown or appears twice, or a share is not a number above 0.
pub fn mix(text: &str, cores: u32) -> Result<Profile, InputError> {
    let mut rows: Vec<ProfileRow> = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let row = row(part, cores)?;
        if rows.iter().any(|other| other.name == row.name) {
            return Err(InputError::new(
                format!("the mix names {} twice", row.name),
                "give each part once, with its whole share",
            ));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(InputError::new(
            "the mix is empty",
            "give parts with their shares: random-read=70,log=10,sequential-read=20",
        ));
    }
    Ok(Profile {
        name: text.to_owned(),
        title: "a mix of your own".to_owned(),
        rows,
        sources: vec!["shares: as given".to_owned()],
        notes: Vec::new(),
    })
}

fn row(part: &str, cores: u32) -> Result<ProfileRow, InputError> {
    let example = "random-read=70,log=10,sequential-read:1M=20";
    let (name, share) = part.split_once('=').ok_or_else(|| {
        InputError::new(format!("`{part}` has no share"), format!("write {example}"))
    })?;
    let share = share.trim().trim_end_matches('%').parse().ok();
    let share: f64 = share
        .filter(|share: &f64| share.is_finite() && *share > 0.0)
        .ok_or_else(|| {
            InputError::new(
                format!("`{part}` has no share above 0"),
                format!("write {example}"),
            )
        })?;
    let (word, block) = match name.split_once(':') {
        Some((word, block)) => (word.trim(), Some(block.trim())),
        None => (name.trim(), None),
    };
    let Some((_, options)) = WORDS.iter().find(|(known, _)| *known == word) else {
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        let hint = match nearest(word, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? The words are {}", words.join(", ")),
            None => format!("the words are {}", words.join(", ")),
        };
        return Err(InputError::new(
            format!("`{word}` is not part of a mix"),
            hint,
        ));
    };
    let of_part = |error: &stripewise_workload::WorkloadError| {
        InputError::new(format!("`{part}`: {error}"), error.hint())
    };
    let mut workload = workload(options, cores).map_err(|error| of_part(&error))?;
    if let Some(block) = block {
        let mut given = WorkloadOptions::default();
        given
            .set("block", block)
            .map_err(|error| InputError::new(format!("`{part}`: {error}"), error.hint()))?;
        workload = given.build(&workload).map_err(|error| of_part(&error))?;
    }
    Ok(ProfileRow {
        name: name.trim().to_owned(),
        workload,
        share_percent: share,
        assumed: false,
        limit_ns_p99: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_shares_and_sizes_are_read_and_slips_refused() {
        let profile = mix("random-read=70, log=10,sequential-read:1M=20%", 4).unwrap();
        assert_eq!(profile.rows.len(), 3);
        assert_eq!(profile.rows[2].workload.block_size_bytes, 1 << 20);
        assert!(profile.rows.iter().all(|row| !row.assumed));
        for (text, words) in [
            ("", "empty"),
            ("random-read", "no share"),
            ("random-read=0", "above 0"),
            ("random-raed=10", "not part"),
            ("log=1,log=2", "twice"),
            ("log:3=1", "log:3=1"),
        ] {
            let error = mix(text, 4).unwrap_err();
            assert!(error.to_string().contains(words), "{text}: {error}");
            assert!(!error.hint().is_empty());
        }
        assert!(
            mix("random-raed=1", 4)
                .unwrap_err()
                .hint()
                .contains("random-read")
        );
    }
}
