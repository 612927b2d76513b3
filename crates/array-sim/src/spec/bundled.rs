//! The built-in arrays: those of the published articles, and generic ones.

use super::ArraySpec;
use super::error::SpecError;

/// A built-in array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Its name, as used after `sim:`.
    pub name: &'static str,
    /// Its file, with sources in comments.
    pub text: &'static str,
}

macro_rules! bundle {
    ($($name:literal),* $(,)?) => {
        &[$(Bundled {
            name: $name,
            text: include_str!(concat!("../../arrays/", $name, ".toml")),
        }),*]
    };
}

/// All bundled arrays, published ones first, cloud volumes last.
pub fn bundled() -> &'static [Bundled] {
    bundle![
        "oja-nisula-2007",
        "eva8100-2009",
        "mssqltips-2127",
        "van-dyke-2009",
        "shea-2007",
        "raid10-10k",
        "raid5-7k2",
        "disk-15k",
        "disk-7k2",
        "nvme",
        "nvme-consumer",
        "sata-ssd",
        "ebs-gp3",
        "ebs-gp2-100",
        "ebs-gp2-500",
        "ebs-st1",
        "azure-p10",
    ]
}

impl Bundled {
    /// The specification.
    ///
    /// # Panics
    /// Never: a test parses every bundled file.
    pub fn spec(&self) -> ArraySpec {
        ArraySpec::parse(self.text, self.name).unwrap_or_else(|error| panic!("{error}"))
    }
}

impl ArraySpec {
    /// The bundled array of this name.
    ///
    /// # Errors
    /// If there is none; the hint lists the names.
    pub fn bundled(name: &str) -> Result<ArraySpec, SpecError> {
        ArraySpec::from_target(name, |_| Err(std::io::ErrorKind::NotFound.into()))
    }
}
