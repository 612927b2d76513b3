//! Run-time dependencies of a binary: only the system.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use suite::shell;

const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";

/// Libraries of every Windows 10 and Server 2016, in lower case; in addition to `api-` sets.
const OF_WINDOWS: [&str; 18] = [
    "advapi32.dll",
    "bcrypt.dll",
    "bcryptprimitives.dll",
    "combase.dll",
    "crypt32.dll",
    "dbghelp.dll",
    "kernel32.dll",
    "msvcrt.dll",
    "ntdll.dll",
    "ole32.dll",
    "powrprof.dll",
    "psapi.dll",
    "shell32.dll",
    "ucrtbase.dll",
    "user32.dll",
    "userenv.dll",
    "winmm.dll",
    "ws2_32.dll",
];

/// Fails if the .exe imports anything that Windows does not include, such as the compiler's libgcc
/// or winpthread.
pub fn needs_only_windows(path: &Path) -> Result<()> {
    if !shell::has(OBJDUMP) {
        return shell::skip("the look at the .exe's imports", OBJDUMP);
    }
    let dump = shell::read(Command::new(OBJDUMP).arg("-p").arg(path))?;
    let imports = imports(&dump.stdout);
    if imports.is_empty() {
        bail!("{OBJDUMP} shows no imports of {}", path.display());
    }
    let strange: Vec<&String> = imports
        .iter()
        .filter(|name| !name.starts_with("api-") && !OF_WINDOWS.contains(&name.as_str()))
        .collect();
    if !strange.is_empty() {
        bail!(
            "{} needs libraries that Windows does not have: {strange:?}",
            path.display()
        );
    }
    println!("{} imports {}", path.display(), imports.join(", "));
    Ok(())
}

/// The names after `DLL Name:`.
fn imports(dump: &str) -> Vec<String> {
    let mut names: Vec<String> = dump
        .lines()
        .filter_map(|line| line.trim().strip_prefix("DLL Name:"))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Fails if an ELF file requests an interpreter (the dynamic loader), or is for another processor
/// than `machine` (System V ABI, `e_machine`, two bytes at 18).
pub fn is_static(bytes: &[u8], machine: u16) -> Result<()> {
    const INTERPRETER: u32 = 3;
    let kinds = segment_kinds(bytes).context("the binary for Linux is not a 64-bit ELF file")?;
    if kinds.is_empty() || kinds.contains(&INTERPRETER) {
        bail!("the binary for Linux is not static");
    }
    if bytes[18..20] != machine.to_le_bytes() {
        bail!("the binary for Linux is for another processor than {machine}");
    }
    println!("the binary for Linux is static: it names no interpreter");
    Ok(())
}

/// Fails if a binary contains the path of a folder on the build machine: it would not be
/// reproducible elsewhere.
pub fn names_no_path(bytes: &[u8], paths: &[PathBuf]) -> Result<()> {
    for path in paths {
        let name = path.to_string_lossy();
        // Too short to be significant, such as `/`.
        if name.len() > MIN_PATH && holds(bytes, name.as_bytes()) {
            bail!("the binary names {name}, a folder of this machine");
        }
    }
    Ok(())
}

/// A name of this length does not occur by chance.
const MIN_PATH: usize = 6;

fn holds(bytes: &[u8], name: &[u8]) -> bool {
    bytes.windows(name.len()).any(|piece| piece == name)
}

/// `p_type` of all program headers (System V ABI, ELF-64: `e_phoff` at 32,
/// `e_phentsize` at 54, `e_phnum` at 56).
fn segment_kinds(bytes: &[u8]) -> Option<Vec<u32>> {
    let number = |at: usize, length: usize| -> Option<u64> {
        let piece = bytes.get(at..at.checked_add(length)?)?;
        Some(
            piece
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        )
    };
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let start = usize::try_from(number(32, 8)?).ok()?;
    let (size, count) = (number(54, 2)? as usize, number(56, 2)? as usize);
    (0..count)
        .map(|index| {
            let kind = number(start.checked_add(index * size)?, 4)?;
            u32::try_from(kind).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_read_from_the_dump() {
        let dump = "The Import Tables\n\tDLL Name: KERNEL32.dll\n\tvma:\n\tDLL Name: libgcc_s_seh-1.dll\n\tDLL Name: KERNEL32.dll\n";
        assert_eq!(imports(dump), ["kernel32.dll", "libgcc_s_seh-1.dll"]);
        assert!(imports("").is_empty());
    }

    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 * kinds.len()];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18] = 62;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = kinds.len() as u8;
        for (index, kind) in kinds.iter().enumerate() {
            bytes[64 + 56 * index] = *kind as u8;
        }
        bytes
    }

    #[test]
    fn a_binary_that_names_an_interpreter_is_not_static() {
        assert!(is_static(&elf(&[1, 2, 6]), 62).is_ok());
        assert!(is_static(&elf(&[1, 2, 6]), 183).is_err());
        assert!(is_static(&elf(&[1, 3]), 62).is_err());
        assert!(is_static(&elf(&[]), 62).is_err());
        assert!(is_static(b"#!/bin/sh", 62).is_err());
        assert!(is_static(&elf(&[1, 2])[..100], 62).is_err());
    }

    #[test]
    fn a_folder_of_this_machine_is_found_in_a_binary() {
        let paths = |name: &str| vec![PathBuf::from("/elsewhere"), PathBuf::from(name)];
        let bytes = b"\x7fELF...\0/home/me/.cargo/registry/src/lib.rs\0";
        assert!(names_no_path(bytes, &paths("/home/me/.cargo")).is_err());
        assert!(names_no_path(bytes, &paths("/home/you/.cargo")).is_ok());
        assert!(names_no_path(bytes, &paths("/")).is_ok());
    }
}
