//! Names of meshes from a file or a pipe.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use voxelize::{Error, Result};

use super::super::files;
use super::super::signals::Signals;
use super::super::stream::Inlet;

/// The names in the list `file`, `-` for standard input; `named` are those on the command line.
///
/// # Errors
/// If it cannot be read, or names nothing.
pub fn read(file: &Path, named: &[PathBuf], null: bool, signals: &Signals) -> Result<Vec<PathBuf>> {
    let is_stdin = file.as_os_str() == "-";
    if is_stdin && named.iter().any(|mesh| mesh.as_os_str() == "-") {
        return Err(Error::usage("-: standard input is the list of meshes, and no mesh")
            .with_hint("--files-from FILE reads the list from a file"));
    }
    let bytes = if is_stdin { all_of(Inlet::stdin(signals)) } else { from_file(file, signals) };
    let bytes = bytes.map_err(|e| e.in_file(file))?;
    let names = split(&bytes, null).map_err(|e| e.in_file(file))?;
    if names.is_empty() && named.is_empty() {
        return Err(Error::input("no-meshes", "names no mesh").in_file(file).with_hint("one name a line"));
    }
    Ok(names)
}

fn from_file(file: &Path, signals: &Signals) -> Result<Vec<u8>> {
    files::is_there(file)?;
    if files::is_pipe(file) {
        return all_of(Inlet::open(file, signals));
    }
    File::open(file).map_err(|e| unreadable(&e)).and_then(all_of)
}

fn all_of(mut from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map(|_| bytes).map_err(|e| unreadable(&e))
}

fn unreadable(error: &std::io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(own) => own.clone(),
        None => Error::input("unreadable", format!("cannot be read: {error}")),
    }
}

/// The names in `bytes`, without empty ones: lines, or what ends in a NUL byte.
fn split(bytes: &[u8], null: bool) -> Result<Vec<PathBuf>> {
    let end = if null { 0 } else { b'\n' };
    let names = bytes.split(|byte| *byte == end);
    let names = names.map(|name| if null { name } else { name.strip_suffix(b"\r").unwrap_or(name) });
    names.filter(|name| !name.is_empty()).map(path).collect()
}

fn path(name: &[u8]) -> Result<PathBuf> {
    if name.contains(&0) {
        let error = Error::input("bad-list", "a NUL byte stands in a name");
        return Err(error.with_hint("--null takes names that end in one"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(name).into())
    }
    #[cfg(not(unix))]
    {
        let text = std::str::from_utf8(name);
        text.map(PathBuf::from).map_err(|_| Error::input("bad-list", "a name is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lines_or_end_in_nul() {
        let names = |bytes: &[u8], null| {
            let names = split(bytes, null).unwrap();
            names.iter().map(|name| name.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(b"a.stl\n\nb c.stl\r\n d.stl", false), ["a.stl", "b c.stl", " d.stl"]);
        assert_eq!(names(b"a\nb.stl\0c.stl\0", true), ["a\nb.stl", "c.stl"]);
        assert!(names(b"\n\n", false).is_empty() && names(b"", true).is_empty());
        assert!(split(b"a.stl\0b.stl\n", false).unwrap_err().hint().unwrap().contains("--null"));
    }
}
