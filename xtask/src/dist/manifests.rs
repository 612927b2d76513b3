//! Package manager manifests: a formula for Homebrew, manifests for scoop and winget. Addresses
//! follow from repository and version, checksums from the archives.

use super::system::{System, VERSION};
use anyhow::{Context, Result};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
const WHAT: &str = "Find out what a disk can do, and whether it is laid out right";

/// Writes those whose archives exist.
pub fn make(out: &Path) -> Result<()> {
    let sum = |system: System| sum_of(&out.join(system.archive())).ok();
    if let (Some(intel), Some(arm)) = (sum(System::Linux), sum(System::LinuxArm)) {
        write(out, "homebrew/stripewise.rb", &homebrew(&intel, &arm))?;
    }
    if let Some(windows) = sum(System::Windows) {
        let scoop = serde_json::to_string_pretty(&scoop(&windows))? + "\n";
        write(out, "scoop/stripewise.json", &scoop)?;
        for (name, text) in winget(&windows) {
            write(out, &format!("winget/{name}"), &text)?;
        }
    }
    Ok(())
}

/// SHA-256 of a file, in lower-case hexadecimal.
pub fn sum_of(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// The download address of a file of this version.
fn address(file: &str) -> String {
    format!("{REPOSITORY}/releases/download/v{VERSION}/{file}")
}

fn write(out: &Path, name: &str, text: &str) -> Result<()> {
    let path = out.join(name);
    std::fs::create_dir_all(path.parent().context("a name with a folder")?)?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}

fn homebrew(intel: &str, arm: &str) -> String {
    let part = |system: System, sum: &str| {
        format!(
            "      url \"{}\"\n      sha256 \"{sum}\"\n",
            address(&system.archive())
        )
    };
    format!(
        "class Stripewise < Formula\n  desc \"{WHAT}\"\n  homepage \"{REPOSITORY}\"\n  \
         version \"{VERSION}\"\n  license any_of: [\"MIT\", \"Apache-2.0\"]\n\n  \
         depends_on :linux\n\n  on_linux do\n    on_intel do\n{}    end\n    on_arm do\n{}    end\n  end\n\n  \
         def install\n    bin.install \"stripewise\"\n    man1.install Dir[\"man/*.1\"]\n    \
         bash_completion.install \"completions/stripewise.bash\" => \"stripewise\"\n    \
         zsh_completion.install \"completions/_stripewise\"\n    \
         fish_completion.install \"completions/stripewise.fish\"\n  end\n\n  \
         test do\n    assert_match \"random read\", shell_output(\"#{{bin}}/stripewise run sim:raid10-10k --duration 1s\")\n  end\nend\n",
        part(System::Linux, intel),
        part(System::LinuxArm, arm),
    )
}

fn scoop(sum: &str) -> serde_json::Value {
    json!({
        "version": VERSION,
        "description": WHAT,
        "homepage": REPOSITORY,
        "license": "MIT|Apache-2.0",
        "architecture": {"64bit": {
            "url": address(&System::Windows.archive()),
            "hash": sum,
            "extract_dir": System::Windows.name(),
        }},
        "bin": ["stripewise.exe", ["stripewise.exe", "sqlio", "sqlio"]],
        "checkver": {"github": REPOSITORY},
        "autoupdate": {
            "architecture": {"64bit": {
                "url": of_any_version(&address(&System::Windows.archive())),
                "extract_dir": of_any_version(&System::Windows.name()),
            }},
            "hash": {"url": of_any_version(&address(&super::sums_name()))},
        },
    })
}

/// With scoop's placeholder for the version.
fn of_any_version(text: &str) -> String {
    text.replace(VERSION, "$version")
}

/// The three files required by winget's repository (schema 1.6.0).
fn winget(sum: &str) -> [(String, String); 3] {
    const ID: &str = "Stripewise.Stripewise";
    let head = format!("PackageIdentifier: {ID}\nPackageVersion: {VERSION}\n");
    let tail = |kind: &str| format!("ManifestType: {kind}\nManifestVersion: 1.6.0\n");
    let inside = format!("{}\\stripewise.exe", System::Windows.name());
    [
        (
            format!("{ID}.yaml"),
            format!("{head}DefaultLocale: en-US\n{}", tail("version")),
        ),
        (
            format!("{ID}.installer.yaml"),
            format!(
                "{head}InstallerType: zip\nNestedInstallerType: portable\nNestedInstallerFiles:\n\
                 - RelativeFilePath: {inside}\n  PortableCommandAlias: stripewise\nInstallers:\n\
                 - Architecture: x64\n  InstallerUrl: {}\n  InstallerSha256: {}\n{}",
                address(&System::Windows.archive()),
                sum.to_ascii_uppercase(),
                tail("installer")
            ),
        ),
        (
            format!("{ID}.locale.en-US.yaml"),
            format!(
                "{head}PackageLocale: en-US\nPublisher: Stripewise\nPackageName: Stripewise\n\
                 PackageUrl: {REPOSITORY}\nLicense: MIT OR Apache-2.0\nShortDescription: {WHAT}\n{}",
                tail("defaultLocale")
            ),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::archive::{self, Entry};

    #[test]
    fn manifests_name_the_archives_that_are_there_with_their_sums() {
        let out = tempfile::tempdir().unwrap();
        make(out.path()).unwrap();
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
        for system in System::ALL {
            std::fs::write(out.path().join(system.archive()), system.triple()).unwrap();
        }
        make(out.path()).unwrap();
        let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();
        let sum = |system: System| sum_of(&out.path().join(system.archive())).unwrap();
        let formula = read("homebrew/stripewise.rb");
        for system in [System::Linux, System::LinuxArm] {
            assert!(formula.contains(&sum(system)), "{formula}");
            assert!(formula.contains(&address(&system.archive())), "{formula}");
        }
        let scoop: serde_json::Value =
            serde_json::from_str(&read("scoop/stripewise.json")).unwrap();
        let now = &scoop["architecture"]["64bit"];
        assert_eq!(now["hash"], sum(System::Windows));
        // scoop's template for the next version must match this one.
        let next = &scoop["autoupdate"]["architecture"]["64bit"];
        for key in ["url", "extract_dir"] {
            let made = next[key].as_str().unwrap().replace("$version", VERSION);
            assert_eq!(now[key], made.as_str());
        }
        let installer = read("winget/Stripewise.Stripewise.installer.yaml");
        assert!(installer.contains(&sum(System::Windows).to_ascii_uppercase()));
    }

    #[test]
    fn scoop_and_winget_find_the_program_in_the_zip_that_they_name() {
        let out = tempfile::tempdir().unwrap();
        let program = Entry::program(System::Windows.binary(), b"MZ".to_vec());
        let folder = System::Windows.name();
        let path = archive::zip(out.path(), &folder, &[program]).unwrap();
        assert_eq!(path, out.path().join(System::Windows.archive()));
        make(out.path()).unwrap();
        let zip = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
        let has = |name: &str| zip.index_for_name(name).is_some();
        let sum = sum_of(&path).unwrap();
        let read = |name: &str| std::fs::read_to_string(out.path().join(name)).unwrap();
        let scoop: serde_json::Value =
            serde_json::from_str(&read("scoop/stripewise.json")).unwrap();
        let now = &scoop["architecture"]["64bit"];
        assert_eq!(now["hash"], sum);
        let folder = now["extract_dir"].as_str().unwrap();
        for program in [&scoop["bin"][0], &scoop["bin"][1][0]] {
            let name = format!("{folder}/{}", program.as_str().unwrap());
            assert!(has(&name), "{name}");
        }
        let installer = read("winget/Stripewise.Stripewise.installer.yaml");
        let value = |key: &str| {
            let line = installer.lines().find_map(|line| line.split_once(key));
            line.unwrap().1.trim().to_owned()
        };
        assert_eq!(value("InstallerSha256:").to_ascii_lowercase(), sum);
        let name = value("RelativeFilePath:").replace('\\', "/");
        assert!(has(&name), "{name}");
        assert!(value("InstallerUrl:").ends_with(&System::Windows.archive()));
    }

    /// cargo-binstall's result from its metadata for a target: the address, and the program's path
    /// in the archive.
    fn binstall(target: &str, arch: &str, ending: &str) -> (String, String) {
        let manifest: toml::Value =
            toml::from_str(include_str!("../../../crates/app/Cargo.toml")).unwrap();
        let all = &manifest["package"]["metadata"]["binstall"];
        let own = all["overrides"].get(target).unwrap_or(all);
        let filled = |key: &str| {
            let template = own[key].as_str().unwrap();
            template
                .replace("{ repo }", REPOSITORY)
                .replace("{ version }", VERSION)
                .replace("{ target-arch }", arch)
                .replace("{ bin }", "stripewise")
                .replace("{ binary-ext }", ending)
        };
        let format = own["pkg-fmt"].as_str().unwrap();
        assert!(matches!(format, "tgz" | "zip"));
        assert_eq!(format == "zip", filled("pkg-url").ends_with(".zip"));
        (filled("pkg-url"), filled("bin-dir"))
    }

    #[test]
    fn binstall_finds_the_archives_and_the_program_in_them() {
        for (target, system, arch) in [
            ("x86_64-unknown-linux-gnu", System::Linux, "x86_64"),
            ("x86_64-unknown-linux-musl", System::Linux, "x86_64"),
            ("aarch64-unknown-linux-gnu", System::LinuxArm, "aarch64"),
            ("x86_64-pc-windows-msvc", System::Windows, "x86_64"),
            ("x86_64-pc-windows-gnu", System::Windows, "x86_64"),
        ] {
            let ending = system.binary().strip_prefix("stripewise").unwrap();
            let (from, program) = binstall(target, arch, ending);
            assert_eq!(from, address(&system.archive()), "{target}");
            assert_eq!(program, format!("{}/{}", system.name(), system.binary()));
        }
    }

    #[test]
    fn a_sum_is_sha_256() {
        let out = tempfile::tempdir().unwrap();
        let path = out.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        // FIPS 180-2, B.1.
        assert_eq!(
            sum_of(&path).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
