//! Names of drives and volumes as devices, past any file system:
//! `\\.\PhysicalDrive2`, `\\.\E:`, `\\?\Volume{...}` (without a `\` at the end,
//! which would be the root directory).

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeviceName {
    /// The whole drive of this number.
    Drive(u32),
    /// A volume, by letter (`E:`) or by `Volume{...}`.
    Volume(String),
}

impl DeviceName {
    /// The name for `--destroy`.
    pub fn short(&self) -> String {
        match self {
            DeviceName::Drive(number) => format!("PhysicalDrive{number}"),
            DeviceName::Volume(name) => name.clone(),
        }
    }

    /// The path by which the system opens it.
    pub fn path(&self) -> String {
        match self {
            DeviceName::Volume(name) if !name.ends_with(':') => format!(r"\\?\{name}"),
            _ => format!(r"\\.\{}", self.short()),
        }
    }
}

/// A device's name, if this is one.
pub(super) fn parse(text: &str) -> Option<DeviceName> {
    let text = text.replace('/', "\\");
    let name = text
        .strip_prefix(r"\\.\")
        .or_else(|| text.strip_prefix(r"\\?\"))?;
    let head = name.get(..13).unwrap_or_default();
    if head.eq_ignore_ascii_case("PhysicalDrive") {
        let digits = &name[13..];
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        return plain
            .then(|| digits.parse().ok())
            .flatten()
            .map(DeviceName::Drive);
    }
    let letter = name.strip_suffix(':').filter(|letter| letter.len() == 1);
    if letter.is_some_and(|letter| letter.as_bytes()[0].is_ascii_alphabetic()) {
        return Some(DeviceName::Volume(name.to_ascii_uppercase()));
    }
    let is_volume = name
        .get(..7)
        .is_some_and(|head| head.eq_ignore_ascii_case("Volume{"));
    (is_volume && name.ends_with('}') && !name.contains('\\'))
        .then(|| DeviceName::Volume(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_and_volumes_are_told_from_directories() {
        let volume = r"Volume{0f5dba7c-0000-0000-0000-100000000000}";
        let cases = [
            (r"\\.\PhysicalDrive0", Some("PhysicalDrive0")),
            (r"\\.\physicaldrive12", Some("PhysicalDrive12")),
            (r"//./PhysicalDrive3", Some("PhysicalDrive3")),
            (r"\\.\e:", Some("E:")),
            (&format!(r"\\?\{volume}"), Some(volume)),
            (&format!(r"\\?\{volume}\"), None),
            (r"\\.\PhysicalDrive", None),
            (r"\\.\PhysicalDrive+1", None),
            (r"\\.\E:\", None),
            (r"\\.\E:\data", None),
            (r"E:", None),
            (r"E:\", None),
            (r"\\server\share", None),
            (r"\\?\C:\long", None),
        ];
        for (text, expected) in cases {
            let found = parse(text).map(|device| device.short());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
