//! The targets of each host: names containing `{host}` and `{rank}`, and a map
//! from hosts to targets, since device names differ between hosts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_units::{InputError, field_hint};
use stripewise_workload::Request;

/// Targets by host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostTargets {
    /// `alpha = ["/dev/sdb"]`: what replaces `{target}` there.
    #[serde(default)]
    pub hosts: BTreeMap<String, Targets>,
}

/// One target or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Targets {
    /// One.
    One(String),
    /// Several.
    Several(Vec<String>),
}

impl HostTargets {
    /// Parses a map: `[hosts]` with a line for each host.
    ///
    /// # Errors
    /// If the text is not a valid map.
    pub fn from_toml(text: &str) -> Result<HostTargets, InputError> {
        let hint = "write [hosts] and a line for each host: alpha = \"/dev/sdb\"";
        let places: HostTargets = toml::from_str(text).map_err(|error| {
            let problem = format!("the map is not readable: {error}");
            InputError::new(problem, field_hint(error.message(), hint))
        })?;
        match places.hosts.is_empty() {
            false => Ok(places),
            true => Err(InputError::new("the map names no host", hint)),
        }
    }

    fn targets(&self, host: &str) -> Result<Vec<String>, InputError> {
        match self.hosts.get(host) {
            Some(Targets::One(one)) => Ok(vec![one.clone()]),
            Some(Targets::Several(several)) if !several.is_empty() => Ok(several.clone()),
            _ => Err(InputError::new(
                format!("the map has no entry for {host}, and {{target}} needs one"),
                "give the map a line for each host, and name the file with --map FILE",
            )),
        }
    }

    /// Targets by this rank's names: `{target}` is replaced by the map's entry, which may be
    /// several targets.
    ///
    /// # Errors
    /// If the map lacks the host.
    pub fn named_targets(
        &self,
        texts: &[String],
        host: &str,
        rank: u32,
    ) -> Result<Vec<String>, InputError> {
        let mut targets = Vec::new();
        for text in texts {
            let each = match text.contains("{target}") {
                true => {
                    let mut all = self.targets(host)?;
                    all.iter_mut()
                        .for_each(|target| *target = text.replace("{target}", target));
                    all
                }
                false => vec![text.clone()],
            };
            targets.extend(each.into_iter().map(|text| named(&text, host, rank)));
        }
        Ok(targets)
    }

    /// The request for this rank: its own targets, and seeds of its own, so that
    /// hosts that share a device do not read the same blocks one after the other.
    ///
    /// # Errors
    /// If the map lacks the host.
    pub fn resolve(&self, request: Request, host: &str, rank: u32) -> Result<Request, InputError> {
        let mut request = request;
        for job in &mut request.jobs {
            job.targets = self.named_targets(&job.targets, host, rank)?;
            job.workload.seed =
                stripewise_workload::derived_seed(job.workload.seed, u64::from(rank));
        }
        Ok(request)
    }
}

/// A name with `{host}` and `{rank}` replaced.
pub fn named(text: &str, host: &str, rank: u32) -> String {
    text.replace("{host}", host)
        .replace("{rank}", &rank.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_workload::{RequestJob, Workload};

    fn request(targets: &[&str]) -> Request {
        Request {
            jobs: vec![RequestJob {
                name: "job".to_owned(),
                targets: targets.iter().map(|text| (*text).to_owned()).collect(),
                workload: Workload::default(),
            }],
            ..Request::default()
        }
    }

    #[test]
    fn names_are_those_of_the_host_and_seeds_those_of_the_rank() {
        let places = HostTargets::from_toml(
            "[hosts]\nalpha = \"/dev/sdb\"\nbeta = [\"/dev/sdc\", \"/dev/sdd\"]\n",
        )
        .unwrap();
        let targets = |targets: &[&str], host: &str, rank: u32| {
            places.resolve(request(targets), host, rank).unwrap().jobs[0]
                .targets
                .clone()
        };
        assert_eq!(targets(&["{target}"], "alpha", 0), ["/dev/sdb"]);
        assert_eq!(targets(&["{target}"], "beta", 1), ["/dev/sdc", "/dev/sdd"]);
        assert_eq!(
            targets(&["/data/{host}-{rank}"], "beta", 3),
            ["/data/beta-3"]
        );
        assert_eq!(targets(&["sim:{target}"], "alpha", 0), ["sim:/dev/sdb"]);
        let seed = |rank| {
            places.resolve(request(&["x"]), "gamma", rank).unwrap().jobs[0]
                .workload
                .seed
        };
        assert_eq!(seed(0), Workload::default().seed);
        assert_ne!(seed(1), seed(2));
    }

    #[test]
    fn a_map_that_lacks_a_host_is_refused() {
        let places = HostTargets::from_toml("[hosts]\nalpha = \"/dev/sdb\"\n").unwrap();
        let error = places
            .resolve(request(&["{target}"]), "beta", 1)
            .unwrap_err();
        assert!(error.to_string().contains("has no entry for beta"));
        for text in ["", "[hosts]\n", "hosts = 5", "[host]\na = \"b\"\n"] {
            assert!(HostTargets::from_toml(text).is_err(), "{text}");
        }
    }
}
