//! Where the result goes: the name, the format and the type of numbers, checked before anything is
//! computed.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use voxelize::format::{self, Carries, Dtype, FORMATS, Format, Sidecar};
use voxelize::{Error, Result};

use super::args::OutputArgs;
use super::errors;
use super::files;
use super::job::Input;
use super::tell;
use super::typed::{JsonTarget, Typed};

/// The format of an output that nothing names.
const DEFAULT_FORMAT: &str = "vox";

/// Where the result goes.
pub struct Output {
    /// The place.
    pub place: Place,
    /// The format.
    pub format: &'static Format,
    /// What decided the format.
    pub format_by: FormatBy,
    /// The type of numbers, if asked for.
    pub dtype: Option<Dtype>,
    /// Whether a sidecar was asked for.
    pub sidecar: Sidecar,
}

/// A place to write to.
pub enum Place {
    /// A pipe.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Place {
    /// Whether it is a named pipe or a device, where a write may block for ever.
    pub fn may_block(&self) -> bool {
        match self {
            Self::Stdout => false,
            Self::File(path) => path.metadata().is_ok_and(|found| !found.is_file()),
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

impl Output {
    /// The output for these arguments; a place that cannot be written to is an error now.
    ///
    /// # Errors
    /// If the options contradict each other, or the place is not writable.
    pub fn resolve(
        args: &OutputArgs,
        input: &Input,
        json: Option<&JsonTarget>,
        typed: &Typed,
    ) -> Result<Self> {
        let (place, format, format_by) = match &args.output {
            None => implied(args, input)?,
            Some(path) if path.as_os_str() == "-" => piped(args, json, typed)?,
            Some(path) => named(path, args, typed)?,
        };
        let sidecar = if args.sidecar { Sidecar::Write } else { Sidecar::Auto };
        let output = Self { place, format, format_by, dtype: args.dtype, sidecar };
        output.check_options(typed)?;
        output.check_files(args, input, json)?;
        Ok(output)
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        match &self.place {
            Place::Stdout => "standard output".to_string(),
            Place::File(path) => path.display().to_string(),
        }
    }

    /// The type of numbers in the file.
    pub fn dtype(&self) -> Option<Dtype> {
        self.dtype.or(self.format.dtypes.first().copied())
    }

    /// What is odd about the output but no error.
    pub fn warnings(&self) -> Vec<String> {
        let Place::File(path) = &self.place else { return Vec::new() };
        match format::by_path(path) {
            Some(other) if other.name != self.format.name => {
                vec![format!("{} is written as {}, not {}", path.display(), self.format.name, other.name)]
            }
            _ => Vec::new(),
        }
    }

    /// The second file, where there will be one.
    fn sidecar_path(&self) -> Option<PathBuf> {
        let Place::File(path) = &self.place else { return None };
        let wanted = self.sidecar == Sidecar::Write || self.format.carries == Carries::Sidecar;
        let mut name = path.as_os_str().to_os_string();
        name.push(".json");
        wanted.then(|| name.into())
    }

    /// Options that the format or the place cannot follow.
    fn check_options(&self, typed: &Typed) -> Result<()> {
        let Format { name, dtypes, .. } = self.format;
        if let Some(dtype) = self.dtype.filter(|dtype| !dtypes.contains(dtype)) {
            let known: Vec<_> = dtypes.iter().map(|dtype| dtype.name()).collect();
            let option = typed.name("dtype");
            return Err(Error::usage(format!("{option} {}: {name} has no such numbers", dtype.name()))
                .with_hint(format!("{name} has {}", known.join(", "))));
        }
        if self.sidecar == Sidecar::Write && matches!(self.place, Place::Stdout) {
            let error = errors::exclusive("--sidecar", &typed.with_value("output").unwrap_or_default());
            return Err(error.with_hint("a sidecar lies beside a file: -o PATH"));
        }
        Ok(())
    }

    /// Files that would overwrite each other, or cannot be written.
    fn check_files(&self, args: &OutputArgs, input: &Input, json: Option<&JsonTarget>) -> Result<()> {
        let summary = match json {
            Some(JsonTarget::File(path)) => Some(path),
            _ => None,
        };
        let mut named: Vec<(&Path, &str)> = Vec::new();
        if let Some(path) = input.path() {
            named.push((path, "the mesh"));
        }
        let sidecar = self.sidecar_path();
        if let Place::File(path) = &self.place {
            // part.vox for part.vox: what is wrong is not its name.
            let voxels = || input.path().filter(|_| args.output.is_none()).and_then(files::holds_voxels);
            tell::refuse_same(path, &named).map_err(|e| voxels().unwrap_or(e))?;
            named.push((path, "the output"));
        }
        if let Some(sidecar) = &sidecar {
            tell::refuse_same(sidecar, &named)?;
            named.push((sidecar, "the sidecar of the output"));
        }
        if let Some(path) = summary {
            tell::check_json_file(path, &named)?;
        }
        let Place::File(path) = &self.place else { return Ok(()) };
        if args.output.is_none() && path.exists() && !format::made_by_this_tool(path) {
            return Err(Error::output("is there already, and does not say that this tool made it")
                .in_file(path)
                .with_hint(format!("-o {} replaces it, or name another file", path.display())));
        }
        format::probe_output(path)
    }
}

/// `NAME.vox` in the working directory.
fn implied(args: &OutputArgs, input: &Input) -> Result<(Place, &'static Format, FormatBy)> {
    let Input::File(mesh) = input else {
        return Err(Error::usage("-: standard input has no name to call the output by")
            .with_hint("-o FILE names it, -o - is standard output"));
    };
    let by = if args.format.is_some() { FormatBy::Option } else { FormatBy::Default };
    let format = args.format.or(format::by_name(DEFAULT_FORMAT)).unwrap_or(&FORMATS[0]);
    let mut name = mesh.file_stem().unwrap_or_default().to_os_string();
    name.push(".");
    name.push(format.extensions.first().unwrap_or(&format.name));
    Ok((Place::File(name.into()), format, by))
}

/// Standard output.
fn piped(
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
fn named(path: &Path, args: &OutputArgs, typed: &Typed) -> Result<(Place, &'static Format, FormatBy)> {
    let option = typed.with_value("output").unwrap_or_default();
    if path.is_dir() || path.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]) {
        let example = path.join(format!("part.{DEFAULT_FORMAT}"));
        return Err(Error::usage(format!("{option}: names a folder; one mesh makes one file"))
            .with_hint(format!("name the file: -o {}", example.display())));
    }
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
