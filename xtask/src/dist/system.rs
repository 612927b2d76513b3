//! Systems with a download.

use std::path::PathBuf;

/// The profile of the packed binaries: link-time optimised, without symbols.
pub const PROFILE: &str = "shipped";

/// The version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A system with its own download.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    LinuxArm,
    Windows,
}

impl System {
    pub const ALL: [System; 3] = [System::Linux, System::LinuxArm, System::Windows];

    /// Its name for `--only`.
    pub fn short(self) -> &'static str {
        match self {
            System::Linux => "linux",
            System::LinuxArm => "linux-aarch64",
            System::Windows => "windows",
        }
    }

    pub fn triple(self) -> &'static str {
        match self {
            System::Linux => "x86_64-unknown-linux-musl",
            System::LinuxArm => "aarch64-unknown-linux-musl",
            System::Windows => "x86_64-pc-windows-gnu",
        }
    }

    /// Required build tools: SQLite is in C.
    pub fn compiler(self) -> &'static str {
        match self {
            System::Linux => "musl-gcc",
            // Zig includes the headers of musl for a foreign processor.
            System::LinuxArm => "cargo-zigbuild",
            System::Windows => "x86_64-w64-mingw32-gcc",
        }
    }

    /// The cargo command that builds for it.
    pub fn build_command(self) -> &'static str {
        match self {
            System::LinuxArm => "zigbuild",
            System::Linux | System::Windows => "build",
        }
    }

    pub fn binary(self) -> &'static str {
        match self {
            System::Windows => "stripewise.exe",
            System::Linux | System::LinuxArm => "stripewise",
        }
    }

    /// The processor name of Debian and of RPM; none where there is no package.
    pub fn package_architectures(self) -> Option<(&'static str, &'static str)> {
        match self {
            System::Linux => Some(("amd64", "x86_64")),
            System::LinuxArm => Some(("arm64", "aarch64")),
            System::Windows => None,
        }
    }

    /// The ELF machine number of its programs (System V ABI, `e_machine`).
    pub fn elf_machine(self) -> Option<u16> {
        match self {
            System::Linux => Some(62),
            System::LinuxArm => Some(183),
            System::Windows => None,
        }
    }

    /// Name of the download without extension, also of the folder inside.
    pub fn name(self) -> String {
        let system = match self {
            System::Linux => "linux-x86_64",
            System::LinuxArm => "linux-aarch64",
            System::Windows => "windows-x86_64",
        };
        format!("stripewise-{VERSION}-{system}")
    }

    pub fn archive(self) -> String {
        let ending = match self {
            System::Windows => "zip",
            System::Linux | System::LinuxArm => "tar.gz",
        };
        format!("{}.{ending}", self.name())
    }

    /// All downloads for it.
    pub fn downloads(self) -> Vec<String> {
        let mut names = vec![self.archive()];
        if let Some((debian, rpm)) = self.package_architectures() {
            names.push(format!("stripewise_{VERSION}_{debian}.deb"));
            names.push(format!("stripewise-{VERSION}-1.{rpm}.rpm"));
        }
        names
    }

    /// Path of the binary to pack.
    pub fn built(self) -> PathBuf {
        let directory = suite::root::target_directory().join(self.triple());
        directory.join(PROFILE).join(self.binary())
    }
}
