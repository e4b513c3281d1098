//! From `-o` and `-f` to a place and a format.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use voxelize::format::{self, FORMATS, Format};
use voxelize::{Error, Result};

use super::args::OutputArgs;
use super::errors;
use super::files;
use super::job::Input;
use super::typed::{JsonTarget, Typed};

/// The format of an output that nothing names.
const DEFAULT_FORMAT: &str = "vox";

/// A place to write to.
#[derive(Clone)]
pub enum Place {
    /// A pipe.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Place {
    /// Whether it is a named pipe, where a write may block for ever.
    pub fn may_block(&self) -> bool {
        match self {
            Self::Stdout => false,
            #[cfg(unix)]
            Self::File(path) => {
                use std::os::unix::fs::FileTypeExt;
                path.metadata().is_ok_and(|found| found.file_type().is_fifo())
            }
            #[cfg(not(unix))]
            Self::File(_) => false,
        }
    }
}

/// What decided the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatBy {
    /// `-f`.
    Option,
    /// The extension of `-o`.
    Extension,
    /// Nothing: the default.
    Default,
}

/// Whether `-o` names a folder.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

/// `NAME.vox` in the working directory.
pub fn implied(args: &OutputArgs, input: &Input) -> Result<(Place, &'static Format, FormatBy)> {
    let (format, by) = unnamed(args);
    let name = with_extension(stem(input)?.as_os_str(), format);
    Ok((Place::File(name), format, by))
}

/// The format of an output whose name says nothing of it.
pub fn unnamed(args: &OutputArgs) -> (&'static Format, FormatBy) {
    let by = if args.format.is_some() { FormatBy::Option } else { FormatBy::Default };
    (args.format.or(format::by_name(DEFAULT_FORMAT)).unwrap_or(&FORMATS[0]), by)
}

/// The name of the mesh without its extension.
pub fn stem(input: &Input) -> Result<PathBuf> {
    match input {
        Input::File(mesh) => Ok(files::stem(mesh).into()),
        Input::Stdin => Err(Error::usage("-: standard input has no name to call the output by")
            .with_hint("-o FILE names it, -o - is standard output")),
    }
}

/// `name.vox`, whatever else stands behind dots in it.
pub fn with_extension(name: &OsStr, format: &Format) -> PathBuf {
    let mut name = name.to_os_string();
    name.push(".");
    name.push(format.extensions.first().unwrap_or(&format.name));
    name.into()
}

/// Standard output.
pub fn piped(
    args: &OutputArgs,
    json: Option<&JsonTarget>,
    typed: &Typed,
) -> Result<(Place, &'static Format, FormatBy)> {
    let option = typed.with_value("output").unwrap_or_default();
    if json == Some(&JsonTarget::Stdout) {
        return Err(errors::exclusive("--json", &option)
            .with_hint("both would write to standard output; --json=FILE writes to a file"));
    }
    let format = args.format.ok_or_else(|| {
        Error::usage(format!("{option}: standard output has no extension to tell the format"))
            .with_hint(format!("-f FORMAT names it: {}", format_names()))
    })?;
    if std::io::stdout().is_terminal() {
        return Err(Error::usage(format!("{option}: standard output is a terminal"))
            .with_hint("redirect it: > FILE, | COMMAND, or -o FILE"));
    }
    Ok((Place::Stdout, format, FormatBy::Option))
}

/// The file that `-o` names.
pub fn named(path: &Path, args: &OutputArgs, typed: &Typed) -> Result<(Place, &'static Format, FormatBy)> {
    let option = typed.with_value("output").unwrap_or_default();
    if let Some(format) = args.format {
        return Ok((Place::File(path.to_path_buf()), format, FormatBy::Option));
    }
    let format = format::by_path(path).ok_or_else(|| {
        let why = match path.extension() {
            Some(extension) => format!("no voxel format has the extension .{}", extension.display()),
            None => "no extension tells the format".to_string(),
        };
        Error::usage(format!("{option}: {why}"))
            .with_hint(format!("formats are {}; -f FORMAT names one whatever the extension", format_names()))
    })?;
    Ok((Place::File(path.to_path_buf()), format, FormatBy::Extension))
}

fn format_names() -> String {
    FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ")
}
